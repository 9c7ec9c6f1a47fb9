"""Tables as people publish them, read as text: CSV and the pipe tables of Markdown.

No cell is ever interpreted here, so that a model named NA, null or 1E5 keeps its name.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchproof.errors import Unreadable

#: Bytes of a published table, and cells and lines of it: the largest seen has 20 kB.
MAX_TABLE_BYTES, MAX_CELLS = 16 * 1024 * 1024, 1_000_000
_RULE = re.compile(r"\s*:?-+:?\s*")
_FENCE = re.compile(r"\s*(```|~~~)")
#: A cell of a Markdown table may hold an escaped bar.
_BAR = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of a file: `name` tells it from the file's other ones, `rows` are texts by column."""

    path: str
    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def places(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield where each row stands and its cells by column; short rows lack their last columns."""
        for number, row in enumerate(self.rows, 1):
            yield f"{self.name}row {number}", dict(zip(self.columns, row, strict=False))


def text_of(data: bytes) -> str:
    """Return a file's text without its byte order mark; raises Unreadable (empty, too_large, not_utf8)."""
    if len(data) > MAX_TABLE_BYTES or sum(map(data.count, (b",", b"|", b"\n"))) > MAX_CELLS:
        raise Unreadable("too_large")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("not_utf8") from None
    if not text.strip():
        raise Unreadable("empty")
    return text


def csv_sheet(path: str, data: bytes) -> Sheet:
    """Return the table of a CSV file, whatever its line ends; raises Unreadable."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text_of(data), newline="")) if any(row)]
    except csv.Error:
        raise Unreadable("not_csv") from None
    if not rows:
        raise Unreadable("empty")
    return Sheet(path, "", tuple(rows[0]), tuple(map(tuple, rows[1:])))


def markdown_sheets(path: str, data: bytes) -> list[Sheet]:
    """Return the pipe tables of a Markdown file outside its code blocks; raises Unreadable."""
    lines = list(_outside_fences(text_of(data).splitlines()))
    found: list[Sheet] = []
    start = 0
    while start + 1 < len(lines):
        head, rule = _cells(lines[start]), _cells(lines[start + 1])
        start += 1
        if not (head and rule and len(rule) == len(head) and all(map(_RULE.fullmatch, rule))):
            continue
        rows = []
        for line in lines[start + 1 :]:
            cells = _cells(line)
            if not cells:
                break
            rows.append(tuple(cells))
        found.append(Sheet(path, f"table {len(found) + 1} ", tuple(head), tuple(rows)))
        start += 1 + len(rows)
    return found


def _outside_fences(lines: list[str]) -> Iterator[str]:
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
            yield ""
        else:
            yield "" if fenced else line


def _cells(line: str) -> list[str]:
    if "|" not in line:
        return []
    parts = _BAR.split(line.strip().removeprefix("|").removesuffix("|"))
    return [part.strip().replace("\\|", "|") for part in parts]
