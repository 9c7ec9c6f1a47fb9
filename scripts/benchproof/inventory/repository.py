"""One pinned repository as the stages see it: its listing, its manifest, its evaluations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Any

from benchproof import jsontext
from benchproof.errors import Unreadable
from benchproof.findings import JSON_FLAGS, Finding, repeated_keys
from benchproof.inventory import layout
from benchproof.inventory.evaluations import Projected, project, stated_id, unreadable
from benchproof.inventory.manifests import Manifest, parse
from benchproof.inventory.reconcile import Reconciled, reconcile
from benchproof.sources.base import Entry, RepoSpec
from benchproof.sources.content import Content


@dataclass(frozen=True, slots=True)
class EvalFile:
    """An evaluation file: its parsed value and flags, or the reason why it has none."""

    path: str
    sha: str
    value: Any
    flags: tuple[str, ...]
    reason: str | None
    repeated: tuple[str, ...] = ()

    @property
    def prompt(self) -> str:
        """What an agent was told; empty when there is no text."""
        text = self.value.get("task") if isinstance(self.value, dict) else None
        return text if isinstance(text, str) else ""


class Repository:
    """A repository at its pin, read from its content archive."""

    def __init__(self, spec: RepoSpec, commit_sha: str, content: Content) -> None:
        self.spec, self.commit_sha, self.content = spec, commit_sha, content
        self.folders = layout.folders(content.listing(), spec)

    @property
    def entries(self) -> list[Entry]:
        """Every entry of the tree; a stage that needs a few takes them from `content.listing`."""
        return self.content.entries

    @cached_property
    def paths(self) -> set[str]:
        """Every path of the tree, folders included."""
        found: set[str] = set()
        for entry in self.entries:
            parts = layout.text_path(entry).split("/")
            found.update("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        return found

    @cached_property
    def evaluations(self) -> list[EvalFile]:
        """Every evaluation file in path order, read or with the reason why not."""
        found = layout.eval_files(self.content.listing(), self.folders)
        return [self._read(layout.text_path(entry), entry.sha) for entry in found]

    @cached_property
    def by_id(self) -> dict[str, EvalFile]:
        """The first evaluation file that states each id."""
        named = ((stated_id(item.value), item) for item in reversed(self.evaluations))
        return {eval_id: item for eval_id, item in named if eval_id is not None}

    @cached_property
    def manifest_text(self) -> EvalFile | None:
        """The manifest's file, read or with the reason why not; None without one."""
        entry = layout.manifest_file(self.content.listing(), self.folders)
        return self._read(layout.text_path(entry), entry.sha) if entry is not None else None

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest in whatever shape it has; e without one, unreadable when it is no JSON."""
        text = self.manifest_text
        if text is None:
            return Manifest("e")
        if text.reason is not None:
            return Manifest("unreadable")
        return parse(text.value, self.folders.evals)

    def runs(self) -> Iterator[tuple[str, Entry]]:
        """Yield path and entry of each recorded run, in path order."""
        for run in self.recorded(0, None):
            yield run.path, run.entry

    @property
    def n_runs(self) -> int:
        """The number of recorded runs."""
        return self._counted[0]

    def recorded(self, start: int, stop: int | None) -> Iterator[layout.Run]:
        """Yield the recorded runs from one place to another, in the order of their paths as text."""
        found = self._recorded()
        # Quoted paths stand elsewhere in the text's order than in the tree's.
        ordered = found if self._counted[1] else iter(sorted(found, key=attrgetter("path")))
        return islice(ordered, start, stop)

    @cached_property
    def _counted(self) -> tuple[int, bool]:
        """How many runs there are, and whether the tree's order is that of their paths as text."""
        number, ordered, last = 0, True, ""
        for run in self._recorded():
            number, ordered, last = number + 1, ordered and last <= run.path, run.path
        return number, ordered

    def _recorded(self) -> Iterator[layout.Run]:
        return layout.runs(self.content.listing(), self.folders)

    def _read(self, path: str, sha: str) -> EvalFile:
        try:
            parsed = jsontext.loads(self.content.read(sha))
        except Unreadable as error:
            return EvalFile(path, sha, None, (), error.reason)
        return EvalFile(path, sha, parsed.value, parsed.flags, None, parsed.repeated)


def list_tree(repository: Repository) -> tuple[list[dict[str, Any]], list[Finding]]:
    """Return the rows of the tree table, one per leaf of the commit, and findings about paths."""
    rows, found = [], []
    repo, evals = repository.spec.repo, repository.folders.evals
    for entry in repository.entries:
        row = _tree_row(repository, entry)
        rows.append(row)
        rules = [_name_rule(entry), _tree_rule(row, entry, evals)]
        if entry.mode == layout.SYMLINK:
            rules.append(_link_rule(repository, row["path"], entry))
        found += [Finding(rule, repo, row["path"], blob_sha=entry.sha) for rule in rules if rule]
    if repository.folders.moved:
        found.append(Finding("evals_folder_moved", repo, repository.folders.evals))
    return rows, found


def _tree_row(repository: Repository, entry: Entry) -> dict[str, Any]:
    read = entry.mode != layout.SUBMODULE and repository.content.has(entry.sha)
    data = repository.content.read(entry.sha) if read else None
    lfs = layout.lfs_size(data) if data is not None and entry.is_file else None
    kinds = {layout.SYMLINK: "symlink", layout.SUBMODULE: "submodule"}
    return {
        "repo": repository.spec.repo,
        "path": layout.text_path(entry),
        "mode": entry.mode,
        "kind": "lfs" if lfs is not None else kinds.get(entry.mode, "file"),
        "blob_sha": entry.sha,
        "size": None if data is None else len(data),
        "lfs_size": lfs,
        "status": "ok",
        "reason": None,
    }


def _name_rule(entry: Entry) -> str | None:
    return None if _is_utf8(entry.path) else "path_not_utf8"


def _tree_rule(row: dict[str, Any], entry: Entry, evals: str) -> str | None:
    if row["kind"] == "symlink":
        return "symlink_among_evals" if layout.below(entry, evals) else None
    return {"submodule": "submodule_in_tree", "lfs": "lfs_pointer"}.get(row["kind"])


def _link_rule(repository: Repository, path: str, entry: Entry) -> str | None:
    """A link is resolved inside the tree only, and never followed."""
    text = repository.content.read(entry.sha)
    target = layout.link_target(path, text)
    if target is None:
        return "symlink_leaves_repository"
    known = bool(text) and target != path and (target in repository.paths or target == ".")
    return None if known else "symlink_dangling"


def _is_utf8(path: bytes) -> bool:
    try:
        path.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def reconcile_repository(repository: Repository) -> Reconciled:
    """Return manifest rows, the reconciliation row and findings of one repository."""
    files = [item.path for item in repository.evaluations]
    ids = {item.path: stated_id(item.value) for item in repository.evaluations}
    out = reconcile(repository.spec.repo, repository.manifest, repository.folders.evals, files, ids)
    if repository.manifest_text is not None:
        out.findings += _oddities(repository.spec.repo, repository.manifest_text)
    lowered: dict[str, str] = {}
    for eval_id in sorted(repository.by_id):
        other = lowered.setdefault(eval_id.lower(), eval_id)
        if other != eval_id:
            path = repository.by_id[eval_id].path
            out.findings.append(Finding("ids_differ_by_case", repository.spec.repo, path, "/id"))
    return out


def _oddities(repo: str, text: EvalFile) -> list[Finding]:
    """What is odd about the manifest's text; its keys are public."""
    found = [
        Finding(rule, repo, text.path, blob_sha=text.sha)
        for flag, rule in JSON_FLAGS.items()
        if flag in text.flags
    ]
    return found + repeated_keys(repo, text.path, text.sha, text.repeated, " ".join(text.repeated))


def project_repository(repository: Repository) -> Projected:
    """Return the projected rows of every evaluation file of one repository."""
    out = Projected()
    repo = repository.spec.repo
    taken = {eval_id: item.path for eval_id, item in repository.by_id.items()}
    for item in repository.evaluations:
        if item.reason is not None:
            out.extend(unreadable(repo, item.path, item.sha, item.reason))
        else:
            rows = project(repo, item.path, item.sha, item.value, item.flags, taken)
            rows.findings += repeated_keys(repo, item.path, item.sha, item.repeated, item.prompt)
            out.extend(rows)
    return out


def not_read(repo: str, reason: str) -> dict[str, Any]:
    """Return the reconciliation row of a repository whose content could not be had."""
    counts = dict.fromkeys(
        ("rows", "evals", "files", "orphans", "dangling", "duplicates", "shape", "folder")
    )
    return {"repo": repo, **counts, "status": "not_read", "reason": reason}
