"""A difference between two reports: of one row, and of each of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchproof.analysis.drift.frames import Row, key_text
from benchproof.tables import SPECS


@dataclass
class Diff:
    """One row that differs; `change` as in the drift table, `columns` are those that changed.

    `old` and `new` are the rows, where there are any. The rest is filled in step by step: `subject` is
    what the change is about, in words, `path` the file it rests on.
    """

    table: str
    change: str
    old: Row | None
    new: Row | None
    columns: tuple[str, ...] = ()
    repo: str | None = None
    path: str | None = None
    subject: str = ""
    cause: str = ""
    commit: str | None = None
    group: str = ""
    severities: dict[str | None, str] = field(default_factory=dict)
    why: dict[str | None, str] = field(default_factory=dict)

    @property
    def row(self) -> Row:
        """The later row, or the earlier one where there is no later."""
        return self.new if self.new is not None else self.old or {}

    @property
    def key(self) -> tuple[Any, ...]:
        """The row's key; empty for a whole table."""
        return tuple(self.row[name] for name in SPECS[self.table].key) if self.row else ()

    @property
    def key_text(self) -> str:
        """The key as the drift table has it."""
        return key_text(self.key) if self.row else ""

    @property
    def of_a_row(self) -> bool:
        """True for a change of a row as a whole, which may have changed columns beside it."""
        return self.change in ("renamed", "added")

    @property
    def shown(self) -> Sequence[str | None]:
        """The columns that get a row in the drift table; None for the row as a whole."""
        if self.of_a_row:
            return (None, *self.columns)
        return self.columns or (None,)

    def was(self, column: str) -> Any:
        """Return an earlier value; None without an earlier row."""
        return self.old.get(column) if self.old else None

    def now(self, column: str) -> Any:
        """Return a later value; None without a later row."""
        return self.new.get(column) if self.new else None

    def turns(self, column: str, old: Any, new: Any) -> bool:
        """True when a column went from one value to another."""
        return bool(self.was(column) == old and self.now(column) == new)
