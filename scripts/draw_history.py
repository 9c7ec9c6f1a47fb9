"""Draw the timelines on one page; rules/history.smk."""

from pathlib import Path

from benchproof import job, tables
from benchproof.outputs import replacing
from benchproof.report import timeline


def main(task: job.Job) -> None:
    """Write the page, and leave the screen of the run that made it."""
    rows = [row for path in task.input.timelines for row in tables.read(path, "timeline")]
    with replacing(Path(task.output.page)) as part:
        part.write_text(
            timeline.render(rows, task.params.audit["made_by"]["notice"]), encoding="utf-8"
        )
    task.screen("5-history", timeline.screen(rows))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
