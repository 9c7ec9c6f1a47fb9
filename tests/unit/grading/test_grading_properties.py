"""Properties of numeric grading over arbitrary JSON."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchproof.grading import NO_ANSWER, compile_rule, grade, rule_status
from benchproof.grading.numeric import compile_config
from benchproof.grading.readings import Accumulator
from benchproof.grading.record import WITHHELD, Rule, regrade

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-20, 20)
    | st.integers()
    | st.sampled_from([2**53 + 1, -(2**52) - 1, 10**400, 0.1, 0.3, -0.0, 5e-324, 1e308])
    | st.floats()
    | st.sampled_from(["1", "1e3", " 2 ", "nan", "x", "", "1_0", "\ud800"])
    | st.text(max_size=4)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c", "type", "value"]), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(-20, 20) | st.floats(-20, 20) | st.sampled_from([0.1, 0.2, 0.3, 0.7])
SIZES = st.integers(0, 20) | st.floats(0, 20) | st.sampled_from([0.1, 0.3, 0.7, math.inf])
TYPES = st.sampled_from(
    ["absolute", "relative", "min", "max", "minimum", "maximum", "asymmetric", "percent", None]
)
ENTRIES = (
    st.fixed_dictionaries({"type": st.just("absolute"), "value": SIZES})
    | st.fixed_dictionaries({"type": st.just("absolute"), "lower": SIZES, "upper": SIZES})
    | st.fixed_dictionaries(
        {}, optional={"type": TYPES, "value": SIZES, "lower": SIZES, "upper": SIZES}
    )
    | st.fixed_dictionaries({}, optional={"type": JSON, "value": JSON, "lower": JSON})
)
CONFIGS = st.fixed_dictionaries(
    {"ground_truth": st.dictionaries(NAMES, NUMBERS | SCALARS, max_size=3)},
    optional={"tolerances": st.dictionaries(NAMES, ENTRIES, max_size=3), "tolerance": SIZES},
)
PLAIN = st.fixed_dictionaries(
    {
        "ground_truth": st.dictionaries(NAMES, NUMBERS, min_size=1, max_size=3),
        "tolerances": st.dictionaries(NAMES, ENTRIES, max_size=3),
    }
)
ANSWERS = st.dictionaries(NAMES, NUMBERS | SCALARS, max_size=3)
MODEST = settings(max_examples=200)


@MODEST
@given(JSON | CONFIGS, JSON | ANSWERS)
def test_never_raises_and_stays_in_range(config: Any, answer: Any) -> None:
    """Any JSON gives a verdict whose parts fit together."""
    verdict = grade("numeric_tolerance", config, answer)
    graded = verdict.status == "graded"
    assert (verdict.passed is not None) is graded
    assert (verdict.tier is None) is (verdict.status not in ("graded", "no_submission"))
    assert verdict.score is None or 0 <= verdict.score <= 1
    assert not graded or (verdict.failure_mode is None) is verdict.passed
    assert not verdict.contested or graded
    assert graded or verdict.reason
    for item in verdict.fields:
        assert (item.passed is None) is (item.reason is not None)
        assert (item.failure_mode is not None) is (item.passed is False)
    total = Accumulator()
    total.add(config, answer, verdict)
    assert total.counts()["strict"].runs == graded


@MODEST
@given(JSON, JSON | CONFIGS, JSON)
def test_any_type_gives_a_status(kind: Any, config: Any, answer: Any) -> None:
    """Types are any JSON too."""
    assert rule_status(kind, config) == compile_rule(kind, config).rule_status
    assert grade(kind, config, answer).status in ("rule_undetermined", "no_submission")
    assert grade(kind, config, NO_ANSWER).status == "no_submission"


@settings(max_examples=500)
@given(PLAIN | CONFIGS, ANSWERS)
@example({"ground_truth": {"a": 0.1}, "tolerances": {"a": {"value": 0.3}}}, {"a": 0.4})
@example(
    {"ground_truth": {"a": 0.2}, "tolerances": {"a": {"lower": 0.7, "upper": 0.7}}}, {"a": 0.9}
)
@example({"ground_truth": {"a": 1e308}, "tolerances": {"a": {"value": 1e308}}}, {"a": -1e308})
def test_the_shortcut_changes_nothing(config: Any, answer: Any) -> None:
    """Fast and full path agree, on a first and on a repeated answer."""
    rule = compile_config(config)
    full = rule.grade_in_full(answer)
    assert rule.grade(answer) == full
    assert rule.grade(answer) == full


@settings(max_examples=500)
@given(NUMBERS, st.integers(-8, 8), SIZES.filter(math.isfinite), st.booleans(), st.booleans())
def test_the_shortcut_near_the_bound(
    truth: float, steps: int, size: float, paired: bool, low: bool
) -> None:
    """Fast and full path agree within a few ulps of a bound, where rounding decides."""
    entry = {"lower": size, "upper": size / 2} if paired else {"value": size}
    answer = float(truth - size if low else truth + (size / 2 if paired else size))
    for _ in range(abs(steps)):
        answer = math.nextafter(answer, math.copysign(math.inf, steps))
    rule = compile_config({"ground_truth": {"a": truth}, "tolerances": {"a": entry}})
    assert rule.grade({"a": answer}) == rule.grade_in_full({"a": answer})


@MODEST
@given(NUMBERS, SIZES, NUMBERS, NUMBERS)
def test_nearer_is_never_worse(truth: float, size: float, one: float, two: float) -> None:
    """An answer nearer to the truth never fails where a farther one passes."""
    near, far = sorted((one, two), key=lambda x: abs(x - truth))
    config = {"ground_truth": {"a": truth}, "tolerances": {"a": {"value": size}}}
    if grade("numeric_tolerance", config, {"a": far}).passed:
        assert grade("numeric_tolerance", config, {"a": near}).passed
    if abs(near - truth) == abs(far - truth):
        verdicts = [grade("numeric_tolerance", config, {"a": x}).passed for x in (near, far)]
        assert verdicts[0] is verdicts[1]


@MODEST
@given(st.integers(-50, 50), st.integers(0, 30), st.integers(0, 30), st.integers(-99, 99))
def test_offsets_against_the_definition(truth: int, lower: int, upper: int, answer: int) -> None:
    """On integers, where nothing rounds, the offsets are plain arithmetic."""
    entry = {"type": "absolute", "lower": lower, "upper": upper}
    config = {"ground_truth": {"a": truth}, "tolerances": {"a": entry}}
    verdict = grade("numeric_tolerance", config, {"a": answer})
    assert verdict.passed is (truth - lower <= answer <= truth + upper)
    on_bound = answer in (truth - lower, truth + upper)
    assert verdict.edge == ("on_bound" if on_bound else "clear")


RECORDS = JSON | st.fixed_dictionaries(
    {
        "result": JSON
        | st.fixed_dictionaries(
            {"agent_answer": JSON | ANSWERS},
            optional={
                "passed": st.none() | st.booleans(),
                "grader_result": JSON
                | st.fixed_dictionaries(
                    {},
                    optional={
                        "agent_answer": JSON | ANSWERS,
                        "passed": st.none() | st.booleans(),
                        "score": SCALARS,
                        "field_scores": st.none() | st.dictionaries(NAMES, SCALARS, max_size=3),
                    },
                ),
            },
        )
    },
    optional={"latch_eval_tools_version": JSON},
)


@MODEST
@given(JSON | CONFIGS, RECORDS)
def test_any_record_is_a_row(config: Any, record: Any) -> None:
    """Any JSON is a row: no exception, finite scores, agreement only where there is a verdict."""
    for rule in (Rule.published("numeric_tolerance", config), WITHHELD, None):
        found = regrade(rule, record)
        assert found.recorded_score is None or math.isfinite(found.recorded_score)
        agreed = (found.passed_agrees, found.score_agrees, found.fields_agree)
        assert found.status == "graded" or agreed == (None, None, None)
        assert found.status == "graded" or found.reason
        assert list(found.fields) == sorted(found.fields, key=lambda item: item.field)
        assert list(found.flags) == sorted(set(found.flags))
