"""The leak scan: how long it takes and how much memory, over finished reports and over many invented runs.

usage: seal.py [--report FOLDER VAULT]... [--runs 100000] [--json FILE]

Each report is searched as `seal_report` does it, proof of the scanner included, in the searching process;
nothing of what it holds is printed. The invented one has the tables of a repository with that many runs,
graded from answers drawn for each, and is made before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "tests")]

from benchmarks.regrade import COMMIT, SPEC, invented  # noqa: E402

from benchproof import streams, tables  # noqa: E402
from benchproof.analysis.runs import Streamed, regrade_repository  # noqa: E402
from benchproof.inventory.repository import Repository, list_tree, not_read  # noqa: E402
from benchproof.leaks.search import again  # noqa: E402
from benchproof.sources import content  # noqa: E402
from benchproof.vault import Vault  # noqa: E402


def report_of(number: int, folder: Path, vault: Vault) -> None:
    """Write the report folder of a repository with `number` invented runs, and its content archive."""
    entries, blobs = invented(number)
    path = vault.content(SPEC.repo, COMMIT)
    content.save(path, entries, iter(blobs.items()))
    folder.mkdir(parents=True)
    spec = {"repo": SPEC.repo, "ref": SPEC.ref, "evals": SPEC.evals, "runs": SPEC.runs}
    (folder / "config.json").write_text(json.dumps({"family": [spec]}), encoding="utf-8")
    pin = dict.fromkeys(tables.SPECS["pins"].schema.names)
    read = {**not_read(SPEC.repo, ""), "status": "ok", "reason": None}
    tables.write(
        folder / "pins.parquet", "pins", [pin | {"repo": SPEC.repo, "commit_sha": COMMIT}], {}
    )
    tables.write(folder / "reconciliation.parquet", "reconciliation", [read], {})
    with content.opened(path) as archive:
        repository = Repository(SPEC, COMMIT, archive)
        tables.write(folder / "tree.parquet", "tree", list_tree(repository)[0], {})
        with (
            (folder / "runs.parquet").open("wb") as one,
            (folder / "run_fields.parquet").open("wb") as two,
            streams.writing(one, "runs", {}) as runs,
            streams.writing(two, "run_fields", {}) as run_fields,
        ):
            regrade_repository(repository, Streamed(runs, run_fields))


def measured(name: str, folder: Path, vault: Vault) -> dict[str, Any]:
    """Search a report once; seconds, and the searching process's own CPU seconds and peak memory."""
    reader, writer = os.pipe()
    child = os.fork()  # so that the peak is that of this search alone
    if child == 0:
        os.write(writer, json.dumps(_searched(folder, vault)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        found: dict[str, Any] = json.loads(said.read())
    os.waitpid(child, 0)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {"report": name, "bytes": size, **found}


def _searched(folder: Path, vault: Vault) -> dict[str, Any]:
    import resource

    begun = time.perf_counter()
    outcome = again(folder, vault)
    if outcome is None:
        raise SystemExit("the vault lacks what the report was made from")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": round(time.perf_counter() - begun, 1),
        "cpu_s": round(used.ru_utime + used.ru_stime, 1),
        "peak_mb": used.ru_maxrss // 1024,
        "needles": outcome.needles,
        "surfaces": sum(outcome.surfaces.values()),
        "planted": len(outcome.planted),
        "missed": len(outcome.missed),
        "hits": outcome.n_hits,
        "unsearchable": outcome.n_unsearchable,
    }


def main() -> None:
    """Print a line for each report, or write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--report", nargs=2, action="append", default=[], metavar=("FOLDER", "VAULT")
    )
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = [measured(Path(f).name, Path(f), Vault(v)) for f, v in options.report]
    with tempfile.TemporaryDirectory() as private:
        for number in (options.runs // 10, options.runs) if options.runs else ():
            folder, vault = (
                Path(private, f"{number}", "2026-01-15"),
                Vault(Path(private, f"v{number}")),
            )
            report_of(number, folder, vault)
            found.append(measured(f"{number} invented runs", folder, vault))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    for line in found:
        print(", ".join(f"{name} {value}" for name, value in line.items()))


if __name__ == "__main__":
    main()
