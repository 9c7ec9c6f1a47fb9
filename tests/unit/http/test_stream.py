"""Streams: one attempt, bytes as they come, and the same rules as every request."""

from __future__ import annotations

import threading
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

from benchproof.http import StreamFailed
from unit.http.conftest import (
    OK,
    QUERY,
    SECRET,
    TOKEN,
    Client,
    Handler,
    Server,
    answer,
    drip,
    raw,
    serve_tls,
)
from unit.http.test_client import closed_port

BODY = bytes(range(256)) * 40
CLOSE = b"Connection: close\r\n"
LENGTH = f"Content-Length: {len(BODY)}\r\n\r\n".encode()


def drain(client: Client, url: str, into: bytearray, size: int = 4096, **options: Any) -> None:
    """Read a stream to its end."""
    buffer = memoryview(bytearray(size))
    with client.stream(url, **options) as stream:
        while count := stream.readinto(buffer):
            into += buffer[:count]
        assert stream.received == len(into)


def read(client: Client, url: str, size: int = 4096, **options: Any) -> bytes:
    """Return the body of a stream."""
    body = bytearray()
    drain(client, url, body, size, **options)
    return bytes(body)


def breaks(client: Client, url: str, cause: str, **options: Any) -> StreamFailed:
    """Assert that a stream fails with a cause, at once and without a secret; return the error."""
    with pytest.raises(StreamFailed) as caught:
        read(client, url + "/" + QUERY, **options)
    error = caught.value
    assert error.cause == cause
    assert client.waits == []
    told = "".join(traceback.format_exception(error)) + repr(error)
    assert SECRET not in told
    return error


@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 20])
def test_a_body_comes_whole_whatever_the_buffer(client: Client, server: Server, size: int) -> None:
    server.script = [answer(206, BODY[:999], Content_Range="bytes 0-998/10240")]
    assert read(client, server.url, size) == BODY[:999]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(BODY[:500]), BODY[:500]) for _ in range(3))
    server.script = [
        raw(OK + CLOSE + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
    ]
    assert read(client, server.url, size) == BODY[:500] * 3
    server.script = [raw(OK + b"\r\n" + BODY[:700])]
    assert read(client, server.url, size) == BODY[:700]


def test_a_stream_says_who_asks_and_what_for(client: Client, server: Server) -> None:
    with client.stream(server.url + "/a", headers={"Range": "bytes=0-1"}) as stream:
        assert (stream.status, stream.headers["Content-Length"]) == (200, "2")
    headers = server.log[0][2]
    assert headers["Range"] == "bytes=0-1"
    assert headers["Accept-Encoding"] == "identity"
    assert not {"Authorization", "Cookie", "X-Api-Key"} & headers.keys()


def test_the_token_stays_at_home(server: Server) -> None:
    with Client(authorized=[server.url], environ={"GITHUB_TOKEN": TOKEN}) as client:
        read(client, server.url)
    assert "Authorization" not in server.log[0][2]


def test_connections_are_kept_after_whole_bodies_alone(client: Client, server: Server) -> None:
    server.script = [answer(body=BODY)]
    for _ in range(3):
        read(client, server.url)
    assert server.connections == 1
    with client.stream(server.url) as stream:
        stream.readinto(memoryview(bytearray(10)))
    read(client, server.url)
    assert server.connections == 2


def test_traffic_is_counted(client: Client, server: Server) -> None:
    server.script = [answer(body=BODY), answer(503, b"no", Retry_After="3")]
    read(client, server.url)
    breaks(client, server.url, "throttled")
    client.count_retry(server.url + QUERY, 1.5)
    client.count_retry("no url at all", 1.5)
    row = client.traffic.hosts()[server.url.removeprefix("http://")]
    assert (row.requests, row.bytes_in, row.throttled, row.retries) == (2, len(BODY) + 2, 1, 1)


@pytest.mark.parametrize("status", [400, 403, 404, 412, 416, 304])
def test_a_refusal_brings_its_body(client: Client, server: Server, status: int) -> None:
    server.script = [answer(status, b"" if status == 304 else b"<Error>")]
    with client.stream(server.url) as stream:
        assert (stream.status, stream.body) == (status, b"" if status == 304 else b"<Error>")
        assert SECRET not in repr(stream)


@pytest.mark.parametrize(
    ("status", "body", "headers", "cause", "asked_s"),
    [
        (503, b"", {"Retry_After": "7"}, "throttled", 7.0),
        (503, b"<Error><Code>SlowDown</Code></Error>", {}, "throttled", None),
        (429, b"", {}, "throttled", None),
        (500, b"", {}, "server_error", None),
    ],
)
def test_answers_that_ask_for_another_try(
    client: Client,
    server: Server,
    status: int,
    body: bytes,
    headers: dict[str, str],
    cause: str,
    asked_s: float | None,
) -> None:
    server.script = [answer(status, body, **headers)]
    error = breaks(client, server.url, cause)
    assert (error.asked_s, error.final) == (asked_s, False)
    assert len(server.log) == 1


def test_a_body_that_ends_early(client: Client, server: Server) -> None:
    """What came before the end has been handed out."""
    server.script = [raw(OK + LENGTH + BODY[:5000])]
    got = bytearray()
    with pytest.raises(StreamFailed, match="reset"):
        drain(client, server.url, got)
    assert got == BODY[:5000]


def test_bytes_that_came_with_the_headers_are_handed_out(client: Client, server: Server) -> None:
    def step(handler: Handler) -> None:
        handler.wfile.write(OK + LENGTH + b"x")
        time.sleep(0.4)
        handler.close_connection = True

    server.script = [step]
    got = bytearray()
    with pytest.raises(StreamFailed, match="stalled"):
        drain(client, server.url, got, silence_s=0.2)
    assert got == b"x"


def test_a_stall_is_noticed_by_the_smaller_limit(client: Client, server: Server) -> None:
    server.script = [drip(OK + LENGTH, b"x", 0.05, 100)]
    began = time.monotonic()
    breaks(client, server.url, "stalled", silence_s=0.3)
    assert time.monotonic() - began < 2
    server.script = [raw(b"", hold_s=1.0)]
    breaks(client, server.url, "timeout", silence_s=0.2)


def test_a_stream_can_be_ended_from_another_thread(client: Client, server: Server) -> None:
    server.script = [raw(OK + LENGTH + b"x", hold_s=3.0)]
    began = time.monotonic()
    buffer = memoryview(bytearray(100))
    with client.stream(server.url) as stream:
        assert stream.readinto(buffer) == 1
        threading.Timer(0.1, stream.abort).start()
        with pytest.raises(StreamFailed):
            stream.readinto(buffer)
    assert time.monotonic() - began < 2
    stream.abort()  # afterwards it means nothing


def test_redirects_lead_to_allowed_hosts_alone(server: Server, other: Server) -> None:
    server.script = [answer(307, Location=other.url + "/b" + QUERY)]
    with Client(server.url, other.url) as client:
        assert read(client, server.url + "/a") == b"ok"
    assert other.log[0][1] == "/b" + QUERY
    with Client(server.url) as client:
        assert breaks(client, server.url, "host_not_allowed").final
    server.script = [answer(302, Location="/")]
    with Client(server.url) as client:
        breaks(client, server.url, "malformed")


def test_urls_that_are_refused(client: Client) -> None:
    assert breaks(client, "ftp://127.0.0.1", "host_not_allowed").final
    assert breaks(client, "http://127.0.0.1:1", "host_not_allowed").final


def test_a_host_that_cannot_be_connected_to() -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    with Client(url) as client:
        error = breaks(client, url, "refused")
        assert (error.unmet, error.final) == (True, False)


@pytest.mark.parametrize("name", ["Authorization", "cookie"])
def test_callers_cannot_set_what_only_the_client_may(client: Client, name: str) -> None:
    with (
        pytest.raises(ValueError, match="not the caller's"),
        client.stream("http://127.0.0.1/", headers={name: "x"}),
    ):
        pytest.fail("it was sent")


def test_a_secure_stream(server: Server, certificate: Path) -> None:
    serve_tls(server, certificate)
    server.script = [answer(body=BODY)]
    url = server.url.replace("http", "https")
    with Client(url, environ={"SSL_CERT_FILE": str(certificate)}) as client:
        assert read(client, url) == BODY
        assert read(client, url, 100_000) == BODY
    with Client(url) as client:
        assert breaks(client, url, "tls").final
