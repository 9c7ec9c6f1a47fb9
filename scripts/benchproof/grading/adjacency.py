"""spatial_adjacency: two distances, two percentages and the agent's own flag.

Configuration: four bounds under `scoring.pass_thresholds`. The rule is the older public grader's,
its only source: all five keys are required, bounds are inclusive, numbers must be numbers. A flag
that is true without being a boolean leaks into that grader's verdict, so it stays open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from benchproof.grading import thresholds
from benchproof.grading.comparisons import Number
from benchproof.grading.numeric_config import ConfigFaultError
from benchproof.grading.outcomes import agree, checked, format_error, verdict_of
from benchproof.grading.thresholds import Thresholds
from benchproof.grading.verdict import FieldVerdict, RuleStatus, Verdict, without_grading

FLAG: Final = "adjacency_pass"
#: Answer key: name of its bound, default, and whether the bound is an upper one.
BOUNDS: Final[dict[str, tuple[str, Number, bool]]] = {
    "median_ic_to_pc_um": ("max_median_ic_to_pc_um", 25.0, True),
    "p90_ic_to_pc_um": ("max_p90_ic_to_pc_um", 80.0, True),
    "pct_ic_within_15um": ("min_pct_ic_within_15um", 60.0, False),
    "pct_ic_mixed_within_55um": ("min_pct_ic_mixed_within_55um", 60.0, False),
}
_NOTHING: Final = Thresholds((), (None,) * len(BOUNDS))


@dataclass(frozen=True, slots=True, eq=False)
class AdjacencyRule:
    """A compiled configuration."""

    limits: Thresholds = field(default=_NOTHING, repr=False)
    fault: str | None = None

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, invalid_config, or undetermined where thresholds may differ."""
        if self.fault is not None:
            return "invalid_config"
        return "published" if self.limits.settled else "undetermined"

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        early = without_grading(answer, self.fault)
        if early is not None:
            return early
        if not isinstance(answer, dict):
            return format_error()
        missing = [name for name in (*BOUNDS, FLAG) if name not in answer]
        if missing:
            fields = tuple(checked(name, False, mode="missing_field") for name in missing)
            return verdict_of(fields, False, tier="B", reason="")
        return self._judged(answer)

    def _judged(self, answer: Mapping[str, object]) -> Verdict:
        found = [self._field(place, name, answer[name]) for place, name in enumerate(BOUNDS)]
        flag = _flag(answer[FLAG])
        fields = (*(item for item, _ in found), flag)
        joint = [all(outcomes) for outcomes in zip(*(said for _, said in found), strict=True)]
        bounds = agree(joint)
        if any(item.failure_mode == "type_error" for item, _ in found):
            bounds = False
        passed = (
            False if False in (bounds, flag.passed) else True if bounds and flag.passed else None
        )
        reason = self.limits.reason if bounds is None else flag.reason or ""
        return verdict_of(fields, passed, tier="B", reason=reason)

    def _field(self, place: int, name: str, value: object) -> tuple[FieldVerdict, list[bool]]:
        """Return a number's verdict and what each reading of the bounds says of it."""
        upper = BOUNDS[name][2]
        limits = [limits[place] for limits in self.limits.readings]
        if not isinstance(value, int | float):
            return checked(name, False, mode="type_error"), [False] * len(limits)
        compare = thresholds.within if upper else thresholds.met
        said = [compare(limit, value) for limit in limits]
        edge = thresholds.edge(limits, value, upper=upper)
        return checked(name, agree(said), edge=edge, reason=self.limits.reason), said


def _flag(value: object) -> FieldVerdict:
    if value is True or not value:
        return checked(FLAG, value is True)
    return checked(FLAG, None, reason="flag_not_boolean")


def compile_config(config: object) -> AdjacencyRule:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return AdjacencyRule(fault="config_not_object")
    names = {name: default for name, default, _ in BOUNDS.values()}
    try:
        return AdjacencyRule(thresholds.read(config, names))
    except ConfigFaultError as fault:
        return AdjacencyRule(fault=fault.reason)
