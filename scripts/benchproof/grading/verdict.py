"""What grading returns: plain frozen values that hold neither an answer nor a truth.

`edge` stands in for a margin: an answer is public, so answer and margin together would give the
truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

Status = Literal["graded", "no_submission", "rule_undetermined", "not_supported", "invalid_config"]
#: A rubric's length penalty gives a score and no verdict; runs never have this status.
VerdictStatus = Literal[Status, "arithmetic"]
RuleStatus = Literal["published", "undetermined", "not_supported", "unknown_type", "invalid_config"]
FailureMode = Literal["format_error", "missing_field", "type_error", "wrong_value"]
Edge = Literal["on_bound", "within_ulp", "clear"]
#: The weakest source that a verdict needs: A published, B older code or configs, C inferred.
Tier = Literal["A", "B", "C"]

#: The paper numbers the failure modes; where fields fail differently the lowest number is reported.
FAILURE_MODES: Final[tuple[FailureMode, ...]] = (
    "format_error",
    "missing_field",
    "type_error",
    "wrong_value",
)
#: From the closest to the farthest.
EDGES: Final[tuple[Edge, ...]] = ("on_bound", "within_ulp", "clear")


class NoAnswer(Enum):
    """The type of `NO_ANSWER`: nothing was submitted at all, as opposed to JSON null."""

    NO_ANSWER = "no answer"


NO_ANSWER: Final = NoAnswer.NO_ANSWER


@dataclass(frozen=True, slots=True)
class FieldVerdict:
    """One checked field.

    `passed` is None when no public source settles it, and `reason` then says why (a fixed code);
    `older_passed` is what the older public grader gives; `edge` is None where no number was
    compared.
    """

    field: str
    passed: bool | None
    failure_mode: FailureMode | None
    edge: Edge | None
    tier: Tier | None
    older_passed: bool
    reason: str | None = None
    flags: tuple[str, ...] = ()

    @property
    def contested(self) -> bool:
        """True when the older public grader reverses this field."""
        return self.passed is not None and self.passed is not self.older_passed

    @property
    def score(self) -> float | None:
        """1.0 or 0.0, None where `passed` is None."""
        return None if self.passed is None else float(self.passed)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the published rule gives for one answer.

    `passed` is None unless `status` is graded; an invalid composite fails by its published rule and
    then has False beside invalid_config. `arithmetic` is a score without a verdict. `score` lies in
    [0, 1] and is None where it is not published or not settled; `field_scores` maps fields to 1.0,
    0.0 or None, and is None as a whole where no field was looked at or their scores are not
    published. `reason` is a fixed code (after a colon: names that come close) and None for graded
    ones. `contested` is True when the older public grader would reverse the verdict. `edge` is that
    of the closest field. `flags` are fixed codes for odd but gradable input.
    """

    status: VerdictStatus
    passed: bool | None = None
    score: float | None = None
    field_scores: Mapping[str, float | None] | None = None
    failure_mode: FailureMode | None = None
    reason: str | None = None
    fields: tuple[FieldVerdict, ...] = ()
    contested: bool = False
    tier: Tier | None = None
    edge: Edge | None = None
    flags: tuple[str, ...] = ()


#: An absent file is recorded as null (paper 4.6, recorded verdicts); null itself so by the runner.
_ABSENT: Final = Verdict("no_submission", failure_mode="format_error", reason="absent", tier="A")
_NULL: Final = Verdict("no_submission", failure_mode="format_error", reason="null", tier="B")


def no_submission(answer: object) -> Verdict | None:
    """Return the verdict on `NO_ANSWER` or None, whatever the rule; None for others."""
    if answer is None:
        return _NULL
    return _ABSENT if answer is NO_ANSWER else None


def without_grading(answer: object, fault: str | None) -> Verdict | None:
    """Return the verdict that needs no grading: nothing was submitted, or the configuration has a fault."""
    nothing = no_submission(answer)
    if nothing is None and fault is not None:
        return Verdict("invalid_config", reason=fault)
    return nothing


def closest_edge(edges: set[Edge | None]) -> Edge | None:
    """Return the closest edge class among those given, None when there is none."""
    return next((edge for edge in EDGES if edge in edges), None)


def first_mode(modes: set[FailureMode | None]) -> FailureMode | None:
    """Return the failure mode with the lowest number, None when nothing failed."""
    return next((mode for mode in FAILURE_MODES if mode in modes), None)


def weakest_tier(tiers: set[Tier | None]) -> Tier | None:
    """Return the weakest tier among those given, None when there is none."""
    order: tuple[Tier, ...] = ("C", "B", "A")
    return next((tier for tier in order if tier in tiers), None)
