"""Tolerance entries: against the truths they belong to, their keys and types, and the prompt's rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation, GraderAt
from benchproof.inventory.lint.template import prompt_decimals
from benchproof.inventory.lint.trial import DISTRIBUTION, NumericField, numeric_fields

_TYPES = ("absolute", "relative", "min", "max")
_KEYS = frozenset(("type", "value", "lower", "upper", "description"))


def _entries(evaluation: Evaluation, *types: str) -> Iterator[tuple[GraderAt, str, str, Any]]:
    """Yield (grader, pointer, field, entry) of every tolerance entry of graders of some types."""
    for grader in evaluation.graders:
        if grader.type in types:
            for number, (name, entry) in enumerate(grader.section("tolerances").items()):
                yield grader, f"{grader.pointer}/config/tolerances/{number}", name, entry


@LINT.evaluation(
    "tolerance_without_truth",
    "minor",
    "A tolerance belongs to no graded field; it has no effect.",
    "Delete it, or correct the name of the field.",
)
def tolerance_without_truth(evaluation: Evaluation) -> Places:
    """A key of `tolerances` that `ground_truth` lacks."""
    for grader, pointer, name, _ in _entries(evaluation, "numeric_tolerance"):
        if name not in grader.section("ground_truth"):
            yield Place(pointer=pointer)


@LINT.evaluation(
    "truth_without_tolerance",
    "minor",
    "A graded number has no tolerance; only the exact value passes.",
    "State a tolerance, 0 where the exact value is meant.",
)
def truth_without_tolerance(evaluation: Evaluation) -> Places:
    """A key of `ground_truth` that `tolerances` lacks, unless one `tolerance` is there for all."""
    for grader in evaluation.graders:
        if grader.type == "numeric_tolerance" and "tolerance" not in grader.config:
            for field in numeric_fields(grader):
                if field.name not in grader.section("tolerances"):
                    yield Place(pointer=field.pointer)


@LINT.evaluation(
    "tolerance_type_unknown",
    "major",
    "A tolerance has a type that no public source defines.",
    "Use absolute, relative, min or max.",
)
def tolerance_type_unknown(evaluation: Evaluation) -> Places:
    """A `type` outside the four."""
    for _, pointer, _, entry in _entries(evaluation, "numeric_tolerance", DISTRIBUTION):
        if isinstance(entry, dict) and entry.get("type", "absolute") not in _TYPES:
            yield Place(pointer=pointer)


@LINT.evaluation(
    "tolerance_key_unknown",
    "minor",
    "A tolerance has a key that no public source defines; it has no effect.",
    "Delete it, or correct its name.",
)
def tolerance_key_unknown(evaluation: Evaluation) -> Places:
    """A key beside type, value, lower, upper and description."""
    for _, pointer, _, entry in _entries(evaluation, "numeric_tolerance", DISTRIBUTION):
        if isinstance(entry, dict) and not _KEYS.issuperset(entry):
            yield Place(pointer=pointer)


@LINT.evaluation(
    "tolerance_not_an_object",
    "major",
    "A tolerance is no object with a type and a value.",
    "Write {type, value}.",
)
def tolerance_not_an_object(evaluation: Evaluation) -> Places:
    """A bare number, text or list in place of an entry."""
    for _, pointer, _, entry in _entries(evaluation, "numeric_tolerance", DISTRIBUTION):
        if not isinstance(entry, dict):
            yield Place(pointer=pointer)


@LINT.evaluation(
    "tolerance_offsets_unsettled",
    "major",
    "A tolerance has one of `lower` and `upper`, or both beside a value or another type; no public source "
    "says how that is read.",
    "State both offsets and nothing else, or a value alone.",
)
def tolerance_offsets_unsettled(evaluation: Evaluation) -> Places:
    """Offsets that are not the pair of an absolute tolerance."""
    for _, pointer, _, entry in _entries(evaluation, "numeric_tolerance"):
        sides = {"lower", "upper"} & set(entry) if isinstance(entry, dict) else set()
        plain = sides == {"lower", "upper"} and "value" not in entry
        if sides and not (plain and entry.get("type", "absolute") == "absolute"):
            yield Place(pointer=pointer)


@LINT.evaluation(
    "tolerance_legacy_form",
    "major",
    "A grader states one `tolerance` for all fields; no public source says how that is read.",
    "State one entry per field in `tolerances`.",
)
def tolerance_legacy_form(evaluation: Evaluation) -> Places:
    """`tolerance` in place of `tolerances`."""
    for grader in evaluation.graders:
        if grader.type == "numeric_tolerance" and "tolerance" in grader.config:
            yield Place(pointer=f"{grader.pointer}/config/tolerance")


@LINT.evaluation(
    "bound_differs_from_truth",
    "info",
    "The value of a min or max tolerance differs from the truth; graders differ in which of the two is "
    "the bound.",
    "State in the documentation that `value` is the bound.",
)
def bound_differs_from_truth(evaluation: Evaluation) -> Places:
    """`value` of min or max isn't x*."""
    for grader, pointer, name, entry in _entries(evaluation, "numeric_tolerance"):
        truth = grader.section("ground_truth").get(name)
        bounded = isinstance(entry, dict) and entry.get("type") in ("min", "max")
        if bounded and truth is not None and entry.get("value", truth) != truth:
            yield Place(pointer=pointer)


@LINT.evaluation(
    "exact_match_on_fraction",
    "major",
    "A number that is no whole one must be matched exactly.",
    "Give it a tolerance of at least the rounding that the prompt asks for.",
)
def exact_match_on_fraction(evaluation: Evaluation) -> Places:
    """A fraction whose nearest neighbours on both sides fail."""
    for grader in evaluation.graders:
        for field in numeric_fields(grader):
            if _is_fraction(field.truth) and field.passes(field.truth):
                near = (math.nextafter(field.truth, far) for far in (-math.inf, math.inf))
                if not any(field.passes(value) for value in near):
                    yield Place(pointer=field.pointer)


@LINT.evaluation(
    "rounded_truth_fails",
    "critical",
    "The truth, rounded as the prompt asks, fails the published rule.",
    "Widen the tolerance to half a unit of the last digit, or ask for more digits.",
)
def rounded_truth_fails(evaluation: Evaluation) -> Places:
    """A right answer in the form that is asked for doesn't pass."""
    for field, places in _rounded(evaluation):
        if field.passes(field.truth) and not field.passes(round(field.truth, places)):
            yield Place(pointer=field.pointer)


@LINT.evaluation(
    "tolerance_below_rounding",
    "minor",
    "A tolerance is smaller than the rounding that the prompt asks for.",
    "Widen the tolerance to half a unit of the last digit, or ask for more digits.",
)
def tolerance_below_rounding(evaluation: Evaluation) -> Places:
    """The rounded truth passes, and a true value that rounds away from it by half a unit doesn't."""
    for field, places in _rounded(evaluation):
        step = 0.499 * 10.0**-places
        ends = (field.passes(field.truth - step), field.passes(field.truth + step))
        if field.passes(round(field.truth, places)) and not any(ends):
            yield Place(pointer=field.pointer)


def _rounded(evaluation: Evaluation) -> Iterator[tuple[NumericField, int]]:
    """Yield the fractions that the prompt wants rounded, with the number of decimals."""
    everywhere = prompt_decimals(evaluation.prompt)
    template = evaluation.template
    for grader in evaluation.graders:
        for field in numeric_fields(grader):
            own = template.decimals(field.name) if template else None
            places = everywhere if own is None else own
            if places is not None and _is_fraction(field.truth):
                yield field, places


def _is_fraction(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value) and not value.is_integer()
