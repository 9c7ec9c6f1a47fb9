"""Rounded accuracies and the whole numbers of passed runs behind them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchproof.analysis.models import interval
from benchproof.analysis.published import grid


@pytest.mark.parametrize(
    ("mean", "decimals", "runs", "passed"),
    [
        ("52.62", 2, 477, (251, 251)),
        ("52.41", 2, 477, (250, 250)),
        ("52.5", 2, 477, None),
        ("52.8", 1, 1182, (624, 624)),
        ("50", 0, 1000, (495, 505)),
        ("0.00", 2, 30, (0, 0)),
        ("100", 2, 30, (30, 30)),
        ("-3", 0, 30, None),
        ("104", 0, 30, None),
    ],
)
def test_which_numbers_of_passes_an_accuracy_stands_for(
    mean: str, decimals: int, runs: int, passed: tuple[int, int] | None
) -> None:
    assert grid.passes(Decimal(mean), decimals, runs) == passed


@given(st.integers(1, 2000), st.data())
def test_what_was_rounded_is_found_again(runs: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, runs))
    shown = Decimal(f"{100 * passed / runs:.2f}")
    found = grid.passes(shown, 2, runs)
    assert found is not None
    assert found[0] <= passed <= found[1]


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60))
def test_no_interval_of_real_data_is_called_impossible_or_lopsided(passed: list[int]) -> None:
    mean, low, high = interval([count / 3 for count in passed])
    assert mean is not None
    assert low is not None
    assert high is not None
    shown = [Decimal(f"{100 * value:.2f}") for value in (mean, low, high)]
    assert grid.symmetric(shown[0], shown[1], shown[2], 2)
    half = float(shown[2] - shown[1]) / 2
    assert half <= grid.widest(shown[0], 2, len(passed)) + 0.02


@pytest.mark.parametrize(
    ("mean", "low", "high", "right"),
    [
        ("57.95", "51.56", "64.34", True),
        ("57.78", "51.29", "64.26", True),
        ("61.9", "16.8", "107.0", True),
        ("61.90", "16.80", "100.00", False),
        ("50.00", "40.00", "60.03", False),
    ],
    ids=["exact", "rounded", "not-clipped", "clipped", "off"],
)
def test_intervals_are_symmetric_up_to_rounding(
    mean: str, low: str, high: str, right: bool
) -> None:
    decimals = len(mean.split(".")[1])
    assert grid.symmetric(Decimal(mean), Decimal(low), Decimal(high), decimals) is right
