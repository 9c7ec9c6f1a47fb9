"""distribution_comparison: every true category's percentage within the tolerance."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchproof.grading import grade, rule_status
from unit.grading.cases import graded, outcome

KIND, KEY = "distribution_comparison", "cell_type_distribution"
TRUTH = {"Ka": 50.0, "Kb": 30.0, "Kc": 20.0}


def config(truth: Any = TRUTH, size: Any = 4, *, total: Any = None, **more: Any) -> dict[str, Any]:
    """A configuration; a total of None is none."""
    whole = {} if total is None else {"total_cells": total}
    tolerances = {"cell_type_percentages": {"value": size}, **more}
    return {"ground_truth": {KEY: truth, **whole}, "tolerances": tolerances}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, (True, "B", False)),
        ({"Ka": 54, "Kb": 26.0}, (True, "B", False)),
        ({"Ka": math.nextafter(54.0, 60)}, ("wrong_value", "B", False)),
        ({"Ka": 45.9}, ("wrong_value", "B", False)),
        ({"Kd": 99}, (True, "B", False)),
        ({"Ka": math.nan}, ("wrong_value", "B", False)),
        ({"Ka": math.inf}, ("wrong_value", "B", False)),
        ({"Ka": True}, ("wrong_value", "B", False)),
        ({"Ka": "50"}, ("text_percentage", None, False)),
        ({"Ka": " 5e1 "}, ("text_percentage", None, False)),
        ({"Ka": "nan"}, ("type_error", "B", False)),
        ({"Ka": "50 %"}, ("type_error", "B", False)),
        ({"Ka": "50", "Kb": 99}, ("wrong_value", "B", False)),
        ({"Ka": None}, ("type_error", "B", False)),
        ({"Ka": [50]}, ("type_error", "B", False)),
        ({"Ka": None, "Kb": 99}, ("type_error", "B", False)),
    ],
)
def test_values(change: Any, expected: Any) -> None:
    """One changed answer: inclusive bounds, values as given, text open only where it would pass."""
    assert graded(KIND, config(), {KEY: {**TRUTH, **change}}) == expected
    assert grade(KIND, config(), {KEY: {**TRUTH, **change}}).score is None


@pytest.mark.parametrize(
    ("truth", "given", "expected"),
    [
        (TRUTH, {"ka": 50, "KB": 30, "Kc": 20}, (True, "B", True)),
        (TRUTH, {"Ka ": 50, "Kb": 30, "Kc": 20}, ("missing_field", "B", False)),
        (TRUTH, {"Kb": 99, "Kc": None}, ("missing_field", "B", False)),
        (TRUTH, {**TRUTH, "ka": 53}, (True, "B", False)),
        (TRUTH, {**TRUTH, "ka": 60}, ("categories_collide", None, False)),
        (TRUTH, {**TRUTH, "Ka": 60, "ka": 61}, ("wrong_value", "B", False)),
        (TRUTH, {**TRUTH, "ka": "x"}, ("categories_collide", None, False)),
        (TRUTH, {**TRUTH, "ka": 60, "Kb": 99}, ("wrong_value", "B", False)),
        ({"Ka": 50, "ka": 52}, {"Ka": 51}, (True, "B", True)),
        ({"Ka": 50, "ka": 60}, {"Ka": 51}, ("categories_collide", None, False)),
        ({"Ka": 50, "ka": 60}, {"Ka": 1}, ("wrong_value", "B", False)),
        ({}, {"Ka": 1}, (True, "B", False)),
        ({"Ka": "50"}, {"Ka": 50}, ("truth_not_number", None, False)),
        ({"Ka": "50"}, {"Ka": "x"}, ("type_error", "B", False)),
        ({"Ka": None}, {}, ("missing_field", "B", False)),
        ({"Ka": True}, {"Ka": 1}, (True, "B", False)),
        ({"Ka": 2**60}, {"Ka": 2**60 + 5}, ("large_integer", None, False)),
    ],
)
def test_categories(truth: Any, given: Any, expected: Any) -> None:
    """Names compare in lower case and unstripped; names that collide must agree."""
    assert graded(KIND, config(truth), {KEY: given}) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({KEY: None}, ("type_error", "B", False)),
        ({KEY: [50]}, ("type_error", "B", False)),
        ({KEY: "Ka"}, ("type_error", "B", False)),
        (TRUTH, ("flat_answer", None, False)),
        ({**TRUTH, "Ka": "50"}, ("flat_answer", None, False)),
        ({**TRUTH, "Ka": 99}, ("missing_field", "B", False)),
        ({}, ("missing_field", "B", False)),
        ([TRUTH], ("format_error", "C", False)),
        (5, ("format_error", "C", False)),
    ],
)
def test_containers(answer: Any, expected: Any) -> None:
    """An object under the key; a flat one is open where it would pass."""
    assert graded(KIND, config(), answer) == expected


@pytest.mark.parametrize(
    ("total", "entry", "given", "expected"),
    [
        (900, {}, 900, (True, "B", False)),
        (900, {}, 901, ("wrong_value", "B", False)),
        (900, {"type": "absolute", "value": 10}, 890.0, (True, "B", False)),
        (900, {"value": 10}, 911, ("wrong_value", "B", False)),
        (900, {"value": 10}, None, (True, "B", False)),
        (900, {"value": 10}, "905", ("text_percentage", None, False)),
        (900, {"value": 10}, "912", ("type_error", "B", False)),
        (900, {"value": 10}, [900], ("type_error", "B", False)),
        (900, {"value": 10}, math.nan, ("wrong_value", "B", False)),
        (900, {"type": "relative", "value": 1}, 900, ("unknown_tolerance_type", None, False)),
        (900, {"type": "relative", "value": 1}, "x", ("type_error", "B", False)),
        (None, {"type": "relative", "value": 1}, 5, (True, "B", False)),
        ("900", {}, 900, ("truth_not_number", None, False)),
        ("900", {}, None, (True, "B", False)),
    ],
)
def test_the_total(total: Any, entry: Any, given: Any, expected: Any) -> None:
    """Checked only where configuration and answer both have one."""
    answer = {KEY: TRUTH, "total_cells": given}
    assert graded(KIND, config(total=total, total_cells=entry), answer) == expected
    other = grade(KIND, config(total=total, total_cells=entry), {KEY: TRUTH})
    assert other.passed is True
    names = [item.field for item in grade(KIND, config(total=total), answer).fields]
    assert names == ([KEY] if total is None or given is None else [KEY, "total_cells"])


def test_a_failing_total_beside_a_flat_answer() -> None:
    """What fails under every reading fails."""
    given = config(total=900)
    assert graded(KIND, given, {**TRUTH, "total_cells": 5})[0] == "missing_field"
    assert graded(KIND, given, {**TRUTH, "total_cells": 900})[0] == "flat_answer"


@pytest.mark.parametrize(
    ("tolerances", "at", "expected"),
    [
        ({}, 53, True),
        ({}, 53.01, "wrong_value"),
        ({"cell_type_percentages": {}}, 47, True),
        ({"cell_type_percentages": {"value": 0}}, 50, True),
        ({"cell_type_percentages": {"value": True}}, 51, True),
        ({"cell_type_percentages": 4}, 50, "tolerance_not_object"),
        ({"cell_type_percentages": {"value": "4"}}, 50, "tolerance_not_number"),
        ({"cell_type_percentages": {"value": None}}, 50, "tolerance_not_number"),
        ({"cell_type_percentages": {"type": "min", "value": 4}}, 50, "unknown_tolerance_type"),
        ({"cell_type_percentages": {"lower": 4, "upper": 5}}, 50, "offsets_beside_value"),
        ({"Ka": {"value": 90}}, 90, "wrong_value"),
        ([], 50, "tolerances_not_object"),
    ],
)
def test_tolerances(tolerances: Any, at: float, expected: Any) -> None:
    """3.0 points by default, one tolerance for all; forms that no source describes are open."""
    given = {"ground_truth": {KEY: {"Ka": 50}}, "tolerances": tolerances}
    assert outcome(grade(KIND, given, {KEY: {"Ka": at}})) == expected
    settled = expected in (True, "wrong_value")
    assert rule_status(KIND, given) == ("published" if settled else "undetermined")


@pytest.mark.parametrize(
    ("given", "reason", "status"),
    [
        (None, "config_not_object", "invalid_config"),
        (config({"Ka": math.nan}), "truth_not_finite", "invalid_config"),
        (config(total=math.inf), "truth_not_finite", "invalid_config"),
        (config(size=-1), "tolerance_negative", "invalid_config"),
        (config(size=math.nan), "tolerance_nan", "invalid_config"),
        (config(total_cells={"value": -1}), "tolerance_negative", "invalid_config"),
        ({}, "ground_truth_missing", "undetermined"),
        ({"ground_truth": 5}, "ground_truth_not_object", "undetermined"),
        ({"ground_truth": {"Ka": 5}}, "distribution_not_object", "undetermined"),
    ],
)
def test_configurations_without_a_verdict(given: Any, reason: str, status: str) -> None:
    """What cannot be read is said to be so, and never a pass."""
    assert grade(KIND, given, {KEY: TRUTH}).reason == reason
    assert rule_status(KIND, given) == status


def test_flags() -> None:
    """Fractions where percentages are asked for are flagged when they fail; so are true values."""
    assert grade(KIND, config(), {KEY: {"Ka": 0.5, "Kb": 0.3, "Kc": 0.2}}).flags == ("fractions",)
    assert grade(KIND, config(), {KEY: {"Ka": 0.5, "Kb": 30, "Kc": 20}}).flags == ()
    assert grade(KIND, config({"Ka": 0.9}, 0.1), {KEY: {"Ka": 0.1}}).flags == ()
    assert grade(KIND, config({"Ka": 1.5}), {KEY: {"Ka": 0.5}}).flags == ()
    assert grade(KIND, config({"Ka": 1}), {KEY: {"Ka": True}}).flags == ("boolean_answer",)


@pytest.mark.parametrize(
    ("at", "edge"), [(54, "on_bound"), (math.nextafter(54, 60), "within_ulp"), (55, "clear")]
)
def test_edges(at: float, edge: str) -> None:
    """The closest category counts."""
    verdict = grade(KIND, config(), {KEY: {**TRUTH, "Ka": at}})
    assert verdict.edge == verdict.fields[0].edge == edge
