"""distribution_comparison: every category's percentage must be close enough.

Configuration: `ground_truth.cell_type_distribution` {category: percent}, optionally
`ground_truth.total_cells`, and `tolerances.cell_type_percentages.value` (3.0 points) and
`tolerances.total_cells.value` (0). Bounds are inclusive, category names compare in lower case
(paper), further categories are not looked at, percentages are taken as given: nothing is rescaled
and no sum is checked. The total counts only where configuration and answer both have one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from benchproof.grading.comparisons import Near, Number, decide, edge_of, met
from benchproof.grading.numeric import to_number, value_flags
from benchproof.grading.numeric_config import ConfigFaultError
from benchproof.grading.outcomes import (
    MISSING,
    agree,
    checked,
    every,
    format_error,
    single,
    undetermined,
    verdict_of,
)
from benchproof.grading.verdict import (
    Edge,
    FailureMode,
    FieldVerdict,
    RuleStatus,
    Verdict,
    closest_edge,
    first_mode,
    without_grading,
)

KEY: Final = "cell_type_distribution"
TOTAL: Final = "total_cells"
PERCENTAGES: Final = "cell_type_percentages"
#: Tolerances that the older public grader ends in an error with.
_ERRORS: Final = ("tolerance_not_object", "tolerance_not_number", "truth_not_number")
_DEFAULTS: Final[dict[str, Number]] = {PERCENTAGES: 3.0, TOTAL: 0}


@dataclass(frozen=True, slots=True)
class Part:
    """What a value comes to: passed (None: open), how it failed, and how close it was."""

    passed: bool | None
    mode: FailureMode | None = None
    edge: Edge | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class DistributionRule:
    """A compiled configuration. `truth` None for a category is one that is no number.

    `open` holds the code for tolerances that no source describes, by name.
    """

    truth: Mapping[str, Number | None] = field(default_factory=dict, repr=False)
    total: Number | None = field(default=None, repr=False)
    sizes: Mapping[str, Number] = field(default_factory=dict, repr=False)
    open: Mapping[str, str] = field(default_factory=dict)
    fault: str | None = None
    unsettled: str | None = None

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, invalid_config, or undetermined where a tolerance is not described."""
        if self.fault is not None:
            return "invalid_config"
        unknown = self.unsettled or self.open or None in self.truth.values()
        return "undetermined" if unknown else "published"

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        early = without_grading(answer, self.fault)
        if early is not None:
            return early
        if not isinstance(answer, dict):
            return format_error()
        if self.unsettled is not None:
            return undetermined(self.unsettled)
        total = self._total(answer.get(TOTAL))
        if KEY not in answer:
            return self._flat(answer, total)
        older = self._older(answer)
        shares = self._shares(answer[KEY])
        fields = (_field(KEY, shares), *(() if total is None else (_field(TOTAL, total),)))
        passed = every(item.passed for item in fields)
        reason = next((item.reason for item in fields if item.reason), "")
        return verdict_of(fields, passed, tier="B", reason=reason, older=older)

    def _flat(self, answer: Mapping[str, object], total: Part | None) -> Verdict:
        """Return the verdict without the key: open if the answer itself, read flat, would pass."""
        parts = (self._shares(answer), total or Part(True))
        if every(part.passed for part in parts) is not False:
            return undetermined("flat_answer")
        return single(checked(KEY, False, mode="missing_field", older=False), older=False)

    def _shares(self, value: object) -> Part:
        """Return the outcome of all categories together."""
        if not isinstance(value, dict):
            return Part(False, "type_error")
        given: dict[str, list[object]] = {}
        for name, item in value.items():
            given.setdefault(name.lower(), []).append(item)
        groups: dict[str, list[Part]] = {}
        for name, truth in self.truth.items():
            parts = [self._share(truth, item) for item in given.get(name.lower(), [MISSING])]
            groups.setdefault(name.lower(), []).extend(parts)
        found = [_merged(parts) for parts in groups.values()]
        joined = _joined(found)
        if joined.passed is False and self._fractions(value):
            return Part(False, joined.mode, joined.edge, flags=(*joined.flags, "fractions"))
        return joined

    def _share(self, truth: Number | None, value: object) -> Part:
        if value is MISSING:
            return Part(False, "missing_field")
        reason = "truth_not_number" if truth is None else self.open.get(PERCENTAGES)
        return _compared(value, truth or 0, self.sizes.get(PERCENTAGES, 0), reason)

    def _total(self, value: object) -> Part | None:
        """Return the outcome of the total, None where either side has none."""
        if self.total is None or value is None:
            return None
        return _compared(value, self.total, self.sizes.get(TOTAL, 0), self.open.get(TOTAL))

    def _fractions(self, value: Mapping[str, object]) -> bool:
        """True when every answered number is a fraction where percentages are asked for."""
        truths = [number for number in self.truth.values() if number is not None]
        given = [to_number(item) for item in value.values() if not isinstance(item, str)]
        numbers = [number for number in given if number is not None]
        small = bool(numbers) and all(0 <= number <= 1 for number in numbers)
        return small and any(number > 1 for number in truths)

    def _older(self, answer: Mapping[str, Any]) -> bool:
        """Return what the older public grader gives: names as they stand, no text as number."""
        value = answer[KEY]
        totalled = self.total is not None and answer.get(TOTAL) is not None
        used = (PERCENTAGES, TOTAL) if totalled else (PERCENTAGES,)
        if not isinstance(value, dict) or any(self.open.get(name) in _ERRORS for name in used):
            return False
        size = self.sizes[PERCENTAGES]
        checks = [(value.get(name), truth, size) for name, truth in self.truth.items()]
        if totalled:
            checks.append((answer[TOTAL], self.total, self.sizes[TOTAL]))
        return all(
            truth is not None and isinstance(item, int | float) and met(Near(truth, size), item)
            for item, truth, size in checks
        )

    def misread(self, answer: object) -> Iterator[tuple[str, bool]]:
        """Yield each trap reading that applies, with the verdict that it gives."""
        value = answer.get(KEY) if isinstance(answer, dict) else None
        if not isinstance(value, dict) or self.rule_status != "published":
            return
        total = self._total(answer.get(TOTAL)) if isinstance(answer, dict) else None
        rest = total is None or total.passed is True
        exact = [self._share(truth, value.get(name, MISSING)) for name, truth in self.truth.items()]
        yield "categories_as_written", rest and all(part.passed is True for part in exact)
        scaled = {
            name: item * 100 if isinstance(item, int | float) else item
            for name, item in value.items()
        }
        yield (
            "rescaled_fractions",
            rest and (self._shares(scaled if self._fractions(value) else value).passed is True),
        )


def _compared(value: object, truth: Number, size: Number, open_reason: str | None) -> Part:
    """Return the outcome of one answered number; text stays open where it would pass."""
    number = to_number(value)
    if number is None:
        return Part(False, "type_error")
    tests = (Near(truth, size),)
    text = isinstance(value, str)
    edge = None if text or open_reason else edge_of(tests, number)
    flags = value_flags(value, number)
    if open_reason is not None:
        return Part(None, None, edge, open_reason, flags)
    passed = decide(tests, number)
    if passed is False:
        return Part(False, "type_error" if text else "wrong_value", edge, "", flags)
    if text or passed is None:
        return Part(None, None, edge, "text_percentage" if text else "large_integer", flags)
    return Part(True, None, edge, "", flags)


def _merged(parts: list[Part]) -> Part:
    """Return the outcome of one category; several names that fold alike must agree."""
    if len(parts) == 1:
        return parts[0]
    passed = agree(part.passed for part in parts)
    reason = "" if passed is not None else "categories_collide"
    return Part(passed, *_rest(parts, passed), reason, _flags(parts))


def _joined(parts: list[Part]) -> Part:
    passed = every(part.passed for part in parts)
    reason = next((part.reason for part in parts if part.reason), "") if passed is None else ""
    return Part(passed, *_rest(parts, passed), reason, _flags(parts))


def _rest(parts: list[Part], passed: bool | None) -> tuple[FailureMode | None, Edge | None]:
    mode = first_mode({part.mode for part in parts}) if passed is False else None
    return mode, closest_edge({part.edge for part in parts})


def _flags(parts: Iterable[Part]) -> tuple[str, ...]:
    return tuple(sorted({flag for part in parts for flag in part.flags}))


def _field(name: str, part: Part) -> FieldVerdict:
    return checked(
        name,
        part.passed,
        mode=part.mode or "wrong_value",
        edge=part.edge,
        reason=part.reason,
        flags=part.flags,
    )


def compile_config(config: object) -> DistributionRule:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return DistributionRule(fault="config_not_object")
    truth, tolerances = config.get("ground_truth", MISSING), config.get("tolerances", {})
    if not isinstance(truth, dict):
        return DistributionRule(
            unsettled="ground_truth_missing" if truth is MISSING else "ground_truth_not_object"
        )
    categories = truth.get(KEY, MISSING)
    if not isinstance(categories, dict):
        return DistributionRule(unsettled="distribution_not_object")
    if not isinstance(tolerances, dict):
        return DistributionRule(unsettled="tolerances_not_object")
    try:
        numbers = {name: _truth(value) for name, value in categories.items()}
        total = truth.get(TOTAL)
        whole = None if total is None else _truth(total)
        sizes, unknown = _sizes(tolerances)
    except ConfigFaultError as fault:
        return DistributionRule(fault=fault.reason)
    if total is None:
        unknown.pop(TOTAL, None)
    elif whole is None:
        unknown[TOTAL] = "truth_not_number"
    return DistributionRule(
        numbers, 0 if total is not None and whole is None else whole, sizes, unknown
    )


def _truth(value: object) -> Number | None:
    """Return a true number, None for what is none. Raises ConfigFaultError, truth_not_finite."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigFaultError("truth_not_finite")
    return value if isinstance(value, int | float) else None


def _sizes(tolerances: Mapping[str, object]) -> tuple[dict[str, Number], dict[str, str]]:
    """Return tolerances by name and the codes of those that no source describes.

    Raises ConfigFaultError with tolerance_nan or tolerance_negative.
    """
    sizes: dict[str, Number] = {}
    unknown: dict[str, str] = {}
    for name, default in _DEFAULTS.items():
        sizes[name] = default
        entry = tolerances.get(name, {})
        if not isinstance(entry, dict):
            unknown[name] = "tolerance_not_object"
            continue
        value = entry.get("value", default)
        if not isinstance(value, int | float):
            unknown[name] = "tolerance_not_number"
        elif isinstance(value, float) and math.isnan(value):
            raise ConfigFaultError("tolerance_nan")
        elif value < 0:
            raise ConfigFaultError("tolerance_negative")
        else:
            sizes[name] = value
        if entry.get("type", "absolute") != "absolute":
            unknown[name] = "unknown_tolerance_type"
        elif not {"lower", "upper"}.isdisjoint(entry):
            unknown[name] = "offsets_beside_value"
    return sizes, unknown
