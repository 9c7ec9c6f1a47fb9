"""Open every fetched file as its user would; rules/storage.smk."""

from datetime import UTC, datetime
from pathlib import Path

from benchproof import job, tables
from benchproof.outputs import OPEN
from benchproof.storage.files import file_rows
from benchproof.vault import read_json


def main(task: job.Job) -> None:
    """Write the files table: one row per chosen handle."""
    records = [record for path in task.input.fetched for record in read_json(Path(path))]
    rows = file_rows(
        records,
        read_json(Path(task.input.selection)),
        tables.read(task.input.contents, "contents"),
        task.vault.snapshots,
        datetime.now(UTC),
    )
    task.left_open("fetch", ((r["handle"], r["reason"]) for r in rows if r["status"] in OPEN))
    task.write("files", rows)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
