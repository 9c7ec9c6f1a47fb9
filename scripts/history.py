"""Show what changed when; rules/history.smk."""

from benchproof import job, tables
from benchproof.report import timeline


def main(task: job.Job) -> None:
    """Leave the screen of the history target."""
    rows = [row for path in task.input.timelines for row in tables.read(path, "timeline")]
    task.screen("5-history", f"{timeline.screen(rows)}\nThe page: {task.input.page}")


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
