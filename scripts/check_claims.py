"""Check what is claimed of the family against the tables; rules/summarise.smk."""

from collections import Counter, defaultdict
from pathlib import Path

from benchproof import job, tables
from benchproof.analysis import claims
from benchproof.analysis.query import Tables, tables_named


def main(task: job.Job) -> None:
    """Write the claims table, from those tables alone that this run knows of."""
    folder = Path(task.input.pins).parent
    known = {Path(path).stem for path in task.input if str(path).endswith(".parquet")}
    listed = claims.load(task.input.claims)
    asked = claims.tables_of(listed, tables_named)
    rows = claims.check(listed, Tables(folder, sorted(asked & known)), _scope(folder), job.log.info)
    counts = Counter(row["status"] for row in rows)
    job.log.info("%s", ", ".join(f"{n} {status}" for status, n in sorted(counts.items())))
    task.write("claims", rows)


def _scope(folder: Path) -> claims.Scope:
    pins = tables.read(folder / "pins.parquet", "pins")
    read = tables.read(folder / "reconciliation.parquet", "reconciliation")
    handles: dict[str, set[str]] = defaultdict(set)
    for row in tables.read(folder / "eval_handles.parquet", "eval_handles"):
        handles[row["repo"]].add(row["handle"])
    return claims.Scope(
        {pin["repo"]: pin["commit_sha"] for pin in pins},
        frozenset(row["repo"] for row in read if row["status"] == "not_read"),
        {repo: frozenset(found) for repo, found in handles.items()},
    )


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
