"""Files: what was chosen and what became of it, as rows of the files table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from benchproof.progress import Progress
from benchproof.storage.identity import Identity
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
#: Status and reason of a peek that saw the version of the objects table.
_SEEN = ("ok", None)
Row = Mapping[str, Any]


def file_rows(
    records: Iterable[Row],
    selection: Mapping[str, Any],
    contents: Iterable[Row],
    snapshots: Path,
    moment: datetime,
) -> list[dict[str, Any]]:
    """Return a row per chosen handle.

    `records` are what the fetch jobs left, `selection` is what they were told, with the chosen handles that
    are not fetched, `contents` rows of that table, `snapshots` the folder that a record's path is relative
    to. A file's own status is that of its inspection.
    """
    peeked = {row["handle"]: row for row in contents if (row["status"], row["reason"]) == _SEEN}
    probed = {
        entry["handle"]: Identity(entry["etag"], entry["size_bytes"], entry["last_modified"])
        for part in selection["parts"].values()
        for entry in part
    }
    listed = list(records)
    progress = Progress("inspect files", len(listed))
    rows = [_row(row, {"size_bytes": row["size_bytes"]}, moment) for row in selection["rows"]]
    with Sandbox() as sandbox:
        for record in listed:
            handle = record["handle"]
            found = _of_record(
                record, peeked.get(handle), probed[handle], snapshots, sandbox, moment
            )
            rows.append(found)
            progress.add()
    return rows


def _of_record(
    record: Row,
    peeked: Row | None,
    probed: Identity,
    snapshots: Path,
    sandbox: Sandbox,
    moment: datetime,
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
    brought = Identity(record["etag"], record["size"], record["last_modified"])
    newer = not brought.same_as(probed)
    if not record["path"].endswith(".h5ad"):
        return _row(_verdict(record, Inspected("ok"), newer), known, checked)
    found = inspect(
        sandbox,
        snapshots / record["path"],
        expected_size=record["size"],
        # Another version may well have another shape.
        peeked=None if newer else peeked,
        seconds=_SECONDS,
    )
    return _row(_verdict(record, found, newer), known | _shape(found), max(checked, moment))


def _verdict(record: Row, found: Inspected, newer: bool) -> Row:
    reason = found.reason or ("newer_than_probe" if newer else None)
    return {"handle": record["handle"], "status": found.status, "reason": reason}


def _shape(found: Inspected) -> dict[str, Any]:
    return {"n_obs": found.n_obs, "n_vars": found.n_vars, "reader": found.reader}


def _row(verdict: Row, known: Mapping[str, Any], moment: datetime) -> dict[str, Any]:
    said = {name: verdict[name] for name in ("handle", "status", "reason")}
    return said | {name: known.get(name) for name in _COLUMNS} | {"checked_at": moment}
