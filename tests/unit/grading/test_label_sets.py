"""label_set_jaccard: overlap of label sets, the key it is read from, and what is open."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchproof.grading import grade, rule_status
from unit.grading.cases import graded, outcome

KIND, KEY = "label_set_jaccard", "cell_types_predicted"
FOUR = ["La", "Lb", "Lc", "Ld"]


def config(labels: Any = FOUR, limit: Any = 0.75, **more: Any) -> dict[str, Any]:
    """A configuration."""
    return {"ground_truth_labels": labels, "scoring": {"pass_threshold": limit}, **more}


@pytest.mark.parametrize(
    ("labels", "limit", "given", "expected"),
    [
        (FOUR, 0.75, ["Lc", "La", "Lb"], (True, "B", False)),
        (FOUR, math.nextafter(0.75, 1), ["Lc", "La", "Lb"], ("wrong_value", "B", False)),
        (FOUR, 0.8, ["La", "Lb", "Lc", "Ld", "Le"], (True, "B", False)),
        (FOUR, 0.75, ["la", "lb", "lc", "ld"], ("wrong_value", "B", False)),
        (FOUR, 0.75, [], ("wrong_value", "B", False)),
        (FOUR, 0, [], (True, "B", False)),
        ([], 0, [], (True, "B", False)),
        ([], 0.1, [], ("wrong_value", "B", False)),
        (["L"], 0.75, "L", ("type_error", "B", True)),
        (["La"], 0.75, {"La": 1}, ("type_error", "B", True)),
        (["La"], 0.75, 5, ("type_error", "B", False)),
        (["La"], 0, [["La"]], ("type_error", "B", False)),
        (["La"], 0, [{"La": 1}], ("type_error", "B", False)),
        ([1, "1"], 1, [True, "1"], (True, "B", True)),
        ([1, "1"], 1, [1.0, "1", 1], (True, "B", True)),
        ([1], 1, ["1"], ("wrong_value", "B", False)),
        (["La"], 0.3, ["La", 7, None], (True, "B", True)),
        (["La"], 0.5, ["La", None], (True, "B", False)),
        (["La", 7], 0.5, ["La"], (True, "B", False)),
        (["La", "Lb", 7], 0.3, ["La"], (True, "B", True)),
        (["La", 7], 1, ["La", 7], (True, "B", True)),
        (
            ["La", "NA", "NaN", "null", "None"],
            1,
            ["None", "null", "NaN", "NA", "La"],
            (True, "B", 0),
        ),
        (["La"], True, ["La"], ("threshold_not_number", None, False)),
        (["La"], True, ["Lx"], ("wrong_value", "B", False)),
        (["La"], "0.5", ["La"], ("threshold_not_number", None, False)),
        (["La"], "0.5", ["Lx"], ("wrong_value", "B", False)),
        (["La"], "half", ["Lx"], ("threshold_not_number", None, False)),
        (["La"], "half", 5, ("type_error", "B", False)),
        (["La"], None, ["La"], ("threshold_not_number", None, False)),
        (["La"], None, ["La", "Lx"], ("wrong_value", "B", False)),
        (["La"], [0.5], ["La"], ("threshold_not_number", None, False)),
    ],
)
def test_lists(labels: Any, limit: Any, given: Any, expected: Any) -> None:
    """Outcome, tier and whether the older grader reverses it; no score is published."""
    assert graded(KIND, config(labels, limit), {KEY: given}) == expected
    assert grade(KIND, config(labels, limit), {KEY: given}).score is None


@pytest.mark.parametrize(
    ("count", "given", "expected"),
    [
        (4, FOUR, (True, "B", False)),
        (3, FOUR, ("wrong_value", "B", True)),
        (4, [*FOUR, "La"], ("wrong_value", "B", True)),
        (5, [*FOUR, "La"], ("wrong_value", "B", True)),
        (3, ["La", "Lx", "Ly"], ("wrong_value", "B", False)),
        ("4", FOUR, ("expected_count_not_integer", None, False)),
        (4.0, FOUR, ("expected_count_not_integer", None, False)),
        (True, FOUR, ("expected_count_not_integer", None, False)),
        (None, FOUR, ("expected_count_not_integer", None, False)),
        (None, ["Lx"], ("wrong_value", "B", False)),
        (-1, FOUR, ("wrong_value", "B", True)),
    ],
)
def test_expected_count(count: Any, given: Any, expected: Any) -> None:
    """As many entries as asked for, none twice; a count that is no integer is open."""
    assert graded(KIND, config(expected_count=count), {KEY: given}) == expected
    status = "published" if type(count) is int else "undetermined"
    assert rule_status(KIND, config(expected_count=count)) == status


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({}, ("missing_field", "B", False)),
        ({"x": "La", "y": {"z": FOUR}}, ("missing_field", "B", False)),
        ({"x": FOUR}, ("answer_field_not_published", None, False)),
        ({"x": ["Lx"], "y": FOUR}, ("answer_field_not_published", None, False)),
        ({"x": ["Lx"], "y": []}, ("wrong_value", "C", False)),
        ({"x": [[]]}, ("wrong_value", "C", False)),
        ({KEY: ["Lx"], "y": FOUR}, ("wrong_value", "B", False)),
        ({KEY: None, "y": FOUR}, ("type_error", "B", False)),
        (FOUR, ("answer_not_object", None, False)),
        (["Lx"], ("format_error", "C", False)),
        ("La", ("format_error", "C", False)),
        (5, ("format_error", "C", False)),
    ],
)
def test_the_key_without_a_named_field(answer: Any, expected: Any) -> None:
    """A list elsewhere leaves a passing verdict open; a failing one fails under every reading."""
    if expected[0] == "answer_not_object":
        expected = ("answer_field_not_published", *expected[1:])
    assert graded(KIND, config(), answer) == expected


@pytest.mark.parametrize(
    ("field", "answer", "expected"),
    [
        ("found", {"found": FOUR}, (True, "C", True)),
        ("found", {"found": FOUR, KEY: FOUR}, (True, "C", False)),
        ("found", {"found": ["Lx"], KEY: FOUR}, ("wrong_value", "C", True)),
        ("found", {KEY: FOUR}, ("missing_field", "C", True)),
        ("found", {"x": FOUR}, ("missing_field", "C", False)),
        ("found", {"found": "La"}, ("type_error", "C", False)),
        ("found", FOUR, ("format_error", "C", False)),
        (KEY, {KEY: FOUR}, (True, "B", False)),
        (KEY, {"x": FOUR}, ("missing_field", "C", False)),
        (None, {KEY: FOUR}, ("answer_field_not_text", None, False)),
        (5, {KEY: ["Lx"]}, ("answer_field_not_text", None, False)),
    ],
)
def test_a_named_field(field: Any, answer: Any, expected: Any) -> None:
    """A named key is read and no other (inferred); the older grader knows one key alone."""
    assert graded(KIND, config(answer_field=field), answer) == expected


@pytest.mark.parametrize(
    ("more", "given", "expected"),
    [
        ({"threshold": 0.5}, FOUR, True),
        ({"threshold": 0.5}, FOUR[:2], "threshold_place"),
        ({"threshold": 0.5}, ["La"], "wrong_value"),
        ({"pass_threshold": 0.5}, FOUR[:2], "threshold_place"),
        ({"scoring": {"threshold": 0.5}}, FOUR[:2], "threshold_place"),
        ({"scoring": {"threshold": 0.5}}, FOUR, True),
        ({"scoring": {}}, FOUR[:3], "wrong_value"),
        ({"scoring": {"method": "jaccard_index"}}, FOUR, True),
        ({"scoring": {"method": "overlap"}}, FOUR, "unknown_method"),
        ({"scoring": {"method": "overlap"}}, ["Lx"], "unknown_method"),
        ({"scoring": {"method": "overlap"}}, "Lx", "type_error"),
        ({"scoring": []}, FOUR, "scoring_not_object"),
        ({"scoring": None}, "Lx", "type_error"),
        ({"ground_truth": FOUR}, FOUR, "legacy_labels"),
    ],
)
def test_where_thresholds_stand(more: Any, given: Any, expected: Any) -> None:
    """A misplaced threshold is a second reading; another method has none."""
    assert outcome(grade(KIND, {**config(), **more}, {KEY: given})) == expected
    settled = more in ({"scoring": {}}, {"scoring": {"method": "jaccard_index"}})
    assert rule_status(KIND, {**config(), **more}) == ("published" if settled else "undetermined")


@pytest.mark.parametrize(
    ("given", "reason", "status"),
    [
        (None, "config_not_object", "invalid_config"),
        ({"ground_truth_labels": [["La"]]}, "label_not_scalar", "invalid_config"),
        (config(limit=math.nan), "threshold_nan", "invalid_config"),
        ({}, "labels_missing", "undetermined"),
        ({"ground_truth_labels": "La"}, "labels_not_list", "undetermined"),
        ({"ground_truth": FOUR, "threshold": 0.5}, "legacy_labels", "undetermined"),
        ({"ground_truth_marker_sets": {"T": ["Ga"]}}, "legacy_labels", "undetermined"),
    ],
)
def test_configurations_without_a_verdict(given: Any, reason: str, status: str) -> None:
    """What no source describes is said to be so, whatever is answered."""
    for answer in ({KEY: FOUR}, {"x": FOUR}, FOUR):
        assert grade(KIND, given, answer).reason == reason
    assert rule_status(KIND, given) == status
    assert rule_status("jaccard_label_set", given) == status


@pytest.mark.parametrize(
    ("limit", "edge"),
    [
        (0.75, "on_bound"),
        (math.nextafter(0.75, 1), "within_ulp"),
        (0.7, "clear"),
        (0.8, "clear"),
    ],
)
def test_edges(limit: float, edge: str) -> None:
    """How close the index is to the threshold."""
    assert grade(KIND, config(limit=limit), {KEY: FOUR[:3]}).edge == edge
