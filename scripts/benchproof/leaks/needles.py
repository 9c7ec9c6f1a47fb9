"""One automaton over all secrets, searched in the normal form of each view; and what counts as a match.

Anchors are the first letters and digits of a secret, so that the automaton's size is bounded for each.
A match of an anchor is compared as a whole; a value that is short must stand by itself and with its own
spaces and signs, one that is long may be broken up in any way.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from benchproof.leaks import numbers
from benchproof.leaks.secrets import Secret
from benchproof.leaks.text import KEPT, decoded, folded, read, squeezed
from benchproof.leaks.views import views

#: What a match may be called; views have names of their own.
JUDGED: Final = ("plain", "escaped", "split", "number", "beside", "reversed")
_ANCHOR: Final = 16
#: Letters and digits from which a value is rare however it is cut up, reversed, or glued to others.
_LONG, _GLUED = 12, 24
_REVERSED: Final = 9
_BLOCK: Final = 16384
_SPACES: Final = re.compile(rb"[\s\x00+]+")
_WORD: Final = re.compile(rb"[0-9a-z_\x80-\xff]")
_UNDERSCORE: Final = ord("_")
_GOES_ON: Final = re.compile(rb"\.(?!0+(?![0-9a-z_]))[0-9]")
#: What may stand between a key and its value, and what of it says that they belong together.
_BETWEEN: Final = re.compile(
    rb"[\"'`*_\\\])} \t]{0,8}(?:->|=>|[:=!<>]=|[:=|\t\x1d\x1f]|(?<=[\"']), ?|,(?! ))[\"'`*_\[({ \t+-]{0,8}\Z"
)


@dataclass(frozen=True, slots=True)
class _Needle:
    """A secret in its normal form: what is compared, and how strictly."""

    squeezed: bytes
    gapped: bytes
    secret: Secret
    key: int = 0

    @property
    def long(self) -> bool:
        """True when it is rare whatever stands between its letters."""
        return len(self.squeezed) >= _LONG and not self.key

    @property
    def reversible(self) -> bool:
        """True when it is rare from its end to its beginning, too."""
        return len(self.squeezed) >= _REVERSED and not self.key


class Needles:
    """Secrets in the one form in which they are searched. Values never leave this object."""

    def __init__(self, wanted: Iterable[Secret]) -> None:
        from ahocorasick_rs import BytesAhoCorasick

        made = {needle for secret in wanted if (needle := _needle(secret)) is not None}
        ordered = sorted(made, key=lambda n: (n.squeezed, n.gapped, n.key, n.secret.kind))
        self._by_anchor: dict[bytes, list[int]] = {}
        for index, needle in enumerate(ordered):
            self._by_anchor.setdefault(needle.squeezed[:_ANCHOR], []).append(index)
        self._needles: list[_Needle | None] = [*ordered]
        self._anchors = list(self._by_anchor)
        self._search = BytesAhoCorasick(self._anchors)
        self._numbers: dict[bytes, int] = {
            number: index
            for index, needle in enumerate(ordered)
            if needle.secret.kind == "number"
            for number in (numbers.normal(_parsed(needle.secret.value)),)
        }

    def __len__(self) -> int:
        return sum(needle is not None for needle in self._needles)

    def left(self) -> Iterator[Secret]:
        """Yield the secrets that were not dropped."""
        return (needle.secret for needle in self._needles if needle is not None)

    def secret(self, index: int) -> Secret | None:
        """Return the secret of a number that `found` gave; None when it was dropped."""
        needle = self._needles[index]
        return needle.secret if needle is not None else None

    def drop(self, public: View, kept: Container[Secret] = ()) -> None:
        """Drop the secrets that stand in a text that anybody can read, but for those that are `kept`."""
        for index, form in self._in_view(public):
            needle = self._needles[index]
            if needle is None or needle.secret in kept:
                continue
            if form != "split" or needle.secret.kind == "list":
                self._needles[index] = None

    def found(self, data: bytes, *, nested: bool = True) -> set[tuple[str, int]]:
        """Return the forms and numbers of the secrets that stand in `data`; its encodings are undone too
        where `nested`. Raises TooMuch.
        """
        made: set[tuple[str, int]] = set()
        for way, text in views(data) if nested else [("", data)]:
            for view, name in _directions(text, inside=bool(way)):
                for index, form in self._in_view(view, backwards=bool(name)):
                    said = name or ("" if form == "plain" and way else form)
                    made.add(("+".join(filter(None, (way, said))), index))
        return made

    def _in_view(self, view: View, *, backwards: bool = False) -> Iterator[tuple[int, str]]:
        data = view.squeezed
        for anchor, start, _ in self._search.find_matches_as_indexes(data, overlapping=True):
            for index in self._by_anchor[self._anchors[anchor]]:
                needle = self._needles[index]
                if needle is None or not data.startswith(needle.squeezed, start):
                    continue
                if backwards and not needle.reversible:
                    continue
                form = _judged(needle, view, start)
                if form:
                    yield index, form
        if self._numbers and not backwards:
            for number in numbers.numbers(view.folded):
                index = self._numbers.get(number, -1)
                if index >= 0 and self._needles[index] is not None:
                    yield index, "number"


def _needle(secret: Secret) -> _Needle | None:
    """Return a secret in its normal form; None for one that has neither letter nor digit."""
    gapped = _even(folded(read(secret.value)))
    value = squeezed(gapped)
    if not value:
        return None
    if secret.kind == "number":
        return _Needle(value, gapped, secret)
    key = squeezed(folded(read(secret.key)))
    if key:
        return _Needle(key + value, gapped, secret, len(key))
    return _Needle(value, gapped, secret) if len(value) > 3 else None


def _even(data: bytes) -> bytes:
    return _SPACES.sub(b" ", data).strip()


def _parsed(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _judged(needle: _Needle, view: View, start: int) -> str | None:
    """Return the form in which a secret stands where its letters and digits do; None when it is no match."""
    data = view.folded
    begin, end = view.place(start), view.place(start + len(needle.squeezed) - 1) + 1
    glued = needle.long and (view.inside or len(needle.squeezed) >= _GLUED)
    left, right = begin - 1, end
    if (
        needle.secret.kind != "number"
    ):  # of which _12 is a part of a name, and _12_ none: numbers.py
        left, right = _past_emphasis(data, left, -1), _past_emphasis(data, right, 1)
    if not glued and (_inside_word(data, left, begin) or _inside_word(data, right, end - 1)):
        return None
    if needle.key:
        cut = view.place(start + needle.key)
        last = view.place(start + needle.key - 1) + 1
        wanted = squeezed(needle.gapped)
        apart = _BETWEEN.match(data[last:cut])
        whole = squeezed(data[cut:end]) == wanted and _even(data[cut:end]) in needle.gapped
        return "beside" if apart and whole else None
    span = _even(data[begin:end])
    if span in needle.gapped:
        return "plain" if view.plain else "escaped"
    return "split" if needle.long else None


def _past_emphasis(data: bytes, at: int, step: int) -> int:
    """Return where a text ends outside of underscores: _value_ is emphasis, and a name goes on behind one."""
    while 0 <= at < len(data) and data[at] == _UNDERSCORE:
        at += step
    return at


def _inside_word(data: bytes, outside: int, inside: int) -> bool:
    """True when a match's end continues a word or number, so that it is only part of another value."""
    if not 0 <= outside < len(data):
        return False
    if data[outside : outside + 1] == b"." and data[inside : inside + 1].isdigit():
        # 12 is no part of 0.12 and 12.5, and is 12.0.
        if outside < inside:
            return outside > 0 and data[outside - 1 : outside].isdigit()
        return bool(_GOES_ON.match(data, outside))
    return bool(_WORD.match(data, outside) and _WORD.match(data, inside))


def _directions(data: bytes, *, inside: bool) -> Iterator[tuple[View, str]]:
    view = View(decoded(data), inside=inside)
    yield view, ""
    yield view.backwards(), "reversed"


class View:
    """A text in its normal form, and where its letters and digits stand in it.

    `inside` says that it was decoded, so that noise may stand right beside a value.
    """

    def __init__(self, text: str, *, inside: bool = False, done: bytes | None = None) -> None:
        plain = read(text) if done is None else text
        self.plain, self.inside = plain == text, inside
        self._text = plain
        self.folded = folded(plain) if done is None else done
        self.squeezed = squeezed(self.folded)
        self._known: tuple[int, list[int]] = (-1, [])

    def backwards(self) -> View:
        """Return the text from its end to its beginning."""
        text = self._text[::-1]
        done = self.folded[::-1] if self.folded.isascii() else folded(text)
        return View(text, inside=self.inside, done=done)

    @cached_property
    def _counts(self) -> list[int]:
        """How many letters and digits stand before each block."""
        made = [0]
        for at in range(0, len(self.folded), _BLOCK):
            made.append(made[-1] + len(squeezed(self.folded[at : at + _BLOCK])))
        return made

    def place(self, number: int) -> int:
        """Return where the letter or digit of this number stands."""
        block = bisect_right(self._counts, number) - 1
        if self._known[0] != block:
            at = block * _BLOCK
            piece = self.folded[at : at + _BLOCK]
            self._known = (block, [at + i for i, code in enumerate(piece) if KEPT[code]])
        return self._known[1][number - self._counts[block]]
