"""How often and how soon a connection tries again."""

from __future__ import annotations

import random

import pytest

from benchproof.errors import Unreachable
from benchproof.http import StreamFailed
from benchproof.http.hosts import HostState
from benchproof.http.transport import Failure
from benchproof.storage.fetch.patience import PROGRESS, Patience, Setback

RESET = Setback("reset")
BUSY = Setback("server_error", refused=True)


def patience(tries: int = 6, max_wait_s: float = 300.0) -> Patience:
    return Patience(tries, max_wait_s, random.Random(1))


def waits(held: Patience, setback: Setback) -> list[float]:
    found = []
    while (wait := held.wait_after(setback)) is not None:
        found.append(wait)
    return found


def test_waits_double_and_end() -> None:
    found = waits(patience(6), RESET)
    assert len(found) == 5
    for wait, longest in zip(found, (0.1, 0.5, 1.0, 2.0, 4.0), strict=True):
        assert longest / 2 <= wait <= longest


def test_refusals_are_at_most_three_a_second() -> None:
    held = patience(50)
    for _ in range(200):
        wait = held.wait_after(BUSY)
        assert wait is not None
        assert wait > 1 / 3
        held.gained(PROGRESS)


def test_progress_begins_anew() -> None:
    held = patience(3)
    for _ in range(20):
        assert held.wait_after(RESET) is not None
        assert held.wait_after(RESET) is not None
        held.gained(PROGRESS - 1)
        held.gained(1)
    assert len(waits(held, RESET)) == 2


def test_a_few_bytes_are_no_progress() -> None:
    held = patience(3)
    assert held.wait_after(RESET) is not None
    held.gained(10)
    assert held.wait_after(RESET) is not None
    held.gained(10)
    assert held.wait_after(RESET) is None


def test_a_complete_range_is_progress_however_short() -> None:
    held = patience(2)
    for _ in range(5):
        assert held.wait_after(RESET) is not None
        held.gained(10)
        held.arrived()


def test_what_the_server_asks_for_is_waited_for_within_the_budget() -> None:
    asked = Setback("throttled", asked_s=50.0, refused=True)
    found = waits(patience(20, max_wait_s=170), asked)
    assert len(found) == 3
    assert all(50 <= wait <= 53 for wait in found)


def test_final_setbacks_end_at_once() -> None:
    assert patience().wait_after(Setback("tls", final=True)) is None


def test_a_host_that_never_answered_gets_two_tries() -> None:
    assert len(waits(patience(6), Setback("refused", unmet=True))) == 1


@pytest.mark.parametrize(
    ("cause", "status"),
    [
        ("throttled", "throttled"),
        ("stalled", "stalled"),
        ("timeout", "stalled"),
        ("reset", "unknown"),
        ("wrong_range", "unknown"),
    ],
)
def test_what_stays_of_it(cause: str, status: str) -> None:
    failed = Setback(cause).failed("latch://1.node")
    assert (failed.status, failed.reason) == (status, cause)


def test_setbacks_of_requests() -> None:
    state = HostState(answered=False)
    error = StreamFailed(Failure("refused", "no", connecting=True, state=state), "x")
    assert Setback.of(error) == Setback("refused", unmet=True)
    error = StreamFailed(Failure("throttled", "HTTP 503", 7.0), "x")
    assert Setback.of(error) == Setback("throttled", 7.0, refused=True)
    # Requests to the signer have had their tries.
    assert Setback.of(Unreachable("dns", "x")) == Setback("dns", final=True)
