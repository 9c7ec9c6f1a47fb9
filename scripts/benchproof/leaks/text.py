"""One normal form for text, so that a value is found however it is escaped, spelt or broken up.

`read` undoes escapes, `folded` then takes away case, width and what cannot be seen, and `squeezed` all
but letters and digits. Values and surfaces go through the same three.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache
from typing import Final

#: What stands between cells of a table, a page or a list.
CELL: Final = "\x1f"
#: Escapes may stand inside escapes: JSON in JSON in a page is three deep.
_ROUNDS: Final = 4
#: It begins with the three signs, so that nothing else is looked at closely.
_ESCAPE: Final = re.compile(
    r"""[\\%&](?:
        (?<=\\)(?P<wide>u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2})
      | (?<=\\)(?P<one>[\\/"'bfnrt])
      | (?<=%)(?P<percent>[0-9a-fA-F]{2}(?:%[0-9a-fA-F]{2})*)
      | (?<=&)(?P<entity>(?:\#[xX][0-9a-fA-F]{1,7}|\#[0-9]{1,8}|[A-Za-z][A-Za-z0-9]{1,31});?)
    )""",
    re.VERBOSE,
)
#: What composes with its neighbours: a letter and the accents after it.
_FOREIGN: Final = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
#: Soft hyphens, zero-width characters, overrides of direction, tags and variation selectors.
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
#: A change of colour ends in a letter, which would stand in one word with what is coloured.
_COLOUR: Final = re.compile(r"\x1b\[[0-9;:]+m")
#: Dashes, quotes and arrows as the ASCII signs that are written for them; other signs become one.
_AS_ASCII: Final = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u2039\u203a\uff07", "'"),
    **dict.fromkeys("\u00ab\u00bb\u201c\u201d\u201e\u201f\u2033", '"'),
    **dict.fromkeys("\u2192\u21d2\u21a6\u27f6\u2794\u2245\u2248\u2254\u2261", "="),
    **dict.fromkeys("\u00a6\u2502\u2503\u2506\u250a\u2551", "|"),
    "\u2212": "-",
}
_OTHER_SIGN: Final = "*"
_MANY: Final = 256
#: Every ASCII character but letters and digits.
_BETWEEN: Final = bytes(code for code in range(128) if not chr(code).isalnum())
_PAIRS: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def decoded(data: bytes) -> str:
    """Return bytes as text; what is no UTF-8 becomes surrogates, of which none is lost."""
    return data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Return text as bytes, lone surrogates too."""
    return text.encode("utf-8", "surrogatepass")


def read(text: str) -> str:
    """Return a text whose escapes are undone: those of JSON and Python, of URLs and of HTML."""
    for _ in range(_ROUNDS):
        if not ("\\" in text or "%" in text or "&" in text):
            break
        plain = _ESCAPE.sub(_undone, text)
        if plain == text:
            break
        text = plain
    return _PAIRS.sub(_joined, text) if not text.isascii() else text


def _undone(match: re.Match[str]) -> str:
    return _plain(match[0])


@lru_cache(maxsize=1 << 14)
def _plain(escape: str) -> str:
    """Return what one escape stands for."""
    match = _ESCAPE.fullmatch(escape)
    if match is None:
        return escape
    if match["wide"]:
        code = int(match["wide"][1:], 16)
        return chr(code) if code < 0x110000 else match[0]
    if match["one"]:
        return _SHORT.get(match["one"], match["one"])
    if match["percent"]:
        return decoded(bytes.fromhex(match["percent"].replace("%", "")))
    return html.unescape(escape)


def _joined(match: re.Match[str]) -> str:
    return match[0].encode("utf-16", "surrogatepass").decode("utf-16")


def folded(text: str) -> bytes:
    """Return a text without case, width and unseen characters; spaces and signs stay where they are, those
    that aren't ASCII as ones that are: a value between them stands by itself.
    """
    if "\x1b" in text:
        text = _COLOUR.sub(rf"\g<0>{CELL}", text)
    if text.isascii():
        return text.lower().encode()
    text = _UNSEEN.sub("", text)
    if not unicodedata.is_normalized("NFKC", text):
        text = _FOREIGN.sub(_normal, text)
    return encoded(_without_signs(text).casefold())


def _without_signs(text: str) -> str:
    """Return a text whose characters are ASCII, letters, digits or unassigned."""
    read_as = {char: said for char in set(text) if (said := _as_ascii(char)) is not None}
    if len(read_as) > _MANY:
        return text.translate({ord(char): said for char, said in read_as.items()})
    for char, said in read_as.items():  # far faster than to translate
        text = text.replace(char, said)
    return text


@lru_cache(maxsize=1 << 14)
def _as_ascii(char: str) -> str | None:
    """Return what a character is read as: a sign, a space, or nothing for an accent that is left over; None
    for one that stays.
    """
    if char.isascii():
        return None
    if char in _AS_ASCII:
        return _AS_ASCII[char]
    kind = unicodedata.category(char)
    if kind in ("Mn", "Me"):
        return ""
    if kind == "Pd":
        return "-"
    # Lone surrogates are bytes that are no UTF-8: nothing that a value is written in.
    other = kind[0] in "PS" or kind in ("Cc", "Co", "Cs")
    return " " if kind[0] == "Z" else _OTHER_SIGN if other else None


def _normal(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


def squeezed(data: bytes) -> bytes:
    """Return a folded text's letters and digits alone, and what isn't ASCII."""
    return data.translate(None, _BETWEEN)


#: Which bytes `squeezed` keeps.
KEPT: Final = bytes(code not in _BETWEEN for code in range(256))
