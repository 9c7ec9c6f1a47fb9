"""Show what was fetched, and fail when more was asked for than is allowed; rules/storage.smk."""

from pathlib import Path

from benchproof import job, tables
from benchproof.errors import ConfigError
from benchproof.storage import screens
from benchproof.vault import read_json


def main(task: job.Job) -> None:
    """Leave the screen of the fetch target. Raises ConfigError with the sum that would be moved."""
    task.screen("4-fetch", screens.files(tables.read(task.input.files, "files")))
    refused = read_json(Path(task.input.selection))["refused"]
    if refused:
        raise ConfigError(refused)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
