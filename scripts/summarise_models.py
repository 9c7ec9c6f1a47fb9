"""Accuracy per model and harness from recorded verdicts; rules/summarise.smk."""

from benchproof import job, tables
from benchproof.analysis.models import summarise


def main(task: job.Job) -> None:
    """Write the models table."""
    runs, evals = tables.read(task.input.runs, "runs"), tables.read(task.input.evals, "evals")
    task.write("models", summarise(runs, evals))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
