"""What a storage answer means: S3's errors as fixed codes, and pages that are no object.

Expiry is judged by the answer, never by a clock of ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchproof.errors import ObjectFailed

_CODE = re.compile(rb"<Code>\s*([A-Za-z0-9]{1,64})\s*</Code>")
_S3_ERROR = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?<Error[\s>]")
_HTML = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,400}?-->\s*)?"
    rb"<(?:!doctype\s+html|html)[\s>]",
    re.I | re.S,
)
_EXPIRED = re.compile(rb"request has expired|token (?:has |is )?expired|url (?:has )?expired", re.I)
_EXPIRED_CODES = {"ExpiredToken", "TokenRefreshRequired", "RequestExpired"}
_MISSING = {404, 410}


def refusal(status: int, body: bytes, what: str = "") -> ObjectFailed | None:
    """Return what a refusing answer says about the object; None for 200 and 206."""
    if status in (200, 206):
        return None
    found = _CODE.search(body[:4096]) if _S3_ERROR.match(body) else None
    code = found.group(1).decode() if found else ""
    if status in (400, 401, 403):
        if code in _EXPIRED_CODES or _EXPIRED.search(body[:4096]):
            return ObjectFailed("denied", "expired", what, expired=True)
        if code == "RequestTimeTooSkewed":
            return ObjectFailed("unknown", "clock_skew", what)
        if status == 400:
            return ObjectFailed("unknown", _snake(code) or "http_400", what)
        return ObjectFailed("denied", _snake(code) or f"http_{status}", what)
    if status in _MISSING:
        return ObjectFailed("missing", _snake(code) or f"http_{status}", what)
    if status == 412:
        return ObjectFailed("changed", "replaced", what)
    if status == 416:
        return ObjectFailed("unsupported", "range_refused", what)
    return ObjectFailed("unknown", f"http_{status}", what)


def is_error_page(status: int, headers: Mapping[str, str], head: bytes) -> bool:
    """True for a page with status 200 that stands where an object should be.

    S3 serves its own objects with an ETag: HTML with one is somebody's HTML file, without one it is a
    proxy's or a sign-in page. An `<Error>` document is S3's refusal either way. What comes with status 206
    is a part of an object, whose bytes may say anything.
    """
    if status != 200:
        return False
    if _S3_ERROR.match(head) and _CODE.search(head):
        return True
    if "ETag" in headers:
        return False
    return _is_html(headers.get("Content-Type", "")) or _HTML.match(head) is not None


def _is_html(media: str) -> bool:
    return media.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")


def _snake(code: str) -> str:
    """Return a code of S3's in the style of our reasons: NoSuchKey becomes no_such_key."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", code).lower()
