"""The registry of grader types, and what can be said of a grader object."""

from __future__ import annotations

from typing import Any

import pytest

from benchproof.grading import compile_rule, grade, rule_status
from benchproof.grading.numeric import compile_config
from benchproof.grading.registry import FAMILIES, MAX_NESTING, NAMED_ONLY, Registry

NUMERIC: dict[str, Any] = {
    "ground_truth": {"m": 3},
    "tolerances": {"m": {"type": "absolute", "value": 1}},
}


def test_a_name_is_registered_once() -> None:
    """A second registration of a name is refused, with the name in the message."""
    registry = Registry()
    registry.register("numeric_tolerance", compile_config)
    with pytest.raises(ValueError, match="numeric_tolerance"):
        registry.register("numeric_tolerance", compile_config)
    assert registry.compile("numeric_tolerance", NUMERIC).grade({"m": 4}).passed is True


def test_a_nested_name_is_registered_once_too() -> None:
    """Families and composites share one list of names."""
    registry = Registry()
    registry.register_nested(
        "numeric_tolerance", lambda config, compile_child: compile_config(config)
    )
    with pytest.raises(ValueError, match="numeric_tolerance"):
        registry.register("numeric_tolerance", compile_config)
    with pytest.raises(ValueError, match="numeric_tolerance"):
        registry.register_nested("numeric_tolerance", lambda config, _: compile_config(config))
    assert registry.names() == ("numeric_tolerance",)


def test_every_published_type_has_a_grader() -> None:
    """The types with a published rule, aliases included, and what stands beside them."""
    assert set(FAMILIES.names()) == {
        "all_of",
        "average_of",
        "composite",
        "distribution_comparison",
        "finished_file",
        "graders[]",
        "jaccard_label_set",
        "label_set_jaccard",
        "longest_subsequence",
        "marker_gene_precision_recall",
        "marker_gene_separation",
        "multiple_choice",
        "numeric_range",
        "numeric_tolerance",
        "rubric_length_penalty",
        "spatial_adjacency",
    }


def test_nesting_ends() -> None:
    """Composites nest to a fixed depth; beyond it a child is ours to leave alone."""
    for depth, status in ((MAX_NESTING - 1, "graded"), (MAX_NESTING, "rule_undetermined")):
        grader: dict[str, Any] = {"type": "numeric_tolerance", "config": NUMERIC}
        for _ in range(depth):
            grader = {"type": "all_of", "config": {"children": [grader]}}
        config = {"children": [grader]}
        assert grade("all_of", config, {"m": 3}).status == status
        settled = status == "graded"
        assert rule_status("all_of", config) == ("published" if settled else "undetermined")
    deepest = FAMILIES.compile("all_of", {}, MAX_NESTING)
    assert deepest.rule_status == "not_supported"
    assert deepest.grade({}).reason == "nested_too_deep"


@pytest.mark.parametrize("kind", NAMED_ONLY)
def test_types_that_are_only_named(kind: str) -> None:
    """Where public sources give a name and no rule, the rule is undetermined."""
    verdict = grade(kind, {"x": 1}, {"x": 1})
    assert (verdict.status, verdict.reason) == ("rule_undetermined", "named_without_rule")
    assert rule_status(kind, {"x": 1}) == "undetermined"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("numeric_tolerence", "unknown_type:numeric_tolerance"),
        ("Numeric_Tolerance ", "unknown_type:numeric_tolerance"),
        ("multiple_choices", "unknown_type:multiple_choice"),
        ("zzz", "unknown_type"),
        ("", "unknown_type"),
        (None, "unknown_type"),
        (5, "unknown_type"),
        (["numeric_tolerance"], "unknown_type"),
        ({"a": 1}, "unknown_type"),
        ("x" * 100_000, "unknown_type"),
    ],
)
def test_unknown_types(kind: Any, reason: str) -> None:
    """Nobody publishes the rule of an unknown type; the reason names types that come close."""
    verdict = grade(kind, NUMERIC, {"m": 3})
    assert (verdict.status, verdict.passed) == ("rule_undetermined", None)
    assert verdict.reason is not None
    assert verdict.reason.startswith(reason)
    assert ("," in verdict.reason or ":" in verdict.reason) is (":" in reason)
    assert rule_status(kind, NUMERIC) == "unknown_type"


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        ({"type": "absolute", "value": 1}, "published"),
        ({"type": "absolute", "lower": 1, "upper": 2}, "published"),
        ({"type": "relative", "value": 1}, "published"),
        ({"type": "min", "value": 1}, "published"),
        ({"type": "max"}, "published"),
        ({}, "published"),
        ({"type": "absolute", "lower": 1}, "undetermined"),
        ({"type": "absolute", "lower": 1, "upper": 2, "value": 3}, "undetermined"),
        ({"type": "min", "value": 1, "upper": 2}, "undetermined"),
        ({"type": "minimum", "value": 1}, "undetermined"),
        ({"type": "percent", "value": 1}, "undetermined"),
        ({"type": "absolute", "value": "1"}, "undetermined"),
        ({"type": "absolute", "value": -1}, "invalid_config"),
    ],
)
def test_rule_status_of_a_numeric_grader(entry: Any, status: str) -> None:
    """Published where sources settle every field, undetermined where they leave room in one."""
    config = {"ground_truth": {"a": 1, "m": 3}, "tolerances": {"m": entry}}
    assert rule_status("numeric_tolerance", config) == status
    assert compile_rule("numeric_tolerance", config).rule_status == status
    assert rule_status("numeric_tolerance", {"ground_truth": {}}) == "published"
