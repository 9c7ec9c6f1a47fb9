"""What else bytes may say: base64, hex, UTF-16 and compressed members, nested a few times.

Surfaces are decoded, values are not encoded: the automaton stays as large as the values are, and a value
is found at any alignment, in any alphabet, and inside what is encoded twice. Each view is no longer than
what it was made from, times a constant; what unpacks to more than `MAX_UNPACKED` can't be searched.
"""

from __future__ import annotations

import binascii
import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from benchproof.leaks.text import decoded, encoded, read

#: Encodings inside encodings that are undone: base64 of gzip of UTF-16 is three.
DEPTH: Final = 3
#: Bytes that the members of one document may unpack to.
MAX_UNPACKED: Final = 256 * 1024 * 1024
_STEP: Final = 65536
#: The shortest run that can hold a value of six characters, whatever stands before it.
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]{8,}")
#: Ends of lines inside a run. Patterns begin with what is rare: a look behind at each byte is slow.
_WRAPPED: Final = re.compile(
    rb"[\r\n](?<=[A-Za-z0-9+/_-]{16}[\r\n])[\r\n]*[ \t]*(?=[A-Za-z0-9+/_-]{4})"
)
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_HEX: Final = re.compile(rb"[0-9A-Fa-f]{12,}")
#: Bytes as what they are to hex: digits, the x of 0x, separators; pairs of digits are found in that.
_SHAPES: Final = bytes(
    next(
        (
            shape
            for chars, shape in ((b"0123456789abcdefABCDEF", 104), (b"xX", 120), (b":-_ ;,", 115))
            if code in chars
        ),
        46,
    )
    for code in range(256)
)
_HEX_APART: Final = re.compile(rb"hhss?(?:(?:hx)?hhss?){4,}(?:hx)?hh")
_HEX_WRAPPED: Final = re.compile(
    rb"[\r\n](?:(?<=[0-9A-Fa-f]{2}[\r\n])|(?<=[0-9A-Fa-f]{2}[:,; ][\r\n]))[\r\n]*[ \t]*"
    rb"(?=(?:0[xX])?[0-9A-Fa-f]{2})"
)
_NO_HEX: Final = re.compile(rb"0[xX]|[^0-9A-Fa-f]")
#: What can be text among decoded bytes; the rest is noise from words that are no base64.
_TEXTS: Final = re.compile(
    rb"(?:[\x01-\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){5,}"
)
#: Three letters or more of two bytes each; what stands around them may be of the same value.
_WIDE: Final = re.compile(rb"\0[\t\n -~]\0[\t\n -~](?:\0[\t\n -~])*")
_AROUND: Final = 128
_PACKED: Final = re.compile(
    rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]|PK\x03\x04|BZh[1-9]1AY&SY|\xfd7zXZ\0"
)
#: Bytes of a member that are unpacked to nothing worth a look.
_LEAST: Final = 5


class TooMuch(Exception):
    """Members of a document unpack to more than anybody would search."""


def views(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (how it was decoded, text) of a document: itself first, then all that it may hold.

    Raises TooMuch.
    """
    yield from _views("", data, DEPTH, [MAX_UNPACKED])


def _views(way: str, raw: bytes, depth: int, left: list[int]) -> Iterator[tuple[str, bytes]]:
    noisy = way.endswith(NOISY)
    text = b"\n".join(_TEXTS.findall(raw)) if noisy else raw
    if text:
        yield way, text
    if not depth or not raw:
        return
    escaped = b"\\" in text or b"%" in text or b"&" in text
    plain = encoded(read(decoded(text))) if escaped else text
    for name, decode in DECODERS.items():
        if name == "utf-16" and way.endswith(name):
            continue
        sources = [plain] if name in NOISY else [raw, *[plain] * escaped]
        found = [part for source in sources for part in decode(source, left) if part]
        if found:
            said = f"{way}+{name}" if way else name
            yield from _views(said, b"\n\n".join(found), depth - 1, left)


def _base64(data: bytes, _: list[int]) -> Iterator[bytes]:
    """Yield what runs of base64 say, at each of the four places where a group may begin."""
    runs = _runs(data, _WRAPPED, _BASE64)
    ordered = [run.translate(_STANDARD) for run in sorted(runs)]
    for shift in range(4):
        yield binascii.a2b_base64(b"AAAA".join(_groups(run, shift) for run in ordered))


def _runs(data: bytes, wrapped: re.Pattern[bytes], run: re.Pattern[bytes]) -> set[bytes]:
    """Return the distinct runs of an encoding, as they stand and over the ends of lines."""
    found = set(run.findall(data))
    joined = wrapped.sub(b"", data)
    return found | set(run.findall(joined)) if len(joined) != len(data) else found


def _groups(run: bytes, shift: int) -> bytes:
    return run[shift:] + b"A" * (-(len(run) - shift) % 4)


def _hex(data: bytes, _: list[int]) -> Iterator[bytes]:
    """Yield what runs of hex say, from either digit of the first pair on."""
    joined = _HEX_WRAPPED.sub(b"", data)
    found = set(_HEX.findall(b"\n".join({*_BASE64.findall(data), *_BASE64.findall(joined)})))
    for text in {data, joined}:
        shapes = text.translate(_SHAPES)
        found.update(text[m.start() : m.end()] for m in _HEX_APART.finditer(shapes))
    runs = sorted({_NO_HEX.sub(b"", run) for run in found})
    for shift in range(2):
        cut = (run[shift : len(run) - (len(run) - shift) % 2] for run in runs)
        yield binascii.unhexlify(b"0000".join(cut))


def _wide(data: bytes, _: list[int]) -> Iterator[bytes]:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield encoded(data.decode("utf-16", "replace"))
    yield from _utf16(data)


def _utf16(data: bytes) -> Iterator[bytes]:
    """Yield as UTF-8 what stands around characters of two bytes, in either order of these."""
    if b"\0" not in data:
        return
    found = [(match.start(), match.end()) for match in _WIDE.finditer(data)]
    for parity in range(2):
        places = [place for place in found if place[0] % 2 == parity]
        for around in (
            2,
            _AROUND,
        ):  # the value by itself, and with those of its letters that aren't ASCII
            for start, end in _windows(places, around):
                high = max(start, parity)
                yield encoded(data[high:end].decode("utf-16-be", "ignore"))
                yield encoded(data[max(high - 1, 1 - parity) : end].decode("utf-16-le", "ignore"))


def _windows(places: Iterable[tuple[int, int]], around: int) -> Iterator[tuple[int, int]]:
    """Yield places with what is around them, one for those that overlap."""
    start = end = -1
    for first, last in places:
        if end >= 0 and first - around <= end:
            end = last + around
            continue
        if end >= 0:
            yield start, end
        start, end = first - around, last + around
    if end >= 0:
        yield start, end


def _compressed(data: bytes, left: list[int]) -> Iterator[bytes]:
    view = memoryview(data)
    for match in _PACKED.finditer(data):
        found = _unpacked(view[match.start() :], left)
        if len(found) >= _LEAST:
            yield found


def _unpacked(view: memoryview, left: list[int]) -> bytes:
    """Return what a member unpacks to, as far as it goes; trailing bytes are nobody's.

    Raises TooMuch where it is more than what is left of the document's allowance.
    """
    head = bytes(view[:30])
    maker = next(make for magic, make in _UNPACKERS.items() if head.startswith(magic))
    if head.startswith(b"PK"):
        view = view[
            30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little") :
        ]
    unpacker, made = maker(), bytearray()
    with suppress(zlib.error, OSError, EOFError, ValueError, lzma.LZMAError):
        for at in range(0, len(view), _STEP):
            piece = bytes(view[at : at + _STEP])
            more = True
            while more and not unpacker.eof:
                found = unpacker.decompress(piece, _STEP)
                made += found
                _allow(len(made), left)
                piece = getattr(unpacker, "unconsumed_tail", b"")
                more = bool(piece) or len(found) == _STEP
            if unpacker.eof:
                break
    left[0] -= len(made)
    return bytes(made)


def _allow(made: int, left: list[int]) -> None:
    if made > left[0]:
        raise TooMuch


_UNPACKERS: Final[Mapping[bytes, Callable[[], Any]]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    b"\x78": zlib.decompressobj,
    b"PK": lambda: zlib.decompressobj(-15),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ": lzma.LZMADecompressor,
}
#: Ways of decoding that make noise of words that are nothing of the kind.
NOISY: Final = ("base64", "hex")
#: How a document is decoded, by the name that a finding says.
DECODERS: dict[str, Callable[[bytes, list[int]], Iterator[bytes]]] = {
    "base64": _base64,
    "hex": _hex,
    "utf-16": _wide,
    "compressed": _compressed,
}
