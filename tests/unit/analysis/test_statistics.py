"""Estimates and tests: known values, exactness, and the limits of few evaluations."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchproof.analysis import statistics
from benchproof.analysis.statistics import Comparison, bootstrap, holm, wilson

shares = st.dictionaries(
    st.sampled_from("abcdefg"), st.lists(st.booleans(), min_size=1, max_size=4), min_size=2
)


@pytest.mark.parametrize(
    ("passed", "runs", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (81, 263, 0.2553, 0.3662),
    ],
    ids=["none", "all", "half", "newcombe-1998"],
)
def test_wilson_gives_published_values(passed: int, runs: int, low: float, high: float) -> None:
    """Newcombe 1998 lists 81 of 263 as 0.2553 to 0.3662."""
    found = wilson(passed, runs)
    assert found is not None
    assert found == pytest.approx((low, high), abs=5e-5)


def test_nothing_has_no_interval() -> None:
    assert wilson(0, 0) is None
    assert bootstrap({"a": [True, False]}) is None


def test_the_bootstrap_draws_evaluations_and_not_runs() -> None:
    """Replicates that always agree are one observation: the interval is that of three, not of nine."""
    once = bootstrap({"a": [True], "b": [False], "c": [True]})
    thrice = bootstrap({"a": [True] * 3, "b": [False] * 3, "c": [True] * 3})
    assert once == thrice == (0.0, 1.0)


@given(shares)
def test_the_bootstrap_is_the_same_every_time_and_holds_the_mean(
    found: dict[str, list[bool]],
) -> None:
    bounds = bootstrap(found)
    statistics._draws.cache_clear()
    assert bootstrap(dict(reversed(found.items()))) == bounds
    mean = sum(sum(v) / len(v) for v in found.values()) / len(found)
    assert bounds is not None
    assert bounds[0] - 1e-12 <= mean <= bounds[1] + 1e-12


@given(shares, shares)
def test_the_sign_flip_test_counts_every_pattern(
    first: dict[str, list[bool]], second: dict[str, list[bool]]
) -> None:
    """The same p as from writing out all sign patterns of all differences, ties included."""
    comparison = Comparison(first, second)
    differences = comparison.differences
    seen = abs(sum(differences))
    flips = list(itertools.product((1, -1), repeat=len(differences)))
    as_far = sum(
        abs(sum(s * d for s, d in zip(flip, differences, strict=True))) >= seen - 1e-9
        for flip in flips
    )
    assert comparison.p == pytest.approx(as_far / len(flips))
    assert comparison.p >= comparison.least_p or comparison.n == 0


def test_a_comparison_is_paired_by_evaluation() -> None:
    """Evaluations that one of the two lacks say nothing about them."""
    first = {"a": [True, True, False], "b": [False], "c": [True], "only": [True]}
    second = {"a": [True, False, False], "b": [False, False], "c": [False], "other": [True]}
    found = Comparison(first, second)
    assert (found.n, found.wins, found.ties) == (3, 2, 1)
    assert found.differences == pytest.approx([1 / 3, 0, 1])
    assert found.p == 0.5
    assert Comparison(second, first).p == found.p


def test_models_that_share_nothing_do_not_differ() -> None:
    nothing = Comparison({"a": [True]}, {"b": [True]})
    assert (nothing.n, nothing.p, nothing.differences) == (0, 1.0, [])


@pytest.mark.parametrize(
    ("ps", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.9], [1.0, 1.0]),
        ([0.02], [0.02]),
        ([], []),
    ],
    ids=["wikipedia", "at-most-1", "alone", "none"],
)
def test_holm_steps_down(ps: list[float], adjusted: list[float]) -> None:
    assert holm(ps) == pytest.approx(adjusted)
