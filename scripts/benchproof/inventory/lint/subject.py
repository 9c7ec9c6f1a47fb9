"""What the linter's rules look at: evaluations and repositories as plain values.

`subject_of` is the only function here that reads; it opens no more of the recorded runs than the rules
need: those of evaluations that declare a timeout, or that publish no rule.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from benchproof import jsontext
from benchproof.errors import Unreadable
from benchproof.inventory import layout
from benchproof.inventory.evaluations import stated_id
from benchproof.inventory.lint.template import Template, template_of
from benchproof.inventory.reconcile import stem_of
from benchproof.inventory.repository import EvalFile, Repository, reconcile_repository

_TIMEOUT = re.compile(rb'"eval_timeout_seconds"\s*:\s*(\d{1,9})(?:\.0+)?\s*[,}\n]')


@dataclass(frozen=True, slots=True)
class GraderAt:
    """A grader object with the JSON pointer to it; `top` is False for the child of another."""

    pointer: str
    top: bool
    value: Any

    @property
    def type(self) -> str | None:
        """The type as written, None when there is no text."""
        kind = self.value.get("type") if isinstance(self.value, dict) else None
        return kind if isinstance(kind, str) else None

    @property
    def config(self) -> dict[str, Any]:
        """The configuration; empty when there is no object."""
        found = self.value.get("config") if isinstance(self.value, dict) else None
        return found if isinstance(found, dict) else {}

    def section(self, name: str) -> dict[str, Any]:
        """Return an object of the configuration; empty when there is none of that name."""
        found = self.config.get(name)
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Recorded:
    """What recorded runs of an evaluation say: timeouts, and where no rule is published the answers that
    passed and the names of graded fields.
    """

    timeouts: frozenset[int] = frozenset()
    passing: tuple[Any, ...] = ()
    fields: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Evaluation:
    """One evaluation file that is a JSON object."""

    path: str
    value: dict[str, Any]
    folder: str
    vocabulary: Any = None
    row: Mapping[str, Any] | None = None
    recorded: Recorded = field(default_factory=Recorded)

    @property
    def stem(self) -> str:
        """The name the file goes by."""
        return stem_of(self.path)

    @property
    def prompt(self) -> str:
        """What an agent is told; empty when there is no text."""
        return self.text("task")

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata; empty when there is no object."""
        found = self.value.get("metadata")
        return found if isinstance(found, dict) else {}

    def text(self, key: str) -> str:
        """Return a text of the file's first level; empty when it is none."""
        found = self.value.get(key)
        return found if isinstance(found, str) else ""

    @cached_property
    def template(self) -> Template | None:
        """The answer template of the prompt."""
        return template_of(self.prompt)

    @cached_property
    def graders(self) -> list[GraderAt]:
        """Every grader object, nested ones after the one that holds them."""
        if "grader" in self.value:
            tops = [GraderAt("/grader", True, self.value["grader"])]
        else:
            listed = self.value.get("graders")
            found = listed if isinstance(listed, list) else []
            tops = [GraderAt(f"/graders/{n}", True, item) for n, item in enumerate(found)]
        return [item for top in tops for item in _with_children(top)]

    @property
    def tops(self) -> list[GraderAt]:
        """The graders that decide together."""
        return [item for item in self.graders if item.top]


def _with_children(grader: GraderAt) -> Iterator[GraderAt]:
    yield grader
    children = grader.config.get("children")
    for number, child in enumerate(children if isinstance(children, list) else []):
        pointer = f"{grader.pointer}/config/children/{number}"
        yield from _with_children(GraderAt(pointer, False, child))


@dataclass(frozen=True, slots=True)
class Document:
    """A text of the repository that is no evaluation: its bytes and, for JSON, what was odd about them."""

    path: str
    data: bytes
    flags: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def text(self) -> str:
        """The text; what is no UTF-8 is replaced."""
        return self.data.decode("utf-8", "replace")

    @property
    def is_readme(self) -> bool:
        """True for a README."""
        return posixpath.basename(self.path).lower().startswith("readme")


@dataclass(frozen=True)
class Subject:
    """One repository: its leaves as (path, mode), its evaluations, its documents."""

    repo: str
    folder: str
    leaves: Sequence[tuple[str, str]] = ()
    evaluations: Sequence[Evaluation] = ()
    documents: Sequence[Document] = ()
    shas: Mapping[str, str] = field(default_factory=dict)


def subject_of(repository: Repository) -> Subject:
    """Return what the rules look at in one repository."""
    rows = {r["path"]: r for r in reversed(reconcile_repository(repository).manifest) if r["path"]}
    parsed = [item for item in repository.evaluations if isinstance(item.value, dict)]
    recorded = _recorded(repository, parsed)
    entries = {layout.text_path(entry): entry for entry in repository.entries}
    return Subject(
        repository.spec.repo,
        repository.folders.evals,
        [(path, entry.mode) for path, entry in entries.items()],
        [
            Evaluation(
                item.path,
                item.value,
                repository.folders.evals,
                _vocabulary(repository, item.path),
                rows.get(item.path),
                recorded.get(stem_of(item.path), Recorded()),
            )
            for item in parsed
        ],
        list(_documents(repository, {item.path for item in repository.evaluations})),
        {path: entry.sha for path, entry in entries.items()},
    )


def _vocabulary(repository: Repository, path: str) -> Any:
    """Return the vocabulary beside an evaluation; None when there is none that can be read."""
    wanted = posixpath.join(posixpath.dirname(path), "vocabulary.json")
    entry = next((e for e in repository.entries if layout.text_path(e) == wanted), None)
    if entry is None or not entry.is_file:
        return None
    try:
        return jsontext.loads(repository.content.read(entry.sha)).value
    except Unreadable:
        return None


def _documents(repository: Repository, evaluations: set[str]) -> Iterator[Document]:
    """Yield the texts that were fetched and are neither evaluations nor recorded runs."""
    folders = repository.folders
    for entry in repository.entries:
        path = layout.text_path(entry)
        if not entry.is_file or path in evaluations or layout.below(entry, folders.runs):
            continue
        if not repository.content.has(entry.sha):
            continue
        data = repository.content.read(entry.sha)
        if layout.lfs_size(data) is not None:
            continue
        try:
            odd = jsontext.loads(data).flags if path.endswith(".json") else ()
            yield Document(path, data, odd)
        except Unreadable as error:
            yield Document(path, data, reason=error.reason)


def _recorded(repository: Repository, items: Sequence[EvalFile]) -> dict[str, Recorded]:
    """Return what runs say, by the name of the evaluation's folder among the runs."""
    declared, withheld = set(), set()
    for item in items:
        metadata = item.value.get("metadata")
        names = {stem_of(item.path), stated_id(item.value)}
        if isinstance(metadata, dict) and "timeout_s" in metadata:
            declared |= names
        if not item.value.get("grader") and not item.value.get("graders"):
            withheld |= names
    by_id = {stated_id(item.value): stem_of(item.path) for item in items}
    found: dict[str, list[bytes]] = {}
    for path, entry in repository.runs():
        eval_id = layout.run_place(path, repository.folders).eval_id
        if eval_id in declared or eval_id in withheld:
            found.setdefault(str(eval_id), []).append(repository.content.read(entry.sha))
    return {
        str(by_id.get(eval_id, eval_id)): _of_runs(texts, answers=eval_id in withheld)
        for eval_id, texts in found.items()
    }


def _of_runs(texts: Sequence[bytes], *, answers: bool) -> Recorded:
    timeouts = frozenset(int(number) for text in texts for number in _TIMEOUT.findall(text))
    graded = [item for text in texts for item in _graded(text)] if answers else []
    passing = tuple(item.get("agent_answer") for item in graded if item.get("passed") is True)
    scores = (item.get("field_scores") for item in graded)
    names = {name for score in scores if isinstance(score, dict) for name in score}
    return Recorded(timeouts, passing, frozenset(names))


def _graded(text: bytes) -> Iterator[dict[str, Any]]:
    """Yield the grader's result of a recorded run, when it has one."""
    try:
        record = jsontext.loads(text).value
    except Unreadable:
        return
    result = record.get("result") if isinstance(record, dict) else None
    graded = result.get("grader_result") if isinstance(result, dict) else None
    if isinstance(graded, dict):
        yield graded
