"""Grade a million invented runs again in one job and in shares, on one slot and on two.

usage: shards.py [--runs 1000000] [--shards 4] [--folder FOLDER] [--json FILE]

The runs lie in a content archive, as the mirror stage would leave them, in a vault that is read offline; the
workflow's own targets are run, `regrade` and the record checks. Told are the wall time of the whole command,
the highest resident memory of each rule's jobs, and whether the tables have the same bytes each time. Takes
some 25 minutes and 3 GB of disk for a million runs; records are as long as the real ones.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "tests")]


from benchmarks.regrade import COMMIT, SPEC, invented  # noqa: E402

from benchproof.sources import content  # noqa: E402
from benchproof.sources.base import Entry  # noqa: E402
from benchproof.sources.objects import object_id  # noqa: E402
from benchproof.vault import Vault, write_json  # noqa: E402

DAY = "2026-01-15"
TABLES = ("runs", "run_fields", "readings", "record_checks")
#: Distinct records; every run gets one of them with a number of its own, so that no two blobs are equal.
DISTINCT = 2000
_JOB = re.compile(r"scripts/tmp\w+\.(\w+)\.py")


def archive(vault: Vault, runs: int) -> None:
    """Write the content archive and the pin of an invented repository."""
    entries, blobs = invented(DISTINCT)
    evals = [entry for entry in entries if not entry.path.endswith(b"/result.json")]
    records = [entry for entry in entries if entry.path.endswith(b"/result.json")]
    listing = list(evals)
    for number in range(runs):
        record = records[number % len(records)]
        folder = record.path.rsplit(b"/", 2)[0]
        path = b"%s/r%d/result.json" % (folder, number + 1)
        listing.append(Entry(path, "100644", object_id("blob", _own(blobs[record.sha], number))))

    def pairs() -> Iterator[tuple[str, bytes]]:
        yield from ((entry.sha, blobs[entry.sha]) for entry in evals)
        for number in range(runs):
            data = _own(blobs[records[number % len(records)].sha], number)
            yield object_id("blob", data), data

    listing.sort(key=lambda entry: entry.path)
    content.save(vault.content(SPEC.repo, COMMIT), listing, pairs())
    pin = {
        "repo": SPEC.repo,
        "ref": SPEC.ref,
        "status": "ok",
        "reason": None,
        "commit_sha": COMMIT,
        "tree_sha": COMMIT,
        "committed_at": "2026-01-01T00:00:00+00:00",
        "resolved_repo": SPEC.repo,
        "repo_id": None,
        "source": "git",
    }
    write_json(vault.pin_record(DAY, SPEC.repo, SPEC.ref), pin)


def _own(data: bytes, number: int) -> bytes:
    return b'{"number": %d, %b' % (number, data.lstrip(b"{"))


class Watch:
    """The highest resident memory, MB, of the jobs of each rule while a command runs."""

    def __init__(self, folder: Path) -> None:
        self.peaks: dict[str, float] = {}
        self._folder = str(folder)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.5):
            for folder in Path("/proc").glob("[0-9]*"):
                try:
                    if os.readlink(folder / "cwd") != self._folder:
                        continue
                    said = _JOB.search((folder / "cmdline").read_bytes().decode("utf-8", "replace"))
                    status = (folder / "status").read_text()
                except OSError:
                    continue
                if said and "VmHWM:" in status:
                    peak = int(status.split("VmHWM:", 1)[1].split(None, 1)[0]) / 1000
                    self.peaks[said[1]] = max(self.peaks.get(said[1], 0.0), peak)


def measure(folder: Path, shards: int, slots: int) -> dict[str, Any]:
    """Run the targets afresh; return wall seconds, peaks, and a digest of each table."""
    results = f"results-{shards}-{slots}"
    settings = {
        "date": DAY,
        "family": [{name: getattr(SPEC, name) for name in ("repo", "ref", "evals", "runs")}],
        "offline": True,
        "shards": shards,
        "results": results,
        "resources": "resources",
    }
    path = folder / f"{results}.json"
    path.write_text(json.dumps(settings))
    targets = [f"{results}/{DAY}/{name}.parquet" for name in TABLES]
    command = [str(Path(sys.executable).parent / "snakemake"), "-s", str(ROOT / "Snakefile")]
    command += ["--directory", str(folder), *targets, "--cores", str(slots)]
    began = time.monotonic()
    with Watch(folder) as watch:
        subprocess.run(
            [*command, "--configfile", str(path)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
        )
    wall = time.monotonic() - began
    digests = {t: sha256((folder / t).read_bytes()).hexdigest() for t in targets}
    return {
        "shards": shards,
        "slots": slots,
        "wall_s": wall,
        "peak_mb": watch.peaks,
        "tables": sorted(digests.values()),
        "load": os.getloadavg()[0],
    }


def main() -> int:
    """Measure, print, and write the figures as JSON when asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchproof-bench-", dir=given.folder) as name:
        folder = Path(name).resolve()
        began = time.monotonic()
        archive(Vault(folder / "resources"), given.runs)
        print(f"{given.runs} runs, made in {time.monotonic() - began:.0f} s", flush=True)
        found = []
        for shards, slots in ((1, 1), (given.shards, 1), (given.shards, 2)):
            found.append(measure(folder, shards, slots))
            peaks = ", ".join(f"{rule} {mb:.0f}" for rule, mb in found[-1]["peak_mb"].items())
            print(
                f"  shards {shards}, slots {slots}: {found[-1]['wall_s']:.0f} s; MB: {peaks}; "
                f"load {found[-1]['load']:.1f}",
                flush=True,
            )
        same = len({tuple(item["tables"]) for item in found}) == 1
        print(f"  tables are {'the same bytes each time' if same else 'DIFFERENT'}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
