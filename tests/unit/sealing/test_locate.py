"""Check bytes: where a file was changed, exactly for a few bytes and by block for more."""

from __future__ import annotations

import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchproof.sealing import locate

SIZES = (1, 5, 511, 512, 513, 5000, 300_000)


def sealed(data: bytes) -> bytes:
    return locate.check_bytes(io.BytesIO(data), len(data))


def first(data: bytes, checks: bytes) -> locate.Change | None:
    return locate.first_change(io.BytesIO(data), len(data), checks)


@pytest.mark.parametrize("size", SIZES)
def test_up_to_four_bytes_of_a_block_are_found_with_what_they_were(size: int) -> None:
    chance = random.Random(size)
    data = chance.randbytes(size)
    checks = sealed(data)
    assert len(checks) == locate.checks_length(size)
    assert first(data, checks) is None
    for _ in range(40):
        block = locate.block_size(size)
        start = chance.randrange(-(-size // block)) * block
        within = range(start, min(start + block, size))
        places = sorted(chance.sample(within, min(chance.randint(1, 4), len(within))))
        other = bytearray(data)
        for place in places:
            other[place] ^= chance.randint(1, 255)
        found = first(bytes(other), checks)
        at = places[0]
        assert found == locate.Change(at, at, was=data[at], more=len(places) - 1)


@pytest.mark.parametrize("size", [600, 5000, 300_000])
def test_larger_changes_are_narrowed_to_their_block(size: int) -> None:
    chance = random.Random(size)
    data = chance.randbytes(size)
    checks = sealed(data)
    for _ in range(40):
        at = chance.randrange(size - 40)
        other = data[:at] + bytes(byte ^ 0x55 for byte in data[at : at + 40]) + data[at + 40 :]
        found = first(other, checks)
        assert found is not None
        assert found.first <= at <= found.last < found.first + locate.block_size(size)


def test_the_first_of_several_blocks_is_named() -> None:
    data = bytes(3000)
    other = bytearray(data)
    other[700] = other[2500] = 1
    assert first(bytes(other), sealed(data)) == locate.Change(700, 700, was=0, more=0)


def test_what_is_there_of_a_file_that_was_cut_off_is_compared() -> None:
    data = random.Random(1).randbytes(3000)
    cut = bytearray(data[:2000])
    cut[100] ^= 1

    def part(of: bytes) -> locate.Change | None:
        return locate.first_change_of_part(io.BytesIO(of), len(of), len(data), sealed(data))

    assert part(data[:2000]) is None
    assert part(bytes(cut)) == locate.Change(100, 100, was=data[100], more=0)


@pytest.mark.parametrize("size", [0, 1, 1 << 18, (1 << 18) + 1, 1 << 24, 1 << 40])
def test_check_bytes_stay_few(size: int) -> None:
    """A file up to 16 MiB has 8 kB at most; a larger one a two-thousandth of its size."""
    assert locate.checks_length(size) <= max(8192, size // 2048)


@given(st.binary(min_size=1, max_size=600), st.binary(min_size=16, max_size=32))
def test_any_check_bytes_give_a_place_in_the_file_or_none(data: bytes, checks: bytes) -> None:
    """A hostile seal may hold anything."""
    checks = checks.ljust(locate.checks_length(len(data)), b"\0")
    found = first(data, checks[: locate.checks_length(len(data))])
    assert found is None or 0 <= found.first <= found.last < len(data)
