"""One repository of the invented family in memory, to plant a defect into and to lint."""

from __future__ import annotations

import copy
import random
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchproof.inventory import layout
from benchproof.inventory.lint.every import lint
from benchproof.inventory.lint.subject import subject_of
from benchproof.inventory.repository import Repository
from benchproof.sources import content, objects
from benchproof.sources.base import SMALL_BYTES, Entry, RepoSpec
from family import draft_family, shape
from family.draft import Draft
from family.evals import canary
from family.tree import RepoTree

Met = Counter[tuple[str, str | None]]


class TreeContent(content.Content):
    """A tree of the family as the archive that an audit would make of it."""

    def __init__(self, tree: RepoTree, spec: RepoSpec) -> None:
        entries = []
        data: dict[str, bytes] = {}
        for path in sorted(tree):
            mode, leaf = tree[path]
            sha = objects.blob_id(leaf)
            data[sha] = leaf
            size = len(leaf) if len(leaf) < SMALL_BYTES else None
            entries.append(Entry(path, mode, sha, size))
        self.entries = entries
        self._data = {sha: data[sha] for sha in layout.needed(entries, spec)}

    def has(self, sha: str) -> bool:
        return sha in self._data

    def read(self, sha: str) -> bytes:
        return self._data[sha]


@dataclass
class Item:
    """An evaluation of the bench; `data` is written back before the next lint."""

    path: str
    data: dict[str, Any]

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of the only grader."""
        found: dict[str, Any] = self.data["grader"]["config"]
        return found


class Bench:
    """A repository: evaluations to pick or to add, files to put, and the linter."""

    def __init__(self, name: str, seed: int, *, small: bool = True) -> None:
        self.name, self.plan = name, shape.REPOS[name]
        self.rng = random.Random(f"{name}:{seed}")
        self.tree = _draft(seed % 3, small).tree(name).clone()
        self.spec = RepoSpec(f"demo/{name}", "main", self.plan.evals, self.plan.runs)
        self._items: dict[str, Item] = {}
        self._written: dict[str, Any] = {}
        self._added = 0

    @property
    def folder(self) -> str:
        """The folder of the evaluations."""
        return self.plan.evals

    def all(self) -> list[Item]:
        """Return every evaluation, in the order of paths."""
        return [self.item(path) for path in self._paths()]

    def item(self, path: str) -> Item:
        """Return the evaluation of a path."""
        if path not in self._items:
            self._items[path] = Item(path, self.tree.json(path))
            self._written[path] = self.tree.json(path)
        return self._items[path]

    def pick(self, *, without: str = "") -> Item:
        """Return any evaluation, but for those whose path holds a text."""
        paths = [path for path in self._paths() if not without or without not in path]
        return self.item(self.rng.choice(paths))

    def add(self, grader: dict[str, Any] | None, asked: dict[str, str], **changes: Any) -> Item:
        """Add an evaluation without any defect that asks for some fields; `changes` replace its fields."""
        self._added += 1
        eval_id = f"demo_added_{self._added}"
        data: dict[str, Any] = {
            "id": eval_id,
            "task": f"An invented task.\n{template(asked)}",
            "data_node": "latch://10000.node",
            "metadata": {
                "task": "qc",
                "kit": "kit_b",
                "time_horizon": "short",
                "eval_type": "scientific",
            },
            "canary": canary(self.rng),
        }
        data |= {"grader": grader} if grader else {}
        data |= changes
        path = f"{self.folder}/qc/{eval_id}.json"
        if self.plan.layout == "folder":
            path = f"{self.folder}/{eval_id}/eval.json"
            self.tree.put_json(f"{self.folder}/{eval_id}/vocabulary.json", ["DEMO_A", "DEMO_B"])
        self.tree.put_json(path, data)
        return self.item(path)

    def flush(self) -> RepoTree:
        """Write the evaluations back and return the tree."""
        for item in self._items.values():
            if item.data != self._written.get(item.path):
                self.tree.put_json(item.path, item.data)
                self._written[item.path] = copy.deepcopy(item.data)
        return self.tree

    def lint(self) -> Met:
        """Return how often each rule was met at each path."""
        self.flush()
        archive = TreeContent(self.tree, self.spec)
        subject = subject_of(Repository(self.spec, "c" * 40, archive))
        return Counter((found.rule, found.path) for found in lint(subject))

    def _paths(self) -> list[str]:
        found = [path.decode() for path in self.tree.below(self.folder) if path.endswith(b".json")]
        return [p for p in found if p.rsplit("/", 1)[-1] not in layout.BESIDE_EVALS]


@cache
def _draft(seed: int, small: bool) -> Draft:
    return draft_family(seed=seed + 1, small=small)


def template(asked: dict[str, str]) -> str:
    """Return an answer template with these placeholders."""
    lines = ",\n".join(f'  "{name}": {holder}' for name, holder in asked.items())
    return f"<EVAL_ANSWER>\n{{\n{lines}\n}}\n</EVAL_ANSWER>\n"


def numeric(**fields: tuple[Any, Any]) -> dict[str, Any]:
    """Return a numeric grader; each field is (truth, tolerance value or entry)."""
    entries = {
        name: entry if isinstance(entry, dict) else {"type": "absolute", "value": entry}
        for name, (_, entry) in fields.items()
    }
    truths = {name: truth for name, (truth, _) in fields.items()}
    config = {"ground_truth": truths, "tolerances": entries}
    return {"type": "numeric_tolerance", "config": config}


def labels(*names: str, threshold: float = 0.8, **changes: Any) -> dict[str, Any]:
    """Return a label set grader that reads the field `labels`."""
    config = {
        "ground_truth_labels": list(names),
        "answer_field": "labels",
        "scoring": {"method": "jaccard", "pass_threshold": threshold},
        **changes,
    }
    return {"type": "label_set_jaccard", "config": config}


def markers(*genes: str, **changes: Any) -> dict[str, Any]:
    """Return a marker gene grader that reads the field `genes`."""
    limits = {"precision_at_k": 0.6, "recall_at_k": 0.5}
    config = {
        "canonical_markers": list(genes),
        "answer_field": "genes",
        "scoring": {"pass_thresholds": limits},
        **changes,
    }
    return {"type": "marker_gene_precision_recall", "config": config}


def choice(right: str, **changes: Any) -> dict[str, Any]:
    """Return a multiple choice grader."""
    return {"type": "multiple_choice", "config": {"correct_answer": right, **changes}}


def distribution(**shares: float) -> dict[str, Any]:
    """Return a distribution grader."""
    tolerance = {"cell_type_percentages": {"type": "absolute", "value": 3.0}}
    config = {"ground_truth": {"cell_type_distribution": shares}, "tolerances": tolerance}
    return {"type": "distribution_comparison", "config": config}


def separation() -> dict[str, Any]:
    """Return a marker separation grader with all thresholds that it may have."""
    limits = {"mean_auroc": 0.85, "fraction_high": 0.7, "per_gene_cutoff": 0.8}
    return {"type": "marker_gene_separation", "config": {"scoring": {"pass_thresholds": limits}}}
