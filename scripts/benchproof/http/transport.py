"""Below requests' Session: connections that don't wait for ever, failures by cause, streams, compression.

- Stall rule: silence of `timeout_s`, or less than 1,000 bytes a second over a span of `timeout_s`
  counted from the answer's first byte. A drip ends within twice `timeout_s`; a slow link finishes.
  It sits below http.client so that it holds for headers and chunk sizes too.
- No text of a library's exception reaches a message: those hold URLs with their signatures.
"""

from __future__ import annotations

import errno
import http.client
import io
import logging
import math
import os
import socket
import ssl
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import requests
import requests.adapters
import requests.utils
import urllib3
import urllib3.connection
import urllib3.exceptions

from benchproof.errors import Cause, ConfigError, Unreachable
from benchproof.http.hosts import HostState

MIN_BYTES_PER_S = 1000
#: Bytes of a line and lines on end, of heads, chunk sizes and trailers; http.client takes 100 headers.
MAX_LINE, MAX_LINES = 65537, 512
#: gzip may come in several members; each costs a copy of all that follows it.
MAX_MEMBERS = 64


def _drop(_: logging.LogRecord) -> bool:
    return False


# urllib3 logs request lines (debug) and whole URLs (unreadable headers): both hold signatures.
for _name in ("connection", "connectionpool", "poolmanager", "response", "util.retry"):
    logging.getLogger(f"urllib3.{_name}").addFilter(_drop)


# --- the stall rule ------------------------------------------------------------------------------


class _WatchedReader(io.RawIOBase):
    """A socket's reader that gives up on an answer that comes too slowly."""

    def __init__(self, raw: io.RawIOBase, span_s: float) -> None:
        self._raw, self._span_s = raw, span_s
        self._since: float | None = None
        self._received = 0
        self.ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        count = self._raw.readinto(buffer)
        now = time.monotonic()
        if self._since is None:
            self._since = now
        self._received += count or 0
        self.ended = count == 0
        elapsed = now - self._since
        if elapsed >= self._span_s:
            if self._received < MIN_BYTES_PER_S * elapsed:
                raise TimeoutError("the answer comes too slowly")
            self._since, self._received = now, 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Lines(io.BufferedReader):
    """What a body is read from; lines are bounded where http.client and urllib3 bound none.

    Endless are otherwise: a chunk's size, trailers, and answers 100 before the answer.
    """

    _run = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return a line. Raises HTTPException for a long one, and for many without a byte of body between."""
        self._run += 1
        line = super().readline(MAX_LINE if size is None or size < 0 else min(size, MAX_LINE))
        if self._run > MAX_LINES or (len(line) == MAX_LINE and not line.endswith(b"\n")):
            raise http.client.HTTPException("lines without end")
        return line

    def read(self, size: int | None = -1, /) -> bytes:
        """Return bytes of the body."""
        # A chunk's end, two bytes, is no body.
        self._run = self._run if size is not None and 0 <= size <= 2 else 0
        return super().read(size)


class _WatchedResponse(http.client.HTTPResponse):
    fp: Any
    #: Bytes of the body that came with the headers; None before anyone has looked.
    _ahead: int | None = None

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._watched = _WatchedReader(self.fp.detach(), sock.gettimeout() or math.inf)
        self.fp = _Lines(self._watched)

    def begin(self) -> None:
        """Read the headers; http.client takes a connection closed among them for their end."""
        super().begin()
        if self._watched.ended:
            raise http.client.IncompleteRead(b"")

    def receive(self, buffer: memoryview) -> int:
        """Read what has come, at least a byte, into `buffer`; 0 at the end of the body.

        Unlike readinto it doesn't wait for a full buffer, so that a break loses nothing.
        """
        if self.fp is None or self.chunked:
            return self.readinto(buffer)
        wanted = buffer if self.length is None else buffer[: self.length]
        if self._ahead is None:
            self._ahead = len(self.fp.peek())
        if self._ahead:  # alone: a break in a further read would take these bytes with it
            count: int = self.fp.readinto1(wanted[: self._ahead])
            self._ahead -= count
        else:
            count = self._watched.readinto(wanted) or 0
        if self.length is not None:
            if not count and self.length:
                raise http.client.IncompleteRead(b"")
            self.length -= count
        if not count or self.length == 0:
            self.fp.close()
            self.fp = None
        return count


# --- connections ---------------------------------------------------------------------------------


class _Connection(urllib3.connection.HTTPConnection):
    response_class = _WatchedResponse


class _SecureConnection(urllib3.connection.HTTPSConnection):
    response_class = _WatchedResponse


class _Pool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


_POOLS = {"http": _Pool, "https": _SecurePool}


class Adapter(requests.adapters.HTTPAdapter):
    """requests' transport with watched connections and one TLS context."""

    def __init__(self, context: ssl.SSLContext | None, connections: int) -> None:
        self._context = context
        super().__init__(pool_connections=32, pool_maxsize=connections)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        if not proxy.lower().startswith("socks"):
            kwargs["proxy_ssl_context"] = self._context
        manager = super().proxy_manager_for(proxy, **kwargs)
        if not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = _POOLS
        return manager

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, verify: Any, cert: Any = None
    ) -> tuple[Any, Any]:
        host, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        if host["scheme"] == "https":
            return host, {"ssl_context": self._context, "cert_reqs": "CERT_REQUIRED"}
        return host, {}

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Nothing is left to do: the pool verifies by its context."""


def certificates(environ: Mapping[str, str]) -> str | None:
    """Return the name of the variable that says whom to trust, the first that is set; git follows it too."""
    names = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
    return next((name for name in names if environ.get(name)), None)


def trust(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return one TLS context for all connections: loading certificates for each takes 50 ms."""
    name = certificates(environ)
    path = environ[name] if name else requests.utils.DEFAULT_CA_BUNDLE_PATH
    context = urllib3.util.create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED)
    try:
        if os.path.isdir(path):
            context.load_verify_locations(capath=path)
        else:
            context.load_verify_locations(cafile=path)
    except OSError:
        message = f"{name} names {path}, which holds no readable certificates. Correct or unset it."
    else:
        return context
    raise ConfigError(message)


# --- failures ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a try failed. `detail` is our own text; `asked_s` a wait that the server asked for."""

    cause: Cause
    detail: str
    asked_s: float | None = None
    final: bool = False
    connecting: bool = False
    state: HostState | None = None


_NO_ROUTE = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL}
PROXY_ERRORS = (
    requests.exceptions.InvalidProxyURL,
    requests.exceptions.InvalidSchema,  # SOCKS, whose package isn't installed
    urllib3.exceptions.ProxySchemeUnknown,
)
TRANSPORT_ERRORS = (
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    http.client.HTTPException,
    OSError,
    UnicodeError,
)


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all that it wraps; urllib3 and requests nest them in four ways."""
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, BaseException) and id(item) not in seen:
            seen.add(id(item))
            yield item
            waiting += [*item.args, getattr(item, "reason", None), item.__cause__, item.__context__]


def classify(error: BaseException, in_body: bool) -> Failure:
    """Return the cause of a transport exception; the most specific of its chain decides."""
    chain = list(chain_of(error))

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(item, kinds) for item in chain)

    if has(socket.gaierror, UnicodeError):
        return Failure("dns", "the host's name does not resolve", connecting=True)
    if has(ConnectionRefusedError):
        return Failure("refused", "the connection was refused", connecting=True)
    if any(isinstance(item, OSError) and item.errno in _NO_ROUTE for item in chain):
        return Failure("no_network", "there is no route to the host", connecting=True)
    if has(ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError, http.client.IncompleteRead):
        return Failure("reset", "the connection was closed early")
    if has(ssl.SSLCertVerificationError):
        return Failure("tls", "the certificate is not trusted", final=True, connecting=True)
    if has(ssl.SSLError, urllib3.exceptions.SSLError):
        return Failure("tls", "no secure connection could be made", connecting=True)
    if has(urllib3.exceptions.NewConnectionError) and not has(TimeoutError):
        return Failure("no_network", "no connection could be opened", connecting=True)
    if has(requests.ConnectTimeout, urllib3.exceptions.ConnectTimeoutError):
        return Failure("timeout", "no connection in time", connecting=True)
    if has(TimeoutError, urllib3.exceptions.TimeoutError, requests.Timeout):
        if in_body:
            return Failure("stalled", "the answer stalled")
        return Failure("timeout", "no answer in time")
    if has(urllib3.exceptions.ProxyError):
        return Failure("refused", "the proxy does not let it through", connecting=True)
    if has(http.client.HTTPException, requests.exceptions.InvalidHeader, ValueError):
        return Failure("malformed", "the answer is no valid HTTP")
    return Failure("reset", "the connection broke")


class StreamFailed(Unreachable):
    """One attempt to stream failed; what the server asked to wait stands in `asked_s`.

    `final` is True when another attempt can't help, `unmet` when the host has never answered.
    """

    def __init__(self, failure: Failure, what: str) -> None:
        super().__init__(failure.cause, what, f"{failure.detail[0].upper()}{failure.detail[1:]}.")
        self.asked_s, self.final = failure.asked_s, failure.final
        answered = failure.state is not None and failure.state.answered
        self.unmet = failure.connecting and not answered


class Stream:
    """A body that is read as it comes. An answer that isn't 2xx has its first 64 kB in `body`.

    `headers` may hold a signature; neither they nor a URL are shown by repr.
    """

    def __init__(self, answer: requests.Response, what: str, body: bytes = b"") -> None:
        self.status: int = answer.status_code
        self.headers: Mapping[str, str] = answer.headers
        self.body, self.received = body, 0
        self._answer, self._what = answer, what
        self._source: Any = answer.raw._fp  # http.client's own: urllib3's readinto copies once more

    def readinto(self, buffer: memoryview) -> int:
        """Read what has come into `buffer` and return how many bytes; 0 at the end of the body.

        Raises StreamFailed when the body stalls or breaks off.
        """
        try:
            count: int = self._source.receive(buffer)
        except TRANSPORT_ERRORS as error:
            failure = classify(error, in_body=True)
        else:
            self.received += count
            return count
        raise StreamFailed(failure, self._what)

    def abort(self) -> None:
        """Let a read that waits in another thread end now."""
        try:
            self._answer.raw.shutdown()
        except (OSError, ValueError, RuntimeError):
            return  # it has ended already

    def close(self) -> None:
        """Give the connection back, or close it when the body was not read to its end."""
        if self._source.isclosed():
            self._answer.raw.release_conn()
        else:
            self._answer.raw.close()


# --- compression ---------------------------------------------------------------------------------


class TooLargeError(Exception):
    """More bytes came than the caller takes."""


class DecodeError(Exception):
    """The body is not what its Content-Encoding says."""


def decode_body(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Undo a Content-Encoding of gzip or deflate, bounded by `max_bytes` whatever it claims."""
    if encoding in ("", "identity") or not body:
        return body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise DecodeError
    try:
        return _inflate(body, zlib.MAX_WBITS | 32, max_bytes)
    except zlib.error:
        pass
    try:
        return _inflate(body, -zlib.MAX_WBITS, max_bytes)  # deflate without its zlib frame
    except zlib.error:
        raise DecodeError from None


def _inflate(body: bytes, window: int, max_bytes: int) -> bytes:
    out = bytearray()
    for _ in range(MAX_MEMBERS):
        member = zlib.decompressobj(window)
        out += member.decompress(body, max_bytes + 1 - len(out))
        if len(out) > max_bytes:
            raise TooLargeError
        if not member.eof:
            raise DecodeError
        body = member.unused_data
        if not body:
            return bytes(out)
    raise DecodeError
