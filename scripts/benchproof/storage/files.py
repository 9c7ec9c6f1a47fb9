"""Files: what was chosen and what became of it, as rows of the files table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from benchproof.progress import Progress
from benchproof.storage.inspect import Inspected, inspect
from benchproof.storage.sandbox import Sandbox

#: How long one file may take: obs and var of a spatial set of 10 GB are read within seconds.
_SECONDS = 300.0
_COLUMNS = (
    "size_bytes",
    "sha256",
    "etag",
    "verified_by",
    "n_obs",
    "n_vars",
    "reader",
    "path",
    "bytes_fetched",
)
Row = Mapping[str, Any]


def file_rows(
    records: Iterable[Row],
    left: Iterable[Row],
    contents: Iterable[Row],
    snapshots: Path,
    moment: datetime,
) -> list[dict[str, Any]]:
    """Return a row per chosen handle.

    `records` are what the fetch jobs left, `left` the chosen handles that were not fetched, `contents`
    rows of that table, `snapshots` the folder that a record's path is relative to. A file's own status
    is that of its inspection.
    """
    peeked = {row["handle"]: row for row in contents if row["status"] == "ok"}
    listed = list(records)
    progress = Progress("inspect files", len(listed))
    rows = [_row(row, {"size_bytes": row["size_bytes"]}, moment) for row in left]
    with Sandbox() as sandbox:
        for record in listed:
            rows.append(
                _of_record(record, peeked.get(record["handle"]), snapshots, sandbox, moment)
            )
            progress.add()
    return rows


def _of_record(
    record: Row, peeked: Row | None, snapshots: Path, sandbox: Sandbox, moment: datetime
) -> dict[str, Any]:
    checked = datetime.fromisoformat(record["checked_at"])
    if record["status"] != "ok":
        return _row(record, {"size_bytes": record["size"]}, checked)
    known = {
        "size_bytes": record["size"],
        "sha256": record["sha256"],
        "etag": record["etag"],
        "verified_by": record["proof"],
        "path": f"{snapshots.name}/{record['path']}",
        "bytes_fetched": record["bytes_fetched"],
    }
    if not record["path"].endswith(".h5ad"):
        return _row(record, known, checked)
    found = inspect(
        sandbox,
        snapshots / record["path"],
        expected_size=record["size"],
        # What was peeked is compared with the same version alone.
        peeked=peeked,
        seconds=_SECONDS,
    )
    return _row(_verdict(record, found), known | _shape(found), max(checked, moment))


def _verdict(record: Row, found: Inspected) -> Row:
    return {"handle": record["handle"], "status": found.status, "reason": found.reason}


def _shape(found: Inspected) -> dict[str, Any]:
    return {"n_obs": found.n_obs, "n_vars": found.n_vars, "reader": found.reader}


def _row(verdict: Row, known: Mapping[str, Any], moment: datetime) -> dict[str, Any]:
    said = {name: verdict[name] for name in ("handle", "status", "reason")}
    return said | {name: known.get(name) for name in _COLUMNS} | {"checked_at": moment}
