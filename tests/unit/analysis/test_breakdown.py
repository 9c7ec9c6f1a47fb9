"""Rows of estimates, strata and comparisons: what counts, what is said to be few, and what is tied."""

from __future__ import annotations

from typing import Any

import pytest

from benchproof import tables
from benchproof.analysis import breakdown

Row = dict[str, Any]


def run(eval_id: str, model: str, k: int, passed: bool | None, **values: Any) -> Row:
    status = values.pop("status", "graded")
    return {
        **dict.fromkeys(tables.SPECS["runs"].schema.names),
        "repo": "demo/one",
        "run_path": f"{eval_id}/{model}/{k}",
        "eval_id": eval_id,
        "model": model,
        "harness": "h",
        "replicate": k,
        "status": status,
        "recorded_passed": passed,
        "derived_passed": passed,
        **values,
    }


def evaluation(eval_id: str, task: str = "qc", kit: str = "k") -> Row:
    return {"repo": "demo/one", "eval_id": eval_id, "task": task, "kit": kit, "status": "ok"}


EVALS = [evaluation("a"), evaluation("b", "typing"), evaluation("c", "typing")]
RUNS = [
    *(run("a", "x", k, True) for k in (1, 2, 3)),
    *(run("b", "x", k, k == 1) for k in (1, 2, 3)),
    run("c", "x", 1, None, status="no_submission"),
    run("c", "x", 2, True, status="unreadable"),
    *(run("a", "y", k, True) for k in (1, 2, 3)),
    *(run("b", "y", k, False, derived_passed=True) for k in (1, 2, 3)),
]


def built(name: str, runs: list[Row] = RUNS) -> list[Row]:
    """The rows, proven to fit their table."""
    repositories = breakdown.by_repository(runs, EVALS)
    rows: list[Row] = getattr(breakdown, name)(repositories)
    tables.build(name, rows, {})
    return rows


def estimate(model: str, verdicts: str, method: str) -> Row:
    rows = built("estimates")
    return next(
        r for r in rows if (r["model"], r["verdicts"], r["method"]) == (model, verdicts, method)
    )


def test_missing_and_silent_runs_stay_in_the_denominators() -> None:
    """BR-35: a run without an answer counts 0, one that cannot be read counts nothing and is missing."""
    found = estimate("x", "recorded", "t")
    assert (found["n_evals"], found["n_runs"], found["n_passed"], found["n_missing"]) == (
        3,
        7,
        4,
        2,
    )
    assert found["estimate"] == 0.4444
    assert estimate("x", "recorded", "wilson")["estimate"] == 0.5714


def test_recorded_and_derived_verdicts_are_told_apart() -> None:
    assert estimate("y", "recorded", "t")["estimate"] == 0.5
    assert estimate("y", "derived", "t")["estimate"] == 1.0


def test_runs_without_a_derived_verdict_are_no_failures_of_the_rule() -> None:
    """Where no rule is published there is no derived estimate at all."""
    runs = [run("a", "x", 1, True, derived_passed=None, status="rule_not_published")]
    assert {row["verdicts"] for row in built("estimates", runs)} == {"recorded"}


def test_few_evaluations_say_so() -> None:
    assert {row["status"] for row in built("estimates")} == {"small_n"}
    alone = built("estimates", [run("a", "x", 1, True)])
    told = {(row["method"], row["reason"], row["low"] is None) for row in alone}
    assert told == {
        ("t", "no_interval", True),
        ("bootstrap", "no_interval", True),
        ("wilson", "no_interval", False),
    }
    many = [run(str(n), "x", 1, n % 2 == 0) for n in range(10)]
    assert {row["status"] for row in built("estimates", many)} == {"ok"}


def test_ties_share_a_rank() -> None:
    level = [run("a", model, 1, True) for model in ("x", "y")] + [run("a", "z", 1, False)]
    ranks = {(row["model"], row["rank"], row["tied"]) for row in built("estimates", level)}
    assert ranks == {("x", 1, 1), ("y", 1, 1), ("z", 3, 0)}


def test_strata_are_by_task_kit_build_harness_and_evaluation() -> None:
    rows = built("strata")
    assert {row["axis"] for row in rows} == {"task", "kit", "grader_build", "harness", "eval"}
    typing = next(r for r in rows if (r["stratum"], r["model"]) == ("typing", "x"))
    assert (typing["n_evals"], typing["n_runs"], typing["n_passed"]) == (2, 4, 1)
    assert (typing["n_no_submission"], typing["n_unreadable"]) == (1, 1)
    together = next(r for r in rows if (r["stratum"], r["model"]) == ("typing", None))
    assert together["n_runs"] == 7
    assert {r["stratum"] for r in rows if r["axis"] == "grader_build"} == {"not recorded"}


def test_evaluations_never_or_always_passed_are_told() -> None:
    states = {r["stratum"]: r["status"] for r in built("strata") if r["axis"] == "eval"}
    assert states == {"a": "always_passed", "b": "ok", "c": "never_passed"}


def test_comparisons_say_how_many_there_are_and_whether_any_could_matter() -> None:
    (row,) = built("comparisons")
    assert (row["n_evals"], row["n_ahead"], row["n_behind"], row["n_tied"]) == (2, 1, 0, 1)
    assert (row["p"], row["p_holm"], row["n_comparisons"]) == (1.0, 1.0, 1)
    assert (row["status"], row["reason"]) == ("small_n", "cannot_be_significant")


@pytest.mark.parametrize(
    ("models", "evals", "reason"),
    [(2, 6, None), (3, 6, "cannot_be_significant_among_so_many"), (3, 8, None)],
    ids=["two-of-six", "three-of-six", "three-of-eight"],
)
def test_multiplicity_takes_away_what_could_be_significant(
    models: int, evals: int, reason: str | None
) -> None:
    """Six evaluations can give 2/64 at best: enough for one comparison, not for three."""
    runs = [run(str(n), str(m), 1, m == 0) for n in range(evals) for m in range(models)]
    rows = built("comparisons", runs)
    assert {row["reason"] for row in rows} == {reason}
    best = min(row["p_holm"] for row in rows)
    assert (best <= 0.05) is (reason is None)


def test_numbers_are_short() -> None:
    """Four digits: longer ones would pretend, and could hold those of an answer by chance."""
    runs = [
        run(str(n), str(m), 1, (n * 7 + m * 3) % 5 < 2) for n in range(11) for m in range(4)
    ] + [run("0", "0", 2, True), run("0", "0", 3, False)]
    for name in ("estimates", "strata", "comparisons"):
        for row in built(name, runs):
            for value in row.values():
                if isinstance(value, float):
                    assert value == float(f"{value:.4g}")


def test_a_repository_without_runs_has_no_rows() -> None:
    assert built("estimates", []) == built("strata", []) == built("comparisons", []) == []
