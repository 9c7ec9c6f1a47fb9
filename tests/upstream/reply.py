"""Requests as the areas see them, and the answers that they give."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qs

from upstream.faults import Active
from upstream.log import Record


@dataclass(slots=True)
class Request:
    """A request: `path` as sent without the query; header names in lower case; the body decoded."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    base: str
    active: Active
    record: Record

    def args(self) -> dict[str, str]:
        """Return the query as a dictionary; the last of several values wins."""
        return {key: values[-1] for key, values in parse_qs(self.query, True).items()}


@dataclass(slots=True)
class Reply:
    """An answer. `body` is the content; or `stream` yields it and `length` is None for chunked.

    `sized` makes the part of a body from offset to end, for content that is never held whole.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    stream: Iterator[bytes] | None = None
    length: int | None = None
    close: Callable[[], None] | None = None

    @property
    def streamed(self) -> bool:
        """True when the body comes from a stream."""
        return self.stream is not None


@dataclass(frozen=True, slots=True)
class Content:
    """Something of a known size that can be read in parts; `read(offset, count)` returns its
    bytes.
    """

    size: int
    read: Callable[[int, int], bytes]
    etag: str
    media: str = "binary/octet-stream"
    modified: float | None = None


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """Return a JSON answer with GitHub's media type."""
    named = {key.replace("_", "-"): text for key, text in headers.items()}
    body = json.dumps(value).encode()
    kind = {"Content-Type": "application/json; charset=utf-8"}
    return Reply(status, kind | named, body)


def text_reply(text: str, status: int = 200, media: str = "text/plain; charset=utf-8") -> Reply:
    """Return a text answer."""
    return Reply(status, {"Content-Type": media}, text.encode())


def weak_etag(body: bytes) -> str:
    """Return an entity tag for a body."""
    return f'W/"{hashlib.sha256(body).hexdigest()}"'


def parse_range(text: str | None, size: int) -> tuple[int, int] | str | None:
    """Return (first, last) of a single byte range, None without one, "bad" when nothing of it
    exists.
    """
    found = re.fullmatch(r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", text or "")
    if not found or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if not first:
        count = int(last)
        return (max(size - count, 0), size - 1) if count and size else "bad"
    begin, end = int(first), int(last) if last else size - 1
    if last and end < begin:
        return None
    return "bad" if begin >= size else (begin, min(end, size - 1))


def ranged_reply(request: Request, content: Content, block: int = 1 << 20) -> Reply:
    """Answer a GET for content as HTTP asks for: conditions, a single range, or all of it."""
    headers = {"ETag": content.etag, "Accept-Ranges": "bytes", "Content-Type": content.media}
    if content.modified is not None:
        headers["Last-Modified"] = formatdate(content.modified, usegmt=True)
    if_match, if_range = request.headers.get("if-match"), request.headers.get("if-range")
    if if_match not in (None, "*") and content.etag not in _tags(if_match):
        return Reply(412, {"ETag": content.etag, "Content-Type": "application/xml"})
    if content.etag in _tags(request.headers.get("if-none-match")):
        return Reply(304, {"ETag": content.etag})
    wanted = parse_range(request.headers.get("range"), content.size)
    if "ignore_range" in request.active:
        wanted = None
    if if_range is not None and if_range.strip() not in (
        content.etag,
        headers.get("Last-Modified"),
    ):
        wanted = None
    total = content.size
    if (fault := request.active.get("wrong_total")) is not None:
        total += fault.get("delta", 5)
    if isinstance(wanted, str):
        return Reply(416, headers | {"Content-Range": f"bytes */{total}"})
    status, first, last = 200, 0, content.size - 1
    if wanted is not None:
        status, (first, last) = 206, wanted
        if (fault := request.active.get("wrong_range")) is not None:
            shift = fault.get("shift", 1)
            first, last = max(first + shift, 0), min(max(last + shift, 0), content.size - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{total}"
    length = last - first + 1
    if length <= block:
        return Reply(status, headers, content.read(first, length) if length else b"")
    parts = (
        content.read(offset, min(block, last + 1 - offset))
        for offset in range(first, last + 1, block)
    )
    return Reply(status, headers, stream=parts, length=length)


def _tags(text: str | None) -> list[str]:
    """Return the entity tags of a condition header."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]
