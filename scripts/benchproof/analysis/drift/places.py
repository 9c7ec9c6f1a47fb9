"""What a difference is about: its repository, the file it rests on, and the change that it is part of.

Rows that hang on an evaluation, a run or a handle are about that one: its graders, its fields, its file in
the tree, its findings. So one edit upstream is one subject, however many tables show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from posixpath import dirname
from typing import Final

from benchproof.analysis.drift.changes import Diff
from benchproof.analysis.drift.views import HANDLES, Report
from benchproof.inventory.layout import MANIFEST

#: Tables whose rows hang on an evaluation, by its id.
_OF_EVALS: Final = ("graders", "eval_handles", "tolerances")
#: Subjects of tables whose rows hang on nothing that could have changed on its own.
_OWN: Final = {
    "pins": "pin",
    "manifest": "manifest",
    "reconciliation": "manifest",
    "licences": "licence",
    "published": "published numbers",
    "published_checks": "published numbers",
    "claims": "claims",
}
#: The subject of what is counted over many runs or evaluations.
FIGURES: Final = "figures"
#: Columns of a handle's tables that tell its bytes.
BYTES: Final = ("etag", "size_bytes", "sha256")
#: Begins the subjects of what changed behind handles.
BEHIND: Final = "data: "

Place = tuple[str, str | None, str]


class Places:
    """Finds what differences are about, given all of them."""

    def __init__(self, diffs: Sequence[Diff], old: Report, new: Report) -> None:
        told = [diff for diff in diffs if diff.change != "not_observed"]
        self._evals = _by_path(told, "evals", "path")
        self._paths: dict[tuple[str, str], str] = {}
        for report in (old, new):
            for row in report.rows("evals"):
                if row.get("eval_id") is not None:
                    self._paths[row["repo"], row["eval_id"]] = row["path"]
        self._runs = _by_path(told, "runs", "run_path")
        self._folders = {(repo, dirname(path)): diff for (repo, path), diff in self._runs.items()}
        self._licences = {(d.row["repo"], d.row["path"]) for d in told if d.table == "licences"}
        self._published = {(d.row["repo"], d.row["path"]) for d in told if d.table == "published"}
        self._manifests = _manifests(told, old, new)
        self._users = _users(old, new)
        self._handles: dict[str, Diff] = {}
        for diff in sorted((d for d in told if d.table in HANDLES), key=_nearness):
            self._handles.setdefault(diff.row["handle"], diff)

    def of(self, diff: Diff) -> tuple[str | None, str | None, str]:
        """Return repository, file and subject of a difference."""
        row, table = diff.row, diff.table
        if table in HANDLES:
            return self._of_handle(row["handle"])
        repo: str | None = row.get("repo")
        if repo is None:
            return None, None, _OWN.get(table, FIGURES)
        if table == "runnable":
            return self._of_runnable(diff, repo)
        if table == "evals":
            return self._of_eval(repo, row["path"])
        if table in _OF_EVALS:
            return self._of_eval(repo, self._paths.get((repo, row["eval_id"])))
        if table in ("runs", "run_fields"):
            return self._of_run(repo, row["run_path"])
        if table in _OWN:
            listed = table in ("manifest", "reconciliation")
            path = self._manifests.get(repo) if listed else row.get("path")
            return repo, path, _OWN[table]
        if table in ("tree", "findings", "data_findings"):
            return self._of_path(table, repo, row.get("path"))
        return repo, None, FIGURES

    def _of_eval(self, repo: str, path: str | None) -> Place:
        diff = self._evals.get((repo, path or ""))
        return repo, path, f"evals {diff.change if diff else 'changed'}"

    def _of_run(self, repo: str, path: str) -> Place:
        diff = self._runs.get((repo, path))
        if diff is None or diff.change != "changed" or "blob_sha" in diff.columns:
            return repo, path, f"runs {diff.change if diff else 'changed'}"
        # The record is what it was: what changed is the rule that it is held against.
        rule = self._paths.get((repo, diff.row.get("eval_id") or ""))
        return (
            self._of_eval(repo, rule) if (repo, rule) in self._evals else (repo, path, "verdicts")
        )

    def _of_path(self, table: str, repo: str, path: str | None) -> Place:
        if path is None:
            return repo, None, "findings"
        place = (repo, path)
        if place in self._evals:
            return self._of_eval(repo, path)
        if place in self._runs:
            return self._of_run(repo, path)
        if (repo, dirname(path)) in self._folders:
            return repo, path, f"runs {self._folders[repo, dirname(path)].change}"
        if place in self._licences:
            return repo, path, "licence"
        if place in self._published:
            return repo, path, "published numbers"
        if path == self._manifests.get(repo):
            return repo, path, "manifest"
        return repo, path, "files" if table == "tree" else "findings"

    def _of_runnable(self, diff: Diff, repo: str) -> tuple[str | None, str | None, str]:
        path = self._paths.get((repo, diff.row["eval_id"]))
        if diff.change != "changed" or (repo, path) in self._evals:
            return self._of_eval(repo, path)
        handles = sorted(
            h for h, users in self._users.items() if (repo, diff.row["eval_id"]) in users
        )
        met = next((handle for handle in handles if handle in self._handles), None)
        if met is not None:
            return self._of_handle(met)
        return None, None, f"{BEHIND}{diff.was('runnable')} to {diff.now('runnable')}"

    def _of_handle(self, handle: str) -> tuple[str | None, str | None, str]:
        """A handle that an evaluation began or ceased to name is the evaluation's change."""
        diff = self._handles[handle]
        if diff.change != "changed" or diff.columns == ("n_evals",):
            for repo, eval_id in sorted(self._users.get(handle, ())):
                path = self._paths.get((repo, eval_id))
                if (repo, path) in self._evals:
                    return self._of_eval(repo, path)
        return None, None, BEHIND + _transition(diff)


def _transition(diff: Diff) -> str:
    if "status" in diff.columns:
        return f"{diff.table}, {diff.was('status')} to {diff.now('status')}"
    if any(name in diff.columns for name in BYTES):
        return "bytes changed"
    return f"{diff.table}, {'described otherwise' if diff.columns else diff.change}"


def _manifests(diffs: Iterable[Diff], old: Report, new: Report) -> dict[str, str]:
    """Return the manifest of each repository that has another one now: the later one, or the lost one."""
    touched = {(d.row["repo"], d.row["path"]) for d in diffs if d.table == "tree"}
    found: dict[str, str] = {}
    for row in (*old.rows("reconciliation"), *new.rows("reconciliation")):
        path = f"{row.get('folder')}/{MANIFEST}"
        if (row["repo"], path) in touched:
            found[row["repo"]] = path
    return found


def _nearness(diff: Diff) -> int:
    return HANDLES.index(diff.table)


def _by_path(diffs: Iterable[Diff], table: str, column: str) -> dict[tuple[str, str], Diff]:
    """Return the differences of a table by repository and path; a renamed one by both its paths."""
    found: dict[tuple[str, str], Diff] = {}
    for diff in diffs:
        if diff.table == table:
            for row in filter(None, (diff.old, diff.new)):
                found[row["repo"], row[column]] = diff
    return found


def _users(old: Report, new: Report) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for report in (old, new):
        for row in report.rows("eval_handles"):
            found.setdefault(row["handle"], set()).add((row["repo"], row["eval_id"]))
    return found
