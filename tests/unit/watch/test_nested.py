"""The nested run ends by itself, by a signal or by its limit, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchproof.lease import MARK
from benchproof.watch.nested import Nested, environment

#: Says that it is ready, then waits; the second one takes no notice of an interrupt.
WAITS = "import time; print('ready', flush=True); time.sleep(60)"
DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); " + WAITS
#: Starts a process that takes no notice, as a job may, and is interrupted itself.
PARENT = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1]]); " + WAITS


@pytest.fixture(autouse=True)
def mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, f"test-{os.getpid()}-{time.monotonic_ns()}")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "run.log"


def python(text: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", text, *arguments]


@pytest.fixture
def signalled(log: Path) -> Iterator[list[signal.Signals]]:
    """Send the signals of a list to this process, one after the other, once the child is ready."""
    wanted: list[signal.Signals] = []

    def send() -> None:
        deadline = time.monotonic() + 20
        while "ready" not in (log.read_text() if log.exists() else ""):
            if time.monotonic() > deadline:
                return
            time.sleep(0.01)
        for number in wanted:
            os.kill(os.getpid(), number)
            time.sleep(0.3)

    thread = threading.Thread(target=send)
    thread.start()
    yield wanted
    thread.join()


def living(mark: str) -> list[int]:
    from benchproof import lease

    return lease._marked(mark)


def test_what_it_says_and_its_code_are_kept(log: Path) -> None:
    with Nested(60) as nested:
        assert nested.run(python("print('out'); raise SystemExit(3)"), log) == 3
        assert nested.run(python("print('more')"), log) == 0
    assert nested.stopped is None
    assert log.read_text() == "out\nmore\n"
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_interrupts_the_nested_run(
    log: Path, signalled: list[signal.Signals], number: signal.Signals
) -> None:
    # Whoever runs the tests may ignore it, as nohup does.
    outside = signal.signal(number, signal.default_int_handler)
    try:
        signalled.append(number)
        with Nested(60) as nested:
            assert nested.run(python(WAITS), log) == -signal.SIGINT
            assert nested.stopped == number.name
            assert nested.run(python("print('again')"), log) != 0
        assert "again" not in log.read_text()
        assert signal.getsignal(number) == signal.default_int_handler
    finally:
        signal.signal(number, outside)


def test_a_second_signal_kills_what_takes_no_notice(
    log: Path, signalled: list[signal.Signals]
) -> None:
    signalled += [signal.SIGTERM, signal.SIGINT]
    with Nested(60) as nested:
        assert nested.run(python(DEAF), log) == -signal.SIGKILL
    assert nested.stopped == "SIGTERM"


def test_at_its_limit_it_is_interrupted_and_then_killed(log: Path) -> None:
    with Nested(0.5, grace_s=0.3) as nested:
        began = time.monotonic()
        assert nested.run(python(DEAF), log) == -signal.SIGKILL
        assert time.monotonic() - began < 20
    assert nested.stopped == "limit"


def test_nothing_that_it_started_outlives_it(log: Path) -> None:
    """Children in sessions of their own take no signal of the group; the mark finds them."""
    with Nested(1.0, grace_s=0.3) as nested:
        assert (
            nested.run(
                python(
                    PARENT.replace("[sys", "args=[sys").replace("])", "], start_new_session=True)"),
                    DEAF,
                ),
                log,
            )
            != 0
        )
    assert nested.stopped == "limit"
    assert living(os.environ[MARK]) == []


def test_a_run_whose_own_interrupts_are_ignored_passes_them_on(
    log: Path, signalled: list[signal.Signals]
) -> None:
    """A shell starts its background jobs with SIGINT ignored, and children inherit that."""
    signalled.append(signal.SIGTERM)
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Nested(60, grace_s=10) as nested:
            assert nested.run(python(WAITS), log) == -signal.SIGINT
    finally:
        signal.signal(signal.SIGINT, former)


def test_a_hangup_that_is_ignored_stays_ignored(log: Path, signalled: list[signal.Signals]) -> None:
    """nohup."""
    signalled.append(signal.SIGHUP)
    former = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Nested(60) as nested:
            ends = "import time; print('ready', flush=True); time.sleep(0.6)"
            assert nested.run(python(ends), log) == 0
    finally:
        signal.signal(signal.SIGHUP, former)
    assert nested.stopped is None


def test_a_user_without_a_home_has_snakemakes_cache_in_the_vault(tmp_path: Path) -> None:
    """The home of a service's user is often named and missing; one that can be written is used."""
    (tmp_path / "file").write_text("")
    for home in ("/proc/nonexistent", str(tmp_path / "file")):
        given = {"HOME": home, "A": "b"}
        assert environment(tmp_path / "vault", given) == {
            **given,
            "XDG_CACHE_HOME": str(tmp_path / "vault" / "cache"),
        }
    for given in ({"HOME": str(tmp_path)}, {"HOME": "/proc/x", "XDG_CACHE_HOME": "/somewhere"}):
        assert environment(tmp_path / "vault", given) == given
