"""Choose what is fetched, and refuse what is more than allowed; rules/storage.smk."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchproof import job, tables
from benchproof.progress import megabytes
from benchproof.storage import choose
from benchproof.storage.fetch.store import Store
from benchproof.storage.identity import Identity
from benchproof.vault import write_json


def main(task: job.Job) -> None:
    """Write the selection; says what will be moved, and where to, before the first byte is."""
    store = Store(task.vault.snapshots)

    def held(row: Mapping[str, Any]) -> int:
        suffix = choose.suffix(row["container"])
        return store.held(row["handle"], Identity.of_row(row), suffix)

    wanted = task.params.fetch
    selection = choose.choose(
        tables.read(task.input.objects, "objects"),
        tables.read(task.input.eval_handles, "eval_handles"),
        wanted["select"],
        max_total_bytes=wanted["max_total_bytes"],
        shards=wanted["shards"],
        held=held,
    )
    if selection.refused:
        job.log.warning("%s", selection.refused)
    elif selection.total:
        free = shutil.disk_usage(task.vault.root).free
        job.log.info(
            "%d objects of %s, %s of them still to be moved; %s of disk are free",
            sum(map(len, selection.parts.values())),
            megabytes(selection.total),
            megabytes(selection.to_move),
            megabytes(free),
        )
    write_json(Path(task.output.selection), selection.record())


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
