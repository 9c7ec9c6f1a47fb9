"""Read a numeric_tolerance configuration into the comparisons that public sources admit.

A field that sources settle has one comparison, or two that differ in rounding alone. Where they
leave room it has one comparison per admissible reading, and a verdict stands only if all agree.
Where they give no closed list of readings it has none, and no number can be decided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from benchproof.grading.comparisons import (
    NEVER,
    AtLeast,
    AtMost,
    Comparison,
    Near,
    Number,
    Offsets,
    Ratio,
    RatioOffsets,
    Window,
)
from benchproof.grading.verdict import Tier

Shape = Literal["absolute", "offsets", "relative", "min", "max", "open"]
Tests = tuple[Comparison, ...]

_KINDS: Final[dict[str, Shape]] = {
    "absolute": "absolute",
    "relative": "relative",
    "min": "min",
    "max": "max",
}
#: Names that only the paper's prose uses; the older grader fails them whatever is answered.
_SPELLED_OUT: Final[dict[str, Shape]] = {
    "minimum": "min",
    "maximum": "max",
    "asymmetric": "absolute",
}
_NUMBERS: Final = ("value", "lower", "upper")
#: Types whose `value` is a size; that of min and max is a bound and may be negative.
_SIZED: Final = ("absolute", "relative", "asymmetric")
_ABSENT: Final = object()


class ConfigFaultError(Exception):
    """The configuration contradicts the rule; `reason` is a fixed code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _UnsettledError(Exception):
    """No source says how this entry is read; `reason` is a fixed code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class FieldRule:
    """One key of `ground_truth` and all that may be asked of its answer.

    `tests` are the admissible readings, `older` is what the older public grader asks, `reason` is
    the code for disagreement. `settled` tells a rule that sources fix from one with room between
    readings.
    """

    name: str
    shape: Shape
    tests: Tests = field(repr=False)
    older: Comparison = field(repr=False)
    tier: Tier
    reason: str = "large_integer"
    settled: bool = True
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class _Entry:
    """A tolerance entry; None is an absent number, `explicit` a type and no true or false."""

    kind: object
    value: Number | None
    lower: Number | None
    upper: Number | None
    explicit: bool

    @property
    def paired(self) -> bool:
        return self.lower is not None or self.upper is not None


def field_rules(
    truths: Mapping[str, object], config: Mapping[str, object]
) -> tuple[FieldRule, ...]:
    """Return one rule per key of the ground truth, in its order.

    Raises ConfigFaultError with truth_not_finite, tolerance_nan or tolerance_negative.
    """
    tolerances = config.get("tolerances", {})
    legacy = config.get("tolerance", _ABSENT)
    return tuple(_field_rule(name, truth, tolerances, legacy) for name, truth in truths.items())


def _field_rule(name: str, truth: object, tolerances: object, legacy: object) -> FieldRule:
    entry = tolerances.get(name, _ABSENT) if isinstance(tolerances, dict) else tolerances
    single = entry is _ABSENT and legacy is not _ABSENT
    raw = {"value": legacy} if single else {} if entry is _ABSENT else entry
    _refuse_faults(truth, raw)
    try:
        if not isinstance(tolerances, dict):
            raise _UnsettledError("tolerances_not_object")
        number, parsed = _number(truth, "truth"), _entry(raw)
        if single:
            return _single_tolerance(name, number, parsed)
        return _entry_rule(name, number, parsed, exact_type=not isinstance(truth, bool))
    except _UnsettledError as problem:
        return FieldRule(name, "open", (), NEVER, "C", problem.reason, settled=False)


def _refuse_faults(truth: object, entry: object) -> None:
    """Raise ConfigFaultError for a truth that is not finite and for a NaN or negative tolerance."""
    if isinstance(truth, float) and not math.isfinite(truth):
        raise ConfigFaultError("truth_not_finite")
    if not isinstance(entry, dict):
        return
    numbers = {key: entry[key] for key in _NUMBERS if isinstance(entry.get(key), int | float)}
    if any(isinstance(number, float) and math.isnan(number) for number in numbers.values()):
        raise ConfigFaultError("tolerance_nan")
    if entry.get("type", "absolute") not in _SIZED:
        numbers.pop("value", None)
    if any(number < 0 for number in numbers.values()):
        raise ConfigFaultError("tolerance_negative")


def _entry(raw: object) -> _Entry:
    if not isinstance(raw, dict):
        raise _UnsettledError("tolerance_not_object")
    value, lower, upper = (
        _number(raw[key], "tolerance") if key in raw else None for key in _NUMBERS
    )
    booleans = any(isinstance(raw.get(key), bool) for key in _NUMBERS)
    explicit = "type" in raw and not booleans
    return _Entry(raw.get("type", "absolute"), value, lower, upper, explicit)


def _number(value: object, what: str) -> Number:
    """Return a configured number; true and false count as 1 and 0, text is not settled."""
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, int | float):
        raise _UnsettledError(f"{what}_not_number")
    return value


def _single_tolerance(name: str, x: Number, entry: _Entry) -> FieldRule:
    """Return the rule of one `tolerance` for all fields: exact, absolute or relative."""
    exact = Near(x, 0)
    tests = (exact, _single("absolute", x, entry.value), _single("relative", x, entry.value))
    return FieldRule(name, "open", tests, exact, "C", "single_tolerance", settled=False)


def _entry_rule(name: str, x: Number, entry: _Entry, *, exact_type: bool) -> FieldRule:
    kind = entry.kind if isinstance(entry.kind, str) else ""
    if kind in _SPELLED_OUT:
        tests = (*_readings(_SPELLED_OUT[kind], x, entry), NEVER)
        return FieldRule(name, "open", tests, NEVER, "C", "spelled_out_type", settled=False)
    if kind not in _KINDS:
        raise _UnsettledError("unknown_tolerance_type")
    shape = _KINDS[kind]
    older = _single(shape, x, None if shape in ("min", "max") else entry.value)
    tier: Tier = "A" if entry.explicit and exact_type else "B"
    if not entry.paired:
        return _plain(name, shape, x, entry, older, tier)
    if shape == "absolute" and entry.value is None and None not in (entry.lower, entry.upper):
        both = _windows(x, entry)
        return FieldRule(name, "offsets", both, older, tier, "offset_rounding")
    return _mixed(name, shape, x, entry, older)


def _plain(
    name: str, shape: Shape, x: Number, entry: _Entry, older: Comparison, tier: Tier
) -> FieldRule:
    """Return the rule of a tolerance without offsets, which sources settle."""
    zero_truth = shape == "relative" and x == 0
    tier = "B" if entry.value is None or zero_truth else tier
    flags = ("relative_zero_truth",) if zero_truth else ()
    return FieldRule(name, shape, (_single(shape, x, entry.value),), older, tier, flags=flags)


def _mixed(name: str, shape: Shape, x: Number, entry: _Entry, older: Comparison) -> FieldRule:
    """Return the rule of offsets that are one-sided, beside a value, or under another type."""
    tests = _readings(shape, x, entry)
    if shape == "absolute":
        tests = (older, *tests)
        reason = "one_sided_offset" if entry.value is None else "offsets_beside_value"
    else:
        tests = (*tests, NEVER)
        reason = "offsets_beside_type"
    return FieldRule(name, "open", tests, older, "C", reason, settled=False)


def _single(shape: Shape, x: Number, value: Number | None) -> Comparison:
    """Return what an entry without offsets asks; an absent value is 0, or x for min, max."""
    if shape == "min":
        return AtLeast(x if value is None else value)
    if shape == "max":
        return AtMost(x if value is None else value)
    return (Ratio if shape == "relative" else Near)(x, 0 if value is None else value)


def _readings(shape: Shape, x: Number, entry: _Entry) -> Tests:
    """Return the readings of an entry that may hold offsets and a value at once."""
    if shape == "absolute":
        offsets = _windows(x, entry) if entry.paired else ()
        alone = () if offsets and entry.value is None else (_single(shape, x, entry.value),)
        return (*alone, *offsets)
    return (
        _single(shape, x, entry.value),
        *(_typed_windows(shape, x, entry) if entry.paired else ()),
    )


def _windows(x: Number, entry: _Entry) -> Tests:
    """Return the offset readings in both forms; an absent side is closed, or it is open."""
    lowers = (0, math.inf) if entry.lower is None else (entry.lower,)
    uppers = (0, math.inf) if entry.upper is None else (entry.upper,)
    return tuple(
        form(x, lower, upper) for lower in lowers for upper in uppers for form in (Window, Offsets)
    )


def _typed_windows(shape: Shape, x: Number, entry: _Entry) -> Tests:
    """Return the widest offset readings under a type with which passing is never settled."""
    lower = math.inf if entry.lower is None or shape == "max" else entry.lower
    upper = math.inf if entry.upper is None or shape == "min" else entry.upper
    forms = (Window, Offsets, RatioOffsets) if shape == "relative" else (Window, Offsets)
    return tuple(form(x, lower, upper) for form in forms)
