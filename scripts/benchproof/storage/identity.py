"""One version of an object, as HTTP knows it: ETag, size, Last-Modified."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import sha256
from typing import Any, Self

_CONTENT_RANGE = re.compile(r"bytes\s+(?:(\d{1,19})-(\d{1,19})|\*)/(\d{1,19}|\*)")
_ETAG = re.compile(r'"([\x21\x23-\x7e]{1,256})"')
_MD5 = re.compile(r"[0-9a-f]{32}")
_MULTIPART = re.compile(r"[0-9a-f]{32}-(\d{1,5})")
#: A size above it fits no table, and no object: such a number is taken for no number.
_MOST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ContentRange:
    """A Content-Range header: first and last byte (None for `*`), and the whole size (None for `*`)."""

    first: int | None
    last: int | None
    total: int | None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Self | None:
        """Return the parsed header; None when it is absent or malformed."""
        match = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
        if match is None:
            return None
        first, last, total = (int(t) if t and t != "*" else None for t in match.groups())
        if total is not None and total > _MOST:
            total = None
        end = _MOST if total is None else total
        if first is not None and last is not None and not first <= last < end:
            return None
        return cls(first, last, total)


@dataclass(frozen=True, slots=True)
class Identity:
    """What one version of an object is known by.

    `etag` is without its quotes and with its -N suffix, None when the server names none or a weak one;
    `size` is in bytes, None when unknown; `last_modified` is an HTTP date (IMF-fixdate), None without one.
    """

    etag: str | None
    size: int | None
    last_modified: str | None

    @classmethod
    def of(cls, status: int, headers: Mapping[str, str]) -> Self:
        """Return the identity that an answer states."""
        strong = _ETAG.fullmatch(headers.get("ETag", "").strip())
        modified = _instant(headers.get("Last-Modified", ""))
        return cls(strong.group(1) if strong else None, _size(status, headers), _text(modified))

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the identity that a row of the objects table names."""
        return cls(row["etag"], row["size_bytes"], _text(row["last_modified"]))

    @property
    def modified_at(self) -> datetime | None:
        """Last-Modified as an instant, UTC."""
        return _instant(self.last_modified or "")

    @property
    def recognisable(self) -> bool:
        """False when nothing tells this version from any other of the same size."""
        return bool(self.etag or self.last_modified)

    def condition(self) -> dict[str, str]:
        """Return the headers that make a server refuse to serve another version."""
        if self.etag:
            return {"If-Match": f'"{self.etag}"'}
        return {"If-Unmodified-Since": self.last_modified} if self.last_modified else {}

    def same_as(self, other: Identity) -> bool:
        """True when both name one version: equal ETags, or without them equal dates, and no other size."""
        if self.size is not None and other.size is not None and self.size != other.size:
            return False
        if self.etag or other.etag:
            return self.etag == other.etag
        return self.last_modified == other.last_modified

    def key(self) -> str:
        """Return a name for this version that is safe as a file name."""
        # No capitals: some file systems take two names for one that differ in them alone.
        if self.etag and re.fullmatch(r"[0-9a-z][0-9a-z-]{0,80}", self.etag):
            return self.etag
        text = f"{self.etag}\0{self.size}\0{self.last_modified}"
        return f"none-{sha256(text.encode()).hexdigest()[:16]}"

    @property
    def md5(self) -> str | None:
        """The MD5 that the ETag may be, 32 hex digits; None for a multipart or other ETag."""
        return self.etag if self.etag and _MD5.fullmatch(self.etag) else None

    @property
    def parts(self) -> int | None:
        """The number of parts that a multipart ETag states."""
        match = _MULTIPART.fullmatch(self.etag or "")
        return int(match.group(1)) if match else None


def _instant(text: str) -> datetime | None:
    """Return an HTTP date as an instant; None when it is absent or malformed."""
    try:
        found = parsedate_to_datetime(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):  # overflow: the last hours of the year 9999
        return None


def _text(moment: datetime | None) -> str | None:
    """Return an instant as an HTTP date; tables name UTC by another class than `format_datetime` asks for."""
    return None if moment is None else format_datetime(moment.astimezone(UTC), usegmt=True)


def encoded(headers: Mapping[str, str]) -> bool:
    """True when a body is compressed on the way: its lengths say nothing about the object's."""
    return headers.get("Content-Encoding", "").strip().lower() not in ("", "identity")


def _size(status: int, headers: Mapping[str, str]) -> int | None:
    """Return the object's size in bytes; never one that counts a compressed body."""
    if encoded(headers):
        return None
    if status in (206, 416):
        found = ContentRange.of(headers)
        return found.total if found else None
    length = headers.get("Content-Length", "").strip()
    if status != 200 or not re.fullmatch(r"\d{1,19}", length):
        return None
    return int(length) if int(length) <= _MOST else None
