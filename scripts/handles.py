"""Show which evaluations can be run; rules/storage.smk."""

from benchproof import job, tables
from benchproof.storage import screens


def main(task: job.Job) -> None:
    """Leave the screen of the handles target."""
    handles = tables.read(task.input.handles, "handles")
    runnable = tables.read(task.input.runnable, "runnable")
    eval_handles = tables.read(task.input.eval_handles, "eval_handles")
    task.screen("1-handles", screens.handles(handles, runnable, eval_handles))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
