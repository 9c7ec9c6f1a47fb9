"""Faults that other projects met, each as a test of the graders."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from benchproof.grading import grade
from benchproof.grading.record import Rule, regrade
from benchproof.grading.subsequence import similarity
from unit.grading.cases import outcome


def numeric(truth: Any, tolerance: Any, answer: Any) -> Any:
    """Grade one number."""
    config = {"ground_truth": {"m": truth}, "tolerances": {"m": tolerance}}
    return outcome(grade("numeric_tolerance", config, {"m": answer}))


def test_br29_thresholds_at_the_wrong_level() -> None:
    """Beside `scoring` instead of inside it: the two readings differ, so the verdict is open."""
    config = {
        "canonical_markers": [f"G{number}" for number in range(6)],
        "scoring": {},
        "pass_thresholds": {"recall_at_k": 0.65, "precision_at_k": 0},
    }
    genes = [f"G{number}" for number in range(4)] + [f"x{number}" for number in range(6)]
    verdict = grade("marker_gene_precision_recall", config, {"top_marker_genes": genes})
    assert (verdict.status, verdict.reason) == ("rule_undetermined", "threshold_place")


@pytest.mark.parametrize(
    ("truth", "given", "precision", "recall"),
    [
        (["A"], ["A", "A", "B"], 1 / 2, 1),
        (["A", "B"], ["A", "A"], 1, 1 / 2),
        (["A", "A"], ["A"], 1, 1),
        (["A"], [], 0, 0),
    ],
)
def test_br30_duplicates_in_lists(truth: Any, given: Any, precision: float, recall: float) -> None:
    """Precision and recall are over sets; where list length would matter it is contested."""

    def passed(at_precision: float, at_recall: float) -> Any:
        limits = {"precision_at_k": at_precision, "recall_at_k": at_recall}
        config = {"canonical_markers": truth, "scoring": {"pass_thresholds": limits}}
        return grade("marker_gene_precision_recall", config, {"top_marker_genes": given})

    assert passed(precision, recall).passed is True
    assert passed(math.nextafter(precision, 2), 0).passed is False
    assert passed(0, math.nextafter(recall, 2)).passed is False
    assert passed(precision, recall).contested is (len(given) > len(set(given)))


@pytest.mark.parametrize(
    ("answer", "mode"),
    [
        (None, "type_error"),
        ("nan", "wrong_value"),
        ("inf", "wrong_value"),
        ("", "type_error"),
        ([], "type_error"),
        (math.nan, "wrong_value"),
    ],
)
def test_br31_odd_answers_fail_with_their_mode(answer: Any, mode: str) -> None:
    """Null, NaN, infinity and empty text fail a zero truth; a missing field does too."""
    assert numeric(0, {"value": 1}, answer) == mode
    distribution = {"ground_truth": {"cell_type_distribution": {"Ka": 0}}}
    found = grade(
        "distribution_comparison", distribution, {"cell_type_distribution": {"Ka": answer}}
    )
    assert found.passed is False
    verdict = grade("numeric_tolerance", {"ground_truth": {"m": 0}}, {})
    assert verdict.failure_mode == "missing_field"


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("numeric_tolerance", {"ground_truth": {"m": 1}, "tolerances": {"m": {"value": math.nan}}}),
        ("numeric_tolerance", {"ground_truth": {"m": 1}, "tolerances": {"m": {"value": -1}}}),
        ("numeric_tolerance", {"ground_truth": {"m": math.nan}}),
        ("numeric_range", {"ground_truth": {"m": 1}, "ranges": {"m": {"min": math.nan}}}),
        ("distribution_comparison", {"ground_truth": {"cell_type_distribution": {"m": math.nan}}}),
        (
            "distribution_comparison",
            {
                "ground_truth": {"cell_type_distribution": {"m": 1}},
                "tolerances": {"cell_type_percentages": {"value": -1}},
            },
        ),
        ("label_set_jaccard", {"ground_truth_labels": [], "scoring": {"pass_threshold": math.nan}}),
    ],
)
def test_br31_odd_configurations_are_invalid(kind: str, config: Any) -> None:
    """Never a pass and never a silent fail."""
    answers: list[Any] = [{"m": 1}, {"cell_types_predicted": []}]
    for answer in (*answers, {"cell_type_distribution": {"m": 1}}):
        verdict = grade(kind, config, answer)
        assert (verdict.status, verdict.passed) == ("invalid_config", None)


@pytest.mark.parametrize(
    ("truth", "answer", "expected"),
    [
        (1, True, True),
        (1, "1", True),
        (1000, "1_000", True),
        (1000, "1e3", True),
        (1000, "1,000", "type_error"),
        (12, " 12 ", True),
        (12, "\u0661\u0662", True),
        (60, "60%", "type_error"),
        (16, "0x10", "type_error"),
        (5, "25", "wrong_value"),
        (5, "-5", "wrong_value"),
    ],
)
def test_br32_booleans_and_number_like_text(truth: int, answer: Any, expected: Any) -> None:
    """Text is what Python's float takes; true counts as 1 and is flagged."""
    assert numeric(truth, {"value": 0}, answer) == expected
    flags = grade("numeric_tolerance", {"ground_truth": {"m": truth}}, {"m": answer}).flags
    assert ("boolean_answer" in flags) is (answer is True)


@pytest.mark.parametrize(
    ("truth", "given", "index"),
    [
        ([], [], 0.0),
        (["a"], ["a", "a"], 1.0),
        (["T cell"], ["t cell"], 0.0),
        ([1, "a"], [1, "a"], 1.0),
        ([1, "a"], [1], 0.5),
        (["T cell"], "Tcell", None),
        (["T cell"], {"T cell": 0.5}, None),
        (["a"], [["a"]], None),
    ],
)
def test_br34_sets_on_odd_answers(truth: Any, given: Any, index: float | None) -> None:
    """Case counts, duplicates don't, text and objects are no sets, nested lists are no crash."""

    def at(limit: float) -> Any:
        config = {"ground_truth_labels": truth, "scoring": {"pass_threshold": limit}}
        return outcome(grade("label_set_jaccard", config, {"cell_types_predicted": given}))

    if index is None:
        assert at(0) == "type_error"
    else:
        assert (at(index), at(math.nextafter(index, 2))) == (True, "wrong_value")


def test_br34_sequences_on_odd_answers() -> None:
    """Items may be lists; two empty sequences score nothing."""
    assert similarity([["a"], ["b"], ["c"]], [["a"], ["c"]]) == 2 / 3
    assert similarity([], []) == 0.0


def test_br35_no_silent_average() -> None:
    """A composite whose deciding child is open is open, also where none can be graded."""
    won = {"type": "multiple_choice", "config": {"correct_answer": "Q"}}
    lost = {"type": "multiple_choice", "config": {"correct_answer": "Z"}}
    open_child = {"type": "list_match", "config": {}}
    for kind in ("all_of", "average_of"):
        for children, status in (
            ([won, open_child], "rule_undetermined"),
            ([open_child, open_child], "rule_undetermined"),
            ([lost, open_child], "graded"),
        ):
            verdict = grade(kind, {"children": children}, {"answer": "Q"})
            assert verdict.status == status
            assert verdict.score is None or verdict.score == 0
    record = {"result": {"agent_answer": None, "passed": None, "grader_result": None}}
    found = regrade(Rule.published("all_of", {"children": [won]}), record)
    assert (found.status, found.derived_passed) == ("no_submission", None)


def test_br36_tolerance_edges() -> None:
    """Binary rounding decides, a zero truth has no relative error, fractions are flagged."""
    assert numeric(1.0, {"value": 0.1}, 1.1) == "wrong_value"
    assert numeric(0.2, {"value": 0.1}, 0.3) is True
    assert numeric(0, {"type": "relative", "value": 0.05}, 0) == "wrong_value"
    config = {"ground_truth": {"cell_type_distribution": {"Ka": 2, "Kb": 50}}}
    small = {"cell_type_distribution": {"Ka": 0.02, "Kb": 0.5}}
    verdict = grade("distribution_comparison", config, small)
    assert (verdict.passed, verdict.flags) == (False, ("fractions",))
    alone = {"ground_truth": {"cell_type_distribution": {"Ka": 2}}}
    assert grade("distribution_comparison", alone, small).passed is True


def test_br47_text_that_looks_like_a_missing_value() -> None:
    """Seven labels that tables lose stay seven distinct texts, through JSON too."""
    labels = ["NA", "NaN", "null", "None", "TP53", "1E5", "SEPT1"]
    answer = json.loads(json.dumps({"cell_types_predicted": labels, "top_marker_genes": labels}))
    config = {
        "ground_truth_labels": labels,
        "canonical_markers": labels,
        "expected_count": 7,
        "scoring": {"pass_threshold": 1, "pass_thresholds": {"precision_at_k": 1}},
    }
    assert grade("label_set_jaccard", config, answer).passed is True
    assert grade("marker_gene_precision_recall", config, answer).passed is True
    for lost in (None, math.nan):
        less = {"cell_types_predicted": [*labels[:3], lost, *labels[4:]]}
        assert grade("label_set_jaccard", config, less).passed is False
