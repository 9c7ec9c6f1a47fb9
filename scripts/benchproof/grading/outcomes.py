"""Building blocks of the families' verdicts: readings that agree, fields that make one verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from benchproof.grading.verdict import (
    Edge,
    FailureMode,
    FieldVerdict,
    Tier,
    Verdict,
    closest_edge,
    first_mode,
)

#: Stands for a key that an answer or a configuration does not have.
MISSING: Final = object()


def agree(outcomes: Iterable[bool | None]) -> bool | None:
    """Return what all readings say; None when they differ, one is open or there is none."""
    said = set(outcomes)
    return said.pop() if len(said) == 1 else None


def every(outcomes: Iterable[bool | None]) -> bool | None:
    """Return whether all hold: False if one surely fails, else None if one is open."""
    said = set(outcomes)
    return False if False in said else None if None in said else True


def as_text(value: object) -> str | None:
    """Return `str(value)`; None where that raises: integers of many digits, too deep nesting."""
    try:
        return str(value)
    except (ValueError, RecursionError):
        return None


def unusable(value: object) -> FailureMode:
    """Return how a value fails that is absent (`MISSING`) or of the wrong type."""
    return "missing_field" if value is MISSING else "type_error"


def format_error() -> Verdict:
    """Return the failure of an answer that is no JSON object (runner, inferred)."""
    return Verdict("graded", False, failure_mode="format_error", tier="C")


def undetermined(reason: str, score: float | None = None) -> Verdict:
    """Return the verdict of a case that no public source settles."""
    return Verdict("rule_undetermined", None, score, reason=reason)


def checked(
    name: str,
    passed: bool | None,
    *,
    mode: FailureMode = "wrong_value",
    tier: Tier = "B",
    edge: Edge | None = None,
    older: bool | None = None,
    reason: str = "",
    flags: Iterable[str] = (),
) -> FieldVerdict:
    """Return a field's verdict.

    `mode` and `tier` count where it failed or was decided, `reason` where it is open; `older` None
    says that the older public grader has no verdict of its own to differ with.
    """
    return FieldVerdict(
        name,
        passed,
        mode if passed is False else None,
        edge,
        None if passed is None else tier,
        bool(passed) if older is None else older,
        reason if passed is None else None,
        tuple(flags),
    )


def verdict_of(
    fields: tuple[FieldVerdict, ...],
    passed: bool | None,
    *,
    tier: Tier,
    reason: str,
    older: bool | None = None,
    score: float | None = None,
    field_scores: Mapping[str, float | None] | None = None,
) -> Verdict:
    """Return the verdict on checked fields; `passed` None leaves it open for `reason`.

    `older` is what the older public grader gives, None where it does not know the type.
    """
    edge = closest_edge({item.edge for item in fields})
    flags = tuple(sorted({flag for item in fields for flag in item.flags}))
    if passed is None:
        return Verdict(
            "rule_undetermined",
            None,
            score,
            field_scores,
            reason=reason,
            fields=fields,
            edge=edge,
            flags=flags,
        )
    mode = None if passed else first_mode({item.failure_mode for item in fields}) or "wrong_value"
    contested = older is not None and older is not passed
    return Verdict(
        "graded", passed, score, field_scores, mode, None, fields, contested, tier, edge, flags
    )


def single(item: FieldVerdict, *, older: bool | None = None, score: float | None = None) -> Verdict:
    """Return the verdict of a rule that looks at one field alone."""
    tier: Tier = item.tier or "C"
    return verdict_of(
        (item,), item.passed, tier=tier, reason=item.reason or "", older=older, score=score
    )


def binary(passed: bool | None) -> float | None:
    """Return 1.0 or 0.0, None for an open verdict."""
    return None if passed is None else float(passed)
