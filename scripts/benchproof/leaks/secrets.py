"""What of a graded value is searched for: by itself where it is rare, beside its key where it is common.

A count of 12 stands in every report; `n_clusters: 12` beside the field that asks for it does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

#: token: searched for as it stands and by itself; text: whatever its case; number: however written;
#: beside: a common value behind its key; list: several short texts one after another.
Kind = Literal["token", "text", "number", "beside", "list"]

PROSE: Final = frozenset({"notes", "reasoning", "description", "rationale"})
MIN_TEXT: Final = 6
_MIN_DIGITS, _MIN_SIGNIFICANT, _MIN_SENTENCE, _MIN_KEY, _MIN_LIST = 7, 5, 25, 3, 12
_MOST_ITEMS: Final = 64
_EXACT: Final = 2**53
#: The denominators up to 100 of decimal fractions that end; others need more characters than `_SHORT`.
_TEN: Final = (1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100)
_SHORT: Final = 11
_GUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that must not leave; `key` is what stands before it, for one that is common by itself."""

    kind: Kind
    value: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Secret({self.kind}, withheld)"


def secrets(key: str, value: Any, common: frozenset[str] = frozenset()) -> Iterator[Secret]:
    """Yield what is searched for of a graded value that stands under `key`.

    `common` are words, in small letters, that prove nothing as a key or as a value.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((key,), value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, dict):
            waiting += [
                (path if path[-1] in PROSE else (*path[-2:], str(name)), inner)
                for name, inner in item.items()
            ]
        elif isinstance(item, list):
            waiting += [(path, inner) for inner in item]
            yield from _listed(item, common)
        elif isinstance(item, str):
            yield from _text(path, item, common)
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield from _number(path, item, common)


def _listed(items: list[Any], common: frozenset[str]) -> Iterator[Secret]:
    """Yield a list of texts as one: each is short, and all of them in this order are not."""
    texts = [item for item in items if isinstance(item, str) and item.casefold() not in common]
    if len(texts) > 1 and sum(map(len, texts)) >= _MIN_LIST:
        yield Secret("list", "\n".join(texts[:_MOST_ITEMS]))


def _text(path: tuple[str, ...], text: str, common: frozenset[str]) -> Iterator[Secret]:
    yield from (Secret("token", found) for found in _GUID.findall(text))
    if path[-1] in PROSE:
        for part in map(str.strip, _SENTENCES.split(text)):
            if len(part) >= _MIN_SENTENCE:
                yield Secret("text", part)
        return
    value = text.strip()
    if len(value) >= MIN_TEXT and value.casefold() not in common:
        yield Secret("text", text)
    elif value and value.casefold() not in _SAID:
        yield from _beside(path, value, common)


def _number(path: tuple[str, ...], number: int | float, common: frozenset[str]) -> Iterator[Secret]:
    if number != number or number in (float("inf"), float("-inf")):
        return
    if isinstance(number, float) and number.is_integer() and abs(number) < _EXACT:
        number = int(number)
    if _rare(number):
        yield Secret("number", repr(number))
    else:
        yield from _beside(path, repr(number), common)


def _beside(path: tuple[str, ...], value: str, common: frozenset[str]) -> Iterator[Secret]:
    """Yield a common value with the key before it, and with the one before that where that says more."""
    known = [name for name in path if name.strip()]
    if path[-1] == "type":  # of a grader or a tolerance: a column of ours by contract
        return
    for key in {known[-1], " ".join(known[-2:])} if known else ():
        if len(key) >= _MIN_KEY and (" " in key or key in GRADED or key.casefold() not in common):
            yield Secret("beside", value, key)


#: What says nothing even beside a field's name: tables say so of each.
_SAID: Final = frozenset(
    {"true", "false", "yes", "no", "none", "null", "nan", "ok", "pass", "fail"}
)
#: Keys of graded values that are words of ours too.
GRADED: Final = frozenset(
    {"ground_truth", "expected", "answer", "agent_answer", "correct_answer", "answer_key"}
)


@lru_cache(maxsize=1 << 16, typed=True)  # a record holds its answer twice
def _rare(number: int | float) -> bool:
    if isinstance(number, int):
        return len(str(abs(number))) >= _MIN_DIGITS if abs(number) < 10**300 else True
    digits = repr(abs(number)).split("e")[0].replace(".", "").strip("0")
    return len(digits) >= _MIN_SIGNIFICANT and not _simple_fraction(number)


def _simple_fraction(number: float) -> bool:
    """Scores and accuracies are fractions of small counts; a value that equals one proves nothing."""
    near = 1e-12 * max(1.0, abs(number))
    short = len(repr(number)) <= _SHORT  # a third takes sixteen digits
    return any(
        abs(round(number * n) / n - number) <= near for n in (_TEN if short else range(1, 101))
    )


def tokens(values: Iterable[str]) -> set[Secret]:
    """Return parts of signed URLs and tokens as secrets."""
    return {Secret("token", value) for value in values if len(value) >= MIN_TEXT}
