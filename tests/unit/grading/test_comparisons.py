"""Edges and agreement of the comparisons; every value here is invented."""

from __future__ import annotations

import math
from operator import lt

import pytest

from benchproof.grading.comparisons import (
    NEVER,
    AtLeast,
    AtMost,
    Comparison,
    Near,
    Offsets,
    Ratio,
    RatioOffsets,
    Window,
    decide,
    edge_of,
    met,
)

UP, DOWN = math.inf, -math.inf


@pytest.mark.parametrize(
    ("test", "x", "edge"),
    [
        (Near(10, 2), 12, "on_bound"),
        (Near(10, 2), 8.0, "on_bound"),
        (Near(10, 2), 10, "clear"),
        (Near(10, 2), 12.0000001, "clear"),
        (Near(10, 2), math.nextafter(12.0, UP), "within_ulp"),
        (Near(10, 2), math.nextafter(12.0, DOWN), "clear"),
        (Near(10.0, 2.5), 12.499999, "clear"),
        (Near(1.0, 0.1), 1.1, "within_ulp"),
        (Near(1000, 1000), -1.2e-13, "within_ulp"),
        (Near(1000, 1000), -1.2e-12, "clear"),
        (Ratio(1000, 1), -2e-13, "within_ulp"),
        (Window(1000, 1000, 0), -1e-20, "within_ulp"),
        (Window(1000, 1000, 0), 1e-20, "within_ulp"),
        (Window(-1000, 0, 1000), 1e-20, "within_ulp"),
        (Window(-1000, 0, 1000), -1e-20, "within_ulp"),
        (Offsets(1000, 1000, 0), -1.2e-13, "within_ulp"),
        (Offsets(-1000, 0, 1000), 1.2e-13, "within_ulp"),
        (RatioOffsets(1000, 1, 0), -2e-13, "within_ulp"),
        (RatioOffsets(-1000, 0, 1), 2e-13, "within_ulp"),
        (Near(7, 0), 7, "on_bound"),
        (Near(7.0, 0), math.nextafter(7.0, UP), "within_ulp"),
        (Near(7.0, 0), math.nextafter(math.nextafter(7.0, UP), UP), "clear"),
        (Near(0, 0), 5e-324, "within_ulp"),
        (Near(0, 0), 1e-322, "clear"),
        (Ratio(200, 0.1), 220, "on_bound"),
        (Ratio(200, 0.1), 221, "clear"),
        (Ratio(3, 0.2), 3.6, "within_ulp"),
        (Ratio(0, 0.2), 0, "clear"),
        (Window(200, 12, 4), 188, "on_bound"),
        (Window(200, 12, 4), 204, "on_bound"),
        (Window(200, 12, 4), 189, "clear"),
        (Window(200, 12, 4), math.nextafter(204.0, UP), "within_ulp"),
        (Window(200, 12, math.inf), 188, "on_bound"),
        (Window(200, 12, math.inf), 250, "clear"),
        (Offsets(200, 12, 4), 188, "on_bound"),
        (Offsets(200, 12, 4), 204, "on_bound"),
        (Offsets(200, 12, 4), 203, "clear"),
        (RatioOffsets(200, 0.5, 0.25), 100, "on_bound"),
        (RatioOffsets(200, 0.5, 0.25), 250, "on_bound"),
        (RatioOffsets(200, 0.5, 0.25), 200, "clear"),
        (RatioOffsets(0, 0.5, 0.25), 0, "clear"),
        (AtLeast(5), 5.0, "on_bound"),
        (AtLeast(5.0), math.nextafter(5.0, DOWN), "within_ulp"),
        (AtLeast(5), 6, "clear"),
        (AtMost(5), 5, "on_bound"),
        (AtMost(5.0), math.nextafter(5.0, UP), "within_ulp"),
        (AtMost(5), 4, "clear"),
        (AtMost(10**400), 5.5, "clear"),
        (NEVER, 5, "clear"),
        (AtLeast(5), math.inf, None),
        (AtLeast(5), math.nan, None),
    ],
)
def test_edge(test: Comparison, x: float, edge: str | None) -> None:
    """On a bound; one ulp of the answer or the bound from another outcome; or clear of both."""
    assert edge_of([test], x) == edge


def test_the_closest_edge_counts() -> None:
    """Over several readings the closest edge is the field's."""
    assert edge_of([Near(10, 5), AtLeast(12)], 12) == "on_bound"
    assert edge_of([Near(10, 5), AtLeast(3)], 12) == "clear"
    assert edge_of([], 12) is None


@pytest.mark.parametrize(
    "test",
    [Near(10, 2), Ratio(10, 0.2), Window(10, 3, 2), Offsets(10, 3, 2), AtMost(12)],
)
def test_strict_differs_on_the_bound_alone(test: Comparison) -> None:
    """With `lt` an answer on the bound fails, one inside passes, one outside fails as before."""
    assert [met(test, x) for x in (11, 12, 13)] == [True, True, False]
    assert [met(test, x, lt) for x in (11, 12, 13)] == [True, False, False]


def test_lower_sides() -> None:
    """The lower bound is the lower offset's, in each form."""
    for test in (Window(10, 3, 2), Offsets(10, 3, 2), RatioOffsets(10, 0.3, 0.2)):
        assert [met(test, x) for x in (6, 7, 12, 13)] == [False, True, True, False]
        assert [met(test, x, lt) for x in (7, 8, 12)] == [False, True, False]
    assert [met(AtLeast(7), x) for x in (6, 7, 8)] == [False, True, True]
    assert [met(AtLeast(7), x, lt) for x in (6, 7, 8)] == [False, False, True]


def test_decide() -> None:
    """Readings must agree; none at all leave it open; overflow and a zero truth are failures."""
    assert decide([Near(10, 2), AtLeast(5)], 11) is True
    assert decide([Near(10, 2), AtLeast(5)], 3) is False
    assert decide([Near(10, 2), AtLeast(5)], 13) is None
    assert decide([], 13) is None
    assert met(Ratio(2, 1), 10**400) is False
    assert met(Ratio(0, 1), 0) is False
    assert met(RatioOffsets(0, 1, 1), 0) is False


@pytest.mark.parametrize(
    ("test", "x", "said"),
    [
        (AtLeast(2**53 + 1), 2**53, None),
        (AtLeast(2**53 + 1), float(2**53), None),
        (AtLeast(2**53), 2**53, True),
        (AtLeast(2**52 - 1), 2**52 - 2, False),
        (Near(2**54, 1.0), 2**54 + 1, True),
        (AtMost(5.5), -(10**400), None),
    ],
)
def test_large_integers_need_both_arithmetics(test: Comparison, x: float, said: bool) -> None:
    """Exact and float arithmetic are both asked where they may differ."""
    assert decide([test], x) is said
