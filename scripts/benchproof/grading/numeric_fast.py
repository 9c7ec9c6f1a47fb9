"""The shortcut of numeric_tolerance: plain numbers whose outcome one ulp cannot turn.

Most recorded answers are such numbers, and then a run's verdict is one of a few that are made once.
Everything else (odd values, large integers, answers within rounding of a bound) gets None here and
takes the full path; a property test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from benchproof.grading.comparisons import EXACT_LIMIT, TINY, ULPS, Near, Number, Window, is_large
from benchproof.grading.numeric_config import FieldRule
from benchproof.grading.verdict import Edge, FailureMode, FieldVerdict, Verdict

#: Verdicts kept per rule; a rule with n fields has at most 3**n.
_KEPT: Final = 1024
_FULL_PATH: Final = -1


class Shortcut(Protocol):
    """One field's shortcut: ready outcomes, and which of them a number gets."""

    @property
    def outcomes(self) -> tuple[FieldVerdict, ...]:
        """Return the ready outcomes."""

    def code(self, x: Number) -> int:
        """Return the position of a float's or small integer's outcome, -1 for the full path."""


@dataclass(frozen=True, slots=True, repr=False)
class Symmetric:
    """abs(x - truth) <= value; the outcomes are inside, on the bound, outside."""

    truth: Number
    value: Number
    guard: float
    outcomes: tuple[FieldVerdict, ...]

    def code(self, x: Number) -> int:
        distance = abs(x - self.truth)
        slack = abs(distance - self.value)
        if slack == 0:
            return 1
        if not self.guard + ULPS * abs(x) < slack < math.inf:
            return _FULL_PATH
        return 0 if distance <= self.value else 2


@dataclass(frozen=True, slots=True, repr=False)
class Pair:
    """low <= x <= high, clear of both; the outcomes are inside, exactly the truth, outside."""

    truth: Number
    low: Number
    high: Number
    guard: float
    outcomes: tuple[FieldVerdict, ...]

    def code(self, x: Number) -> int:
        slack = min(abs(x - self.low), abs(x - self.high))
        if not self.guard + ULPS * abs(x) < slack < math.inf:
            return _FULL_PATH
        if x == self.truth:
            return 1
        return 0 if self.low <= x <= self.high else 2


@dataclass(slots=True, repr=False)
class FastPath:
    """The shortcuts of all fields of a rule and the verdicts met so far."""

    fields: tuple[tuple[str, Shortcut], ...]
    _verdicts: dict[tuple[int, ...], Verdict] = field(default_factory=dict)

    def codes(self, answer: Mapping[str, object]) -> tuple[int, ...] | None:
        """Return the outcome codes of all fields, None if any needs the full path."""
        found = []
        for name, shortcut in self.fields:
            value = answer.get(name)
            if type(value) is float or (
                type(value) is int and -EXACT_LIMIT <= value <= EXACT_LIMIT
            ):
                code = shortcut.code(value)
                if code != _FULL_PATH:
                    found.append(code)
                    continue
            return None
        return tuple(found)

    def known(self, codes: tuple[int, ...]) -> Verdict | None:
        """Return the verdict kept for these codes."""
        return self._verdicts.get(codes)

    def outcomes(self, codes: tuple[int, ...]) -> tuple[FieldVerdict, ...]:
        """Return the ready outcomes that the codes stand for."""
        return tuple(
            shortcut.outcomes[code] for (_, shortcut), code in zip(self.fields, codes, strict=True)
        )

    def keep(self, codes: tuple[int, ...], verdict: Verdict) -> None:
        """Keep a verdict for the next run with the same codes, unless there are too many."""
        if len(self._verdicts) < _KEPT:
            self._verdicts[codes] = verdict


def fast_path(rules: tuple[FieldRule, ...]) -> FastPath | None:
    """Return the shortcut of a rule, None when one of its fields has none or there is no field."""
    found = []
    for rule in rules:
        shortcut = _shortcut(rule)
        if shortcut is None:
            return None
        found.append((rule.name, shortcut))
    return FastPath(tuple(found)) if found else None


def _shortcut(rule: FieldRule) -> Shortcut | None:
    """Return the shortcut of a settled absolute tolerance with finite, small operands."""
    if not rule.settled:
        return None
    test = rule.tests[0]
    usual = (
        _ready(rule, passed=True),
        _ready(rule, passed=True, edge="on_bound"),
        _ready(rule, passed=False),
    )
    if any(is_large(x) or not math.isfinite(x) for x in test.operands()):
        return None
    guard = ULPS * sum(map(abs, test.operands())) + TINY
    if isinstance(test, Near):
        return Symmetric(test.truth, test.value, guard, usual)
    if isinstance(test, Window):
        low, high = test.truth - test.lower, test.truth + test.upper
        contested = _ready(rule, passed=True, older_passed=False)
        return Pair(test.truth, low, high, guard, (contested, usual[0], usual[2]))
    return None


def _ready(
    rule: FieldRule, *, passed: bool, edge: Edge = "clear", older_passed: bool | None = None
) -> FieldVerdict:
    mode: FailureMode | None = None if passed else "wrong_value"
    older = passed if older_passed is None else older_passed
    return FieldVerdict(rule.name, passed, mode, edge, rule.tier, older)
