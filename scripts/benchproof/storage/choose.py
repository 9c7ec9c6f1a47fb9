"""Choose: which snapshots `fetch` brings, and whether that is more than was allowed.

Nothing is moved when the sum still to be moved is above `fetch.max_total_bytes`: part of a wish is no
sensible default, and the refusal says which number to set.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from benchproof.errors import ConfigError
from benchproof.progress import megabytes
from benchproof.storage.fetch import Store
from benchproof.storage.identity import Identity
from benchproof.storage.names import folder_name

_SUFFIXES = {
    "hdf5": "h5ad",
    "gzip": "gz",
    "bgzf": "gz",
    "vcf": "vcf.gz",
    "bam": "bam",
    "zip": "zip",
    "parquet": "parquet",
    "bigwig": "bw",
    "tar": "tar",
    "text": "txt",
}
#: Up to so many snapshots get a job each; more are split into `shards` jobs.
JOBS = 60
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be fetched.

    `parts` are jobs by name, each with the objects it brings; `rows` are chosen handles that are not
    fetched, with status and reason; `total` and `to_move` are bytes; `refused` is one sentence or None.
    """

    parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    total: int = 0
    to_move: int = 0
    refused: str | None = None

    def record(self) -> dict[str, Any]:
        """Return it as JSON keeps it."""
        return {
            "parts": self.parts,
            "rows": self.rows,
            "total": self.total,
            "to_move": self.to_move,
            "refused": self.refused,
        }


def choose(
    objects: Sequence[Row],
    eval_handles: Iterable[Row],
    select: str | list[str],
    *,
    max_total_bytes: int,
    shards: int,
    held: Callable[[Row], int],
) -> Selection:
    """Return what `fetch.select` asks for; `held` tells how many bytes of a row's object are here.

    Raises ConfigError for a name that is neither an evaluation nor a handle of this audit.
    """
    wanted = _wanted(objects, list(eval_handles), select)
    good = [row for row in wanted if _is_good(row)]
    rows = [_left(row) for row in wanted if not _is_good(row)]
    total = sum(row["size_bytes"] for row in good)
    to_move = sum(max(row["size_bytes"] - held(row), 0) for row in good)
    if to_move > max_total_bytes:
        rows += [_too_large(row) for row in good]
        return Selection({}, rows, total, to_move, _refusal(len(good), to_move, max_total_bytes))
    return Selection(_parts(good, shards), rows, total, to_move)


def _wanted(objects: Sequence[Row], eval_handles: list[Row], select: str | list[str]) -> list[Row]:
    snapshots = [row for row in objects if row["container"] == "hdf5" and row["status"] == "ok"]
    if select == "none":
        return []
    if select == "all":
        return snapshots
    if select == "smallest":
        sized = [row for row in snapshots if row["size_bytes"] is not None]
        return sorted(sized, key=lambda row: (row["size_bytes"], row["handle"]))[:1]
    named = _names(eval_handles)
    handles = {
        handle for name in select for handle in named.get(name) or _refuse(name, eval_handles)
    }
    known = {row["handle"]: row for row in objects}
    return [known.get(handle) or _unresolved(handle) for handle in sorted(handles)]


def _is_good(row: Row) -> bool:
    return row["status"] == "ok" and row["size_bytes"] is not None


def _names(eval_handles: Iterable[Row]) -> dict[str, set[str]]:
    """Return the handles that each name stands for which `fetch.select` may hold."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in eval_handles:
        for name in (row["handle"], row["eval_id"], f"{row['repo']}/{row['eval_id']}"):
            found[name].add(row["handle"])
    return found


def _refuse(name: str, eval_handles: Iterable[Row]) -> NoReturn:
    names = sorted({row["eval_id"] for row in eval_handles})
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise ConfigError(
        f"config: `fetch.select` names {name[:80]!r}, which is neither an evaluation nor a handle of "
        f"this audit.{hint}"
    )


def _unresolved(handle: str) -> dict[str, Any]:
    return {"handle": handle, "status": "unresolved", "reason": "not_reachable", "size_bytes": None}


def _left(row: Row) -> dict[str, Any]:
    status, reason = row["status"], row["reason"]
    if status == "ok":
        status, reason = "unsupported", "size_unknown"
    return {"handle": row["handle"], "status": status, "reason": reason, "size_bytes": None}


def _too_large(row: Row) -> dict[str, Any]:
    size = row["size_bytes"]
    reason = "max_total_bytes"
    return {"handle": row["handle"], "status": "too_large", "reason": reason, "size_bytes": size}


def _refusal(number: int, to_move: int, allowed: int) -> str:
    plural = "snapshots" if number > 1 else "snapshot"
    return (
        f"{number} {plural} of {megabytes(to_move)} still to be moved, and `fetch.max_total_bytes` allows "
        f"{megabytes(allowed)}. Nothing was fetched; set it to {to_move} or more in a --configfile, or "
        "choose fewer with `fetch.select`."
    )


def _parts(good: list[Row], shards: int) -> dict[str, list[dict[str, Any]]]:
    """Return the jobs: one per snapshot, or `shards` of about equal bytes when there are many."""
    entries = [
        {
            "handle": row["handle"],
            "size_bytes": row["size_bytes"],
            "etag": row["etag"],
            "last_modified": Identity.of_row(row).last_modified,
            "suffix": suffix(row["container"]),
        }
        for row in good
    ]
    if len(entries) <= JOBS:
        return {folder_name(entry["handle"]): [entry] for entry in entries}
    parts: list[list[dict[str, Any]]] = [[] for _ in range(min(shards, len(entries)))]
    weights = [0] * len(parts)
    for entry in sorted(entries, key=lambda entry: (-entry["size_bytes"], entry["handle"])):
        lightest = weights.index(min(weights))
        parts[lightest].append(entry)
        weights[lightest] += entry["size_bytes"]
    return {f"shard-{number:04d}": part for number, part in enumerate(parts)}


def suffix(container: str) -> str:
    """Return the ending of a fetched file's name."""
    return _SUFFIXES.get(container, "bin")


def held_in(store: Store) -> Callable[[Row], int]:
    """Return what tells how many bytes of a row's object a store has, whole or in parts."""

    def held(row: Row) -> int:
        return store.held(row["handle"], Identity.of_row(row), suffix(row["container"]))

    return held
