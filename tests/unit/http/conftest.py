"""A scripted server and a client to test against it, with its waits recorded and its secrets watched."""

from __future__ import annotations

import logging
import random
import shutil
import socket
import ssl
import subprocess
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

from benchproof.errors import Unreachable
from benchproof.http.client import Http

SECRET = "SECRET1"
TOKEN = "TOKEN3"
NOW = datetime(2026, 8, 28, 12, 0, tzinfo=UTC)
QUERY = f"?X-Amz-Signature={SECRET}&X-Amz-Security-Token={SECRET}"
LINK = f"https://api.example.test/x{QUERY}"
OK = b"HTTP/1.1 200 OK\r\n"


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


def no_name(*_: object) -> list[str]:
    raise socket.gaierror(-3, "Temporary failure in name resolution")


class Broken(requests.adapters.BaseAdapter):
    """An adapter that raises what it is given."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def send(self, *_: Any, **__: Any) -> requests.Response:
        raise self.error

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def other() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


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
