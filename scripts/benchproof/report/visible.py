"""Upstream text as it may be shown: what a terminal would obey or a reader could not see is spelt out."""

from __future__ import annotations

import json
from typing import Any


def visible(text: str) -> str:
    """Return a text whose control characters, overrides of direction and other unseen ones are escapes.

    Line ends stay. A backslash of its own stays too, so that what is plain comes out as it is.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else _escape(ord(char)) for char in text
    )


def _escape(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def embedded(value: Any) -> str:
    """Return JSON that can stand in a script element: nothing in it can end the element or open a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
