"""The registry of grader types, and what can be said of a grader object."""

from __future__ import annotations

from typing import Any

import pytest

from benchproof.grading import compile_rule, grade, rule_status
from benchproof.grading.numeric import compile_config
from benchproof.grading.registry import NAMED_ONLY, PUBLISHED, Registry

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


@pytest.mark.parametrize("kind", [name for name in PUBLISHED if name != "numeric_tolerance"])
def test_published_types_without_a_grader(kind: str) -> None:
    """A published rule that is not implemented is not_supported: ours to do, nobody's fault."""
    verdict = grade(kind, {"x": 1}, {"x": 1})
    assert (verdict.status, verdict.reason) == ("not_supported", "not_implemented")
    assert rule_status(kind, {"x": 1}) == "not_supported"


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
    """An unknown type is not_supported; the reason names known types that come close."""
    verdict = grade(kind, NUMERIC, {"m": 3})
    assert (verdict.status, verdict.passed) == ("not_supported", None)
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
