"""The family before it is written: trees in memory, and what is known about them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from family.model import Finding, GradedValue, Handle
from family.rules import FieldRule
from family.tree import RepoTree


@dataclass(frozen=True, slots=True)
class EvalDraft:
    """An evaluation in its repository; `fields` are those of a top-level numeric grader."""

    repo: str
    eval_id: str
    path: str
    word: str
    task: str
    kit: str
    data: dict[str, Any]
    fields: tuple[FieldRule, ...] = ()

    @property
    def handles(self) -> list[str]:
        """The data handles, also when there is a single one as text."""
        node = self.data["data_node"]
        return [node] if isinstance(node, str) else list(node)


@dataclass(slots=True)
class RunDraft:
    """A recorded run; `folder` ends in r<k>, `result` is the content of its result.json."""

    repo: str
    eval_id: str
    folder: str
    pair: tuple[str, str, str]
    replicate: int
    result: dict[str, Any]

    @property
    def path(self) -> str:
        """Path of result.json."""
        return f"{self.folder}/result.json"

    @property
    def answer(self) -> Any:
        """What was submitted, None for nothing."""
        return self.result["result"]["agent_answer"]


@dataclass(slots=True)
class Draft:
    """A family in the making. Trees are lists of commits, oldest first; an empty list is an empty
    repository. `snapshots` names the place in shape.SIZES_MB of handles that stand for an .h5ad file.
    """

    owner: str
    seed: int
    small: bool = False
    trees: dict[str, list[RepoTree]] = field(default_factory=dict)
    evals: dict[str, list[EvalDraft]] = field(default_factory=dict)
    runs: dict[str, list[RunDraft]] = field(default_factory=dict)
    handles: dict[str, Handle] = field(default_factory=dict)
    snapshots: dict[str, tuple[str, int]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    graded: dict[GradedValue, None] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def rng(self, *place: object) -> random.Random:
        """Return a generator that depends on the seed and the place alone."""
        return random.Random(":".join(str(part) for part in (self.seed, *place)))

    def tree(self, name: str) -> RepoTree:
        """Return the newest tree of a repository."""
        return self.trees[name][-1]

    def repo(self, name: str) -> str:
        """Return owner/name."""
        return f"{self.owner}/{name}"

    def plant(self, rule: str, name: str, path: str, *, vault_only: bool = False) -> None:
        """Note that a finding of `rule` is to be made at `path`."""
        self.findings.append(Finding(rule, self.repo(name), path, vault_only))

    def grade(self, kind: str, name: str, eval_id: str, values: Iterable[Any]) -> None:
        """Note graded values; containers are taken apart, numbers and texts kept as JSON writes
        them.
        """
        for value in values:
            for text in leaf_texts(value):
                self.graded.setdefault(GradedValue(kind, self.repo(name), eval_id, text))


def leaf_texts(value: Any) -> list[str]:
    """Return the scalars inside a JSON value as text; true, false and null are left out."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in leaf_texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in leaf_texts(item)]
    if value is None or isinstance(value, bool):
        return []
    return [value if isinstance(value, str) else json.dumps(value)]
