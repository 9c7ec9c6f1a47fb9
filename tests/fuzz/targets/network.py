"""Answers as they come from a socket: HTTP heads and bodies, GitHub's JSON, the signer's, S3's."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from email import message_from_bytes
from functools import cache
from typing import Any

import requests
import urllib3
from requests.structures import CaseInsensitiveDict

from benchproof.errors import BenchproofError, ConfigError, ObjectFailed, Unreachable
from benchproof.http import Http
from benchproof.http.hosts import Endpoint, Target, UrlError, is_public
from benchproof.http.transport import DecodeError, TooLargeError, _Connection, decode_body
from benchproof.http.waits import limit_reset, retry_after, server_time
from benchproof.sources import objects
from benchproof.sources.base import RepoSpec
from benchproof.sources.github import GitHubSource
from benchproof.storage.answers import is_error_page, refusal
from benchproof.storage.identity import ContentRange, Identity
from benchproof.storage.signer import Signer
from fuzz.registry import target

_NOW = datetime(2026, 8, 28, tzinfo=UTC)
_HOST = "https://api.example.test"


class _Socket:
    """A socket that has received all it will, and swallows what is sent."""

    def __init__(self, data: bytes, unit: bytes = b"") -> None:
        self._data, self._unit = data, unit

    def makefile(self, *_: Any, **__: Any) -> Any:
        return io.BufferedReader(_Raw(self._data, self._unit))

    def gettimeout(self) -> float:
        return 60.0

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


class _Raw(io.RawIOBase):
    """What has come, and after it `unit` for ever."""

    def __init__(self, data: bytes, unit: bytes = b"") -> None:
        self._file, self._unit = io.BytesIO(data), unit * (65536 // len(unit) + 1) if unit else b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        if not count and self._unit:
            self._file = io.BytesIO(self._unit)
            count = self._file.readinto(buffer)
        return count


class _Wire(requests.adapters.HTTPAdapter):
    """Answers each request with the same bytes, read as they would be from a server."""

    def __init__(self, data: bytes, unit: bytes = b"") -> None:
        super().__init__()
        self._data, self._unit = data, unit

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        connection = _Connection("api.example.test")
        connection.sock = _Socket(self._data, self._unit)
        try:
            connection.request("GET", "/", preload_content=False, decode_content=False)
            raw = connection.getresponse()
        except urllib3.exceptions.HTTPError as error:
            raise requests.ConnectionError(error) from error
        except (OSError, ValueError) as error:
            raise requests.ConnectionError(error) from error
        return self.build_response(request, raw)


class _Body(requests.adapters.BaseAdapter):
    """Answers with a body, and with 404 for what has none."""

    def __init__(
        self, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__()
        self._body, self._status, self._headers = body, status, dict(headers or {})

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        response = requests.Response()
        response.status_code = self._status
        response.headers = CaseInsensitiveDict(self._headers)
        response.raw = urllib3.HTTPResponse(io.BytesIO(self._body), preload_content=False)
        return response

    def close(self) -> None:
        """Nothing is open."""


def _client(adapter: requests.adapters.BaseAdapter) -> Http:
    return Http(
        [_HOST],
        environ={},
        tries=2,
        sleep=lambda _: None,
        now=lambda: _NOW,
        resolve=lambda *_: ["93.184.216.34"],
        adapter=adapter,
    )


_ANSWERS = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: Fri, 28 Aug 2026 00:00:00 GMT\r\n\r\nok",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nT: v\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: https://api.example.test/y\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"x" * 500),
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
]


@target("http", lambda: _ANSWERS, allowed=[Unreachable], kind="lines")
def _http(data: bytes) -> None:
    with _client(_Wire(data)) as client:
        answer = client.get(f"{_HOST}/x", max_bytes=10_000)
        assert len(answer.body) <= 10_000
        assert answer.url.startswith(f"{_HOST}/")


@target("http_endless", lambda: [b"HTTP/1.1 200 OK\r\n\r\n\0\0ok"], allowed=[Unreachable])
def _endless(data: bytes) -> None:
    """An answer whose last part, after two zero bytes, goes on for ever; streamed, and read whole."""
    head, _, unit = data.partition(b"\0\0")
    with _client(_Wire(head, unit)) as client:
        try:
            with client.stream(f"{_HOST}/x") as stream:
                buffer, left = memoryview(bytearray(65536)), 1_000_000
                while left > 0 and (count := stream.readinto(buffer)):
                    left -= count
        except Unreachable:
            pass
        client.get(f"{_HOST}/x", max_bytes=1_000_000)


@target(
    "decode_body",
    lambda: [gzip.compress(b"x" * 500), zlib.compress(b"y" * 500), b"\x1f\x8b\x08"],
    allowed=[DecodeError, TooLargeError],
)
def _decode(data: bytes) -> None:
    for encoding in ("gzip", "deflate"):
        assert len(decode_body(data, encoding, 5000)) <= 5000


_URLS = [
    b"https://h.amazonaws.com/k?X-Amz-Signature=1",
    b"https://h.amazonaws.com@evil.test/",
    b"//x/y",
    b"http://[::ffff:127.0.0.1]:80/",
    b"https://2130706433/",
    b"https://h.amazonaws.com./",
    "https://\u24d7.amazonaws.com/".encode(),
    b"https://h.amazonaws.com:443\\@evil.test/",
]


@target("url", lambda: _URLS, allowed=[UrlError, requests.exceptions.InvalidURL])
def _url(data: bytes) -> None:
    text = data.decode("latin-1")
    found = Target.of(text)
    # What is connected to is what was judged: requests and urllib3 read the same host and port.
    sent = urllib3.util.parse_url(requests.Request("GET", text).prepare().url or "")
    # urllib3 leaves the case of a host that looks like a number; a resolver knows none.
    assert (sent.host or "").strip("[]").lower() == found.host or ":" in found.host
    assert (sent.port or {"http": 80, "https": 443}[sent.scheme or ""]) == found.port
    assert sent.auth is None
    Endpoint.of("https://*.amazonaws.com").admits(found)


@target(
    "endpoint",
    lambda: [b"https://*.amazonaws.com", b"https://a.test:8443/x"],
    allowed=[ConfigError],
)
def _endpoint(data: bytes) -> None:
    Endpoint.of(data.decode("latin-1"))


@target(
    "address",
    lambda: [b"127.0.0.1", b"::ffff:10.0.0.1", b"fe80::1%eth0", b"64:ff9b::7f00:1"],
    allowed=[ValueError],
)
def _address(data: bytes) -> None:
    is_public(data.decode("latin-1"))


_HEADERS = [
    b'Content-Range: bytes 0-9/100\nETag: "abc-2"\nLast-Modified: Fri, 28 Aug 2026 00:00:00 GMT\n'
    b"Content-Length: 10\nRetry-After: 5\nX-RateLimit-Reset: 1785542400\n"
    b"Date: Fri, 28 Aug 2026 00:00:00 GMT\n"
    b"Content-Type: text/html\n\n<Error><Code>NoSuchKey</Code></Error>"
]


@target("headers", lambda: _HEADERS, kind="lines")
def _headers(data: bytes) -> None:
    head, _, body = data.partition(b"\n\n")
    items = message_from_bytes(head + b"\n\n").items()
    headers = CaseInsensitiveDict({str(name): str(value) for name, value in items})
    for status in (200, 206, 403, 404, 416):
        identity = Identity.of(status, headers)
        assert identity.size is None or 0 <= identity.size < 2**63
        assert "/" not in identity.key()
        identity.condition()
        ContentRange.of(headers)
        assert isinstance(refusal(status, body), ObjectFailed | None)
        is_error_page(status, headers, body)
    for told in (retry_after(headers, _NOW), limit_reset(headers, _NOW)):
        assert told is None or told >= 0
    assert server_time(headers, _NOW).tzinfo is not None


@cache
def _github() -> list[bytes]:
    sha, at = "a" * 40, "2026-08-28T00:00:00Z"
    commit = {"tree": {"sha": sha}, "committer": {"date": at}}
    row = {"sha": sha, "commit": commit, "parents": [{"sha": "b" * 40}]}
    both = {"id": 7, "full_name": "o/n", **row, "total_commits": 1, "commits": [row]}
    both |= {"base_commit": row, "merge_base_commit": row, "status": "ahead"}
    entry = {"path": "evals/a.json", "mode": "100644", "sha": sha, "size": 5, "type": "blob"}
    listing = {**both, "tree": [entry], "truncated": False, "content": "e30=", "encoding": "base64"}
    core = {"resources": {"core": {"limit": 60, "remaining": 60, "reset": 1785542400}}}
    return [json.dumps(value).encode() for value in (listing, both, [row], {**listing, **core})]


class _Nowhere:
    def get(self, _: str) -> bytes | None:
        return None

    def put(self, _: str, __: bytes) -> None:
        """Keep nothing."""


@target("github", _github, allowed=[BenchproofError], kind="json")
def _rest(data: bytes) -> None:
    spec = RepoSpec("o/n", "main", "evals", "runs")
    with _client(_Body(data)) as client:
        source = GitHubSource(client, _HOST, _HOST, _Nowhere())
        pin = source.pin(spec)
        assert pin.status in (
            "ok",
            "renamed",
            "missing",
            "private",
            "empty",
            "ref_missing",
            "unknown",
        )
        assert pin.repo_id is None or 0 <= pin.repo_id < 2**63
        for ask in (
            lambda: source.commits(spec, "a" * 40),
            lambda: source.commits(spec, "a" * 40, "b" * 40),
            lambda: source.is_ancestor(spec, "b" * 40, "a" * 40),
            lambda: source.find(spec, "aaaaaaa"),
            lambda: source.tree(pin) if pin.tree_sha else None,
            lambda: list(source.blobs(pin, {objects.EMPTY_TREE: b"x"})) if pin.tree_sha else None,
        ):
            try:
                ask()
            except BenchproofError:
                continue


@target(
    "signer",
    lambda: [
        b'{"data": {"url": "https://b.s3.amazonaws.com/k?X-Amz-Signature=SECRET"}}',
        b'{"data": {"url": "file:///etc/passwd"}}',
        b'{"error": "x"}',
    ],
    kind="json",
)
def _signer(data: bytes) -> None:
    for status in (200, 400):
        with _client(_Body(data, status)) as client:
            found = Signer(client, f"{_HOST}/sign", ["https://*.amazonaws.com"]).sign(
                "latch://1.node"
            )
        assert found.status in ("reachable", "refused", "unauthorized", "malformed", "unknown")
        assert found.url is None or Target.of(found.url).host.endswith(".amazonaws.com")
        assert "SECRET" not in repr(found)
