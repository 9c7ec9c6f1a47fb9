"""Grading of one's own answer tells pass and fail, and nothing that gives a value away."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import pytest

from benchproof.grading import NO_ANSWER
from benchproof.grading.own import OwnField, OwnVerdict, grade_own

NUMERIC = {
    "type": "numeric_tolerance",
    "config": {
        "ground_truth": {"a": 31337, "b": 42421},
        "tolerances": {"a": {"value": 7919}, "b": {"value": 6133}},
    },
}


def test_verdict_and_fields() -> None:
    """Status, verdict, failure mode and each field's pass or fail."""
    assert grade_own({"grader": NUMERIC}, {"a": 31000, "b": "x"}) == OwnVerdict(
        "graded",
        "numeric_tolerance",
        False,
        "type_error",
        None,
        (OwnField("a", True, None), OwnField("b", False, "type_error")),
    )
    both = {"graders": [NUMERIC, {"type": "multiple_choice", "config": {"correct_answer": "Q"}}]}
    found = grade_own(both, {"a": 31000, "b": 42000, "answer": "q"})
    assert (found.passed, found.grader_type) == (True, "graders[]")
    assert [item.field for item in found.fields] == ["0.a", "0.b", "1.answer"]


@pytest.mark.parametrize(
    ("evaluation", "answer", "status", "reason"),
    [
        ({}, {"a": 1}, "rule_not_published", "no_grader"),
        ({"grader": NUMERIC}, None, "no_submission", "null"),
        ({"grader": NUMERIC}, NO_ANSWER, "no_submission", "absent"),
        ({"grader": {"type": "numeric_tolerence"}}, {}, "rule_undetermined", "unknown_type"),
        ({"grader": {"type": "list_match"}}, {}, "rule_undetermined", "named_without_rule"),
        ({"grader": {"type": "all_of", "config": {}}}, {}, "invalid_config", "children_missing"),
        (
            {"grader": {"type": "rubric_length_penalty"}},
            {"text": "x", "reward": 1},
            "rule_undetermined",
            "arithmetic_alone",
        ),
    ],
)
def test_without_a_verdict(evaluation: Any, answer: Any, status: str, reason: str) -> None:
    """Each way to have no verdict says so with a fixed code."""
    found = grade_own(evaluation, answer)
    assert (found.status, found.reason, found.passed) == (status, reason, None)


def test_nothing_gives_a_value_away() -> None:
    """No score, no edge, no margin, no expected value: neither as an attribute nor as a value."""
    told = {item.name for item in fields(OwnVerdict)} | {item.name for item in fields(OwnField)}
    assert told.isdisjoint({"score", "edge", "margin", "expected", "field_scores", "flags"})
    secrets = ("31337", "42421", "7919", "6133", "39256", "DEMOTRUTH")
    labels = {"ground_truth_labels": ["DEMOTRUTH1", "DEMOTRUTH2"], "scoring": {}}
    shares = {"ground_truth": {"cell_type_distribution": {"DEMOTRUTH": 31337}}}
    types = {"canonical_markers": {"DEMOTRUTH": ["DEMOTRUTH3"]}, "answer_field": "by"}
    answers: list[Any] = [{}, {"a": 39256, "b": 1}, {"cell_type_distribution": {}, "by": {}}, []]
    for grader in (
        NUMERIC,
        {"type": "label_set_jaccard", "config": labels},
        {"type": "distribution_comparison", "config": shares},
        {"type": "marker_gene_precision_recall", "config": types},
        {"type": "multiple_choice", "config": {"correct_answer": "DEMOTRUTH"}},
    ):
        for answer in answers:
            for evaluation in ({"grader": grader}, {"graders": [grader]}):
                said = repr(asdict(grade_own(evaluation, answer)))
                assert not any(secret in said for secret in secrets)
