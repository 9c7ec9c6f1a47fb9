"""numeric_tolerance, row by row of the published rule; every value here is invented."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchproof.grading import NO_ANSWER, Verdict, compile_rule, grade, rule_status
from benchproof.grading.numeric import compile_config

HUGE = 10**400
ABS5 = {"type": "absolute", "value": 5}
PAIR = {"type": "absolute", "lower": 12, "upper": 4}


def one(tolerance: Any, truth: Any, answer: Any) -> Verdict:
    """Grade one field `m`; a tolerance of None leaves the entry away."""
    tolerances = {} if tolerance is None else {"m": tolerance}
    config = {"ground_truth": {"m": truth}, "tolerances": tolerances}
    return grade("numeric_tolerance", config, {"m": answer})


def outcome(verdict: Verdict) -> bool | str | None:
    """True or False for a graded verdict, else the reason."""
    return verdict.passed if verdict.status == "graded" else verdict.reason


@pytest.mark.parametrize(
    ("tolerance", "truth", "answer", "passed"),
    [
        (ABS5, 200, 205, True),
        (ABS5, 200, 195, True),
        (ABS5, 200, 206, False),
        (ABS5, 200, 194, False),
        (ABS5, 200, math.nextafter(205.0, math.inf), False),
        (ABS5, -200, -205, True),
        ({"type": "absolute", "value": 0.1}, 1.0, 1.1, False),
        ({"type": "absolute", "value": 0.1}, 0.2, 0.3, True),
        ({"type": "absolute", "value": 5e-324}, 0, 5e-324, True),
        ({"type": "absolute", "value": 5e-324}, 0, 1e-323, False),
        ({"type": "absolute", "value": math.inf}, 200, -1e308, True),
        ({"type": "absolute", "value": 0}, -0.0, 0, True),
        ({"type": "absolute", "value": 0}, 7, 7.0, True),
    ],
)
def test_absolute(tolerance: Any, truth: Any, answer: Any, passed: bool) -> None:
    """abs(x - truth) <= value, inclusive, in native arithmetic."""
    assert outcome(one(tolerance, truth, answer)) is passed


@pytest.mark.parametrize(
    ("answer", "passed"),
    [(188, True), (187, False), (204, True), (205, False), (200, True), (191.5, True)],
)
def test_offsets(answer: Any, passed: bool) -> None:
    """truth - lower <= x <= truth + upper; the older grader asks for the truth itself."""
    verdict = one(PAIR, 200, answer)
    assert outcome(verdict) is passed
    assert verdict.contested is (passed and answer != 200)
    assert verdict.tier == "A"


@pytest.mark.parametrize(
    ("truth", "lower", "upper", "answer"),
    [(0.1, 0.3, 0.3, 0.4), (0.2, 0.7, 0.7, 0.9), (-0.1, 0.3, 0.3, -0.4), (-0.2, 0.7, 0.7, -0.9)],
)
def test_offset_forms_differ_in_the_last_bit(
    truth: float, lower: float, upper: float, answer: float
) -> None:
    """Where the two published forms of the bound round apart, the rule is undetermined."""
    entry = {"type": "absolute", "lower": lower, "upper": upper}
    verdict = one(entry, truth, answer)
    assert outcome(verdict) == "offset_rounding"
    assert verdict.edge in ("on_bound", "within_ulp")
    config = {"ground_truth": {"m": truth}, "tolerances": {"m": entry}}
    assert rule_status("numeric_tolerance", config) == "published"


@pytest.mark.parametrize(
    ("tolerance", "answer", "expected"),
    [
        ({"type": "absolute", "lower": 12}, 200, True),
        ({"type": "absolute", "lower": 12}, 187, False),
        ({"type": "absolute", "lower": 12}, 188, "one_sided_offset"),
        ({"type": "absolute", "lower": 12}, 201, "one_sided_offset"),
        ({"type": "absolute", "upper": 4}, 200, True),
        ({"type": "absolute", "upper": 4}, 205, False),
        ({"type": "absolute", "upper": 4}, 204, "one_sided_offset"),
        ({"type": "absolute", "upper": 4}, 150, "one_sided_offset"),
        ({"upper": 4}, 205, False),
        ({"type": "absolute", "value": 5, "lower": 12, "upper": 4}, 198, True),
        ({"type": "absolute", "value": 5, "lower": 12, "upper": 4}, 205, "offsets_beside_value"),
        ({"type": "absolute", "value": 5, "lower": 12, "upper": 4}, 188, "offsets_beside_value"),
        ({"type": "absolute", "value": 5, "lower": 12, "upper": 4}, 187, False),
        ({"type": "absolute", "value": 5, "lower": 12}, 187, False),
        ({"type": "absolute", "value": 5, "lower": 12}, 206, "offsets_beside_value"),
        ({"type": "absolute", "value": 5, "lower": 12}, 203, "offsets_beside_value"),
        ({"type": "absolute", "value": 5, "upper": 4}, 197, "offsets_beside_value"),
        ({"type": "absolute", "value": 5, "upper": 4}, 206, False),
        ({"type": "min", "value": 150, "lower": 12, "upper": 4}, 160, "offsets_beside_type"),
        ({"type": "min", "value": 150, "lower": 12, "upper": 4}, 149, False),
        ({"type": "min", "value": 190, "lower": 12}, 189, "offsets_beside_type"),
        ({"type": "min", "value": 190, "lower": 12}, 187, False),
        ({"type": "min", "value": 150, "lower": 2, "upper": 4}, 5000, "offsets_beside_type"),
        ({"type": "max", "value": 250, "upper": 4}, 251, False),
        ({"type": "max", "value": 250, "upper": 90}, 290, "offsets_beside_type"),
        ({"type": "max", "value": 250, "upper": 90}, 291, False),
        ({"type": "max", "value": 250, "lower": 1, "upper": 4}, -9, "offsets_beside_type"),
        ({"type": "relative", "value": 0.1, "lower": 12, "upper": 4}, 200, "offsets_beside_type"),
        ({"type": "min", "value": 300, "lower": 12, "upper": 4}, 210, "offsets_beside_type"),
        ({"type": "max", "value": 100, "lower": 12, "upper": 4}, 150, "offsets_beside_type"),
        ({"type": "relative", "lower": 0.5}, 99, False),
        ({"type": "relative", "lower": 0.5}, 5000, "offsets_beside_type"),
        ({"type": "relative", "upper": 0.5}, 301, False),
        ({"type": "relative", "upper": 0.5}, -5000, "offsets_beside_type"),
        ({"type": "relative", "lower": 0.5, "upper": 0.5}, 290, "offsets_beside_type"),
        ({"type": "relative", "lower": 0.5, "upper": 0.5}, 301, False),
        ({"type": "relative", "lower": 0.5, "upper": 0.5}, 99, False),
        ({"type": "relative", "value": 0.1, "lower": 0.01, "upper": 0.01}, 221, False),
    ],
)
def test_offsets_where_sources_leave_room(tolerance: Any, answer: Any, expected: Any) -> None:
    """One offset alone, or beside value, min, max, relative: decided if all readings agree."""
    verdict = one(tolerance, 200, answer)
    assert outcome(verdict) == expected
    assert verdict.tier == ("C" if verdict.status == "graded" else None)


@pytest.mark.parametrize(
    ("truth", "value", "answer", "passed"),
    [
        (200, 0.1, 220, True),
        (200, 0.1, 180, True),
        (200, 0.1, 221, False),
        (200, 0.1, 179, False),
        (-200, 0.1, -220, True),
        (-200, 0.1, 200, False),
        (3, 0.2, 3.6, False),
        (8, 0, 8, True),
        (5e-324, 0.5, 5e-324, True),
        (5e-324, 0.5, 1e-323, False),
        (1, 0.5, True, True),
        (1, 0.5, False, False),
    ],
)
def test_relative(truth: Any, value: Any, answer: Any, passed: bool) -> None:
    """abs(x - truth) / abs(truth) <= value, in that form."""
    verdict = one({"type": "relative", "value": value}, truth, answer)
    assert outcome(verdict) is passed
    assert verdict.tier == ("B" if isinstance(answer, bool) else "A")
    assert not verdict.contested


@pytest.mark.parametrize("truth", [0, 0.0, -0.0, False])
@pytest.mark.parametrize("answer", [0, 0.01, "0", False, 1e308])
def test_relative_on_a_zero_truth(truth: Any, answer: Any) -> None:
    """A zero truth fails whatever is answered (older grader), and is flagged."""
    verdict = one({"type": "relative", "value": 0.05}, truth, answer)
    assert (verdict.passed, verdict.tier, verdict.failure_mode) == (False, "B", "wrong_value")
    assert "relative_zero_truth" in verdict.flags


@pytest.mark.parametrize(
    ("kind", "value", "answer", "passed", "contested"),
    [
        ("min", 150, 150, True, True),
        ("min", 150, 149, False, False),
        ("min", 150, 200, True, False),
        ("min", 150, 199, True, True),
        ("min", 250, 220, False, True),
        ("min", -3.0, -3, True, True),
        ("max", 250, 250, True, True),
        ("max", 250, 251, False, False),
        ("max", 250, 200, True, False),
        ("max", 250, 201, True, True),
        ("max", 150, 170, False, True),
        ("max", -3.0, -4, True, False),
        ("min", 2**60, 2**60, True, False),
        ("min", 2**60, 2**60 - 1, "large_integer", False),
        ("min", 2**60, 2**60 - 1000, False, True),
        ("max", 2**60, 2**60 + 1, "large_integer", False),
    ],
)
def test_min_and_max(kind: str, value: Any, answer: Any, passed: Any, contested: bool) -> None:
    """The bound is the tolerance's value; the older grader takes the truth (here 200)."""
    verdict = one({"type": kind, "value": value}, 200, answer)
    assert outcome(verdict) == passed
    assert verdict.contested is contested


@pytest.mark.parametrize(
    ("tolerance", "answer", "passed"),
    [
        (None, 200, True),
        (None, 201, False),
        ({}, 200, True),
        ({}, 201, False),
        ({"value": 5}, 205, True),
        ({"value": 5}, 206, False),
        ({"type": "absolute"}, 200, True),
        ({"type": "absolute"}, 200.5, False),
        ({"type": "relative"}, 200, True),
        ({"type": "relative"}, 201, False),
        ({"type": "min"}, 200, True),
        ({"type": "min"}, 199, False),
        ({"type": "max"}, 200, True),
        ({"type": "max"}, 201, False),
        ({"lower": 12, "upper": 4}, 188, True),
        ({"lower": 12, "upper": 4}, 187, False),
        ({"type": "absolute", "value": True}, 201, True),
        ({"type": "absolute", "value": True}, 202, False),
    ],
)
def test_absent_parts(tolerance: Any, answer: Any, passed: bool) -> None:
    """Entry, type, value absent: exact, absolute, 0; for min and max the truth. Tier B."""
    verdict = one(tolerance, 200, answer)
    assert outcome(verdict) is passed
    assert verdict.tier == "B"


def test_absent_tolerances_and_boolean_truth() -> None:
    """Without `tolerances` all match exactly; a truth of true counts as 1."""
    config = {"ground_truth": {"a": True, "b": 2}}
    verdict = grade("numeric_tolerance", config, {"a": 1, "b": 2})
    assert (verdict.passed, verdict.tier) == (True, "B")
    sized = one(ABS5, True, 6)
    assert (sized.passed, sized.tier) == (True, "B")


@pytest.mark.parametrize(
    ("kind", "answer", "expected"),
    [
        ("minimum", 149, False),
        ("minimum", 150, "spelled_out_type"),
        ("minimum", 5000, "spelled_out_type"),
        ("maximum", 151, False),
        ("maximum", 150, "spelled_out_type"),
        ("maximum", -5, "spelled_out_type"),
        ("asymmetric", 351, False),
        ("asymmetric", 49, False),
        ("asymmetric", 200, "spelled_out_type"),
        ("asymmetric", math.nan, False),
    ],
)
def test_spelled_out_types(kind: str, answer: Any, expected: Any) -> None:
    """minimum, maximum and asymmetric fail if every reading fails, and never pass."""
    assert outcome(one({"type": kind, "value": 150}, 200, answer)) == expected


@pytest.mark.parametrize(
    ("tolerance", "answer", "expected"),
    [
        ({"type": "asymmetric", "lower": 12, "upper": 4}, 205, False),
        ({"type": "asymmetric", "lower": 12, "upper": 4}, 187, False),
        ({"type": "asymmetric", "lower": 12, "upper": 4}, 188, "spelled_out_type"),
        ({"type": "asymmetric", "upper": 4}, 100, "spelled_out_type"),
        ({"type": "asymmetric", "upper": 4}, 205, False),
        ({"type": "asymmetric", "value": 30, "upper": 4}, 225, "spelled_out_type"),
        ({"type": "asymmetric", "value": 30, "upper": 4}, 231, False),
        ({"type": "asymmetric"}, 201, False),
        ({"type": "asymmetric"}, 200, "spelled_out_type"),
        ({"type": "minimum"}, 199, False),
        ({"type": "minimum", "value": 199, "lower": 12}, 198, "spelled_out_type"),
    ],
)
def test_spelled_out_types_with_offsets(tolerance: Any, answer: Any, expected: Any) -> None:
    """The readings of a spelled-out type take its offsets into account."""
    assert outcome(one(tolerance, 200, answer)) == expected


@pytest.mark.parametrize(
    "kind",
    ["percent", "Absolute", " absolute", "", None, 5, True, ["absolute"], {"a": 1}, math.nan],
)
def test_other_types(kind: Any) -> None:
    """A type nobody documents leaves every number open; what is no number fails all the same."""
    entry = {"type": kind, "value": 5}
    for number in (200, 9000, "200", True, math.nan):
        assert outcome(one(entry, 200, number)) == "unknown_tolerance_type"
    others: tuple[Any, ...] = ("x", None, [200], {})
    for other in others:
        verdict = one(entry, 200, other)
        assert (verdict.passed, verdict.failure_mode) == (False, "type_error")
    missing = grade(
        "numeric_tolerance", {"ground_truth": {"m": 1}, "tolerances": {"m": entry}}, {"n": 1}
    )
    assert (missing.passed, missing.failure_mode) == (False, "missing_field")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"ground_truth": {"m": 1}, "tolerances": {"m": 5}}, "tolerance_not_object"),
        ({"ground_truth": {"m": 1}, "tolerances": {"m": None}}, "tolerance_not_object"),
        ({"ground_truth": {"m": 1}, "tolerances": {"m": {"value": "5"}}}, "tolerance_not_number"),
        ({"ground_truth": {"m": 1}, "tolerances": {"m": {"value": None}}}, "tolerance_not_number"),
        ({"ground_truth": {"m": 1}, "tolerances": {"m": {"lower": []}}}, "tolerance_not_number"),
        ({"ground_truth": {"m": 1}, "tolerances": []}, "tolerances_not_object"),
        ({"ground_truth": {"m": 1}, "tolerances": None}, "tolerances_not_object"),
        ({"ground_truth": {"m": 1}, "tolerances": None, "tolerance": 5}, "tolerances_not_object"),
        ({"ground_truth": {"m": "1"}, "tolerances": {}}, "truth_not_number"),
        ({"ground_truth": {"m": None}, "tolerances": {}}, "truth_not_number"),
        ({"ground_truth": {"m": [1]}, "tolerance": 2}, "truth_not_number"),
        ({"ground_truth": {"m": 1}, "tolerance": {"m": 2}}, "tolerance_not_number"),
        ({"ground_truth": [1]}, "ground_truth_not_object"),
        ({"ground_truth": None}, "ground_truth_not_object"),
        ({"ground_truth": 1}, "ground_truth_not_object"),
        ({}, "ground_truth_missing"),
    ],
)
def test_shapes_that_no_source_describes(config: Any, reason: str) -> None:
    """A configuration of a shape that no source describes is undetermined, and says which."""
    verdict = grade("numeric_tolerance", config, {"m": 1})
    assert (verdict.status, verdict.reason, verdict.passed) == ("rule_undetermined", reason, None)
    assert rule_status("numeric_tolerance", config) == "undetermined"


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"ground_truth": {"m": math.nan}}, "truth_not_finite"),
        ({"ground_truth": {"m": -math.inf}, "tolerances": {"m": ABS5}}, "truth_not_finite"),
        ({"ground_truth": {"m": math.nan}, "tolerances": 5}, "truth_not_finite"),
        ({"ground_truth": {"m": 1}, "tolerances": {"m": {"value": math.nan}}}, "tolerance_nan"),
        (
            {"ground_truth": {"m": 1}, "tolerances": {"m": {"type": "min", "value": math.nan}}},
            "tolerance_nan",
        ),
        (
            {"ground_truth": {"m": "1"}, "tolerances": {"m": {"lower": math.nan, "value": "x"}}},
            "tolerance_nan",
        ),
        ({"ground_truth": {"m": 1}, "tolerances": {"m": {"value": -1}}}, "tolerance_negative"),
        (
            {"ground_truth": {"m": 1}, "tolerances": {"m": {"type": "relative", "value": -0.1}}},
            "tolerance_negative",
        ),
        (
            {"ground_truth": {"m": 1}, "tolerances": {"m": {"type": "min", "lower": -1}}},
            "tolerance_negative",
        ),
        (
            {"ground_truth": {"m": 1}, "tolerances": {"m": {"lower": 1, "upper": -1}}},
            "tolerance_negative",
        ),
        (
            {"ground_truth": {"m": 1}, "tolerances": {"m": {"type": "asymmetric", "value": -1}}},
            "tolerance_negative",
        ),
        ({"ground_truth": {"m": 1}, "tolerance": -1}, "tolerance_negative"),
        ({"ground_truth": {"m": 1}, "tolerance": math.nan}, "tolerance_nan"),
        ([], "config_not_object"),
        (None, "config_not_object"),
        ("x", "config_not_object"),
    ],
)
def test_faulty_configurations(config: Any, reason: str) -> None:
    """A NaN or negative tolerance, a truth that is not finite: neither a pass nor a silent fail."""
    answers: tuple[Any, ...] = ({"m": 1}, {"m": "x"}, {}, [], "m")
    for answer in answers:
        verdict = grade("numeric_tolerance", config, answer)
        assert (verdict.status, verdict.passed, verdict.reason) == ("invalid_config", None, reason)
    assert rule_status("numeric_tolerance", config) == "invalid_config"
    assert grade("numeric_tolerance", config, NO_ANSWER).status == "no_submission"


def test_faults_in_what_is_not_checked_are_ignored() -> None:
    """Tolerances of fields without a truth are ignored, faulty or not; bounds may be negative."""
    config = {"ground_truth": {"m": 1}, "tolerances": {"m": ABS5, "q": {"value": math.nan}}}
    assert grade("numeric_tolerance", config, {"m": 1}).passed is True
    assert outcome(one({"type": "max", "value": -2.0}, -3, -2)) is True
    assert outcome(one({"type": "min", "value": -2.0}, 3, -2)) is True
    assert outcome(one({"type": "percent", "value": -2.0}, 3, 3)) == "unknown_tolerance_type"


@pytest.mark.parametrize(
    ("truth", "tolerance", "answer", "expected"),
    [
        (200, 5, 200, True),
        (200, 5, 203, "single_tolerance"),
        (200, 5, 1300, False),
        (200, 0.1, 200.05, "single_tolerance"),
        (200, 0.1, 210, "single_tolerance"),
        (200, 0.1, 230, False),
        (0, 5, 0, "single_tolerance"),
        (0, 5, 6, False),
        (200, 5, "200", True),
    ],
)
def test_single_tolerance(truth: Any, tolerance: Any, answer: Any, expected: Any) -> None:
    """One `tolerance` for all fields is graded only where exact, absolute and relative agree."""
    beside: tuple[dict[str, Any], ...] = ({}, {"tolerances": {}}, {"tolerances": {"q": ABS5}})
    for rest in beside:
        config = {"ground_truth": {"m": truth}, "tolerance": tolerance, **rest}
        verdict = grade("numeric_tolerance", config, {"m": answer})
        assert outcome(verdict) == expected
        assert verdict.tier == ("C" if verdict.status == "graded" else None)
    assert rule_status("numeric_tolerance", config) == "undetermined"


@pytest.mark.parametrize(
    ("truth", "text", "passed"),
    [
        (1, "1", True),
        (1000, "1_000", True),
        (1000, "1e3", True),
        (12, " 12 ", True),
        (12, "\u0661\u0662", True),
        (12, "\t12\n", True),
        (12, "+12.0", True),
        (5, "25", False),
        (5, "-5", False),
        (5, "nan", False),
        (5, "inf", False),
        (5, "-Infinity", False),
    ],
)
def test_text_that_is_a_number(truth: Any, text: str, passed: bool) -> None:
    """Text goes through Python's float; the older grader fails all of it."""
    verdict = one({"type": "absolute", "value": 0}, truth, text)
    assert outcome(verdict) is passed
    assert verdict.contested is passed
    assert "text_number" in verdict.flags
    assert verdict.tier == "A"


@pytest.mark.parametrize(
    "text", ["1,000", "60%", "0x10", "", " ", "1 000", "1__0", "twelve", "1\x00", "\ud800", "1/2"]
)
def test_text_that_is_no_number(text: str) -> None:
    """What float refuses is a type error."""
    verdict = one({"type": "absolute", "value": 1e9}, 60, text)
    assert (verdict.passed, verdict.failure_mode, verdict.edge) == (False, "type_error", None)
    assert verdict.tier == "A"
    assert verdict.score == 0.0


@pytest.mark.parametrize(("value", "tier"), [(None, "C"), ([], "A"), ([200], "A"), ({}, "A")])
@pytest.mark.parametrize("kind", ["absolute", "relative", "min", "max", "minimum", "other"])
def test_values_that_are_no_number(value: Any, tier: str, kind: str) -> None:
    """None, lists and objects fail with a type error under every type."""
    verdict = one({"type": kind, "value": 500}, 200, value)
    assert (verdict.passed, verdict.failure_mode, verdict.tier) == (False, "type_error", tier)


@pytest.mark.parametrize(
    ("tolerance", "answer", "passed"),
    [
        (ABS5, math.nan, False),
        (PAIR, math.nan, False),
        ({"type": "min", "value": 1}, math.nan, False),
        ({"type": "max", "value": 1}, math.nan, False),
        ({"type": "relative", "value": 1}, math.nan, False),
        (ABS5, math.inf, False),
        (PAIR, -math.inf, False),
        ({"type": "min", "value": 1}, math.inf, True),
        ({"type": "min", "value": 1}, -math.inf, False),
        ({"type": "max", "value": 1}, -math.inf, True),
        ({"type": "max", "value": 1}, math.inf, False),
        ({"type": "relative", "value": 9}, math.inf, False),
    ],
)
def test_answers_that_are_not_finite(tolerance: Any, answer: float, passed: bool) -> None:
    """NaN fails every mode; infinity passes min, minus infinity passes max. No edge is given."""
    verdict = one(tolerance, 200, answer)
    assert outcome(verdict) is passed
    assert verdict.edge is None
    assert verdict.flags == ("nonfinite_answer",)


@pytest.mark.parametrize(
    ("tolerance", "truth", "answer", "expected"),
    [
        ({"value": 0}, 2**53 + 1, 2**53 + 1, True),
        ({"value": 0}, 2**53 + 1, 2**53, "large_integer"),
        ({"value": 0}, 2**53 + 1, 2**53 + 3, False),
        ({"value": 2**53 + 1}, 0, 2**53 + 2, False),
        ({"value": 2**53}, 0, 2**53 + 1, "large_integer"),
        ({"value": 2**53}, -(2**52), 2**52 + 1, "large_integer"),
        ({"value": 2**54 - 4}, 2 - 2**53, 2**53 - 1, "large_integer"),
        (ABS5, 200, HUGE, False),
        (ABS5, 200, -HUGE, False),
        (PAIR, 200, HUGE, False),
        ({"type": "relative", "value": 5}, 200, HUGE, False),
        ({"type": "min", "value": 5}, 200, -HUGE, False),
        ({"type": "min", "value": 5}, 200, HUGE, "large_integer"),
        ({"type": "min", "value": 5.5}, 200, HUGE, "large_integer"),
        ({"type": "max", "value": 5}, 200, -HUGE, "large_integer"),
        ({"type": "max", "value": 5}, 200, HUGE, False),
        (ABS5, HUGE, HUGE, "large_integer"),
        (ABS5, HUGE, 1.5, False),
        ({"type": "relative", "value": 5}, HUGE, 1.5, False),
        ({"type": "min", "value": HUGE}, 200, 5, False),
        (ABS5, 2**63, 2**63 + 4096, False),
        (ABS5, 2**63, str(2**63), True),
        ({"type": "min", "value": 2**53 + 1}, 200, str(2**53 + 1), "large_integer"),
    ],
    ids=[f"large{number}" for number in range(23)],
)
def test_large_integers(tolerance: Any, truth: Any, answer: Any, expected: Any) -> None:
    """Above 2**53 a verdict stands only if exact and float arithmetic give the same."""
    assert outcome(one(tolerance, truth, answer)) == expected


@pytest.mark.parametrize(
    ("answer", "scores", "mode"),
    [
        ({"a": 1, "b": 2, "c": 3}, (1, 1, 1), None),
        ({"a": 1, "b": 2, "c": 3, "z": [None]}, (1, 1, 1), None),
        ({"a": 1, "b": 2, "c": 9}, (1, 1, 0), "wrong_value"),
        ({"a": 9, "b": "x", "c": 3}, (0, 0, 1), "type_error"),
        ({"a": 9, "b": "x"}, (0, 0, 0), "missing_field"),
        ({"A": 1, "b": 2, "c ": 3}, (0, 1, 0), "missing_field"),
        ({"nested": {"a": 1, "b": 2, "c": 3}}, (0, 0, 0), "missing_field"),
        ({}, (0, 0, 0), "missing_field"),
    ],
)
def test_several_fields(answer: Any, scores: tuple[int, ...], mode: str | None) -> None:
    """All fields must pass; the score is their mean, the failure mode the lowest numbered one."""
    config = {"ground_truth": {"a": 1, "b": 2, "c": 3}}
    verdict = grade("numeric_tolerance", config, answer)
    assert verdict.field_scores == dict(zip("abc", scores, strict=True))
    assert verdict.score == sum(scores) / 3
    assert verdict.passed is (sum(scores) == 3)
    assert verdict.failure_mode == mode


@pytest.mark.parametrize(
    ("answer", "status", "passed", "mode"),
    [
        ({"open": 1, "b": 2}, "rule_undetermined", None, None),
        ({"open": 1, "b": 9}, "graded", False, "wrong_value"),
        ({"open": 1}, "graded", False, "missing_field"),
        ({"open": "x", "b": 2}, "graded", False, "type_error"),
    ],
)
def test_open_field_beside_another(
    answer: Any, status: str, passed: bool | None, mode: str | None
) -> None:
    """A failed field settles the verdict whatever an open one would give; a won one does not."""
    config = {"ground_truth": {"open": 1, "b": 2}, "tolerances": {"open": {"type": "percent"}}}
    verdict = grade("numeric_tolerance", config, answer)
    assert (verdict.status, verdict.passed, verdict.failure_mode) == (status, passed, mode)
    if answer["open"] == 1:
        assert verdict.score is None
        assert verdict.field_scores is not None
        assert verdict.field_scores["open"] is None
        assert verdict.fields[0].reason == "unknown_tolerance_type"


@pytest.mark.parametrize("name", ["", " ", "a.b", "ground_truth", "__class__", "\u00e9", "0"])
def test_odd_field_names(name: str) -> None:
    """Field names are taken as they are."""
    config = {"ground_truth": {name: 4}, "tolerances": {name: ABS5}}
    assert grade("numeric_tolerance", config, {name: 9}).passed is True
    assert grade("numeric_tolerance", config, {name + "x": 9}).failure_mode == "missing_field"


@pytest.mark.parametrize("answer", [[], ["m"], "m", 5, 5.5, True, math.nan])
def test_answer_that_is_no_object(answer: Any) -> None:
    """JSON that is no object is a format error; the older grader may check nothing."""
    for config, contested in (
        ({"ground_truth": {"m": 5}}, False),
        ({"ground_truth": {"m": 5}, "tolerances": 3}, False),
        ({"ground_truth": []}, False),
        ({"ground_truth": {}}, True),
        ({}, True),
    ):
        verdict = grade("numeric_tolerance", config, answer)
        assert (verdict.status, verdict.passed) == ("graded", False)
        assert (verdict.failure_mode, verdict.tier) == ("format_error", "C")
        assert (verdict.score, verdict.field_scores) == (None, None)
        assert verdict.contested is contested


def test_nothing_submitted() -> None:
    """An absent answer and JSON null are no submission whatever the type."""
    for kind, config in (("numeric_tolerance", {}), ("multiple_choice", {}), ("nope", None)):
        absent, null = grade(kind, config, NO_ANSWER), grade(kind, config, None)
        assert absent.status == null.status == "no_submission"
        assert (absent.passed, absent.failure_mode, absent.tier) == (None, "format_error", "A")
        assert (null.passed, null.tier, null.reason) == (None, "B", "null")


def test_empty_ground_truth() -> None:
    """Nothing to check is a vacuous pass, of the older grader's tier and without a score."""
    ignored: tuple[Any, ...] = ({}, {"m": ABS5}, [])
    for tolerances in ignored:
        config = {"ground_truth": {}, "tolerances": tolerances}
        verdict = grade("numeric_tolerance", config, {"m": 1})
        assert (verdict.status, verdict.passed, verdict.score) == ("graded", True, None)
        assert (verdict.field_scores, verdict.tier, verdict.edge) == ({}, "B", None)
        assert not verdict.contested


def test_contested_is_about_the_verdict() -> None:
    """A field that the older grader reverses contests the verdict only if that turns with it."""
    config = {"ground_truth": {"a": 200, "b": 5}, "tolerances": {"a": PAIR, "b": ABS5}}
    lost = grade("numeric_tolerance", config, {"a": 190, "b": 50})
    assert lost.fields[0].contested
    assert not lost.contested
    assert grade("numeric_tolerance", config, {"a": 190, "b": 5}).contested


def test_odd_answers_are_flagged() -> None:
    """true counts as 1 and says so; an integer beyond exact float arithmetic says so too."""
    verdict = one(ABS5, 1, True)
    assert (verdict.passed, verdict.tier, verdict.flags) == (True, "B", ("boolean_answer",))
    assert one(ABS5, 1, 1).flags == ()
    assert one(ABS5, 1, 2**53).flags == ("large_integer",)


def test_nothing_graded_shows_in_a_repr() -> None:
    """Neither a verdict nor a compiled rule shows a truth, a tolerance or an answer."""
    config = {"ground_truth": {"m": 31337}, "tolerances": {"m": {"type": "min", "value": 42421}}}
    rule = compile_rule("numeric_tolerance", config)
    shown = repr(rule) + repr(rule.grade({"m": 27182})) + repr(rule.grade({"m": "27182"}))
    assert not any(secret in shown for secret in ("31337", "42421", "27182"))


@pytest.mark.parametrize(
    ("entry", "shape"),
    [
        ({}, "absolute"),
        ({"type": "absolute", "value": 1}, "absolute"),
        (PAIR, "offsets"),
        ({"type": "relative", "value": 1}, "relative"),
        ({"type": "min"}, "min"),
        ({"type": "max"}, "max"),
        ({"type": "max", "upper": 1}, "open"),
        ({"type": "asymmetric", "lower": 1, "upper": 1}, "open"),
        ({"type": "percent"}, "open"),
        (7, "open"),
    ],
)
def test_shape_of_a_field(entry: Any, shape: str) -> None:
    """A compiled field says which form of the rule it has, open where sources leave room."""
    rule = compile_config({"ground_truth": {"m": 1}, "tolerances": {"m": entry}})
    assert [item.shape for item in rule.fields] == [shape]
    assert compile_config({"ground_truth": {"m": 1}, "tolerance": 1}).fields[0].shape == "open"
