"""Look into large .h5ad files over HTTP, next to h5py over the usual cache of blocks.

usage: peek.py [--latency-ms 50] [--repeat 3] [--json FILE]

The files, 2 GB and 6 GB, are invented: all that describes them is real, their matrices are holes that take
no disk. The embedded upstream runs in a process of its own and waits before every answer; requests and
bytes are its count. Both ways must describe a file alike, or the benchmark stops.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import h5py  # noqa: E402

from benchproof.http import Http  # noqa: E402
from benchproof.journal import Journal  # noqa: E402
from benchproof.storage.describe import describe  # noqa: E402
from benchproof.storage.identity import Identity  # noqa: E402
from benchproof.storage.links import Links  # noqa: E402
from benchproof.storage.peek import peek  # noqa: E402
from benchproof.storage.ranged import RangedObject  # noqa: E402
from benchproof.storage.sandbox import Sandbox  # noqa: E402
from benchproof.storage.signer import Signer  # noqa: E402
from family import Family, Handle  # noqa: E402
from h5ad import Matrix, huge  # noqa: E402

OURS, LRU = "peek", "h5py, LRU of 64 KiB blocks"
#: Few cells would put all descriptions close together.
CELLS: dict[str, Any] = {"n_obs": 100_000}
FILES: dict[str, dict[str, Any]] = {
    "2 GB, csr, 40 columns": {"size": 2_080_000_000, "columns": 40},
    "6 GB, csr, 30 columns, raw": {
        "size": 5_960_000_000,
        "columns": 30,
        "raw": Matrix(hole=True),
        "raw_vars": 3000,
    },
    "6 GB, dense, 20 columns": {"size": 5_960_000_000, "columns": 20, "form": "dense"},
}


@dataclass(frozen=True)
class Measured:
    """One look into one file: time in seconds, the rest as the server counted; `rounds` waited for."""

    seconds: float
    requests: int
    kib: float
    rounds: int


class Server:
    """The embedded upstream in a process of its own, so that it shares no interpreter with a client."""

    def __init__(self, folder: Path, latency_ms: float) -> None:
        options = {"--root": folder, "--family": folder / "family.json", "--latency-ms": latency_ms}
        command = [sys.executable, "-m", "upstream", "--control", "--print-config", "--with-parent"]
        command += [str(word) for option in options.items() for word in option]
        self._process = subprocess.Popen(
            command,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "tests")},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        told = json.loads(self._process.stdout.readline())
        self.url: str = told["url"]
        self.endpoints: dict[str, Any] = told["endpoints"]

    def reset(self) -> None:
        """Forget what was asked so far."""
        request = urllib.request.Request(f"{self.url}/_control/faults", method="DELETE")
        urllib.request.urlopen(request).close()

    def counts(self) -> dict[str, int]:
        """Return requests and bytes_out of the storage since the last reset."""
        with urllib.request.urlopen(f"{self.url}/_control/counts") as answer:
            found: dict[str, int] = json.loads(answer.read())["storage"]
        return found

    def stop(self) -> None:
        """End the server."""
        self._process.terminate()
        self._process.communicate()


class LruFile(io.RawIOBase):
    """What remote readers usually put under h5py: blocks on demand, the least used ones dropped."""

    BLOCK, HELD = 64 * 1024, 512

    def __init__(self, remote: RangedObject) -> None:
        super().__init__()
        self._remote, self._at = remote, 0
        self._size = remote.identity.size or 0
        self._blocks: OrderedDict[int, bytes] = OrderedDict()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position and return it."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        """Return the position in bytes."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer from blocks."""
        view = memoryview(buffer).cast("B")
        first, last = self._at // self.BLOCK, (self._at + len(view) - 1) // self.BLOCK
        data = b"".join(self._block(number) for number in range(first, last + 1))
        start = self._at - first * self.BLOCK
        view[:] = data[start : start + len(view)]
        self._at += len(view)
        return len(view)

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            offset = number * self.BLOCK
            wanted = (offset, min(self.BLOCK, self._size - offset))
            self._blocks[number] = self._remote.read([wanted])[0]
            if len(self._blocks) > self.HELD:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return self._blocks[number]


def look_ours(remote: RangedObject, sandbox: Sandbox) -> tuple[dict[str, Any], int]:
    """Return what a peek tells, and its rounds."""
    found = peek(sandbox, remote.read, remote.identity.size or 0)
    return asdict(found), found.rounds


def look_lru(remote: RangedObject, sandbox: Sandbox) -> tuple[dict[str, Any], int]:
    """Return what h5py tells, and its requests: each waits for the one before."""
    with h5py.File(LruFile(remote), "r") as file:
        return describe(file), remote.requests


WAYS: Mapping[str, Callable[[RangedObject, Sandbox], tuple[dict[str, Any], int]]] = {
    OURS: look_ours,
    LRU: look_lru,
}


class World:
    """The files on the embedded upstream, and clients for it."""

    def __init__(self, server: Server, http: Http, links: Links, sandbox: Sandbox) -> None:
        self._server, self._http, self._links, self._sandbox = server, http, links, sandbox

    def look(self, way: str, handle: str) -> tuple[dict[str, Any], Measured]:
        """Look into one file one way; signing and the first request for its identity are not counted."""
        remote = RangedObject(self._http, self._links, handle, self._identity(handle))
        self._server.reset()
        began = time.perf_counter()
        told, rounds = WAYS[way](remote, self._sandbox)
        seconds = time.perf_counter() - began
        counts = self._server.counts()
        return told, Measured(seconds, counts["requests"], counts["bytes_out"] / 1024, rounds)

    def _identity(self, handle: str) -> Identity:
        url = self._links.url(handle)
        answer = self._http.request("GET", url, what=handle, headers={"Range": "bytes=0-0"})
        return Identity.of(answer.status, answer.headers)


@contextmanager
def opened(folder: Path, latency_ms: float) -> Iterator[tuple[World, dict[str, str]]]:
    """Build the files and serve them; gives the world and handles by what the files are called."""
    handles, names = {}, {}
    for number, (name, options) in enumerate(FILES.items(), start=1):
        path, handle = folder / f"{number}.h5ad", f"latch://{number}.node"
        huge(path, **CELLS, **options)
        handles[handle] = Handle(handle, "reachable", path.stat().st_size, "hdf5", str(path))
        names[name] = handle
    family = Family(folder, "demo", 1, False, True, {}, handles, (), ())
    family.save(folder / "family.json")
    with ExitStack() as stack:
        server = Server(folder, latency_ms)
        stack.callback(server.stop)
        asking = stack.enter_context(Http([server.endpoints["signer"]], environ={}))
        http = stack.enter_context(Http(server.endpoints["storage"], environ={}))
        signer = Signer(asking, server.endpoints["signer"], server.endpoints["storage"])
        links = Links(signer, Journal(folder / "book"))
        sandbox = stack.enter_context(Sandbox())
        yield World(server, http, links, sandbox), names


def run(folder: Path, latency_ms: float, repeat: int) -> dict[str, dict[str, list[Measured]]]:
    """Return measurements by file and way, the ways alternating."""
    found: dict[str, dict[str, list[Measured]]] = {}
    with opened(folder, latency_ms) as (world, names):
        # The child imports h5py once, not once a file.
        world.look(OURS, next(iter(names.values())))
        for name, handle in names.items():
            found[name] = {way: [] for way in WAYS}
            for _ in range(repeat):
                told = {}
                for way in WAYS:
                    told[way], measured = world.look(way, handle)
                    found[name][way].append(measured)
                if any(told[OURS][key] != value for key, value in told[LRU].items()):
                    raise SystemExit(f"{name}: the two ways differ")
    return found


def table(found: Mapping[str, Mapping[str, list[Measured]]]) -> Iterator[str]:
    """Yield the lines of a table: medians."""
    yield f"{'file':28} {'way':28} {'requests':>9} {'KiB':>7} {'rounds':>7} {'seconds':>8} {'ratio':>6}"
    for name, ways in found.items():
        own = [m.seconds for m in ways[OURS]]
        for way, measured in ways.items():
            middle = {
                key: statistics.median(getattr(m, key) for m in measured)
                for key in ("requests", "kib", "rounds", "seconds")
            }
            ratio = statistics.median(
                m.seconds / base for m, base in zip(measured, own, strict=True)
            )
            yield (
                f"{name:28} {way:28} {middle['requests']:9.0f} {middle['kib']:7.0f} "
                f"{middle['rounds']:7.0f} {middle['seconds']:8.2f} {ratio:6.1f}"
            )


def main() -> int:
    """Measure and print; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write all measurements there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), given.latency_ms, given.repeat)
    print("\n".join(table(found)))
    if given.json:
        text = {
            n: {w: [asdict(m) for m in ms] for w, ms in ways.items()} for n, ways in found.items()
        }
        given.json.write_text(json.dumps(text, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
