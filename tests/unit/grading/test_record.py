"""Recorded runs graded again and compared; every value here is invented."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest

from benchproof.grading.readings import Accumulator
from benchproof.grading.record import (
    WITHHELD,
    FieldResult,
    Rule,
    published_rule,
    regrade,
    same_value,
)

CONFIG: dict[str, Any] = {
    "ground_truth": {"b": 20, "a": 10},
    "tolerances": {
        "a": {"type": "absolute", "value": 1},
        "b": {"type": "absolute", "value": 2},
    },
}
RULE = Rule.published("numeric_tolerance", CONFIG)


def record(answer: Any, *, passed: Any, score: Any = 0.5, fields: Any = None) -> dict[str, Any]:
    """A record in the published shape."""
    return {
        "task": "toy",
        "trial_index": 1,
        "latch_eval_tools_version": "0.3.8",
        "result": {
            "agent_answer": answer,
            "passed": passed,
            "metadata": {},
            "test_id": "toy",
            "grader_result": {
                "agent_answer": copy.deepcopy(answer),
                "field_scores": fields,
                "metrics": {},
                "passed": passed,
                "reasoning": "",
                "score": score,
            },
        },
    }


def good() -> dict[str, Any]:
    """A run that fails one field, recorded rightly."""
    return record({"a": 11, "b": 17}, passed=False, fields={"a": 1.0, "b": 0.0})


def nothing() -> dict[str, Any]:
    """A run that submitted nothing."""
    return {"result": {"agent_answer": None, "grader_result": None, "passed": None}}


def test_a_record_that_agrees() -> None:
    """Verdict, score and fields agree; fields come sorted by name."""
    found = regrade(RULE, good())
    assert (found.status, found.reason) == ("graded", None)
    assert (found.recorded_passed, found.derived_passed, found.passed_agrees) == (
        False,
        False,
        True,
    )
    assert (found.recorded_score, found.derived_score, found.score_agrees) == (0.5, 0.5, True)
    assert found.fields_agree is True
    assert found.fields == (
        FieldResult("a", True, True, None),
        FieldResult("b", False, False, "wrong_value"),
    )
    assert (found.failure_mode, found.edge, found.tier) == ("wrong_value", "on_bound", "A")
    assert (found.contested, found.grader_version, found.flags) == (False, "0.3.8", ())


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"passed": True}, {"passed_agrees": False, "flags": ("record_contradicts_itself",)}),
        ({"score": 1.0}, {"score_agrees": False, "fields_agree": True}),
        ({"score": 0.5 + 9e-10}, {"score_agrees": True}),
        ({"score": 0.5 + 2e-9}, {"score_agrees": False}),
        ({"score": None}, {"score_agrees": None, "recorded_score": None, "flags": ()}),
        ({"score": math.nan}, {"recorded_score": None, "flags": ("score_not_finite",)}),
        ({"score": math.inf}, {"recorded_score": None, "flags": ("score_not_finite",)}),
        ({"score": 10**400}, {"recorded_score": None, "flags": ("score_not_finite",)}),
        ({"score": "0.5"}, {"score_agrees": None, "flags": ("score_not_number",)}),
        ({"score": True}, {"recorded_score": None, "flags": ("score_not_number",)}),
        ({"field_scores": {"a": 1, "b": 0}}, {"fields_agree": True, "flags": ()}),
        ({"field_scores": {"a": 1.0}}, {"fields_agree": False}),
        ({"field_scores": {"a": 1.0, "b": 0.0, "z": 1.0}}, {"fields_agree": False}),
        ({"field_scores": {"a": 1.0, "b": 1.0}}, {"fields_agree": False}),
        ({"field_scores": {}}, {"fields_agree": False}),
        ({"field_scores": None}, {"fields_agree": None, "flags": ("field_scores_missing",)}),
        (
            {"field_scores": {"a": 1.0, "b": "0"}},
            {"fields_agree": False, "flags": ("field_score_not_binary",)},
        ),
        ({"field_scores": {"a": 0.5, "b": 0.0}}, {"flags": ("field_score_not_binary",)}),
        ({"field_scores": {"a": True, "b": 0.0}}, {"flags": ("field_score_not_binary",)}),
        ({"agent_answer": {"a": 11}}, {"flags": ("answer_differs",), "fields_agree": True}),
        ({"agent_answer": {"a": 11.0, "b": 17}}, {"flags": ()}),
    ],
)
def test_a_record_that_differs(change: dict[str, Any], expected: dict[str, Any]) -> None:
    """What differs or is odd shows in its own column or flag, and stops nothing."""
    given = good()
    given["result"]["grader_result"].update(change)
    if "passed" in change:
        given["result"]["passed"] = change["passed"]
        given["result"]["grader_result"]["passed"] = False
    found = regrade(RULE, given)
    assert found.status == "graded"
    assert {name: getattr(found, name) for name in expected} == expected


def test_field_rows_are_the_union() -> None:
    """A field that one side alone knows has a row; its other half is None."""
    given = record({"a": 11}, passed=False, fields={"a": 0.5, "z": 1.0, "b": "x"})
    assert regrade(RULE, given).fields == (
        FieldResult("a", False, True, None),
        FieldResult("b", None, False, "missing_field"),
        FieldResult("z", True, None, None),
    )


def test_nothing_submitted() -> None:
    """No answer and no grading: no submission, with the verdict as recorded and no field."""
    found = regrade(RULE, nothing())
    assert (found.status, found.reason, found.fields) == ("no_submission", "absent", ())
    assert (found.recorded_passed, found.passed_agrees, found.flags) == (None, None, ())
    given = nothing()
    given["result"]["passed"] = False
    found = regrade(RULE, given)
    assert (found.status, found.recorded_passed) == ("no_submission", False)
    assert found.flags == ("record_contradicts_itself", "verdict_without_answer")
    assert regrade(WITHHELD, nothing()).status == "rule_not_published"
    assert regrade(None, nothing()).status == "eval_missing"
    del given["result"]["agent_answer"]
    assert regrade(RULE, given).status == "no_submission"
    given = record(None, passed=False, score=0.0, fields={"a": 0.0, "b": 0.0})
    found = regrade(RULE, given)
    assert (found.status, found.fields) == ("no_submission", ())
    assert (found.recorded_passed, found.flags) == (False, ("verdict_without_answer",))
    for key in ("agent_answer", "grader_result", "passed"):
        assert regrade(RULE, {"result": {key: None}}).status == "no_submission"


def test_answer_without_grading() -> None:
    """An answer that was never graded is graded here, with nothing to compare."""
    given = good()
    given["result"].update(grader_result=None, passed=None)
    found = regrade(RULE, given)
    assert (found.status, found.derived_passed, found.derived_score) == ("graded", False, 0.5)
    assert (found.passed_agrees, found.score_agrees, found.fields_agree) == (None, None, None)
    assert found.flags == ("verdict_missing",)
    assert found.fields[0] == FieldResult("a", None, True, None)


def test_answer_in_the_grading_alone() -> None:
    """Where only the grading holds the answer, that one is graded and the difference flagged."""
    given = good()
    given["result"]["agent_answer"] = None
    found = regrade(RULE, given)
    assert (found.status, found.passed_agrees, found.flags) == ("graded", True, ("answer_differs",))


def test_withheld_and_missing_rules() -> None:
    """Without a rule the record is kept, and no field name is given away."""
    for rule, status, reason in (
        (WITHHELD, "rule_not_published", "no_grader"),
        (None, "eval_missing", "eval_missing"),
    ):
        found = regrade(rule, good())
        assert (found.status, found.reason, found.fields) == (status, reason, ())
        assert (found.recorded_passed, found.recorded_score) == (False, 0.5)
        assert (found.derived_passed, found.passed_agrees, found.fields_agree) == (None, None, None)
        assert (found.contested, found.edge, found.grader_version) == (None, None, "0.3.8")


@pytest.mark.parametrize(
    ("kind", "config", "status", "reason"),
    [
        ("finished_file", None, "invalid_config", "config_not_object"),
        ("numeric_tolerence", {}, "rule_undetermined", "unknown_type"),
        ("rubric_length_penalty", None, "rule_undetermined", "reward_missing"),
        ("list_match", {}, "rule_undetermined", "named_without_rule"),
        (
            "numeric_tolerance",
            {"ground_truth": {"a": math.nan}},
            "invalid_config",
            "truth_not_finite",
        ),
        (
            "numeric_tolerance",
            {"ground_truth": {"a": "1"}},
            "rule_undetermined",
            "truth_not_number",
        ),
    ],
)
def test_rules_that_give_no_verdict(kind: str, config: Any, status: str, reason: str) -> None:
    """No verdict, nothing agrees or disagrees; the reason is a fixed code; recorded fields stay."""
    found = regrade(Rule.published(kind, config), good())
    assert (found.status, found.reason) == (status, reason)
    assert (found.derived_passed, found.passed_agrees, found.score_agrees) == (None, None, None)
    assert (found.fields_agree, found.contested) == (None, None)
    assert [(item.field, item.recorded_pass) for item in found.fields] == [
        ("a", True),
        ("b", False),
    ]


def test_open_field_in_a_failed_run() -> None:
    """Fields that cannot all be compared do not agree, unless one that can be differs."""
    config = {"ground_truth": {"a": 1, "b": 20}, "tolerances": {"a": {"type": "percent"}}}
    rule = Rule.published("numeric_tolerance", config)
    found = regrade(rule, record({"a": 1, "b": 9}, passed=False, fields={"a": 1.0, "b": 0.0}))
    assert (found.status, found.passed_agrees, found.score_agrees) == ("graded", True, None)
    assert found.fields_agree is None
    found = regrade(rule, record({"a": 1, "b": 9}, passed=False, fields={"a": 1.0, "b": 1.0}))
    assert found.fields_agree is False


def test_format_error() -> None:
    """An answer that is no object fails; there are no fields to compare."""
    found = regrade(RULE, record([10, 20], passed=False, score=0.0, fields={}))
    assert (found.status, found.failure_mode, found.passed_agrees) == (
        "graded",
        "format_error",
        True,
    )
    assert (found.derived_score, found.score_agrees, found.fields_agree) == (None, None, None)


def test_flags_of_odd_answers() -> None:
    """Odd answers and a zero truth are flagged beside what the record says of itself."""
    config = {"ground_truth": {"a": 1, "b": 0}, "tolerances": {"b": {"type": "relative"}}}
    rule = Rule.published("numeric_tolerance", config)
    given = record({"a": True, "b": " 0 "}, passed=False, fields={"a": 1.0, "b": 0.0})
    given["result"]["grader_result"]["passed"] = True
    assert regrade(rule, given).flags == (
        "boolean_answer",
        "record_contradicts_itself",
        "relative_zero_truth",
        "text_number",
    )


def test_version_not_recorded() -> None:
    """An absent key is 'not recorded'."""
    given = good()
    del given["latch_eval_tools_version"]
    assert regrade(RULE, given).grader_version is None
    given["latch_eval_tools_version"] = None
    assert regrade(RULE, given).grader_version is None


def _malformed() -> list[Any]:
    found: list[Any] = [None, 5, "x", [], {}, {"result": None}, {"result": []}, {"result": {}}]
    wrong: tuple[tuple[tuple[str, ...], tuple[Any, ...]], ...] = (
        (("result",), (None, [1], "x", 3)),
        (("latch_eval_tools_version",), (3, [], {})),
        (("result", "passed"), (0, 1, "true", [], {})),
        (("result", "grader_result"), ([], "x", 1, False)),
        (("result", "grader_result", "passed"), (0, "true", [])),
        (("result", "grader_result", "field_scores"), ([], "x", 1, False)),
    )
    for path, values in wrong:
        for value in values:
            given: Any = good()
            inner = given
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            found.append(given)
    return found


@pytest.mark.parametrize("given", _malformed(), ids=lambda given: str(type(given).__name__))
def test_malformed_records(given: Any) -> None:
    """A wrong type anywhere that matters makes the record unreadable, whatever the rule."""
    for rule in (RULE, WITHHELD, None):
        found = regrade(rule, given)
        assert (found.status, found.reason) == ("unreadable", "record_shape")
        assert (found.recorded_passed, found.fields, found.flags) == (None, (), ())


def test_readings_are_counted_on_the_way() -> None:
    """Graded runs are added to the accumulator, others are not."""
    readings = Accumulator()
    for rule in (RULE, WITHHELD, None, Rule.published("list_match", {})):
        regrade(rule, good(), readings)
    regrade(RULE, nothing(), readings)
    strict = readings.counts()["strict"]
    assert (strict.runs, strict.fields_changed, strict.verdicts_changed) == (1, 1, 0)


def test_a_run_of_another_family() -> None:
    """Any family's run is graded and compared; where no field score is published none is."""
    readings = Accumulator()
    rule = Rule.published("multiple_choice", {"correct_answer": "Q"})
    given = record({"answer": " q "}, passed=True, score=1.0, fields={"answer": 1.0})
    found = regrade(rule, given, readings)
    assert (found.status, found.derived_passed, found.passed_agrees) == ("graded", True, True)
    assert (found.score_agrees, found.fields_agree, found.tier) == (True, None, "A")
    assert found.fields == (FieldResult("answer", True, True, None),)
    counted = {name for name, count in readings.counts().items() if count.verdicts_changed}
    assert counted == {"choice_as_written"}
    labels = Rule.published("label_set_jaccard", {"ground_truth_labels": ["L"]})
    found = regrade(labels, record({"cell_types_predicted": "L"}, passed=True, fields={}))
    assert (found.passed_agrees, found.score_agrees, found.contested) == (False, None, True)
    assert found.failure_mode == "type_error"


def test_arithmetic_is_no_verdict() -> None:
    """A rubric's length penalty as a grader gives a score and no verdict to compare."""
    rule = Rule.published("rubric_length_penalty", None)
    found = regrade(rule, record({"text": "x", "reward": 0.5}, passed=True, fields={}))
    assert (found.status, found.reason) == ("rule_undetermined", "arithmetic_alone")


@pytest.mark.parametrize(
    ("evaluation", "shown", "status"),
    [
        ({}, None, "rule_not_published"),
        ({"graders": []}, None, "rule_not_published"),
        ({"grader": None}, None, "rule_undetermined"),
        ({"grader": {"type": 5}}, None, "rule_undetermined"),
        (
            {"grader": {"type": "numeric_tolerance", "config": CONFIG}},
            "numeric_tolerance",
            "graded",
        ),
        ({"graders": [{"type": "numeric_tolerance", "config": CONFIG}]}, "graders[]", "graded"),
        ({"graders": "text"}, "graders[]", "rule_undetermined"),
        ({"grader": {"type": "new"}, "graders": [{"type": "finished_file"}]}, "new", None),
    ],
)
def test_the_rule_of_an_evaluation(evaluation: Any, shown: str | None, status: str | None) -> None:
    """`grader` goes before `graders`; without either the rule is withheld."""
    grader_type, rule = published_rule(evaluation)
    assert grader_type == shown
    assert regrade(rule, good()).status == (status or "rule_undetermined")


def _deep(depth: int, core: Any) -> Any:
    for _ in range(depth):
        core = [core]
    return core


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ({"a": math.nan}, {"a": float("nan")}, True),
        ({"a": math.nan}, {"a": None}, False),
        ([1, [2.0]], [1.0, [2]], True),
        ([1], [1, 2], False),
        ([math.nan, 1], [math.nan, 2], False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, [1], False),
        ([1], 5, False),
        (_deep(50_000, 1), _deep(50_000, 1), True),
        (_deep(50_000, 1), _deep(50_000, 2), False),
    ],
    ids=[f"pair{number}" for number in range(10)],
)
def test_same_value(left: Any, right: Any, same: bool) -> None:
    """Two JSON values are compared as numbers, NaN equal to NaN, at any depth."""
    assert same_value(left, right) is same


@pytest.mark.parametrize(
    "grader", [None, {}, {"type": "not_public"}, {"type": "numeric_tolerance"}]
)
def test_names_that_no_published_rule_has_stay_in_the_record(grader: Any) -> None:
    """Law 2: an evaluation may withhold its rule by an empty `grader` as well as by none."""
    _, rule = published_rule({"grader": grader})
    graded = {"agent_answer": {"a": 1}, "passed": True, "field_scores": {"a": 1.0}}
    result = {"agent_answer": {"a": 1}, "passed": True, "grader_result": graded}
    assert regrade(rule, {"result": result}).fields == ()
