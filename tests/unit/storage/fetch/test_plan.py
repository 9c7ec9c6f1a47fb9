"""Ranges cover what is missing, once, and shrink towards the end."""

from __future__ import annotations

import random

import pytest

from benchproof.storage.fetch.plan import BLOCK, LEAST, MIB, MOST, Plan, Span, block_size


def drained(plan: Plan) -> list[tuple[int, int]]:
    """Take and bring every range in turn; return them."""
    found = []
    while (span := plan.take()) is not None:
        found.append((span.at, span.end))
        while span.at < span.end:
            plan.finish(span)
        plan.release(span)
    return found


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * MIB + 7, 900 * MIB + 1])
@pytest.mark.parametrize("connections", [1, 4, 16])
def test_ranges_cover_the_object_once(size: int, connections: int) -> None:
    plan = Plan(size, BLOCK, connections, 8 * MIB)
    ranges = drained(plan)
    assert [start for start, _ in ranges] == [0, *(end for _, end in ranges)][: len(ranges)]
    assert sum(end - start for start, end in ranges) == size
    assert (plan.missing, plan.mark) == (0, size)
    assert all(start % BLOCK == 0 for start, _ in ranges)


def test_ranges_shrink_between_their_bounds() -> None:
    lengths = [end - start for start, end in drained(Plan(2000 * MIB, BLOCK, 4, 8 * MIB))]
    assert lengths[0] == MOST
    assert lengths[-2] == LEAST
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("chunk", [64 * 1024, 300_000, MIB, 4 * MIB])
def test_a_small_chunk_bounds_ranges(chunk: int) -> None:
    """Then no more than a chunk can be under way on a connection when it is interrupted."""
    block = block_size(chunk)
    assert block <= chunk
    lengths = [end - start for start, end in drained(Plan(50 * MIB, block, 4, chunk))]
    assert max(lengths) <= chunk


def test_what_is_there_is_never_asked_for() -> None:
    rng = random.Random(1)
    done = set(rng.sample(range(200), 90))
    plan = Plan(200 * BLOCK - 5, BLOCK, 3, 8 * MIB, done)
    asked = {n for start, end in drained(plan) for n in range(start // BLOCK, -(-end // BLOCK))}
    assert asked == set(range(200)) - done


def test_the_mark_is_the_first_gap() -> None:
    plan = Plan(10 * BLOCK, BLOCK, 1, 8 * MIB, [0, 1, 4])
    assert plan.mark == 2 * BLOCK
    span = plan.take()
    assert span is not None
    plan.finish(span)
    plan.finish(span)
    assert plan.mark == 5 * BLOCK
    assert plan.missing == 5 * BLOCK


def test_what_a_connection_hands_back_comes_last() -> None:
    """So that one bad spot doesn't keep all the others from their work."""
    plan = Plan(40 * MIB, BLOCK, 4, 8 * MIB)
    first = plan.take()
    assert first is not None
    plan.finish(first)
    plan.release(first)
    ranges = drained(plan)
    assert ranges[0][0] == first.end
    assert ranges[-1][1] == first.end
    assert min(start for start, _ in ranges) == BLOCK


def test_an_idle_connection_takes_half_of_the_largest_range() -> None:
    plan = Plan(64 * MIB, BLOCK, 2, 8 * MIB)
    slow = plan.take()
    assert slow is not None
    assert slow.end == 32 * MIB
    plan.finish(slow)
    ranges = drained(plan)
    stolen = [(start, end) for start, end in ranges if end <= 32 * MIB]
    assert stolen[0] == (33 * BLOCK, 32 * MIB)  # one block is there, of the other 63 it keeps 32
    assert stolen[1][1] == 33 * BLOCK
    assert stolen[-1][0] == slow.end
    assert slow.end - slow.at < 2 * LEAST


def test_a_range_that_is_nearly_done_is_left_alone() -> None:
    plan = Plan(3 * MIB, BLOCK, 2, 8 * MIB)
    spans = [plan.take(), plan.take()]
    assert all(spans)
    assert plan.take() is None


def test_many_connections_with_thefts_bring_each_block_once() -> None:
    rng = random.Random(7)
    for _ in range(30):
        size = rng.randrange(1, 300 * MIB)
        plan, brought = Plan(size, BLOCK, 8, 8 * MIB), list[int]()
        lanes: list[Span] = []
        while True:
            if len(lanes) < 8 and (span := plan.take()) is not None:
                lanes.append(span)
                continue
            if not lanes:
                break
            span = rng.choice(lanes[:2])  # most are slow
            brought.append(span.at)
            if plan.finish(span) >= span.end or rng.random() < 0.01:
                plan.release(span)
                lanes.remove(span)
        assert sorted(brought) == list(range(0, size, BLOCK))


def test_a_whole_object_takes_everything_over() -> None:
    plan = Plan(10 * BLOCK, BLOCK, 2, 8 * MIB, [3])
    span = plan.take()
    assert span is not None
    plan.finish(span)
    whole = plan.take_all()
    plan.release(span)  # means nothing any more
    assert plan.take() is None
    for _ in range(2):
        plan.finish(whole)
    plan.release(whole)
    assert drained(plan) == [
        (2 * BLOCK, 3 * BLOCK),
        (4 * BLOCK, 8 * BLOCK),
        (8 * BLOCK, 10 * BLOCK),
    ]


def test_forgetting() -> None:
    plan = Plan(4 * BLOCK, BLOCK, 1, 8 * MIB, [0, 1, 2, 3])
    plan.forget()
    assert (plan.missing, plan.mark, plan.has(0)) == (4 * BLOCK, 0, False)
