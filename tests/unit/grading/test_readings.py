"""Trap readings, counted by hand; every value here is invented."""

from __future__ import annotations

from typing import Any

import pytest

from benchproof.grading import compile_rule, grade
from benchproof.grading.readings import READINGS, Accumulator, Counts

PAIR = {"type": "absolute", "lower": 12, "upper": 4}


def counts(config: Any, *answers: Any) -> dict[str, Counts]:
    """Count the readings over some answers to one configuration."""
    total = Accumulator()
    for answer in answers:
        total.add(config, answer, grade("numeric_tolerance", config, answer))
    return total.counts()


def changed(config: Any, *answers: Any) -> dict[str, tuple[int, int]]:
    """Return verdicts and fields changed by each reading that changes any."""
    return {
        name: (count.verdicts_changed, count.fields_changed)
        for name, count in counts(config, *answers).items()
        if count.verdicts_changed or count.fields_changed
    }


def single(entry: Any, truth: Any = 200) -> dict[str, Any]:
    """A configuration of one field `m`."""
    return {"ground_truth": {"m": truth}, "tolerances": {"m": entry}}


@pytest.mark.parametrize(
    ("config", "answer", "expected"),
    [
        # [188, 204]: as bounds [12, 4] nothing passes; swapped [196, 212]; symmetric [188, 212].
        (single(PAIR), 200, {"bounds"}),
        (single(PAIR), 190, {"bounds", "swapped"}),
        (single(PAIR), 188, {"bounds", "swapped", "strict"}),
        (single(PAIR), 204, {"bounds", "strict"}),
        (single(PAIR), 208, {"swapped", "symmetric"}),
        (single(PAIR), 212, {"swapped", "symmetric"}),
        (single(PAIR), 213, set()),
        (single(PAIR), 187, set()),
        (single({"type": "absolute", "lower": 3, "upper": 20}, 5), 10, {"swapped"}),
        (single({"type": "absolute", "lower": 3, "upper": 20}, 5), 3, set()),
        (
            single({"type": "absolute", "lower": 3, "upper": 6}, 5),
            11,
            {"bounds", "swapped", "strict"},
        ),
        (single({"type": "absolute", "lower": 3, "upper": 6}, 5), 3, set()),
        (single({"type": "absolute", "lower": 3, "upper": 6}, 5), 6, set()),
        (single({"type": "absolute", "lower": 3, "upper": 6}, 5), 0, {"swapped", "symmetric"}),
        (single({"type": "absolute", "lower": 195, "upper": 205}), 195, set()),
        (single({"type": "absolute", "lower": 195, "upper": 205}), 206, {"bounds"}),
        (single({"type": "absolute", "value": 5}), 205, {"strict"}),
        (single({"type": "absolute", "value": 5}), 204, set()),
        (single({"type": "absolute", "value": 5}), 206, {"relative"}),
        (single({"type": "absolute", "value": 5}), 1200, {"relative"}),
        (single({"type": "absolute", "value": 5}), 1201, set()),
        (single({"type": "absolute", "value": 0.5}, 0.25), 0.5, {"relative"}),
        (single({"type": "absolute", "value": 5}, 0), 3, {"relative"}),
        (single({"type": "absolute", "value": 5}, 0), 5, {"relative", "strict"}),
        (single({"type": "relative", "value": 0.5}), 300, {"strict"}),
        (single({"type": "relative", "value": 0.5}), 299, set()),
        (single({"type": "min", "value": 150}), 150, {"strict"}),
        (single({"type": "max", "value": 250}), 250, {"strict"}),
        (single({"type": "min", "value": 150}), 151, set()),
        (single({}), 200, {"strict"}),
        (single({"type": "absolute", "value": 5}), "205", {"strict"}),
        (single({"type": "absolute", "value": 5}), "x", set()),
        (single({"type": "absolute", "value": 5}), None, set()),
        (single({"type": "absolute", "lower": 12}), 200, set()),
        (single({"type": "absolute", "value": 0}), 10**400, set()),
    ],
)
def test_one_field(config: Any, answer: Any, expected: set[str]) -> None:
    """With one field a reading that turns it turns the verdict too."""
    assert changed(config, {"m": answer}) == dict.fromkeys(expected, (1, 1))


def test_several_fields() -> None:
    """A turned field turns the verdict only if the others allow it."""
    config = {
        "ground_truth": {"a": 200, "b": 200, "c": 10},
        "tolerances": {"a": PAIR, "b": PAIR, "c": {"type": "absolute", "value": 1}},
    }
    assert changed(config, {"a": 190, "b": 208, "c": 10}) == {
        "bounds": (0, 1),
        "swapped": (0, 2),
        "symmetric": (1, 1),
        "any_field": (1, 0),
    }
    assert changed(config, {"a": 190, "b": 190, "c": 10}) == {"bounds": (1, 2), "swapped": (1, 2)}
    assert changed(config, {"a": 208, "b": 208, "c": 99}) == {
        "swapped": (0, 2),
        "symmetric": (0, 2),
    }
    assert changed(config, {"c": 10}) == {"any_field": (1, 0)}
    assert changed(config, {"c": 11}) == {"strict": (0, 1), "any_field": (1, 0)}


def test_open_fields_are_left_alone() -> None:
    """A field without a settled outcome neither counts nor lets a verdict be turned."""
    config = {
        "ground_truth": {"open": 1, "b": 200},
        "tolerances": {"open": {"type": "percent"}, "b": PAIR},
    }
    assert changed(config, {"open": 1, "b": 208}) == {"swapped": (0, 1), "symmetric": (0, 1)}
    assert counts(config, {"open": 1, "b": 200})["bounds"].runs == 0


def test_runs_and_applies() -> None:
    """Every graded run is tried; `applies` counts those that a reading can touch at all."""
    config = single(PAIR)
    total = counts(config, {"m": 200}, {"m": 190}, [], None, {})
    assert {count.runs for count in total.values()} == {4}
    applies = {name: count.applies for name, count in total.items() if count.applies}
    assert applies == {"bounds": 4, "swapped": 4, "symmetric": 4, "strict": 4}
    assert counts({"ground_truth": {"a": 1, "b": 2}}, {})["any_field"].applies == 1
    assert total["bounds"] == Counts(runs=4, verdicts_changed=2, fields_changed=2, applies=4)


def test_what_is_not_graded_is_passed_over() -> None:
    """Runs without a verdict count nowhere."""
    for config in ({"ground_truth": 5}, single({"value": -1}), single({"type": "percent"})):
        assert counts(config, {"m": 1}, None)["strict"] == Counts()


def test_accumulators_merge() -> None:
    """Shards merged give the counts of the whole; a compiled rule counts like its configuration."""
    config = single(PAIR)
    rule = compile_rule("numeric_tolerance", config)
    answers = [{"m": 188 + 4 * step} for step in range(8)]
    parts = Accumulator(), Accumulator()
    for place, answer in enumerate(answers):
        parts[place % 2].add(rule, answer, rule.grade(answer))
    parts[0].merge(parts[1])
    assert parts[0].counts() == counts(config, *answers)
    assert list(parts[0].counts()) == list(READINGS)
    assert parts[0].counts()["swapped"].fields_changed == 4


LABELS = {"ground_truth_labels": ["La", "Lb"], "scoring": {"pass_threshold": 0.5}}
GENES = {"canonical_markers": ["G1", "G2"], "scoring": {"pass_thresholds": {"precision_at_k": 0.5}}}
SHARES = {"ground_truth": {"cell_type_distribution": {"Ka": 60, "Kb": 40}}}
ROWS = [{"gene": "G1", "auroc": 0.9}, {"gene": "G2", "auroc": 0.8}]


@pytest.mark.parametrize(
    ("kind", "config", "answer", "applies", "turned"),
    [
        ("multiple_choice", {"correct_answer": "Q"}, {"answer": "Q"}, {"choice_as_written"}, set()),
        (
            "multiple_choice",
            {"correct_answers": ["Q", "W"]},
            {"answer": "w"},
            {"choice_as_written"},
            {"choice_as_written"},
        ),
        ("multiple_choice", {"correct_answer": "Q"}, {"answer": 5}, {"choice_as_written"}, set()),
        ("multiple_choice", {"correct_answer": "Q"}, [], set(), set()),
        (
            "label_set_jaccard",
            LABELS,
            {"cell_types_predicted": ["La"]},
            {"strict", "labels_folded", "duplicates_count"},
            {"strict"},
        ),
        (
            "label_set_jaccard",
            LABELS,
            {"cell_types_predicted": ["la", " LB"]},
            {"strict", "labels_folded", "duplicates_count"},
            {"labels_folded"},
        ),
        (
            "label_set_jaccard",
            LABELS,
            {"cell_types_predicted": ["La", "Lb", "Lb", "La", "La", "Lb"]},
            {"strict", "labels_folded", "duplicates_count"},
            {"duplicates_count"},
        ),
        ("label_set_jaccard", LABELS, {"cell_types_predicted": [["La"]]}, set(), set()),
        ("label_set_jaccard", LABELS, {"cell_types_predicted": "La"}, set(), set()),
        (
            "label_set_jaccard",
            {**LABELS, "expected_count": 3},
            {"cell_types_predicted": ["la", "lb"]},
            {"strict", "labels_folded", "duplicates_count"},
            set(),
        ),
        (
            "marker_gene_precision_recall",
            GENES,
            {"top_marker_genes": ["g1", "x", "x"]},
            {"strict", "duplicates_count", "genes_as_written"},
            {"strict", "duplicates_count", "genes_as_written"},
        ),
        (
            "marker_gene_precision_recall",
            GENES,
            {"top_marker_genes": ["G1", "G2"]},
            {"strict", "duplicates_count", "genes_as_written"},
            set(),
        ),
        (
            "marker_gene_precision_recall",
            {**GENES, "scoring": {"pass_thresholds": {"precision_at_k": 0, "recall_at_k": 0}}},
            {"top_marker_genes": []},
            {"strict", "duplicates_count", "genes_as_written"},
            set(),
        ),
        ("marker_gene_precision_recall", GENES, {"top_marker_genes": 5}, set(), set()),
        (
            "distribution_comparison",
            SHARES,
            {"cell_type_distribution": {"ka": 60, "Kb": 40}},
            {"categories_as_written", "rescaled_fractions"},
            {"categories_as_written"},
        ),
        (
            "distribution_comparison",
            SHARES,
            {"cell_type_distribution": {"Ka": 0.6, "Kb": 0.4}},
            {"categories_as_written", "rescaled_fractions"},
            {"rescaled_fractions"},
        ),
        ("distribution_comparison", SHARES, {"Ka": 1}, set(), set()),
        (
            "distribution_comparison",
            {"ground_truth": {**SHARES["ground_truth"], "total_cells": 5}},
            {"cell_type_distribution": {"ka": 60, "Kb": 40}, "total_cells": 6},
            {"categories_as_written", "rescaled_fractions"},
            set(),
        ),
        (
            "marker_gene_separation",
            {},
            {"per_gene_stats": ROWS, "mean_auroc": 0.5},
            {"mean_recomputed"},
            {"mean_recomputed"},
        ),
        (
            "marker_gene_separation",
            {},
            {"per_gene_stats": ROWS, "mean_auroc": 0.9},
            {"mean_recomputed"},
            set(),
        ),
        ("marker_gene_separation", {}, {"per_gene_stats": [], "mean_auroc": 0.9}, set(), set()),
        ("spatial_adjacency", {}, {}, set(), set()),
    ],
)
def test_readings_of_other_families(
    kind: str, config: Any, answer: Any, applies: set[str], turned: set[str]
) -> None:
    """Each reading applies to its own families, and turns a verdict where it gives another one."""
    total = Accumulator()
    rule = compile_rule(kind, config)
    total.add(rule, answer, rule.grade(answer))
    counted = total.counts()
    assert {name for name, count in counted.items() if count.applies} == applies
    assert {name for name, count in counted.items() if count.verdicts_changed} == turned
    assert all(count.fields_changed == count.verdicts_changed for count in counted.values())
