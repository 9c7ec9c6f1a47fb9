"""numeric_range: strictly inside passes, strictly outside fails, and the rest is open."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchproof.grading import grade, rule_status
from unit.grading.cases import graded, outcome

RANGE = {"min": 40, "max": 60}


def config(**ranges: Any) -> dict[str, Any]:
    """A configuration with a truth for each range."""
    return {"ground_truth": dict.fromkeys(ranges, 50), "ranges": ranges}


@pytest.mark.parametrize(
    ("value", "expected", "tier"),
    [
        (41, True, "A"),
        (59.999, True, "A"),
        (math.nextafter(40, 41), True, "A"),
        (math.nextafter(40, 39), "wrong_value", "A"),
        (math.nextafter(60, 61), "wrong_value", "A"),
        (40, "on_range_bound", None),
        (60.0, "on_range_bound", None),
        ("60", "on_range_bound", None),
        (math.inf, "wrong_value", "A"),
        (-math.inf, "wrong_value", "A"),
        (math.nan, "nan_answer", None),
        ("nan", "nan_answer", None),
        (" 45 ", "text_in_range", None),
        ("1e9", "wrong_value", "A"),
        ("45%", "type_error", "A"),
        ("", "type_error", "A"),
        (None, "type_error", "C"),
        ([50], "type_error", "A"),
        ({}, "type_error", "A"),
        (True, "wrong_value", "A"),
        (10**400, "wrong_value", "A"),
    ],
)
def test_one_value(value: Any, expected: Any, tier: str | None) -> None:
    """What a single value in or out of 40 to 60 comes to."""
    assert graded("numeric_range", config(m=RANGE), {"m": value}) == (expected, tier, False)


def test_true_counts_as_one_only_to_fail() -> None:
    """true inside is open, outside it fails; both are flagged."""
    inside = grade("numeric_range", config(m={"min": 0, "max": 2}), {"m": True})
    assert (inside.reason, inside.flags) == ("boolean_in_range", ("boolean_answer",))
    assert grade("numeric_range", config(m=RANGE), {"m": False}).flags == ("boolean_answer",)


@pytest.mark.parametrize(
    ("entry", "inside", "below", "above"),
    [
        ({"min": 40}, "one_sided_range", "wrong_value", "one_sided_range"),
        ({"max": 60}, "one_sided_range", "one_sided_range", "wrong_value"),
        ({"min": None, "max": 60}, "one_sided_range", "one_sided_range", "wrong_value"),
        ({}, "one_sided_range", "one_sided_range", "one_sided_range"),
        ({"min": "40", "max": 60}, "range_not_number", "range_not_number", "range_not_number"),
        ({"min": True, "max": 60}, "range_not_number", "range_not_number", "range_not_number"),
        ([40, 60], "range_not_object", "range_not_object", "range_not_object"),
        ({"min": 60, "max": 40}, "wrong_value", "wrong_value", "wrong_value"),
    ],
)
def test_odd_ranges(entry: Any, inside: Any, below: Any, above: Any) -> None:
    """A side that is missing or unreadable can be missed, never surely met."""
    found = [
        outcome(grade("numeric_range", config(m=entry), {"m": value})) for value in (50, 30, 70)
    ]
    assert found == [inside, below, above]
    settled = entry == {"min": 60, "max": 40}
    assert rule_status("numeric_range", config(m=entry)) == (
        "published" if settled else "undetermined"
    )
    assert graded("numeric_range", config(m=entry), {})[0] == "missing_field"


@pytest.mark.parametrize(
    ("answer", "expected", "score", "tier"),
    [
        ({"a": 50, "b": 50}, True, 1.0, "C"),
        ({"a": 30, "b": 50}, "wrong_value", None, "C"),
        ({"a": 30, "b": 70}, "wrong_value", 0.0, "C"),
        ({"a": 30}, "missing_field", 0.0, "C"),
        ({"a": "x", "b": 30}, "type_error", 0.0, "C"),
        ({"a": 40, "b": 30}, "wrong_value", None, "C"),
        ({"a": 40, "b": 50}, "on_range_bound", None, None),
        ({"a": 50, "b": math.nan}, "nan_answer", None, None),
    ],
)
def test_several_fields(answer: Any, expected: Any, score: float | None, tier: Any) -> None:
    """All must pass; the score between all and none is not published."""
    verdict = grade("numeric_range", config(a=RANGE, b=RANGE), answer)
    assert (outcome(verdict), verdict.score, verdict.tier) == (expected, score, tier)
    assert verdict.field_scores is None
    assert [item.field for item in verdict.fields] == ["a", "b"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"m": 50, "q": 50}, True),
        ({"m": 50}, "range_without_truth"),
        ({"m": 50, "q": 70}, "range_without_truth"),
        ({"m": 50, "q": 60}, "range_without_truth"),
        ({"m": 70, "q": 50}, "wrong_value"),
    ],
)
def test_a_range_without_a_truth(answer: Any, expected: Any) -> None:
    """It may be checked or not: only where it would pass, or another field fails, is it settled."""
    given = {"ground_truth": {"m": 5}, "ranges": {"m": RANGE, "q": RANGE}}
    assert graded("numeric_range", given, answer)[0] == expected
    assert rule_status("numeric_range", given) == "undetermined"


def test_a_field_without_a_range() -> None:
    """A value can't be settled; a missing or unreadable one fails all the same."""
    given = {"ground_truth": {"m": 5, "n": 5}, "ranges": {"m": RANGE}}
    assert graded("numeric_range", given, {"m": 50, "n": 5})[0] == "field_without_range"
    assert graded("numeric_range", given, {"m": 50})[0] == "missing_field"
    assert graded("numeric_range", given, {"m": 50, "n": "x"})[0] == "type_error"
    assert graded("numeric_range", given, {"m": 30, "n": 5})[0] == "wrong_value"


@pytest.mark.parametrize(
    ("given", "reason", "status"),
    [
        (None, "config_not_object", "invalid_config"),
        ({}, "ground_truth_missing", "undetermined"),
        ({"ground_truth": []}, "ground_truth_not_object", "undetermined"),
        ({"ground_truth": {}, "ranges": {}}, "ground_truth_empty", "undetermined"),
        ({"ground_truth": {"m": 1}, "ranges": []}, "ranges_not_object", "undetermined"),
        (config(m={"min": math.nan}), "range_nan", "invalid_config"),
    ],
)
def test_configurations_without_a_verdict(given: Any, reason: str, status: str) -> None:
    """What cannot be read is said to be so, and never a pass."""
    verdict = grade("numeric_range", given, {"m": 50})
    assert (verdict.reason, verdict.passed) == (reason, None)
    assert rule_status("numeric_range", given) == status
    bare = grade("numeric_range", given, [50])
    assert bare.failure_mode == (None if status == "invalid_config" else "format_error")


@pytest.mark.parametrize(
    ("value", "edge"),
    [
        (50, "clear"),
        (40, "on_bound"),
        (60, "on_bound"),
        (math.nextafter(60, 61), "within_ulp"),
        (math.nextafter(40, 41), "clear"),
        (math.inf, None),
        (39.999, "clear"),
    ],
)
def test_edges(value: float, edge: str | None) -> None:
    """How close a value is to the closest side."""
    assert grade("numeric_range", config(m=RANGE), {"m": value}).edge == edge


def test_integers_beyond_exact_floats() -> None:
    """Inside or outside must hold in both kinds of arithmetic."""
    big = 2**60
    given = config(m={"min": big, "max": 2 * big})
    assert graded("numeric_range", given, {"m": big + 1})[0] == "on_range_bound"
    assert graded("numeric_range", given, {"m": big - 1})[0] == "on_range_bound"
    assert graded("numeric_range", given, {"m": big + 2**20})[0] is True
    assert graded("numeric_range", given, {"m": big - 2**20})[0] == "wrong_value"
