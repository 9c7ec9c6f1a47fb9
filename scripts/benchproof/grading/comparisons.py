"""The comparisons that numeric rules are made of, in the arithmetic that the graders use.

Python's own arithmetic on int and float decides, so 0.4 is not within 0.3 of 0.1. Each comparison
can say whether it holds, how far its bound is, and what it would say with its bounds moved by one
ulp. A rule that sources word in several ways is several comparisons; `decide` asks whether they
agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from operator import le
from typing import Any, ClassVar

from benchproof.grading.verdict import Edge, closest_edge

Number = int | float
#: `le` for the published, inclusive comparison, `lt` for the trap reading.
Within = Callable[[Any, Any], bool]

#: The sum or difference of two integers below this is exact as a float too.
EXACT_LIMIT = 2**52
#: Relative distance beyond which one ulp cannot matter: four roundings, doubled.
ULPS = 8 * 2.0**-52
#: Distances below this are looked at closely whatever the scale (subnormal numbers).
TINY = 2.0**-1070


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """`BOUNDS` names the attributes that are bounds. No repr: operands are graded values."""

    BOUNDS: ClassVar[tuple[str, ...]] = ()

    def holds(self, x: Number, within: Within = le) -> bool:
        """Return whether `x` passes. May raise OverflowError for integers beyond float's range."""
        raise NotImplementedError

    def gap(self, x: Number) -> tuple[Number, Number]:
        """Return how far finite `x` is from the nearest bound, and the scale of roundings."""
        raise NotImplementedError

    def operands(self) -> tuple[Number, ...]:
        """Return every number that the comparison was made with."""
        return tuple(getattr(self, item.name) for item in fields(self))

    def floated(self) -> Comparison:
        """Return the comparison with every operand as a float. May raise OverflowError."""
        return replace(
            self, **{item.name: float(getattr(self, item.name)) for item in fields(self)}
        )

    def moved(self) -> Iterator[Comparison]:
        """Yield the comparison with each bound moved by one ulp, down and up."""
        for name in self.BOUNDS:
            for towards in (-math.inf, math.inf):
                yield replace(self, **{name: math.nextafter(getattr(self, name), towards)})


@dataclass(frozen=True, slots=True, repr=False)
class Near(Comparison):
    """abs(x - truth) <= value (paper, appendix C; observed in recorded verdicts)."""

    truth: Number
    value: Number
    BOUNDS: ClassVar[tuple[str, ...]] = ("value",)

    def holds(self, x: Number, within: Within = le) -> bool:
        return within(abs(x - self.truth), self.value)

    def gap(self, x: Number) -> tuple[Number, Number]:
        return abs(abs(x - self.truth) - self.value), abs(x) + abs(self.truth) + abs(self.value)


@dataclass(frozen=True, slots=True, repr=False)
class Ratio(Comparison):
    """abs(x - truth) / abs(truth) <= value; with a zero truth all fail (older grader)."""

    truth: Number
    value: Number
    BOUNDS: ClassVar[tuple[str, ...]] = ("value",)

    def holds(self, x: Number, within: Within = le) -> bool:
        return self.truth != 0 and within(abs(x - self.truth) / abs(self.truth), self.value)

    def gap(self, x: Number) -> tuple[Number, Number]:
        if self.truth == 0:
            return math.inf, 0
        size = abs(self.truth)
        return abs(abs(x - self.truth) / size - self.value), abs(x) / size + 1 + abs(self.value)


@dataclass(frozen=True, slots=True, repr=False)
class Window(Comparison):
    """truth - lower <= x <= truth + upper: the form of the paper."""

    truth: Number
    lower: Number
    upper: Number
    BOUNDS: ClassVar[tuple[str, ...]] = ("lower", "upper")

    def holds(self, x: Number, within: Within = le) -> bool:
        return within(self.truth - self.lower, x) and within(x, self.truth + self.upper)

    def gap(self, x: Number) -> tuple[Number, Number]:
        gaps = abs(x - (self.truth - self.lower)), abs(x - (self.truth + self.upper))
        return min(gaps), abs(x) + abs(self.truth) + _finite(self.lower) + _finite(self.upper)


@dataclass(frozen=True, slots=True, repr=False)
class Offsets(Comparison):
    """truth - x <= lower and x - truth <= upper: the form of the audit page."""

    truth: Number
    lower: Number
    upper: Number
    BOUNDS: ClassVar[tuple[str, ...]] = ("lower", "upper")

    def holds(self, x: Number, within: Within = le) -> bool:
        return within(self.truth - x, self.lower) and within(x - self.truth, self.upper)

    def gap(self, x: Number) -> tuple[Number, Number]:
        gaps = abs(self.truth - x - self.lower), abs(x - self.truth - self.upper)
        return min(gaps), abs(x) + abs(self.truth) + _finite(self.lower) + _finite(self.upper)


@dataclass(frozen=True, slots=True, repr=False)
class RatioOffsets(Comparison):
    """The offsets as shares of abs(truth): one reading of `relative` beside `lower` or `upper`."""

    truth: Number
    lower: Number
    upper: Number
    BOUNDS: ClassVar[tuple[str, ...]] = ("lower", "upper")

    def holds(self, x: Number, within: Within = le) -> bool:
        if self.truth == 0:
            return False
        share = (x - self.truth) / abs(self.truth)
        return within(-share, self.lower) and within(share, self.upper)

    def gap(self, x: Number) -> tuple[Number, Number]:
        if self.truth == 0:
            return math.inf, 0
        size = abs(self.truth)
        share = (x - self.truth) / size
        scale = abs(x) / size + 1 + _finite(self.lower) + _finite(self.upper)
        return min(abs(-share - self.lower), abs(share - self.upper)), scale


@dataclass(frozen=True, slots=True, repr=False)
class AtLeast(Comparison):
    """x >= bound."""

    bound: Number
    BOUNDS: ClassVar[tuple[str, ...]] = ("bound",)

    def holds(self, x: Number, within: Within = le) -> bool:
        return within(self.bound, x)

    def gap(self, x: Number) -> tuple[Number, Number]:
        return abs(x - self.bound), abs(x) + abs(self.bound)


@dataclass(frozen=True, slots=True, repr=False)
class AtMost(Comparison):
    """x <= bound."""

    bound: Number
    BOUNDS: ClassVar[tuple[str, ...]] = ("bound",)

    def holds(self, x: Number, within: Within = le) -> bool:
        return within(x, self.bound)

    def gap(self, x: Number) -> tuple[Number, Number]:
        return abs(x - self.bound), abs(x) + abs(self.bound)


@dataclass(frozen=True, slots=True, repr=False)
class Never(Comparison):
    """Nothing passes: what a grader does that refuses the configuration."""

    def holds(self, x: Number, within: Within = le) -> bool:
        return False

    def gap(self, x: Number) -> tuple[Number, Number]:
        return math.inf, 0


NEVER = Never()


def met(test: Comparison, x: Number, within: Within = le) -> bool:
    """Return whether `x` passes; False on overflow: the runner makes exceptions failures."""
    try:
        return test.holds(x, within)
    except OverflowError:
        return False


def decide(tests: Iterable[Comparison], x: Number, within: Within = le) -> bool | None:
    """Return what all comparisons say of `x` in every arithmetic; None when they differ."""
    said: bool | None = None
    for test in tests:
        for outcome in _outcomes(test, x, within):
            if said is None:
                said = outcome
            elif said is not outcome:
                return None
    return said


def edge_of(tests: Iterable[Comparison], x: Number) -> Edge | None:
    """Return how close `x` is to the closest bound of all; None when it is not finite."""
    if isinstance(x, float) and not math.isfinite(x):
        return None
    return closest_edge({_edge(test, x) for test in tests})


def is_large(x: Number) -> bool:
    """True for an integer with which exact and float arithmetic may differ."""
    return isinstance(x, int) and abs(x) > EXACT_LIMIT


def _outcomes(test: Comparison, x: Number, within: Within) -> Iterator[bool]:
    """Yield what the comparison says in native arithmetic and, where it may differ, in float."""
    yield met(test, x, within)
    if is_large(x) or any(map(is_large, test.operands())):
        yield _met_as_float(test, x, within, operands=False)
        yield _met_as_float(test, x, within, operands=True)


def _met_as_float(test: Comparison, x: Number, within: Within, *, operands: bool) -> bool:
    try:
        return met(test.floated() if operands else test, float(x), within)
    except OverflowError:
        return False


def _edge(test: Comparison, x: Number) -> Edge:
    """Classify one comparison; the exact question is asked only where rounding could matter."""
    try:
        gap, scale = test.gap(x)
        if gap == 0:
            return "on_bound"
        if gap > ULPS * scale + TINY:
            return "clear"
        near = [math.nextafter(x, towards) for towards in (-math.inf, math.inf)]
        now = test.holds(x)
        changes = any(test.holds(moved) is not now for moved in near) or any(
            moved.holds(x) is not now for moved in test.moved()
        )
    except OverflowError:
        return "clear"
    return "within_ulp" if changes else "clear"


def _finite(offset: Number) -> Number:
    """Return the size of an offset; an open side rounds nothing."""
    return 0 if offset == math.inf else abs(offset)
