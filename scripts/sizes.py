"""Show what the data weighs and what a fetch would need; rules/storage.smk."""

import shutil

from benchproof import job, tables
from benchproof.storage import screens
from benchproof.storage.choose import suffix
from benchproof.storage.fetch.store import Store
from benchproof.storage.identity import Identity
from benchproof.vault import Vault, read_json


def main(task: job.Job) -> None:
    """Leave the screen of the sizes target."""
    objects = tables.read(task.input.objects, "objects")
    store = Store(task.vault.snapshots)
    held = sum(
        store.held(row["handle"], Identity.of_row(row), suffix(row["container"]))
        for row in objects
        if row["container"] == "hdf5" and row["size_bytes"] is not None
    )
    text = screens.sizes(
        objects,
        tables.read(task.input.eval_handles, "eval_handles"),
        held=held,
        rate=_rate(task.vault),
        free=shutil.disk_usage(task.vault.root).free,
    )
    task.screen("2-sizes", text)


def _rate(vault: Vault) -> float | None:
    """Return bytes per second of the fetches that reports of this vault remember; None before any."""
    paths = vault.root.glob("handover/*/*/fetched/*.json")
    records = [record for path in paths for record in read_json(path) if record["status"] == "ok"]
    moved = [record for record in records if record["bytes_fetched"]]
    seconds = sum(record["seconds"] for record in moved)
    return sum(record["bytes_fetched"] for record in moved) / seconds if seconds else None


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
