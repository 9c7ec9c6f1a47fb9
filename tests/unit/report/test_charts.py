"""Charts are drawn whole: nothing is clipped, nothing that is there is too small to see."""

from __future__ import annotations

import pytest

from benchproof.report.charts import WIDTH, Scale, bar, length, scale


def models(*ends: tuple[float | None, float | None]) -> list[dict[str, float | None]]:
    return [{"ci_low": low, "ci_high": high, "accuracy": 0.5} for low, high in ends]


@pytest.mark.parametrize(
    "ends",
    [[], [(None, None)], [(0.2, 0.8)], [(-1.5, 0.4), (0.6, 2.5)], [(0.0, 1.0)]],
    ids=["none", "unknown", "inside", "beyond", "edges"],
)
def test_one_scale_holds_every_interval_and_0_and_1(
    ends: list[tuple[float | None, float | None]],
) -> None:
    found = scale(models(*ends))
    places = [found.x(end) for pair in ends for end in pair if end is not None]
    assert all(0 < place < WIDTH for place in [*places, found.x(0), found.x(1)])
    assert found.x(0) < found.x(0.5) < found.x(1)


def test_ticks_are_halves_inside_the_scale() -> None:
    assert Scale(-0.6, 1.2).ticks == [-0.5, 0.0, 0.5, 1.0]


def test_parts_of_a_bar_fill_it_and_can_be_seen() -> None:
    parts = bar({"agrees": 100_000, "differs": 1, "unchecked": 0})
    assert [part.name for part in parts] == ["agrees", "differs"]
    assert parts[1].width >= 2.5
    assert parts[-1].x + parts[-1].width == pytest.approx(WIDTH, abs=0.2)
    assert bar({"agrees": 0}) == []


def test_sizes_are_drawn_by_their_powers() -> None:
    assert [length(size) for size in (0, 10**6, 10**9, 10**12)] == [2.0, 2.0, 76.6, 120.0]
