"""Ask the signer for every distinct handle, once; rules/storage.smk."""

from datetime import UTC, datetime
from pathlib import Path

from benchproof import job, tables
from benchproof.outputs import OPEN
from benchproof.storage.opening import open_world
from benchproof.storage.resolve import handle_rows, resolve, runnable_rows
from benchproof.vault import write_json


def main(task: job.Job) -> None:
    """Write the handles and runnable tables: what was learnt earlier as it is, the rest from the signer."""
    settings = task.settings()
    evals = tables.read(task.input.evals, "evals")
    eval_handles = tables.read(task.input.eval_handles, "eval_handles")
    moment = datetime.now(UTC)
    with open_world(settings, task.book) as world:
        resolved = resolve(
            eval_handles,
            world,
            task.journal("resolve"),
            connections=settings["http"]["connections"],
            now=lambda: datetime.now(UTC),
        )
        task.count("resolve", *(world.traffics if world else ()))
    task.left_open("resolve", ((r.handle, r.reason) for r in resolved if r.status in OPEN))
    reachable = [item.handle for item in resolved if item.status == "reachable"]
    write_json(Path(task.output.reachable), reachable)
    task.write("handles", handle_rows(resolved, eval_handles))
    task.write("runnable", runnable_rows(evals, eval_handles, resolved, moment))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
