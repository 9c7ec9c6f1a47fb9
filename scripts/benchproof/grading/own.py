"""Grading of one's own answer against an evaluation: what may be told, and nothing more.

A verdict says pass or fail, how it failed, and which fields did. It never holds an expected value,
a margin, a score or an edge: an answer and its distance to the bound give the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from benchproof.grading.record import published_rule
from benchproof.grading.verdict import FailureMode, FieldVerdict, Status


@dataclass(frozen=True, slots=True)
class OwnField:
    """One checked field; `passed` is None where public sources leave it open."""

    field: str
    passed: bool | None
    failure_mode: FailureMode | None


@dataclass(frozen=True, slots=True)
class OwnVerdict:
    """What the published rule says of an answer.

    `status` is that of the runs table: graded, no_submission, rule_not_published, rule_undetermined,
    not_supported, invalid_config. `reason` is a fixed code and None for graded answers; `passed` is
    None unless graded. `fields` are in the order of the rule; those of a grader within another one
    are named after its place.
    """

    status: Status | Literal["rule_not_published"]
    grader_type: str | None
    passed: bool | None = None
    failure_mode: FailureMode | None = None
    reason: str | None = None
    fields: tuple[OwnField, ...] = ()


def grade_own(evaluation: Mapping[str, object], answer: object) -> OwnVerdict:
    """Return the verdict on a parsed answer, `NO_ANSWER` or None. Never raises."""
    grader_type, rule = published_rule(evaluation)
    if rule.compiled is None:
        return OwnVerdict("rule_not_published", None, reason="no_grader")
    verdict = rule.compiled.grade(answer)
    status = verdict.status
    if status == "arithmetic":
        return OwnVerdict("rule_undetermined", grader_type, reason="arithmetic_alone")
    return OwnVerdict(
        status,
        grader_type,
        verdict.passed if status == "graded" else None,
        verdict.failure_mode,
        verdict.reason and verdict.reason.partition(":")[0],
        tuple(_told(item) for item in verdict.fields),
    )


def _told(item: FieldVerdict) -> OwnField:
    return OwnField(item.field, item.passed, item.failure_mode)
