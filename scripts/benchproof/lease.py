"""One run at a time on a vault, without file locks.

flock and fcntl do nothing on some shared file systems, and Snakemake's own lock outlives a killed run.
The lease is a file created with O_EXCL that names host, process and start time; its holder touches it. A
lease is stale when its process is gone (same host) or its last touch is old by the file system's own
clock (other host). Whoever finds a stale one ends the jobs that its dead run left behind, on this host and
on a cluster, and takes over. Jobs on other hosts belong to the run that submitted them and hold nothing.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchproof import cluster
from benchproof.errors import BenchproofError, LeaseHeld, VaultError, why
from benchproof.vault import clock, discard, private_folder, write_json

#: Environment variable that marks every process of a run, so that its orphans can be found.
MARK = "BENCHPROOF_LEASE"
TOUCH_EVERY_S = 20.0
#: Fifteen missed touches: a suspended laptop or a stalled file server is not a dead run.
STALE_AFTER_S = 300.0
#: How long after a takeover its rivals' renames are waited for.
SETTLE_S = 0.3


class Lease:
    """A run's hold on a vault; `acquire` raises LeaseHeld, `release` is safe to call twice."""

    def __init__(self, root: Path) -> None:
        self._vault = root
        # Absolute: Snakemake leaves its working directory before the lease is given back.
        self._path = root.absolute() / "lease.json"
        self._token = os.environ.setdefault(MARK, uuid.uuid4().hex)
        self._stop = threading.Event()
        self._acquired = self._created = False

    def acquire(self, jobs: str | None = None) -> None:
        """Take the lease, from a dead run if need be; raises LeaseHeld when a living run has it.

        `jobs` is the name that this run's jobs will bear on a cluster. A process that a run has started
        shares its lease, and leaves it behind. Raises ClusterError when jobs of a dead run can't be ended.
        """
        private_folder(self._path.parent)
        taken_over = False
        while not self._create(jobs):
            holder = self._read()
            if holder.get("token") == self._token:
                self._note(holder, jobs)
                break
            if self._alive(holder):
                raise LeaseHeld(
                    f"another run holds {self._vault} ({_describe(holder)}); nothing was touched. "
                    "Wait for it to end, or give this run its own --config resources=…"
                )
            end_leftovers(holder)
            self._set_aside(holder)
            taken_over = True
        if taken_over:
            self._settle()
        self._acquired = True
        threading.Thread(target=self._keep, name="lease", daemon=True).start()

    def _settle(self) -> None:
        """Make sure of a lease taken from a dead run: of several that come at once, the last one there
        has it, and those that a late rename pushed aside leave.
        """
        time.sleep(SETTLE_S)
        holder = self._read()
        if holder.get("token") != self._token:
            raise LeaseHeld(
                f"another run took {self._vault} at the same time ({_describe(holder)}); nothing was "
                "touched. Wait for it to end."
            )

    def held_by_other(self) -> bool:
        """True when a living run other than this one holds the vault."""
        holder = self._read()
        return bool(holder) and holder.get("token") != self._token and self._alive(holder)

    def release(self) -> None:
        """Give the lease up if it is ours; it stays with jobs that could not be ended, for the next run."""
        self._stop.set()
        try:
            self._give_up()
        except BenchproofError as error:
            print(f"benchproof: {error}", file=sys.stderr)

    def _give_up(self) -> None:
        holder = self._read()
        if not self._acquired or holder.get("token") != self._token:
            return
        jobs = holder.get("jobs")
        if isinstance(jobs, str):
            cluster.cancel(jobs)
        if self._created:
            self._remove()
        elif jobs is not None:
            self._note(holder, None)

    def _note(self, holder: dict[str, Any], jobs: str | None) -> None:
        """Write into a lease that we share what runs on the cluster, for whoever takes it over."""
        if holder.get("jobs") != jobs:
            write_json(self._path, {**holder, "jobs": jobs})

    def _create(self, jobs: str | None) -> bool:
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return False
        except OSError as error:
            raise self._unwritable(error) from None
        me = {"token": self._token, "host": socket.gethostname(), "pid": os.getpid()}
        try:
            with os.fdopen(descriptor, "w") as handle:
                json.dump({**me, "started": _started(os.getpid()), "jobs": jobs}, handle)
        except OSError as error:
            self._path.unlink(missing_ok=True)
            raise self._unwritable(error) from None
        self._created = True
        return True

    def _remove(self) -> None:
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise VaultError(
                f"{self._path}: cannot be removed ({why(error)}); it counts for nothing once this process "
                "has ended, and the next run takes it over."
            ) from None

    def _unwritable(self, error: OSError) -> VaultError:
        return VaultError(
            f"{self._path}: cannot be written ({why(error)}); free room or permissions there and run again."
        )

    def _read(self) -> dict[str, Any]:
        try:
            return _content(self._path)
        except FileNotFoundError:
            return {}
        except OSError as error:  # not readable is not gone: nobody may take it over
            raise VaultError(
                f"{self._path}: cannot be read ({why(error)}); nothing was touched."
            ) from None

    def _alive(self, holder: dict[str, Any]) -> bool:
        if holder.get("host") == socket.gethostname() and isinstance(holder.get("pid"), int):
            started = _started(holder["pid"])
            return started is not None and started == holder.get("started")
        return self._age() < (STALE_AFTER_S if holder else TOUCH_EVERY_S)

    def _age(self) -> float:
        """Seconds since the last touch, by the file system's clock: hosts disagree about the time."""
        try:
            return clock(self._path.parent) - self._path.stat().st_mtime
        except FileNotFoundError:
            return STALE_AFTER_S

    def _set_aside(self, judged: dict[str, Any]) -> None:
        """Remove the lease we judged stale, and put back any other that took its place meanwhile."""
        if self._read().get("token") != judged.get("token"):
            return
        aside = self._path.with_name(f"lease.{uuid.uuid4().hex}.stale")
        try:
            os.rename(self._path, aside)
            if _content(aside).get("token") != judged.get("token"):
                os.replace(aside, self._path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unwritable(error) from None
        discard(aside)

    def _keep(self) -> None:
        while not self._stop.wait(TOUCH_EVERY_S):
            # A file server that stalls, or a rival that holds it for a moment, is no reason to stop for good.
            with suppress(OSError, VaultError):
                token = self._read().get("token", self._token)
                if token != self._token:
                    return  # lost to another host while this one was suspended
                os.utime(self._path)


def _content(path: Path) -> dict[str, Any]:
    """Return what a lease says; one that is damaged says nothing. Raises OSError when it cannot be read."""
    try:
        found = json.loads(path.read_text())
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def end_leftovers(holder: Mapping[str, Any]) -> int:
    """End what the dead holder of a lease left, here and on a cluster, and return how many there were.

    Raises ClusterError when the cluster can't be asked or goes on.
    """
    # First what runs here: an orphaned snakemake submits again what it sees cancelled.
    ended = end_orphans(str(holder.get("token", "")))
    jobs = holder.get("jobs")
    return ended + (cluster.cancel(jobs) if isinstance(jobs, str) else 0)


def end_orphans(token: str, patience_s: float = 10.0) -> int:
    """Kill the processes a dead run left on this host and return how many there were.

    They are known by the mark in their environment; where /proc is missing, none are found.
    """
    orphans = _marked(token) if token else []
    for pid in orphans:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    deadline = time.monotonic() + patience_s
    while any(_started(pid) is not None for pid in orphans) and time.monotonic() < deadline:
        time.sleep(0.05)
    return len(orphans)


def _marked(token: str) -> list[int]:
    mark = f"{MARK}={token}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if mark in environment.split(b"\0") and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def _started(pid: int) -> str | None:
    """Identity of a living process beyond its number, which is reused; None when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return _signalled(pid)
    return None if fields[0] in "ZX" else f"{boot}:{fields[19]}"


def _signalled(pid: int) -> str | None:
    """The same without /proc: a process that can be signalled is there."""
    if Path("/proc/self").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "unknown"


def _describe(holder: dict[str, Any]) -> str:
    return f"process {holder.get('pid', '?')} on {holder.get('host', '?')}"
