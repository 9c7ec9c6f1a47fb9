"""What a published grader lets through: trivial answers, windows that hold zero or everything, its truth."""

from __future__ import annotations

from collections.abc import Iterator

from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation
from benchproof.inventory.lint.trial import (
    ANYWHERE,
    NumericField,
    filled,
    hollow,
    numeric_fields,
    own_truth,
    passes,
)

_CONSTANTS = (1, -1, 0.5, 10, 50, 100)
_EMPTY: tuple[object, ...] = ([], "", {}, None)
_UNIT = (0, 0.25, 0.5, 0.75, 1)


def _fields(evaluation: Evaluation) -> Iterator[NumericField]:
    for grader in evaluation.graders:
        yield from numeric_fields(grader)


def _passes_on_zeros(evaluation: Evaluation) -> bool:
    return any(_fields(evaluation)) and passes(evaluation, filled(0)) is True


def _passes_on_one(evaluation: Evaluation) -> bool:
    return any(passes(evaluation, filled(value)) for value in _CONSTANTS)


def _never_fails(field: NumericField) -> bool:
    return all(field.passes(value) for value in ANYWHERE)


@LINT.evaluation(
    "passes_on_zeros",
    "major",
    "An evaluation passes on an answer of nothing but zeros.",
    "Narrow the tolerances, or ask for a quantity that is not near zero.",
    withheld=True,
)
def passes_on_zeros(evaluation: Evaluation) -> Places:
    """Zero for every number passes."""
    if _passes_on_zeros(evaluation):
        yield Place()


@LINT.evaluation(
    "passes_on_empty",
    "critical",
    "An evaluation passes on an empty answer.",
    "Set thresholds above zero, and require the graded fields.",
    withheld=True,
)
def passes_on_empty(evaluation: Evaluation) -> Places:
    """Empty lists, texts, objects or nulls in every field pass."""
    if any(passes(evaluation, hollow(value)) for value in _EMPTY):
        yield Place()


@LINT.evaluation(
    "passes_on_constant",
    "major",
    "An evaluation of several numbers passes when all of them are answered with one round number.",
    "Narrow the tolerances, or ask for quantities of different size.",
    withheld=True,
)
def passes_on_constant(evaluation: Evaluation) -> Places:
    """One constant for two or more numbers passes; one that passes on zeros is reported as that."""
    several = len(list(_fields(evaluation))) > 1
    if several and not _passes_on_zeros(evaluation) and _passes_on_one(evaluation):
        yield Place()


@LINT.evaluation(
    "window_contains_zero",
    "minor",
    "A graded number passes when it is answered with zero, though its truth is another number.",
    "Narrow the tolerance, so that a missing effect does not pass.",
    withheld=True,
)
def window_contains_zero(evaluation: Evaluation) -> Places:
    """Zero passes a field whose truth isn't zero; one that never fails is reported as that."""
    for field in _fields(evaluation):
        if field.truth != 0 and field.passes(0) and not _never_fails(field):
            yield Place(pointer=field.pointer)


@LINT.evaluation(
    "window_never_fails",
    "critical",
    "A graded number passes whatever number is answered.",
    "Give it a finite tolerance.",
    withheld=True,
)
def window_never_fails(evaluation: Evaluation) -> Places:
    """Huge numbers of either sign pass, and those between them."""
    for field in _fields(evaluation):
        if _never_fails(field):
            yield Place(pointer=field.pointer)


@LINT.evaluation(
    "window_covers_range",
    "major",
    "A graded number passes at every value that its answer template allows.",
    "Narrow the tolerance to less than the range from 0 to 1.",
    withheld=True,
)
def window_covers_range(evaluation: Evaluation) -> Places:
    """A fraction passes from 0 to 1."""
    template = evaluation.template
    for field in _fields(evaluation):
        bounded = template is not None and template.is_fraction(field.name)
        if bounded and all(map(field.passes, _UNIT)) and not _never_fails(field):
            yield Place(pointer=field.pointer)


@LINT.evaluation(
    "truth_fails_rule",
    "critical",
    "An evaluation's own truth fails its published rule, so that a right answer cannot pass.",
    "Correct the truth or the threshold.",
)
def truth_fails_rule(evaluation: Evaluation) -> Places:
    """The answer that the graders' own truths spell doesn't pass."""
    if passes(evaluation, own_truth) is False:
        yield Place(pointer="/grader" if "grader" in evaluation.value else "/graders")
