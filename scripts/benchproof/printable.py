"""Text from outside on a terminal, in a log or in a message: it may hold what a terminal obeys."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return a text whose characters that cannot be printed, line breaks too, are question marks."""
    return "".join(char if char.isprintable() else "?" for char in text)
