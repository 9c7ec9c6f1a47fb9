"""longest_subsequence: common length over the longer list, against a threshold."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchproof.grading import grade, rule_status
from benchproof.grading.subsequence import MAX_ITEMS, canonical
from unit.grading.cases import graded, outcome

TRUTH = ["a", "b", "c", "d"]


def config(truth: Any = TRUTH, limit: Any = 0.6) -> dict[str, Any]:
    """A configuration."""
    return {"answer_field": "path", "ground_truth": truth, "scoring": {"pass_threshold": limit}}


@pytest.mark.parametrize(
    ("truth", "path", "expected", "score"),
    [
        (TRUTH, TRUTH, True, 1.0),
        (TRUTH, ["a", "c", "d"], True, 0.75),
        (TRUTH, ["d", "c"], "wrong_value", 0.25),
        (TRUTH, ["x", "a", "y", "b", "z", "c"], "wrong_value", 0.5),
        (TRUTH, [], "wrong_value", 0.0),
        ([], [], "wrong_value", 0.0),
        ([["a"], ["b"], ["c"]], [["a"], ["c"]], True, 2 / 3),
        ([1, True, 1.0], [1, 1, 1], True, 1.0),
        ([1, 2], ["1", "2"], "wrong_value", 0.0),
        ([None, {"a": 1, "b": [2]}], [None, {"b": [2.0], "a": 1}], True, 1.0),
        ([[1, 2]], [[[1], 2]], "wrong_value", 0.0),
        ([[1], [2]], [[1, 2]], "wrong_value", 0.0),
        ([{"a": 1}], [{"b": 1}], "wrong_value", 0.0),
        ([math.nan], [math.nan], "wrong_value", 0.0),
        (["A", "b"], ["a", "b"], "text_folding", None),
        (["a ", "b"], ["a", "b"], "text_folding", None),
        (["A ", "b"], ["a", "b"], "text_folding", None),
        (["A"], ["x"], "wrong_value", 0.0),
    ],
)
def test_paths(truth: Any, path: Any, expected: Any, score: float | None) -> None:
    """Outcome and score; what text folding would change is open."""
    verdict = grade("longest_subsequence", config(truth), {"path": path})
    assert (outcome(verdict), verdict.score) == (expected, score)


@pytest.mark.parametrize(
    ("limit", "expected", "edge"),
    [
        (0.74, True, "clear"),
        (0.75, "on_threshold", "on_bound"),
        (math.nextafter(0.75, 0), True, "clear"),
        (math.nextafter(0.75, 1), "wrong_value", "within_ulp"),
        (0.8, "wrong_value", "clear"),
        (0, True, "clear"),
        (None, "threshold_not_published", None),
        ("0.5", "threshold_not_published", None),
        (True, "threshold_not_published", None),
    ],
)
def test_thresholds(limit: Any, expected: Any, edge: str | None) -> None:
    """Equality with the threshold and its default are open; the score is known anyway."""
    verdict = grade("longest_subsequence", config(limit=limit), {"path": ["a", "b", "c"]})
    assert (outcome(verdict), verdict.score, verdict.edge) == (expected, 0.75, edge)


@pytest.mark.parametrize(
    ("given", "reason", "status"),
    [
        (5, "config_not_object", "invalid_config"),
        (config(limit=math.nan), "threshold_nan", "invalid_config"),
        ({"ground_truth": TRUTH}, "answer_field_missing", "undetermined"),
        ({"answer_field": 5, "ground_truth": TRUTH}, "answer_field_missing", "undetermined"),
        ({"answer_field": "path"}, "ground_truth_not_list", "undetermined"),
        (config("abcd"), "ground_truth_not_list", "undetermined"),
        ({**config(), "scoring": 5}, "threshold_not_published", "undetermined"),
    ],
)
def test_configurations_without_a_verdict(given: Any, reason: str, status: str) -> None:
    """What cannot be read is said to be so."""
    assert grade("longest_subsequence", given, {"path": TRUTH}).reason == reason
    assert rule_status("longest_subsequence", given) == status
    assert rule_status("longest_subsequence", config()) == "published"


def test_containers() -> None:
    """A missing key, another type than a list and another container than an object fail."""
    kind = "longest_subsequence"
    for answer, mode in (({}, "missing_field"), ({"path": None}, "type_error")):
        assert graded(kind, config(), answer) == (mode, "A", False)
        assert grade(kind, config(), answer).score == 0.0
    assert graded(kind, config(), TRUTH) == ("format_error", "C", False)


def test_long_lists_stay_fast() -> None:
    """Half a million answered items against a thousand true ones are a matter of a second."""
    truth, path = [f"n{number}" for number in range(1000)], [f"n{n % 2000}" for n in range(500_000)]
    verdict = grade("longest_subsequence", config(truth), {"path": path})
    assert verdict.score == 1000 / 500_000


def test_lists_that_are_both_too_long_are_not_compared() -> None:
    """A truth of 100,000 labels once took 600 MB, of a million 60 GB."""
    long = [f"n{number}" for number in range(MAX_ITEMS + 1)]
    assert grade("longest_subsequence", config(long), {"path": long[:-1]}).score == 20_000 / 20_001
    for kind in (long, long * 2):
        verdict = grade("longest_subsequence", config(long), {"path": kind})
        assert (verdict.status, verdict.reason) == ("not_supported", "list_too_long")


def test_canonical_forms() -> None:
    """Equal forms are equal values: order of keys, and numbers by value, do not matter."""
    assert canonical({"a": 1, "b": True}) == canonical({"b": 1.0, "a": 1})
    assert canonical([[]]) != canonical([])
    assert canonical("1") != canonical(1)
    assert canonical(math.nan) != canonical(math.nan)
    assert canonical("A ", str.lower) == canonical("a ")
