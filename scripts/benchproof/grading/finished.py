"""finished_file: the stripped text under `finished_file_contents` must equal `expected`.

The default is "finished"; case counts (README of the grader library). Whether `expected` is
stripped too is not published, so padding there is decided only where both readings agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from benchproof.grading.outcomes import (
    MISSING,
    agree,
    as_text,
    binary,
    checked,
    format_error,
    single,
    unusable,
)
from benchproof.grading.verdict import RuleStatus, Verdict, without_grading

KEY: Final = "finished_file_contents"
DEFAULT: Final = "finished"


@dataclass(frozen=True, slots=True, eq=False)
class FinishedRule:
    """A compiled configuration; a reading of None is one that nothing passes."""

    readings: tuple[str | None, ...] = field(default=(), repr=False)
    fault: str | None = None

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, invalid_config, or undetermined where readings may differ."""
        if self.fault is not None:
            return "invalid_config"
        return "published" if len(self.readings) == 1 else "undetermined"

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        early = without_grading(answer, self.fault)
        if early is not None:
            return early
        if not isinstance(answer, dict):
            return format_error()
        value = answer.get(KEY, MISSING)
        if not isinstance(value, str):
            return single(checked(KEY, False, mode=unusable(value), tier="C"), score=0.0)
        passed = agree(value.strip() == reading for reading in self.readings)
        item = checked(KEY, passed, tier="A", reason="expected_readings")
        return single(item, score=binary(passed))


def compile_config(config: object) -> FinishedRule:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return FinishedRule(fault="config_not_object")
    expected = config.get("expected", DEFAULT)
    if isinstance(expected, str):
        return FinishedRule(tuple(dict.fromkeys((expected, expected.strip()))))
    return FinishedRule((DEFAULT, as_text(expected), None))
