"""Thresholds of a configuration, in every reading that public sources admit.

The older public grader looks in one place and takes what it finds there. Published evaluations have
put the same names elsewhere, so misplaced thresholds are further readings: in their place instead
of the right one, and on top of it. None stands for a threshold that nothing meets: what a grader
does that stops with an error at a value it cannot compare.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from benchproof.grading.comparisons import AtLeast, AtMost, Comparison, Number, edge_of
from benchproof.grading.numeric_config import ConfigFaultError
from benchproof.grading.outcomes import MISSING
from benchproof.grading.verdict import Edge

Limit = Number | None


@dataclass(frozen=True, slots=True, repr=False)
class Thresholds:
    """All readings of a configuration's thresholds, each one limit per name.

    `older` is what the older public grader compares with. `readings` is empty where some threshold
    has no closed list of readings, and then `reason` says why; it also is the code for readings
    that differ.
    """

    readings: tuple[tuple[Limit, ...], ...]
    older: tuple[Limit, ...]
    reason: str = "threshold_place"

    @property
    def settled(self) -> bool:
        """True when there is exactly one reading."""
        return len(self.readings) == 1


def met(limit: Limit, score: Number) -> bool:
    """Return whether a score reaches a limit."""
    return limit is not None and score >= limit


def within(limit: Limit, score: Number) -> bool:
    """Return whether a score stays within an upper limit."""
    return limit is not None and score <= limit


def edge(limits: Iterable[Limit], score: Number, *, upper: bool = False) -> Edge | None:
    """Return how close a score is to the closest limit, None where there is nothing to compare."""
    form: type[AtMost | AtLeast] = AtMost if upper else AtLeast
    tests: list[Comparison] = [form(limit) for limit in set(limits) if limit is not None]
    return edge_of(tests, score) if tests else None


def read(config: Mapping[str, object], names: Mapping[str, Number]) -> Thresholds:
    """Return the thresholds under `scoring.pass_thresholds`; `names` gives their defaults.

    Raises ConfigFaultError with threshold_nan.
    """
    scoring = config.get("scoring", {})
    inner = scoring.get("pass_thresholds", {}) if isinstance(scoring, dict) else None
    if not isinstance(inner, dict):
        return Thresholds((), (None,) * len(names), "scoring_not_object")
    places = [inner]
    for other in (config.get("pass_thresholds"), scoring, config):
        if isinstance(other, dict) and not names.keys().isdisjoint(other):
            places += [other, {**inner, **other}]
    return _of(places, [{name: name for name in names}] * len(places), names)


def read_single(
    config: Mapping[str, object], name: str, default: Number, aliases: tuple[str, ...]
) -> Thresholds:
    """Return the one threshold under `scoring`; `aliases` are other names for it.

    Raises ConfigFaultError with threshold_nan.
    """
    scoring = config.get("scoring", {})
    if not isinstance(scoring, dict):
        return Thresholds((), (None,), "scoring_not_object")
    places, keys = [scoring], [{name: name}]
    for place in (scoring, config):
        for other in (*aliases, name):
            if other in place and not (place is scoring and other == name):
                places.append(dict(place))
                keys.append({name: other})
    return _of(places, keys, {name: default})


def _of(
    places: list[dict[str, object]], keys: list[dict[str, str]], names: Mapping[str, Number]
) -> Thresholds:
    found: dict[tuple[Limit, ...], None] = {}
    reason, older = "threshold_place", None
    for place, known in zip(places, keys, strict=True):
        sides = [_limits(place.get(known[name], MISSING), names[name]) for name in names]
        older = older or tuple(_older(place.get(known[name], names[name])) for name in names)
        if any(len(side) != 1 for side in sides):
            reason = "threshold_not_number"
        if any(not side for side in sides):
            return Thresholds((), older, reason)
        found.update(dict.fromkeys(itertools.product(*sides)))
    return Thresholds(tuple(found), older or (), reason)


def _limits(value: object, default: Number) -> tuple[Limit, ...]:
    """Return the readings of one threshold; none where no list of them is closed."""
    if value is MISSING:
        return (default,)
    if isinstance(value, bool):
        return (int(value), None)
    if isinstance(value, int | float):
        _refuse_nan(value)
        return (value,)
    if value is None:
        return (default, None)
    number = _from_text(value)
    return () if number is None else (number, None)


def _from_text(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _older(value: object) -> Limit:
    """Return what the older grader compares with: numbers as they are, others end in an error."""
    return value if isinstance(value, int | float) else None


def _refuse_nan(value: Number) -> None:
    if isinstance(value, float) and math.isnan(value):
        raise ConfigFaultError("threshold_nan")


def outcomes(thresholds: Thresholds, *scores: Number) -> Iterator[bool]:
    """Yield for each reading whether every score reaches its limit."""
    for limits in thresholds.readings:
        yield all(met(limit, score) for limit, score in zip(limits, scores, strict=True))
