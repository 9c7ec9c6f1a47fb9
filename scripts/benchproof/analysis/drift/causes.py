"""Why something differs, and which commit did it.

A difference is upstream's unless our own version or configuration differs and nothing that the row rests
on moved; what stands behind handles changes in the storage. Ours wakes nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from benchproof.analysis.drift.changes import Diff
from benchproof.analysis.drift.places import BEHIND, FIGURES
from benchproof.analysis.drift.views import HANDLES, Report
from benchproof.sources.base import Commit
from benchproof.sources.objects import quote_path

#: What a claim says of itself: config/claims.yaml is part of this program.
_STATED = {"kind", "as_of", "source", "topic", "says", "repos", "expected"}


@dataclass(frozen=True)
class Range:
    """What lies between the two pins of a repository.

    `ancestor` is None when it isn't known, `commits` those that only the later pin has, newest first, or
    None; `left` those that only the earlier one has, where the later does not rest on it.
    """

    ancestor: bool | None = None
    commits: Sequence[Commit] | None = None
    left: Sequence[Commit] = field(default=())

    @cached_property
    def _newest(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for commit in (*(self.commits or ()), *self.left):
            for path in map(quote_path, commit.paths):
                for place in (path, *_folders(path)):
                    found.setdefault(place, commit.sha)
        return found

    def touching(self, path: str | None) -> str | None:
        """Return the newest commit that touches a path; without a path the only commit there is."""
        if self.commits is None:
            return None
        if path is not None:
            return self._newest.get(path)
        return self.commits[0].sha if len(self.commits) == 1 and not self.left else None


def assign(diffs: Iterable[Diff], old: Report, new: Report, ranges: Mapping[str, Range]) -> None:
    """Say of each difference what caused it, and which commit where upstream did."""
    listed = list(diffs)
    touched = {
        (row["repo"], row["path"])
        for diff in listed
        if diff.table == "tree" and diff.change != "not_observed"
        for row in (diff.old, diff.new)
        if row is not None
    }
    touched |= {(repo, folder) for repo, path in touched for folder in _folders(path)}
    listings = "tree" in old.frames and "tree" in new.frames
    met = _Met(old, new, touched if listings else None, _stirred(listed, old, new))
    for diff in listed:
        diff.cause = _cause(diff, met)
        if diff.cause == "upstream" and diff.repo is not None:
            found = ranges.get(diff.repo, Range())
            diff.commit = found.touching(diff.path)
            if diff.commit is None and diff.old and diff.change == "renamed":
                diff.commit = found.touching(diff.old.get("path") or diff.old.get("run_path"))


def _folders(path: str) -> list[str]:
    """Return every folder that a path lies in."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


@dataclass(frozen=True)
class _Met:
    """What causes are told from: the reports, the paths that moved (None without listings), and the
    repositories in which evaluations or runs did.
    """

    old: Report
    new: Report
    touched: set[tuple[str, str]] | None
    stirred: set[str | None]

    def moved(self, repos: Iterable[str]) -> bool:
        """True when a repository has another commit, or one that only one side knows."""
        return any(self.old.commit(repo) != self.new.commit(repo) for repo in repos)

    @property
    def repos(self) -> set[str]:
        """All repositories of both sides."""
        return self.old.pins.keys() | self.new.pins.keys()


def _stirred(diffs: Sequence[Diff], old: Report, new: Report) -> set[str | None]:
    """Return the repositories that moved, and whose evaluations or runs have other files now."""
    return {
        diff.repo
        for diff in diffs
        if diff.table in ("evals", "runs")
        and (diff.change != "changed" or "blob_sha" in diff.columns)
        and diff.repo is not None
        and old.commit(diff.repo) != new.commit(diff.repo)
    }


def _cause(diff: Diff, met: _Met) -> str:
    own = _own(diff.table, met.old, met.new)
    if diff.table == "pins":
        return (
            "config" if "ref" in diff.columns and "commit_sha" not in diff.columns else "upstream"
        )
    if diff.subject.startswith(BEHIND):
        described = diff.table in HANDLES and diff.change == "changed" and diff.table != "handles"
        return own if own and described and _same_bytes(diff) else "storage"
    if diff.table == "data_findings" and not met.moved([diff.row.get("repo", "")]):
        return own or "storage"
    if diff.table == "claims":
        return _cause_of_claim(diff, own, met)
    return own if own and not _rests_on_moved(diff, met) else "upstream"


def _own(table: str, old: Report, new: Report) -> str | None:
    """Return benchproof or config when one of these differs between the two tables."""
    mine, theirs = old.about.get(table), new.about.get(table)
    if not mine or not theirs:
        return None
    if any(mine.get(name) != theirs.get(name) for name in ("code", "versions")):
        return "benchproof"
    return "config" if mine.get("config") != theirs.get("config") else None


def _same_bytes(diff: Diff) -> bool:
    return not {"etag", "size_bytes", "sha256", "status"} & set(diff.columns)


def _rests_on_moved(diff: Diff, met: _Met) -> bool:
    if diff.subject == FIGURES:
        return bool(met.stirred) if diff.repo is None else diff.repo in met.stirred
    if diff.repo is None or not met.moved([diff.repo]):
        return False
    if diff.path is None or met.touched is None:
        return True
    return (diff.repo, diff.path) in met.touched


def _cause_of_claim(diff: Diff, own: str | None, met: _Met) -> str:
    if diff.change != "changed" or _STATED & set(diff.columns):
        return "benchproof"
    named = set(diff.row.get("repos") or ())
    repos = [repo for repo in met.repos if repo in named or repo.split("/", 1)[-1] in named]
    if met.moved(repos or met.repos):
        return "upstream"
    return own or "storage"
