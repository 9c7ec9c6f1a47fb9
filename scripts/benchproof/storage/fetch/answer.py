"""What an answer to a request for a range is worth, judged before any of its bytes is kept."""

from __future__ import annotations

from collections.abc import Mapping

from benchproof.storage.answers import is_error_page, refusal
from benchproof.storage.identity import ContentRange, Identity, encoded


class Misfit(Exception):
    """An answer that can't be used; another try may bring a better one. `reason` is a fixed code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Expired(Exception):
    """The URL has died."""


class Replaced(Exception):
    """Another version of the object stands there now."""


def refuse(status: int, body: bytes, what: str) -> None:
    """Raise what a refusing answer means: Expired, Replaced, or ObjectFailed with its reason."""
    failed = refusal(status, body, what)
    if failed is None:
        return
    if failed.expired:
        raise Expired
    if failed.status == "changed":
        raise Replaced
    raise failed


def judge(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    wanted: tuple[int, int],
    identity: Identity,
    what: str,
) -> bool:
    """Return True when an answer brings the wanted range, False when it brings the whole object.

    `wanted` is the first byte and the one behind the last; `body` an error's body, or the first
    bytes of a 200. Raises Misfit, Expired, Replaced or ObjectFailed.
    """
    if status == 416:
        total = Identity.of(status, headers).size
        raise Misfit("wrong_range") if total in (None, identity.size) else Replaced
    refuse(status, body, what)
    if encoded(headers):
        raise Misfit("compressed")
    if is_error_page(status, headers, body):
        raise Misfit("error_page")
    there = Identity.of(status, headers)
    _same_version(there, identity)
    if status == 200:
        return False
    found = ContentRange.of(headers)
    if found is None or (found.first, found.last) != (wanted[0], wanted[1] - 1):
        raise Misfit("wrong_range")
    length = headers.get("Content-Length", "").strip()
    if length.isdigit() and int(length) != wanted[1] - wanted[0]:
        raise Misfit("wrong_length")
    return True


def _same_version(there: Identity, identity: Identity) -> None:
    """Raise unless an answer is certain to come from the version that is wanted."""
    if there.etag != identity.etag:
        # A proxy may lose the ETag: no sign of another version, but none of this one either.
        raise Replaced if there.etag else Misfit("no_etag")
    if there.size is None and identity.etag is None:
        raise Misfit("no_size")
    if there.size not in (None, identity.size):
        raise Misfit("wrong_total") if identity.etag else Replaced
    if there.etag is None and there.last_modified != identity.last_modified:
        raise Replaced
