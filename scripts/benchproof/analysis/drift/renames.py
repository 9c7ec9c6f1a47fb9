"""Renames: a removed and an added row of one repository and one blob are the same file elsewhere.

What hangs on the file (its fields, its findings) follows it. Where several files share a blob, those that
kept their name belong together first, then the rest in order; what is left over stays added or removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from posixpath import basename
from typing import Any

from benchproof.analysis.drift.frames import Row
from benchproof.tables import SPECS

#: The tables that name blobs, in the order in which they are believed, and their column of paths.
BLOBS: Mapping[str, str] = {"tree": "path", "evals": "path", "runs": "run_path"}
#: Tables whose rows follow a path that stands in their key, and what tells a path's rows apart.
FOLLOWING: Mapping[str, str] = {
    **BLOBS,
    "run_fields": "run_path",
    "licences": "path",
    "published": "path",
    "published_checks": "path",
}
#: The id of a finding is made from its path: rule and pointer tell it instead.
_FINDINGS = ("findings", "data_findings")

Moves = dict[tuple[str, str], str]
Pair = tuple[Row, Row]


def moves(removed: Mapping[str, Sequence[Row]], added: Mapping[str, Sequence[Row]]) -> Moves:
    """Return where files went: (repository, earlier path) to later path."""
    found: Moves = {}
    for table, column in BLOBS.items():
        gone = _by_blob(removed.get(table, ()), column)
        come = _by_blob(added.get(table, ()), column)
        taken = {(repo, path) for (repo, _), path in found.items()}
        for blob in sorted(gone.keys() & come.keys()):
            repo = blob[0]
            olds = [path for path in gone[blob] if (repo, path) not in found]
            news = [path for path in come[blob] if (repo, path) not in taken]
            found |= {(repo, old): new for old, new in _matched(olds, news)}
    return found


def follow(
    table: str, removed: Sequence[Row], added: Sequence[Row], moved: Moves
) -> tuple[list[Pair], list[Row], list[Row]]:
    """Return the rows of a table that moved, as pairs, and what stays removed and added."""
    if not moved or (table not in FOLLOWING and table not in _FINDINGS):
        return [], list(removed), list(added)
    waiting = {_identity(table, row, {}): row for row in added}
    pairs, left = [], []
    for row in removed:
        goal = _identity(table, row, moved)
        if goal is not None and goal in waiting:
            pairs.append((row, waiting.pop(goal)))
        else:
            left.append(row)
    return pairs, left, list(waiting.values())


def _identity(table: str, row: Row, moved: Moves) -> tuple[Any, ...] | None:
    """Return what a row is known by, at the place that its file moved to; None for one that stayed."""
    column = FOLLOWING.get(table, "path")
    path = row.get(column)
    if moved:
        path = moved.get((row.get("repo", ""), path or ""))
        if path is None:
            return None
    if table in _FINDINGS:
        return (row.get("repo"), path, row.get("rule"), row.get("pointer"))
    return tuple(path if name == column else row[name] for name in SPECS[table].key)


def _by_blob(rows: Iterable[Row], column: str) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.get("blob_sha") and row.get(column):
            found.setdefault((row["repo"], row["blob_sha"]), []).append(row[column])
    return {blob: sorted(paths) for blob, paths in found.items()}


def _matched(olds: Sequence[str], news: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of paths: those with one name first, then the rest in order."""
    free = list(news)
    pairs, rest = [], []
    for old in olds:
        named = next((new for new in free if basename(new) == basename(old)), None)
        if named is None:
            rest.append(old)
        else:
            free.remove(named)
            pairs.append((old, named))
    return pairs + list(zip(rest, free, strict=False))
