"""Bring snapshots into the vault, or verify those that are there; rules/storage.smk."""

from pathlib import Path

from benchproof import job
from benchproof.storage.bring import bring
from benchproof.storage.fetch import Store
from benchproof.storage.opening import open_world
from benchproof.vault import write_json


def main(task: job.Job) -> None:
    """Write the record of one part of the selection: what became of each of its objects."""
    settings = task.settings()
    with open_world(settings, task.book) as world:
        records = bring(task.params.objects, world, Store(task.vault.snapshots), settings)
        path = Path(task.output.record)
        task.count("fetch", *(world.traffics if world else ()), part=path.stem)
    write_json(path, records)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
