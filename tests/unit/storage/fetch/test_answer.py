"""Answers to a request for bytes 100-199 of an object of 1000 bytes, and what each is worth."""

from __future__ import annotations

from typing import Any

import pytest
from requests.structures import CaseInsensitiveDict

from benchproof.errors import ObjectFailed
from benchproof.storage.fetch.answer import Expired, Misfit, Replaced, judge
from benchproof.storage.identity import Identity

MODIFIED = "Mon, 13 Jul 2026 00:00:00 GMT"
STRONG, DATED, BARE = (
    Identity("abc", 1000, MODIFIED),
    Identity(None, 1000, MODIFIED),
    Identity(None, 1000, None),
)
GOOD = {
    "ETag": '"abc"',
    "Content-Range": "bytes 100-199/1000",
    "Content-Length": "100",
    "Last-Modified": MODIFIED,
}
WHOLE = {"ETag": '"abc"', "Content-Length": "1000", "Last-Modified": MODIFIED}
EXPIRED = b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
DENIED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
SKEWED = b"<Error><Code>RequestTimeTooSkewed</Code></Error>"
PAGE = b"<!DOCTYPE html><html>Please sign in"


def without(headers: dict[str, str], *names: str, **changes: str) -> dict[str, str]:
    kept = {name: value for name, value in headers.items() if name not in names}
    return kept | {name.replace("_", "-"): value for name, value in changes.items()}


ROWS: list[tuple[str, int, dict[str, str], bytes, Identity, Any]] = [
    ("as asked", 206, GOOD, b"", STRONG, True),
    ("chunked", 206, without(GOOD, "Content-Length"), b"", STRONG, True),
    ("dated", 206, without(GOOD, "ETag"), b"", DATED, True),
    ("nothing to know it by", 206, without(GOOD, "ETag", "Last-Modified"), b"", BARE, True),
    ("whole", 200, WHOLE, b"x", STRONG, False),
    ("whole, chunked", 200, without(WHOLE, "Content-Length"), b"x", STRONG, False),
    ("whole, of no length", 200, without(WHOLE, "Content-Length", "ETag"), b"", DATED, "no_size"),
    ("no range", 206, without(GOOD, "Content-Range", "ETag"), b"", DATED, "no_size"),
    ("no range, but a tag", 206, without(GOOD, "Content-Range"), b"", STRONG, "wrong_range"),
    ("shifted", 206, GOOD | {"Content-Range": "bytes 101-200/1000"}, b"", STRONG, "wrong_range"),
    ("shorter", 206, GOOD | {"Content-Range": "bytes 100-198/1000"}, b"", STRONG, "wrong_range"),
    ("longer", 206, GOOD | {"Content-Range": "bytes 100-200/1000"}, b"", STRONG, "wrong_range"),
    ("no number", 206, GOOD | {"Content-Range": "bytes a-b/1000"}, b"", STRONG, "wrong_range"),
    ("other length", 206, GOOD | {"Content-Length": "99"}, b"", STRONG, "wrong_length"),
    (
        "other total",
        206,
        GOOD | {"Content-Range": "bytes 100-199/1005"},
        b"",
        STRONG,
        "wrong_total",
    ),
    (
        "other total, dated",
        206,
        without(GOOD, "ETag", Content_Range="bytes 100-199/2000"),
        b"",
        DATED,
        Replaced,
    ),
    ("unknown total", 206, GOOD | {"Content-Range": "bytes 100-199/*"}, b"", STRONG, True),
    ("other tag", 206, GOOD | {"ETag": '"xyz"'}, b"", STRONG, Replaced),
    ("weak tag", 206, GOOD | {"ETag": 'W/"abc"'}, b"", STRONG, "no_etag"),
    ("tag is gone", 206, without(GOOD, "ETag"), b"", STRONG, "no_etag"),
    ("tag is new", 206, GOOD, b"", DATED, Replaced),
    ("other date", 206, without(GOOD, "ETag", Last_Modified="Tue"), b"", DATED, Replaced),
    ("whole, other tag", 200, WHOLE | {"ETag": '"xyz"'}, b"", STRONG, Replaced),
    ("whole, other length", 200, WHOLE | {"Content-Length": "999"}, b"", STRONG, "wrong_total"),
    ("gzip", 206, GOOD | {"Content-Encoding": "gzip"}, b"", STRONG, "compressed"),
    ("whole, gzip", 200, WHOLE | {"Content-Encoding": "br"}, b"", STRONG, "compressed"),
    ("sign-in page", 200, {"Content-Type": "text/html"}, PAGE, STRONG, "error_page"),
    ("S3 error as 200", 200, WHOLE, DENIED, STRONG, "error_page"),
    ("replaced", 412, {}, b"", STRONG, Replaced),
    ("beyond its end", 416, {"Content-Range": "bytes */50"}, b"", STRONG, Replaced),
    ("beyond its end?", 416, {"Content-Range": "bytes */1000"}, b"", STRONG, "wrong_range"),
    ("beyond, unsaid", 416, {}, b"", STRONG, "wrong_range"),
    ("expired", 403, {}, EXPIRED, STRONG, Expired),
    ("denied", 403, {}, DENIED, STRONG, ("denied", "access_denied")),
    ("skewed", 403, {}, SKEWED, STRONG, ("unknown", "clock_skew")),
    ("missing", 404, {}, b"", STRONG, ("missing", "http_404")),
    ("odd", 418, {}, b"", STRONG, ("unknown", "http_418")),
    ("no content", 204, {}, b"", STRONG, ("unknown", "http_204")),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_answers(row: tuple[str, int, dict[str, str], bytes, Identity, Any]) -> None:
    _, status, headers, body, identity, expected = row
    answer = status, CaseInsensitiveDict(headers), body
    if isinstance(expected, bool):
        assert judge(*answer, (100, 200), identity, "x") is expected
    elif isinstance(expected, str):
        with pytest.raises(Misfit) as misfit:
            judge(*answer, (100, 200), identity, "x")
        assert misfit.value.reason == expected
    elif isinstance(expected, tuple):
        with pytest.raises(ObjectFailed) as failed:
            judge(*answer, (100, 200), identity, "x")
        assert (failed.value.status, failed.value.reason) == expected
    else:
        with pytest.raises(expected):
            judge(*answer, (100, 200), identity, "x")
