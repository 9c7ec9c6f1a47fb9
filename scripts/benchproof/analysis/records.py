"""What a record says that cannot be so, beside its verdict: names, times, and what the grader noted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from benchproof.grading.record import same_value
from benchproof.inventory.layout import RunPlace

Met = tuple[str, str | None]
#: A harness needs a while to stop an agent; beyond both of these a limit was not held.
_SLACK: Final = 1.5
_SLACK_S: Final = 600.0


def odd(record: Any, place: RunPlace, truths: Mapping[str, Any]) -> list[Met]:
    """Return (rule, pointer) of what contradicts a readable record's place, limits or published truths."""
    result = record["result"]
    graded = result.get("grader_result")
    met = [*_names(record, result, place), *_times(record)]
    if isinstance(graded, dict):
        met += _noted(graded, result.get("agent_answer"), truths)
        if result.get("passed") is not None and graded.get("score") is None:
            met.append(("record_incomplete", None))
    if not isinstance(record.get("model_name"), str):
        met.append(("record_incomplete", "/model_name"))
    return met


def _names(record: Mapping[str, Any], result: Mapping[str, Any], place: RunPlace) -> Iterator[Met]:
    told = ((record.get("task"), "/task"), (result.get("test_id"), "/result/test_id"))
    for found, pointer in told:
        if isinstance(found, str) and place.eval_id is not None and found != place.eval_id:
            yield "run_names_other_eval", pointer


def _times(record: Mapping[str, Any]) -> Iterator[Met]:
    took = _seconds(record.get("agent_runtime_seconds"))
    limit = _seconds(record.get("eval_timeout_seconds"))
    late = took is not None and limit is not None and took > max(limit * _SLACK, limit + _SLACK_S)
    if late or (took is not None and took < 0):
        yield "run_time_impossible", "/agent_runtime_seconds"


def _seconds(value: Any) -> float | None:
    right = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15
    return float(value) if right and math.isfinite(value) else None


def _noted(graded: Mapping[str, Any], answer: Any, truths: Mapping[str, Any]) -> Iterator[Met]:
    """The grader notes what it compared, as <field>_actual and <field>_expected."""
    metrics = graded.get("metrics")
    noted = metrics if isinstance(metrics, dict) else {}
    for rule, values, ending in (
        ("answer_differs", answer if isinstance(answer, dict) else {}, "_actual"),
        ("truth_differs", truths, "_expected"),
    ):
        told = {name: noted[name + ending] for name in values if name + ending in noted}
        if not all(same_value(one, values[name]) for name, one in told.items()):
            yield rule, "/result/grader_result/metrics"
