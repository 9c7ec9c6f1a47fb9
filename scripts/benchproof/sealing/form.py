"""The form of seal.json: what it says, and how its own bytes are proven.

It is JSON with sorted keys. Its last member is about the text before it: a digest, and check bytes that name
a changed byte of the seal itself. Seals of before (no `format`) list a digest of each file and nothing else.
"""

from __future__ import annotations

import io
import json
import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from benchproof import jsontext
from benchproof.errors import SealError, Unreadable
from benchproof.sealing import locate

FORMAT: Final = 2
#: A seal of a thousand files of any size is smaller.
MAX_BYTES: Final = 1 << 26
_MAX_FILES: Final = 100_000
#: A file of holes is read as fast as any: no more than a minute.
_MAX_SIZE: Final = 1 << 36
_OWN: Final = b',\n "this_file": "'
_END: Final = b'"\n}\n'
_HEX: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Sealed:
    """One sealed file: sha256 hex, and its size in bytes and check bytes where its seal has them."""

    sha256: str
    size: int | None = None
    checks: bytes | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """Another folder's seal, as a seal names it."""

    label: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Seal:
    """What a seal says. `format` is 1 for one without a number; `links` are previous or compared reports."""

    format: int
    kind: str
    label: str
    files: Mapping[str, Sealed]
    links: tuple[Link, ...]
    complete: bool
    values: Mapping[str, Any]


def text(values: Mapping[str, Any]) -> bytes:
    """Return the bytes of a seal that says `values`."""
    said = json.dumps({"format": FORMAT, **values}, indent=1, sort_keys=True).encode()
    body = said.removesuffix(b"\n}")
    return body + _tail(body)


def parse(data: bytes) -> Seal:
    """Return what the bytes of a seal say; raises SealError for what no seal can say."""
    if len(data) > MAX_BYTES:
        raise SealError(f"seal.json has {len(data)} bytes; no seal is larger than {MAX_BYTES}.")
    try:
        values = jsontext.loads(data).value
    except Unreadable as error:
        raise SealError(f"seal.json is not readable as JSON ({error.reason}).") from None
    if not isinstance(values, dict):
        raise SealError("seal.json is no JSON object.")
    number = values.get("format", 1)
    if number not in (1, FORMAT) or isinstance(number, bool):
        raise SealError("seal.json is of a later format; take a newer benchproof.")
    files = values.get("files", {})
    if not isinstance(files, dict) or len(files) > _MAX_FILES:
        raise SealError("seal.json: `files` is no list of files.")
    return Seal(
        format=number,
        kind=_word(values.get("kind", "report")),
        label=_word(values.get("label", "")),
        files={_name(name): _file(entry, number) for name, entry in files.items()},
        links=_links(values),
        complete=_flag(values.get("complete", False)),
        values=values,
    )


def own_fault(data: bytes) -> str | None:
    """Return what is wrong with the bytes of a seal of this format, by its last member; None for nothing."""
    body = _body(data)
    if body is None:
        marked = data.rpartition(_OWN)[0]
        if marked and data == marked + _tail(marked):
            return None
        return (
            f"its {len(data)} bytes are more or fewer than those that were written; bring it back"
        )
    expected = body + _tail(body)
    if data == expected:
        return None
    tail = data[len(body) :]
    said = tail[len(_OWN) :][:64]
    checks = _decoded(tail[len(_OWN) + 65 : -len(_END)])
    if said == sha256(body).hexdigest().encode() or checks == _checks(body):
        at = next(n for n, (a, b) in enumerate(zip(data, expected, strict=True)) if a != b)
        return told(locate.Change(at, at, was=expected[at], more=0), data[at])
    change = checks and locate.first_change(io.BytesIO(body), len(body), checks)
    return told(change, body[change.first]) if change else "its bytes differ from those written"


def told(change: locate.Change, now: int) -> str:
    """Return a change in words; `now` is the byte that stands at its first place."""
    if change.was is None:
        return f"the first changed byte is one of bytes {change.first:,} to {change.last:,}"
    more = f", and {change.more} more after it" if change.more else ""
    return f"byte {change.first:,} is 0x{now:02x} and was 0x{change.was:02x}{more}"


def _tail(body: bytes) -> bytes:
    checks = b64encode(_checks(body))
    return _OWN + sha256(body).hexdigest().encode() + b" " + checks + _END


def _checks(body: bytes) -> bytes:
    return locate.check_bytes(io.BytesIO(body), len(body))


def _body(data: bytes) -> bytes | None:
    """Return the text that the last member is about, found by lengths: any byte of it may be another."""
    fixed = len(_OWN) + 65 + len(_END)
    length = len(data) - fixed
    for _ in range(
        64
    ):  # the length of the check bytes depends on that of the text, and settles at once
        if length <= 0:
            return None
        found = len(data) - fixed - -(-locate.checks_length(length) // 3) * 4
        if found == length:
            return data[:length]
        length = found
    return None


def _decoded(data: bytes) -> bytes:
    """Return check bytes from base64; nothing of what is none."""
    try:
        return b64decode(data, validate=True)
    except Error:
        return b""


def _name(name: str) -> str:
    """Return the relative path of a sealed file; raises SealError for one that leads elsewhere."""
    parts = name.split("/")
    if not name.isprintable() or "\\" in name or any(part in ("", ".", "..") for part in parts):
        raise SealError("seal.json lists a file that no report can hold: its path leads elsewhere.")
    return name


def _file(entry: Any, number: int) -> Sealed:
    if number == 1:
        return Sealed(_digest(entry))
    if not isinstance(entry, dict) or not _whole(entry.get("size")):
        raise SealError("seal.json: a file has no size.")
    size = entry["size"]
    try:
        checks = b64decode(str(entry.get("checks", "")), validate=True)
    except (Error, ValueError):
        raise SealError("seal.json: check bytes are not base64.") from None
    if len(checks) != locate.checks_length(size):
        raise SealError("seal.json: check bytes are more or fewer than their file has.")
    return Sealed(_digest(entry.get("sha256")), size, checks)


def _whole(size: Any) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and 0 <= size <= _MAX_SIZE


def _links(values: Mapping[str, Any]) -> tuple[Link, ...]:
    found = values.get("compared", [values.get("previous")])
    if not isinstance(found, list) or len(found) > 2:
        raise SealError("seal.json: the seals that it names are no list of two.")
    named = [item for item in found if item is not None]
    if any(not isinstance(item, dict) for item in named):
        raise SealError("seal.json: a seal that it names has no label and digest.")
    return tuple(Link(_word(item.get("label")), _digest(item.get("seal_sha256"))) for item in named)


def _word(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
        raise SealError("seal.json: a label is no short text.")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise SealError("seal.json: `complete` is neither true nor false.")
    return value


def _digest(value: Any) -> str:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise SealError("seal.json: a digest is not 64 hexadecimal digits.")
    return value
