"""Show what is inside every .h5ad; rules/storage.smk."""

from benchproof import job, tables
from benchproof.storage import screens


def main(task: job.Job) -> None:
    """Leave the screen of the peek target."""
    task.screen("3-peek", screens.peeks(tables.read(task.input.contents, "contents")))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
