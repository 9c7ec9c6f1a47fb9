"""numeric_tolerance: every key of `ground_truth` must be answered by a number that is close enough.

Configuration: `ground_truth {field: x*}` and `tolerances {field: {type, value | lower, upper}}`.
The rule is the paper's (appendix C), checked against the recorded verdicts; what is absent and how
true and false count comes from the older public grader. All fields must pass; the score is their
plain mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from benchproof.grading.comparisons import Number, decide, edge_of, is_large, met
from benchproof.grading.numeric_config import ConfigFaultError, FieldRule, field_rules
from benchproof.grading.numeric_fast import FastPath, fast_path
from benchproof.grading.verdict import (
    FailureMode,
    FieldVerdict,
    RuleStatus,
    Tier,
    Verdict,
    closest_edge,
    first_mode,
    weakest_tier,
    without_grading,
)

_MISSING: Final = object()


@dataclass(frozen=True, slots=True, eq=False)
class NumericRule:
    """A compiled configuration, equal to itself alone so that caches can hold it.

    `fault` is the code of what makes it invalid, `unsettled` that of a shape no source describes;
    `guessed` is True when the ground truth is absent, which the older grader takes for an empty
    one.
    """

    fields: tuple[FieldRule, ...] = ()
    fast: FastPath | None = field(default=None, repr=False)
    fault: str | None = None
    unsettled: str | None = None
    guessed: bool = False

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, invalid_config, or undetermined if any field's rule leaves room."""
        if self.fault is not None:
            return "invalid_config"
        settled = self.unsettled is None and all(rule.settled for rule in self.fields)
        return "published" if settled else "undetermined"

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        codes = self.fast.codes(answer) if self.fast and isinstance(answer, dict) else None
        if codes is None or self.fast is None:
            return self.grade_in_full(answer)
        verdict = self.fast.known(codes)
        if verdict is None:
            verdict = _combine(self.fast.outcomes(codes))
            self.fast.keep(codes, verdict)
        return verdict

    def grade_in_full(self, answer: object) -> Verdict:
        """Return what `grade` returns, without its shortcut."""
        early = without_grading(answer, self.fault)
        if early is not None:
            return early
        if not isinstance(answer, dict):
            return self._format_error()
        if self.unsettled is not None:
            return Verdict("rule_undetermined", reason=self.unsettled)
        rules = self.fields
        return _combine(tuple(grade_field(rule, answer.get(rule.name, _MISSING)) for rule in rules))

    def _format_error(self) -> Verdict:
        """Return the failure of an answer that is no object; the older grader may not look."""
        unchecked = not self.fields and (self.unsettled is None or self.guessed)
        return Verdict("graded", False, failure_mode="format_error", contested=unchecked, tier="C")


def compile_config(config: object) -> NumericRule:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return NumericRule(fault="config_not_object")
    if "ground_truth" not in config:
        return NumericRule(unsettled="ground_truth_missing", guessed=True)
    truths = config["ground_truth"]
    if not isinstance(truths, dict):
        return NumericRule(unsettled="ground_truth_not_object")
    try:
        rules = field_rules(truths, config)
    except ConfigFaultError as fault:
        return NumericRule(fault=fault.reason)
    return NumericRule(rules, fast_path(rules))


def grade_field(rule: FieldRule, value: object) -> FieldVerdict:
    """Return the verdict on one field's answered value."""
    if value is _MISSING:
        return _failed(rule, "missing_field", "A")
    number = to_number(value)
    if number is None:
        return _failed(rule, "type_error", "C" if value is None else "A")
    passed = decide(rule.tests, number)
    older = not isinstance(value, str) and met(rule.older, number)
    flags = (*rule.flags, *value_flags(value, number))
    edge = edge_of(rule.tests, number)
    if passed is None:
        reason = rule.reason
        return FieldVerdict(rule.name, None, None, edge, None, older, reason, flags)
    tier = weakest_tier({rule.tier, "B" if isinstance(value, bool) else "A"})
    mode: FailureMode | None = None if passed else "wrong_value"
    return FieldVerdict(rule.name, passed, mode, edge, tier, older, None, flags)


def to_number(value: object) -> Number | None:
    """Return an answered value as a number, None when it is none.

    Text goes through Python's `float` (paper), true and false count as 1 and 0 (older grader).
    """
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    if not isinstance(value, str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _failed(rule: FieldRule, mode: FailureMode, tier: Tier) -> FieldVerdict:
    """Return the failure of a value that is missing or no number: every reading fails those."""
    return FieldVerdict(rule.name, False, mode, None, tier, older_passed=False)


def value_flags(value: object, number: Number) -> tuple[str, ...]:
    """Return fixed codes for what is odd about an answered number."""
    if isinstance(value, bool):
        return ("boolean_answer",)
    found = ["text_number"] if isinstance(value, str) else []
    if is_large(number):
        found.append("large_integer")
    elif not math.isfinite(number):
        found.append("nonfinite_answer")
    return tuple(found)


def _combine(found: tuple[FieldVerdict, ...]) -> Verdict:
    """Return the verdict on all fields: one failed field fails it, else one open field opens it."""
    scores = {item.field: item.score for item in found}
    outcomes = {item.passed for item in found}
    edge = closest_edge({item.edge for item in found})
    flags = tuple(sorted({flag for item in found for flag in item.flags}))
    score = _mean(scores)
    if None in outcomes and False not in outcomes:
        reason = next(item.reason for item in found if item.passed is None)
        return Verdict(
            "rule_undetermined", None, score, scores, None, reason, found, edge=edge, flags=flags
        )
    passed = False not in outcomes
    older = all(item.older_passed for item in found)
    mode = first_mode({item.failure_mode for item in found})
    tier = weakest_tier({item.tier for item in found}) if found else "B"
    contested = passed is not older
    return Verdict("graded", passed, score, scores, mode, None, found, contested, tier, edge, flags)


def _mean(scores: Mapping[str, float | None]) -> float | None:
    """Return the plain mean; None when a field is open or there is none."""
    known = [score for score in scores.values() if score is not None]
    return sum(known) / len(known) if known and len(known) == len(scores) else None
