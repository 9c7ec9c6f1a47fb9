"""One normal form for numbers, however they are written: grouped, with zeros, exponents, as percent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

#: A number by itself, in folded text. 12 is no part of 0.12, and x12 is a name.
_NUMBER: Final = re.compile(
    rb"[0-9](?<![0-9a-z_.\x80-\xff][0-9])(?=[0-9.,_' e\xc2\xe2]{4})"
    rb"(?:[0-9]{0,2}(?:(?:[,._' ]|\xc2\xa0|\xe2\x80[\x89\xaf])[0-9]{3})+|[0-9]*)"
    rb"(?:[.,][0-9]+)?(?:e[+-]?[0-9]{1,4})?(?:\.(?![0-9]))?\s?%?(?![0-9a-z_\x80-\xff]|\.[0-9])"
)
#: A number that its unit follows at once. Whole ones aren't read so: digests are full of them.
_MEASURED: Final = re.compile(
    rb"[0-9](?<![0-9a-z_.\x80-\xff][0-9])[0-9]*\.[0-9]+(?=[a-z\x80-\xff])(?!e[+-]?[0-9])"
)
#: A number that is emphasised, as _12_ in Markdown; with one underscore it is part of a name.
_EMPHASISED: Final = re.compile(
    rb"_(?<![0-9a-z_\x80-\xff]_)_{0,2}([0-9][0-9.,' e+-]{2,40}%?)_{1,3}(?![0-9a-z_\x80-\xff])"
)
_PARTS: Final = re.compile(rb"([0-9]+(?:[^0-9e%]+[0-9]+)*)(?:e([+-]?[0-9]+))?")
_GROUPS: Final = re.compile(rb"[0-9]{1,3}([^0-9]+)[0-9]{3}(?:\1[0-9]{3})*")
#: Shorter ones are common and never searched for by themselves.
_SHORTEST: Final = 5


def numbers(data: bytes) -> Iterator[bytes]:
    """Yield the normal form of each distinct number of a folded text that is long enough to be rare."""
    emphasised = b"\n".join(_EMPHASISED.findall(data))
    for token in {*_NUMBER.findall(data), *_MEASURED.findall(data), *_NUMBER.findall(emphasised)}:
        if len(token) >= _SHORTEST:
            yield from readings(token)


def readings(token: bytes) -> set[bytes]:
    """Return what a written number may be, as digits without zeros at either end and an exponent.

    1.234 is one and a bit or, where dots group, a thousand and more; the sign is left out.
    """
    found = _PARTS.match(token)
    if found is None:
        return set()
    body, power = found[1], int(found[2] or 0) - 2 * token.endswith(b"%")
    made = set()
    if _GROUPS.fullmatch(body):
        made.add(_normal(re.sub(rb"[^0-9]", b"", body), power))
    whole, part = _split(body)
    made.add(_normal(whole + part, power - len(part)))
    return made


def _split(body: bytes) -> tuple[bytes, bytes]:
    """Return the digits before and after the decimal mark, the last of the marks."""
    at = max(body.rfind(b"."), body.rfind(b","))
    whole, part = (body, b"") if at < 0 else (body[:at], body[at + 1 :])
    return re.sub(rb"[^0-9]", b"", whole), re.sub(rb"[^0-9]", b"", part)


def _normal(digits: bytes, power: int) -> bytes:
    cut = digits.rstrip(b"0")
    power += len(digits) - len(cut)
    return b"%se%d" % (cut.lstrip(b"0"), power)


def normal(value: int | float) -> bytes:
    """Return the normal form of a number of ours: that of its shortest text."""
    whole, _, power = repr(abs(value)).encode().partition(b"e")
    before, _, after = whole.partition(b".")
    return _normal(before + after, int(power or 0) - len(after))
