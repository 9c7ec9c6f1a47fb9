"""Accuracy in two stages over recorded verdicts; nothing vanishes from the denominator."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.analysis.models import interval, summarise
from benchproof.tables import build


def run(
    eval_id: str, passed: bool | None = None, status: str = "graded", **more: Any
) -> dict[str, Any]:
    base = {
        "repo": "demo/one",
        "eval_id": eval_id,
        "model": "m",
        "harness": "h",
        "recorded_passed": passed,
    }
    return {**base, "status": status, **more}


def public(eval_id: str | None, status: str = "ok") -> dict[str, Any]:
    return {"repo": "demo/one", "eval_id": eval_id, "status": status}


def one(runs: list[dict[str, Any]], evals: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    (row,) = summarise(runs, evals or [])
    build("models", [row], {})
    return row


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([], (None, None, None)),
        ([0.5], (0.5, None, None)),
        (
            [0.0, 1.0],
            (0.5, 0.5 - 12.706204736 * math.sqrt(0.5) / math.sqrt(2), 0.5 + 12.706204736 / 2),
        ),
        ([1.0, 1.0, 1.0], (1.0, 1.0, 1.0)),
        (
            [0.0, 0.5, 1.0, 0.5, 0.5],
            (
                0.5,
                0.5 - 2.776445105 * math.sqrt(0.125 / 5),
                0.5 + 2.776445105 * math.sqrt(0.125 / 5),
            ),
        ),
    ],
)
def test_the_interval_is_students_and_not_clipped(
    means: list[float], expected: tuple[float | None, ...]
) -> None:
    for found, wanted in zip(interval(means), expected, strict=True):
        assert found == (wanted if wanted is None else pytest.approx(wanted, abs=1e-8))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
@settings(max_examples=60)
def test_the_interval_is_symmetric_and_blind_to_order(means: list[float]) -> None:
    mean, low, high = interval(means)
    assert mean is not None
    assert low is not None
    assert high is not None
    assert low <= mean <= high
    assert mean - low == pytest.approx(high - mean)
    assert interval(sorted(means)) == pytest.approx(interval(sorted(means, reverse=True)))


def test_the_mean_of_evaluations_is_not_the_mean_of_runs() -> None:
    row = one([run("a", True), run("b", True), run("b", False), run("b", False)])
    assert row["accuracy"] == pytest.approx((1 + 1 / 3) / 2)
    assert (row["n_evals"], row["n_runs"], row["n_passed"], row["n_missing"]) == (2, 4, 2, 2)
    assert row["complete"] is False


def test_nothing_submitted_counts_0_and_unreadable_counts_nothing() -> None:
    """BR-35"""
    runs = [
        run("a", True),
        run("a", None, "no_submission"),
        run("b", None, "unreadable"),
        run("b", True),
    ]
    row = one(runs)
    assert row["accuracy"] == pytest.approx((0.5 + 1) / 2)
    assert (row["n_runs"], row["n_no_submission"], row["n_unreadable"], row["complete"]) == (
        4,
        1,
        1,
        False,
    )


def test_five_passes_of_ten_evaluations() -> None:
    """BR-35: 5 pass, 1 fails, 2 are unreadable, 2 have no result; the classes sum to the total."""
    runs = [run(f"p{n}", True) for n in range(5)] + [run("f", False)]
    runs += [run(f"u{n}", None, "unreadable") for n in range(2)]
    evals = [public(name) for name in [item["eval_id"] for item in runs] + ["x0", "x1"]]
    row = one(runs, [*evals, public("bad", status="invalid_id"), public(None, status="malformed")])
    assert (row["accuracy"], row["accuracy_all"]) == (pytest.approx(5 / 6), pytest.approx(5 / 10))
    assert (
        row["n_evals"],
        row["n_runs"],
        row["n_passed"],
        row["n_unreadable"],
        row["n_missing"],
    ) == (6, 8, 5, 2, 2)
    assert row["complete"] is False


def test_missing_runs_are_seen_against_the_other_models() -> None:
    """FACTS: one evaluation is missing for five pairs."""
    runs = [
        run(e, True, model=m)
        for e in "abc"
        for m in ("m1", "m2")
        for _ in range(3)
        if (e, m) != ("c", "m2")
    ]
    rows = {row["model"]: row for row in summarise(runs, [])}
    assert [
        (rows[m]["n_evals"], rows[m]["n_missing"], rows[m]["complete"]) for m in ("m1", "m2")
    ] == [(3, 0, True), (2, 3, False)]


def test_rows_are_per_repository_model_and_harness_in_order() -> None:
    runs = [
        run("a", True, repo=r, model=m, harness=h)
        for r in ("z/z", "a/a")
        for m in "ba"
        for h in "yx"
    ]
    rows = summarise(runs, [])
    keys = [(row["repo"], row["model"], row["harness"]) for row in rows]
    assert keys == sorted(keys)
    assert len(keys) == 8
    assert summarise(reversed(runs), []) == rows


def test_runs_without_a_model_in_their_path_are_no_row() -> None:
    assert summarise([run("a", True, model=None)], [public("a")]) == []
    assert summarise([], [public("a")]) == []


def test_verdicts_without_a_published_rule_count_as_recorded() -> None:
    row = one([run("a", True, "rule_not_published"), run("b", False, "not_supported")])
    assert (row["accuracy"], row["n_passed"]) == (0.5, 1)


def test_a_model_without_any_readable_run_has_no_accuracy() -> None:
    row = one([run("a", None, "unreadable")])
    assert (row["accuracy"], row["ci_low"], row["n_evals"], row["complete"]) == (
        None,
        None,
        0,
        False,
    )
