"""The last known state of a table: the earlier report, and still earlier ones where that one was blind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import pyarrow.compute

from benchproof.analysis.drift.frames import Frame, Row
from benchproof.analysis.drift.views import HANDLES, Report, is_open, observes
from benchproof.tables import SPECS

pc: Any = pyarrow.compute
Key = tuple[Any, ...]


@dataclass
class Known:
    """A table as it was last known.

    `blind` are keys that the earlier report holds without knowing them, `since` counts by label the rows
    that come from a still earlier report, `asked` are those that were looked into.
    """

    frame: Frame | None
    blind: frozenset[Key] = frozenset()
    since: dict[str, int] = field(default_factory=dict)
    asked: list[Report] = field(default_factory=list)

    def had_looked(self, table: str, row: Row, old: Report, new: Report) -> bool:
        """True when a row of the later report was missing where some earlier one looked."""
        key = tuple(row[name] for name in SPECS[table].key)
        if observes(old, table, row, new) and key not in self.blind:
            return True
        return any(observes(report, table, row, new) for report in self.asked)


def last_known(table: str, old: Report, new: Report, older: Iterable[Report]) -> Known:
    """Return a table of the earlier report, with gaps filled from older ones, newest first."""
    frame = old.frames.get(table)
    if frame is not None and (_sees_all(table, frame, old, new) or not _is_keyed(table, frame)):
        return Known(frame)
    memory = _Memory(table, old, new)
    for report in older:
        if not memory.wants_more:
            break
        if table in report.frames and _has_key(table, report.frames[table]):
            memory.ask(report)
    return memory.known


class _Memory:
    """What reports knew of one table before the later one, asked one after the other."""

    def __init__(self, table: str, old: Report, new: Report) -> None:
        self._table, self._old, self._new = table, old, new
        standing = self._by_key(new)
        self._standing = standing.keys()
        self._later = {key: row for key, row in standing.items() if not is_open(table, row)}
        self._rows: dict[Key, Row] = {}
        self._kinds: dict[str, str] = {}
        self._since: dict[str, int] = {}
        self._heard: list[tuple[Report, frozenset[Key]]] = []
        self._take(old, self._by_key(old))

    def _by_key(self, report: Report) -> dict[Key, Row]:
        frame, names = report.frames.get(self._table), SPECS[self._table].key
        if frame is None or not _has_key(self._table, frame):
            return {}
        return {tuple(row[name] for name in names): row for row in frame.all()}

    def _take(self, report: Report, rows: dict[Key, Row]) -> int:
        """Keep the rows that say something and are not known yet, and return how many."""
        opened = frozenset(key for key, row in rows.items() if is_open(self._table, row))
        fresh = {k: row for k, row in rows.items() if k not in opened and k not in self._rows}
        # A column that an older version lacked says nothing: it is taken as it is now.
        self._rows |= {key: {**self._later.get(key, {}), **row} for key, row in fresh.items()}
        if self._table in report.frames:
            self._kinds = {**report.frames[self._table].kinds, **self._kinds}
        self._heard.append((report, opened))
        return len(fresh)

    def ask(self, report: Report) -> None:
        """Take what no later report says anything of, and that the latest one looked at."""
        mine = self._by_key(report)
        opened = {key: row for key, row in mine.items() if is_open(self._table, row)}
        wanted = {
            key: row
            for key, row in mine.items()
            if self._unheard(key, row, report)
            and (key in self._standing or observes(self._new, self._table, row, report))
        }
        if number := self._take(report, opened | wanted):
            self._since[report.label] = number

    def _unheard(self, key: Key, row: Row, owner: Report) -> bool:
        """True when no later report says anything of this row, not even that it is gone."""
        return all(
            key in opened or not observes(report, self._table, row, owner)
            for report, opened in self._heard
        )

    @property
    def wants_more(self) -> bool:
        """True while the later report holds rows, or read repositories, that no earlier one looked at."""
        looked = (report.read for report, _ in self._heard if self._table in report.frames)
        if "repo" in SPECS[self._table].key and not self._new.read <= frozenset().union(*looked):
            return True
        return any(
            key not in self._rows and self._unheard(key, row, self._new)
            for key, row in self._later.items()
        )

    @property
    def known(self) -> Known:
        """What was learnt."""
        asked = [report for report, _ in self._heard[1:]]
        there = self._rows or asked or self._table in self._old.frames
        frame = Frame.of_rows(list(self._rows.values()), self._kinds) if there else None
        return Known(frame, self._heard[0][1], self._since, asked)


def _has_key(table: str, frame: Frame) -> bool:
    return set(SPECS[table].key) <= frame.kinds.keys()


def _is_keyed(table: str, frame: Frame) -> bool:
    """True when each row has a key of its own; a damaged or foreign table is compared as it stands."""
    if not _has_key(table, frame):
        return False
    keys = [tuple(row.values()) for row in frame.at(range(frame.rows), SPECS[table].key)]
    return len(set(keys)) == len(keys)


def _sees_all(table: str, frame: Frame, old: Report, new: Report) -> bool:
    """True when the earlier report knows whatever the later one does."""
    if table in HANDLES or not new.read <= old.read or not new.pins.keys() <= old.pins.keys():
        return False
    if table == "data_findings":
        return False
    columns = [name for name in ("status", "runnable") if name in frame.kinds]
    words = chain.from_iterable(pc.unique(frame.column(name)).to_pylist() for name in columns)
    if table == "claims":
        return not any(is_open(table, row) for row in frame.all())
    return not any(is_open(table, {"status": word, "runnable": word}) for word in words)
