"""Which numbers of passed runs a rounded accuracy can stand for, and what an interval allows.

An accuracy over N evaluations with R replicates each is k / (R N) for a whole k: the published method is
the mean over evaluations of the mean over replicates, in percent, rounded.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

Passes = tuple[int, int]
#: Decimals that arithmetic in binary may have rounded either way at exactly half a unit.
_SLACK = Fraction(1, 10**9)


def half_unit(decimals: int) -> Fraction:
    """Return half a unit of the last place shown."""
    return Fraction(1, 2 * 10**decimals) + _SLACK


def passes(mean: Decimal, decimals: int, runs: int) -> Passes | None:
    """Return the fewest and the most passed runs of `runs` that round to `mean` percent; None for none."""
    share, near = Fraction(mean) / 100, half_unit(decimals) / 100
    low = max(0, math.ceil((share - near) * runs))
    high = min(runs, math.floor((share + near) * runs))
    return (low, high) if low <= high else None


def symmetric(mean: Decimal, low: Decimal, high: Decimal, decimals: int) -> bool:
    """True when a mean can be the middle of its bounds, all three rounded."""
    return abs(Fraction(low) + Fraction(high) - 2 * Fraction(mean)) <= 4 * half_unit(decimals)


def widest(mean: Decimal, decimals: int, n: int) -> float:
    """Return the half width, in percent, that no t interval over n shares with this mean can exceed.

    Shares lie between 0 and 1, so that their variance is at most m (1 - m) n / (n - 1). The mean is
    taken as near to one half as its rounding allows.
    """
    from scipy.special import stdtrit

    near = float(half_unit(decimals))
    share = float(mean) + (near if mean < 50 else -near)
    share = min(1.0, max(0.0, share / 100))
    return 100 * float(stdtrit(n - 1, 0.975)) * math.sqrt(share * (1 - share) / (n - 1))
