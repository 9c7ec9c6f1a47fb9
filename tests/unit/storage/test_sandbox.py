"""A child that crashes, hangs, swallows memory or talks nonsense is a reason, and the next call works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchproof.errors import BenchproofError
from benchproof.storage.sandbox import ChildFailed, Sandbox, environment

#: What the child is asked to do; the package lies in a temporary folder.
TRICKS = """
import ctypes, os, resource, signal, sys, time

def echo(argument, read):
    return {"echo": argument, "pid": os.getpid()}

def crash(argument, read):
    ctypes.string_at(0)

def leave(argument, read):
    os._exit(3)

def sleep(argument, read):
    time.sleep(60)

def spin(argument, read):
    while True:
        pass

def swallow(argument, read):
    return {"n": len(bytearray(4 << 30))}

def mistake(argument, read):
    raise KeyError("text of a file")

def nonsense(argument, read):
    os.write(int(sys.argv[1]), b"\\xff" * 64)
    time.sleep(60)

def wrong_ranges(argument, read):
    return {"n": len(read([(argument["offset"], argument["length"])]))}

def twice(argument, read):
    try:
        read([(0, 4)])
    except Exception:
        pass
    return {"again": [part.decode() for part in read([(4, 4), (0, 2)])]}

def facts(argument, read):
    import h5py
    return {
        "environment": dict(os.environ),
        "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
        "size": resource.getrlimit(resource.RLIMIT_FSIZE)[0],
        "memory": resource.getrlimit(resource.RLIMIT_AS)[0],
        "stdin": os.read(0, 1).decode(),
        "szip_like": bool(h5py.h5z.filter_avail(32001)),
    }
"""


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    package = tmp_path / "trickster"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "tricks.py").write_text(TRICKS)
    with Sandbox(package="trickster", folders=[tmp_path]) as made:
        yield made


def test_one_child_serves_many_calls(sandbox: Sandbox) -> None:
    """Starting a child costs more than a call."""
    first = sandbox.call("tricks:echo", {"a": [1, "é"]}, seconds=20)
    second = sandbox.call("tricks:echo", {}, seconds=20)
    assert first["echo"] == {"a": [1, "é"]}
    assert first["pid"] == second["pid"] == sandbox.pid


@pytest.mark.parametrize(
    ("function", "seconds", "reason"),
    [
        ("crash", 20, "crashed"),
        ("leave", 20, "crashed"),
        ("mistake", 20, "crashed"),
        ("absent", 20, "crashed"),
        ("sleep", 0.3, "timeout"),
        ("swallow", 20, "memory"),
        ("nonsense", 20, "malformed"),
    ],
)
def test_a_failed_call_has_a_reason_and_the_next_one_works(
    sandbox: Sandbox, function: str, seconds: float, reason: str
) -> None:
    """The next call gets another child."""
    before = sandbox.call("tricks:echo", {}, seconds=20)["pid"]
    with pytest.raises(ChildFailed) as failure:
        sandbox.call(f"tricks:{function}", {}, seconds=seconds)
    assert failure.value.reason == reason
    assert "text of a file" not in str(failure.value)
    after = sandbox.call("tricks:echo", {}, seconds=20)["pid"]
    assert after != before


@pytest.mark.parametrize("times", [1, 2])
def test_a_child_that_was_killed_from_outside_has_a_second_chance(
    sandbox: Sandbox, times: int
) -> None:
    """A machine that is short of memory is no fault of the file; a file that does it twice is at fault."""
    killed: list[int] = []

    def read(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        pid = sandbox.pid
        if len(killed) < times and pid is not None:
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)
        return [bytes(length) for _, length in ranges]

    def call() -> object:
        argument = {"offset": 0, "length": 7}
        return sandbox.call("tricks:wrong_ranges", argument, read=read, seconds=20)

    if times == 1:
        assert call() == {"n": 1}
    else:
        with pytest.raises(ChildFailed, match="memory"):
            call()


def test_a_busy_child_is_ended_by_wall_time(sandbox: Sandbox) -> None:
    """A loop that never asks for anything ends in time."""
    sandbox.call("tricks:echo", {}, seconds=20)
    began = time.monotonic()
    with pytest.raises(ChildFailed, match="timeout"):
        sandbox.call("tricks:spin", {}, seconds=0.3)
    assert time.monotonic() - began < 10


def test_reads_go_through_the_parent(sandbox: Sandbox) -> None:
    """Ranges arrive as they were asked for, bytes in their order."""
    asked: list[Sequence[tuple[int, int]]] = []

    def read(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        asked.append(ranges)
        return [b"0123456789"[o : o + n] for o, n in ranges]

    assert sandbox.call("tricks:twice", {}, read=read, seconds=20) == {"again": ["4567", "01"]}
    assert asked == [[(0, 4)], [(4, 4), (0, 2)]]


def test_what_read_raises_comes_out_unchanged(sandbox: Sandbox) -> None:
    """The child is told, cannot hide it, cannot ask again, and stays."""
    pid = sandbox.call("tricks:echo", {}, seconds=20)["pid"]
    asked: list[int] = []
    problem = BenchproofError("changed")

    def read(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        asked.append(len(ranges))
        raise problem

    with pytest.raises(BenchproofError) as failure:
        sandbox.call("tricks:twice", {}, read=read, seconds=20)
    assert failure.value is problem
    assert asked == [1]
    assert sandbox.call("tricks:echo", {}, seconds=20)["pid"] != 0
    assert pid


def test_time_in_read_is_not_the_childs(sandbox: Sandbox) -> None:
    """A slow link is judged by the client's own stall rule."""
    sandbox.call("tricks:echo", {}, seconds=20)

    def read(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        time.sleep(0.4)
        return [b"x" * n for _, n in ranges]

    answer = sandbox.call("tricks:twice", {}, read=read, seconds=0.6)
    assert answer == {"again": ["xxxx", "xx"]}


@pytest.mark.parametrize(
    ("offset", "length"), [(-1, 4), (0, 0), (0, -5), (0, 1 << 40)], ids=["before", "0", "-5", "1T"]
)
def test_impossible_reads_are_refused(sandbox: Sandbox, offset: int, length: int) -> None:
    """A child that was taken over cannot make the parent fetch without bounds."""
    argument = {"offset": offset, "length": length}
    with pytest.raises(ChildFailed, match="malformed"):
        sandbox.call("tricks:wrong_ranges", argument, read=lambda r: [b"" for _ in r], seconds=20)


def test_a_call_without_reads_cannot_read(sandbox: Sandbox) -> None:
    """The child's function gets None instead."""
    with pytest.raises(ChildFailed, match="TypeError"):
        sandbox.call("tricks:wrong_ranges", {"offset": 0, "length": 1}, seconds=20)


def test_the_child_has_nothing_of_its_parents(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No token, no proxy, no core dump, no file, no plugin."""
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    monkeypatch.setenv("https_proxy", "http://proxy.test")
    facts = sandbox.call("tricks:facts", {}, seconds=30)
    expected = set(environment())
    assert set(facts["environment"]) <= expected | {"LC_CTYPE", "_"}
    assert facts["environment"]["HDF5_USE_FILE_LOCKING"] == "FALSE"
    assert facts["core"] == facts["size"] == 0
    assert facts["memory"] == 1536 * 1024 * 1024
    assert facts["stdin"] == ""
    assert facts["szip_like"] is False


def test_a_busy_child_dies_with_its_parent(tmp_path: Path, sandbox: Sandbox) -> None:
    """A killed job leaves no process behind."""
    script = (
        "import os, sys, threading\n"
        "from pathlib import Path\n"
        "from benchproof.storage.sandbox import Sandbox\n"
        f"box = Sandbox(package='trickster', folders=[Path({str(tmp_path)!r})])\n"
        "print(box.call('tricks:echo', {}, seconds=20)['pid'], flush=True)\n"
        "box.call('tricks:spin', {}, seconds=60)\n"
    )
    scripts = environment()["PYTHONPATH"]
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": scripts},
        stdout=subprocess.PIPE,
    )
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _alive(child):
        time.sleep(0.02)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    """True for a running process, also when it is not our child; a zombie is not running."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
