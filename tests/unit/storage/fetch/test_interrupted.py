"""Kills, interrupts, full disks, several processes at once: what is there next time, and what never."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import campaign
from benchproof.errors import VaultError
from campaign.kills import CHILD, Killing
from campaign.site import HANDLE, Site
from unit.storage.fetch.conftest import SIZE

STORAGE = "GET /storage/"
ROOT = Path(__file__).resolve().parents[4]


def child(site: Site, **options: Any) -> subprocess.Popen[str]:
    """A process that fetches the object."""
    identity = site.identity
    given = {
        "url": site.upstream.url,
        "book": str(site.folder / "book.jsonl"),
        "handle": HANDLE,
        "identity": [identity.etag, identity.size, identity.last_modified],
        "store": str(site.store.root),
        "connections": 2,
        "chunk_bytes": 256 * 1024,
    }
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, json.dumps(given)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_kills_lose_little_and_damage_nothing() -> None:
    told = Killing(seed=3).run(8)
    assert told.broken == []
    assert told.kills >= 8
    assert told.completed >= 1


def test_a_kill_at_each_step_of_the_end(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record is there first, then the name, then the folder goes; each may be the last act."""
    site.share(data=os.urandom(600_000))
    for step in ("record", "rename", "tidy"):
        dying_at(step, monkeypatch)
        with pytest.raises(_Killed):
            site.fetch()
        monkeypatch.undo()
        assert site.unsound() == []
        served = site.served
        assert site.fetch().sha256 == site.object.sha256()
        assert site.served == served
        assert site.parts() == []
        for path in site.store.root.glob("*/*"):
            path.unlink()


class _Killed(BaseException):
    """Stands for a process that is no more; nothing catches it."""


def dying_at(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object, **__: object) -> None:
        raise _Killed

    place = "benchproof.storage.fetch.store"
    if step == "record":
        monkeypatch.setattr(f"{place}.write_json", die)
    elif step == "rename":
        monkeypatch.setattr("benchproof.storage.fetch.part.os.replace", die_for_data)
    else:
        monkeypatch.setattr("benchproof.storage.fetch.part.shutil.rmtree", die)


real_replace = os.replace


def die_for_data(source: Any, target: Any) -> None:
    if Path(source).name == "data":
        raise _Killed
    real_replace(source, target)


def test_an_interrupt_ends_all_connections(site: Site) -> None:
    """And what has arrived is there next time."""
    told: list[int] = []

    def progress(count: int) -> None:
        told.append(count)
        if len(told) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        site.fetch(progress=progress, connections=4)
    assert not [t for t in threading.enumerate() if t.name in ("fetch", "digest")]
    kept = site.journalled()
    assert len(kept) >= 4
    asked = len(site.ranges())
    assert site.fetch().sha256 == site.object.sha256()
    assert not kept & site.blocks_asked(asked)


# --- several at once -----------------------------------------------------------------------------


def test_two_processes_at_once(site: Site) -> None:
    """BR-17, with nothing that could be called a lock: both end well, and one file is left."""
    site.upstream.add("pace", STORAGE, rate=3_000_000)
    children = [child(site), child(site)]
    outputs = [process.communicate(timeout=60) for process in children]
    assert [process.returncode for process in children] == [0, 0], outputs
    assert all(site.object.sha256() in out for out, _ in outputs)
    assert len(site.finals()) == 1
    assert site.parts() == []
    asked = len(site.ranges())
    assert site.fetch().bytes_fetched == 0
    assert len(site.ranges()) == asked


def test_two_threads_at_once(site: Site) -> None:
    site.upstream.add("pace", STORAGE, rate=5_000_000)
    records = []
    threads = [threading.Thread(target=lambda: records.append(site.fetch())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [record.sha256 for record in records] == [site.object.sha256()] * 3
    assert site.parts() == []


def test_one_is_killed_while_another_goes_on(site: Site) -> None:
    site.upstream.add("pace", STORAGE, rate=1_000_000)
    first, second = child(site), child(site)
    assert first.stdout is not None
    first.stdout.readline()
    with pytest.raises(subprocess.TimeoutExpired):
        first.wait(0.4)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    out, _ = second.communicate(timeout=60)
    assert site.object.sha256() in out
    assert len(site.finals()) == 1
    assert site.parts() == []


def test_nothing_asks_for_a_lock() -> None:
    folder = ROOT / "scripts" / "benchproof" / "storage" / "fetch"
    sources = [path.read_text() for path in folder.glob("*.py")]
    assert sources
    assert not [text for text in sources if "fcntl" in text or "flock" in text]


# --- no room -------------------------------------------------------------------------------------


def test_a_limit_on_files_is_no_space(site: Site) -> None:
    """BR-53."""
    limit = SIZE // 2

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = child(site, preexec_fn=limited)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "no space left" in errors
    assert "X-Amz" not in errors
    assert site.finals() == []
    assert site.fetch().sha256 == site.object.sha256()


def test_a_disk_that_fills_on_the_way(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """BR-53: what has arrived stays, and the next run goes on from there."""
    real, count = os.pwrite, 0

    def full(*arguments: Any) -> int:
        nonlocal count
        count += 1
        if count > 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*arguments)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(VaultError, match="no space left"):
        site.fetch()
    monkeypatch.undo()
    kept = site.journalled()
    assert len(kept) == 5
    asked = len(site.ranges())
    site.fetch()
    assert not kept & site.blocks_asked(asked)


def test_an_object_beyond_all_disks(site: Site) -> None:
    site.upstream.storage.share(HANDLE, size=1 << 60)
    with pytest.raises(VaultError, match="no space left"):
        site.fetch()
    assert site.ranges() == []


# --- campaigns -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(1000, 1012))
def test_a_short_campaign(seed: int) -> None:
    """More of it: python -m campaign --seeds N, with tests on the path."""
    trial = campaign.draw(seed)
    assert campaign.run(trial) == []


def test_failed_tries_are_counted(site: Site) -> None:
    site.upstream.add("reset", STORAGE, times=3, bytes=0)
    site.fetch(connections=1)
    traffic = next(iter(site.http.traffic.hosts().values()))
    assert (traffic.retries, traffic.throttled) == (3, 0)
    assert traffic.waited_s > 0
    assert traffic.bytes_in >= SIZE
