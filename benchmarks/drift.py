"""Compare two reports of a million recorded runs with 20 planted changes, and count what is found.

usage: drift.py [--runs 1000000] [--repeat 5] [--json FILE]

Both folders are made once. Each round is a process of its own, from its start to the written drift.parquet,
drift.html and summary.md, beside two others: pyarrow reading the columns of both tables, which no
comparison can do without, and a full outer join of both files in DuckDB with two threads. Seconds are
wall clock, with the imports; memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

_HEAD = """
import re, sys, time
start = time.perf_counter()
sys.path.insert(0, sys.argv[1])
from pathlib import Path
old, new, out = map(Path, sys.argv[2:5])
"""
_TAIL = """
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())
print(time.perf_counter() - start, time.process_time(), int(peak[1]) / 1000, found)
"""
WAYS = {
    "drift": """
from benchproof.report import drifting
drift = drifting.compared(old, new, None, None)
drifting.write(drift, out)
found = sum(diff.table == "runs" for diff in drift.diffs)
""",
    "reading alone": """
import pyarrow.parquet as pq
found = sum(pq.ParquetFile(d / "runs.parquet").read().num_rows for d in (old, new))
""",
    "duckdb": """
import duckdb
import pyarrow.parquet as pq
link = duckdb.connect(":memory:", config={"threads": 2})
link.execute("SET enable_progress_bar = false")
names = [n for n in pq.read_schema(old / "runs.parquet").names if n not in ("repo", "run_path")]
unlike = " OR ".join(f'a."{n}" IS DISTINCT FROM b."{n}"' for n in names)
found = len(link.execute(
    f"SELECT a.run_path, b.run_path FROM '{old}/runs.parquet' a FULL JOIN '{new}/runs.parquet' b "
    f"ON a.repo = b.repo AND a.run_path = b.run_path WHERE a.repo IS NULL OR b.repo IS NULL OR {unlike}"
).fetchall())
""",
}


def build(folder: Path, runs: int) -> None:
    """Write both reports: 6 runs gone, 6 new, 8 with another verdict."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchproof import tables

    schema = tables.SPECS["runs"].schema
    passes = np.random.default_rng(5).random(runs) < 0.5

    def path(n: int) -> str:
        place = f"openai/model-{n // 3 % 16:02d}/harness/r{n % 3 + 1}"
        return f"trajectories/INVENTED_eval_{n // 48:06d}/{place}/result.json"

    columns: dict[str, Any] = {
        "repo": ["demo/one"] * runs,
        "run_path": [path(n) for n in range(runs)],
        "blob_sha": [f"{n * 2654435761 % 2**64:016x}" * 2 + "0" * 8 for n in range(runs)],
        "eval_id": [f"INVENTED_eval_{n // 48:06d}" for n in range(runs)],
        "model": [f"model-{n // 3 % 16:02d}" for n in range(runs)],
        "replicate": np.arange(runs) % 3 + 1,
        "failure_mode": [None if passed else "wrong_value" for passed in passes],
    }
    for field in schema:
        if field.name not in columns:
            kinds = {pa.bool_(): passes, pa.float64(): np.where(passes, 1.0, 0.25)}
            columns[field.name] = kinds.get(field.type, [field.name] * runs)
    table = pa.table({f.name: pa.array(columns[f.name], f.type) for f in schema})
    table = table.sort_by([("repo", "ascending"), ("run_path", "ascending")])
    kept = np.ones(runs, bool)
    kept[[1, runs // 7, runs // 3, runs // 2, runs - 9, runs - 2]] = False
    later = table.filter(pa.array(kept))
    turned = np.array(later.column("derived_passed"))
    turned[[0, 5, runs // 5, runs // 4, runs // 3, runs // 2 + 7, runs - 100, runs - 20]] ^= True
    later = later.set_column(
        schema.get_field_index("derived_passed"), "derived_passed", pa.array(turned)
    )
    fresh = later.slice(100, 6).set_column(
        1, "run_path", pa.array([f"{path(n * runs // 6)}.new" for n in range(6)])
    )
    fresh = fresh.set_column(2, "blob_sha", pa.array([f"{n:040d}" for n in range(6)]))
    later = pa.concat_tables([later, fresh]).sort_by(
        [("repo", "ascending"), ("run_path", "ascending")]
    )
    pin = dict.fromkeys(tables.SPECS["pins"].schema.names) | {
        "repo": "demo/one",
        "status": "ok",
        "commit_sha": "a" * 40,
    }
    for day, rows in (("2026-01-01", table), ("2026-01-02", later)):
        tables.write(folder / day / "pins.parquet", "pins", [pin], {})
        pq.write_table(rows, folder / day / "runs.parquet", compression="zstd", version="2.6")


def once(way: str, folder: Path) -> tuple[float, float, float, int]:
    """Return seconds, those of the processor, megabytes at the peak, and what was found."""
    places = [
        str(ROOT / "scripts"),
        *(str(folder / d) for d in ("2026-01-01", "2026-01-02", "out")),
    ]
    command = [sys.executable, "-c", _HEAD + WAYS[way] + _TAIL, *places]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, cpu, peak, found = done.stdout.split()
    return float(seconds), float(cpu), float(peak), int(found)


def main() -> int:
    """Measure, print, and write the figures as JSON when asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as private:
        folder = Path(private)
        build(folder, given.runs)
        rounds = [{way: once(way, folder) for way in WAYS} for _ in range(given.repeat)]
    figures = {}
    for way in WAYS:
        seconds = sorted(item[way][0] for item in rounds)
        ratios = sorted(item[way][0] / item["reading alone"][0] for item in rounds)
        cpu = statistics.median(item[way][1] for item in rounds)
        peak, found = max(item[way][2] for item in rounds), rounds[0][way][3]
        figures[way] = {
            "seconds": seconds,
            "ratios": ratios,
            "cpu": cpu,
            "peak_mb": peak,
            "found": found,
        }
        print(
            f"{way:<14} {statistics.median(seconds):6.2f} s ({seconds[0]:.2f}-{seconds[-1]:.2f}), "
            f"{cpu:5.2f} s of the processor, {statistics.median(ratios):5.2f} of reading alone, "
            f"{peak:6.0f} MB at the peak, {found} found"
        )
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if figures["drift"]["found"] == 20 else 1


if __name__ == "__main__":
    raise SystemExit(main())
