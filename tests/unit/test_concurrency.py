"""Several at once: order, bounds, failures, consumers that leave."""

from __future__ import annotations

import threading
import time

import pytest

from benchproof.concurrency import map_concurrently
from benchproof.errors import Unreachable


def test_results_come_in_the_order_of_the_items() -> None:
    def slow_first(item: int) -> int:
        time.sleep(0.05 if item == 0 else 0)
        return item * item

    assert list(map_concurrently(slow_first, range(50), 4)) == [n * n for n in range(50)]
    assert list(map_concurrently(slow_first, [], 4)) == []


def test_no_more_run_at_once_than_asked() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def count(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1

    list(map_concurrently(count, range(40), 3))
    assert 1 < most <= 3


def test_a_failure_stops_the_rest_and_keeps_what_arrived() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 3:
            raise Unreachable("reset", "item 3")
        return item

    kept: list[int] = []
    results = map_concurrently(work, range(1000), 2)
    with pytest.raises(Unreachable, match="item 3"):
        kept.extend(results)
    assert kept[:3] == [0, 1, 2]
    assert sorted(kept) == sorted(n for n in begun if n != 3)
    assert len(begun) < 20


def test_a_consumer_that_leaves_stops_the_rest() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        return item

    results = map_concurrently(work, range(1000), 2)
    assert next(results) == 0
    results.close()
    time.sleep(0.02)
    assert len(begun) < 20
