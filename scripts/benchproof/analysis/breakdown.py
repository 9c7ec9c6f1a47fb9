"""Rows of the tables estimates, strata and comparisons: what recorded runs say of models, and how surely.

Missing replicates and runs without an answer stay visible: every row counts its runs, what submitted
nothing (which counts as failed) and what is missing beside what a complete set would hold.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from benchproof.analysis.models import interval
from benchproof.analysis.statistics import ALPHA, FEW, Bounds, Comparison, bootstrap, holm, wilson

Row = Mapping[str, Any]
Rows = list[dict[str, Any]]
Pair = tuple[str, str]
Outcomes = dict[str, list[bool]]

#: What of the runs table accuracies are computed from, here and in models.py.
COLUMNS: Final = (
    "repo",
    "eval_id",
    "model",
    "harness",
    "grader_version",
    "status",
    "recorded_passed",
    "derived_passed",
)
#: Whose verdicts: what a record says, or what follows from the published rule and the recorded answer.
VERDICTS: Final = ("recorded", "derived")
#: What runs of one model are broken down by.
AXES: Final = ("task", "kit", "grader_build")
#: More digits would say more than so few evaluations can, and could be those of an answer by chance.
_DIGITS = 4


class Runs:
    """The readable runs of one repository, with what its evaluations say of themselves."""

    def __init__(self, repo: str, runs: Iterable[Row], evals: Iterable[Row]) -> None:
        self.repo = repo
        self.all = [run for run in runs if run["model"] is not None]
        self.about = {row["eval_id"]: row for row in evals if row["eval_id"] is not None}
        self.pairs: list[Pair] = sorted({(run["model"], run["harness"]) for run in self.all})
        cells = Counter((run["eval_id"], run["model"], run["harness"]) for run in self.all)
        self.replicates = max(cells.values(), default=0)
        self.evals = {run["eval_id"] for run in self.all} | {
            name for name, row in self.about.items() if row["status"] == "ok"
        }

    def of(self, pair: Pair) -> list[Row]:
        """Return the runs of a model and harness."""
        return [run for run in self.all if (run["model"], run["harness"]) == pair]

    def stratum(self, run: Row, axis: str) -> str | None:
        """Return where a run belongs on an axis; None where nothing says it."""
        if axis == "grader_build":
            return str(run["grader_version"] or "not recorded")
        if axis in ("eval", "harness"):
            return str(run["eval_id" if axis == "eval" else "harness"])
        found = self.about.get(run["eval_id"], {}).get(axis)
        return None if found is None else str(found)


def by_repository(runs: Iterable[Row], evals: Iterable[Row]) -> list[Runs]:
    """Return the runs of each repository that records some, by name."""
    of: dict[str, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for run in runs:
        of[run["repo"]][0].append(run)
    for row in evals:
        of[row["repo"]][1].append(row)
    found = (Runs(repo, *of[repo]) for repo in sorted(of))
    return [repository for repository in found if repository.all]


def outcomes(runs: Iterable[Row], verdicts: str = "recorded") -> Outcomes:
    """Return pass or fail of the replicates of each evaluation.

    A run that submitted nothing counts as failed either way; one that cannot be read, or that has no
    derived verdict, counts nothing.
    """
    found: Outcomes = defaultdict(list)
    for run in runs:
        if run["status"] == "unreadable":
            continue
        passed = run[f"{verdicts}_passed"]
        if passed is None and run["status"] != "no_submission" and verdicts == "derived":
            continue
        found[run["eval_id"]].append(passed is True)
    return dict(found)


def estimates(repositories: Iterable[Runs]) -> Rows:
    """Return one row per model, harness, whose verdicts and method of the interval."""
    return [row for repository in repositories for row in _estimates(repository)]


def _estimates(repository: Runs) -> Iterator[dict[str, Any]]:
    for verdicts in VERDICTS:
        found = {pair: outcomes(repository.of(pair), verdicts) for pair in repository.pairs}
        means = {pair: _mean(shares) for pair, shares in found.items()}
        for pair, shares in found.items():
            if not shares:
                continue
            passed, total = sum(map(sum, shares.values())), sum(map(len, shares.values()))
            level = [other for other, mean in means.items() if mean == means[pair]]
            _, low, high = interval(_means(shares))
            two_sided: Bounds = None if low is None or high is None else (low, high)
            for method, value, bounds in (
                ("t", means[pair], two_sided),
                ("bootstrap", means[pair], bootstrap(shares)),
                ("wilson", passed / total, wilson(passed, total)),
            ):
                yield {
                    "repo": repository.repo,
                    "model": pair[0],
                    "harness": pair[1],
                    "verdicts": verdicts,
                    "method": method,
                    "n_evals": len(shares),
                    "n_runs": total,
                    "n_passed": passed,
                    "n_missing": max(0, len(repository.evals) * repository.replicates - total),
                    "estimate": _short(value),
                    "low": _short(bounds[0]) if bounds else None,
                    "high": _short(bounds[1]) if bounds else None,
                    "rank": 1 + sum((other or 0) > (means[pair] or 0) for other in means.values()),
                    "tied": len(level) - 1,
                    **_size(len(shares)),
                }


def _mean(shares: Outcomes) -> float | None:
    return interval(_means(shares))[0]


def _means(shares: Outcomes) -> list[float]:
    return [sum(shares[name]) / len(shares[name]) for name in sorted(shares)]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")


def _size(evals: int) -> dict[str, str | None]:
    """Small n says so: a status and why."""
    if evals < 2:
        return {"status": "small_n", "reason": "no_interval"}
    return {"status": "small_n" if evals < FEW else "ok", "reason": _few(evals)}


def _few(evals: int) -> str | None:
    return "few_evals" if evals < FEW else None


def strata(repositories: Iterable[Runs]) -> Rows:
    """Return recorded verdicts by task, kit and grader build, for each model and for all together; by
    harness for all models; and by evaluation, where never and always passed ones are told apart.
    """
    return [row for repository in repositories for row in _strata(repository)]


def _strata(repository: Runs) -> Iterator[dict[str, Any]]:
    everyone: list[tuple[Pair | tuple[None, None], list[Row]]] = [
        ((None, None), list(repository.all))
    ]
    each = everyone + [(pair, repository.of(pair)) for pair in repository.pairs]
    for axes, groups in ((AXES, each), (("harness", "eval"), everyone)):
        for axis in axes:
            for (model, harness), runs in groups:
                parts: dict[str, list[Row]] = defaultdict(list)
                for run in runs:
                    where = repository.stratum(run, axis)
                    if where is not None:
                        parts[where].append(run)
                for where in sorted(parts):
                    yield _stratum(repository.repo, axis, where, model, harness, parts[where])


def _stratum(
    repo: str, axis: str, where: str, model: str | None, harness: str | None, runs: list[Row]
) -> dict[str, Any]:
    shares = outcomes(runs)
    total, passed = sum(map(len, shares.values())), sum(map(sum, shares.values()))
    mean, low, high = interval(_means(shares))
    state = _size(len(shares))
    if axis == "eval":
        state = {"status": "ok", "reason": None}
        if total and passed in (0, total):
            state["status"] = "always_passed" if passed else "never_passed"
    return {
        "repo": repo,
        "axis": axis,
        "stratum": where,
        "model": model,
        "harness": harness,
        "n_evals": len(shares),
        "n_runs": total,
        "n_passed": passed,
        "n_no_submission": sum(run["status"] == "no_submission" for run in runs),
        "n_unreadable": sum(run["status"] == "unreadable" for run in runs),
        "accuracy": _short(mean),
        "ci_low": _short(low),
        "ci_high": _short(high),
        **state,
    }


def comparisons(repositories: Iterable[Runs]) -> Rows:
    """Return one row per two models of a repository, paired by evaluation, with Holm's correction over
    all pairs of that repository.
    """
    return [row for repository in repositories for row in _comparisons(repository)]


def _comparisons(repository: Runs) -> Rows:
    found = {pair: outcomes(repository.of(pair)) for pair in repository.pairs}
    pairs = list(combinations([pair for pair in repository.pairs if found[pair]], 2))
    compared = [Comparison(found[first], found[second]) for first, second in pairs]
    ps = [comparison.p for comparison in compared]
    rows = zip(pairs, compared, ps, holm(ps), strict=True)
    return [_compared(repository.repo, *row, len(pairs)) for row in rows]


def _compared(
    repo: str, pair: Sequence[Pair], comparison: Comparison, p: float, adjusted: float, family: int
) -> dict[str, Any]:
    (model, harness), (other, other_harness) = pair
    mean, low, high = interval(comparison.differences)
    return {
        "repo": repo,
        "model": model,
        "harness": harness,
        "other_model": other,
        "other_harness": other_harness,
        "n_evals": comparison.n,
        "n_ahead": comparison.wins,
        "n_behind": comparison.n - comparison.wins - comparison.ties,
        "n_tied": comparison.ties,
        "difference": _short(mean),
        "ci_low": _short(low),
        "ci_high": _short(high),
        "p": _short(p),
        "p_holm": _short(adjusted),
        "n_comparisons": family,
        **_power(comparison, family),
    }


def _power(comparison: Comparison, family: int) -> dict[str, str | None]:
    """Say so when not even the most one-sided outcome could be significant."""
    if comparison.n == 0:
        return {"status": "not_comparable", "reason": "no_shared_evals"}
    if comparison.least_p > ALPHA:
        return {"status": "small_n", "reason": "cannot_be_significant"}
    if comparison.least_p * family > ALPHA:
        return {"status": "small_n", "reason": "cannot_be_significant_among_so_many"}
    return {"status": "ok", "reason": None}
