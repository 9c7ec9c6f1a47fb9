"""What the signer says of a handle, whatever it answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchproof.storage.signer import Signed, Signer
from unit.http.conftest import Client, answer, raw
from unit.storage.conftest import HANDLE, NO_SECRET, SECRET, Desk
from upstream import Upstream

URL = f"https://bucket.s3.amazonaws.com/k?X-Amz-Signature={SECRET}"


def ask(desk: Desk, *script: Any, storage: str = "https://*.amazonaws.com") -> Signed:
    """Return what a signer makes of scripted answers."""
    desk.server.script = list(script)
    found = Signer(desk.client, f"{desk.server.url}/sign", [storage]).sign(HANDLE)
    assert not NO_SECRET.search(repr(found))
    return found


def data(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        pytest.param(200, data({"data": {"url": URL}}), ("reachable", None, 200), id="url"),
        pytest.param(
            400, data({"error": "x"}), ("refused", "not_shared_or_unknown", 400), id="400"
        ),
        pytest.param(400, b"", ("refused", "not_shared_or_unknown", 400), id="400-empty"),
        pytest.param(401, b"", ("unauthorized", "http_401", 401), id="401"),
        pytest.param(403, b"", ("unauthorized", "http_403", 403), id="403"),
        pytest.param(404, b"", ("unknown", "http_404", 404), id="404"),
        pytest.param(204, b"", ("unknown", "http_204", 204), id="204"),
        pytest.param(201, data({"data": {"url": URL}}), ("unknown", "http_201", 201), id="201"),
        pytest.param(304, b"", ("unknown", "http_304", 304), id="304"),
        pytest.param(302, b"", ("unknown", "http_302", 302), id="302-without-location"),
        pytest.param(200, b"", ("malformed", "not_json", 200), id="empty"),
        pytest.param(200, b"<html>sign in</html>", ("malformed", "not_json", 200), id="html"),
        pytest.param(200, b"\xff\xfe", ("malformed", "not_json", 200), id="no-text"),
        pytest.param(200, b"[" * 100_000, ("malformed", "not_json", 200), id="deep"),
        pytest.param(200, b"1" * 5000, ("malformed", "not_json", 200), id="huge-number"),
        pytest.param(200, data({"data": None}), ("malformed", "no_url", 200), id="null"),
        pytest.param(200, data(None), ("malformed", "no_url", 200), id="nothing"),
        pytest.param(200, data([URL]), ("malformed", "no_url", 200), id="list"),
        pytest.param(200, data({"data": [URL]}), ("malformed", "no_url", 200), id="data-list"),
        pytest.param(200, data({"data": URL}), ("malformed", "no_url", 200), id="data-text"),
        pytest.param(200, data({"data": {"url": [URL]}}), ("malformed", "no_url", 200), id="urls"),
        pytest.param(
            200, data({"data": {"url": None}}), ("malformed", "no_url", 200), id="url-null"
        ),
        pytest.param(
            200, data({"data": {"url": 5}}), ("malformed", "no_url", 200), id="url-number"
        ),
        pytest.param(200, data({"data": {}}), ("malformed", "no_url", 200), id="no-url"),
    ],
)
def test_answers(
    desk: Desk, status: int, body: bytes, expected: tuple[str, str | None, int]
) -> None:
    """Every answer is one status and one fixed reason."""
    found = ask(desk, answer(status, body))
    assert (found.status, found.reason, found.http_status) == expected
    assert found.url == (URL if status == 200 and expected[0] == "reachable" else None)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", ("malformed", "bad_url")),
        ("/relative", ("malformed", "bad_url")),
        ("file:///etc/passwd", ("malformed", "bad_url")),
        ("https://", ("malformed", "bad_url")),
        ("https://user:word@b.s3.amazonaws.com/", ("malformed", "bad_url")),
        ("https://b.s3.amazonaws.com/a b", ("malformed", "bad_url")),
        ("https://b.s3.amazonaws.com/\r\nHost: x", ("malformed", "bad_url")),
        ("https://b.s3.amazonaws.com\\@evil.test/", ("malformed", "bad_url")),
        ("https://b.s3.amazonaws.com:99999/", ("malformed", "bad_url")),
        ("https://[::1/", ("malformed", "bad_url")),
        ("https://b.s3.amazonaws.com/\ud800", ("malformed", "bad_url")),
        ("https://evil.test/x", ("unknown", "host_not_allowed")),
        ("https://amazonaws.com.evil.test/x", ("unknown", "host_not_allowed")),
        ("https://evilamazonaws.com/x", ("unknown", "host_not_allowed")),
        ("http://b.s3.amazonaws.com/x", ("unknown", "host_not_allowed")),
        ("https://b.s3.amazonaws.com:8443/x", ("unknown", "host_not_allowed")),
        ("https://127.0.0.1/x", ("unknown", "host_not_allowed")),
        ("https://B.S3.amazonaws.com/x", ("reachable", None)),
    ],
)
def test_urls(desk: Desk, url: str, expected: tuple[str, str | None]) -> None:
    """Only a plain URL of a configured storage host is a way to the data."""
    found = ask(desk, answer(200, data({"data": {"url": f"{url}?X-Amz-Signature={SECRET}"}})))
    assert (found.status, found.reason) == expected


@pytest.mark.parametrize("again", [503, 429, 500, 502, 504])
def test_br11_the_post_is_repeated(desk: Desk, again: int) -> None:
    """Two bad moments cost two more POSTs, no more."""
    good = answer(200, data({"data": {"url": URL}}))
    found = ask(desk, answer(again), answer(again), good, good)
    assert found.status == "reachable"
    assert desk.server.lines() == ["POST /sign"] * 3


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_br11_a_redirect_stays_a_post(desk: Desk, status: int) -> None:
    """A redirect on the same origin is posted again with its body."""
    moved = answer(status, b"", Location="/new/sign")
    found = ask(desk, moved, answer(200, data({"data": {"url": URL}})))
    assert (found.status, found.url) == ("reachable", URL)
    assert desk.server.lines() == ["POST /sign", "POST /new/sign"]
    assert [json.loads(body) for *_, body in desk.server.log] == [{"path": HANDLE}] * 2


@pytest.mark.parametrize(
    ("location", "status", "reason"),
    [
        ("https://evil.test/sign", 307, "host_not_allowed"),
        ("https://evil.test/sign", 302, "host_not_allowed"),
        ("http://localhost:1/sign", 308, "host_not_allowed"),
        ("//evil.test/", 307, "host_not_allowed"),
        ("/sign", 303, "malformed"),
        ("/sign", 307, "malformed"),
    ],
)
def test_redirects_that_are_not_followed(
    desk: Desk, location: str, status: int, reason: str
) -> None:
    """No handle goes to another host, no POST becomes a GET, no circle is endless."""
    found = ask(desk, answer(status, b"", Location=location))
    assert (found.status, found.reason) == ("unknown", reason)
    assert set(desk.server.lines()) == {"POST /sign"}


@pytest.mark.parametrize(
    ("asked", "posts", "reason"),
    [
        ("86400", 1, "throttled"),
        ("-5", 3, "throttled"),
        ("soon", 3, "throttled"),
        ("7", 3, "throttled"),
    ],
)
def test_br11_retry_after_is_bounded(desk: Desk, asked: str, posts: int, reason: str) -> None:
    """A wait beyond the limit isn't begun; garbage is no wait."""
    found = ask(desk, answer(503, b"", Retry_After=asked))
    assert (found.status, found.reason, found.http_status) == ("unknown", reason, None)
    assert len(desk.server.log) == posts
    assert sum(desk.client.waits) <= 60


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        pytest.param(answer(200, b" " * 2_000_000), "too_large", id="huge"),
        pytest.param(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"), "reset", id="short"),
        pytest.param(raw(b"nonsense\r\n\r\n"), "malformed", id="no-http"),
        pytest.param(raw(b""), "reset", id="silence"),
    ],
)
def test_no_answer(desk: Desk, step: Any, reason: str) -> None:
    """What is no answer is unknown with its cause, never refused."""
    found = ask(desk, step)
    assert (found.status, found.reason, found.http_status) == ("unknown", reason, None)


def test_br12_no_authorization(cloud: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signer sees neither token nor cookie, even where a token is set."""
    monkeypatch.setenv("GITHUB_TOKEN", "TOKEN3")
    cloud.storage.share(HANDLE, data=b"x")
    with Client(cloud.url, environ={"GITHUB_TOKEN": "TOKEN3"}) as client:
        found = Signer(client, f"{cloud.url}/sign", [cloud.url]).sign(HANDLE)
    (record,) = cloud.requests("sign")
    assert found.status == "reachable"
    assert not any((record.authorization, record.cookie, record.api_key))
