"""Show what changed when; rules/history.smk."""

from pathlib import Path

from benchproof import job, tables
from benchproof.errors import HistoryError
from benchproof.history.rows import faults
from benchproof.report import timeline


def main(task: job.Job) -> None:
    """Leave the screen of the history target; fail when a commit met a fault of ours, not of the commit."""
    rows = [row for path in task.input.timelines for row in tables.read(path, "timeline")]
    task.screen("5-history", f"{timeline.screen(rows)}\nThe page: {task.input.page}")
    if ours := faults(rows):
        raise HistoryError(ours, str(Path(task.input.page).parent / "logs"))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
