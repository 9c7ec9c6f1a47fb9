"""Text from outside on a terminal, in a log or in a message: it may hold what a terminal obeys."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return a text whose characters that cannot be printed, line breaks too, are question marks."""
    return "".join(char if char.isprintable() else "?" for char in text)


def without_userinfo(text: str) -> str:
    """Return a text without what stands between its first `//` and its last `@`: a URL's userinfo."""
    before, slashes, rest = text.partition("//")
    _, at, after = rest.rpartition("@")
    return f"{before}//…@{after}" if slashes and at else text
