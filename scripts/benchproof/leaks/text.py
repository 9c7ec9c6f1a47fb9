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
    """Return a text without case, width and unseen characters; spaces and signs stay where they are."""
    if text.isascii():
        return text.lower().encode()
    text = _UNSEEN.sub("", text)
    if not unicodedata.is_normalized("NFKC", text):
        text = _FOREIGN.sub(_normal, text)
    return encoded(text.casefold())


def _normal(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


def squeezed(data: bytes) -> bytes:
    """Return a folded text's letters and digits alone, and what isn't ASCII."""
    return data.translate(None, _BETWEEN)


#: Which bytes `squeezed` keeps.
KEPT: Final = bytes(code not in _BETWEEN for code in range(256))
