"""Numeric fields with a published rule: how an answer is judged, and how one is invented to
order.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Number = int | float
# Fractions are multiples of 1/1024, so that sums and differences are exact in binary. Truths and
# tolerances are odd multiples and answers lie an even number of steps away: all have ten decimals,
# and a search for them finds nothing by chance. Whole numbers have eight digits or more for the
# same reason.
GRID = 1024
EXACT_MISS = 90_000


@dataclass(frozen=True, slots=True)
class FieldRule:
    """One field of a numeric_tolerance grader; `tolerance` is the entry of the evaluation file."""

    name: str
    kind: str
    truth: Number
    tolerance: dict[str, Any]

    @property
    def offsets(self) -> bool:
        """True for the asymmetric form with lower and upper."""
        return "lower" in self.tolerance

    def right(self, answer: Number) -> bool:
        """The published rule: distance within value, or within the offsets below and above."""
        if self.offsets:
            low, high = self.truth - self.tolerance["lower"], self.truth + self.tolerance["upper"]
            return bool(low <= answer <= high)
        return bool(abs(answer - self.truth) <= self.tolerance["value"])

    def read_as(self, answer: Number, reading: str) -> bool:
        """Judge by one of the trap readings (bounds, swapped, strict, relative); else by the
        rule.
        """
        if reading == "bounds" and self.offsets:
            return bool(self.tolerance["lower"] <= answer <= self.tolerance["upper"])
        if reading == "swapped" and self.offsets:
            below, above = self.tolerance["upper"], self.tolerance["lower"]
            return bool(self.truth - below <= answer <= self.truth + above)
        if reading == "strict" and self.offsets:
            low, high = self.truth - self.tolerance["lower"], self.truth + self.tolerance["upper"]
            return bool(low < answer < high)
        if reading == "strict":
            return bool(abs(answer - self.truth) < self.tolerance["value"])
        if reading == "relative" and not self.offsets:
            return bool(abs(answer - self.truth) / abs(self.truth) <= self.tolerance["value"])
        return self.right(answer)

    def on_bound(self, answer: Number) -> bool:
        """True when the answer stands exactly on the edge of what passes."""
        if self.offsets:
            low, high = self.truth - self.tolerance["lower"], self.truth + self.tolerance["upper"]
            return answer in (low, high)
        return bool(abs(answer - self.truth) == self.tolerance["value"])

    def inside(self, rng: random.Random) -> Number:
        """Invent an answer that passes and stands on no bound, unless only the truth itself
        passes.
        """
        if self.kind == "exact":
            return self.truth
        below, above = self._reach()
        return self.truth + self._step(rng.uniform(-0.85 * below, 0.85 * above))

    def at_bound(self, rng: random.Random) -> Number:
        """Invent an answer exactly on a bound."""
        below, above = self._reach()
        return self.truth + (above if rng.random() < 0.5 else -below)

    def outside(self, rng: random.Random) -> Number:
        """Invent an answer that fails; the other readings may judge it either way."""
        below, above = self._reach()
        smallest = 2 if isinstance(self.truth, int) else 4 / GRID
        if rng.random() < 0.5:
            return self.truth + self._step(rng.uniform(1.2, 3.0) * (above or EXACT_MISS) + smallest)
        return self.truth - self._step(rng.uniform(1.2, 3.0) * (below or EXACT_MISS) + smallest)

    def _reach(self) -> tuple[Number, Number]:
        """How far below and above the truth an answer may lie."""
        if self.offsets:
            return self.tolerance["lower"], self.tolerance["upper"]
        return self.tolerance["value"], self.tolerance["value"]

    def _step(self, size: float) -> Number:
        """Round a distance towards zero to an even number of steps."""
        if isinstance(self.truth, int):
            return int(size / 2) * 2
        return int(size * GRID / 2) * 2 / GRID


def make_field(name: str, kind: str, rng: random.Random) -> FieldRule:
    """Invent truth and tolerance for a field; all texts are long enough to be searched for."""

    def odd(low: int, high: int) -> int:
        return rng.randrange(low, high) * 2 + 1

    if kind == "int":
        entry = {"type": "absolute", "value": odd(5_000_000, 40_000_000)}
        return FieldRule(name, kind, odd(150_000_000, 450_000_000), entry)
    if kind == "exact":
        entry = {"type": "absolute", "value": 0}
        return FieldRule(name, kind, odd(150_000_000, 450_000_000), entry)
    if kind == "offsets":
        low, high = odd(16, 28) / GRID, odd(40, 60) / GRID
        entry = {"type": "absolute", "lower": low, "upper": high}
        return FieldRule(name, kind, odd(240, 420) / GRID, entry)
    if kind == "zero":
        entry = {"type": "absolute", "value": odd(400, 500) / GRID}
        return FieldRule(name, kind, odd(60, 180) / GRID, entry)
    entry = {"type": "absolute", "value": odd(900, 1600) / GRID}
    return FieldRule(name, "float", odd(6_000, 40_000) / GRID, entry)


def config_of(fields: Sequence[FieldRule]) -> dict[str, Any]:
    """Return the config of a numeric_tolerance grader over these fields."""
    return {
        "ground_truth": {rule.name: rule.truth for rule in fields},
        "tolerances": {rule.name: rule.tolerance for rule in fields},
    }


def grader_result(fields: Sequence[FieldRule], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a grader records for an answer that holds a number for each field."""
    verdicts = {rule.name: rule.right(answer[rule.name]) for rule in fields}
    passed = all(verdicts.values())
    lines = [f"Numeric Tolerance Check: {'PASS' if passed else 'FAIL'}", ""]
    metrics: dict[str, Any] = {}
    for rule in fields:
        value, error = answer[rule.name], abs(answer[rule.name] - rule.truth)
        if rule.offsets:
            allowed = f"allowed: -{rule.tolerance['lower']}/+{rule.tolerance['upper']}"
        else:
            allowed = f"error: {error}, tolerance: {rule.tolerance['value']}"
        sign = "+" if verdicts[rule.name] else "x"
        lines.append(f"  {sign} {rule.name}: {value} vs {rule.truth} ({allowed})")
        metrics |= {f"{rule.name}_actual": value, f"{rule.name}_expected": rule.truth}
        metrics |= {f"{rule.name}_error": error, f"{rule.name}_pass": verdicts[rule.name]}
    return {
        "agent_answer": dict(answer),
        "field_scores": {name: 1.0 if good else 0.0 for name, good in verdicts.items()},
        "metrics": metrics,
        "passed": passed,
        "reasoning": "\n".join(lines),
        "score": sum(verdicts.values()) / len(verdicts),
    }
