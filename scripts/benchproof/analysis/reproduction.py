"""Two makings of one table, compared: by bytes where the same code made both, else row by row by key.

Values in, values out. What only one side has as a column says that the versions differ, not the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from benchproof.printable import printable

How = Literal["bytes", "rows", "nothing"]
Row = Mapping[str, Any]

#: Columns that say how a repository was asked, not what it holds.
ASKED: Final[Mapping[str, frozenset[str]]] = {"pins": frozenset({"source", "repo_id"})}
#: Rows and letters that a screen holds.
_LINES, _WIDTH = 16, 160


@dataclass(frozen=True, slots=True)
class Difference:
    """One cell, or one row that only one side has; `column` is then None and one value says which row."""

    key: tuple[tuple[str, Any], ...]
    column: str | None
    recorded: Any
    derived: Any

    def line(self) -> str:
        """One line: the key, the column, and both values."""
        place = " ".join(f"{name}={shown(value)}" for name, value in self.key)
        if self.column is None:
            return f"{place}: only {'recorded' if self.derived is None else 'derived again'}"
        return f"{place}: {self.column}: recorded {shown(self.recorded)}, derived {shown(self.derived)}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one table: how it was compared, why so, and what differs.

    `note` says in words what else is to be known; `broken` that it differs though no row does.
    """

    table: str
    how: How
    why: str = ""
    rows: int = 0
    differences: tuple[Difference, ...] = ()
    note: str = ""
    broken: bool = False

    @property
    def differs(self) -> bool:
        """True when the report does not say what its commits give."""
        return bool(self.differences) or self.broken


def makers(recorded: Mapping[str, Any], derived: Mapping[str, Any]) -> str:
    """Return what differs between the makers of two tables, in words; empty when bytes must be equal."""
    said = []
    if recorded.get("code") != derived.get("code"):
        said.append("other code")
    if recorded.get("config") != derived.get("config"):
        said.append("other configuration keys")
    theirs, ours = recorded.get("versions") or {}, derived.get("versions") or {}
    for name in sorted({*theirs, *ours}):
        if theirs.get(name) != ours.get(name):
            said.append(
                f"{name} {theirs.get(name, 'not known')} then, {ours.get(name, 'none')} now"
            )
    return ", ".join(said)


def compare(
    table: str, key: Sequence[str], recorded: Iterable[Row], derived: Iterable[Row]
) -> tuple[Difference, ...]:
    """Return what differs between two lists of rows with unique keys, sorted by key.

    Columns that only one side has are left out, and so are those that say how a repository was asked. NaN
    equals NaN, and 0.0 does not equal -0.0: what is compared was computed alike.
    """
    one, two = _by_key(key, recorded), _by_key(key, derived)
    columns = _common(one, two) - set(key) - ASKED.get(table, frozenset())
    found: list[Difference] = []
    for place in sorted({*one, *two}, key=_order):
        named = tuple(zip(key, place, strict=True))
        if place not in one or place not in two:
            found.append(Difference(named, None, place in one or None, place in two or None))
            continue
        left, right = one[place], two[place]
        found += [
            Difference(named, column, left[column], right[column])
            for column in sorted(columns)
            if not _same(left[column], right[column])
        ]
    return tuple(found)


def _by_key(key: Sequence[str], rows: Iterable[Row]) -> dict[tuple[Any, ...], Row]:
    return {tuple(row.get(name) for name in key): row for row in rows}


def _common(one: Mapping[Any, Row], two: Mapping[Any, Row]) -> set[str]:
    left, right = next(iter(one.values()), {}), next(iter(two.values()), {})
    return set(left) & set(right)


def _order(place: tuple[Any, ...]) -> tuple[tuple[bool, Any], ...]:
    """Nulls first, as the tables have them."""
    return tuple((value is not None, value) for value in place)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return type(left) is type(right) and bool(left == right)


# -- words -----------------------------------------------------------------------------------------------


def screen(label: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Return what a run says at its end: how many tables agree and by what, and the first that differs."""
    same = [outcome for outcome in outcomes if not outcome.differs and outcome.how != "nothing"]
    by_bytes = sum(outcome.how == "bytes" for outcome in same)
    differing = [outcome for outcome in outcomes if outcome.differs]
    lines = [
        f"reproduce {label}: {len(same)} of {len(outcomes)} content tables are the same, derived again from "
        "the recorded commits",
        f"  {by_bytes} byte for byte, made by the same code and library versions",
    ]
    for why, names in _grouped(outcomes).items():
        lines.append(f"  {len(names)} row by row by key ({why}): {', '.join(names)}")
    lines += [f"  {o.table}: {o.note}" for o in outcomes if o.note]
    for outcome in differing:
        lines.append(_headline(outcome))
        lines += [f"    {difference.line()}" for difference in outcome.differences[:3]]
    short = [line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…" for line in lines]
    more = len(short) - _LINES
    return [*short[:_LINES], f"  and {more} more lines"] if more > 0 else short


def _grouped(outcomes: Iterable[Outcome]) -> dict[str, list[str]]:
    """Tables that were compared by their rows and agree, by the reason for that."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.how == "rows" and not outcome.differs:
            found.setdefault(outcome.why, []).append(outcome.table)
    return found


def _headline(outcome: Outcome) -> str:
    rows = len({difference.key for difference in outcome.differences})
    how = f"row by row, {outcome.why}" if outcome.how == "rows" else "byte for byte"
    return f"  {outcome.table} DIFFERS in {rows} of {outcome.rows} rows (compared {how})"


def told(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield everything, one line for each table and one for each difference."""
    for outcome in outcomes:
        if outcome.differs:
            yield _headline(outcome).strip()
        else:
            said = {"bytes": "the same, byte for byte", "rows": f"the same rows ({outcome.why})"}
            yield f"{outcome.table}: {said.get(outcome.how, 'nothing to compare')}"
        if outcome.note:
            yield f"{outcome.table}: {outcome.note}"
        for difference in outcome.differences:
            yield f"{outcome.table} {difference.line()}"


def shown(value: Any) -> str:
    """Return a cell for a line of text: null for none, and nothing that moves a terminal."""
    text = "null" if value is None else str(value)
    return printable(text)
