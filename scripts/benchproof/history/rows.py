"""Rows of a timeline, counted from the tables of each commit; and how others read timelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchproof import tables
from benchproof.config import HISTORY
from benchproof.history.listing import Past
from benchproof.severity import SEVERITIES

Row = dict[str, Any]
_RECONCILED = ("shape", "rows", "evals", "files", "orphans", "dangling")


def row_of(past: Past, position: int, folder: Path) -> Row:
    """Return the row of a commit whose tables stand in `folder`."""
    (reconciled,) = _read(folder, "reconciliation")
    evals, runs = _read(folder, "evals"), _read(folder, "runs")
    graded = [row for row in runs if row["status"] == "graded"]
    grave = Counter(row["severity"] for row in _read(folder, "findings"))
    return {
        **without(past, position, "ok", None),
        **{name: reconciled[name] for name in _RECONCILED},
        "graders": sum(row["grader_form"] in ("grader", "graders") for row in evals),
        "handles": len({row["handle"] for row in _read(folder, "eval_handles")}),
        "runs": len(runs),
        "graded": len(graded),
        "agreeing": sum(row["passed_agrees"] is True for row in graded),
        **{severity: grave[severity] for severity in SEVERITIES},
    }


def without(past: Past, position: int, status: str, reason: str | None) -> Row:
    """Return the row of a commit of which nothing is counted."""
    return {
        **absent(past.pin.repo, status, reason),
        "position": position,
        "commit_sha": past.pin.commit_sha,
        "committed_at": past.pin.committed_at,
        "parents": None if past.parents is None else len(past.parents),
        "changed_paths": past.changed_paths,
    }


def absent(repo: str, status: str, reason: str | None) -> Row:
    """Return the row of a repository whose commits are not known."""
    empty = dict.fromkeys(tables.spec_of("timeline").schema.names)
    return {**empty, "repo": repo, "status": status, "reason": reason}


def faults(rows: Iterable[Mapping[str, Any]]) -> int:
    """Return how many commits ended in an error of this program's own, which is no fact about them."""
    return sum(row["reason"] == "internal_error" for row in rows)


def timelines(results: Path, kind: str = "timeline") -> Mapping[str, list[Row]]:
    """Return the rows of every timeline below a results folder, by repository, oldest commit first.

    `kind` is timeline, or chosen for the commits that `as_of` listed last.
    """
    found: dict[str, list[Row]] = {}
    for path in sorted((results / HISTORY).glob(f"*/{kind}.parquet")):
        for row in tables.read(path, "timeline"):
            found.setdefault(row["repo"], []).append(row)
    return found


def _read(folder: Path, name: str) -> list[Row]:
    return tables.read(folder / f"{name}.parquet", name)
