"""Checks of published numbers: each can fail, and the known contradiction falls out by itself."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from benchproof.analysis.published import checks
from benchproof.analysis.published.checks import Public
from benchproof.analysis.published.scores import Axis, Score


def score(mean: str, n: int | None = 159, **values: Any) -> Score:
    base = Score(
        "results/m.csv",
        "row 1",
        "model",
        None,
        "opus",
        "mini",
        Decimal(mean),
        n_evals=n,
        decimals=2,
    )
    return replace(base, **values)


def parts(axis: Axis, sizes: dict[str, tuple[int, int]]) -> list[Score]:
    """One model's parts: {stratum: (evaluations, passed runs)}."""
    return [
        score(f"{100 * k / (3 * n):.2f}", n, path=f"results/{axis}.json", place=f"/{axis}/{name}",
              axis=axis, stratum=name)
        for name, (n, k) in sizes.items()
    ]  # fmt: skip


CATEGORIES = {"a": (40, 63), "b": (59, 92), "c": (60, 95)}
PLATFORMS = {"p": (100, 160), "q": (59, 90)}


def outcome(found: Any) -> list[tuple[str, str, str | None]]:
    return [(check.check, check.status, check.reason) for check in found]


def test_the_contradiction_of_one_run_falls_out_over_either_axis() -> None:
    """spatialbench at 5042c4f: 250 of 477 on both axes, published as 52.62 %, which is 251."""
    both = [*parts("category", CATEGORIES), *parts("platform", PLATFORMS)]
    assert sum(k for _, k in CATEGORIES.values()) == sum(k for _, k in PLATFORMS.values()) == 250
    found = [c for c in checks.together([score("52.62"), *both], [], 3) if c.check == "total"]
    assert [c.status for c in found] == ["fails", "fails"]
    assert [c.expected for c in found] == [
        "250 of 477, the sum over 3 category parts",
        "250 of 477, the sum over 2 platform parts",
    ]
    assert {c.observed for c in found} == {"251 of 477 (52.62)"}
    right = checks.together([score("52.41"), *both], [], 3)
    assert {c.status for c in right if c.check == "total"} == {"holds"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda found: found[1:], "parts_missing"),
        (lambda found: [replace(found[0], n_evals=None), *found[1:]], "not_counted"),
        (lambda found: [replace(found[0], n_evals=41), *found[1:]], "sizes_differ"),
        (lambda found: [replace(found[0], mean=Decimal("52.55")), *found[1:]], "off_grid"),
    ],
    ids=["part-missing", "no-size", "sizes", "grid"],
)
def test_totals_that_cannot_be_compared_are_not_blamed(change: Any, reason: str) -> None:
    others = parts("category", CATEGORIES)
    other = [replace(part, model="other") for part in others]
    found = checks.together([score("52.62"), *change(others), *other], [], 3)
    told = [(c.status, c.reason) for c in found if c.check == "total"]
    assert told == [("not_checked", reason)]


def test_sizes_add_up_to_the_number_of_evaluations() -> None:
    wrong = {**CATEGORIES, "d": (1, 1)}
    found = [
        c
        for c in checks.together([score("52.41"), *parts("category", wrong)], [], 3)
        if c.check == "sizes"
    ]
    assert [(c.status, c.expected, c.observed) for c in found] == [
        ("fails", "159 evaluations", "160 in 4 parts")
    ]


def test_a_model_of_the_parts_alone_is_told() -> None:
    strange = [replace(part, model="grok") for part in parts("category", CATEGORIES)]
    found = checks.together([score("52.41"), *parts("category", CATEGORIES), *strange], [], 3)
    bare = [replace(part, harness=None) for part in parts("category", CATEGORIES)]
    several = [score("52.41"), score("52.41", harness="cc"), *bare]
    named = [c.status for c in checks.together(several, [], 3) if c.check == "listed"]
    assert named == ["holds"]
    assert [(c.subject, c.status) for c in found if c.check == "listed"] == [
        ("grok x mini", "fails"),
        ("opus x mini", "holds"),
    ]


@pytest.mark.parametrize(
    ("mean", "n", "replicates", "expected"),
    [
        ("52.62", 159, 3, ("holds", None)),
        ("52.50", 159, 3, ("fails", None)),
        ("63.33", 15, 3, ("fails", "fits_with_a_missing_replicate")),
        ("52.62", None, 3, ("not_checked", "no_n_stated")),
        ("52.62", 159, None, ("not_checked", "no_replicates_stated")),
    ],
)
def test_granularity(mean: str, n: int | None, replicates: int | None, expected: Any) -> None:
    (found,) = checks.alone(score(mean, n), replicates)
    assert (found.check, found.status, found.reason) == ("granularity", *expected)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("44.84", "60.40", [("symmetry", "holds", None), ("width", "holds", None)]),
        ("45.04", "60.40", [("symmetry", "fails", None), ("width", "holds", None)]),
        ("40.00", "65.24", [("symmetry", "holds", None), ("width", "fails", None)]),
        ("60.40", "44.84", [("symmetry", "holds", None), ("width", "fails", None)]),
        ("0.00", "100.00", [("symmetry", "fails", "looks_clipped"), ("width", "fails", None)]),
    ],
    ids=["right", "lopsided", "too-wide", "upside-down", "clipped"],
)
def test_intervals(low: str, high: str, expected: Any) -> None:
    found = checks.alone(score("52.62", low=Decimal(low), high=Decimal(high)), 3)
    assert outcome(found)[1:] == expected


@pytest.mark.parametrize(("rate", "status"), [("11.11", "holds"), ("11.12", "fails")])
def test_a_pass_rate_is_passed_over_runs(rate: str, status: str) -> None:
    found = checks.alone(score(rate, None, runs=72, passed=8), None)
    assert ("rate", status, None) in outcome(found)


def test_no_number_is_a_failure_of_its_own() -> None:
    (found,) = checks.alone(replace(score("1"), mean=None), 3)
    assert (found.check, found.status) == ("readable", "fails")


README: dict[str, Any] = {"path": "README.md", "place": "table 1 row 1", "n_evals": None}


@pytest.mark.parametrize(
    ("mine", "theirs", "status"),
    [
        ({"mean": Decimal("52.62")}, {}, "holds"),
        ({"mean": Decimal("52.60")}, {}, "fails"),
        ({"mean": Decimal("52.6"), "decimals": 1}, {}, "holds"),
        ({"mean": Decimal("52.7"), "decimals": 1}, {}, "fails"),
        ({"harness": None}, {}, "holds"),
        ({"others": {"cost": Decimal("0.8240")}}, {"others": {"cost": Decimal("0.824")}}, "holds"),
        ({"others": {"cost": Decimal("0.8250")}}, {"others": {"cost": Decimal("0.824")}}, "fails"),
    ],
    ids=["same", "other", "coarser", "coarser-other", "no-harness", "cost", "other-cost"],
)
def test_readme_against_file(mine: dict[str, Any], theirs: dict[str, Any], status: str) -> None:
    rows = [replace(score("52.62"), **theirs), replace(score("52.62"), **{**README, **mine})]
    found = [check for check in checks.together(rows, [], 3) if check.check == "tables"]
    assert status in {check.status for check in found}
    assert ("fails" in {check.status for check in found}) is (status == "fails")
    assert {check.path for check in found} == {"README.md"}


def test_a_row_without_harness_may_be_about_any() -> None:
    rows = [score("50.10", harness="cc"), score("52.62"), score("52.62", **README, harness=None)]
    found = [check for check in checks.together(rows, [], 3) if check.check == "tables"]
    assert [check.status for check in found] == ["holds"]


def public(outcomes: dict[str, list[bool]], evals: int | None = None) -> Public:
    names = frozenset(outcomes) | {f"more{n}" for n in range((evals or 0) - len(outcomes))}
    place = dict.fromkeys(names, "qc")
    return Public(outcomes, {"category": place, "platform": {}}, names)


@pytest.mark.parametrize(
    ("mean", "passed", "failed", "status"),
    [
        ("1.26", 6, 3, "holds"),
        ("1.05", 6, 3, "fails"),
        ("99.37", 0, 3, "holds"),
        ("99.58", 0, 3, "fails"),
    ],
    ids=["just-fits", "too-many-passes", "failures-fit", "too-many-failures"],
)
def test_public_runs_fit_inside(mean: str, passed: int, failed: int, status: str) -> None:
    """6 public passes need at least 6 of 477: 1.26 %."""
    runs = public({"e1": [True] * passed + [False] * failed}, 16)
    found = outcome(checks.with_runs(score(mean), runs, 3))
    assert ("public_fits", status, None) in found
    assert ("recomputed", "not_checked", "evals_withheld") in found


def test_public_runs_are_counted_by_part() -> None:
    part = score("50.00", 1, axis="category", stratum="QC", path="c.json")
    other = replace(part, stratum="typing")
    runs = public({"e1": [True, True, True]})
    assert ("public_fits", "not_checked", "off_grid") in outcome(checks.with_runs(part, runs, 3))
    assert list(checks.with_runs(other, runs, 3)) == []


@pytest.mark.parametrize(
    ("mean", "status"), [("66.67", "holds"), ("66.66", "fails"), ("33.33", "fails")]
)
def test_what_is_public_in_full_is_recomputed(mean: str, status: str) -> None:
    runs = public({"a": [True] * 3, "b": [True, True, False], "c": [False, True, False]})
    found = outcome(checks.with_runs(score(mean, 3), runs, 3))
    assert ("recomputed", status, None) in found


def test_an_incomplete_public_set_is_not_recomputed() -> None:
    runs = public({"a": [True] * 3, "b": [True]})
    found = outcome(checks.with_runs(score("66.67", 2), runs, 3))
    assert ("recomputed", "not_checked", "runs_missing") in found
