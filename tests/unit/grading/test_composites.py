"""all_of, composite, average_of and lists of graders: what children decide, and what they leave."""

from __future__ import annotations

from typing import Any

import pytest

from benchproof.grading import grade, rule_status
from unit.grading.cases import graded, outcome

ANSWER = {"answer": "Q", "a": 10, "b": 99, "m": 5, "cell_types_predicted": ["La"]}
OPEN = {"type": "list_match", "config": {}}
HALF = {
    "type": "numeric_tolerance",
    "config": {
        "ground_truth": {"a": 10, "b": 20},
        "tolerances": {key: {"type": "absolute", "value": 0} for key in "ab"},
    },
}
LABELS = {"type": "label_set_jaccard", "config": {"ground_truth_labels": ["La"]}}
RANGE = {
    "type": "numeric_range",
    "config": {"ground_truth": {"m": 5}, "ranges": {"m": {"min": 0, "max": 9}}},
}
REFUSED = {"type": "numeric_tolerance", "config": {"ground_truth": {"a": float("nan")}}}
GATE, HARD, ADD = {"role": "gate"}, {"role": "hard_fail"}, {"role": "additive"}


def pick(right: str) -> dict[str, Any]:
    """A child that asks for a letter; the answer is Q."""
    return {"type": "multiple_choice", "config": {"correct_answer": right}}


WON, LOST = pick("Q"), pick("Z")


def of(*children: Any, **more: Any) -> dict[str, Any]:
    """A configuration."""
    return {"children": list(children), **more}


@pytest.mark.parametrize(
    ("children", "expected", "score", "tier"),
    [
        ([WON], True, 1.0, "A"),
        ([WON, RANGE], True, 1.0, "A"),
        ([WON, LABELS], True, 1.0, "B"),
        ([WON, LOST], "wrong_value", 0.0, "A"),
        ([LABELS, LOST], "wrong_value", 0.0, "A"),
        ([HALF, WON], "wrong_value", 0.0, "A"),
        ([OPEN, WON], "child_undecided", None, None),
        ([OPEN, LOST], "wrong_value", 0.0, "A"),
        ([OPEN], "child_undecided", None, None),
        ([{"type": "new"}, WON], "child_undecided", None, None),
        ([WON, GATE], "predicate_not_published", None, None),
        ([WON, HARD], "predicate_not_published", None, None),
        ([LOST, HARD], "wrong_value", 0.0, "A"),
        ([GATE], "predicate_not_published", None, None),
        ([WON, {"role": "bonus"}], "predicate_not_published", None, None),
        ([WON, {}], "predicate_not_published", None, None),
        ([WON, 5], "predicate_not_published", None, None),
        ([WON, {"role": 5}], "predicate_not_published", None, None),
        ([LOST, None], "wrong_value", 0.0, "A"),
        ([{"type": "all_of", "config": of(WON, LOST)}, WON], "wrong_value", 0.0, "A"),
        ([{"type": "all_of", "config": of(WON, OPEN)}, WON], "child_undecided", None, None),
        ([REFUSED, LOST], "wrong_value", 0.0, "A"),
        ([{**WON, "role": None}], True, 1.0, "A"),
    ],
)
def test_all_of(children: Any, expected: Any, score: float | None, tier: str | None) -> None:
    """Passes when every child does; one surely lost child fails it, an open one leaves it open."""
    for kind in ("all_of", "composite"):
        verdict = grade(kind, of(*children), ANSWER)
        assert (outcome(verdict), verdict.score, verdict.tier) == (expected, score, tier)
        assert not verdict.contested


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (None, "config_not_object"),
        ({}, "children_missing"),
        ({"children": {}}, "children_not_list"),
        (of(), "children_empty"),
        (of(HARD), "hard_fail_only"),
        (of(HARD, HARD), "hard_fail_only"),
        (of(WON, ADD), "additive_child"),
        (of({**WON, "role": "gate"}), "typed_child_with_role"),
        (of({**LOST, "role": "hard_fail"}, WON), "typed_child_with_role"),
        (of(WON, pass_rule="min_passing", min_passing_children=1), "pass_rule_not_all"),
        (of(WON, pass_rule="score_threshold", score_threshold=0.1), "pass_rule_not_all"),
        (of(WON, pass_rule=None), "pass_rule_not_all"),
        (of(WON, {"type": "all_of", "config": of()}), "children_empty"),
        (of(LOST, {"type": "all_of", "config": of()}), "children_empty"),
    ],
)
def test_invalid_all_of(config: Any, reason: str) -> None:
    """An invalid configuration is reported as such: passed false and no credit."""
    verdict = grade("all_of", config, ANSWER)
    assert (verdict.status, verdict.reason) == ("invalid_config", reason)
    assert (verdict.passed, verdict.score, verdict.tier) == (False, 0.0, "A")
    assert rule_status("all_of", config) == "invalid_config"
    assert grade("all_of", config, None).status == "no_submission"


def test_a_child_that_is_refused() -> None:
    """A configuration that only this grader refuses has no published outcome."""
    verdict = grade("all_of", of(WON, REFUSED), ANSWER)
    assert (verdict.status, verdict.reason) == ("invalid_config", "truth_not_finite")
    assert (verdict.passed, verdict.score) == (None, None)
    verdict = grade("average_of", of(WON, REFUSED), ANSWER)
    assert (verdict.status, verdict.passed) == ("invalid_config", None)
    verdict = grade("graders[]", [WON, REFUSED], ANSWER)
    assert (verdict.status, verdict.passed) == ("invalid_config", None)


@pytest.mark.parametrize(
    ("children", "more", "expected", "score", "tier"),
    [
        ([WON, WON], {}, True, 1.0, "A"),
        ([WON, LOST], {}, "wrong_value", 0.5, "A"),
        ([HALF, WON], {}, "wrong_value", 0.75, "A"),
        ([HALF, LOST], {"pass_rule": "all"}, "wrong_value", 0.25, "A"),
        ([LABELS, WON], {}, True, None, "B"),
        ([LABELS, LOST], {}, "wrong_value", None, "B"),
        ([OPEN, WON], {}, "child_undecided", None, None),
        ([OPEN, LOST], {}, "wrong_value", None, "A"),
        ([WON, GATE], {}, "predicate_not_published", None, None),
        ([WON, HARD], {}, "predicate_not_published", None, None),
        ([LOST, HARD], {}, "wrong_value", None, "A"),
        ([LOST, ADD], {}, "wrong_value", None, "A"),
        ([WON, LOST, LOST], {"min_passing_children": 1}, True, 1 / 3, "A"),
        ([WON, LOST], {"min_passing_children": 2}, "wrong_value", 0.5, "A"),
        ([WON, LOST], {"min_passing_children": 1.5}, "wrong_value", 0.5, "A"),
        ([OPEN, WON], {"min_passing_children": 1}, True, None, "A"),
        ([OPEN, WON], {"min_passing_children": 2}, "child_undecided", None, None),
        ([OPEN, LOST], {"min_passing_children": 2}, "wrong_value", None, "A"),
        ([GATE, WON], {"min_passing_children": 1}, "predicate_not_published", None, None),
        ([GATE, LOST], {"min_passing_children": 1}, "predicate_not_published", None, None),
        ([GATE, LOST], {"min_passing_children": 2}, "wrong_value", None, "A"),
        ([ADD, LOST], {"min_passing_children": 2}, "wrong_value", None, "A"),
        ([HARD, LOST], {"min_passing_children": 1}, "wrong_value", None, "A"),
        ([HARD, WON], {"min_passing_children": 1}, "predicate_not_published", None, None),
        ([WON, LOST], {"min_passing_children": 0}, True, 0.5, "A"),
        ([WON], {"min_passing_children": "1"}, "pass_rule_without_number", 1.0, None),
        ([WON], {"min_passing_children": True}, "pass_rule_without_number", 1.0, None),
        ([WON], {"pass_rule": "min_passing"}, "pass_rule_without_number", 1.0, None),
        ([WON, LOST], {"score_threshold": 0.4}, True, 0.5, "A"),
        ([WON, LOST], {"score_threshold": 0.5}, "score_threshold_readings", 0.5, None),
        ([WON, LOST], {"score_threshold": 0.7}, "score_threshold_readings", 0.5, None),
        ([WON, LOST], {"score_threshold": 1}, "score_threshold_readings", 0.5, None),
        ([WON, LOST], {"score_threshold": 1.1}, "wrong_value", 0.5, "A"),
        ([LABELS, WON], {"score_threshold": 0.4}, True, None, "B"),
        ([LABELS, WON], {"score_threshold": 0.6}, "score_threshold_readings", None, None),
        ([LABELS, WON], {"score_threshold": 2.5}, "wrong_value", None, "B"),
        ([OPEN, WON], {"score_threshold": 0.4}, True, None, "A"),
        ([OPEN, WON], {"score_threshold": 0.6}, "child_undecided", None, None),
        ([GATE, WON], {"score_threshold": 0.1}, "predicate_not_published", None, None),
        ([GATE, LOST], {"score_threshold": 1.5}, "wrong_value", None, "A"),
        ([GATE, LOST], {"score_threshold": 0.9}, "predicate_not_published", None, None),
        ([ADD, LOST], {"score_threshold": 99}, "predicate_not_published", None, None),
        ([HARD, LOST], {"score_threshold": 0.5}, "wrong_value", None, "A"),
        ([GATE], {"score_threshold": 0.5}, "predicate_not_published", None, None),
        ([GATE, HARD], {"score_threshold": 10**400}, "wrong_value", None, "C"),
        ([WON], {"score_threshold": float("nan")}, "pass_rule_without_number", 1.0, None),
        ([WON], {"pass_rule": "most"}, "unknown_pass_rule", 1.0, None),
        ([WON], {"pass_rule": ["all"]}, "unknown_pass_rule", 1.0, None),
    ],
)
def test_average_of(
    children: Any, more: Any, expected: Any, score: float | None, tier: str | None
) -> None:
    """The mean of scores, kept on failing; passed only where everything open leaves it alone."""
    named = {"min_passing_children": "min_passing", "score_threshold": "score_threshold"}
    rules = [named[key] for key in more if key in named]
    more = {"pass_rule": rules[0], **more} if rules else more
    verdict = grade("average_of", of(*children, **more), ANSWER)
    assert (outcome(verdict), verdict.score, verdict.tier) == (expected, score, tier)


@pytest.mark.parametrize(
    ("config", "reason", "tier"),
    [
        (5, "config_not_object", "A"),
        (of(), "children_empty", "C"),
        ({}, "children_missing", "C"),
        (of(HARD), "hard_fail_only", "C"),
        (of({**WON, "role": "additive"}), "typed_child_with_role", "A"),
        (of(WON, {"type": "average_of", "config": of()}), "children_empty", "C"),
    ],
)
def test_invalid_average_of(config: Any, reason: str, tier: str) -> None:
    """A configuration error erases the credit."""
    verdict = grade("average_of", config, ANSWER)
    assert (verdict.status, verdict.reason, verdict.tier) == ("invalid_config", reason, tier)
    assert (verdict.passed, verdict.score) == (False, 0.0)


@pytest.mark.parametrize(
    ("graders", "expected", "score"),
    [
        ([WON], True, 1.0),
        ([WON, RANGE], True, 1.0),
        ([WON, LABELS], True, None),
        ([LOST, HALF], "wrong_value", 0.25),
        ([WON, LOST], "graders_disagree", 0.5),
        ([WON, OPEN], "child_undecided", None),
        ([LOST, OPEN], "child_undecided", None),
        ([WON, 5], "graders_disagree", 1.0),
        ([GATE], "graders_disagree", None),
        ([], "graders_empty", None),
        ("text", "graders_not_list", None),
        (None, "graders_not_list", None),
        (5, "graders_not_list", None),
    ],
)
def test_lists_of_graders(graders: Any, expected: Any, score: float | None) -> None:
    """Only a unanimous list passes or fails; the mean of its scores is published."""
    for config in (graders, {"graders": graders}):
        verdict = grade("graders[]", config, ANSWER)
        assert (outcome(verdict), verdict.score) == (expected, score)
        assert verdict.tier == ("C" if verdict.status == "graded" else None)


@pytest.mark.parametrize(
    ("kind", "config", "status"),
    [
        ("all_of", of(WON, HALF), "published"),
        ("all_of", of(WON, OPEN), "undetermined"),
        ("all_of", of(WON, GATE), "undetermined"),
        ("all_of", of(WON, REFUSED), "invalid_config"),
        ("average_of", of(WON), "published"),
        ("average_of", of(WON, pass_rule="min_passing", min_passing_children=1), "published"),
        ("average_of", of(WON, pass_rule="score_threshold", score_threshold=1), "undetermined"),
        ("average_of", of(WON, pass_rule="most"), "undetermined"),
        ("average_of", of(REFUSED, pass_rule="most"), "invalid_config"),
        ("graders[]", [WON], "published"),
        ("graders[]", [OPEN], "undetermined"),
        ("graders[]", [WON, HALF], "undetermined"),
        ("graders[]", [WON, REFUSED], "invalid_config"),
        ("graders[]", [], "undetermined"),
    ],
)
def test_rule_status(kind: str, config: Any, status: str) -> None:
    """What can be said of a composite without an answer."""
    assert rule_status(kind, config) == status


def test_fields_are_named_after_their_place() -> None:
    """Each child's fields stand under its place; one that looked at none is one row."""
    inner = {"type": "all_of", "config": of(LOST)}
    verdict = grade("all_of", of(GATE, HALF, OPEN, inner), ANSWER)
    found = [(item.field, item.passed, item.failure_mode, item.reason) for item in verdict.fields]
    assert found == [
        ("1.a", True, None, None),
        ("1.b", False, "wrong_value", None),
        ("2", None, None, "child_undecided"),
        ("3.0.answer", False, "wrong_value", None),
    ]


def test_modes_and_edges_come_from_the_children() -> None:
    """The lowest failure mode and the closest edge of all fields."""
    verdict = grade("all_of", of(LOST, pick("W"), HALF), {"a": 10, "b": "x"})
    assert (verdict.failure_mode, verdict.edge) == ("missing_field", "on_bound")
    assert graded("all_of", of(WON, HALF), [1]) == ("format_error", "C", False)
    assert graded("average_of", of(WON), "text") == ("format_error", "C", False)
    assert graded("graders[]", [WON, HALF], 5) == ("format_error", "C", False)
