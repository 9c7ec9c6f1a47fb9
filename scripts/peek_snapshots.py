"""Look inside every .h5ad by ranged reads; rules/storage.smk."""

from datetime import UTC, datetime

from benchproof import job, tables
from benchproof.outputs import OPEN
from benchproof.storage.contents import Peeks, peek_all
from benchproof.storage.opening import open_world


def main(task: job.Job) -> None:
    """Write the contents table: one row per reachable handle."""
    settings = task.settings()
    with open_world(settings, task.book) as world:
        peeked = peek_all(
            tables.read(task.input.objects, "objects"),
            world,
            Peeks(task.vault.peeks, task.params.code),
            task.journal("peek"),
            connections=settings["http"]["connections"],
            now=lambda: datetime.now(UTC),
        )
        task.count("peek", *(world.traffics if world else ()))
    task.left_open("peek", ((p.handle, p.reason) for p in peeked if p.status in OPEN))
    task.write("contents", [item.row() for item in peeked])


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
