"""Properties of every grader family over arbitrary and over well-formed JSON."""

from __future__ import annotations

import math
import random
from itertools import combinations
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.grading import NO_ANSWER, compile_rule, grade, rule_status
from benchproof.grading.own import grade_own
from benchproof.grading.readings import Accumulator
from benchproof.grading.record import Rule, RunStatus, regrade
from benchproof.grading.registry import FAMILIES
from benchproof.grading.subsequence import common_length, similarity

KINDS = tuple(name for name in FAMILIES.names() if name != "numeric_tolerance")
COMPOSITES = ("all_of", "average_of", "composite", "graders[]")
WORDS = st.sampled_from(["La", "la", "Lb", "Lc", "G1", "g1", "x", "", " La", "0.5", "true", "3"])
NUMBERS = (
    st.integers(-3, 100)
    | st.floats(-3, 100)
    | st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 60, 80.0, 2**60, 10**400, math.inf, math.nan])
)
SCALARS = st.none() | st.booleans() | NUMBERS | WORDS
KEYS = st.sampled_from(
    [
        *("answer", "cell_types_predicted", "top_marker_genes", "found", "m", "n"),
        *("per_gene_stats", "mean_auroc", "gene", "auroc", "cell_type_distribution"),
        *("total_cells", "median_ic_to_pc_um", "p90_ic_to_pc_um", "pct_ic_within_15um"),
        *("pct_ic_mixed_within_55um", "adjacency_pass", "finished_file_contents", "text"),
        *("reward", "La", "la", "Ka", "ground_truth", "ranges", "min", "max", "correct_answer"),
        *("correct_answers", "ground_truth_labels", "scoring", "pass_threshold", "threshold"),
        *("pass_thresholds", "precision_at_k", "recall_at_k", "expected_count", "answer_field"),
        *("canonical_markers", "tolerances", "cell_type_percentages", "value", "type", "method"),
        *("min_recall_per_celltype", "min_celltypes_passing", "fraction_high", "expected"),
        *("children", "role", "config", "pass_rule", "graders", "per_gene_cutoff", "curve"),
        *("allowed_chars", "ramp_percent", "max_penalty", "max_median_ic_to_pc_um"),
        *("score_threshold", "min_passing_children", "passing_reward_threshold"),
    ]
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=14,
)
LISTS = st.lists(SCALARS | JSON, max_size=5)
LIMITS = st.dictionaries(KEYS, SCALARS, max_size=3)
SCORING = st.fixed_dictionaries(
    {},
    optional={
        "pass_threshold": SCALARS,
        "method": SCALARS,
        "pass_thresholds": LIMITS
        | st.fixed_dictionaries(
            {"min_recall_per_celltype": NUMBERS, "min_celltypes_passing": st.integers(0, 3)}
        ),
    },
)
SHAPED = {
    "numeric_range": st.fixed_dictionaries(
        {
            "ground_truth": st.dictionaries(st.sampled_from("mn"), SCALARS, max_size=2),
            "ranges": st.dictionaries(
                st.sampled_from("mno"),
                st.fixed_dictionaries({}, optional={"min": SCALARS, "max": SCALARS}) | JSON,
                max_size=3,
            ),
        }
    ),
    "multiple_choice": st.fixed_dictionaries(
        {}, optional={"correct_answer": SCALARS, "correct_answers": LISTS | SCALARS}
    ),
    "label_set_jaccard": st.fixed_dictionaries(
        {"ground_truth_labels": st.lists(SCALARS, max_size=4) | JSON},
        optional={
            "scoring": SCORING | JSON,
            "expected_count": SCALARS,
            "answer_field": SCALARS,
            "threshold": SCALARS,
        },
    ),
    "marker_gene_precision_recall": st.fixed_dictionaries(
        {"canonical_markers": LISTS | st.dictionaries(WORDS, LISTS, max_size=3) | JSON},
        optional={
            "scoring": SCORING | JSON,
            "expected_count": SCALARS,
            "answer_field": KEYS | SCALARS,
            "pass_thresholds": LIMITS,
        },
    ),
    "distribution_comparison": st.fixed_dictionaries(
        {
            "ground_truth": st.fixed_dictionaries(
                {"cell_type_distribution": st.dictionaries(WORDS, SCALARS, max_size=3)},
                optional={"total_cells": SCALARS},
            )
        },
        optional={"tolerances": JSON},
    ),
    "longest_subsequence": st.fixed_dictionaries(
        {"answer_field": KEYS, "ground_truth": LISTS, "scoring": SCORING}
    ),
    "rubric_length_penalty": st.fixed_dictionaries(
        {"allowed_chars": NUMBERS, "ramp_percent": NUMBERS, "max_penalty": NUMBERS},
        optional={"curve": WORDS, "passing_reward_threshold": SCALARS},
    ),
}
CHILDREN = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from([*KINDS, "numeric_tolerance", "list_match", "new"]) | SCALARS,
        "config": st.one_of(*SHAPED.values()) | JSON,
        "role": st.sampled_from(["gate", "hard_fail", "additive", "new"]) | SCALARS,
    },
)
COMPOSED = st.fixed_dictionaries(
    {"children": st.lists(CHILDREN | JSON, max_size=4)},
    optional={
        "pass_rule": st.sampled_from(["all", "min_passing", "score_threshold"]) | SCALARS,
        "min_passing_children": SCALARS,
        "score_threshold": SCALARS,
    },
)
MODEST = settings(max_examples=80)


def configs(kind: str) -> st.SearchStrategy[Any]:
    """Return configurations of a type: arbitrary, well-formed, and between."""
    if kind in COMPOSITES:
        return COMPOSED | st.lists(CHILDREN, max_size=3) | JSON
    return SHAPED[kind] | JSON if kind in SHAPED else JSON


@pytest.mark.parametrize("kind", KINDS)
@MODEST
@given(st.data())
def test_any_json_gives_a_verdict_that_fits_together(kind: str, data: st.DataObject) -> None:
    """No exception; passed, score, mode, tier, reason and fields agree with the status."""
    config, answer = data.draw(configs(kind)), data.draw(JSON)
    rule = compile_rule(kind, config)
    verdict = rule.grade(answer)
    graded = verdict.status == "graded"
    composite = kind in COMPOSITES and verdict.status == "invalid_config"
    assert (verdict.passed is not None) is graded or composite or verdict.status == "arithmetic"
    assert verdict.score is None or 0 <= verdict.score <= 1 or kind == "rubric_length_penalty"
    assert not graded or (verdict.failure_mode is None) is verdict.passed
    assert not graded or (verdict.tier is not None and verdict.reason is None)
    assert graded or verdict.reason or verdict.status == "arithmetic"
    assert not verdict.contested or graded
    for item in verdict.fields:
        assert (item.passed is None) is (item.reason is not None)
        assert (item.failure_mode is not None) is (item.passed is False)
        assert (item.passed is None) is (item.tier is None)
    assert not verdict.passed or all(item.passed for item in verdict.fields) or kind in COMPOSITES
    assert rule.rule_status == rule_status(kind, config)
    assert rule.grade(answer) == verdict
    assert rule.grade(NO_ANSWER).status == rule.grade(None).status == "no_submission"


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(st.data())
def test_any_json_is_regraded_and_read_wrongly(kind: str, data: st.DataObject) -> None:
    """Records and trap readings take any configuration and answer, and so does one's own."""
    config, answer = data.draw(configs(kind)), data.draw(JSON)
    readings = Accumulator()
    record = {"result": {"agent_answer": answer, "passed": True, "grader_result": None}}
    found = regrade(Rule.published(kind, config), record, readings)
    assert found.status in get_args(RunStatus)
    assert found.status == "graded" or found.passed_agrees is None
    assert all(0 <= count.applies <= count.runs for count in readings.counts().values())
    own = grade_own({"grader": {"type": kind, "config": config}}, answer)
    assert (own.passed is not None) is (own.status == "graded")
    assert own.grader_type == kind


@pytest.mark.parametrize("kind", KINDS)
def test_deep_values_are_only_odd(kind: str) -> None:
    """A value nested deeper than Python's recursion limit is a verdict too, anywhere."""
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    keys = ("answer", "cell_types_predicted", "top_marker_genes", "cell_type_distribution", "m")
    answer = {**dict.fromkeys(keys, deep), "path": [deep], "per_gene_stats": [deep], "text": deep}
    answer |= {"mean_auroc": 1, "reward": 1, "finished_file_contents": deep}
    config = {
        "answer_field": "path",
        "ground_truth": [deep],
        "ground_truth_labels": ["La"],
        "canonical_markers": [deep],
        "correct_answer": deep,
        "expected": deep,
        "children": [{"type": "multiple_choice", "config": {"correct_answer": "Q"}}],
        "allowed_chars": 5,
        "ramp_percent": 5,
        "max_penalty": 1,
    }
    for given_config in (config, {**config, "canonical_markers": ["x"], "correct_answer": "Q"}):
        rule = compile_rule(kind, given_config)
        for given_answer in (answer, deep, {**answer, "top_marker_genes": [deep]}):
            assert rule.grade(given_answer).status


LABELS = st.lists(st.sampled_from(["La", "Lb", "Lc", "Ld", "Le", "la", 1, "1"]), max_size=7)
SHARE = st.sampled_from([0, 0.25, 1 / 3, 0.5, 0.6, 2 / 3, 0.75, 0.9, 1])


@MODEST
@given(LABELS, LABELS, SHARE)
def test_label_sets_against_the_definition(
    truth: list[Any], given: list[Any], limit: float
) -> None:
    """The overlap of two sets, whatever order and repetition."""
    config = {"ground_truth_labels": truth, "scoring": {"pass_threshold": limit}}
    verdict = grade("label_set_jaccard", config, {"cell_types_predicted": given})
    union = set(truth) | set(given)
    index = len(set(truth) & set(given)) / len(union) if union else 0.0
    assert verdict.passed is (index >= limit)
    assert (verdict.edge == "on_bound") is (index == limit)
    shuffled = given + given[:2]
    random.Random(1).shuffle(shuffled)
    other = grade("label_set_jaccard", config, {"cell_types_predicted": shuffled})
    assert (other.passed, other.edge) == (verdict.passed, verdict.edge)


@MODEST
@given(LABELS, LABELS, SHARE, SHARE)
def test_a_higher_threshold_is_never_easier(
    truth: list[Any], given: list[Any], one: float, two: float
) -> None:
    """What passes a threshold passes every lower one; a right label more never hurts."""
    low, high = sorted((one, two))
    for passed in (labels_pass, markers_pass):
        assert not passed(truth, given, high) or passed(truth, given, low)
        assert not (truth and passed(truth, given, low)) or passed(truth, [*given, truth[0]], low)


def labels_pass(truth: list[Any], given: list[Any], limit: float) -> bool | None:
    """Grade a label set."""
    config = {"ground_truth_labels": truth, "scoring": {"pass_threshold": limit}}
    return grade("label_set_jaccard", config, {"cell_types_predicted": given}).passed


def markers_pass(truth: list[Any], given: list[Any], limit: float) -> bool | None:
    """Grade a list of markers."""
    limits = {"precision_at_k": limit, "recall_at_k": limit}
    config = {"canonical_markers": truth, "scoring": {"pass_thresholds": limits}}
    return grade("marker_gene_precision_recall", config, {"top_marker_genes": given}).passed


@MODEST
@given(LABELS, LABELS, SHARE, SHARE)
def test_markers_against_the_definition(
    truth: list[Any], given: list[Any], precision: float, recall: float
) -> None:
    """Precision and recall over sets of lowercased text; contested where list length matters."""
    limits = {"precision_at_k": precision, "recall_at_k": recall}
    config = {"canonical_markers": truth, "scoring": {"pass_thresholds": limits}}
    verdict = grade("marker_gene_precision_recall", config, {"top_marker_genes": given})
    genes, names = {str(x).lower() for x in truth}, {str(x).lower() for x in given}
    right = len(genes & names)
    found = right / len(genes) if genes else 0.0
    assert verdict.passed is (
        (right / len(names) if names else 0.0) >= precision and found >= recall
    )
    older = (right / len(given) if given else 0.0) >= precision and found >= recall
    assert verdict.contested is (older is not verdict.passed)


@MODEST
@given(
    st.dictionaries(st.sampled_from(["Ka", "Kb", "Kc"]), st.integers(0, 100), max_size=3),
    st.dictionaries(st.sampled_from(["ka", "Kb", "KC", "Kd"]), st.integers(0, 100), max_size=4),
    st.integers(0, 20),
)
def test_distributions_against_the_definition(
    truth: dict[str, int], given: dict[str, int], size: int
) -> None:
    """Every true category within the tolerance, by lowercased name; order does not matter."""
    config = {
        "ground_truth": {"cell_type_distribution": truth},
        "tolerances": {"cell_type_percentages": {"value": size}},
    }
    folded = {name.lower(): value for name, value in given.items()}
    distances = [abs(folded.get(name.lower(), 1e9) - value) for name, value in truth.items()]
    turned = dict(reversed(given.items()))
    for answer in (given, turned):
        verdict = grade("distribution_comparison", config, {"cell_type_distribution": answer})
        assert verdict.passed is all(distance <= size for distance in distances)
        known = [distance for distance in distances if distance < 1000]
        assert (verdict.edge == "on_bound") is (size in known)


def slow_common_length(one: list[Any], two: list[Any]) -> int:
    """The longest common subsequence by trying all of them."""
    for size in range(min(len(one), len(two)), 0, -1):
        taken = {tuple(map(str, items)) for items in combinations(two, size)}
        if any(tuple(map(str, items)) in taken for items in combinations(one, size)):
            return size
    return 0


@MODEST
@given(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7))
def test_common_length_against_the_definition(one: list[str], two: list[str]) -> None:
    """Bit-parallel and by trial, and the same from both sides."""
    assert common_length(one, two) == slow_common_length(one, two) == common_length(two, one)
    assert similarity(one, two) == common_length(one, two) / max(len(one), len(two), 1)
    assert similarity(one, one) == (1.0 if one else 0.0)


@MODEST
@given(st.permutations(range(4)), st.lists(st.sampled_from("QZ"), min_size=4, max_size=4))
def test_the_order_of_children_does_not_matter(order: list[int], rights: list[str]) -> None:
    """all_of, average_of and lists give one verdict and score for any order of children."""
    kids = [{"type": "multiple_choice", "config": {"correct_answer": right}} for right in rights]
    kids[0] = {"type": "list_match", "config": {}} if rights[0] == "Z" else kids[0]
    for kind in ("all_of", "average_of", "graders[]"):
        found = [
            grade(kind, {"children": children, "graders": children}, {"answer": "Q"})
            for children in (kids, [kids[place] for place in order])
        ]
        assert len({(item.status, item.passed, item.score, item.tier) for item in found}) == 1


@MODEST
@given(st.lists(st.sampled_from("QZL"), min_size=1, max_size=5), st.integers(0, 6))
def test_open_children_bound_the_count(marks: list[str], needed: int) -> None:
    """min_passing is decided exactly where every way to settle the open children gives one side."""
    kids = [
        {"type": "list_match", "config": {}}
        if mark == "L"
        else {"type": "multiple_choice", "config": {"correct_answer": mark}}
        for mark in marks
    ]
    config = {"children": kids, "pass_rule": "min_passing", "min_passing_children": needed}
    passed = grade("average_of", config, {"answer": "Q"}).passed
    least, most = marks.count("Q"), marks.count("Q") + marks.count("L")
    expected = {least >= needed, most >= needed}
    assert passed is (expected.pop() if len(expected) == 1 else None)
