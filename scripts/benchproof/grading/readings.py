"""Trap readings: plausible misreadings of the rules, and what each would have changed.

Every reading is tried on every graded run and applies to those of its families; the counts say how
much depends on reading the rule right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from operator import le, lt
from typing import Any, Final, Protocol, runtime_checkable

from benchproof.grading.comparisons import Comparison, Near, Ratio, Window, Within, met
from benchproof.grading.numeric import NumericRule, compile_config, to_number
from benchproof.grading.numeric_config import FieldRule
from benchproof.grading.verdict import Verdict

#: Name of each reading and what it takes the rule for.
READINGS: Final[Mapping[str, str]] = {
    "bounds": "lower and upper are the interval itself, not offsets from the truth",
    "swapped": "lower and upper are exchanged",
    "symmetric": "lower and upper are one symmetric band, as wide as the larger of them",
    "strict": "an answer exactly on a bound fails",
    "relative": "the value of an absolute tolerance is a share of the truth",
    "any_field": "one passing field is enough",
    "choice_as_written": "a choice must match in case and padding",
    "labels_folded": "labels are compared without case and padding",
    "genes_as_written": "gene names are compared with their case",
    "categories_as_written": "category names are compared with their case",
    "duplicates_count": "lists are compared as lists, so that repeated entries count",
    "rescaled_fractions": "fractions are taken for percentages divided by 100",
    "mean_recomputed": "the mean is computed from the rows instead of taken as reported",
}


@runtime_checkable
class Misreadable(Protocol):
    """A compiled rule of another family than numeric_tolerance that has trap readings."""

    def misread(self, answer: object) -> Iterator[tuple[str, bool]]:
        """Yield each reading that applies to an answer, with the verdict that it gives."""


#: The reading's name, the comparison it makes of a field, and whether bounds are part of it.
_Trap = tuple[str, Comparison, Within]


@dataclass(frozen=True, slots=True)
class Counts:
    """What one reading changes.

    `runs`: graded runs it was tried on; `applies`: those in which it reads at least one field
    differently (for any_field: with two fields or more); then verdicts and fields that it turns.
    """

    runs: int = 0
    verdicts_changed: int = 0
    fields_changed: int = 0
    applies: int = 0


@dataclass(slots=True)
class Accumulator:
    """Counts of all readings over runs added one at a time; of constant size, and shards merge."""

    runs: int = 0
    _verdicts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(READINGS, 0))
    _fields: dict[str, int] = field(default_factory=lambda: dict.fromkeys(READINGS, 0))
    _applies: dict[str, int] = field(default_factory=lambda: dict.fromkeys(READINGS, 0))

    def add(self, config: object, answer: object, verdict: Verdict) -> None:
        """Count one run; passes over what is not graded and rules without trap readings.

        `config` is a compiled rule, or the raw configuration of a numeric_tolerance grader;
        `verdict` is what it gave.
        """
        if verdict.status != "graded":
            return
        if isinstance(config, NumericRule):
            rule = config
        elif isinstance(config, Misreadable):
            self._add_verdict(config, answer, verdict)
            return
        elif isinstance(config, dict):
            rule = compile_config(config)
        else:
            return
        self.runs += 1
        for name in _applying(rule):
            self._applies[name] += 1
        if isinstance(answer, dict):
            self._add_fields(rule, answer, verdict)

    def _add_verdict(self, rule: Misreadable, answer: object, verdict: Verdict) -> None:
        """Count a rule that looks at one field, so that a turned verdict is a turned field."""
        self.runs += 1
        for name, passed in rule.misread(answer):
            self._applies[name] += 1
            if passed is not verdict.passed:
                self._verdicts[name] += 1
                self._fields[name] += 1

    def _add_fields(self, rule: NumericRule, answer: dict[str, object], verdict: Verdict) -> None:
        failed = sum(item.passed is False for item in verdict.fields)
        unsettled = any(item.passed is None for item in verdict.fields)
        for name, (lost, won) in _turned(rule, answer, verdict).items():
            self._fields[name] += lost + won
            after = failed + lost - won
            if (after == 0) is not verdict.passed and not (after == 0 and unsettled):
                self._verdicts[name] += 1
        if not verdict.passed and any(item.passed for item in verdict.fields):
            self._verdicts["any_field"] += 1

    def merge(self, other: Accumulator) -> None:
        """Add what another accumulator counted."""
        self.runs += other.runs
        for name in READINGS:
            self._verdicts[name] += other._verdicts[name]
            self._fields[name] += other._fields[name]
            self._applies[name] += other._applies[name]

    def record(self) -> dict[str, Any]:
        """Return it as jobs hand it to each other."""
        return {
            "runs": self.runs,
            "verdicts": self._verdicts,
            "fields": self._fields,
            "applies": self._applies,
        }

    def add_record(self, record: Mapping[str, Any]) -> None:
        """Add what another job counted."""
        self.merge(
            Accumulator(record["runs"], record["verdicts"], record["fields"], record["applies"])
        )

    def counts(self) -> dict[str, Counts]:
        """Return the counts by reading, in the order of `READINGS`."""
        return {
            name: Counts(self.runs, self._verdicts[name], self._fields[name], self._applies[name])
            for name in READINGS
        }


def _turned(
    rule: NumericRule, answer: dict[str, object], verdict: Verdict
) -> dict[str, tuple[int, int]]:
    """Return how many fields each reading turns into failures and into passes."""
    turned: dict[str, tuple[int, int]] = {}
    for traps, item in zip(_traps(rule), verdict.fields, strict=True):
        number = to_number(answer.get(item.field)) if traps else None
        if number is None or item.passed is None:
            continue
        for name, test, within in traps:
            if met(test, number, within) is not item.passed:
                lost, won = turned.get(name, (0, 0))
                turned[name] = (lost + item.passed, won + (not item.passed))
    return turned


@lru_cache(maxsize=4096)
def _traps(rule: NumericRule) -> tuple[tuple[_Trap, ...], ...]:
    """Return for each field of a rule the readings that may differ from it."""
    return tuple(tuple(_field_traps(item)) for item in rule.fields)


@lru_cache(maxsize=4096)
def _applying(rule: NumericRule) -> tuple[str, ...]:
    """Return the readings that read a rule differently."""
    names = {name for traps in _traps(rule) for name, _, _ in traps}
    several = {"any_field"} if len(rule.fields) > 1 else set()
    return tuple(sorted(names | several))


def _field_traps(rule: FieldRule) -> Iterator[_Trap]:
    """Yield the readings of one field; one whose rule is not settled has none."""
    if not rule.settled:
        return
    test = rule.tests[0]
    yield "strict", test, lt
    if isinstance(test, Near):
        yield "relative", Ratio(test.truth, test.value), le
    elif isinstance(test, Window):
        yield "bounds", _Interval(test.lower, test.upper), le
        yield "swapped", Window(test.truth, test.upper, test.lower), le
        yield "symmetric", Near(test.truth, max(test.lower, test.upper)), le


@dataclass(frozen=True, slots=True, repr=False)
class _Interval(Comparison):
    """low <= x <= high."""

    low: float
    high: float

    def holds(self, x: float, within: Within = le) -> bool:
        return within(self.low, x) and within(x, self.high)
