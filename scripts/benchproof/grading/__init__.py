"""Grading: values in, values out. One grader family per module behind a registry.

`grade` applies the published rule to one answer. Where public sources leave room, every admissible
reading is evaluated and the verdict stands only if all agree. `regrade` (record.py) compares a
recorded run with the rule; readings.py counts what plausible misreadings of it would have changed.
"""

from __future__ import annotations

from benchproof.grading.registry import FAMILIES, Compiled
from benchproof.grading.verdict import NO_ANSWER, FieldVerdict, RuleStatus, Verdict

__all__ = [
    "NO_ANSWER",
    "Compiled",
    "FieldVerdict",
    "RuleStatus",
    "Verdict",
    "compile_rule",
    "grade",
    "rule_status",
]


def compile_rule(type: object, config: object) -> Compiled:
    """Return the compiled rule of a grader's type and config, to grade many answers with."""
    return FAMILIES.compile(type, config)


def grade(type: object, config: object, answer: object) -> Verdict:
    """Return the verdict on a parsed JSON answer; `NO_ANSWER` and None are no submission."""
    return FAMILIES.compile(type, config).grade(answer)


def rule_status(type: object, config: object) -> RuleStatus:
    """Return published, undetermined, not_supported, unknown_type or invalid_config."""
    return FAMILIES.compile(type, config).rule_status
