"""An HTML page as documents: what it shows, what its attributes and comments say, what its data hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Final

from benchproof.leaks.text import CELL, encoded

_BLOCK: Final = re.compile(
    r'<script\b[^>]*type="application/json"[^>]*>(.*?)</script>', re.DOTALL | re.IGNORECASE
)

_APART: Final = frozenset("td th tr li p div dt dd h1 h2 h3 h4 option summary script style".split())


def documents(page: str) -> Iterator[tuple[str, bytes]]:
    """Yield (kind, text) of a page; raises ValueError for a block of data that is no JSON."""
    for block in _BLOCK.findall(page):
        yield "page data", said(json.loads(block))
    parser = _Parser(convert_charrefs=True)
    parser.feed(_BLOCK.sub("", page))
    parser.close()
    yield "page text", encoded("".join(parser.shown))
    yield "page attributes", encoded(CELL.join([*parser.hidden, "\n", *parser.values]))


def said(value: Any) -> bytes:
    """Return every text and number in a JSON value, keys too, as cells in the order in which they stand."""
    cells: list[str] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [part for pair in reversed(item.items()) for part in reversed(pair)]
        elif isinstance(item, list):
            waiting += reversed(item)
        else:
            cells.append(str(item))
    return encoded(CELL.join(cells))


class _Parser(HTMLParser):
    """Texts of a page as they follow each other, and all that it does not show."""

    def __init__(self, *, convert_charrefs: bool) -> None:
        super().__init__(convert_charrefs=convert_charrefs)
        self.shown: list[str] = []
        self.hidden: list[str] = []
        self.values: list[str] = []

    def handle_endtag(self, tag: str) -> None:
        """Keep cells and blocks apart."""
        if tag in _APART:
            self.shown.append(CELL)

    def handle_data(self, data: str) -> None:
        """Keep text, scripts and styles too."""
        self.shown.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep attributes: a name with its value, and the values as they follow each other."""
        self.values += [value for _, value in attrs if value]
        self.hidden += [f"{name}={value}" if value is not None else name for name, value in attrs]

    def handle_comment(self, data: str) -> None:
        """Keep comments."""
        self.hidden.append(data)

    def handle_decl(self, decl: str) -> None:
        """Keep declarations."""
        self.hidden.append(decl)

    def handle_pi(self, data: str) -> None:
        """Keep processing instructions."""
        self.hidden.append(data)

    def unknown_decl(self, data: str) -> None:
        """Keep what only looks like a declaration."""
        self.hidden.append(data)
