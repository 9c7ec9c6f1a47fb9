"""Show what was fetched, and fail when more was asked for than is allowed; rules/storage.smk."""

from pathlib import Path

from benchproof import job, tables
from benchproof.errors import ConfigError, VaultError
from benchproof.storage import screens
from benchproof.vault import read_json


def main(task: job.Job) -> None:
    """Leave the screen of the fetch target.

    Raises ConfigError with the sum that would be moved, VaultError when files were deleted since.
    """
    rows = tables.read(task.input.files, "files")
    task.screen("4-fetch", screens.files(rows))
    gone = [
        row["path"] for row in rows if row["path"] and not (task.vault.root / row["path"]).exists()
    ]
    if gone:
        # A finished report is not made again, and neither is what was fetched for it.
        raise VaultError(
            f"{len(gone)} files of this report are not in the vault any more (first: {gone[0]}); fetch "
            "them again with another --config date=…, and `offline: false`."
        )
    refused = read_json(Path(task.input.selection))["refused"]
    if refused:
        raise ConfigError(refused)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
