"""multiple_choice: the text under `answer` must be the right one, whatever its case and padding.

Configuration: `correct_answer` (text) or `correct_answers` (list). The answer is compared as
`str(x).strip().upper()` (paper, appendix C); that other values than text go through `str` comes
from the older public grader. `options` are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    undetermined,
)
from benchproof.grading.verdict import RuleStatus, Tier, Verdict, without_grading

KEY: Final = "answer"
Texts = frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceRule:
    """A compiled configuration.

    `readings` are the sets of texts that pass under each admissible reading; `older` is the text
    that the older public grader asks for, None where it ends in an error.
    """

    readings: tuple[Texts, ...] = field(default=(), repr=False)
    older: str | None = field(default="", repr=False)
    reason: str = "choice_readings"
    fault: str | None = None
    written: Texts = field(default=frozenset(), repr=False)

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
        if value is MISSING:
            return single(checked(KEY, False, mode="missing_field", tier="A"), score=0.0)
        if not self.readings:
            return undetermined(self.reason)
        text = as_text(value)
        chosen = None if text is None else text.strip().upper()
        passed = agree(chosen in reading for reading in self.readings)
        older = chosen is not None and chosen == self.older
        tier: Tier = "A" if isinstance(value, str) else "B"
        item = checked(KEY, passed, tier=tier, older=older, reason=self.reason)
        return single(item, older=older, score=binary(passed))

    def misread(self, answer: object) -> Iterator[tuple[str, bool]]:
        """Yield each trap reading that applies, with the verdict that it gives."""
        if len(self.readings) == 1 and isinstance(answer, dict):
            value = answer.get(KEY, MISSING)
            yield "choice_as_written", isinstance(value, str) and value in self.written


def compile_config(config: object) -> ChoiceRule:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return ChoiceRule(fault="config_not_object")
    one, many = config.get("correct_answer", MISSING), config.get("correct_answers", MISSING)
    older = _older(one)
    if one is MISSING and many is MISSING:
        return ChoiceRule(older=older, reason="correct_answer_missing")
    readings: list[Texts] = []
    for value, read in ((one, _of_one), (many, _of_many)):
        if value is not MISSING:
            found = read(value)
            if not found:
                return ChoiceRule(older=older, reason="correct_answer_empty")
            readings += found
    both = one is not MISSING and many is not MISSING
    reason = "correct_answers_conflict" if both else "correct_answer_padded"
    return ChoiceRule(tuple(dict.fromkeys(readings)), older, reason, written=_written(config))


def _of_one(value: object) -> list[Texts]:
    """Return the readings of `correct_answer`; other values than text pass, or end in an error."""
    normal = ("" if value is None else as_text(value) or "").strip().upper()
    if not normal:
        return []
    return [frozenset({normal})] if isinstance(value, str) else [frozenset({normal}), frozenset()]


def _of_many(value: object) -> list[Texts]:
    """Return the readings of `correct_answers`: padding counts or it does not (not published)."""
    if not isinstance(value, list):
        return []
    texts = [as_text(item) or "" for item in value]
    kept, trimmed = ({text.upper() for text in texts}, {text.strip().upper() for text in texts})
    if not trimmed or "" in trimmed:
        return []
    found = [frozenset(kept), frozenset(trimmed)]
    if not all(isinstance(item, str) for item in value):
        found.append(frozenset(item.upper() for item in value if isinstance(item, str)))
    return found


def _older(value: object) -> str | None:
    if value is MISSING:
        return ""
    return value.strip().upper() if isinstance(value, str) else None


def _written(config: Mapping[str, object]) -> Texts:
    many = config.get("correct_answers")
    given = [config.get("correct_answer"), *(many if isinstance(many, list) else [])]
    return frozenset(item for item in given if isinstance(item, str))
