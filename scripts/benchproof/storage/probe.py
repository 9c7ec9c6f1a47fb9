"""Probe: what an object is and how large, by one ranged GET of its first bytes. Never HEAD.

A URL that was signed for GET answers HEAD with 403, and an existing object would look denied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from benchproof.concurrency import map_concurrently
from benchproof.errors import ObjectFailed, Unreachable
from benchproof.http import Http, Response
from benchproof.http.transport import DecodeError, TooLargeError, decode_body
from benchproof.journal import Journal
from benchproof.outputs import OPEN
from benchproof.progress import Progress
from benchproof.storage import containers
from benchproof.storage.answers import is_error_page
from benchproof.storage.identity import ContentRange, Identity, encoded
from benchproof.storage.opening import World
from benchproof.storage.ranged import asked, unanswered
from benchproof.storage.resolve import Patience

#: How S3's refusal of any range of an empty object says so; its headers may not.
_EMPTY = b"<ActualObjectSize>0</ActualObjectSize>"


@dataclass(frozen=True, slots=True)
class Probed:
    """What was learnt of one object: a row of the objects table, and what its header says of itself."""

    handle: str
    status: str
    reason: str | None
    identity: Identity
    container: str
    header: str | None
    checked_at: datetime

    @property
    def size(self) -> int | None:
        """Bytes of the object, None when unknown."""
        return self.identity.size

    def record(self) -> dict[str, Any]:
        """Return it as a journal keeps it."""
        return {
            "status": self.status,
            "reason": self.reason,
            "etag": self.identity.etag,
            "size": self.identity.size,
            "last_modified": self.identity.last_modified,
            "container": self.container,
            "header": self.header,
            "checked_at": self.checked_at.isoformat(),
        }

    @classmethod
    def of(cls, handle: str, record: Mapping[str, Any]) -> Probed:
        """Return what a journal kept."""
        identity = Identity(record["etag"], record["size"], record["last_modified"])
        return cls(
            handle,
            record["status"],
            record["reason"],
            identity,
            record["container"],
            record["header"],
            datetime.fromisoformat(record["checked_at"]),
        )

    def row(self) -> dict[str, Any]:
        """Return the row of the objects table."""
        return {
            "handle": self.handle,
            "status": self.status,
            "reason": self.reason,
            "size_bytes": self.size,
            "container": self.container,
            "header": self.header,
            "etag": self.identity.etag,
            "last_modified": self.identity.modified_at,
            "checked_at": self.checked_at,
        }


def probe_all(
    handles: Iterable[str],
    world: World | None,
    journal: Journal,
    *,
    connections: int,
    now: Callable[[], datetime],
) -> list[Probed]:
    """Return what is known of each object, asking for what the journal doesn't know.

    Without a world (offline) an object that was never asked for is unknown, with the reason `offline`.
    """
    wanted = sorted(handles)
    known = journal.items(Probed.of)
    if world is None:
        return [known.get(h) or _failed(h, "unknown", "offline", now()) for h in wanted]
    known = {handle: item for handle, item in known.items() if item.status not in OPEN}
    asked = [handle for handle in wanted if handle not in known]
    progress = Progress("probe objects", len(asked))
    patience = Patience(3 * connections)

    def ask(handle: str) -> Probed:
        found = _patiently(world, handle, patience, now)
        journal.add(handle, found.record())
        progress.add()
        return found

    fresh = {found.handle: found for found in map_concurrently(ask, asked, connections)}
    return [known.get(handle) or fresh[handle] for handle in wanted]


def _patiently(
    world: World, handle: str, patience: Patience, now: Callable[[], datetime]
) -> Probed:
    if patience.over is not None:
        return _failed(handle, "unknown", patience.over, now())
    found = probe(world, handle, now)
    patience.note(found.reason)
    return found


def probe(world: World, handle: str, now: Callable[[], datetime]) -> Probed:
    """Return what one ranged GET says of the object behind a handle; a dead URL is signed again once."""
    try:
        answer, failed = asked(world.links, handle, lambda url: _get(world.storage, url, handle))
        if failed is not None and answer.status != 416:
            raise failed
        return _read(answer, handle, now())
    except ObjectFailed as error:
        return _failed(handle, error.status, error.reason, now())


def _get(http: Http, url: str, handle: str) -> Response:
    try:
        return http.request(
            "GET",
            url,
            what=handle,
            headers={"Range": f"bytes=0-{containers.HEAD_BYTES - 1}"},
            max_bytes=containers.HEAD_BYTES,
            overflow="cut",
            decode=False,
        )
    except Unreachable as error:
        raise unanswered(error, handle) from None


def _read(answer: Response, handle: str, moment: datetime) -> Probed:
    """Return what an answer of 200, 206 or 416 says; raises ObjectFailed when it is no object."""
    identity = Identity.of(answer.status, answer.headers)
    if answer.status == 416:
        # Nothing lies at offset 0: an empty object. Any other size there contradicts the request.
        if identity.size != 0 and _EMPTY not in answer.body:
            raise ObjectFailed("unsupported", "range_refused", handle)
        return Probed(handle, "ok", None, replace(identity, size=0), "empty", None, moment)
    head = _decoded(answer)
    if is_error_page(answer.status, answer.headers, head):
        return _failed(handle, "unknown", "error_page", moment, "error_page")
    reason = None
    if encoded(answer.headers):
        reason = "compressed"
    elif answer.status == 200:
        reason = "range_ignored"
    elif not _is_start(answer, identity.size):
        raise _misfit(answer, handle)
    if identity.size is None and reason != "compressed":
        reason = "size_unknown"
    unreadable = reason == "compressed" and not head and answer.body
    kind = "unknown" if unreadable else containers.container(head, identity.size)
    return Probed(handle, "ok", reason, identity, kind, containers.header(kind, head), moment)


def _decoded(answer: Response) -> bytes:
    """Return the object's first bytes; of a compressed answer that was cut off, what can be inflated."""
    if not encoded(answer.headers):
        return answer.body
    encoding = answer.headers.get("Content-Encoding", "").strip().lower()
    try:
        return decode_body(answer.body, encoding, 1 << 20)[: containers.HEAD_BYTES]
    except (DecodeError, TooLargeError):
        return containers.inflated(answer.body)[: containers.HEAD_BYTES]


def _is_start(answer: Response, size: int | None) -> bool:
    """True when a 206 holds the object's first bytes, as many as it says, up to what was asked for."""
    found = ContentRange.of(answer.headers)
    if found is None or found.first != 0 or found.last is None:
        return False
    asked = containers.HEAD_BYTES if size is None else min(size, containers.HEAD_BYTES)
    return len(answer.body) == found.last + 1 and (size is None or len(answer.body) == asked)


def _misfit(answer: Response, handle: str) -> ObjectFailed:
    """Return what a 206 that isn't the object's start is: one that lacks bytes may come whole next time."""
    found = ContentRange.of(answer.headers)
    wrong = ObjectFailed("unsupported", "wrong_range", handle)
    if found is None or found.first != 0 or found.last is None:
        return wrong
    lacks = answer.complete and len(answer.body) <= found.last
    return ObjectFailed("unknown", "short_answer", handle) if lacks else wrong


def _failed(
    handle: str, status: str, reason: str, moment: datetime, kind: str = "unknown"
) -> Probed:
    return Probed(handle, status, reason, Identity(None, None, None), kind, None, moment)
