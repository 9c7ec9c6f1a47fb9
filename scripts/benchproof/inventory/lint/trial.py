"""Trial answers: what the rules submit to a published grader to learn what it lets through.

Nothing here is shown; only whether a verdict was a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from benchproof.grading import grade
from benchproof.inventory.lint.subject import Evaluation, GraderAt

NUMERIC: Final = ("numeric_tolerance", "numeric_range")
LABELS: Final = ("label_set_jaccard", "jaccard_label_set")
MARKERS: Final = "marker_gene_precision_recall"
DISTRIBUTION: Final = "distribution_comparison"
CHOICE: Final = "multiple_choice"
#: Where the two set graders look when no `answer_field` says otherwise.
DEFAULT_FIELD: Final = dict.fromkeys(LABELS, "cell_types_predicted") | {MARKERS: "top_marker_genes"}
#: Far enough that a field which passes at all of them can't fail at a number.
ANYWHERE: Final = (-1e300, -1, 0, 1, 1e300)

Answer = dict[str, Any]
Builder = Callable[[GraderAt], Answer | None]


@dataclass(frozen=True, slots=True)
class NumericField:
    """One field of a numeric grader: its place among the truths, and its own rule."""

    pointer: str
    name: str
    truth: Any
    kind: str
    config: dict[str, Any]

    def passes(self, value: Any) -> bool:
        """True when the published rule lets this value through."""
        return grade(self.kind, self.config, {self.name: value}).passed is True


def numeric_fields(grader: GraderAt) -> list[NumericField]:
    """Return the fields of a numeric grader, each with a configuration of its own; empty for others."""
    if grader.type not in NUMERIC:
        return []
    part = "tolerances" if grader.type == "numeric_tolerance" else "ranges"
    rest = {key: value for key, value in grader.config.items() if key not in ("ground_truth", part)}
    found = []
    for number, (name, truth) in enumerate(grader.section("ground_truth").items()):
        entries = grader.section(part)
        own = {part: {name: entries[name]}} if name in entries else {part: {}}
        config = {**rest, **own, "ground_truth": {name: truth}}
        pointer = f"{grader.pointer}/config/ground_truth/{number}"
        found.append(NumericField(pointer, name, truth, str(grader.type), config))
    return found


def passes(evaluation: Evaluation, build: Builder) -> bool | None:
    """Return whether an evaluation lets a built answer through; None when that can't be told.

    Every top grader gets the same answer, put together from what is built for each leaf.
    """
    leaves = [g for g in evaluation.graders if not isinstance(g.config.get("children"), list)]
    parts = [build(leaf) for leaf in leaves]
    if not parts or any(part is None for part in parts):
        return None
    answer: Answer = {}
    for part in parts:
        for name, value in (part or {}).items():
            if answer.setdefault(name, value) != value:
                return None
    verdicts = [grade(top.type, top.config, answer) for top in evaluation.tops]
    if any(verdict.passed is False for verdict in verdicts):
        return False
    return True if all(verdict.passed is True for verdict in verdicts) else None


def own_truth(grader: GraderAt) -> Answer | None:
    """Return the answer that a leaf grader's own truth spells; None for a type that states none."""
    config, kind = grader.config, grader.type
    if kind in NUMERIC:
        return dict(grader.section("ground_truth")) or None
    if kind == CHOICE:
        listed = config.get("correct_answers")
        first = listed[0] if isinstance(listed, list) and listed else None
        chosen = config.get("correct_answer", first)
        return {"answer": chosen} if isinstance(chosen, str) else None
    if kind in (*LABELS, MARKERS):
        listed = labels(grader)
        return {field_of(grader): listed} if listed else None
    if kind == DISTRIBUTION:
        truth = grader.section("ground_truth")
        return dict(truth) if isinstance(truth.get("cell_type_distribution"), dict) else None
    return None


def filled(value: float) -> Builder:
    """Return a builder that answers every number with one value, and lists with none."""

    def build(grader: GraderAt) -> Answer | None:
        if grader.type in NUMERIC:
            return dict.fromkeys(grader.section("ground_truth"), value)
        if grader.type == DISTRIBUTION:
            shares = grader.section("ground_truth").get("cell_type_distribution")
            names = shares if isinstance(shares, dict) else ()
            return {"cell_type_distribution": dict.fromkeys(names, value)}
        return hollow([])(grader)

    return build


def hollow(value: Any) -> Builder:
    """Return a builder that answers every field with one empty value."""

    def build(grader: GraderAt) -> Answer | None:
        if grader.type in NUMERIC:
            return dict.fromkeys(grader.section("ground_truth"), value)
        if grader.type in (*LABELS, MARKERS):
            return {field_of(grader): value}
        if grader.type == DISTRIBUTION:
            return {"cell_type_distribution": value}
        return {"answer": value} if grader.type == CHOICE else None

    return build


def field_of(grader: GraderAt) -> str:
    """Return the field that a set grader reads."""
    stated = grader.config.get("answer_field")
    return stated if isinstance(stated, str) else DEFAULT_FIELD[str(grader.type)]


def labels(grader: GraderAt) -> list[str]:
    """Return the graded labels or genes of a set grader; empty when they are no list of texts."""
    key = "canonical_markers" if grader.type == MARKERS else "ground_truth_labels"
    found = grader.config.get(key) if grader.type in (*LABELS, MARKERS) else None
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        return []
    return found


def truths(grader: GraderAt) -> list[Any]:
    """Return the graded values of one grader object: numbers and texts, without its children's."""
    config = grader.config
    waiting: list[Any] = [
        config.get(key)
        for key in (
            "ground_truth",
            "ground_truth_labels",
            "canonical_markers",
            "correct_answer",
            "correct_answers",
        )
    ]
    return list(leaves(waiting, keys=grader.type == DISTRIBUTION))


def leaves(value: Any, *, keys: bool = False) -> list[Any]:
    """Return the numbers and texts inside a value, and with `keys` the names of its inner objects."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    found: list[Any] = []
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, Mapping):
            waiting.extend((inner, depth + 1) for inner in item.values())
            found.extend(item if keys and depth > 0 else ())
        elif isinstance(item, list):
            waiting.extend((inner, depth) for inner in item)
        elif isinstance(item, str | int | float) and not isinstance(item, bool):
            found.append(item)
    return found
