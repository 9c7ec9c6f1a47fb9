"""Under which conditions a date is derived: six derivations that together tell every condition apart.

Each of the twelve conditions divides the six derivations in its own way, and no division is part of
another's: bytes that follow one condition divide the derivations as it does, and name it. Conditions of
three values pair the derivations up so that each two agree in exactly one of them (the five rounds of a
tournament of six); those of two values halve them, but for the last, which comes upon what stood there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

RUNS: Final = "ABCDEF"
#: Those in which every condition has at least two values: they find as much, and name less.
FEW: Final = "AEF"
#: Name of each condition, and for each derivation, in order, which of its values is given.
DESIGN: Final[Mapping[str, str]] = {
    "jobs at once": "010101",
    "threads": "001110",
    "umask": "011010",
    "source": "000111",
    "job order": "011001",
    "shares of runs": "010011",
    "on top of another": "000001",
    "working folder": "011022",
    "hash seed": "012210",
    "locale": "010221",
    "time zone": "012102",
    "folder order": "001212",
}
#: The values of those that need nothing of the machine.
VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "jobs at once": ("1", "4"),
    "threads": ("1", "3"),
    "umask": ("022", "077"),
    "job order": ("as it comes", "the last tables first"),
    "shares of runs": ("1", "3"),
    "on top of another": ("no", "yes"),
    "working folder": ("room", "other place", "d'été/[x] {y}"),
    "hash seed": ("0", "1", "4242"),
    # With a summer in the south, a half hour, and a zone that no list has.
    "time zone": (
        "NZST-12NZDT,M9.5.0,M4.1.0/3",
        "NST3:30NDT,M3.2.0,M11.1.0",
        "<-1137>11:37<-0951>9:51,J60/0,J300/25",
    ),
    "folder order": ("sorted", "reversed", "shuffled"),
}


@dataclass(frozen=True, slots=True)
class Derivation:
    """One derivation: its letter, and the value that each condition is given, by name."""

    name: str
    given: Mapping[str, str]

    @property
    def is_on_top(self) -> bool:
        """True when it comes upon what the derivation before it left."""
        return self.given["on top of another"] == "yes"


@dataclass(frozen=True, slots=True)
class Plan:
    """The derivations, and what is not varied here, each with the cause."""

    derivations: tuple[Derivation, ...]
    unvaried: Mapping[str, str] = field(default_factory=dict)

    def given(self, condition: str) -> dict[str, str]:
        """Return what a condition is given, by derivation."""
        return {one.name: one.given[condition] for one in self.derivations}


def plan(
    available: Mapping[str, tuple[str, ...]], unvaried: Mapping[str, str], runs: str = RUNS
) -> Plan:
    """Return the derivations, those of `runs`.

    `available` has the values of the conditions that depend on the machine: of two where three are asked
    for the first is taken twice, and one alone is not varied.
    """
    values = {**VALUES, **available}
    return Plan(
        tuple(
            Derivation(
                name,
                {
                    condition: values[condition][int(levels[at]) % len(values[condition])]
                    for condition, levels in DESIGN.items()
                },
            )
            for at, name in enumerate(RUNS)
            if name in runs
        ),
        dict(unvaried),
    )
