"""Contents: every object looked into once per version, whatever becomes of one of them.

What was found inside a version is kept by handle and ETag, so that an unchanged object costs no request
on a later date. An object that is replaced while it is read is looked at afresh, once.
"""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from benchproof.concurrency import map_concurrently
from benchproof.errors import ObjectFailed
from benchproof.journal import Journal
from benchproof.outputs import OPEN
from benchproof.progress import Progress
from benchproof.storage.identity import Identity
from benchproof.storage.names import folder_name
from benchproof.storage.opening import World
from benchproof.storage.peek import peek
from benchproof.storage.probe import probe
from benchproof.storage.ranged import RangedObject
from benchproof.storage.sandbox import Sandbox
from benchproof.vault import write_json

#: What a description holds; the columns of the contents table between container and bytes_read.
INSIDE = (
    "n_obs",
    "n_vars",
    "x_encoding",
    "x_dtype",
    "nnz",
    "obs_columns",
    "var_columns",
    "layers",
    "obsm",
    "obsp",
    "varm",
    "uns",
    "raw",
    "encoding_version",
)
_SECONDS = 60.0
#: Outcomes that hold for a version on every later date.
_LASTING = ("ok", "unsupported", "truncated")
#: Files looked into at once: each has a child process, and a round asks for many ranges.
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Peeked:
    """What was learnt of the inside of one object: a row of the contents table."""

    handle: str
    status: str
    reason: str | None
    container: str
    checked_at: datetime
    inside: Mapping[str, Any] = field(default_factory=dict)
    bytes_read: int = 0
    requests: int = 0

    def row(self) -> dict[str, Any]:
        """Return the row of the contents table."""
        inside = {name: self.inside.get(name) for name in INSIDE}
        own = {
            name: getattr(self, name)
            for name in ("handle", "status", "reason", "container", "bytes_read", "requests")
        }
        return own | inside | {"checked_at": self.checked_at}

    def record(self) -> dict[str, Any]:
        """Return it as a journal keeps it."""
        return self.row() | {"checked_at": self.checked_at.isoformat()}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Peeked:
        """Return what a journal kept."""
        return cls(
            record["handle"],
            record["status"],
            record["reason"],
            record["container"],
            datetime.fromisoformat(record["checked_at"]),
            {name: record[name] for name in INSIDE},
            record["bytes_read"],
            record["requests"],
        )


class Peeks:
    """Descriptions by handle and version, kept in the vault for later dates."""

    def __init__(self, root: Path, protocol: str) -> None:
        self._root, self._protocol = root, protocol

    def _path(self, handle: str, identity: Identity) -> Path:
        return self._root / folder_name(handle) / f"{identity.key()}.{self._protocol}.json"

    def get(self, handle: str, identity: Identity) -> Peeked | None:
        """Return what was found inside this version, or None; a damaged record counts as none."""
        try:
            record = json.loads(self._path(handle, identity).read_bytes())
            return Peeked.of({**record, "handle": handle})
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def put(self, identity: Identity, found: Peeked) -> None:
        """Keep a description; a version that nothing names can't be recognised and is not kept."""
        if identity.recognisable:
            write_json(self._path(found.handle, identity), found.record())


def peek_all(
    objects: Iterable[Mapping[str, Any]],
    world: World | None,
    peeks: Peeks,
    journal: Journal,
    *,
    connections: int,
    now: Callable[[], datetime],
) -> list[Peeked]:
    """Return what is inside each object of the objects table, asking for what isn't known.

    What could not be probed keeps its status. Without a world (offline) a version that was never looked
    into is unknown, with the reason `offline`.
    """
    rows = list(objects)
    known = journal.items(lambda handle, record: Peeked.of({**record, "handle": handle}))
    found = {row["handle"]: _without_request(row, peeks, known, now) for row in rows}
    asked = [row for row in rows if found[row["handle"]] is None]
    progress = Progress("peek into snapshots", len(asked))
    at_once = max(1, min(_AT_ONCE, os.cpu_count() or 1, len(asked)))
    with ExitStack() as stack:
        idle: queue.SimpleQueue[Sandbox] = queue.SimpleQueue()
        for _ in range(at_once):
            idle.put(stack.enter_context(Sandbox()))

        def look(row: Mapping[str, Any]) -> Peeked:
            if world is None:
                return Peeked(row["handle"], "unknown", "offline", row["container"], now())
            sandbox = idle.get()
            try:
                result = _look(world, sandbox, row, peeks, connections // at_once or 1, now)
            finally:
                idle.put(sandbox)
            journal.add(result.handle, result.record())
            progress.add()
            return result

        fresh = {item.handle: item for item in map_concurrently(look, asked, at_once)}
    return [found[row["handle"]] or fresh[row["handle"]] for row in rows]


def _without_request(
    row: Mapping[str, Any],
    peeks: Peeks,
    known: Mapping[str, Peeked],
    now: Callable[[], datetime],
) -> Peeked | None:
    """Return what can be said of an object without asking for a byte of it; None when it must be asked."""
    handle, kind = row["handle"], row["container"]
    if row["status"] != "ok":
        return Peeked(handle, row["status"], row["reason"], kind, row["checked_at"])
    if kind != "hdf5":
        return Peeked(handle, "unsupported", "not_hdf5", kind, row["checked_at"])
    if row["size_bytes"] is None or row["reason"] is not None:
        reason = row["reason"] or "size_unknown"
        return Peeked(handle, "unsupported", reason, kind, row["checked_at"])
    kept = peeks.get(handle, Identity.of_row(row))
    if kept is not None:
        return kept
    earlier = known.get(handle)
    return earlier if earlier is not None and earlier.status not in OPEN else None


def _look(
    world: World,
    sandbox: Sandbox,
    row: Mapping[str, Any],
    peeks: Peeks,
    connections: int,
    now: Callable[[], datetime],
) -> Peeked:
    handle, identity = row["handle"], Identity.of_row(row)
    result, replaced = _once(world, sandbox, handle, identity, connections, now)
    if replaced:
        probed = probe(world, handle, now)
        if probed.status in OPEN:
            return Peeked(handle, probed.status, probed.reason, row["container"], now())
        if probed.status != "ok" or probed.container != "hdf5" or probed.size is None:
            return Peeked(handle, "changed", "replaced", row["container"], now())
        identity = probed.identity
        result, _ = _once(world, sandbox, handle, identity, connections, now)
    if result.status in _LASTING and not (result.reason or "").startswith("parser_"):
        peeks.put(identity, result)
    if replaced and result.status == "ok":
        # The row describes what stands there now, and the objects table what stood there before.
        return replace(result, reason="newer_than_probe")
    return result


def _once(
    world: World,
    sandbox: Sandbox,
    handle: str,
    identity: Identity,
    connections: int,
    now: Callable[[], datetime],
) -> tuple[Peeked, bool]:
    """Look into one version; the second value is True when another version stands there."""
    source = RangedObject(world.storage, world.links, handle, identity, connections)
    inside: Mapping[str, Any] = {}
    status, reason = "ok", None
    try:
        found = peek(sandbox, source.read, identity.size or 0, seconds=_SECONDS)
        inside = {name: getattr(found, name) for name in INSIDE}
    except ObjectFailed as error:
        status, reason = error.status, error.reason
    result = Peeked(
        handle, status, reason, "hdf5", now(), inside, source.bytes_read, source.requests
    )
    return result, status == "changed"
