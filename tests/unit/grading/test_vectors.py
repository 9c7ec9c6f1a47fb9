"""Hand-made cases with synthetic values: what public sources determine, case by case.

Encodings: {"__float__": "nan"}, {"__repeat__": ["x", n]}, {"__absent__": true},
{"__raw__": "file text"}.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchproof.errors import Unreadable
from benchproof.grading import NO_ANSWER, grade
from benchproof.jsontext import loads

DATA = Path(__file__).parent / "data"
VECTORS: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("numeric_tolerance.jsonl", "families.jsonl")
    for line in (DATA / name).read_text("utf-8").splitlines()
]
STATUS = {"abstain": "rule_undetermined", "no_answer": "no_submission"}


def decoded(value: Any) -> Any:
    """Undo the encodings of what JSON cannot hold."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"__float__": text}:
            return float(text)
        case {"__repeat__": [text, times]}:
            return text * times
        case {"__absent__": True}:
            return NO_ANSWER
        case {"__raw__": text}:
            return read_as_runner(text)
    return {key: decoded(item) for key, item in value.items()}


def read_as_runner(text: str) -> Any:
    """The published runner leaves the answer unset when the file cannot be parsed."""
    try:
        return loads(text.encode()).value
    except Unreadable:
        return None


@pytest.mark.parametrize(
    "case", VECTORS, ids=lambda case: f"{case['id']}-{case['type']}-{case['tag']}"
)
def test_vector(case: dict[str, Any]) -> None:
    """Status, verdict, scores, failure mode, contested and tier are as the sources have them."""
    verdict = grade(case["type"], decoded(case["config"]), decoded(case["answer"]))
    assert verdict.status == STATUS.get(case["status"], case["status"])
    assert verdict.passed is case["passed"]
    assert verdict.failure_mode == case["failure_mode"]
    assert verdict.contested is case["contested"]
    assert (verdict.tier or "-") == case["tier"]
    if case["field_scores"] is not None:
        assert verdict.field_scores == case["field_scores"]
    if case["score"] is not None or case["status"] == "abstain":
        assert verdict.score == case["score"]


def test_every_vector_is_here() -> None:
    """All 291 published cases are tried, each once; 91 of them are numeric_tolerance."""
    assert len({case["id"] for case in VECTORS}) == len(VECTORS) == 291
    assert sum(case["type"] == "numeric_tolerance" for case in VECTORS) == 91
