"""Broken and slow answers, causes of exceptions, sizes and compression, certificates."""

from __future__ import annotations

import gzip
import socket
import ssl
import time
import zlib
from pathlib import Path

import pytest
import requests
import urllib3

from benchproof.errors import ConfigError
from unit.http.conftest import (
    LINK,
    OK,
    QUERY,
    Broken,
    Client,
    Handler,
    Server,
    Step,
    answer,
    drip,
    fails,
    raw,
    serve_tls,
)


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        (raw(b""), "reset"),
        (raw(OK), "reset"),
        (raw(OK + b"Content-Len"), "reset"),
        (raw(OK + b"Content-Length: 10\r\n\r\nabc"), "reset"),
        (raw(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc"), "reset"),
        (raw(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "reset"),
        (raw(b"nonsense\r\n\r\n"), "malformed"),
        (raw(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n"), "malformed"),
        (raw(OK + b"Content-Length: 1, 2\r\n\r\nabc"), "malformed"),
        (answer(body=b"abc", Content_Encoding="gzip"), "malformed"),
        (answer(body=b"abc", Content_Encoding="br"), "malformed"),
        (answer(body=gzip.compress(b"abc" * 9)[:-9], Content_Encoding="gzip"), "malformed"),
    ],
)
def test_broken_answers_are_retried_then_named(
    client: Client, server: Server, step: Step, cause: str
) -> None:
    server.script = [step, step, answer(body=b"good")]
    assert client.get(server.url + "/" + QUERY).body == b"good"
    server.script = [step]
    fails(client, server.url + "/" + QUERY, cause)
    assert len(client.waits) == 2 + 5


def test_a_server_that_says_nothing_is_a_timeout(server: Server) -> None:
    server.script = [raw(b"", hold_s=0.6)]
    with Client(server.url, timeout_s=0.2, tries=2) as client:
        fails(client, server.url + QUERY, "timeout")


@pytest.mark.parametrize(
    "step",
    [
        raw(OK + b"Content-Length: 10\r\n\r\nabc", hold_s=0.8),
        drip(OK + b"Content-Length: 1000\r\n\r\n", b"x", 0.1, 30),
        drip(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 0.1, 30),
    ],
    ids=["silence", "drip", "chunked drip"],
)
def test_a_body_that_stalls_is_given_up(server: Server, step: Step) -> None:
    """BR-15: a byte now and then keeps no request alive."""
    server.script = [step]
    with Client(server.url, timeout_s=0.3, tries=2) as client:
        started = time.monotonic()
        fails(client, server.url + QUERY, "stalled")
        assert time.monotonic() - started < 2 * 2 * 0.3 + 0.3
        assert client.waits == [0.5]


def test_headers_that_drip_are_given_up(server: Server) -> None:
    server.script = [drip(OK, b"a", 0.1, 30)]
    with Client(server.url, timeout_s=0.3, tries=1) as client:
        fails(client, server.url, "timeout")


def test_a_slow_link_finishes(server: Server) -> None:
    """Four times the time limit, at a modest rate throughout."""
    head = OK + b"Content-Length: 24000\r\n\r\n"
    server.script = [drip(head, b"x" * 1000, 0.05, 24)]
    with Client(server.url, timeout_s=0.3) as client:
        assert len(client.get(server.url).body) == 24_000
        assert client.waits == []


def test_time_to_think_is_no_stall(server: Server) -> None:
    def step(handler: Handler) -> None:
        time.sleep(0.25)
        answer()(handler)

    server.script = [step]
    with Client(server.url, timeout_s=0.3, tries=1) as client:
        assert client.get(server.url).body == b"ok"


def test_speaking_tls_to_something_else(server: Server) -> None:
    url = server.url.replace("http:", "https:")
    with Client(url) as client:
        fails(client, url + "/x" + QUERY, "tls")


POOL = urllib3.HTTPSConnectionPool("api.example.test")


def wrapped(reason: Exception) -> Exception:
    return requests.ConnectionError(urllib3.exceptions.MaxRetryError(POOL, LINK, reason))


def unopened(error: OSError) -> Exception:
    outer = urllib3.exceptions.NewConnectionError(None, LINK)  # type: ignore[arg-type]
    outer.__cause__ = error
    return wrapped(outer)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (unopened(OSError(101, "Network is unreachable")), "no_network"),
        (unopened(OSError(113, "No route to host")), "no_network"),
        (unopened(PermissionError(1, "Operation not permitted")), "no_network"),
        (unopened(ConnectionRefusedError(111, LINK)), "refused"),
        (unopened(socket.gaierror(-2, LINK)), "dns"),
        (unopened(TimeoutError(110, LINK)), "timeout"),
        (requests.ConnectTimeout(LINK), "timeout"),
        (requests.ReadTimeout(LINK), "timeout"),
        (wrapped(urllib3.exceptions.ProtocolError(LINK, ConnectionResetError(104))), "reset"),
        (requests.exceptions.ChunkedEncodingError(LINK), "reset"),
        (BrokenPipeError(32, LINK), "reset"),
        (wrapped(urllib3.exceptions.SSLError(ssl.SSLCertVerificationError(1, LINK))), "tls"),
        (requests.exceptions.SSLError(LINK, ssl.SSLError(1, LINK)), "tls"),
        (requests.exceptions.SSLError(ssl.SSLEOFError(8, LINK)), "reset"),
        (wrapped(urllib3.exceptions.ProxyError(LINK, OSError("407"))), "refused"),
        (requests.exceptions.InvalidHeader(LINK), "malformed"),
        (requests.exceptions.InvalidURL(LINK), "malformed"),
        (urllib3.exceptions.LocationParseError(LINK), "malformed"),
        (UnicodeError("label too long"), "dns"),
    ],
)
def test_every_exception_has_a_cause_and_no_text(error: Exception, cause: str) -> None:
    adapter = Broken(error)
    with Client("https://api.example.test", adapter=adapter, resolve=lambda *_: ["1.1.1.1"]) as c:
        fails(c, LINK, cause)


# --- sizes and compression -----------------------------------------------------------------------


def test_more_than_the_cap_is_an_error_or_cut(client: Client, server: Server) -> None:
    server.script = [answer(body=b"x" * 1001)]
    fails(client, server.url, "too_large", max_bytes=1000)
    cut = client.get(server.url, max_bytes=1000, overflow="cut")
    assert (len(cut.body), cut.complete) == (1000, False)
    whole = client.get(server.url, max_bytes=1001, overflow="cut")
    assert (len(whole.body), whole.complete) == (1001, True)
    assert client.waits == []


def test_an_endless_body_is_not_read(client: Client, server: Server) -> None:
    """BR-10: a server without ranges sends its gigabyte; the probe leaves early."""
    sent = 0

    def step(handler: Handler) -> None:
        nonlocal sent
        handler.send_response_only(200)
        handler.send_header("Content-Length", str(2**30))
        handler.end_headers()
        for _ in range(2**14):
            sent += handler.wfile.write(b"x" * 65536)

    server.script = [step]
    response = client.get(server.url, max_bytes=1, overflow="cut", headers={"Range": "bytes=0-0"})
    assert response.headers["content-length"] == str(2**30)
    assert (response.body, response.complete) == (b"x", False)
    assert server.log[0][2]["Range"] == "bytes=0-0"
    time.sleep(0.05)
    assert sent < 16 * 2**20  # what the socket buffers of this machine hold


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"a" * 1123)),
        ("GZIP", gzip.compress(b"a" * 1000) + gzip.compress(b"a" * 123)),
        ("deflate", zlib.compress(b"a" * 1123)),
        ("deflate", zlib.compress(b"a" * 1123, wbits=-15)),
        ("identity", b"a" * 1123),
    ],
    ids=["gzip", "two members", "zlib", "raw deflate", "identity"],
)
def test_compression_that_was_not_asked_for_is_undone(
    client: Client, server: Server, encoding: str, packed: bytes
) -> None:
    server.script = [answer(body=packed, Content_Encoding=encoding)]
    assert client.get(server.url).body == b"a" * 1123
    assert client.get(server.url, decode=False).body == packed
    assert client.traffic.hosts()[server.url[7:]].bytes_in == 2 * len(packed)


def test_a_bomb_is_defused(client: Client, server: Server) -> None:
    packed = gzip.compress(bytes(50_000_000))
    server.script = [answer(body=packed, Content_Encoding="gzip")]
    fails(client, server.url, "too_large", max_bytes=1_000_000)
    assert len(server.log) == 1


def test_head_has_no_body(client: Client, server: Server) -> None:
    server.script = [answer(body=b"12345")]
    response = client.request("HEAD", server.url)
    assert (response.body, response.headers["Content-Length"]) == (b"", "5")


# --- certificates --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"])
def test_certificates_are_checked_against_the_environments_file(
    server: Server, certificate: Path, name: str
) -> None:
    serve_tls(server, certificate)
    url = server.url.replace("http:", "https:")
    with Client(url, environ={name: f"{certificate}.crt"}) as client:
        assert client.get(url).body == b"ok"
        assert client.get(url).body == b"ok"
    with Client(url) as client:
        fails(client, url + "/" + QUERY, "tls")
        assert client.waits == []
    with Client(
        url.replace("127.0.0.1", "localhost"), tries=1, environ={name: f"{certificate}.crt"}
    ) as client:
        fails(client, url.replace("127.0.0.1", "localhost"), "tls")


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_certificate_file_that_is_no_good(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match="SSL_CERT_FILE names"):
        Client("https://x.test", environ={"SSL_CERT_FILE": str(path)})
