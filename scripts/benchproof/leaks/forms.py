"""The forms in which a value may stand where it should not: how each is made, for the scan's own proof."""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import textwrap
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from urllib.parse import quote, quote_plus

from benchproof.leaks.secrets import Secret
from benchproof.report.visible import visible

_LETTERS: Final = "bcdfghjklmnpqrstvwxz"


@dataclass(frozen=True, slots=True)
class Plant:
    """An invented secret and what stands for it on a surface: bytes, in parts where it is broken up."""

    secret: Secret
    parts: tuple[bytes, ...]

    @property
    def data(self) -> bytes:
        """The parts as one, as a file without cells would hold them."""
        return b"\t".join(self.parts)

    @property
    def text(self) -> str:
        """The same as text; what is no text is carried in base64."""
        return as_text(self.data)

    @property
    def texts(self) -> list[str]:
        """The parts as texts."""
        return [as_text(part) for part in self.parts]


def as_text(data: bytes) -> str:
    """Return bytes as text, in base64 when they are none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    return text if "\0" not in text else base64.urlsafe_b64encode(data).decode()


def plant(form: str, where: str) -> Plant:
    """Return an invented secret in a form; `where` makes it one of its own."""
    kind, hide = FORMS[form]
    secret = _KINDS[kind](sha256(f"{where}\0{form}".encode()).digest())
    hidden = hide(secret.value if kind != "beside" else secret.key)
    return Plant(secret, tuple(hidden) if isinstance(hidden, list) else (hidden,))


def _word(seed: bytes) -> str:
    return "".join(_LETTERS[code % len(_LETTERS)] for code in seed)


def _sentence(seed: bytes) -> Secret:
    return Secret(
        "text", f'{_word(seed[:6])} "{_word(seed[6:12])}" <\u00e9> & {_word(seed[12:14])}'
    )


def _number(seed: bytes) -> Secret:
    digits = [code % 9 + 1 for code in seed[:10]]
    return Secret("number", repr(float("{}{}{}{}{}.{}{}{}{}{}".format(*digits))))


def _beside(seed: bytes) -> Secret:
    return Secret("beside", "12", f"{_word(seed[:5])}_{_word(seed[5:10])}")


def _list(seed: bytes) -> Secret:
    return Secret("list", "\n".join(_word(seed[at : at + 4]) for at in range(0, 16, 4)))


_KINDS: Final[Mapping[str, Callable[[bytes], Secret]]] = {
    "text": _sentence,
    "number": _number,
    "beside": _beside,
    "list": _list,
}
_Hidden = bytes | list[bytes]


def _utf8(make: Callable[[str], str]) -> Callable[[str], bytes]:
    return lambda value: make(value).encode()


def _bytes(make: Callable[[bytes], bytes]) -> Callable[[str], bytes]:
    return lambda value: make(value.encode())


def _each(template: str) -> Callable[[str], bytes]:
    return lambda value: "".join(template.format(ord(char)) for char in value).encode()


def _percents(value: str) -> bytes:
    return "".join(f"%{code:02x}" for code in value.encode()).encode()


def _named(value: str) -> bytes:
    return html.escape(value).replace("\u00e9", "&eacute;").encode()


def _aligned(shift: int, alphabet: bytes) -> Callable[[str], bytes]:
    def hide(value: str) -> bytes:
        return base64.b64encode(b"~?~"[:shift] + value.encode() + b"~?~", alphabet)

    return hide


def _wrapped(value: str) -> bytes:
    coded = base64.b64encode(b"wrapped, as mail does it: " + value.encode())
    return b"\n".join(coded[at : at + 24] for at in range(0, len(coded), 24))


def _zipped(value: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(
            zipfile.ZipInfo("a", (1980, 1, 1, 0, 0, 0)), f"{value}\n" * 3, zipfile.ZIP_DEFLATED
        )
    return made.getvalue()


def _cut(value: str) -> list[bytes]:
    third = len(value) // 3
    return [part.encode() for part in (value[:third], value[third : 2 * third], value[2 * third :])]


def _between(mark: str) -> Callable[[str], bytes]:
    return lambda value: mark.join(value[at : at + 3] for at in range(0, len(value), 3)).encode()


def _grouped(mark: str, point: str) -> Callable[[str], bytes]:
    def hide(value: str) -> bytes:
        whole, part = value.split(".")
        return f"{whole[:-3]}{mark}{whole[-3:]}{point}{part}".encode()

    return hide


def _hundredfold(value: str) -> bytes:
    whole, part = value.split(".")
    return f"{whole}{part[:2]}.{part[2:]}%".encode()


#: Every form: the kind of value that is planted in it, and how it is written.
FORMS: dict[str, tuple[str, Callable[[str], _Hidden]]] = {
    "plain": ("text", str.encode),
    "JSON, ASCII": ("text", _utf8(lambda v: json.dumps(v)[1:-1])),
    "JSON, UTF-8": ("text", _utf8(lambda v: json.dumps(v, ensure_ascii=False)[1:-1])),
    "JSON, every character": ("text", _each("\\u{:04x}")),
    "JSON, slashes": (
        "text",
        _utf8(lambda v: json.dumps(v.replace("&", "/"))[1:-1].replace("/", "\\/")),
    ),
    "JSON in JSON": ("text", _utf8(lambda v: json.dumps(json.dumps(v))[1:-1])),
    "made visible": ("text", _utf8(lambda v: visible(f"{v[:9]}\u202e{v[9:]}"))),
    "URL, upper case": ("text", _utf8(lambda v: quote(v, safe=""))),
    "URL, lower case": ("text", _percents),
    "URL, plus for space": ("text", _utf8(quote_plus)),
    "HTML, named": ("text", _named),
    "HTML, decimal": ("text", _each("&#{};")),
    "HTML, hexadecimal": ("text", _each("&#x{:x};")),
    **{
        f"base64, {name}, {shift}": ("text", _aligned(shift, alphabet))
        for name, alphabet in (("standard", b"+/"), ("URL", b"-_"))
        for shift in range(3)
    },
    "base64, wrapped": ("text", _wrapped),
    "hex, lower case": ("text", _utf8(lambda v: v.encode().hex())),
    "hex, upper case": ("text", _utf8(lambda v: v.encode().hex().upper())),
    "hex, half a byte on": ("text", _utf8(lambda v: "0" + v.encode().hex() + "0")),
    "hex, colons": ("text", _utf8(lambda v: v.encode().hex(":"))),
    "hex, spaces": ("text", _utf8(lambda v: v.encode().hex(" "))),
    "hex, 0x": ("text", _utf8(lambda v: ", ".join(f"0x{code:02x}" for code in v.encode()))),
    "gzip": ("text", _bytes(lambda v: gzip.compress(v, mtime=0))),
    "zlib": ("text", _bytes(zlib.compress)),
    "zip": ("text", _zipped),
    "UTF-16, little": ("text", lambda v: v.encode("utf-16-le")),
    "UTF-16, big": ("text", lambda v: v.encode("utf-16-be")),
    "reversed": ("text", _utf8(lambda v: v[::-1])),
    "other case": ("text", _utf8(str.swapcase)),
    "other spaces": ("text", _utf8(lambda v: v.replace(" ", " \u00a0 "))),
    "wrapped lines": ("text", _utf8(lambda v: "\n".join(textwrap.wrap(v, 12)))),
    "soft hyphens": ("text", _between("\u00ad")),
    "zero-width spaces": ("text", _between("\u200b")),
    "typographic quotes": ("text", _utf8(lambda v: f"\u201c{v}\u201d")),
    "between signs": ("text", _utf8(lambda v: f"\u2192{v}\u2026\u00b7")),
    "spaces as signs": ("text", _utf8(lambda v: v.replace(" ", " \u00b7 "))),
    "bytes that are no text": ("text", _bytes(lambda v: b"\x93" + v + b"\xff")),
    "colours": ("text", _utf8(lambda v: f"\x1b[1;31m{v}\x1b[0m")),
    "over cells": ("text", _cut),
    "number": ("number", str.encode),
    "number, grouped": ("number", _grouped(",", ".")),
    "number, grouped by points": ("number", _grouped(".", ",")),
    "number, grouped by spaces": ("number", _grouped(" ", ".")),
    "number, more zeros": ("number", _utf8(lambda v: f"{v}000")),
    "number, exponent": ("number", _utf8(lambda v: f"{float(v):.9e}")),
    "number, percent": ("number", _hundredfold),
    "number, grouped by apostrophes": ("number", _grouped("\u2019", ".")),
    "number, between signs": ("number", _utf8(lambda v: f"\u2248\u2212{v}\u00b10")),
    "number, with a unit": ("number", _utf8(lambda v: f"{v}\u00b5m")),
    "list": ("list", _utf8(lambda v: v.replace("\n", ", "))),
    "list over cells": ("list", lambda v: v.encode().split(b"\n")),
    "beside its key, JSON": ("beside", _utf8(lambda key: f'"{key}": 12')),
    "beside its key, equals": ("beside", _utf8(lambda key: f"{key}=12.0")),
    "beside its key, arrow": ("beside", _utf8(lambda key: f"{key} \u2192 \u201c12\u201d")),
    "beside its key, cells": ("beside", lambda key: [key.encode(), b"12"]),
    "base64 of gzip": ("text", _bytes(lambda v: base64.b64encode(gzip.compress(v, mtime=0)))),
    "base64 of UTF-16": ("text", lambda v: base64.b64encode(v.encode("utf-16-le"))),
    "hex of JSON": ("text", _utf8(lambda v: json.dumps(v).encode().hex())),
}
