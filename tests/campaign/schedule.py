"""A schedule of watched runs, as cron would start them, and how its processes are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchproof.lease import MARK
from benchproof.sealing.seal import is_complete
from conftest import ROOT, Bench


class Schedule(Bench):
    """A bench whose runs are watched ones."""

    def command(self, *arguments: str, cores: int = 2) -> list[str]:
        """Return the command line of a watched run."""
        path = self.folder / "settings.json"
        path.write_text(json.dumps(self.settings))
        watch = [sys.executable, "-m", "benchproof", "watch", "--configfile", str(path)]
        return [*watch, *arguments, "--", "--cores", str(cores)]

    def environ(self) -> dict[str, str]:
        """Return the environment, as cron gives one: little."""
        return {**super().environ(), "PYTHONPATH": str(ROOT / "scripts")}

    def on(self, day: str) -> Schedule:
        """Go on with another date."""
        self.settings["date"] = day
        return self

    @property
    def status(self) -> dict[str, Any]:
        """What results/status.json says; empty before the first run."""
        path = self.folder / "results/status.json"
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return found

    @property
    def work(self) -> Path:
        """The folder in the vault through which the jobs of this date hand over."""
        return self.vault / "handover" / "results" / self.out.name

    def wait_until(self, reached: Callable[[], bool], process: subprocess.Popen[str]) -> bool:
        """Wait for a moment of a run; False when the run ended before it came."""
        deadline = time.monotonic() + 300
        while not reached():
            if process.poll() is not None:
                return False
            assert time.monotonic() < deadline, "a moment that never came"
            time.sleep(0.005)
        return True

    def others(self) -> list[int]:
        """Return the processes of a run but its main one, by the mark that all of them bear."""
        holder = json.loads((self.vault / "lease.json").read_text())
        mark = f"{MARK}={holder['token']}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                marked = mark in path.read_bytes().split(b"\0")
            except OSError:
                continue
            if marked:
                found.append(int(path.parent.name))
        return found

    def kill(self, process: subprocess.Popen[str], *, alone: bool) -> None:
        """SIGKILL the main process alone, as an out-of-memory killer would, or everything, as a node does."""
        # Stopped first, so that it starts nothing while the others are looked for.
        process.send_signal(signal.SIGSTOP)
        for pid in [process.pid] if alone else [process.pid, *self.others()]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        process.wait()

    def faults(self) -> list[str]:
        """Return what is wrong after a run that should have made everything good; nothing when all is."""
        left = [*self.folder.rglob("*.part"), *self.vault.glob("lease*")]
        found = [f"left over: {path.relative_to(self.folder)}" for path in left]
        if not is_complete(self.out):
            found.append("the report is not complete")
        if (self.status["state"], self.status["complete"]) != ("ended", self.out.name):
            found.append(f"the status says {self.status['state']}, {self.status['complete']}")
        return found
