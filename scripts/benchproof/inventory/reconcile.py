"""The manifest against the tree, in both directions: pure values in, rows and findings out."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchproof.findings import Finding
from benchproof.inventory.manifests import SHAPES, Manifest, Row

#: What an id must look like to be a name on common systems; ids never become file names here at all.
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")


@dataclass
class Reconciled:
    """Rows of the manifest table, the one row of the reconciliation table, and findings."""

    manifest: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def valid_id(eval_id: str | None) -> bool:
    """True when an evaluation id could serve as a name on common systems."""
    return eval_id is not None and _ID.fullmatch(eval_id) is not None


def reconcile(
    repo: str, manifest: Manifest, folder: str, files: Sequence[str], ids: Mapping[str, str | None]
) -> Reconciled:
    """Match manifest rows with evaluation files.

    `files` are the paths of evaluation files, `ids` says which id each of them states. Rows that
    lead to one file or state one id are about one evaluation: rows repeat, evaluations don't.
    """
    out = Reconciled()
    where = f"{folder}/manifest.json"
    finder = _Finder(files, ids)
    seen: dict[tuple[str, str], Row] = {}
    #: Of each evaluation, by the number of its first row: does any of its rows lead to a file?
    leads: dict[int, bool] = {}
    matched: set[str] = set()
    for row in manifest.rows:
        path = finder.find(row)
        keys = [("path", path)] if path else []
        keys += [("id", row.eval_id)] if row.eval_id else []
        status, first = _judge(row, path, next((seen[key] for key in keys if key in seen), None))
        if status != "malformed":
            about = first or row
            seen |= {key: about for key in keys if key not in seen}
            leads[about.row] = leads.get(about.row, False) or path is not None
        if path is not None:
            matched.add(path)
        out.manifest.append(_manifest_row(repo, row, path, status, first))
        rule = _RULE_OF.get(status)
        if rule is not None:
            out.findings.append(
                Finding(rule, repo, where, f"/{row.row}", detail=_detail(status, row, first))
            )
        if row.unclear and status != "malformed":
            said = "`benchmark` is neither true nor false."
            out.findings.append(
                Finding("manifest_row_malformed", repo, where, f"/{row.row}", detail=said)
            )
        if path is None and status in ("duplicate_conflicting", "invalid_id"):
            out.findings.append(Finding("dangling", repo, where, f"/{row.row}"))
    orphans = [p for p in files if p not in matched] if manifest.shape in SHAPES else []
    out.findings += [Finding("orphan", repo, path) for path in orphans]
    out.findings += [
        Finding("manifest_count_differs", repo, where, pointer) for pointer in manifest.wrong_counts
    ]
    if manifest.local_paths:
        out.findings.append(Finding("manifest_local_path", repo, where))
    out.findings += _shape_findings(repo, manifest, where)
    dangling = sum(not there for there in leads.values())
    out.summary = _summary(repo, manifest, folder, files, len(leads), len(orphans), dangling)
    return out


_RULE_OF = {
    "dangling": "dangling",
    "malformed": "manifest_row_malformed",
    "invalid_id": "id_invalid",
    "duplicate_identical": "manifest_row_duplicated",
    "duplicate_conflicting": "manifest_rows_conflict",
}


class _Finder:
    """Finds the file of a manifest row: by its path, by its stem, by the id the file states."""

    def __init__(self, files: Sequence[str], ids: Mapping[str, str | None]) -> None:
        self._files = set(files)
        self._stems: dict[str, str] = {}
        for path in sorted(files, reverse=True):
            self._stems[stem_of(path)] = path
        self._ids = {
            eval_id: path for path, eval_id in sorted(ids.items(), reverse=True) if eval_id
        }

    def find(self, row: Row) -> str | None:
        if row.path is not None:
            return row.path if row.path in self._files else None
        if row.stem is None:
            return None
        return self._stems.get(row.stem) or self._ids.get(row.stem)


def stem_of(path: str) -> str:
    """Return the name an evaluation file goes by: its stem, or its folder for <id>/eval.json."""
    folder, name = posixpath.split(path)
    return posixpath.basename(folder) if name == "eval.json" else name.removesuffix(".json")


def _judge(row: Row, path: str | None, first: Row | None) -> tuple[str, Row | None]:
    if row.problem:
        return "malformed", None
    if first is not None:
        return (
            "duplicate_identical" if _says(first) == _says(row) else "duplicate_conflicting"
        ), first
    if row.eval_id is not None and not valid_id(row.eval_id):
        return "invalid_id", None
    return ("ok" if path is not None else "dangling"), None


def _says(row: Row) -> tuple[Any, ...]:
    return (row.eval_id, row.path, row.stem, row.task, row.kit, row.benchmark)


def _manifest_row(
    repo: str, row: Row, path: str | None, status: str, first: Row | None
) -> dict[str, Any]:
    return {
        "repo": repo,
        "row": row.row,
        "eval_id": row.eval_id,
        "path": path or row.path,
        "task": row.task,
        "kit": row.kit,
        "benchmark": row.benchmark,
        "duplicate_of": first.row if first else None,
        "status": status,
        "reason": None if status == "ok" else status,
    }


def _detail(status: str, row: Row, first: Row | None) -> str:
    return f"Rows {first.row} and {row.row}." if first else f"Row {row.row}."


def _shape_findings(repo: str, manifest: Manifest, where: str) -> list[Finding]:
    rule = {
        "e": "manifest_missing",
        "unknown": "manifest_shape_unknown",
        "unreadable": "manifest_unreadable",
    }
    return [Finding(rule[manifest.shape], repo, where)] if manifest.shape in rule else []


def _summary(
    repo: str,
    manifest: Manifest,
    folder: str,
    files: Sequence[str],
    evals: int,
    orphans: int,
    dangling: int,
) -> dict[str, Any]:
    known = manifest.shape in SHAPES
    listed = known or manifest.shape == "e"
    return {
        "repo": repo,
        "rows": len(manifest.rows) if listed else None,
        "evals": (evals if known else len(files)) if listed else None,
        "files": len(files),
        "orphans": orphans if listed else None,
        "dangling": dangling if listed else None,
        "duplicates": len(manifest.rows) - evals - sum(r.problem for r in manifest.rows)
        if known
        else None,
        "shape": manifest.shape,
        "folder": folder,
        "status": "ok" if known else "no_manifest" if listed else "unknown_shape",
        "reason": None if known else f"manifest_{manifest.shape}",
    }
