"""Children of composite graders: typed ones are graded here, predicates cannot be.

A typed child is a grader of its own and reads the same answer. A predicate child has a `role`
(gate, hard_fail, additive) and a condition whose syntax is not published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from benchproof.grading.verdict import FieldVerdict, RuleStatus, Tier, Verdict, weakest_tier

Role = Literal["typed", "gate", "hard_fail", "additive", "unknown"]
_ROLES: Final[dict[str, Role]] = {
    "gate": "gate",
    "hard_fail": "hard_fail",
    "additive": "additive",
}


class Gradable(Protocol):
    """What a child must be able to do; see registry.Compiled."""

    @property
    def rule_status(self) -> RuleStatus:
        """What can be said of the grader object itself."""

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON value."""


CompileChild = Callable[[object, object], Gradable]


@dataclass(frozen=True, slots=True)
class Child:
    """One child by its place; `rule` is None for predicates, `mixed` marks a typed one with role."""

    place: int
    role: Role
    rule: Gradable | None = field(default=None, repr=False)
    mixed: bool = False


def is_predicate(item: object) -> bool:
    """Return whether a child has a known role and no type of its own."""
    return (
        isinstance(item, dict)
        and item.get("type") is None
        and isinstance(item.get("role"), str)
        and item["role"] in _ROLES
    )


def read(items: Sequence[object], compile_child: CompileChild) -> tuple[Child, ...]:
    """Return the children of a list, compiled."""
    return tuple(_child(place, item, compile_child) for place, item in enumerate(items))


def _child(place: int, item: object, compile_child: CompileChild) -> Child:
    if not isinstance(item, dict):
        return Child(place, "unknown")
    role = item.get("role")
    if item.get("type") is not None:
        rule = compile_child(item["type"], item.get("config"))
        return Child(place, "typed", rule, mixed=role is not None)
    return Child(place, _ROLES.get(role, "unknown") if isinstance(role, str) else "unknown")


@dataclass(frozen=True, slots=True)
class Graded:
    """The typed children's verdicts on one answer, in order."""

    places: tuple[int, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def outcomes(self) -> tuple[bool | None, ...]:
        """Return whether each passed; an invalid configuration fails where sources say so."""
        return tuple(verdict.passed for verdict in self.verdicts)

    @property
    def passing(self) -> int:
        """Return how many surely pass."""
        return self.outcomes.count(True)

    @property
    def undecided(self) -> int:
        """Return how many are open."""
        return self.outcomes.count(None)

    @property
    def invalid(self) -> Verdict | None:
        """Return the first verdict that says invalid_config."""
        return next((item for item in self.verdicts if item.status == "invalid_config"), None)

    def fields(self) -> tuple[FieldVerdict, ...]:
        """Return all children's fields, each named by the child's place and its own name."""
        return tuple(
            item
            for place, verdict in zip(self.places, self.verdicts, strict=True)
            for item in _named(place, verdict)
        )

    def tier(self, *, failing: bool) -> Tier:
        """Return the weakest tier needed: of all decided children, or of the best failing one."""
        tiers: list[Tier] = [
            verdict.tier
            for verdict in self.verdicts
            if verdict.tier is not None and (verdict.passed is False or not failing)
        ]
        if failing:
            return min(tiers, default="C")
        return weakest_tier(set(tiers)) or "C"


def grade(children: Iterable[Child], answer: object) -> Graded:
    """Return the verdicts of the typed children."""
    found = [(item.place, item.rule.grade(answer)) for item in children if item.rule is not None]
    return Graded(tuple(place for place, _ in found), tuple(verdict for _, verdict in found))


def status(children: Iterable[Child]) -> RuleStatus:
    """Return what can be said of a grader made of children."""
    known = {"undetermined" if item.rule is None else item.rule.rule_status for item in children}
    if "invalid_config" in known:
        return "invalid_config"
    return "published" if known == {"published"} else "undetermined"


def _named(place: int, verdict: Verdict) -> tuple[FieldVerdict, ...]:
    """Return a child's fields under its place; one row where it looked at none."""
    if verdict.fields:
        return tuple(replace(item, field=f"{place}.{item.field}") for item in verdict.fields)
    passed = verdict.passed
    reason = None if passed is not None else "child_undecided"
    mode = None if passed is not False else verdict.failure_mode or "wrong_value"
    tier = verdict.tier if passed is not None else None
    return (FieldVerdict(str(place), passed, mode, verdict.edge, tier, bool(passed), reason),)
