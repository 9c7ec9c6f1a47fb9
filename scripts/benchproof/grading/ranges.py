"""numeric_range: every answered number must lie inside its range.

Configuration: `ground_truth {field: x*}` and `ranges {field: {min, max}}`. Public sources say that
strictly inside passes and strictly outside fails, and no more: on a bound, for NaN, for text or
true inside and for a range with one side the verdict is open. Several fields must all pass, as in
numeric_tolerance (inferred).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from operator import lt

from benchproof.grading.comparisons import AtLeast, AtMost, Comparison, Number, decide, edge_of
from benchproof.grading.numeric import to_number, value_flags
from benchproof.grading.numeric_config import ConfigFaultError
from benchproof.grading.outcomes import (
    MISSING,
    agree,
    checked,
    every,
    format_error,
    undetermined,
    verdict_of,
)
from benchproof.grading.verdict import FieldVerdict, RuleStatus, Tier, Verdict, without_grading


@dataclass(frozen=True, slots=True)
class Range:
    """One field; `reason` is the code of a range that can at most be missed, never surely met."""

    name: str
    sides: tuple[Comparison, ...] = field(default=(), repr=False)
    reason: str | None = None

    def outside(self, x: Number) -> bool:
        """Return whether `x` is strictly outside, in every arithmetic; NaN is nowhere."""
        return x == x and any(decide((side,), x) is False for side in self.sides)

    def inside(self, x: Number) -> bool:
        """Return whether `x` is strictly inside, in every arithmetic."""
        return all(decide((side,), x, lt) is True for side in self.sides)


@dataclass(frozen=True, slots=True, eq=False)
class RangeRule:
    """A compiled configuration.

    `fields` have a ground truth; `extra` are ranges without one, which may or may not be checked.
    """

    fields: tuple[Range, ...] = ()
    extra: tuple[Range, ...] = ()
    fault: str | None = None
    unsettled: str | None = None

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, invalid_config, or undetermined where passing cannot be settled."""
        if self.fault is not None:
            return "invalid_config"
        open_ended = self.unsettled or self.extra or any(item.reason for item in self.fields)
        return "undetermined" if open_ended else "published"

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        early = without_grading(answer, self.fault)
        if early is not None:
            return early
        if not isinstance(answer, dict):
            return format_error()
        if self.unsettled is not None:
            return undetermined(self.unsettled)
        found = tuple(_graded(item, answer.get(item.name, MISSING)) for item in self.fields)
        passed = every(item.passed for item in found)
        reason = next((item.reason for item in found if item.reason), "range_without_truth")
        if passed:
            extra = (_graded(item, answer.get(item.name, MISSING)).passed for item in self.extra)
            passed = agree((True, every(extra)))
        tier: Tier = found[0].tier or "A" if len(found) == 1 and not self.extra else "C"
        score = _score(found) if passed is not None else None
        return verdict_of(found, passed, tier=tier, reason=reason, score=score)


def _score(found: tuple[FieldVerdict, ...]) -> float | None:
    """Return 1.0 when all are inside and 0.0 when none is; the score between is not published."""
    outcome = agree(item.passed for item in found)
    return None if outcome is None else float(outcome)


def _graded(rule: Range, value: object) -> FieldVerdict:
    if value is MISSING:
        return checked(rule.name, False, mode="missing_field", tier="A")
    number = to_number(value)
    if number is None:
        return checked(rule.name, False, mode="type_error", tier="C" if value is None else "A")
    flags = value_flags(value, number)
    edge = edge_of(rule.sides, number) if rule.sides else None
    if rule.outside(number):
        return checked(rule.name, False, tier="A", edge=edge, flags=flags)
    reason = _open(rule, value, number)
    passed = True if reason is None else None
    return checked(rule.name, passed, tier="A", edge=edge, reason=reason or "", flags=flags)


def _open(rule: Range, value: object, number: Number) -> str | None:
    """Return why a number that is not outside does not surely pass, None when it does."""
    if rule.reason is not None:
        return rule.reason
    if isinstance(number, float) and math.isnan(number):
        return "nan_answer"
    if not rule.inside(number):
        return "on_range_bound"
    if isinstance(value, bool):
        return "boolean_in_range"
    return "text_in_range" if isinstance(value, str) else None


def compile_config(config: object) -> RangeRule:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return RangeRule(fault="config_not_object")
    truths, ranges = config.get("ground_truth", MISSING), config.get("ranges", {})
    if not isinstance(truths, dict):
        missing = truths is MISSING
        return RangeRule(unsettled="ground_truth_missing" if missing else "ground_truth_not_object")
    if not isinstance(ranges, dict):
        return RangeRule(unsettled="ranges_not_object")
    if not truths:
        return RangeRule(unsettled="ground_truth_empty")
    try:
        fields = tuple(_range(name, ranges.get(name, MISSING)) for name in truths)
        extra = tuple(_range(name, ranges[name]) for name in ranges if name not in truths)
    except ConfigFaultError as fault:
        return RangeRule(fault=fault.reason)
    return RangeRule(fields, extra)


def _range(name: str, entry: object) -> Range:
    """Return a field's range. Raises ConfigFaultError with range_nan."""
    if entry is MISSING:
        return Range(name, reason="field_without_range")
    if not isinstance(entry, dict):
        return Range(name, reason="range_not_object")
    sides: list[Comparison] = []
    reason = None
    for key, form in (("min", AtLeast), ("max", AtMost)):
        bound = entry.get(key)
        if bound is None:
            reason = reason or "one_sided_range"
        elif not isinstance(bound, int | float) or isinstance(bound, bool):
            return Range(name, reason="range_not_number")
        elif isinstance(bound, float) and math.isnan(bound):
            raise ConfigFaultError("range_nan")
        else:
            sides.append(form(bound))
    return Range(name, tuple(sides), reason)
