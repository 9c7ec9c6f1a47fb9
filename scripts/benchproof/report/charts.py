"""Geometry of the page's small charts, in the units of their view boxes; the template draws them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

WIDTH = 240.0
_LEAST, _MOST = 6.0, 10.7  # 1 MB and 50 GB as powers of ten


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale of fractions that holds every interval whole, and 0 and 1 in any case."""

    low: float
    high: float

    def x(self, value: float) -> float:
        """Return the place of a fraction."""
        return round(4 + (value - self.low) / (self.high - self.low) * (WIDTH - 8), 1)

    @property
    def ticks(self) -> list[float]:
        """Fractions that get a line, from 0 in steps of a half."""
        return [n / 2 for n in range(ceil(self.low * 2), floor(self.high * 2) + 1)]


def scale(rows: Iterable[Mapping[str, Any]]) -> Scale:
    """Return one scale for all rows of the models table, so that nothing is clipped."""
    ends = [row[name] for row in rows for name in ("ci_low", "ci_high", "accuracy")]
    known = [end for end in ends if end is not None and end == end]
    return Scale(min([0.0, *known]) - 0.04, max([1.0, *known]) + 0.04)


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a bar: what it stands for, how many, and where it lies."""

    name: str
    count: int
    x: float
    width: float


def bar(counts: Mapping[str, int], width: float = WIDTH) -> list[Share]:
    """Return the parts of a bar that fills its width; parts of nothing are left out.

    A part that is there is never so narrow that it can't be seen.
    """
    known = {name: count for name, count in counts.items() if count}
    total, least = sum(known.values()), 3.0
    wide = {name: max(least, count / total * width) for name, count in known.items()}
    shrink = width / sum(wide.values()) if wide else 1.0
    shares, x = [], 0.0
    for name, count in known.items():
        shares.append(Share(name, count, round(x, 1), round(wide[name] * shrink, 1)))
        x += wide[name] * shrink
    return shares


def length(size: float, width: float = 120.0) -> float:
    """Return how long the bar of a size in bytes is, on a logarithmic scale from 1 MB to 50 GB."""
    power = log10(max(size, 1.0))
    return round(max(2.0, min(1.0, (power - _LEAST) / (_MOST - _LEAST)) * width), 1)
