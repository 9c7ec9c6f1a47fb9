"""Columns and the scalar implementation give the same verdicts, for any answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.grading import NO_ANSWER, Verdict, compile_rule
from benchproof.grading.columns import STATUSES, Columns, grade_columns, supports
from benchproof.grading.verdict import EDGES, FAILURE_MODES

MODEST = settings(max_examples=200)
PLAIN = st.integers(-30, 30) | st.floats(-30, 30) | st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.7, 1.1])
ODD = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.sampled_from(["1", "x", " 2 ", 2**53 + 1, 2**52, -(2**52), 10**400, [], {}, 1e308, 5e-324])
)
SIZES = st.integers(0, 20) | st.sampled_from([0.1, 0.2, 0.3, 0.7, 1e308, math.inf])
ENTRIES = st.one_of(
    st.fixed_dictionaries({"value": SIZES}),
    st.fixed_dictionaries({"type": st.just("absolute"), "lower": SIZES, "upper": SIZES}),
    st.fixed_dictionaries({"type": st.just("relative"), "value": SIZES}),
    st.fixed_dictionaries({"type": st.sampled_from(["min", "max"]), "value": PLAIN}),
    st.fixed_dictionaries({"type": st.sampled_from(["min", "max", "relative", "percent"])}),
)
NUMERIC = st.fixed_dictionaries(
    {
        "ground_truth": st.dictionaries(st.sampled_from("abc"), PLAIN | ODD, max_size=3),
        "tolerances": st.dictionaries(st.sampled_from("abc"), ENTRIES, max_size=3),
    }
)
CLOSE = st.fixed_dictionaries({}, optional=dict.fromkeys("abc", PLAIN))
NUMBERS = CLOSE | st.dictionaries(st.sampled_from("abcd"), PLAIN | ODD, max_size=3)
WORDS = st.sampled_from(["La", "la", "Lb", "Lc", "Ld", "\ud800", "", "İ", "i̇"])
KEYS = ("cell_types_predicted", "top_marker_genes", "found")
LISTS = st.lists(WORDS, max_size=6)
SHARE = st.sampled_from([0, 0.25, 1 / 3, 0.5, 0.6, 2 / 3, 0.75, 0.9, 1, math.nextafter(0.5, 1)])
SETS = st.fixed_dictionaries(
    {"ground_truth_labels": LISTS, "canonical_markers": LISTS},
    optional={
        "scoring": st.fixed_dictionaries(
            {
                "pass_threshold": SHARE,
                "pass_thresholds": st.fixed_dictionaries(
                    {"precision_at_k": SHARE, "recall_at_k": SHARE | st.just("0.5")}
                ),
            }
        ),
        "expected_count": st.integers(0, 4) | st.just(10**30),
        "answer_field": st.sampled_from(KEYS),
    },
)
GIVEN = st.dictionaries(
    st.sampled_from(KEYS), LISTS | st.lists(WORDS | ODD, max_size=4) | ODD, max_size=2
)


def row(columns: Columns, place: int) -> tuple[Any, ...]:
    """Return one row as plain values."""

    def named(code: int, names: Sequence[str]) -> str | None:
        return None if code < 0 else names[code]

    score = float(columns.score[place])
    return (
        STATUSES[columns.status[place]],
        {1: True, 0: False, -1: None}[int(columns.passed[place])],
        None if math.isnan(score) else score,
        named(int(columns.mode[place]), FAILURE_MODES),
        named(int(columns.edge[place]), EDGES),
        bool(columns.contested[place]),
        [int(code) for code in columns.fields[place]],
    )


def expected(verdict: Verdict, width: int) -> tuple[Any, ...]:
    """Return what a row must be."""
    codes = [-1 if item.passed is None else int(item.passed) for item in verdict.fields]
    return (
        verdict.status,
        verdict.passed,
        verdict.score,
        verdict.failure_mode,
        verdict.edge,
        verdict.contested,
        (codes + [-1] * (width - len(codes)))[:width],
    )


def same(kind: str, config: Any, answers: list[Any]) -> Columns:
    """Assert that both implementations agree on every answer."""
    rule = compile_rule(kind, config)
    found = grade_columns(rule, answers)
    width = found.fields.shape[1]
    assert len(found) == len(answers)
    for place, answer in enumerate(answers):
        assert row(found, place) == expected(rule.grade(answer), width)
    return found


@MODEST
@given(NUMERIC, st.lists(NUMBERS | ODD | st.just(NO_ANSWER), max_size=6))
def test_numbers(config: Any, answers: list[Any]) -> None:
    """Every form of tolerance, on plain and on odd values."""
    same("numeric_tolerance", config, answers)


@MODEST
@given(PLAIN, SIZES.filter(math.isfinite), st.integers(-4, 4), st.sampled_from(["v", "o", "r"]))
def test_numbers_near_a_bound(truth: float, size: float, steps: int, form: str) -> None:
    """Within a few ulps of a bound rounding decides, in both alike."""
    answer = float(truth + (size * abs(truth) if form == "r" else size))
    for _ in range(abs(steps)):
        answer = math.nextafter(answer, math.copysign(math.inf, steps))
    entry = {"value": size, "type": "relative" if form == "r" else "absolute"}
    if form == "o":
        entry = {"lower": size, "upper": size}
    config = {"ground_truth": {"a": truth}, "tolerances": {"a": entry}}
    same("numeric_tolerance", config, [{"a": answer}, {"a": -answer}])


@MODEST
@given(SETS, st.lists(GIVEN | LISTS | ODD | st.just(NO_ANSWER), max_size=6))
def test_sets(config: Any, answers: list[Any]) -> None:
    """Labels and markers, with counts and named keys, on plain and on odd lists."""
    same("label_set_jaccard", config, answers)
    same("marker_gene_precision_recall", config, answers)


@pytest.mark.parametrize(
    ("kind", "config", "answer"),
    [
        ("numeric_tolerance", {"ground_truth": {"a": 1}}, {"a": 1}),
        ("label_set_jaccard", {"ground_truth_labels": ["La"]}, {"cell_types_predicted": ["Lb"]}),
        ("marker_gene_precision_recall", {"canonical_markers": ["G"]}, {"top_marker_genes": ["g"]}),
    ],
)
def test_plain_answers_need_no_scalar_path(kind: str, config: Any, answer: Any) -> None:
    """What columns are for is graded in columns; anything else goes the other way."""
    found = same(kind, config, [answer, {}, None, answer])
    assert found.scalar.tolist() == [False, True, True, False]
    assert supports(compile_rule(kind, config))
    assert len(same(kind, config, [])) == 0


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("numeric_tolerance", {"ground_truth": {}}),
        ("numeric_tolerance", {"ground_truth": {"a": "1"}}),
        (
            "numeric_tolerance",
            {"ground_truth": {"a": 0}, "tolerances": {"a": {"type": "relative"}}},
        ),
        ("numeric_tolerance", {"ground_truth": {"a": 2**60}}),
        ("label_set_jaccard", {"ground_truth_labels": [1]}),
        ("label_set_jaccard", {"ground_truth_labels": [], "scoring": {"pass_threshold": math.inf}}),
        ("marker_gene_precision_recall", {"canonical_markers": {"Ta": []}}),
        ("multiple_choice", {"correct_answer": "Q"}),
        ("list_match", {}),
        ("marker_gene_separation", {}),
        ("all_of", {"children": []}),
        ("rubric_length_penalty", None),
    ],
)
def test_other_rules_go_one_by_one(kind: str, config: Any) -> None:
    """A rule that columns cannot tell is graded all the same."""
    assert not supports(compile_rule(kind, config))
    found = same(kind, config, [{"a": 1}, {"answer": "q"}, {}, None])
    assert bool(found.scalar.all())


def test_columns_have_fixed_types() -> None:
    """One byte a code, one float a score, whatever is answered."""
    found = same("numeric_tolerance", {"ground_truth": {"a": 1}}, [{"a": 1}, {"a": "x"}])
    codes = (found.status, found.passed, found.mode, found.edge, found.fields)
    assert {item.dtype for item in codes} == {np.dtype(np.int8)}
    assert found.score.dtype == np.float64
    assert found.contested.dtype == found.scalar.dtype == np.bool_
