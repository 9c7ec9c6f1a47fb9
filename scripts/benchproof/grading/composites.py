"""Graders made of graders: all_of (alias composite), average_of, and a list under `graders`.

Sources are the README of the grader library and inference. An open child decides nothing here: the
verdict stands only if it would be the same whatever the child says. The older public grader knows
none of these types, so nothing is contested.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from benchproof.grading import children
from benchproof.grading.children import Child, CompileChild, Graded
from benchproof.grading.comparisons import Number
from benchproof.grading.outcomes import MISSING, agree, binary, undetermined, verdict_of
from benchproof.grading.verdict import RuleStatus, Tier, Verdict, no_submission

#: Graders' type for a list of them under `graders`.
LIST: Final = "graders[]"
_OPEN_PREDICATE: Final = "predicate_not_published"
_OPEN_CHILD: Final = "child_undecided"


def _invalid(reason: str, tier: Tier) -> Verdict:
    """Return the outcome of an invalid configuration: passed false, score 0."""
    return Verdict("invalid_config", False, 0.0, reason=reason, tier=tier)


@dataclass(frozen=True, slots=True, eq=False)
class AllOf:
    """Every typed child and every gate must pass, and no hard fail may hit."""

    children: tuple[Child, ...] = ()
    fault: str | None = None
    tier: Tier = "A"

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, undetermined with an open child, or invalid_config."""
        return "invalid_config" if self.fault is not None else children.status(self.children)

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        nothing = no_submission(answer)
        if nothing is not None:
            return nothing
        if self.fault is not None:
            return _invalid(self.fault, self.tier)
        found = children.grade(self.children, answer)
        if False in found.outcomes:
            return self._failed(found)
        if found.invalid is not None:
            return Verdict("invalid_config", reason=found.invalid.reason)
        predicates = any(item.rule is None for item in self.children)
        passed = None if predicates or found.undecided else True
        reason = _OPEN_CHILD if found.undecided else _OPEN_PREDICATE
        tier = found.tier(failing=False)
        fields = found.fields()
        return verdict_of(fields, passed, tier=tier, reason=reason, score=binary(passed))

    def _failed(self, found: Graded) -> Verdict:
        """Return the failure that one surely failing child decides."""
        invalid = found.invalid
        if invalid is not None and invalid.passed is False and invalid.tier is not None:
            return _invalid(invalid.reason or "", invalid.tier)
        tier = found.tier(failing=True)
        return verdict_of(found.fields(), False, tier=tier, reason="", score=0.0)


def compile_all_of(config: object, compile_child: CompileChild) -> AllOf:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return AllOf(fault="config_not_object")
    if config.get("pass_rule", "all") != "all":
        return AllOf(fault="pass_rule_not_all")
    read = _children(config, compile_child)
    if isinstance(read, str):
        return AllOf(fault=read)
    if any(item.role == "additive" for item in read):
        return AllOf(fault="additive_child")
    return AllOf(read)


@dataclass(frozen=True, slots=True, eq=False)
class AverageOf:
    """The mean of the children's scores; `passed` by one of three rules."""

    children: tuple[Child, ...] = ()
    pass_rule: str = "all"
    needed: Number = field(default=math.inf, repr=False)
    fault: str | None = None
    tier: Tier = "A"
    unsettled: str | None = None

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, undetermined where the pass rule leaves room, or invalid_config."""
        if self.fault is not None:
            return "invalid_config"
        status = children.status(self.children)
        open_rule = self.unsettled is not None or self.pass_rule == "score_threshold"
        return "undetermined" if open_rule and status == "published" else status

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        nothing = no_submission(answer)
        if nothing is not None:
            return nothing
        if self.fault is not None:
            return _invalid(self.fault, self.tier)
        found = children.grade(self.children, answer)
        invalid = found.invalid
        if invalid is not None:
            return (
                _invalid(invalid.reason or "", invalid.tier or "C")
                if (invalid.passed is False)
                else Verdict("invalid_config", reason=invalid.reason)
            )
        predicates = [item.role for item in self.children if item.rule is None]
        score = None if predicates else _mean(item.score for item in found.verdicts)
        if self.unsettled is not None:
            return undetermined(self.unsettled, score)
        possible = self._possible(found, predicates)
        passed = False if possible == {False} else None if predicates else agree(possible)
        reason = (
            _OPEN_PREDICATE
            if predicates
            else (
                "score_threshold_readings"
                if self.pass_rule == "score_threshold" and not found.undecided
                else _OPEN_CHILD
            )
        )
        tier = found.tier(failing=False)
        return verdict_of(found.fields(), passed, tier=tier, reason=reason, score=score)

    def _possible(self, found: Graded, predicates: Sequence[str]) -> set[bool]:
        """Return the outcomes of the pass rule over everything that is open."""
        if self.pass_rule == "all":
            return {
                False not in found.outcomes,
                False not in found.outcomes and not found.undecided,
            }
        counted = sum(role in ("gate", "additive", "unknown") for role in predicates)
        if self.pass_rule == "min_passing":
            most = found.passing + found.undecided + counted
            return {found.passing >= self.needed, most >= self.needed}
        if any(role in ("additive", "unknown") for role in predicates):
            return {True, False}
        return self._by_score(found, counted)

    def _by_score(self, found: Graded, counted: int) -> set[bool]:
        """Return the outcomes for the raw sum and the mean, reached or exceeded."""
        known = [item.score for item in found.verdicts if item.score is not None]
        unknown = len(found.verdicts) - len(known) + counted
        number = len(found.verdicts)
        return {
            outcome
            for total, size in (
                (sum(known), number + counted),
                (sum(known), number),
                (sum(known) + unknown, number),
                (sum(known) + unknown, number + counted),
            )
            if size  # nothing but predicates: no mean over typed children
            for score in (total, total / size)
            for outcome in (score >= self.needed, score > self.needed)
        }


def compile_average_of(config: object, compile_child: CompileChild) -> AverageOf:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return AverageOf(fault="config_not_object")
    read = _children(config, compile_child)
    if isinstance(read, str):
        return AverageOf(fault=read, tier="A" if read == "typed_child_with_role" else "C")
    rule = config.get("pass_rule", "all")
    if rule == "all":
        return AverageOf(read)
    if rule not in ("min_passing", "score_threshold"):
        return AverageOf(read, unsettled="unknown_pass_rule")
    needed = config.get("min_passing_children" if rule == "min_passing" else "score_threshold")
    if not isinstance(needed, int | float) or isinstance(needed, bool) or needed != needed:
        return AverageOf(read, rule, unsettled="pass_rule_without_number")
    return AverageOf(read, rule, needed)


def _children(config: Mapping[str, object], compile_child: CompileChild) -> tuple[Child, ...] | str:
    """Return the children, or the code of what makes them an invalid configuration."""
    items = config.get("children", MISSING)
    if not isinstance(items, list):
        return "children_missing" if items is MISSING else "children_not_list"
    if not items:
        return "children_empty"
    found = children.read(items, compile_child)
    if any(item.mixed for item in found):
        return "typed_child_with_role"
    if all(item.role == "hard_fail" for item in found):
        return "hard_fail_only"
    return found


@dataclass(frozen=True, slots=True, eq=False)
class GraderList:
    """A list under `graders`: scores are averaged; how it passes is not published.

    Only a list whose graders agree is graded.
    """

    children: tuple[Child, ...] = ()
    unsettled: str | None = None

    @property
    def rule_status(self) -> RuleStatus:
        """Return invalid_config, published for a single grader, undetermined for several."""
        status = children.status(self.children)
        single = len(self.children) == 1 or status == "invalid_config"
        return status if self.unsettled is None and single else "undetermined"

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        nothing = no_submission(answer)
        if nothing is not None:
            return nothing
        if self.unsettled is not None:
            return undetermined(self.unsettled)
        found = children.grade(self.children, answer)
        if found.invalid is not None and agree(found.outcomes) is None:
            return Verdict("invalid_config", reason=found.invalid.reason)
        passed = agree(found.outcomes) if len(found.outcomes) == len(self.children) else None
        score = _mean(item.score for item in found.verdicts)
        reason = _OPEN_CHILD if found.undecided else "graders_disagree"
        return verdict_of(found.fields(), passed, tier="C", reason=reason, score=score)


def compile_list(config: object, compile_child: CompileChild) -> GraderList:
    """Return the compiled rule of a `graders` value, or of an object that holds it."""
    items = config.get("graders") if isinstance(config, dict) else config
    if not isinstance(items, list):
        return GraderList(unsettled="graders_not_list")
    if not items:
        return GraderList(unsettled="graders_empty")
    return GraderList(children.read(items, compile_child))


def _mean(scores: Iterable[float | None]) -> float | None:
    """Return sum over number, each child's highest score being 1; None if one is unknown."""
    given = list(scores)
    known = [score for score in given if score is not None]
    return sum(known) / len(known) if known and len(known) == len(given) else None
