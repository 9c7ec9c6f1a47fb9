"""marker_gene_separation and spatial_adjacency: the older public grader is their only source."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchproof.grading import grade, rule_status
from unit.grading.cases import graded, outcome

KIND, ADJACENCY = "marker_gene_separation", "spatial_adjacency"


def rows(*aurocs: Any) -> list[dict[str, Any]]:
    """Rows of distinct genes."""
    return [{"gene": f"G{place}", "auroc": value} for place, value in enumerate(aurocs)]


@pytest.mark.parametrize(
    ("stats", "mean", "expected"),
    [
        (rows(0.9, 0.8, 0.7, 0.95), 0.85, True),
        (rows(0.9, 0.79, 0.7, 0.95), 0.85, "wrong_value"),
        (rows(0.9), math.nextafter(0.85, 0), "wrong_value"),
        (rows(0.9), math.nan, "wrong_value"),
        (rows(0.9), math.inf, True),
        (rows(0.9), True, True),
        (rows(0.9), "0.9", "type_error"),
        (rows(0.9), None, "type_error"),
        (rows(True, 1), 0.9, True),
        (rows(math.nan, 0.9, 0.9, 0.9), 0.9, True),
        (rows(math.nan, 0.9), 0.9, "wrong_value"),
        (rows("0.9"), 0.9, "type_error"),
        (rows(None), 0.9, "type_error"),
        (rows([0.9]), 0.9, "type_error"),
        (rows(10**400, 5), 0.9, "type_error"),
        ([], 0.9, "wrong_value"),
        ({}, 0.9, "type_error"),
        (None, 0.9, "type_error"),
        ([5], 0.9, "type_error"),
        ([{"gene": "G"}], 0.9, "missing_field"),
        ([{"auroc": 0.9}], 0.9, "missing_field"),
        ([5, {"auroc": 0.9}], 0.9, "missing_field"),
        ([{"gene": ["G"], "auroc": 0.9}], 0.9, "type_error"),
        ([{"gene": {}, "auroc": 0.9}], 0.9, "type_error"),
        ([{"gene": 7, "auroc": 0.9}], 0.9, True),
        ([{"gene": 7, "auroc": 0.9}, *rows(0.9)], 0.9, "genes_of_mixed_types"),
        ([{"gene": 7, "auroc": 0.1}, *rows(0.9)], 0.9, "wrong_value"),
        ([{"gene": None, "auroc": 0.1}, *rows(0.1, 0.9)], 0.9, "wrong_value"),
        ([{"gene": None, "auroc": 0.1}, *rows(0.1, *[0.9] * 8)], 0.9, "genes_of_mixed_types"),
        ([{"gene": None, "auroc": 0.1}, *rows(*[0.9] * 8)], 0.9, True),
        ([*rows(0.1), *rows(0.9)], 0.9, "wrong_value"),
        ([*rows(0.1, 0.9, 0.9, 0.9), *rows(0.9)], 0.9, True),
        ([*rows(0.9, 0.9, 0.9, 0.9), *rows(0.1)], 0.9, "wrong_value"),
    ],
)
def test_separation(stats: Any, mean: Any, expected: Any) -> None:
    """The reported mean and the share of high genes; the last row of a gene decides about it."""
    verdict = grade(KIND, {}, {"per_gene_stats": stats, "mean_auroc": mean})
    assert (outcome(verdict), verdict.contested, verdict.score) == (expected, False, None)
    assert verdict.tier == (None if expected == "genes_of_mixed_types" else "B")


def test_missing_keys_of_separation() -> None:
    """Both keys are required, before anything else is looked at."""
    for answer in ({}, {"per_gene_stats": 5}, {"mean_auroc": "x"}):
        assert graded(KIND, {}, answer) == ("missing_field", "B", False)
    assert graded(KIND, {}, []) == ("format_error", "C", False)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"scoring": {"pass_thresholds": {"mean_auroc": 0.95}}}, "wrong_value"),
        ({"scoring": {"pass_thresholds": {"fraction_high": 1}}}, "wrong_value"),
        ({"scoring": {"pass_thresholds": {"per_gene_cutoff": 0.95}}}, "wrong_value"),
        ({"scoring": {"pass_thresholds": {"per_gene_cutoff": 0.1, "fraction_high": 1}}}, True),
        ({"pass_thresholds": {"mean_auroc": 0.95}}, "threshold_place"),
        ({"pass_thresholds": {"mean_auroc": 0.5}}, True),
        ({"pass_thresholds": {"fraction_high": 1}}, "threshold_place"),
        ({"scoring": {"pass_thresholds": {"mean_auroc": "0.5"}}}, "threshold_not_number"),
        ({"scoring": {"pass_thresholds": {"mean_auroc": "0.95"}}}, "wrong_value"),
        ({"scoring": {"pass_thresholds": {"per_gene_cutoff": None}}}, "threshold_not_number"),
        ({"scoring": {"pass_thresholds": 5}}, "scoring_not_object"),
        ({"scoring": {"pass_thresholds": {"mean_auroc": math.nan}}}, "threshold_nan"),
        (5, "config_not_object"),
    ],
)
def test_thresholds_of_separation(config: Any, expected: Any) -> None:
    """Each defaulted alone; misplaced or unreadable ones are further readings."""
    answer = {"per_gene_stats": rows(0.9, 0.9, 0.9, 0.1), "mean_auroc": 0.9}
    assert outcome(grade(KIND, config, answer)) == expected
    fault = expected in ("threshold_nan", "config_not_object")
    places = isinstance(config, dict) and "scoring" in config
    settled = places and expected in (True, "wrong_value") and "0.95" not in str(config["scoring"])
    if fault:
        assert rule_status(KIND, config) == "invalid_config"
    elif settled or not places:
        assert rule_status(KIND, config) == ("published" if settled else "undetermined")


def test_readings_that_differ_in_both_parts_agree() -> None:
    """Where one reading fails the mean and the other the share, both fail."""
    config = {
        "scoring": {"pass_thresholds": {"mean_auroc": 0.95, "fraction_high": 0}},
        "pass_thresholds": {"mean_auroc": 0.5, "fraction_high": 1},
    }
    answer = {"per_gene_stats": rows(0.9, 0.1), "mean_auroc": 0.9}
    verdict = grade(KIND, config, answer)
    assert (verdict.passed, [item.passed for item in verdict.fields]) == (False, [None, None])


def test_genes_of_mixed_types_leave_the_rows_open() -> None:
    """The rows are open, the mean is not; a share that fails anyway stays failed."""
    mixed = [{"gene": 7, "auroc": 0.9}, *rows(0.9)]
    for mean, passed in ((0.9, [None, True]), (0.1, [True, False])):
        verdict = grade(KIND, {}, {"per_gene_stats": mixed, "mean_auroc": mean})
        assert [item.passed for item in verdict.fields] == passed
    low = [{"gene": 7, "auroc": 0.1}, *rows(0.9)]
    verdict = grade(KIND, {}, {"per_gene_stats": low, "mean_auroc": 0.9})
    assert [item.passed for item in verdict.fields] == [False, True]


def test_edges_of_separation() -> None:
    """How close the mean or the share is."""
    fine = {"per_gene_stats": rows(0.9), "mean_auroc": 0.85}
    assert grade(KIND, {}, fine).edge == "on_bound"
    assert grade(KIND, {}, {**fine, "mean_auroc": 0.9}).edge == "clear"
    seven = {"per_gene_stats": rows(*[0.9] * 7, *[0.1] * 3), "mean_auroc": 0.99}
    assert grade(KIND, {}, seven).edge == "on_bound"
    names = [(item.field, item.edge) for item in grade(KIND, {}, seven).fields]
    assert names == [("per_gene_stats", "on_bound"), ("mean_auroc", "clear")]


# --- spatial_adjacency ---------------------------------------------------------------------------

GOOD = {
    "median_ic_to_pc_um": 25.0,
    "p90_ic_to_pc_um": 80,
    "pct_ic_within_15um": 60,
    "pct_ic_mixed_within_55um": 60.0,
    "adjacency_pass": True,
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"median_ic_to_pc_um": 25.01}, "wrong_value"),
        ({"p90_ic_to_pc_um": 80.01}, "wrong_value"),
        ({"pct_ic_within_15um": 59.99}, "wrong_value"),
        ({"pct_ic_mixed_within_55um": 59.99}, "wrong_value"),
        ({"median_ic_to_pc_um": -math.inf}, True),
        ({"median_ic_to_pc_um": math.nan}, "wrong_value"),
        ({"pct_ic_within_15um": math.nan}, "wrong_value"),
        ({"p90_ic_to_pc_um": True}, True),
        ({"p90_ic_to_pc_um": "80"}, "type_error"),
        ({"pct_ic_within_15um": None}, "type_error"),
        ({"pct_ic_within_15um": [60]}, "type_error"),
        ({"p90_ic_to_pc_um": "80", "median_ic_to_pc_um": 99}, "type_error"),
        ({"adjacency_pass": False}, "wrong_value"),
        ({"adjacency_pass": 0}, "wrong_value"),
        ({"adjacency_pass": ""}, "wrong_value"),
        ({"adjacency_pass": []}, "wrong_value"),
        ({"adjacency_pass": 1}, "flag_not_boolean"),
        ({"adjacency_pass": "false"}, "flag_not_boolean"),
        ({"adjacency_pass": "yes", "p90_ic_to_pc_um": 99}, "wrong_value"),
        ({"adjacency_pass": "yes", "p90_ic_to_pc_um": "x"}, "type_error"),
    ],
)
def test_adjacency(change: Any, expected: Any) -> None:
    """Four inclusive bounds over numbers, and the agent's own flag."""
    verdict = grade(ADJACENCY, {}, {**GOOD, **change})
    assert (outcome(verdict), verdict.contested, verdict.score) == (expected, False, None)
    assert len(verdict.fields) == 5


@pytest.mark.parametrize("name", GOOD)
def test_all_five_keys_are_required(name: str) -> None:
    """A missing key fails before anything else is looked at."""
    answer = {key: value for key, value in GOOD.items() if key != name}
    verdict = grade(ADJACENCY, {}, {**answer, "x": "y"})
    assert (verdict.failure_mode, [item.field for item in verdict.fields]) == (
        "missing_field",
        [name],
    )
    assert graded(ADJACENCY, {}, [GOOD]) == ("format_error", "C", False)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"scoring": {"pass_thresholds": {"max_median_ic_to_pc_um": 24}}}, "wrong_value"),
        ({"scoring": {"pass_thresholds": {"max_p90_ic_to_pc_um": 79}}}, "wrong_value"),
        ({"scoring": {"pass_thresholds": {"min_pct_ic_within_15um": 61}}}, "wrong_value"),
        ({"scoring": {"pass_thresholds": {"min_pct_ic_mixed_within_55um": 61}}}, "wrong_value"),
        ({"scoring": {"pass_thresholds": {"max_p90_ic_to_pc_um": "90"}}}, "threshold_not_number"),
        ({"pass_thresholds": {"max_p90_ic_to_pc_um": 79}}, "threshold_place"),
        ({"pass_thresholds": {"max_p90_ic_to_pc_um": 81}}, True),
        ({"scoring": 5}, "scoring_not_object"),
        ({"scoring": {"pass_thresholds": {"max_p90_ic_to_pc_um": math.nan}}}, "threshold_nan"),
        ([], "config_not_object"),
    ],
)
def test_bounds_of_adjacency(config: Any, expected: Any) -> None:
    """Each bound defaulted alone; misplaced or unreadable ones are further readings."""
    assert outcome(grade(ADJACENCY, config, GOOD)) == expected
    faults = ("threshold_nan", "config_not_object")
    placed = isinstance(config, dict) and expected == "wrong_value"
    status = "invalid_config" if expected in faults else "published" if placed else "undetermined"
    assert rule_status(ADJACENCY, config) == status


def test_without_any_reading_only_numbers_are_open() -> None:
    """An unreadable place of bounds leaves numbers open, and nothing else."""
    for change, expected in (
        ({"p90_ic_to_pc_um": "x"}, "type_error"),
        ({"adjacency_pass": False}, "wrong_value"),
        ({}, "scoring_not_object"),
    ):
        assert outcome(grade(ADJACENCY, {"scoring": 5}, {**GOOD, **change})) == expected


def test_edges_of_adjacency() -> None:
    """The closest of the four bounds counts."""
    clear = {**GOOD, "median_ic_to_pc_um": 1, "p90_ic_to_pc_um": 1, "pct_ic_within_15um": 99}
    assert grade(ADJACENCY, {}, {**clear, "pct_ic_mixed_within_55um": 99}).edge == "clear"
    for name in ("median_ic_to_pc_um", "pct_ic_mixed_within_55um"):
        assert grade(ADJACENCY, {}, {**clear, name: GOOD[name]}).edge == "on_bound"
    over = math.nextafter(25.0, 30)
    assert grade(ADJACENCY, {}, {**clear, "median_ic_to_pc_um": over}).edge == "on_bound"
    over_alone = {**clear, "pct_ic_mixed_within_55um": 99, "median_ic_to_pc_um": over}
    assert grade(ADJACENCY, {}, over_alone).edge == "within_ulp"
