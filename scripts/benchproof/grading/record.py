"""Grade one recorded run again and compare with what was recorded.

A record is the parsed value of a `result.json`. A record of another shape is a row that says
unreadable, never an exception. Flags are fixed codes for what is odd and yet could be compared;
some of them (relative_zero_truth) tell of a graded value and belong into counts or the maintainer's
file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from benchproof.grading.composites import LIST
from benchproof.grading.numeric import NumericRule
from benchproof.grading.readings import Accumulator, Misreadable
from benchproof.grading.registry import FAMILIES, Compiled
from benchproof.grading.verdict import NO_ANSWER, Edge, FailureMode, Status, Tier, Verdict

RunStatus = Literal[Status, "rule_not_published", "unreadable", "eval_missing"]

#: Recorded and derived scores agree within this.
SCORE_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule of an evaluation that exists: a published grader, or none (`WITHHELD`).

    `named` is False for a grader without its configuration: the names of its fields are withheld.
    """

    compiled: Compiled | None = field(repr=False)
    named: bool = True

    @classmethod
    def published(cls, type: object, config: object) -> Rule:
        """Return the rule of a grader's type and config; compile once, regrade many runs."""
        return cls(FAMILIES.compile(type, config))


WITHHELD: Final = Rule(None)


def published_rule(evaluation: Mapping[str, object]) -> tuple[str | None, Rule]:
    """Return the grader type that a parsed evaluation states, and its rule.

    `grader` goes before `graders`, which is a rule of its own kind; with neither, or with an empty
    list, the rule is withheld.
    """
    if "grader" in evaluation:
        stated = evaluation["grader"]
        grader = stated if isinstance(stated, dict) else {}
        kind = grader.get("type")
        rule = replace(Rule.published(kind, grader.get("config")), named=bool(grader.get("config")))
        return kind if isinstance(kind, str) else None, rule
    if evaluation.get("graders"):
        return LIST, Rule.published(LIST, evaluation["graders"])
    return None, WITHHELD


@dataclass(frozen=True, slots=True)
class FieldResult:
    """One field, recorded and derived; None where that side has no pass or fail of it."""

    field: str
    recorded_pass: bool | None
    derived_pass: bool | None
    failure_mode: FailureMode | None


@dataclass(frozen=True, slots=True)
class RunResult:
    """One run, recorded and derived.

    `passed_agrees`, `score_agrees` and `fields_agree` are None where either side has nothing to
    compare, and always unless `status` is graded. `reason` is a fixed code, None for graded runs.
    `grader_version` is None when not recorded. `fields` is empty where the rule is not published.
    """

    status: RunStatus
    reason: str | None = None
    recorded_passed: bool | None = None
    derived_passed: bool | None = None
    recorded_score: float | None = None
    derived_score: float | None = None
    passed_agrees: bool | None = None
    score_agrees: bool | None = None
    fields_agree: bool | None = None
    failure_mode: FailureMode | None = None
    edge: Edge | None = None
    tier: Tier | None = None
    contested: bool | None = None
    fields: tuple[FieldResult, ...] = ()
    grader_version: str | None = None
    flags: tuple[str, ...] = ()


_UNREADABLE: Final = RunResult("unreadable", "record_shape")


@dataclass(frozen=True, slots=True, repr=False)
class _Recorded:
    """What a record says, with its types checked."""

    answer: object
    passed: bool | None
    score: float | None
    field_scores: Mapping[str, object] | None
    version: str | None
    flags: tuple[str, ...]


def regrade(rule: Rule | None, record: object, readings: Accumulator | None = None) -> RunResult:
    """Return a recorded run compared with the rule; `rule` is None when the eval is missing.

    A graded run is added to `readings` when that is given. Never raises.
    """
    recorded = _recorded(record)
    if recorded is None:
        return _UNREADABLE
    if rule is None:
        return _ungraded(recorded, "eval_missing", "eval_missing")
    if rule.compiled is None:
        return _ungraded(recorded, "rule_not_published", "no_grader")
    verdict = rule.compiled.grade(recorded.answer)
    status = verdict.status
    if status == "arithmetic":
        return _ungraded(recorded, "rule_undetermined", "arithmetic_alone")
    if readings is not None and isinstance(rule.compiled, NumericRule | Misreadable):
        readings.add(rule.compiled, recorded.answer, verdict)
    return _compared(recorded, verdict, status, named=rule.named)


def _ungraded(recorded: _Recorded, status: RunStatus, reason: str) -> RunResult:
    return RunResult(
        status,
        reason,
        recorded_passed=recorded.passed,
        recorded_score=recorded.score,
        grader_version=recorded.version,
        flags=recorded.flags,
    )


def _compared(recorded: _Recorded, verdict: Verdict, status: Status, *, named: bool) -> RunResult:
    graded = status == "graded"
    return RunResult(
        status,
        verdict.reason and verdict.reason.partition(":")[0],
        recorded.passed,
        verdict.passed,
        recorded.score,
        verdict.score,
        recorded.passed is verdict.passed if graded and recorded.passed is not None else None,
        _scores_agree(recorded.score, verdict.score) if graded else None,
        _fields_agree(recorded.field_scores, verdict.field_scores) if graded else None,
        verdict.failure_mode,
        verdict.edge,
        verdict.tier,
        verdict.contested if graded else None,
        () if status == "no_submission" or not named else _field_results(recorded, verdict),
        recorded.version,
        tuple(sorted({*recorded.flags, *verdict.flags})) if verdict.flags else recorded.flags,
    )


def _scores_agree(recorded: float | None, derived: float | None) -> bool | None:
    if recorded is None or derived is None:
        return None
    return abs(recorded - derived) <= SCORE_TOLERANCE


def _fields_agree(
    recorded: Mapping[str, object] | None, derived: Mapping[str, float | None] | None
) -> bool | None:
    """Return whether names and values agree; None if some cannot be compared."""
    if recorded is None or derived is None:
        return None
    if recorded.keys() != derived.keys():
        return False
    settled = True
    for name, score in derived.items():
        if score is None:
            settled = False
        elif not _is_number(recorded[name]) or recorded[name] != score:
            return False
    return True if settled else None


def _field_results(recorded: _Recorded, verdict: Verdict) -> tuple[FieldResult, ...]:
    """Return one row per field name that either side knows, sorted by name."""
    scores = recorded.field_scores or {}
    derived = {item.field: item for item in verdict.fields}
    found = []
    for name in sorted({*scores, *derived}):
        mine = derived.get(name)
        passed, mode = (None, None) if mine is None else (mine.passed, mine.failure_mode)
        found.append(FieldResult(name, _recorded_pass(scores.get(name)), passed, mode))
    return tuple(found)


def _recorded_pass(score: object) -> bool | None:
    return score == 1.0 if _is_number(score) else None


def _recorded(record: object) -> _Recorded | None:
    """Return what a record says, None when it has another shape than every published one."""
    result = record.get("result") if isinstance(record, dict) else None
    if not isinstance(record, dict) or not isinstance(result, dict):
        return None
    inner = result.get("grader_result")
    if result.keys().isdisjoint(("agent_answer", "grader_result", "passed")):
        return None
    if not isinstance(inner, dict | None):
        return None
    return _parts(record.get("latch_eval_tools_version"), result, inner)


def _parts(
    version: object, result: Mapping[str, object], inner: Mapping[str, object] | None
) -> _Recorded | None:
    graded = inner or {}
    passed, inner_passed = result.get("passed"), graded.get("passed")
    fields = graded.get("field_scores")
    if not isinstance(version, str | None) or not isinstance(fields, dict | None):
        return None
    if not isinstance(passed, bool | None) or not isinstance(inner_passed, bool | None):
        return None
    outer_answer, inner_answer = result.get("agent_answer"), graded.get("agent_answer")
    answer = inner_answer if outer_answer is None else outer_answer
    score, score_flag = _score(graded.get("score"))
    flags = [
        *score_flag,
        *_verdict_flags(passed, inner_passed, submitted=answer is not None),
        *_field_flags(fields, expected=passed is not None and answer is not None),
    ]
    if inner is not None and not same_value(outer_answer, inner_answer):
        flags.append("answer_differs")
    submitted = NO_ANSWER if answer is None else answer
    return _Recorded(submitted, passed, score, fields, version, tuple(sorted(flags)))


def _verdict_flags(passed: object, inner_passed: object, *, submitted: bool) -> list[str]:
    flags = []
    if passed is not inner_passed:
        flags.append("record_contradicts_itself")
    if submitted and passed is None:
        flags.append("verdict_missing")
    if not submitted and not (passed is None and inner_passed is None):
        flags.append("verdict_without_answer")
    return flags


def _field_flags(fields: Mapping[str, object] | None, *, expected: bool) -> list[str]:
    if fields is None:
        return ["field_scores_missing"] if expected else []
    binary = all(_is_number(score) and score in (0, 1) for score in fields.values())
    return [] if binary else ["field_score_not_binary"]


def _score(score: object) -> tuple[float | None, tuple[str, ...]]:
    """Return a recorded score as a finite float and the flag of one that is none."""
    if score is None:
        return None, ()
    if not isinstance(score, int | float) or isinstance(score, bool):
        return None, ("score_not_number",)
    try:
        number = float(score)
    except OverflowError:
        number = math.inf
    return (number, ()) if math.isfinite(number) else (None, ("score_not_finite",))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def same_value(left: object, right: object) -> bool:
    """Return whether two JSON values are equal; NaN equals NaN here, and no depth is too deep."""
    try:
        if left == right:
            return True
    except RecursionError:
        pass
    pairs = [(left, right)]
    while pairs:
        one, two = pairs.pop()
        if isinstance(one, dict) and isinstance(two, dict):
            if one.keys() != two.keys():
                return False
            pairs.extend((one[key], two[key]) for key in one)
        elif isinstance(one, list) and isinstance(two, list):
            if len(one) != len(two):
                return False
            pairs.extend(zip(one, two, strict=True))
        elif one != two and not (_is_nan(one) and _is_nan(two)):
            return False
    return True


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
