"""Explanations as plain text: sections, wrapped lines, and nothing that a terminal would obey."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchproof.printable import printable

WIDTH = 100


@dataclass
class Page:
    """An explanation under way: a title, sections of lines, and scripts that are never wrapped."""

    title: str
    _parts: list[str] = field(default_factory=list)

    def section(self, heading: str, lines: Iterable[str], *, wrapped: bool = True) -> None:
        """Add a section; nothing without a line. Ids and paths are to be copied, so they aren't wrapped."""
        listed = [line for line in lines if line]
        shown = [_wrapped(line) if wrapped else [f"  {line}"] for line in listed]
        if listed:
            self._parts += ["", heading, *(part for parts in shown for part in parts)]

    def script(self, lines: Sequence[str]) -> None:
        """Add a script as it is to be copied."""
        self._parts += ["", *lines]

    def __str__(self) -> str:
        return "\n".join(map(printable, [self.title, *self._parts]))


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(
        line,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def word(value: Any) -> str:
    """Return a cell as a word: yes and no as true and false, nothing as `none`."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def many(number: int, what: str) -> str:
    """Return a number with its noun: 1 row, 2 rows."""
    return f"{number} {what}{'' if number == 1 else 's'}"
