"""What a record says that cannot be so: each kind is met, and what only looks like it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchproof.analysis.records import odd
from benchproof.inventory.layout import RunPlace

PLACE = RunPlace("one", "lab", "m-1", "agent", 1)
Record = dict[str, Any]


def record() -> Record:
    graded = {
        "agent_answer": {"n": 5},
        "metrics": {"n_actual": 5, "n_expected": 7},
        "passed": False,
        "score": 0.0,
    }
    result = {"agent_answer": {"n": 5}, "grader_result": graded, "passed": False, "test_id": "one"}
    times = {"agent_runtime_seconds": 20.5, "eval_timeout_seconds": 3600}
    return {**times, "model_name": "lab/m-1", "task": "one", "result": result}


def met(change: Callable[[Record], object]) -> list[str]:
    value = record()
    change(value)
    return [rule for rule, _ in odd(value, PLACE, {"n": 7})]


def graded(**values: Any) -> Callable[[Record], object]:
    return lambda value: value["result"]["grader_result"].update(values)


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("run_names_other_eval", lambda value: value.update(task="two")),
        ("run_names_other_eval", lambda value: value["result"].update(test_id="two")),
        ("run_time_impossible", lambda value: value.update(agent_runtime_seconds=-1)),
        ("run_time_impossible", lambda value: value.update(agent_runtime_seconds=9000.0)),
        ("answer_differs", graded(metrics={"n_actual": 6, "n_expected": 7})),
        ("truth_differs", graded(metrics={"n_actual": 5, "n_expected": 8})),
        ("record_incomplete", graded(score=None)),
        ("record_incomplete", lambda value: value.pop("model_name")),
    ],
)
def test_what_cannot_be_so(rule: str, change: Callable[[Record], object]) -> None:
    assert met(change) == [rule]


@pytest.mark.parametrize(
    "change",
    [
        lambda value: None,
        lambda value: value.update(agent_runtime_seconds=3700),
        lambda value: value.update(agent_runtime_seconds="long", eval_timeout_seconds=None),
        lambda value: value.update(agent_runtime_seconds=float("nan")),
        lambda value: value.pop("task"),
        graded(metrics=None),
        graded(metrics={"n_actual": 5.0, "other_expected": 1}),
        lambda value: value["result"].update(grader_result=None, agent_answer=None, passed=None),
    ],
)
def test_what_may_be_so(change: Callable[[Record], object]) -> None:
    assert met(change) == []
