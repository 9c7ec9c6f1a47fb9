"""A block is read once, near pieces together, and never more than the budget."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from benchproof.storage.blocks import AT_ONCE, BLOCK, GAP, WIDE_GAP, BlockFile, Blocks, OverBudget
from benchproof.storage.frames import ReadRefused

DATA = random.Random(1).randbytes(1_000_003)


class Source:
    """Serves DATA and remembers what was asked, a round at a time."""

    def __init__(self) -> None:
        self.rounds: list[list[tuple[int, int]]] = []

    def __call__(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        self.rounds.append(list(ranges))
        assert all(o >= 0 and o + n <= len(DATA) for o, n in ranges)
        return [DATA[o : o + n] for o, n in ranges]


def made(
    source: Source, *, max_bytes: int = 10**7, max_requests: int = 1000, size: int = len(DATA)
) -> Blocks:
    return Blocks(source, size, max_bytes=max_bytes, max_requests=max_requests)


def test_pieces_of_one_fetch_are_one_round() -> None:
    """Whole blocks are asked for; what lies within the gap comes along, what lies farther does not."""
    source = Source()
    blocks = made(source)
    near, far = BLOCK + GAP, 40 * BLOCK
    blocks.fetch([(far + 5, 10), (3, 4), (near + 1, 2)])
    assert source.rounds == [[(0, near + BLOCK), (far, BLOCK)]]
    assert blocks.get(3, 4) == DATA[3:7]
    assert blocks.get(far + 5, 10) == DATA[far + 5 : far + 15]
    assert (blocks.requests, blocks.rounds) == (2, 1)
    assert blocks.bytes_read == near + 2 * BLOCK


def test_a_gap_that_is_too_wide_is_not_read() -> None:
    """One block more than the gap splits."""
    source = Source()
    made(source).fetch([(0, 1), (GAP + 2 * BLOCK, 1)])
    assert source.rounds == [[(0, BLOCK), (GAP + 2 * BLOCK, BLOCK)]]


def test_too_many_ranges_give_up_their_narrowest_gaps() -> None:
    """More than go at once would wait for each other; gaps that are too wide stay."""
    size = 1 << 30
    rounds: list[list[tuple[int, int]]] = []

    def read(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        rounds.append(list(ranges))
        return [bytes(length) for _, length in ranges]

    blocks = Blocks(read, size, max_bytes=size, max_requests=1000)
    near, wide = GAP + 2 * BLOCK, WIDE_GAP + 2 * BLOCK
    blocks.fetch([(n * near, 1) for n in range(AT_ONCE + 3)])
    assert len(rounds[0]) == AT_ONCE
    assert sum(n for _, n in rounds[0]) == (AT_ONCE + 3) * BLOCK + 3 * (near - BLOCK)
    blocks.fetch([(size // 2 + n * wide, 1) for n in range(AT_ONCE + 3)])
    assert len(rounds[1]) == AT_ONCE + 3


def test_what_is_here_is_not_read_again() -> None:
    """A piece that is partly here costs the rest."""
    source = Source()
    blocks = made(source)
    blocks.fetch([(0, BLOCK)])
    blocks.fetch([(BLOCK - 1, 2)])
    blocks.fetch([(0, 2 * BLOCK)])
    assert source.rounds == [[(0, BLOCK)], [(BLOCK, BLOCK)]]


def test_the_end_of_the_object_cuts_reads() -> None:
    """Nothing beyond the object is asked for; pieces outside it are no error and no bytes."""
    source = Source()
    blocks = made(source)
    blocks.fetch([(len(DATA) - 2, 100), (len(DATA), 5), (len(DATA) + 10**9, 5)])
    last = len(DATA) // BLOCK * BLOCK
    assert source.rounds == [[(last, len(DATA) - last)]]
    assert blocks.get(len(DATA) - 2, 100) == DATA[-2:]
    assert blocks.get(len(DATA) + 5, 1) == b""


@pytest.mark.parametrize("limit", [{"max_bytes": 3 * BLOCK}, {"max_requests": 2}], ids=str)
def test_a_budget_is_kept_before_it_is_passed(limit: dict[str, int]) -> None:
    """The round that would pass it is not asked for at all."""
    source = Source()
    blocks = made(source, **limit)
    blocks.fetch([(0, 1), (50 * BLOCK, 1)])
    with pytest.raises(OverBudget):
        blocks.fetch([(100 * BLOCK, 1), (150 * BLOCK, 1)])
    assert len(source.rounds) == 1


def test_random_reads_through_the_file_are_right() -> None:
    """The file equals the data at any place, in any order."""
    source, dice = Source(), random.Random(2)
    file = BlockFile(made(source))
    for _ in range(300):
        offset, length = dice.randrange(len(DATA)), dice.randrange(1, 20_000)
        file.seek(offset)
        assert file.read(length) == DATA[offset : offset + length]
        assert len(source.rounds) < 300


def test_the_file_reads_ahead_when_read_in_order() -> None:
    """A sequential reader gets far with few requests; a single miss stays small."""
    source = Source()
    file = BlockFile(made(source))
    for offset in range(0, 500_000, 1000):
        file.seek(offset)
        file.read(1000)
    assert len(source.rounds) <= 7
    assert source.rounds[0][0][1] == 16 * 1024


def test_memory_beyond_the_end_is_cleared() -> None:
    """HDF5 does not look at how much was read."""
    file = BlockFile(made(Source()))
    file.seek(len(DATA) - 3)
    buffer = bytearray(b"\xaa" * 8)
    assert file.readinto(buffer) == 3
    assert buffer == DATA[-3:] + bytes(5)


def test_a_file_over_budget_stays_so() -> None:
    """HDF5 may go on after an error; it must not get other bytes than it asked for."""
    source = Source()
    blocks = made(source, max_requests=1)
    file = BlockFile(blocks)
    file.read(10)
    for _ in range(2):
        file.seek(700_000)
        with pytest.raises(OSError, match="budget"):
            file.read(10)
    assert blocks.problem == "budget"
    assert len(source.rounds) == 1


def test_a_refused_read_is_not_tried_again() -> None:
    """The parent has given up, and knows why."""
    asked: list[int] = []

    def read(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        asked.append(len(ranges))
        raise ReadRefused

    blocks = Blocks(read, 10**6, max_bytes=10**7, max_requests=10)
    with pytest.raises(ReadRefused):
        blocks.fetch([(0, 1)])
    with pytest.raises(ReadRefused):
        blocks.fetch([(5000, 1)])
    with pytest.raises(OSError, match="refused"):
        BlockFile(blocks).read(1)
    assert asked == [1]


def test_a_read_of_another_length_is_an_error() -> None:
    """Shifted bytes would be taken for others."""
    blocks = Blocks(lambda r: [b"x"] * len(r), 10**6, max_bytes=10**7, max_requests=10)
    with pytest.raises(ValueError, match="length"):
        blocks.fetch([(0, 10)])
