"""Choose what is fetched, and refuse what is more than allowed; rules/storage.smk."""

import shutil
from pathlib import Path

from benchproof import job, tables
from benchproof.outputs import write_config
from benchproof.sealing.seal import SEAL, is_complete
from benchproof.storage import choose, screens
from benchproof.storage.bring import measured_rate
from benchproof.storage.fetch import Store
from benchproof.vault import write_json


def main(task: job.Job) -> None:
    """Write the selection; says what a fetch will move, in bytes, time and disk, before the first byte."""
    _reopen(task, Path(task.input.pins).parent)
    wanted = task.params.fetch
    selection = choose.choose(
        tables.read(task.input.objects, "objects"),
        tables.read(task.input.eval_handles, "eval_handles"),
        wanted["select"],
        max_total_bytes=wanted["max_total_bytes"],
        shards=task.settings()["shards"],
        held=choose.held_in(Store(task.vault.snapshots)),
    )
    if selection.refused:
        job.log.warning("%s", selection.refused)
    elif selection.total:
        number = sum(map(len, selection.parts.values()))
        held = selection.total - selection.to_move
        free = shutil.disk_usage(task.vault.root).free
        said = screens.need(selection.to_move, held, measured_rate(task.vault), free)
        job.log.info("a fetch of %d objects %s", number, " ".join(said))
    write_json(Path(task.output.selection), selection.record())


def _reopen(task: job.Job, folder: Path) -> None:
    """Break the seal of a report whose files are now chosen otherwise; the next whole run seals it anew.

    The commits and what was observed stay as they are: only what is fetched is the user's to change.
    """
    if is_complete(folder):
        (folder / SEAL).unlink()
        write_config(folder, task.settings())


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
