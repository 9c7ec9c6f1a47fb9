"""The server: one loopback port, a thread per connection, faults between the answer and the
socket.
"""

from __future__ import annotations

import gzip
import json
import socket
import socketserver
import struct
import sys
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from upstream.faults import Active, Fault
from upstream.githttp import GitHttp
from upstream.github import GitHub
from upstream.gitstore import Repositories
from upstream.log import Record, RequestLog
from upstream.objects import HandleLike, Storage
from upstream.reply import Reply, Request, json_reply, text_reply

MAX_BODY = 256 << 20
SOCKET_TIMEOUT_S = 300
PIECE = 256 << 10
PACE_S = 0.02
TOKEN = "synthetic-github-token"


class FamilyLike(Protocol):
    """What of a family the server needs."""

    @property
    def handles(self) -> dict[str, Any]:
        """The handle table."""
        ...


class _CutError(Exception):
    """The answer ends here and the connection is closed."""


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A threading server that knows its connections, so that it can end them."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def __init__(self, address: tuple[str, int], upstream: Upstream) -> None:
        self.upstream = upstream
        self.open: set[socket.socket] = set()
        self.lock = threading.Lock()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Note the connection and hand it to a thread of its own."""
        with self.lock:
            self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection and close it."""
        with self.lock:
            self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet about connections that the client ended; keep anything else for the tests."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError, ValueError, OSError)):
            self.upstream.errors.append(repr(error))


class _Handler(BaseHTTPRequestHandler):
    """Reads requests off a connection and writes answers to it."""

    protocol_version = "HTTP/1.1"
    server_version = "SyntheticUpstream/1"
    sys_version = ""
    disable_nagle_algorithm = True
    timeout = SOCKET_TIMEOUT_S
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def _any(self) -> None:
        """Answer a request of any method."""
        upstream = self.server.upstream
        began = time.monotonic()
        parts = urlsplit(self.path)
        area = _area(parts.path)
        record = Record(began - upstream.began, self.command, parts.path, area)
        if area in ("api", "git"):
            record.query = parts.query
        headers = {key.lower(): value for key, value in self.headers.items()}
        _note(record, headers)
        upstream.log.add(record)
        try:
            body = self._body(headers, record)
            active = upstream.claim(f"{self.command} {parts.path}", parts.query, area)
            record.faults = active.kinds()
            request = Request(
                self.command, parts.path, parts.query, headers, body, upstream.url, active, record
            )
            self._answer(request)
        except _CutError:
            self.close_connection = True
        finally:
            record.seconds = time.monotonic() - began

    do_GET = do_HEAD = do_POST = _any  # noqa: N815
    do_DELETE = do_OPTIONS = do_PATCH = do_PUT = _any  # noqa: N815

    def _body(self, headers: dict[str, str], record: Record) -> bytes:
        """Read a request's body: of a given length or chunked, plain or gzip."""
        if "chunked" in headers.get("transfer-encoding", "").lower():
            data = b"".join(self._chunks())
        else:
            size = int(headers.get("content-length", "0") or 0)
            if size > MAX_BODY:
                raise _CutError
            data = self.rfile.read(size) if size else b""
        record.bytes_in = len(data)
        if headers.get("content-encoding", "") in ("gzip", "x-gzip"):
            data = gzip.decompress(data)
        return data

    def _chunks(self) -> Iterator[bytes]:
        """Yield the chunks of a chunked body."""
        while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass

    def _answer(self, request: Request) -> None:
        """Let faults before the answer act, make the answer, let the others act, send it."""
        upstream, active = self.server.upstream, request.active
        wait = upstream.latency_s if request.record.area != "control" else 0.0
        if (fault := active.get("latency")) is not None:
            wait += float(fault.get("seconds", 0.05))
        upstream.wait(wait)
        if (fault := active.get("call")) is not None:
            fault.action(request)
        for kind in ("reset", "stall"):
            fault = active.get(kind)
            if fault is not None and fault.get("bytes", 0) < 0:
                self._end_early(fault, request.record)
        reply = _replaced(request)
        if reply is None:
            try:
                reply = upstream.handle(request)
            except (KeyError, ValueError, IndexError, OSError) as error:
                upstream.errors.append(f"{request.method} {request.path}: {error!r}")
                reply = text_reply("internal error of the synthetic upstream\n", 500)
        try:
            self._send(request, _altered(request, reply))
        finally:
            if reply.close is not None:
                reply.close()

    def _send(self, request: Request, reply: Reply) -> None:
        """Send an answer, in the way that faults ask for."""
        request.record.status = reply.status
        bodiless = request.method == "HEAD" or reply.status in (204, 304)
        endless = request.active.get("huge")
        if endless is not None:
            reply = Reply(200, reply.headers, stream=_zeros(int(endless.get("limit", 1 << 40))))
        length = reply.length if reply.streamed else len(reply.body)
        chunked = length is None and self.request_version != "HTTP/1.0"
        fields = dict(reply.headers)
        if length is not None and reply.status not in (204, 304):
            fields["Content-Length"] = str(length)
        elif chunked and not bodiless:
            fields["Transfer-Encoding"] = "chunked"
        elif length is None:
            self.close_connection = True
        if self.close_connection:
            fields["Connection"] = "close"
        head = self._head(reply.status, fields)
        if bodiless:
            self.wfile.write(head)
            return
        parts = reply.stream if reply.stream is not None else iter((reply.body,))
        limit = _limit(request.active)
        pacer = _Pacer(request.active)
        if limit is None and not pacer.slow and not reply.streamed and len(reply.body) <= PIECE:
            request.record.bytes_out += len(reply.body)
            self.wfile.write(head + reply.body)
            return
        self.wfile.write(head)
        for part in _cut(parts, limit):
            for piece, wait in pacer.pieces(part):
                request.record.bytes_out += len(piece)  # before the client can ask for the count
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                if self.server.upstream.wait(wait):
                    raise _CutError
        for kind in ("reset", "stall", "close_early"):
            fault = request.active.get(kind)
            if fault is not None:
                self._end_early(fault, request.record)
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _head(self, status: int, fields: dict[str, str]) -> bytes:
        """Return status line and headers."""
        phrase = self.responses[status][0] if status in self.responses else "Unknown"
        fixed = {"Date": self.date_time_string(), "Server": self.server_version}
        lines = [f"{self.protocol_version} {status} {phrase}"]
        lines += [f"{name}: {value}" for name, value in (fixed | fields).items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _end_early(self, fault: Fault, record: Record) -> None:
        """Reset, stall or close the connection; never returns."""
        if fault.kind == "stall":
            self.server.upstream.wait(fault.get("seconds", None))
        if fault.kind == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with self.server.lock:
                self.server.open.discard(self.connection)
            self.connection.close()
        raise _CutError


class _Pacer:
    """Cuts an answer's body into pieces and says how long to wait after each."""

    def __init__(self, active: Active) -> None:
        self._drip, self._pace = active.get("drip"), active.get("pace")
        self.slow = self._drip is not None or self._pace is not None
        self._began, self._sent = time.monotonic(), 0

    def pieces(self, part: bytes) -> Iterator[tuple[bytes, float]]:
        """Yield pieces with seconds. Drips always wait; a rate makes up for what was late."""
        size, rate = PIECE, 0.0
        if self._drip is not None:
            size = int(self._drip.get("chunk", 1))
        elif self._pace is not None:
            rate = float(self._pace.get("rate", 10_000_000))
            size = max(int(rate * PACE_S), 1)
        interval = float(self._drip.get("interval", 0.1)) if self._drip is not None else 0.0
        for offset in range(0, len(part), size):
            piece = part[offset : offset + size]
            self._sent += len(piece)
            due = self._began + self._sent / rate - time.monotonic() if rate else interval
            yield piece, due


def _area(path: str) -> str:
    """Return the area of a path."""
    head = path.split("/", 2)[1] if path.startswith("/") else ""
    known = {"git": "git", "api": "api", "raw": "raw", "sign": "sign", "storage": "storage"}
    return "control" if head == "_control" else known.get(head, "other")


def _note(record: Record, headers: dict[str, str]) -> None:
    """Keep what the log keeps of the headers."""
    record.authorization = "authorization" in headers
    record.cookie, record.api_key = "cookie" in headers, "x-api-key" in headers
    record.range, record.if_match = headers.get("range"), headers.get("if-match")
    record.if_range, record.user_agent = headers.get("if-range"), headers.get("user-agent")
    record.accept_encoding = headers.get("accept-encoding")
    record.git_protocol = headers.get("git-protocol")


def _replaced(request: Request) -> Reply | None:
    """Return the answer of faults that don't ask what the right one would be."""
    active = request.active
    if (fault := active.get("status")) is not None:
        body = fault.get("body", "")
        data = body if isinstance(body, bytes) else str(body).encode()
        return Reply(int(fault.get("status", 503)), dict(fault.get("headers", {})), data)
    if (fault := active.get("redirect")) is not None:
        target = str(fault.params["location"])
        target = request.base + target if target.startswith("/") else target
        return Reply(int(fault.get("status", 302)), {"Location": target})
    if (fault := active.get("garbage")) is not None:
        text = str(fault.get("body", "<html><body>Please sign in to this network</body></html>"))
        return text_reply(text, media="text/html; charset=utf-8")
    return None


def _altered(request: Request, reply: Reply) -> Reply:
    """Return an answer as faults change its content."""
    fault = request.active.get("wrong_bytes")
    if fault is not None and reply.status in (200, 206):
        if "body" in fault.params:
            given = fault.params["body"]
            reply = Reply(
                reply.status, reply.headers, given if isinstance(given, bytes) else given.encode()
            )
        else:
            body = bytearray(_whole(reply))
            place = fault.get("at", None)
            if body:
                place = len(body) // 2 if place is None else min(int(place), len(body) - 1)
                body[place] ^= int(fault.get("xor", 1))
            reply = Reply(reply.status, reply.headers, bytes(body))
    if (fault := request.active.get("edit")) is not None:
        reply = Reply(reply.status, reply.headers, fault.action(_whole(reply)))
    if (fault := request.active.get("headers")) is not None:
        reply.headers |= fault.get("headers", {})
    if "no_length" in request.active and not reply.streamed:
        reply = Reply(reply.status, reply.headers, stream=iter((reply.body,)))
    elif "no_length" in request.active:
        reply.length = None
    fault = request.active.get("gzip")
    offered = "gzip" in request.headers.get("accept-encoding", "")
    if fault is not None and (offered or not fault.get("only_if_offered", False)):
        squeezer = zlib.compressobj(wbits=31)
        body_out = squeezer.compress(_whole(reply)) + squeezer.flush()
        return Reply(reply.status, reply.headers | {"Content-Encoding": "gzip"}, body_out)
    return reply


def _whole(reply: Reply) -> bytes:
    """Return a whole body, also of a stream."""
    return b"".join(reply.stream) if reply.stream is not None else reply.body


def _limit(active: Active) -> int | None:
    """Return after how many bytes of the body faults end the answer, None for never."""
    kinds = ("reset", "stall", "close_early")
    limits = [fault.limit() for kind in kinds if (fault := active.get(kind)) is not None]
    return min(limits) if limits else None


def _cut(parts: Iterator[bytes], limit: int | None) -> Iterator[bytes]:
    """Yield parts up to a number of bytes."""
    left = limit
    for part in parts:
        if left is None:
            yield part
            continue
        if left <= 0:
            return
        yield part[:left]
        left -= len(part)


def _zeros(limit: int) -> Iterator[bytes]:
    """Yield spaces, which JSON readers skip, for a very long time."""
    block = b" " * 65_536
    for _ in range(limit // len(block) + 1):
        yield block


class Upstream:
    """GitHub (git, REST, raw), signer and storage on one loopback port, as a context manager.

    `root` holds bare repositories as root/<owner>/<name>.git; `family` brings the handle table.
    `tokens` are the GitHub tokens that are known. `faults` may be changed while the server runs.
    """

    def __init__(
        self,
        root: Path,
        family: FamilyLike | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        latency_s: float = 0.0,
        tokens: Collection[str] = (TOKEN,),
        anonymous_limit: int = 100_000,
        token_limit: int = 100_000,
        control: bool = False,
    ) -> None:
        self.root, self.latency_s, self.control = root, latency_s, control
        self.faults: list[Fault] = []
        self.errors: list[str] = []
        self.log = RequestLog()
        self.began = time.monotonic()
        self.repos = Repositories(root)
        self.git = GitHttp(self.repos, tokens)
        self.github = GitHub(self.repos, tokens, self.git.aliases)
        self.github.allowance.anonymous = anonymous_limit
        self.github.allowance.token = token_limit
        handles: dict[str, HandleLike] | None = None if family is None else family.handles
        self.storage = Storage(handles)
        self._stop = threading.Event()
        self._fault_lock = threading.Lock()
        self._server = _Server((host, port), self)
        self.host, self.port = host, int(self._server.server_address[1])
        self.url = f"http://{host}:{self.port}"
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> Self:
        """Serve in a thread of its own."""
        target = self._server.serve_forever
        self._thread = threading.Thread(target=target, args=(0.05,), name="upstream", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """End every connection and close the port; may be called twice."""
        self._stop.set()
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()
        with self._server.lock:
            waiting = list(self._server.open)
        for connection in waiting:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self.repos.close()

    def wait(self, seconds: float | None) -> bool:
        """Wait, for ever when None; True when the server was stopped meanwhile."""
        return self._stop.wait(seconds) if seconds is None or seconds > 0 else False

    def endpoints(self) -> dict[str, Any]:
        """Return the `endpoints` of an audit's configuration."""
        return {
            "git": f"{self.url}/git",
            "github_api": f"{self.url}/api",
            "github_raw": f"{self.url}/raw",
            "signer": f"{self.url}/sign",
            "storage": [self.url],
        }

    def add(self, kind: str, match: str = "", **params: Any) -> Fault:
        """Switch a fault on and return it; see `Fault` for the parameters."""
        fault = Fault(kind, match, **params)
        self.faults.append(fault)
        if kind == "rename":
            self._alias(fault)
        return fault

    def rename(self, old: str, new: str, times: int | None = None) -> Fault:
        """Let a repository have a new name; the old one is answered 301."""
        self.git.aliases[new] = old
        pattern = rf"/{old.replace('.', '[.]')}(\.git)?(/|$)"
        return self.add("rename", pattern, times=times, to=new)

    def _alias(self, fault: Fault) -> None:
        """Let the new name of a `rename` fault that says which repository it was be served at
        once.
        """
        if "old" in fault.params:
            self.git.aliases[fault.params["to"]] = fault.params["old"]

    def requests(self, area: str | None = None, method: str | None = None) -> list[Record]:
        """Return the request log, of one area or method if given."""
        return self.log.requests(area, method)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return requests and bytes per area."""
        return self.log.counts()

    def reset(self) -> None:
        """Forget the request log and what was used of rate limits, and switch all faults off."""
        self.faults.clear()
        self.log.reset()
        self.github.allowance.reset()

    def claim(self, line: str, query: str, area: str) -> Active:
        """Return the faults that act on a request."""
        if area == "control":
            return Active([])
        return Active([fault for fault in list(self.faults) if fault.claim(line, query)])

    def handle(self, request: Request) -> Reply:
        """Answer a request by its area."""
        areas: dict[str, Callable[[Request], Reply]] = {
            "git": self.git.serve,
            "api": self.github.api,
            "raw": self.github.raw,
            "sign": self.storage.sign,
            "storage": self.storage.serve,
        }
        if request.record.area == "control" and self.control:
            return self._control(request)
        handler = areas.get(request.record.area)
        return handler(request) if handler else text_reply("nothing here\n", 404)

    def _control(self, request: Request) -> Reply:
        """Let another process read the log and switch faults:
        /_control/{counts,requests,faults}.
        """
        name = request.path.removeprefix("/_control/")
        if name == "counts":
            return json_reply(self.counts())
        if name == "requests":
            keys = Record.__slots__
            return json_reply([{k: getattr(r, k) for k in keys} for r in self.requests()])
        if name == "faults" and request.method == "POST":
            given = json.loads(request.body)
            self.add(given.pop("kind"), given.pop("match", ""), **given)
            return json_reply({"faults": len(self.faults)})
        if name == "faults" and request.method == "DELETE":
            self.reset()
            return json_reply({"faults": 0})
        return text_reply("nothing here\n", 404)
