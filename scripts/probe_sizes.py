"""Learn what each object is and how large, by one ranged GET; rules/storage.smk."""

from datetime import UTC, datetime
from pathlib import Path

from benchproof import job
from benchproof.outputs import OPEN
from benchproof.storage.opening import open_world
from benchproof.storage.probe import probe_all
from benchproof.vault import read_json


def main(task: job.Job) -> None:
    """Write the objects table: one row per reachable handle."""
    settings = task.settings()
    with open_world(settings, task.book) as world:
        probed = probe_all(
            read_json(Path(task.input.reachable)),
            world,
            task.journal("probe"),
            connections=settings["http"]["connections"],
            now=lambda: datetime.now(UTC),
        )
        task.count("probe", *(world.traffics if world else ()))
    task.left_open("probe", ((p.handle, p.reason) for p in probed if p.status in OPEN))
    task.write("objects", [item.row() for item in probed])


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
