"""Estimates and tests over recorded verdicts: pure, and the same on every machine.

An evaluation is the unit, as in the paper's section on statistics: its replicates share prompt and data,
so that runs are no independent trials. Shares of passed runs are counted in whole units of 1/lcm of the
replicates, which keeps resampling free of rounding and its order.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist

from benchproof.analysis.models import CONFIDENCE

#: Seed and number of the resamples; other ones give other bounds in the third digit.
SEED, RESAMPLES = 20260828, 4000
#: Fewer evaluations than this are said to be few: a t interval of so few says little.
FEW = 10
#: What is called significant where a test says whether it could be.
ALPHA = 0.05

Outcomes = Mapping[str, Sequence[bool]]
Bounds = tuple[float, float] | None


def wilson(passed: int, runs: int) -> Bounds:
    """Return Wilson's score interval of a share as if runs were independent; None without runs.

    Replicates of one evaluation are not, so that it is too narrow; it stands beside the others because
    it is what many tables report (Wilson 1927).
    """
    if runs == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    share, spread = passed / runs, z * z / runs
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / runs + spread / (4 * runs))
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap(outcomes: Outcomes) -> Bounds:
    """Return the percentile interval of the two-stage mean when whole evaluations are drawn again.

    None for fewer than two evaluations. Replicates stay with their evaluation (cluster bootstrap).
    """
    if len(outcomes) < 2:
        return None
    units, whole = _units(outcomes)
    means = sorted(sum(units[place] for place in draw) for draw in _draws(len(units)))
    cut = math.ceil((1 - CONFIDENCE) / 2 * len(means))
    scale = whole * len(units)
    return means[cut - 1] / scale, means[-cut] / scale


@lru_cache(maxsize=4)
def _draws(n: int) -> list[list[int]]:
    """The same resamples for every model with n evaluations."""
    source = random.Random(SEED)
    return [[int(source.random() * n) for _ in range(n)] for _ in range(RESAMPLES)]


def _units(outcomes: Outcomes) -> tuple[list[int], int]:
    """Return each evaluation's share of passed runs in whole units, by name, and how many make 1."""
    whole = math.lcm(*(len(runs) for runs in outcomes.values()))
    return [sum(outcomes[k]) * (whole // len(outcomes[k])) for k in sorted(outcomes)], whole


class Comparison:
    """Two models on the evaluations that both have: differences of their shares, paired."""

    def __init__(self, first: Outcomes, second: Outcomes) -> None:
        shared = sorted(set(first) & set(second))
        self.n = len(shared)
        counts = [len(runs[k]) for runs in (first, second) for k in shared]
        self._whole = math.lcm(*counts) if counts else 1
        self._differences = [self._unit(first[name]) - self._unit(second[name]) for name in shared]

    def _unit(self, runs: Sequence[bool]) -> int:
        return sum(runs) * (self._whole // len(runs))

    @property
    def differences(self) -> list[float]:
        """First minus second for each shared evaluation, by name."""
        return [difference / self._whole for difference in self._differences]

    @property
    def wins(self) -> int:
        """Evaluations on which the first is ahead."""
        return sum(difference > 0 for difference in self._differences)

    @property
    def ties(self) -> int:
        """Evaluations on which the two are level."""
        return sum(difference == 0 for difference in self._differences)

    @property
    def p(self) -> float:
        """Exact two-sided sign-flip test of no difference; 1.0 when nothing differs.

        Under no difference each evaluation's difference is as likely with either sign; the share of all
        sign patterns whose sum is at least as far from zero (Fisher 1935), by counting, not by drawing.
        """
        sizes = [abs(difference) for difference in self._differences if difference]
        sums = Counter({0: 1})
        for size in sizes:
            flipped: Counter[int] = Counter()
            for total, ways in sums.items():
                flipped[total + size] += ways
                flipped[total - size] += ways
            sums = flipped
        seen = abs(sum(self._differences))
        as_far = sum(ways for total, ways in sums.items() if abs(total) >= seen)
        return float(as_far / (1 << len(sizes)))

    @property
    def least_p(self) -> float:
        """The smallest p that so many evaluations could give."""
        return min(1.0, 2.0 ** (1 - self.n))


def holm(ps: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjustment of p values, in their order (Holm 1979)."""
    order = sorted(range(len(ps)), key=lambda place: (ps[place], place))
    adjusted = [1.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest
    return adjusted
