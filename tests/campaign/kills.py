"""SIGKILL at seeded times: processes that fetch one object, killed and started again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from campaign.site import HANDLE, Site

ROOT = Path(__file__).resolve().parents[2]
SIZE = 12 * (1 << 20) + 4321
CONNECTIONS, CHUNK_BYTES, RATE = 4, 256 * 1024, 4_000_000
CHILD = """
import json, sys
from pathlib import Path
from benchproof.http import Http
from benchproof.journal import Journal
from benchproof.storage.fetch import Store, fetch
from benchproof.storage.identity import Identity
from benchproof.storage.links import Links
from benchproof.storage.signer import Signer
given = json.loads(sys.argv[1])
http = Http([given["url"]], environ={})
links = Links(Signer(http, given["url"] + "/sign", [given["url"]]), Journal(Path(given["book"])))
print("ready", flush=True)
record = fetch(http, links, given["handle"], Identity(*given["identity"]), Store(Path(given["store"])),
               connections=given["connections"], chunk_bytes=given["chunk_bytes"])
print(record.sha256, flush=True)
"""


@dataclass(slots=True)
class Told:
    """What came of the kills; `broken` says in words which law did not hold."""

    kills: int = 0
    completed: int = 0
    served: int = 0
    broken: list[str] = field(default_factory=list)

    def summary(self) -> str:
        """Return the figures in one line."""
        lost = (self.served - self.completed * SIZE) / max(self.kills, 1)
        return (
            f"{self.kills} kills, {self.completed} objects whole, {lost / CONNECTIONS / 1024:.0f} KiB"
            f" lost per kill and connection, served/size"
            f" {self.served / max(self.completed * SIZE, 1):.3f}"
        )


class Killing:
    """Fetches an object again and again, killing the process at times that the seed gives."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = random.Random(f"kills {seed}")

    def run(self, kills: int) -> Told:
        """Kill so often, then let a last process finish; return what came of it."""
        told = Told()
        folder = tempfile.TemporaryDirectory(prefix="kills-")
        with folder as name, Site(Path(name), size=SIZE) as site:
            site.upstream.add("pace", "GET /storage/", rate=RATE)
            while told.kills < kills:
                self._cycle(site, told)
            if not site.finals():
                self._finished(site, told, self._start(site))
            told.served = site.served
            most = told.completed * SIZE + told.kills * CONNECTIONS * CHUNK_BYTES
            if told.served > most:
                told.broken.append(f"{told.served} bytes served, at most {most} allowed")
        return told

    def _cycle(self, site: Site, told: Told) -> None:
        child = self._start(site)
        assert child.stdout is not None
        child.stdout.readline()
        try:
            child.wait(self._rng.uniform(0.0, 0.5))
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        if child.returncode == -signal.SIGKILL:
            child.stdout.close()
            told.kills += 1
            told.broken += [f"kill {told.kills}: {name} is wrong" for name in site.unsound()]
            return
        self._finished(site, told, child)

    def _start(self, site: Site) -> subprocess.Popen[str]:
        identity = site.identity
        given = {
            "url": site.upstream.url,
            "book": str(site.folder / "links.jsonl"),
            "handle": HANDLE,
            "identity": [identity.etag, identity.size, identity.last_modified],
            "store": str(site.store.root),
            "connections": CONNECTIONS,
            "chunk_bytes": CHUNK_BYTES,
        }
        return subprocess.Popen(
            [sys.executable, "-c", CHILD, json.dumps(given)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
            stdout=subprocess.PIPE,
            text=True,
        )

    def _finished(self, site: Site, told: Told, child: subprocess.Popen[str]) -> None:
        """Check what a process that was not killed made, and clear it away."""
        output = child.communicate(timeout=60)[0]
        if child.returncode != 0 or site.object.sha256() not in output:
            told.broken.append(f"after {told.kills} kills: ended with {child.returncode}")
        told.broken += [f"{name} is wrong" for name in site.unsound()]
        if site.parts():
            told.broken.append("unfinished files are left")
        told.completed += 1
        for path in site.finals():
            path.unlink()
