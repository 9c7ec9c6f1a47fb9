"""Accuracy per model and harness as the published tables compute it, from recorded verdicts.

Two stages: the mean of the replicates of each evaluation, then the mean over evaluations with a t
interval on n - 1 degrees of freedom, never clipped to [0, 1] (the paper's section on statistics). A run
that submitted nothing counts 0; one that cannot be read counts nothing and leaves the row incomplete.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

CONFIDENCE = 0.95


def summarise(
    runs: Iterable[Mapping[str, Any]], evals: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows of the models table; accuracies and bounds are fractions, bounds null for n < 2.

    A model is expected to have run every public evaluation of a repository, each as often as the most
    replicated one: what lacks is `n_missing`. `accuracy` is over what is there, as published tables have
    it; `accuracy_all` counts missing and unreadable runs as failed.
    """
    public: dict[str, set[str]] = defaultdict(set)
    for row in evals:
        if row["eval_id"] is not None and row["status"] == "ok":
            public[row["repo"]].add(row["eval_id"])
    by_repo: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for run in runs:
        if run["model"] is not None:
            by_repo[run["repo"]].append(run)
    return [
        row for repo in sorted(by_repo) for row in _repository(repo, by_repo[repo], public[repo])
    ]


def _repository(repo: str, runs: list[Mapping[str, Any]], public: set[str]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for run in runs:
        groups[(run["model"], run["harness"])].append(run)
    evals = public | {run["eval_id"] for run in runs}
    replicates = max(
        Counter((run["eval_id"], run["model"], run["harness"]) for run in runs).values()
    )
    return [_row(repo, *names, groups[names], len(evals), replicates) for names in sorted(groups)]


def _row(
    repo: str, model: str, harness: str, runs: list[Mapping[str, Any]], evals: int, replicates: int
) -> dict[str, Any]:
    outcomes: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        outcome = _outcome(run)
        if outcome is not None:
            outcomes[run["eval_id"]].append(outcome)
    means = [math.fsum(outcomes[name]) / len(outcomes[name]) for name in sorted(outcomes)]
    accuracy, low, high = interval(means)
    unreadable = sum(run["status"] == "unreadable" for run in runs)
    missing = max(0, evals * replicates - len(runs))
    return {
        "repo": repo,
        "model": model,
        "harness": harness,
        "n_evals": len(means),
        "n_runs": len(runs),
        "n_passed": sum(run["recorded_passed"] is True for run in runs),
        "n_no_submission": sum(run["status"] == "no_submission" for run in runs),
        "n_unreadable": unreadable,
        "n_missing": missing,
        "accuracy": accuracy,
        "accuracy_all": math.fsum(math.fsum(v) / max(replicates, len(v)) for v in outcomes.values())
        / evals,
        "ci_low": low,
        "ci_high": high,
        "complete": unreadable == 0 and missing == 0,
    }


def _outcome(run: Mapping[str, Any]) -> float | None:
    """What a run counts for: its recorded verdict, 0 when it submitted nothing, None when unknown."""
    if run["status"] == "unreadable":
        return None
    if run["recorded_passed"] is None:
        return 0.0
    return 1.0 if run["recorded_passed"] else 0.0


def interval(means: list[float]) -> tuple[float | None, float | None, float | None]:
    """Return mean and t interval of per-evaluation means; (None, None, None) without any."""
    n = len(means)
    if n == 0:
        return None, None, None
    mean = math.fsum(means) / n
    if n == 1:
        return mean, None, None
    spread = math.sqrt(math.fsum((m - mean) ** 2 for m in means) / (n - 1))
    half = _t_quantile(n - 1) * spread / math.sqrt(n)
    return mean, mean - half, mean + half


def _t_quantile(degrees: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + CONFIDENCE / 2))
