"""marker_gene_precision_recall, over one list and per cell type."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchproof.grading import grade, rule_status
from unit.grading.cases import graded, outcome

KIND, KEY = "marker_gene_precision_recall", "top_marker_genes"
FOUR = ["G1", "G2", "G3", "G4"]


def config(genes: Any = FOUR, limits: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A configuration; without limits the defaults hold."""
    return {"canonical_markers": genes, "scoring": {"pass_thresholds": limits or {}}, **more}


def pair(precision: Any, recall: Any) -> dict[str, Any]:
    """Thresholds."""
    return {"precision_at_k": precision, "recall_at_k": recall}


@pytest.mark.parametrize(
    ("genes", "limits", "given", "expected"),
    [
        (FOUR, {}, ["g1", "g2", "x"], (True, "B", False)),
        (FOUR, {}, ["g1", "g2", "x", "y"], ("wrong_value", "B", False)),
        (FOUR, {}, ["g1"], ("wrong_value", "B", False)),
        (FOUR, {"recall_at_k": 0.25}, ["g1"], (True, "B", False)),
        (FOUR, {"precision_at_k": 0.5}, ["g1", "g2", "x", "y"], (True, "B", False)),
        (FOUR, {}, ["G1 ", "G2 "], ("wrong_value", "B", False)),
        (FOUR, pair(0.6, 0.5), ["G1", "G2", "x", "X"], (True, "B", True)),
        (FOUR, pair(0.6, 0.5), ["G1", "G1", "G2", "x", "y"], ("wrong_value", "B", False)),
        (FOUR, pair(0.5, 0.5), ["G1", "g1", "G2", "x", "y", "z"], ("wrong_value", "B", False)),
        (FOUR, pair(0.7, 0), ["G1", "G1", "G1", "x"], ("wrong_value", "B", False)),
        (["7", "none"], pair(1, 1), [7, None], (True, "B", False)),
        (["1"], pair(1, 1), [True], ("wrong_value", "B", False)),
        (["['a']"], pair(1, 1), [["A"]], (True, "B", False)),
        ([7], pair(1, 1), ["7"], (True, "B", False)),
        ([], pair(0, 0.1), ["G1"], ("wrong_value", "B", False)),
        ([], pair(0, 0), [], (True, "B", False)),
        (FOUR, pair("0.5", 0.5), FOUR, ("threshold_not_number", None, False)),
        (FOUR, pair("0.5", 0.5), ["x"], ("wrong_value", "B", False)),
        (FOUR, pair(0.5, "x"), ["x"], ("threshold_not_number", None, False)),
        (FOUR, pair(None, 0.5), FOUR, ("threshold_not_number", None, False)),
        (FOUR, pair(True, 0.5), FOUR, ("threshold_not_number", None, False)),
        (
            ["TP53", "1E5", "SEPT1", "NA"],
            pair(1, 1),
            ["na", "sept1", "1e5", "tp53"],
            (True, "B", 0),
        ),
    ],
)
def test_lists(genes: Any, limits: Any, given: Any, expected: Any) -> None:
    """Precision and recall over sets of lowercased names; no score is published."""
    assert graded(KIND, config(genes, limits), {KEY: given}) == expected
    assert grade(KIND, config(genes, limits), {KEY: given}).score is None


@pytest.mark.parametrize(
    ("more", "answer", "expected"),
    [
        ({}, {}, ("missing_field", "B", False)),
        ({}, {"genes": FOUR}, ("missing_field", "B", False)),
        ({}, {KEY: None}, ("type_error", "B", False)),
        ({}, {KEY: "G1"}, ("type_error", "B", False)),
        ({}, FOUR, ("answer_not_object", None, False)),
        ({}, ["x"], ("format_error", "C", False)),
        ({}, "G1", ("format_error", "C", False)),
        ({"answer_field": "found"}, {"found": FOUR}, (True, "B", True)),
        ({"answer_field": "found"}, {"found": FOUR, KEY: FOUR}, (True, "B", False)),
        ({"answer_field": "found"}, {KEY: FOUR}, ("missing_field", "B", True)),
        ({"answer_field": "found"}, {"found": 5, KEY: FOUR}, ("type_error", "B", True)),
        ({"answer_field": "found"}, FOUR, ("format_error", "C", False)),
        ({"answer_field": 5}, {KEY: FOUR}, ("answer_field_not_text", None, False)),
        ({"expected_count": 4}, {KEY: FOUR}, (True, "B", False)),
        ({"expected_count": 3}, {KEY: FOUR}, ("wrong_value", "B", True)),
        ({"expected_count": 5}, {KEY: [*FOUR, "G4"]}, ("wrong_value", "B", True)),
        ({"expected_count": 5}, {KEY: [*FOUR, "g4"]}, ("expected_count_case", None, False)),
        ({"expected_count": 2}, {KEY: ["x", "X"]}, ("wrong_value", "B", False)),
        ({"expected_count": 2}, {KEY: [[1], "G1"]}, ("wrong_value", "B", False)),
        ({"expected_count": 5}, {KEY: [*FOUR, 1, "1"]}, ("wrong_value", "B", True)),
        ({"expected_count": "4"}, {KEY: FOUR}, ("expected_count_not_integer", None, False)),
    ],
)
def test_keys_and_counts(more: Any, answer: Any, expected: Any) -> None:
    """The configured key or the fixed one; as many entries as asked for, alike up to case open."""
    assert graded(KIND, config(**more), answer) == expected


@pytest.mark.parametrize(
    ("more", "given", "expected"),
    [
        ({"pass_thresholds": pair(0, 0.25)}, ["G1", "x"], "threshold_place"),
        ({"pass_thresholds": pair(0, 0.25)}, ["G1", "G2"], True),
        ({"pass_thresholds": pair(0, 0.25)}, ["x"], "wrong_value"),
        ({"pass_thresholds": {"other": 1}}, ["G1", "G2"], True),
        ({"recall_at_k": 1}, ["G1", "G2"], "threshold_place"),
        (
            {"scoring": {"pass_thresholds": {"precision_at_k": 0.3}}, "recall_at_k": 0.2},
            ["G1", "x", "y"],
            "threshold_place",
        ),
        ({"scoring": {"recall_at_k": 1}}, ["G1", "G2"], "threshold_place"),
        ({"scoring": {"pass_thresholds": []}}, FOUR, "scoring_not_object"),
        ({"scoring": 5}, FOUR, "scoring_not_object"),
        ({"scoring": 5}, 5, "type_error"),
    ],
)
def test_misplaced_thresholds(more: Any, given: Any, expected: Any) -> None:
    """A threshold outside its place is a second reading."""
    assert outcome(grade(KIND, {**config(), **more}, {KEY: given})) == expected


@pytest.mark.parametrize(
    ("given", "reason", "status"),
    [
        (5, "config_not_object", "invalid_config"),
        (config(limits=pair(math.nan, 0)), "threshold_nan", "invalid_config"),
        (config([10**5000]), "marker_not_text", "invalid_config"),
        (config({"Ta": "G1"}), "type_markers_not_list", "invalid_config"),
        (config({"Ta": [10**5000]}), "marker_not_text", "invalid_config"),
        ({}, "markers_missing", "undetermined"),
        ({"canonical_markers": "G1"}, "markers_not_list", "undetermined"),
    ],
)
def test_configurations_without_a_verdict(given: Any, reason: str, status: str) -> None:
    """What no source describes is said to be so."""
    for answer in ({KEY: FOUR}, FOUR):
        assert grade(KIND, given, answer).reason == reason
    assert rule_status(KIND, given) == status


def test_rule_status() -> None:
    """Published with one reading; per cell type never."""
    assert rule_status(KIND, config()) == "published"
    assert rule_status(KIND, config(expected_count=4)) == "published"
    assert rule_status(KIND, config(expected_count="4")) == "undetermined"
    assert rule_status(KIND, config(limits=pair("0.5", 0.5))) == "undetermined"
    assert rule_status(KIND, config({"Ta": ["G1"]})) == "undetermined"


def test_texts_that_cannot_be_written() -> None:
    """An entry of more digits than Python writes fails, as an exception does upstream."""
    assert graded(KIND, config(), {KEY: [10**5000]}) == ("type_error", "B", False)


@pytest.mark.parametrize(
    ("limits", "edge"),
    [
        (pair(0.75, 0), "on_bound"),
        (pair(0, 0.75), "on_bound"),
        (pair(math.nextafter(0.75, 1), 0.1), "within_ulp"),
        (pair(0.1, math.nextafter(0.75, 1)), "within_ulp"),
        (pair(0.1, 0.2), "clear"),
    ],
)
def test_edges(limits: Any, edge: str) -> None:
    """How close the closer of precision and recall is."""
    assert grade(KIND, config(limits=limits), {KEY: ["G1", "G2", "G3", "x"]}).edge == edge


# --- per cell type -------------------------------------------------------------------------------

TYPES = {"Ta": ["G1", "G2"], "Tb": ["G3", "G4"], "Tc": ["G5", "G6"]}


def by_type(needed: Any = 2, recall: Any = 0.5, **more: Any) -> dict[str, Any]:
    """A configuration of markers per type."""
    limits = {"min_recall_per_celltype": recall, "min_celltypes_passing": needed}
    return config(TYPES, limits, **{"answer_field": "by", **more})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"Ta": ["g1"], "Tb": ["G4", "x", "y"]}, (True, "C", True)),
        ({"Ta": ["G1"], "Tb": ["x"]}, ("wrong_value", "C", False)),
        ({"Ta": ["G1"], "Tb": ["G3"], "Tc": ["x"], "Tz": [5]}, (True, "C", True)),
        ({"Ta": ["G1"], "Tz": ["G3"]}, ("wrong_value", "C", False)),
        ({}, ("wrong_value", "C", False)),
        ({"Ta": ["G1"], "tb": ["G3"]}, ("type_readings", None, False)),
        ({"Ta": ["G1"], " Tb": ["G3"]}, ("type_readings", None, False)),
        ({"Ta": ["G1"], "Tb": ["G3"], "tb": ["x"]}, ("type_readings", None, False)),
        ({"Ta": ["G1"], "Tb": ["G3"], "tb": ["G4"]}, (True, "C", True)),
        ({"Ta": "G1", "Tb": ["G3"]}, ("wrong_value", "C", False)),
        ({"Ta": ["G1"], "Tb": ["G3"], "Tc": "G5"}, ("type_readings", None, False)),
        ({"Ta": ["G1"], "Tb": ["G3"], "Tc": [10**5000]}, ("type_readings", None, False)),
        (["G1"], ("type_error", "C", False)),
        (None, ("type_error", "C", False)),
    ],
)
def test_types(given: Any, expected: Any) -> None:
    """Enough types with enough recall, under every reading of names and odd values."""
    assert graded(KIND, by_type(), {"by": given}) == expected


@pytest.mark.parametrize(
    ("change", "given", "expected"),
    [
        ({"needed": 3}, {"Ta": ["G1"], "Tb": ["G3"]}, "wrong_value"),
        ({"needed": 0}, {}, True),
        ({"needed": 1, "recall": 1}, {"Ta": ["G1"]}, "wrong_value"),
        ({"needed": 1, "recall": 1}, {"Ta": ["G1", "G2"]}, True),
        ({"needed": "2"}, {"Ta": ["G1"], "Tb": ["G3"]}, "threshold_not_number"),
        ({"needed": "2"}, {"Ta": ["G1"]}, "wrong_value"),
        ({"needed": []}, {"Ta": ["G1"]}, "threshold_not_number"),
        ({"expected_count": 1}, {"Ta": ["G1"], "Tb": ["G3"], "Tc": ["G5"]}, True),
        ({"expected_count": 1}, {"Ta": ["G1"], "Tb": ["G3"]}, "type_readings"),
        ({"expected_count": 1}, {"Ta": ["G1"], "Tb": ["G3"], "Tc": []}, "type_readings"),
        ({"expected_count": 1}, {"Ta": ["G1"], "Tb": ["G3", "x"], "Tc": ["x"]}, "wrong_value"),
        ({"expected_count": "1"}, {"Ta": ["G1"], "Tb": ["G3"], "Tc": ["G5"]}, "type_readings"),
        ({"expected_count": 2}, {name: ["G1", "g1"] for name in TYPES}, "wrong_value"),
    ],
)
def test_type_thresholds_and_counts(change: Any, given: Any, expected: Any) -> None:
    """Both thresholds, and a count that fails its type or the whole."""
    assert outcome(grade(KIND, by_type(**change), {"by": given})) == expected


def test_types_without_a_named_key() -> None:
    """No source names the key: what could pass anywhere is open, the rest fails."""
    given = {key: value for key, value in by_type().items() if key != "answer_field"}
    good, bad = {"Ta": ["G1"], "Tb": ["G3"]}, {"Ta": ["x"]}
    for answer in ({KEY: good}, {"other": good}, good, {KEY: bad, "other": good}):
        assert graded(KIND, given, answer)[0] == "answer_field_not_published"
    assert graded(KIND, given, {KEY: bad}) == ("wrong_value", "C", False)
    assert graded(KIND, given, {"other": bad}) == ("missing_field", "C", False)
    assert graded(KIND, given, {KEY: ["x"]}) == ("type_error", "C", False)
    assert graded(KIND, given, ["x"]) == ("format_error", "C", False)


def test_types_without_thresholds() -> None:
    """Defaults are not published; what is missing or no object fails all the same."""
    for limits in ({}, {"min_recall_per_celltype": 0.5}, {"min_celltypes_passing": 2}):
        given = config(TYPES, limits, answer_field="by")
        assert graded(KIND, given, {"by": {"Ta": ["x"]}})[0] == "defaults_not_published"
        assert graded(KIND, given, {"by": []})[0] == "type_error"
        assert graded(KIND, given, {})[0] == "missing_field"


def test_a_type_without_genes() -> None:
    """Its recall may be nothing or all."""
    limits = {"min_recall_per_celltype": 0.5, "min_celltypes_passing": 1}
    given = config({"Ta": []}, limits, answer_field="by")
    assert graded(KIND, given, {"by": {"Ta": ["G1"]}})[0] == "type_readings"
    assert graded(KIND, given, {"by": {}})[0] == "wrong_value"


def test_the_older_grader_takes_types_for_genes() -> None:
    """It reads one fixed key with a list, and compares it with the type names."""
    given = by_type()
    answer = {"by": {"Ta": ["x"]}, KEY: ["ta", "tb"]}
    assert graded(KIND, given, answer) == ("wrong_value", "C", True)
    assert graded(KIND, given, {**answer, KEY: ["ta"]}) == ("wrong_value", "C", False)
    assert graded(KIND, given, {**answer, KEY: []}) == ("wrong_value", "C", False)


def test_the_edge_of_types() -> None:
    """The closest recall of all types counts."""
    answer = {"by": {"Ta": ["G1"], "Tb": ["G3", "G4"]}}
    assert grade(KIND, by_type(), answer).edge == "on_bound"
    assert grade(KIND, by_type(recall=0.4), answer).edge == "clear"
