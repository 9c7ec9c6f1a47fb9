"""Metadata over a whole repository: fields that say nothing, are missing, or change their type."""

from __future__ import annotations

from typing import Any

from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation, Subject

_REQUIRED = ("task", "kit", "time_horizon", "eval_type")
_FEW = 3
_KINDS = {bool: "bool", int: "number", float: "number", str: "text", list: "list", dict: "object"}


def _values(subject: Subject) -> dict[str, list[Any]]:
    """Return what each metadata key holds over the repository, by key in order of names."""
    found: dict[str, list[Any]] = {}
    for item in subject.evaluations:
        for key, value in item.metadata.items():
            found.setdefault(key, []).append(value)
    return dict(sorted(found.items()))


@LINT.repository(
    "metadata_constant",
    "info",
    "A metadata field holds one and the same word in every evaluation that has it; it tells nothing.",
    "Leave it out, or fill it in.",
)
def metadata_constant(subject: Subject) -> Places:
    """Equal texts wherever the key stands, in every evaluation of three or more that have metadata."""
    number = sum(bool(item.metadata) for item in subject.evaluations)
    for key, values in _values(subject).items():
        first = values[0]
        if (
            len(values) == number >= _FEW
            and isinstance(first, str)
            and values.count(first) == number
        ):
            detail = f"In {len(values)} of {len(subject.evaluations)} evaluations."
            yield Place(subject.folder, f"/metadata/{key}", detail)


@LINT.repository(
    "metadata_field_missing",
    "info",
    "Evaluations lack a metadata field that the published format has.",
    "Add the field.",
)
def metadata_field_missing(subject: Subject) -> Places:
    """task, kit, time_horizon or eval_type, counted over the repository."""
    for key in _REQUIRED:
        lacking = [item for item in subject.evaluations if key not in item.metadata]
        if lacking:
            detail = f"In {len(lacking)} of {len(subject.evaluations)} evaluations."
            yield Place(subject.folder, f"/metadata/{key}", detail)


@LINT.repository(
    "metadata_mixed_types",
    "minor",
    "A metadata field holds texts in some evaluations and other types in others.",
    "Write it in one way everywhere.",
)
def metadata_mixed_types(subject: Subject) -> Places:
    """One key, several JSON types; null is none of them."""
    for key, values in _values(subject).items():
        if len({_KINDS[type(value)] for value in values if value is not None}) > 1:
            yield Place(subject.folder, f"/metadata/{key}")


@LINT.evaluation(
    "metadata_empty",
    "minor",
    "A metadata field is there and empty.",
    "Fill it in, or leave it out.",
)
def metadata_empty(evaluation: Evaluation) -> Places:
    """null, or a text, list or object without content."""
    for number, value in enumerate(evaluation.metadata.values()):
        if value is None or (isinstance(value, str | list | dict) and not value):
            yield Place(pointer=f"/metadata/{number}")
