"""Fetch one object next to curl and aria2, over loopback, with and without what storage does to it.

usage: fetch.py [--size-mb 400] [--capped-mb 200] [--repeat 3] [--json FILE]

Four settings. `plain`: nginx, nothing in the way. `capped`: the embedded upstream with 10 MB/s for each
connection and 80 ms before each answer. `rough`: the same with a reset after 5 to 15 MB and 503 for a
fifth of the requests. `killed`: `capped` without the latency, each client killed twice and started again.
Every client is a process of its own and its start counts. Bytes are those that the server handed to
sockets; what a client made is compared with the object each time. Ours also hashes everything twice, once
for the journal and once for the record; the others hash nothing.
"""

from __future__ import annotations

import argparse
import getpass
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PATHS = [str(ROOT / "scripts"), str(ROOT / "tests")]
MB = 1_000_000
HANDLE = "latch://1.node"
RATE, LATENCY_S = 10 * MB, 0.08
#: In `killed` each client lives so long, in seconds, before its first and second kill.
LIVES_S = (0.9, 0.7)

OURS = """
import json, sys
from pathlib import Path
from benchproof.http import Http
from benchproof.storage.fetch import Store, fetch
from benchproof.storage.identity import Identity
given = json.loads(sys.argv[1])
class Links:
    def url(self, handle):
        return given["url"]
    def renew(self, handle, dead):
        raise SystemExit("the URL has died")
http = Http([given["host"]], environ={})
fetch(http, Links(), given["handle"], Identity(*given["identity"]), Store(Path(given["store"])),
      connections=given["connections"], tries=50)
"""
SERVER = """
import json, sys
from pathlib import Path
from upstream import Upstream
given = json.loads(sys.argv[1])
with Upstream(Path(given["folder"]), control=True, latency_s=given["latency_s"]) as served:
    served.storage.share(given["handle"], path=given["file"])
    print(served.url, flush=True)
    sys.stdin.read()
"""
NGINX = """
user {user}; daemon off; worker_processes 1; error_log stderr crit; pid {folder}/pid;
events {{ worker_connections 64; }}
http {{
  sendfile on; tcp_nopush on; log_format sent "$body_bytes_sent"; access_log {folder}/log sent;
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  server {{ listen 127.0.0.1:{port}; location / {{ root {folder}/www; }} }}
}}
"""


@dataclass(frozen=True, slots=True)
class Site:
    """A server with the object: its URL, its version, and how many bytes it has sent."""

    url: str
    identity: tuple[str | None, int | None, str | None]
    sent: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Client:
    """A client: its name and its command line for a site and a folder to write into."""

    name: str
    command: Callable[[Site, Path], list[str]]


@dataclass(slots=True)
class Run:
    """One fetch: wall seconds, CPU seconds of the client, its peak memory, and bytes sent."""

    seconds: float
    cpu_s: float
    rss_mb: float
    sent: int
    right: bool


@dataclass(slots=True)
class Figures:
    """All runs of one client in one setting."""

    size: int
    runs: list[Run] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        """Return medians: MB/s, CPU s/GB, MB of memory, bytes sent by size."""

        def middle(pick: Callable[[Run], float]) -> float:
            return statistics.median(pick(run) for run in self.runs)

        return {
            "MB/s": round(middle(lambda run: self.size / run.seconds / MB), 1),
            "CPU s/GB": round(middle(lambda run: run.cpu_s) / self.size * 1e9, 2),
            "RSS MB": round(middle(lambda run: run.rss_mb)),
            "sent/size": round(middle(lambda run: run.sent) / self.size, 3),
            "right": f"{sum(run.right for run in self.runs)}/{len(self.runs)}",
        }


def ours(connections: int) -> Client:
    """Return our own client."""

    def command(site: Site, folder: Path) -> list[str]:
        host = site.url.split("/", 3)
        given = {
            "url": site.url,
            "host": "/".join(host[:3]),
            "handle": HANDLE,
            "identity": site.identity,
            "store": str(folder),
            "connections": connections,
        }
        return [sys.executable, "-c", OURS, json.dumps(given)]

    return Client(f"ours, {connections}", command)


def curl(site: Site, folder: Path) -> list[str]:
    """Return curl's command line: one connection, what is there is gone on with."""
    retried = ["--retry", "99", "--retry-delay", "1", "--retry-all-errors"]
    return ["curl", "-sS", "-f", "-C", "-", *retried, "-o", str(folder / "file"), site.url]


def aria2(site: Site, folder: Path) -> list[str]:
    """Return aria2's command line: eight connections from the start, going on for ever."""
    many = ["-x8", "-s8", "-k1M", "-c", "--max-tries=0", "--retry-wait=1", "--auto-save-interval=1"]
    quiet = ["-q", "--no-conf", "--file-allocation=none", "--allow-overwrite=true"]
    return ["aria2c", *many, *quiet, "-d", str(folder), "-o", "file", site.url]


@contextmanager
def nginx(folder: Path, file: Path) -> Iterator[Site]:
    """Serve a file with nginx."""
    (folder / "www").mkdir(parents=True)
    (folder / "www" / "object").symlink_to(file)
    port = 20_000 + random.randrange(20_000)
    config = folder / "conf"
    config.write_text(NGINX.format(folder=folder, port=port, user=getpass.getuser()))
    process = subprocess.Popen(
        ["nginx", "-c", str(config), "-p", str(folder)], stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}/object"
    try:
        headers = _headers(url)
        identity = headers["ETag"].strip('"'), file.stat().st_size, headers["Last-Modified"]
        log = folder / "log"
        yield Site(url, identity, lambda: sum(map(int, log.read_text().split())))
    finally:
        process.terminate()
        process.wait()


def _headers(url: str) -> Any:
    for _ in range(50):
        try:
            with urllib.request.urlopen(url) as answer:
                return answer.headers
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server did not start")


@contextmanager
def embedded(
    folder: Path, file: Path, latency_s: float, faults: list[dict[str, Any]]
) -> Iterator[Site]:
    """Serve a file with the embedded upstream, in a process of its own."""
    folder.mkdir()
    given = {"folder": str(folder), "file": str(file), "handle": HANDLE, "latency_s": latency_s}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, json.dumps(given)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    base = process.stdout.readline().strip()

    def asked(path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(base + path, data)) as answer:
            return json.loads(answer.read())

    try:
        url = asked("/sign", {"path": HANDLE})["data"]["url"]
        with urllib.request.urlopen(
            urllib.request.Request(url, headers={"Range": "bytes=0-0"})
        ) as a:
            identity = a.headers["ETag"].strip('"'), file.stat().st_size, a.headers["Last-Modified"]
        for fault in faults:
            asked("/_control/faults", {"match": "GET /storage/", **fault})
        yield Site(url, identity, lambda: int(asked("/_control/counts")["storage"]["bytes_out"]))
    finally:
        process.communicate("")


def once(client: Client, site: Site, folder: Path, digest: str, lives: tuple[float, ...]) -> Run:
    """Let a client fetch the object, killed after each of its `lives`, and judge what it made."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    before, began = site.sent(), time.perf_counter()
    cpu_s = rss = 0.0
    for life in (*lives, None):
        process = subprocess.Popen(
            client.command(site, folder),
            env={**os.environ, "PYTHONPATH": PATHS[0]},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if life is not None:
            threading.Timer(life, process.kill).start()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu_s += used.ru_utime + used.ru_stime
        rss = max(rss, used.ru_maxrss / 1000)
        if process.returncode == 0:
            break
    seconds = time.perf_counter() - began
    time.sleep(0.3)  # let the server count what broke off
    made = [p for p in folder.rglob("*") if p.is_file() and p.suffix not in (".json", ".aria2")]
    right = len(made) == 1 and _digest(made[0]) == digest
    return Run(seconds, cpu_s, rss, site.sent() - before, right)


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def make(file: Path, size: int) -> str:
    """Write an object of a size that nothing can compress; return its digest."""
    rng, digest = random.Random("fetch"), hashlib.sha256()
    piece = rng.randbytes(MB)
    with file.open("wb") as out:
        for number in range(-(-size // MB)):
            data = (number.to_bytes(8, "little") + piece[8:])[: size - number * MB]
            out.write(data)
            digest.update(data)
    return digest.hexdigest()


def _start() -> float:
    """Return how long our client takes before it does anything, s."""
    code = OURS.partition("given =")[0]
    times = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": PATHS[0]})
        times.append(time.perf_counter() - began)
    return round(statistics.median(times), 2)


def measure(
    clients: list[Client],
    site: Site,
    folder: Path,
    digest: str,
    repeat: int,
    lives: tuple[float, ...] = (),
) -> dict[str, Figures]:
    """Let every client fetch in turn, `repeat` rounds; return the figures by client."""
    size = site.identity[1] or 0
    found = {client.name: Figures(size) for client in clients}
    for _ in range(repeat):
        for client in clients:
            run = once(client, site, folder, digest, lives)
            found[client.name].runs.append(run)
    return found


def settings(given: argparse.Namespace, folder: Path) -> Iterator[tuple[str, dict[str, Figures]]]:
    """Measure and yield each setting."""
    pace = {"kind": "pace", "rate": RATE}
    rough = [
        {"kind": "reset", "bytes": 5 * MB, "spread": 10 * MB, "seed": 1},
        {"kind": "status", "status": 503, "chance": 0.2, "seed": 2},
    ]
    peers = [Client("curl", curl), Client("aria2 -x8", aria2)]
    many = [ours(8), peers[1]]
    file, out = folder / "object", folder / "out"
    digest = make(file, given.size_mb * MB)
    with nginx(folder / "nginx", file) as site:
        yield "plain", measure([ours(1), ours(4), *peers], site, out, digest, given.repeat)
    digest = make(file, given.capped_mb * MB)
    with embedded(folder / "capped", file, LATENCY_S, [pace]) as site:
        yield "capped", measure([*many, peers[0]], site, out, digest, given.repeat)
    with embedded(folder / "rough", file, LATENCY_S, [pace, *rough]) as site:
        yield "rough", measure(many, site, out, digest, given.repeat)
    with embedded(folder / "killed", file, 0.0, [pace]) as site:
        yield "killed", measure(many, site, out, digest, given.repeat, LIVES_S)


def main() -> int:
    """Measure and print; returns 1 when one of our files was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--size-mb", type=int, default=400, help="size of the object, plain")
    parser.add_argument(
        "--capped-mb", type=int, default=200, help="size of it in the other settings"
    )
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    given = parser.parse_args()
    missing = [name for name in ("nginx", "curl", "aria2c") if shutil.which(name) is None]
    if missing:
        parser.error(f"not installed: {', '.join(missing)}")
    shared = Path("/dev/shm")
    told: dict[str, Any] = {"start": {"ours": {"s": _start()}}}
    print(f"start of ours: {told['start']['ours']['s']} s, within every figure of it")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        for name, found in settings(given, Path(folder)):
            told[name] = {client: figures.row() for client, figures in found.items()}
            print(name)
            for client, row in told[name].items():
                print(f"  {client:10}", "  ".join(f"{key} {value}" for key, value in row.items()))
            sys.stdout.flush()
    if given.json:
        given.json.write_text(json.dumps(told, indent=1))
    all_right = f"{given.repeat}/{given.repeat}"
    rows = [row for found in told.values() for client, row in found.items() if "ours," in client]
    return 0 if all(row["right"] == all_right for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
