"""summary.md on a terminal: its own lines, wrapped where the window is narrow, with colour where it has some.

Colour and weight repeat what words say. A pipe or file gets the text as it is.
"""

from __future__ import annotations

import os
import re
import shutil
import textwrap
from collections.abc import Mapping
from typing import Final, TextIO

_BOLD, _DIM, _RED, _YELLOW = "1", "2", "31", "33"
#: What a line begins with, and how it looks; the first that fits counts.
_LOOKS: Final = (
    (re.compile(r"INCOMPLETE"), f"{_BOLD};{_YELLOW}"),
    (re.compile(r"benchproof \S+:"), _BOLD),
    (re.compile(r"  critical:|  invariant fails:"), _RED),
    (re.compile(r"  major:|Unknown:|Damaged"), _YELLOW),
    (re.compile(r"Doesn't hold:"), f"{_BOLD};{_RED}"),
    (re.compile(r"Nothing found|Next:"), _BOLD),
    (re.compile(r"Not tested:|Changed:"), _DIM),
)


def show(text: str, stream: TextIO, environment: Mapping[str, str] = os.environ) -> None:
    """Write the text to a stream; NO_COLOR and TERM=dumb keep colour off a terminal."""
    if stream.isatty():
        plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
        text = screen(text, shutil.get_terminal_size().columns, not plain)
    stream.write(text)


def screen(text: str, columns: int, colour: bool) -> str:
    """Return the text for a window of so many columns."""
    lines = (line for whole in text.splitlines() for line in _fitted(whole, columns, colour))
    return "".join(f"{line}\n" for line in lines)


def _fitted(line: str, columns: int, colour: bool) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    parts = [line]
    if len(line) > columns > len(indent):
        parts = textwrap.wrap(line, columns, subsequent_indent=indent, drop_whitespace=True)
    look = next((look for pattern, look in _LOOKS if pattern.match(line)), None)
    return [f"\x1b[{look}m{part}\x1b[0m" if look and colour else part for part in parts]
