"""Accuracy per model and harness from recorded verdicts; rules/summarise.smk."""

from benchproof import job, tables
from benchproof.analysis.models import summarise


def main(task: job.Job) -> None:
    """Write the models table."""
    task.write("models", summarise(tables.read(task.input.runs, "runs")))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
