"""Progress says little: after two seconds, then every ten, with a rate and the time that remains."""

from __future__ import annotations

import logging
import threading

import pytest

from benchproof.progress import Progress, duration, megabytes


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


def steps(progress: Progress, clock: Clock, *moments: tuple[float, float]) -> None:
    for seconds, amount in moments:
        clock.time = 100.0 + seconds
        progress.add(amount)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


@pytest.fixture(autouse=True)
def heard(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "benchproof")


def test_when_it_speaks(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """The first line comes after two seconds, the next ten later, none at the end."""
    progress = Progress("probe objects", 100, clock=clock)
    steps(progress, clock, (0, 10), (1.9, 9), (2, 1), (5, 5), (11.9, 5), (12, 10), (22, 60))
    assert lines(caplog) == [
        "probe objects: 20 of 100, 10/s, 8 s left",
        "probe objects: 40 of 100, 3/s, 18 s left",
    ]


def test_short_work_is_silent(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """What is over within two seconds says nothing; nor does nothing."""
    steps(Progress("x", 3, clock=clock), clock, (0.5, 1), (1, 1), (1.9, 1))
    steps(Progress("x", 0, clock=clock), clock, (50, 0))
    assert lines(caplog) == []


def test_bytes(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """Bytes are shown as bytes."""
    progress = Progress("fetch", 10_000_000_000, show=megabytes, clock=clock)
    steps(progress, clock, (4, 50_000_000))
    assert lines(caplog) == ["fetch: 50.0 MB of 10.0 GB, 12.5 MB/s, 13 min left"]


@pytest.mark.parametrize("amount", [0, 0.0])
def test_nothing_done_yet(clock: Clock, caplog: pytest.LogCaptureFixture, amount: float) -> None:
    """Without a rate there is no remaining time."""
    steps(Progress("x", 5, clock=clock), clock, (3, amount))
    assert lines(caplog) == ["x: 0 of 5, 0/s"]


def test_a_clock_that_stands_still(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """A clock that doesn't move divides by nothing."""
    progress = Progress("x", 5, clock=clock)
    clock.time = 102.0
    progress._began = 102.0
    progress.add()
    assert lines(caplog) == ["x: 1 of 5, 0/s"]


def test_threads(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """Threads that finish together make one line, and none is lost from the count."""
    progress = Progress("x", 10_000, clock=clock)
    clock.time = 104.0

    def add() -> None:
        for _ in range(500):
            progress.add()

    work = [threading.Thread(target=add) for _ in range(8)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert len(lines(caplog)) == 1
    clock.time = 120.0
    progress.add()
    assert lines(caplog)[-1].startswith("x: 4001 of 10000, 200/s")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (0, "0 s"),
        (40.4, "40 s"),
        (99, "99 s"),
        (100, "2 min"),
        (720, "12 min"),
        (12_600, "3.5 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    """A time is said in the unit that people would use."""
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0.0 MB"),
        (300_000, "0.3 MB"),
        (8_800_000, "8.8 MB"),
        (999_949_999, "999.9 MB"),
        (999_950_000, "1.0 GB"),
        (9.6e9, "9.6 GB"),
    ],
)
def test_megabytes(size: float, text: str) -> None:
    """Bytes are said in powers of ten, never as 1000.0 MB."""
    assert megabytes(size) == text


def test_reach(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """What was there from the start is done, but no rate is made of it; nothing is undone."""
    progress = Progress("fetch", 1000, clock=clock)
    progress.reach(400)
    clock.time = 110.0
    progress.reach(500)
    clock.time = 120.0
    progress.reach(300)
    clock.time = 130.0
    progress.reach(1000)
    assert lines(caplog) == [
        "fetch: 500 of 1000, 10/s, 50 s left",
        "fetch: 500 of 1000, 5/s, 2 min left",
    ]
