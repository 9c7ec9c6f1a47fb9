"""`expected_count` of list graders: as many entries as asked for, none of them twice.

The length of the list and the number of its distinct entries must both be n (README of the grader
library). What a count that is no integer does is not published.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from benchproof.grading.outcomes import MISSING


@dataclass(frozen=True, slots=True, repr=False)
class ExpectedCount:
    """The configured count, `MISSING` where there is none."""

    value: object = MISSING

    @property
    def settled(self) -> bool:
        """True when there is no count or it is an integer."""
        return self.value is MISSING or type(self.value) is int

    def readings(self, entries: Collection[Any], distinct: Iterable[int]) -> set[bool]:
        """Return what the readings say of a list; `distinct` counts its entries in each of them."""
        if self.value is MISSING:
            return {True}
        if type(self.value) is not int:
            return {True, False}
        return {len(entries) == self.value == number for number in distinct}
