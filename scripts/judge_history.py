"""Fail when the past could not be derived for a fault of ours; rules/history.smk."""

from pathlib import Path

from benchproof import job, tables
from benchproof.errors import HistoryError
from benchproof.history.rows import faults
from benchproof.vault import write_json


def main(task: job.Job) -> None:
    """Leave a note that no commit met a fault of ours; fail without one when some did."""
    rows = [row for path in task.input.timelines for row in tables.read(path, "timeline")]
    if ours := faults(rows):
        raise HistoryError(ours, str(Path(task.input.page).parent / "logs"))
    write_json(Path(task.output.judged), {"commits": len(rows)})


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
