"""Accuracy per model and harness, intervals, breakdowns and comparisons; rules/summarise.smk."""

from benchproof import job, tables
from benchproof.analysis import breakdown
from benchproof.analysis.models import summarise


def main(task: job.Job) -> None:
    """Write the models, estimates, strata and comparisons tables."""
    runs = tables.read(task.input.runs, "runs", breakdown.COLUMNS)
    evals = tables.read(task.input.evals, "evals")
    task.write("models", summarise(runs, evals))
    repositories = breakdown.by_repository(runs, evals)
    task.write("estimates", breakdown.estimates(repositories))
    task.write("strata", breakdown.strata(repositories))
    task.write("comparisons", breakdown.comparisons(repositories))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
