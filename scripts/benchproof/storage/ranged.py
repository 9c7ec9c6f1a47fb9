"""Ranged reads of one version of an object: parallel, conditional, each answer checked.

Every request names the version it wants (If-Match); an answer of another version, range or size raises,
so bytes of two versions never meet. A dead URL is renewed once for all connections.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from benchproof.concurrency import map_concurrently
from benchproof.errors import ObjectFailed, Unreachable
from benchproof.http import Http, Response
from benchproof.storage.answers import is_error_page, refusal
from benchproof.storage.identity import ContentRange, Identity, encoded
from benchproof.storage.links import Links


class RangedObject:
    """One version of the object behind a handle; `requests` and `bytes_read` count what was asked."""

    def __init__(
        self, http: Http, links: Links, handle: str, identity: Identity, connections: int = 16
    ) -> None:
        self._http, self._links, self._handle = http, links, handle
        self.identity, self._connections = identity, connections
        self.requests = self.bytes_read = 0
        self._lock = threading.Lock()

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each (offset, length), in order.

        Raises ObjectFailed: changed when another version stands there, denied, missing, throttled,
        stalled, unsupported when ranges are not served, or unknown with the cause.
        """
        if len(ranges) == 1:
            return [self._one(ranges[0])]
        return list(map_concurrently(self._one, ranges, self._connections))

    def _one(self, wanted: tuple[int, int]) -> bytes:
        offset, length = wanted
        if length == 0:
            return b""
        answer, failed = asked(
            self._links, self._handle, lambda url: self._get(url, offset, length)
        )
        if failed is not None:
            raise self._shrunk(answer) or failed
        return self._checked(answer, offset, length)

    def _shrunk(self, answer: Response) -> ObjectFailed | None:
        """Return what a 416 says when it states another size: without an ETag nothing else tells."""
        there = Identity.of(answer.status, answer.headers).size
        if answer.status != 416 or there in (None, self.identity.size):
            return None
        return ObjectFailed("changed", "replaced", self._handle)

    def _get(self, url: str, offset: int, length: int) -> Response:
        headers = {"Range": f"bytes={offset}-{offset + length - 1}", **self.identity.condition()}
        options: dict[str, Any] = {"max_bytes": length, "overflow": "cut", "decode": False}
        try:
            answer = self._http.request("GET", url, what=self._handle, headers=headers, **options)
        except Unreachable as error:
            raise unanswered(error, self._handle) from None
        with self._lock:
            self.requests += 1
            self.bytes_read += len(answer.body)
        return answer

    def _checked(self, answer: Response, offset: int, length: int) -> bytes:
        """Return the body of an answer that is exactly what was asked for."""
        if is_error_page(answer.status, answer.headers, answer.body):
            raise ObjectFailed("unknown", "error_page", self._handle)
        if answer.status != 206:
            raise ObjectFailed("unsupported", "range_ignored", self._handle)
        if encoded(answer.headers):
            raise ObjectFailed("unsupported", "compressed", self._handle)
        found = ContentRange.of(answer.headers)
        if found is None or (found.first, found.last) != (offset, offset + length - 1):
            raise ObjectFailed("unsupported", "wrong_range", self._handle)
        if not self.identity.same_as(Identity.of(206, answer.headers)):
            raise ObjectFailed("changed", "replaced", self._handle)
        if not answer.complete:
            raise ObjectFailed("unsupported", "wrong_range", self._handle)
        if len(answer.body) != length:
            raise ObjectFailed("unknown", "short_answer", self._handle)
        return answer.body


def asked(
    links: Links, handle: str, get: Callable[[str], Response]
) -> tuple[Response, ObjectFailed | None]:
    """Return what a URL of the handle is answered, and how that refuses; a dead URL is signed again once."""
    url = links.url(handle)
    answer = get(url)
    failed = refusal(answer.status, answer.body, handle)
    if failed is not None and failed.expired:
        answer = get(links.renew(handle, url))
        failed = refusal(answer.status, answer.body, handle)
    return answer, failed


def unanswered(error: Unreachable, handle: str) -> ObjectFailed:
    """Return what a request without an answer makes of an object: never missing, never refused."""
    status = error.cause if error.cause in ("throttled", "stalled") else "unknown"
    return ObjectFailed(status, error.cause, handle)
