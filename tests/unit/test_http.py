"""The HTTP client against a scripted server: retries, waits, redirects, secrets, stalls, counts."""

from __future__ import annotations

import gzip
import json
import logging
import random
import select
import shutil
import socket
import ssl
import subprocess
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
import urllib3

from benchproof import http as module
from benchproof.errors import ConfigError, Unreachable
from benchproof.http import Http, Traffic, is_public, map_concurrently

SECRET = "SECRET1"
TOKEN = "TOKEN3"
NOW = datetime(2026, 8, 28, 12, 0, tzinfo=UTC)
QUERY = f"?X-Amz-Signature={SECRET}&X-Amz-Security-Token={SECRET}"


class Handler(BaseHTTPRequestHandler):
    """Answers each request with the next step of the server's script."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        with self.server.lock:
            self.server.log.append((self.command, self.path, dict(self.headers.items()), body))
            step = self.server.script.pop(0) if len(self.server.script) > 1 else None
            step = step or self.server.script[0]
        step(self)

    do_GET = do_POST = do_HEAD = do_CONNECT = handle_any  # noqa: N815

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


Step = Callable[[Handler], None]


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.script: list[Step] = [answer()]
        self.log: list[tuple[str, str, dict[str, str], bytes]] = []
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def lines(self) -> list[str]:
        return [f"{method} {path}" for method, path, _, _ in self.log]

    def handle_error(self, *_: Any) -> None:
        """A client that leaves is part of the tests."""


def answer(status: int = 200, body: bytes = b"ok", **headers: str) -> Step:
    """A step that answers; header names are written with underscores."""

    def step(handler: Handler) -> None:
        handler.send_response_only(status)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {"Content-Length": str(len(body)), **sent}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    return step


def raw(data: bytes, hold_s: float = 0.0) -> Step:
    """A step that writes bytes as they are and closes."""

    def step(handler: Handler) -> None:
        handler.wfile.write(data)
        handler.wfile.flush()
        time.sleep(hold_s)
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)

    return step


def drip(head: bytes, piece: bytes, pause_s: float, count: int) -> Step:
    def step(handler: Handler) -> None:
        handler.close_connection = True
        handler.wfile.write(head)
        for _ in range(count):
            handler.wfile.write(piece)
            time.sleep(pause_s)

    return step


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


class Client(Http):
    """The client under test with recorded waits and a clock that only waits move."""

    def __init__(self, *allowed: str, **options: Any) -> None:
        self.waits: list[float] = []
        self.time = 0.0
        given: dict[str, Any] = {
            "environ": {},
            "sleep": self.wait,
            "clock": lambda: self.time,
            "now": lambda: NOW + timedelta(seconds=self.time),
            "rng": Top(),
            "timeout_s": 5,
        }
        super().__init__(allowed, **{**given, **options})

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds


class Top(random.Random):
    """Jitter at its upper end, so that waits are round numbers."""

    def random(self) -> float:
        return 1.0


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, max_wait_s=300) as made:
        yield made


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(autouse=True)
def no_secret(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a test does, no log line holds a secret, with everything at its most verbose."""
    caplog.set_level(logging.DEBUG)
    for name in ("urllib3", "urllib3.connectionpool", "urllib3.connection", "requests"):
        caplog.set_level(logging.DEBUG, name)
    yield
    assert SECRET not in caplog.text
    assert TOKEN not in caplog.text


def fails(client: Http, url: str, cause: str, **options: Any) -> str:
    """Assert that a request ends with a cause and tells no secret; return its message."""
    with pytest.raises(Unreachable) as caught:
        client.request(options.pop("method", "GET"), url, **options)
    error = caught.value
    assert error.cause == cause
    assert error.__cause__ is None
    assert error.__context__ is None
    told = "".join(traceback.format_exception(error)) + repr(error)
    assert SECRET not in told
    assert TOKEN not in told
    return str(error)


# --- a plain request -----------------------------------------------------------------------------


def test_a_request_says_who_asks_and_wants_no_compression(client: Client, server: Server) -> None:
    response = client.get(server.url + "/a?b=c")
    assert (response.status, response.body, response.complete) == (200, b"ok", True)
    method, path, headers, body = server.log[0]
    assert (method, path, body) == ("GET", "/a?b=c", b"")
    assert headers["User-Agent"].startswith("benchproof/")
    assert headers["Accept-Encoding"] == "identity"
    assert not {"Authorization", "Cookie", "X-Api-Key"} & headers.keys()


def test_connections_are_kept_and_cookies_are_not(client: Client, server: Server) -> None:
    server.script = [answer(Set_Cookie="a=b"), answer(), answer(404, b"no"), answer()]
    for _ in range(4):
        client.get(server.url)
    assert server.connections == 1
    assert all("Cookie" not in headers for _, _, headers, _ in server.log)


def test_netrc_is_never_read(
    client: Client, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    client.get(server.url)
    assert "Authorization" not in server.log[0][2]


def test_an_answer_shows_no_secret(client: Client, server: Server) -> None:
    response = client.get(server.url + "/" + QUERY)
    assert response.url.endswith(QUERY)
    assert SECRET not in repr(response)


@pytest.mark.parametrize("name", ["Authorization", "cookie"])
def test_callers_cannot_set_what_only_the_client_may(client: Client, name: str) -> None:
    with pytest.raises(ValueError, match="not the caller's"):
        client.get("http://127.0.0.1/", headers={name: "x"})


@pytest.mark.parametrize("status", [204, 206, 304, 400, 401, 403, 404, 409, 416, 422, 451, 501])
def test_other_statuses_are_the_callers(client: Client, server: Server, status: int) -> None:
    server.script = [answer(status, b"" if status in (204, 304) else b"x")]
    assert client.get(server.url).status == status
    assert client.waits == []


# --- retries and waits ---------------------------------------------------------------------------


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
def test_passing_trouble_is_retried(client: Client, server: Server, status: int) -> None:
    server.script = [answer(status), answer(status), answer(body=b"good")]
    assert client.get(server.url).body == b"good"
    assert client.waits == [0.5, 1.0]


def test_a_signing_post_is_retried_as_a_post(client: Client, server: Server) -> None:
    server.script = [answer(503), answer(503), answer()]
    client.request("POST", server.url, json={"path": "latch://1.node"}, idempotent=True)
    assert server.lines() == ["POST /"] * 3
    assert {body for *_, body in server.log} == {b'{"path": "latch://1.node"}'}
    assert server.log[0][2]["Content-Type"] == "application/json"


def test_a_post_that_may_not_be_repeated_is_sent_once(client: Client, server: Server) -> None:
    server.script = [answer(503)]
    fails(client, server.url, "server_error", method="POST", json={})
    assert len(server.log) == 1


def test_trouble_that_stays_is_an_error_with_its_cause(client: Client, server: Server) -> None:
    server.script = [answer(502)]
    message = fails(client, server.url + "/x" + QUERY, "server_error")
    assert client.waits == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert f"GET {server.url}/x: not reachable (server_error). HTTP 502, tried 6" in message
    assert "o/n at main" in fails(client, server.url, "server_error", what="o/n at main")


def date(seconds: float) -> str:
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize("status", [429, 503, 403])
@pytest.mark.parametrize(
    ("value", "waits"),
    [
        ("7", [7.0]),
        ("0", [0.5]),
        ("-5", [0.5]),
        ("soon", [0.5]),
        ("", [0.5]),
        ("1.5", [0.5]),
        ("١٢", [0.5]),
        (date(20), [20.0]),
        (date(-20), [0.5]),
        ("Fri, 99 Foo 2026", [0.5]),
    ],
)
def test_retry_after_in_any_form(
    client: Client, server: Server, status: int, value: str, waits: list[float]
) -> None:
    value = value.encode().decode("latin-1")
    server.script = [answer(status, Retry_After=value), answer(body=b"good")]
    assert client.get(server.url).body == b"good"
    assert client.waits == waits


def test_a_date_is_judged_by_the_servers_clock(client: Client, server: Server) -> None:
    """The server lives an hour ahead: 20 s later there is 20 s here too."""
    server.script = [answer(503, Date=date(3600), Retry_After=date(3620)), answer()]
    client.get(server.url)
    assert client.waits == [20.0]


@pytest.mark.parametrize("value", ["86400", "9" * 500, date(86400)])
def test_a_wait_beyond_the_budget_fails_at_once(client: Client, server: Server, value: str) -> None:
    server.script = [answer(503, Retry_After=value)]
    message = fails(client, server.url, "throttled")
    assert client.waits == []
    assert "asked to wait" in message
    assert "http.max_wait_s allows 300 s" in message


def test_waits_share_one_budget(client: Client, server: Server) -> None:
    server.script = [answer(429, Retry_After="140")]
    fails(client, server.url, "throttled")
    assert client.waits == [140.0, 140.0]


def test_slow_down_of_s3_is_a_throttle(client: Client, server: Server) -> None:
    server.script = [answer(503, b"<Error><Code>SlowDown</Code></Error>")]
    fails(client, server.url, "throttled")


def reset(seconds: float) -> str:
    return str(int((NOW + timedelta(seconds=seconds)).timestamp()))


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({"X_RateLimit_Reset": reset(60)}, [61.0]),
        ({"X_RateLimit_Reset": reset(-60)}, [1.0]),
        ({"X_RateLimit_Reset": "soon"}, [0.5]),
        ({}, [0.5]),
        ({"X_RateLimit_Reset": reset(60), "Retry_After": "9"}, [9.0]),
        ({"X_RateLimit_Reset": reset(3660), "Date": date(3600)}, [61.0]),
    ],
)
def test_the_primary_limit_is_waited_for(
    client: Client, server: Server, status: int, headers: dict[str, str], waits: list[float]
) -> None:
    server.script = [answer(status, b"", X_RateLimit_Remaining="0", **headers), answer()]
    client.get(server.url)
    assert client.waits == waits


def test_the_primary_limit_beyond_the_budget(client: Client, server: Server) -> None:
    server.script = [answer(403, X_RateLimit_Remaining="0", X_RateLimit_Reset=reset(3000))]
    assert "asked to wait 3001 s" in fails(client, server.url, "throttled")


def test_the_secondary_limit_without_a_time_waits_a_minute(client: Client, server: Server) -> None:
    body = b'{"message": "You have exceeded a secondary rate limit. Please wait."}'
    server.script = [answer(403, body), answer(429, body), answer()]
    client.get(server.url)
    assert client.waits == [60.0, 60.0]


def test_a_refusal_is_no_limit(client: Client, server: Server) -> None:
    server.script = [answer(403, b'{"message": "Forbidden"}', X_RateLimit_Remaining="12")]
    assert client.get(server.url).status == 403


# --- broken transport ----------------------------------------------------------------------------

OK = b"HTTP/1.1 200 OK\r\n"


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


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_refused_connection_is_given_up_quickly() -> None:
    host = f"127.0.0.1:{closed_port()}"
    url = f"http://{host}/x"
    with Client(url) as client:
        fails(client, url + QUERY, "refused")
        assert client.waits == [0.5]
        assert client.traffic.hosts()[host].requests == 2
        # For a while nobody else tries: a run without a network ends soon.
        fails(client, url + QUERY, "refused")
        assert client.traffic.hosts()[host].requests == 2
        client.time += 11
        fails(client, url, "refused")
        assert client.traffic.hosts()[host].requests == 4


def test_a_host_that_has_answered_gets_all_tries(server: Server) -> None:
    with Client(server.url, tries=4) as client:
        server.script = [answer(Connection="close")]
        client.get(server.url)
        server.shutdown()
        server.server_close()
        fails(client, server.url, "refused")
        assert client.waits == [0.5, 1.0, 2.0]


def no_name(*_: object) -> list[str]:
    raise socket.gaierror(-3, "Temporary failure in name resolution")


def test_a_name_that_does_not_resolve() -> None:
    with Client("https://api.example.test", resolve=no_name) as client:
        fails(client, "https://api.example.test/x" + QUERY, "dns")
        assert client.waits == [0.5]


def test_a_resolver_that_hangs_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RESOLVE_S", 0.05)
    release = threading.Event()

    def hang(*_: object) -> list[str]:
        release.wait(5)
        return []

    with Client("https://api.example.test", resolve=hang) as client:
        started = time.monotonic()
        fails(client, "https://api.example.test/x", "dns")
        assert time.monotonic() - started < 1
    release.set()


def test_speaking_tls_to_something_else(server: Server) -> None:
    url = server.url.replace("http:", "https:")
    with Client(url) as client:
        fails(client, url + "/x" + QUERY, "tls")


class Broken(requests.adapters.BaseAdapter):
    """An adapter that raises what it is given."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def send(self, *_: Any, **__: Any) -> requests.Response:
        raise self.error

    def close(self) -> None:
        """Nothing is open."""


LINK = f"https://api.example.test/x{QUERY}"
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


# --- redirects and hosts -------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_get_follows_redirects(client: Client, server: Server, status: int) -> None:
    server.script = [answer(status, Location="/b?c=%20d"), answer(body=b"good")]
    response = client.get(server.url + "/a")
    assert (response.body, response.redirects) == (b"good", (status,))
    assert response.url == server.url + "/b?c=%20d"
    assert server.lines() == ["GET /a", "GET /b?c=%20d"]


def test_a_post_stays_a_post(client: Client, server: Server) -> None:
    """BR-11 (b)."""
    server.script = [answer(307, Location="/b"), answer(301, Location="/c"), answer(body=b"good")]
    assert client.request("POST", server.url + "/a", json=[1]).body == b"good"
    assert server.lines() == ["POST /a", "POST /b", "POST /c"]
    assert [body for *_, body in server.log] == [b"[1]"] * 3


def test_a_post_answered_303_is_an_error(client: Client, server: Server) -> None:
    server.script = [answer(303, Location="/b")]
    fails(client, server.url, "malformed", method="POST", idempotent=True)
    assert server.lines() == ["POST /"]


@pytest.fixture
def other() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.mark.parametrize("status", [301, 302])
def test_a_post_is_not_repeated_elsewhere(server: Server, other: Server, status: int) -> None:
    server.script = [answer(status, Location=other.url)]
    with Client(server.url, other.url) as client:
        fails(client, server.url, "malformed", method="POST", json={})
    assert other.log == []


def test_a_redirect_goes_to_configured_hosts_only(client: Client, server: Server) -> None:
    for location in (
        "http://127.0.0.2:1/",
        f"http://127.0.0.1:{server.server_port + 1}/",
        f"https://127.0.0.1:{server.server_port}/",
        f"http://u:p@127.0.0.1:{server.server_port}/",
        "file:///etc/passwd",
        "http://[::1",
        "http://evil.test\\@127.0.0.1/",
    ):
        server.script = [answer(302, Location=location + QUERY)]
        fails(client, server.url, "host_not_allowed")


def test_following_can_be_bounded(server: Server, other: Server) -> None:
    server.script = [answer(301, Location=other.url)]
    with Client(server.url, other.url) as client:
        assert client.get(server.url).body == b"ok"
        fails(client, server.url, "host_not_allowed", follow="same_origin")
        assert client.get(server.url, follow="none").status == 301


def test_a_circle_of_redirects_ends(client: Client, server: Server) -> None:
    server.script = [answer(302, Location="/")]
    fails(client, server.url, "malformed")
    assert len(server.log) == 6


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://b.s3.us-west-2.amazonaws.com/k", True),
        ("https://s3.amazonaws.com/b/k", True),
        ("https://S3.AmazonAWS.com:443/b/k", True),
        ("https://amazonaws.com/k", False),
        ("https://amazonaws.com.evil.org/k", False),
        ("https://evilamazonaws.com/k", False),
        ("https://evil.org/.amazonaws.com", False),
        ("https://evil.org\\.amazonaws.com/", False),
        ("https://evil.org#.amazonaws.com/", False),
        ("https://evil.org?.amazonaws.com/", False),
        ("https://a@s3.amazonaws.com/", False),
        ("https://s3.amazonaws.com:8443/", False),
        ("http://s3.amazonaws.com/", False),
        ("https://s3.amazonaws.com./", False),
        ("https://s3%2eamazonaws.com/", False),
        ("https://..amazonaws.com/", False),
        ("https://evil.org\t.amazonaws.com/", False),
        ("//s3.amazonaws.com/", False),
        ("s3.amazonaws.com", False),
        ("", False),
    ],
)
def test_wildcards_allow_sub_domains_alone(url: str, allowed: bool) -> None:
    adapter = Broken(requests.ReadTimeout())
    resolve = {"resolve": lambda *_: ["52.0.0.1"]}
    with Client("https://*.amazonaws.com", adapter=adapter, tries=1, **resolve) as client:
        fails(client, url, "timeout" if allowed else "host_not_allowed")


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%1"]
)
def test_a_wildcard_host_may_not_be_private(address: str) -> None:
    resolve = {"resolve": lambda *_: ["52.0.0.1", address]}
    adapter = Broken(requests.ReadTimeout())
    with Client("https://*.amazonaws.com", adapter=adapter, tries=1, **resolve) as client:
        fails(client, "https://x.amazonaws.com/", "host_not_allowed")
        assert client.traffic.hosts() == {}
    with Client("https://x.amazonaws.com", adapter=adapter, tries=1, **resolve) as client:
        fails(client, "https://x.amazonaws.com/", "timeout")


def test_public_addresses() -> None:
    assert is_public("52.0.0.1")
    assert is_public("2606:4700::1111")
    assert not is_public("224.0.0.1")
    assert not is_public("100.64.0.1")


@pytest.mark.parametrize(
    "url",
    ["https://u:SECRET1@github.com", "github.com", "ftp://github.com", "https://", "https://é.com",
     "https://x:SECRET1/", "https://*", "https://a b"],
)  # fmt: skip
def test_endpoints_that_cannot_be_used(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Client(url)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


# --- the token -----------------------------------------------------------------------------------


def with_token(server: Server, *allowed: str, token: str = TOKEN, path: str = "/api") -> Client:
    environ = {"GITHUB_TOKEN": token}
    return Client(*allowed, authorized=[server.url + path], environ=environ)


def authorizations(server: Server) -> list[str | None]:
    return [headers.get("Authorization") for _, _, headers, _ in server.log]


def test_the_token_goes_where_it_is_asked_for_and_meant(server: Server) -> None:
    """One server may be API and storage at once: the path counts too."""
    with with_token(server) as client:
        client.get(server.url + "/api/a", auth=True)
        client.get(server.url + "/api/a")
        client.get(server.url + "/apis", auth=True)
        client.get(server.url + "/storage", auth=True)
    assert authorizations(server) == [f"Bearer {TOKEN}", None, None, None]


def test_the_token_is_dropped_when_the_host_changes(server: Server, other: Server) -> None:
    """Also when a later redirect leads back."""
    server.script = [answer(302, Location=other.url), answer()]
    other.script = [answer(302, Location=server.url + "/api/b")]
    with with_token(server, other.url) as client:
        client.get(server.url + "/api/a", auth=True)
    assert authorizations(server) == [f"Bearer {TOKEN}", None]
    assert authorizations(other) == [None]


def test_the_token_survives_a_redirect_within(server: Server) -> None:
    server.script = [answer(301, Location="/api/b"), answer(302, Location="/raw"), answer()]
    with with_token(server) as client:
        client.get(server.url + "/api/a", auth=True)
    assert authorizations(server) == [f"Bearer {TOKEN}"] * 2 + [None]


def test_a_refused_token_is_dropped_once(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    def step(handler: Handler) -> None:
        answer(401 if handler.headers.get("Authorization") else 200)(handler)

    server.script = [step]
    with with_token(server) as client:
        had_token = client.has_token
        for _ in range(2):
            assert client.get(server.url + "/api", auth=True).status == 200
        assert (had_token, client.has_token) == (True, False)
        assert client.waits == []
    assert authorizations(server) == [f"Bearer {TOKEN}", None, None]
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.getMessage() for record in warnings] == [
        "GITHUB_TOKEN is refused by GitHub (401): going on without it. Renew or unset it."
    ]


def test_401_without_a_token_is_the_callers(client: Client, server: Server) -> None:
    server.script = [answer(401)]
    assert client.get(server.url, auth=True).status == 401
    assert len(server.log) == 1


@pytest.mark.parametrize("token", ["TOKEN3\n", " TOKEN3", "TOKEN3\r\nX: y", "TOKEN3\x00", "é"])
def test_a_token_that_cannot_be_sent_is_a_config_error(server: Server, token: str) -> None:
    with pytest.raises(ConfigError, match="GITHUB_TOKEN") as caught:
        with_token(server, token=token)
    assert TOKEN not in "".join(traceback.format_exception(caught.value))


def test_an_empty_token_is_none(server: Server) -> None:
    with with_token(server, token="") as client:
        assert not client.has_token


# --- proxies and certificates --------------------------------------------------------------------


def test_proxies_of_the_environment_are_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that only the proxy can resolve; the proxy's password is for the proxy alone."""
    monkeypatch.setenv("HTTP_PROXY", server.url.replace("//", "//u:p@"))
    with Client("http://api.example.test", resolve=no_name) as client:
        assert client.get("http://api.example.test/x").body == b"ok"
    assert server.lines() == ["GET http://api.example.test/x"]
    assert server.log[0][2]["Proxy-Authorization"].startswith("Basic ")
    assert "Authorization" not in server.log[0][2]


def test_no_proxy_is_honoured(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert client.get(server.url).body == b"ok"


def test_a_dead_proxy_is_named_by_its_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://u:SECRET1@127.0.0.1:{closed_port()}")
    with Client("https://api.example.test") as client:
        fails(client, LINK, "refused")


def test_a_proxy_that_refuses(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    server.script = [answer(407)]
    with Client("https://api.example.test") as client:
        fails(client, LINK, "refused")
    assert server.lines() == ["CONNECT api.example.test:443"] * 2


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1, made here so that none lies in the repository."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    command += f" -subj /CN=x -addext subjectAltName=IP:127.0.0.1 -keyout {path} -out {path}.crt"
    subprocess.run(command.split(), check=True, capture_output=True)
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


def serve_tls(server: Server, certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)


def tunnel(port: int) -> Step:
    """A step that lets a CONNECT through to a port here, whatever host it names."""

    def step(handler: Handler) -> None:
        handler.close_connection = True
        with socket.create_connection(("127.0.0.1", port)) as far:
            handler.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            ends = {handler.connection: far, far: handler.connection}
            while ready := select.select(list(ends), [], [], 5)[0]:
                data = ready[0].recv(65536)
                if not data:
                    break
                ends[ready[0]].sendall(data)

    return step


def test_a_proxy_is_tunnelled_through(
    server: Server, other: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificate is the far server's, and the proxy sees neither path nor token."""
    serve_tls(server, certificate)
    other.script = [tunnel(server.server_port)]
    monkeypatch.setenv("HTTPS_PROXY", other.url)
    url = "https://127.0.0.1:1/x"
    environ = {"SSL_CERT_FILE": f"{certificate}.crt", "GITHUB_TOKEN": TOKEN}
    with Client(authorized=[url], environ=environ) as client:
        assert client.get(url, auth=True).body == b"ok"
    assert other.lines() == ["CONNECT 127.0.0.1:1"]
    assert authorizations(other) == [None]
    assert authorizations(server) == [f"Bearer {TOKEN}"]


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "ftp://127.0.0.1:1"])
def test_a_proxy_of_another_kind_is_a_config_error(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with Client("https://api.example.test") as client, pytest.raises(ConfigError, match="proxy"):
        client.get(LINK)


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


# --- counts --------------------------------------------------------------------------------------


def test_traffic_counts_what_was_sent(client: Client, server: Server) -> None:
    server.script = [answer(503, b"1234"), answer(429, b"12", Retry_After="3"), answer(body=b"1")]
    client.get(server.url)
    assert client.traffic.rows("list") == [
        {
            "stage": "list",
            "host": server.url.removeprefix("http://"),
            "requests": 3,
            "bytes_in": 7,
            "retries": 2,
            "throttled": 1,
            "waited_s": 3.5,
        }
    ]


def test_traffic_of_threads_is_summed() -> None:
    traffic, more = Traffic(), Traffic()

    def add() -> None:
        for _ in range(1000):
            traffic.add("b", requests=1, bytes_in=2)

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    more.add("a", waited_s=0.0004)
    more.merge(traffic)
    more.merge(traffic)
    assert [row["host"] for row in more.rows("x")] == ["a", "b"]
    assert (more.hosts()["b"].requests, more.hosts()["b"].bytes_in) == (16_000, 32_000)
    assert more.rows("x")[0]["waited_s"] == 0.0


# --- several at once -----------------------------------------------------------------------------


def test_results_come_in_the_order_of_the_items() -> None:
    def slow_first(item: int) -> int:
        time.sleep(0.05 if item == 0 else 0)
        return item * item

    assert list(map_concurrently(slow_first, range(50), 4)) == [n * n for n in range(50)]
    assert list(map_concurrently(slow_first, [], 4)) == []


def test_no_more_run_at_once_than_asked() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def count(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1

    list(map_concurrently(count, range(40), 3))
    assert 1 < most <= 3


def test_a_failure_stops_the_rest_and_keeps_what_arrived() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 3:
            raise Unreachable("reset", "item 3")
        return item

    kept: list[int] = []
    results = map_concurrently(work, range(1000), 2)
    with pytest.raises(Unreachable, match="item 3"):
        kept.extend(results)
    assert kept[:3] == [0, 1, 2]
    assert sorted(kept) == sorted(n for n in begun if n != 3)
    assert len(begun) < 20


def test_a_consumer_that_leaves_stops_the_rest() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        return item

    results = map_concurrently(work, range(1000), 2)
    assert next(results) == 0
    results.close()
    time.sleep(0.02)
    assert len(begun) < 20


def test_json_is_sent_as_json(client: Client, server: Server) -> None:
    client.request("POST", server.url, json={"path": "é"})
    assert json.loads(server.log[0][3]) == {"path": "é"}
    assert server.log[0][3].isascii()
