"""Show what the data weighs and what a fetch would need; rules/storage.smk."""

import shutil

from benchproof import job, tables
from benchproof.storage import screens
from benchproof.storage.bring import measured_rate
from benchproof.storage.choose import held_in
from benchproof.storage.fetch import Store


def main(task: job.Job) -> None:
    """Leave the screen of the sizes target."""
    objects = tables.read(task.input.objects, "objects")
    held_of = held_in(Store(task.vault.snapshots))
    held = sum(
        held_of(row)
        for row in objects
        if row["container"] == "hdf5" and row["size_bytes"] is not None
    )
    text = screens.sizes(
        objects,
        tables.read(task.input.eval_handles, "eval_handles"),
        held=held,
        rate=measured_rate(task.vault),
        free=shutil.disk_usage(task.vault.root).free,
    )
    task.screen("2-sizes", text)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
