"""Disks that fill: python -m campaign.disks [--steps N] (Linux, root; tests on the path).

A family is audited with its vault, then its reports, on a disk of their own that has too little room. Each
time the run must end with an error that says `no space`, leave the report of an earlier day as it was and
no file under its name that isn't whole; the disk then grows a step and the same command goes on. In the
end the tables must have the bytes of an audit that never met a full disk.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq

from conftest import Bench, content, settings
from family import build_family
from upstream import Upstream

EARLIER = "2026-01-14"


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def _used(folder: Path) -> int:
    room = os.statvfs(folder)
    return (room.f_blocks - room.f_bfree) * room.f_frsize


def _grow(folder: Path, size: int) -> None:
    _mount("-o", f"remount,size={size}", str(folder))


def _files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _broken(bench: Bench, said: str, code: int, earlier: Mapping[str, str]) -> list[str]:
    """Return what a run on a full disk left that it should not."""
    found = []
    last = said.strip().splitlines()[-3:]
    if code == 0:
        found.append("ended well")
    if not any("no space" in line.lower() for line in last):
        found.append(f"does not say `no space`: {last}")
    if _files(bench.out.parent / EARLIER) != earlier:
        found.append("the earlier report has changed")
    for path in bench.out.glob("*.parquet"):
        try:
            pq.ParquetFile(path).read()
        except Exception as error:  # whatever it is, it is the finding
            found.append(f"{path.name} is not whole: {type(error).__name__}")
    return found


def fill(name: str, steps: int, whole: Mapping[str, bytes], bench: Bench) -> int:
    """Audit with one folder on a disk that grows by steps; return how many laws broke."""
    disk = bench.folder / name
    disk.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", "size=1g", "tmpfs", str(disk))
    assert bench.run(timeout=900).returncode == 0
    earlier, before = _files(bench.out), _used(disk)
    bench.settings["date"] = "2026-01-15"
    need, size, bad = before // 2, before, 0
    for _ in range(100 * steps):
        _grow(disk, max(size, _used(disk) + 4096))
        done = bench.run(timeout=900)
        if done.returncode == 0 and not _missing(bench):
            break
        broken = _broken(bench, done.stdout, done.returncode, earlier)
        bad += len(broken)
        print(
            f"{name}: {size - before} bytes of room: {done.returncode}",
            *broken,
            sep="\n  ",
            flush=True,
        )
        size = max(size, _used(disk)) + max(4096, need // steps)
    if dict(content(bench.out)) != whole:
        bad += 1
        print(f"{name}: the tables differ from those of an audit with room")
    return bad


def _missing(bench: Bench) -> bool:
    return not (bench.out / "seal.json").exists()


def main() -> int:
    """Fill both disks; returns 1 when a law broke."""
    parser = argparse.ArgumentParser(prog="python -m campaign.disks", description=__doc__)
    parser.add_argument("--steps", type=int, default=6, help="in how many steps the room comes")
    parser.add_argument("--disk", choices=["resources", "results"], action="append")
    given = parser.parse_args()
    if "BENCHPROOF_OWN_MOUNTS" not in os.environ:
        os.environ["BENCHPROOF_OWN_MOUNTS"] = "1"
        os.execvp(
            "unshare", ["unshare", "-m", sys.executable, "-m", "campaign.disks", *sys.argv[1:]]
        )
    bad, began = 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="benchproof-disks-") as name:
        folder = Path(name)
        family = build_family(folder / "family", small=True)
        with Upstream(family.root, family=family) as upstream:
            plain = Bench(folder / "plain", settings(family, upstream))
            plain.folder.mkdir()
            assert plain.run(timeout=900).returncode == 0
            whole = dict(content(plain.out))
            for disk in given.disk or ["resources", "results"]:
                bench = Bench(folder / disk, settings(family, upstream, date=EARLIER))
                bad += fill(disk, given.steps, whole, bench)
                subprocess.run(["umount", str(folder / disk / disk)], check=True)
    print(f"{bad} laws broke, {time.monotonic() - began:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
