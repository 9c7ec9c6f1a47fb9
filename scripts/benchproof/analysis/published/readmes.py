"""Numbers of evaluations that a README states in words, against the tables and what is public."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_WORDS: Final = r"(?:evaluations|evals|problems)\b"
#: A number, up to two words, and what is counted.
_STATED: Final = re.compile(
    rf"(?<![\w.,/-])(\d{{1,3}}(?:,\d{{3}})+|\d{{1,6}})(?![\w.,%-])\*{{0,2}}\s+(?:[a-z-]+\s+){{0,2}}{_WORDS}",
    re.IGNORECASE,
)
_PUBLIC: Final = re.compile(r"\bpublic(?:ly)?\b|\breleased\b", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"[.;:,]\s|\n|\bof\b")


def wrong(text: str, public: int, sizes: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Yield (stated, expected) of each number of evaluations that fits neither table nor public sample.

    `sizes` are the numbers that published tables rest on, the largest being the whole. A number below
    that of the public ones may be of any part and is left alone, unless its words speak of the public.
    """
    if not sizes:
        return
    for part in _SENTENCE.split(text):
        for match in _STATED.finditer(part):
            stated = int(match[1].replace(",", ""))
            if _PUBLIC.search(part):
                if stated not in sizes | {public}:
                    yield stated, public
            elif stated > public and stated not in sizes:
                yield stated, max(sizes)
