"""One run at a time on a vault: the living keep it, the dead lose it, and no file lock is involved."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchproof import cluster, lease
from benchproof.errors import ClusterError, LeaseHeld, VaultError
from benchproof.lease import MARK, Lease, end_orphans

SLEEP = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]


def other(monkeypatch: pytest.MonkeyPatch, root: Path, token: str) -> Lease:
    """A lease as another run has it: with a token of its own."""
    monkeypatch.setenv(MARK, token)
    return Lease(root)


def write(root: Path, **holder: Any) -> Path:
    root.mkdir(exist_ok=True)
    path = root / "lease.json"
    path.write_text(json.dumps(holder) if holder else "")
    return path


def holder(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / "lease.json").read_text())
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def first(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lease]:
    held = other(monkeypatch, root, "first")
    held.acquire()
    yield held
    held.release()


@pytest.fixture
def living() -> Iterator[subprocess.Popen[bytes]]:
    """A process of a run whose token is `mark-of-the-dead`."""
    process = subprocess.Popen(
        SLEEP, env={**os.environ, MARK: "mark-of-the-dead"}, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    with process:
        yield process
        process.kill()


def test_a_second_run_is_refused_and_told_by_whom(
    first: Lease, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (root / "lease.json").read_bytes()
    second = other(monkeypatch, root, "second")
    assert second.held_by_other()
    with pytest.raises(LeaseHeld, match=rf"process {os.getpid()} on .*nothing was touched"):
        second.acquire()
    second.release()
    assert (root / "lease.json").read_bytes() == before
    assert {path.name for path in root.iterdir()} == {"lease.json"}


def test_nested_processes_of_a_run_share_its_lease(first: Lease, root: Path) -> None:
    nested = Lease(root)
    assert not nested.held_by_other()
    nested.acquire()
    nested.release()


def test_release_is_idempotent_and_frees(
    first: Lease, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first.release()
    first.release()
    second = other(monkeypatch, root, "second")
    second.acquire()
    first.release()
    assert holder(root)["token"] == "second"
    second.release()
    assert list(root.iterdir()) == []


def test_the_lease_is_private(first: Lease, root: Path) -> None:
    assert (root.stat().st_mode & 0o777, (root / "lease.json").stat().st_mode & 0o777) == (
        0o700,
        0o600,
    )


@pytest.mark.parametrize("started", ["boot:1", None], ids=["number-reused", "no-start-time"])
def test_a_number_used_again_is_not_the_dead_run(
    root: Path, monkeypatch: pytest.MonkeyPatch, started: str | None
) -> None:
    write(root, token="dead", host=socket.gethostname(), pid=os.getpid(), started=started)
    heir = other(monkeypatch, root, "heir")
    assert not heir.held_by_other()
    heir.acquire()
    assert holder(root)["token"] == "heir"
    heir.release()


def test_the_lease_of_a_killed_run_is_taken_over_and_its_orphans_end(
    root: Path, monkeypatch: pytest.MonkeyPatch, living: subprocess.Popen[bytes]
) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    started = lease._started(dead.pid)
    dead.wait()
    write(root, token="mark-of-the-dead", host=socket.gethostname(), pid=dead.pid, started=started)
    heir = other(monkeypatch, root, "heir")
    heir.acquire()
    assert living.wait(5) == -9
    assert {path.name for path in root.iterdir()} == {"lease.json"}
    heir.release()


def test_only_processes_with_the_mark_end(living: subprocess.Popen[bytes]) -> None:
    assert end_orphans("") == end_orphans("another") == end_orphans("mark-of-the") == 0
    assert living.poll() is None
    assert end_orphans("mark-of-the-dead") == 1
    assert living.wait(5) == -9


@pytest.mark.parametrize(
    ("age_s", "alive"),
    [(0, True), (lease.STALE_AFTER_S - 30, True), (lease.STALE_AFTER_S + 30, False)],
)
def test_another_hosts_lease_lives_by_its_last_touch(
    root: Path, monkeypatch: pytest.MonkeyPatch, age_s: float, alive: bool
) -> None:
    path = write(root, token="far", host="another-host", pid=1, started="x")
    then = time.time() - age_s
    os.utime(path, (then, then))
    here = other(monkeypatch, root, "here")
    assert here.held_by_other() is alive
    if alive:
        with pytest.raises(LeaseHeld, match="another-host"):
            here.acquire()
    else:
        here.acquire()
        assert holder(root)["token"] == "here"
        here.release()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"token": 5}'])
def test_half_a_lease_is_a_run_that_begins_and_stale_when_old(
    root: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    path = write(root)
    path.write_text(text)
    here = other(monkeypatch, root, "here")
    with pytest.raises(LeaseHeld):
        here.acquire()
    os.utime(path, (1, 1))
    here.acquire()
    assert holder(root)["token"] == "here"
    here.release()


def test_the_holder_touches_its_lease(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "TOUCH_EVERY_S", 0.02)
    held = other(monkeypatch, root, "held")
    held.acquire()
    path = root / "lease.json"
    os.utime(path, (1, 1))
    deadline = time.monotonic() + 5
    while path.stat().st_mtime < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert path.stat().st_mtime > 2
    held.release()


@pytest.mark.parametrize("call", ["utime", "read_text"])
def test_a_file_server_that_stalls_ends_no_touching(
    root: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Else the lease of a living run is stale on other hosts five minutes later."""
    monkeypatch.setattr(lease, "TOUCH_EVERY_S", 0.02)
    owner = Path if call == "read_text" else os
    real = getattr(owner, call)
    failed: list[Any] = []

    def stalled(path: Any, *rest: Any) -> Any:
        if threading.current_thread().name == "lease" and len(failed) < 3:
            failed.append(1)
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return real(path, *rest)

    monkeypatch.setattr(owner, call, stalled)
    held = other(monkeypatch, root, "first")
    held.acquire()
    os.utime(root / "lease.json", (1, 1))
    deadline = time.monotonic() + 10
    while (root / "lease.json").stat().st_mtime < 2 or len(failed) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    held.release()


def test_a_lease_that_cannot_be_read_is_nobodys_to_take(
    first: Lease, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = other(monkeypatch, root, "second")

    def refused(*_: object) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as unreadable:
        unreadable.setattr(Path, "read_text", refused)
        with pytest.raises(VaultError, match="cannot be read"):
            second.acquire()
    assert holder(root)["token"] == "first"


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_place_for_no_lease_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    root.mkdir()

    def refused(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(VaultError, match=r"lease\.json: cannot be written"):
        Lease(root).acquire()


def test_a_run_that_lost_its_lease_does_not_keep_another_ones_alive(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A suspended machine wakes up: the lease is another host's by now, and its age is that host's word."""
    monkeypatch.setattr(lease, "TOUCH_EVERY_S", 0.02)
    held = other(monkeypatch, root, "held")
    held.acquire()
    path = write(root, token="far", host="another-host", pid=1, started="x")
    time.sleep(0.1)
    os.utime(path, (1, 1))
    time.sleep(0.2)
    assert path.stat().st_mtime < 2
    held.release()
    assert holder(root)["token"] == "far"


def test_of_many_that_come_at_once_one_gets_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while all of them find the same stale lease."""
    write(root, token="dead", host=socket.gethostname(), pid=2**22 + 1, started="boot:1")
    runs = [other(monkeypatch, root, f"run{number}") for number in range(12)]
    barrier, got = threading.Barrier(len(runs)), list[Lease]()

    def come(run: Lease) -> None:
        barrier.wait()
        try:
            run.acquire()
        except LeaseHeld:
            return
        got.append(run)

    threads = [threading.Thread(target=come, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 1
    got[0].release()
    assert not (root / "lease.json").exists()


def test_no_file_lock_is_used(first: Lease, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """flock and fcntl do nothing on some shared file systems, so nothing may rest on them."""
    import fcntl

    def refused(*_: object) -> None:
        raise AssertionError("a file lock was asked for")

    for name in ("flock", "lockf", "fcntl"):
        monkeypatch.setattr(fcntl, name, refused)
    with pytest.raises(LeaseHeld):
        other(monkeypatch, root, "second").acquire()


def test_a_dead_runs_jobs_on_a_cluster_are_ended_before_its_lease_goes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name in its lease; a living run's are never looked at."""
    ended: list[str] = []

    def end(name: str) -> int:
        ended.append(name)
        return 1

    monkeypatch.setattr(cluster, "cancel", end)
    write(root, token="dead", host=socket.gethostname(), pid=2**22 + 1, started="x", jobs="bp_dead")
    taken = other(monkeypatch, root, "next")
    taken.acquire("bp_next")
    assert ended == ["bp_dead"]
    assert holder(root)["jobs"] == "bp_next"
    with pytest.raises(LeaseHeld):
        other(monkeypatch, root, "third").acquire("bp_third")
    assert ended == ["bp_dead"]
    taken.release()
    assert ended == ["bp_dead", "bp_next"]
    assert not (root / "lease.json").exists()


def test_a_lease_stays_with_jobs_that_cannot_be_ended(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a takeover nor an end may forget them: the next run finds the same lease."""

    def silent(name: str) -> int:
        raise ClusterError(f"no word of {name}")

    monkeypatch.setattr(cluster, "cancel", silent)
    path = write(root, token="dead", host="elsewhere", pid=1, started="x", jobs="bp_dead")
    os.utime(path, (0, 0))
    with pytest.raises(ClusterError, match="bp_dead"):
        other(monkeypatch, root, "next").acquire()
    assert holder(root)["token"] == "dead"
    path.unlink()
    mine = other(monkeypatch, root, "mine")
    mine.acquire("bp_mine")
    mine.release()
    assert holder(root)["jobs"] == "bp_mine"
    assert capsys.readouterr().err == "benchproof: no word of bp_mine\n"


def test_no_room_for_a_lease_is_said_and_leaves_none(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-53: an empty one would keep the next run waiting."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(json, "dump", full)
    with pytest.raises(VaultError, match="no space left"):
        other(monkeypatch, root, "one").acquire()
    assert list(root.iterdir()) == []


def test_a_process_of_the_run_shares_its_lease_and_leaves_it(
    first: Lease, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A watched run holds the lease from its first step to its last; its snakemake comes and goes."""
    nested = other(monkeypatch, root, "first")
    nested.release()
    nested.acquire()
    assert not nested.held_by_other()
    nested.release()
    assert holder(root)["token"] == "first"
    first.release()
    assert not (root / "lease.json").exists()


def test_jobs_of_a_process_that_shares_the_lease_are_noted_and_ended(
    first: Lease, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself at its end, and where it was killed by the run that started it, or by the next one."""
    ended: list[str] = []
    monkeypatch.setattr(cluster, "cancel", ended.append)
    for jobs, told in (("bp_one", ["bp_one"]), ("bp_two", ["bp_one", "bp_two"])):
        nested = other(monkeypatch, root, "first")
        nested.acquire(jobs)
        assert (holder(root)["jobs"], holder(root)["pid"]) == (jobs, os.getpid())
        nested.release()
        assert ended == told
        assert holder(root)["jobs"] is None
    killed = other(monkeypatch, root, "first")
    killed.acquire("bp_three")
    first.release()
    assert ended[2:] == ["bp_three"]
    assert not (root / "lease.json").exists()


def test_an_orphan_that_would_submit_again_goes_before_its_jobs(
    root: Path, living: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: list[bool] = []

    def end(_: str) -> int:
        alive.append(living.poll() is None)
        return 1

    monkeypatch.setattr(cluster, "cancel", end)
    write(root, **(DEAD | {"token": "mark-of-the-dead", "jobs": "bp_dead"}))
    other(monkeypatch, root, "next").acquire()
    assert alive == [False]


#: A holder whose process is gone.
DEAD = {"host": socket.gethostname(), "pid": 2**22 + 1, "started": "x"}


def test_a_disk_that_became_read_only_is_said_at_the_end(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Giving up cannot fail a run, nor leave a traceback behind its last words; taking over says why not."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(root / "lease.json"))

    held = other(monkeypatch, root, "first")
    held.acquire()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", refuse)
        held.release()
    said = capsys.readouterr().err
    assert said.startswith(
        f"benchproof: {root}/lease.json: cannot be removed (Read-only file system)"
    )
    write(root, token="dead", host=socket.gethostname(), pid=2**22 + 1, started="never")
    late = other(monkeypatch, root, "second")
    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(VaultError, match=r"lease\.json: cannot be written \(Read-only"):
        late.acquire()
