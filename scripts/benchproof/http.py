"""HTTP for the REST source, the signer and the storage probes: bounded, counted and discreet.

This module alone reads GITHUB_TOKEN and the proxy settings. It sends through requests' adapter,
below its Session, so that netrc, cookies and automatic redirects are never in play. The rules:

- Only configured origins are contacted, after redirects too. A host that is allowed by a wildcard
  must resolve to public addresses; a host that is configured by name may be private.
- The token goes to the endpoints named in `authorized` when the caller asks for it, and is dropped
  at the first redirect that leaves them, or for good after a 401.
- A redirect keeps its method. A POST answered 301 or 302 is posted again on the same origin, or
  fails.
- Retried: no connection, reset, early close, timeout, stall, 429, 500, 502, 503, 504, and GitHub's
  limits. Retry-After (seconds or a date) and X-RateLimit-Reset are obeyed, judged by the server's
  clock. All waits of a request come out of one budget, `max_wait_s`; what exceeds it fails at
  once.
- A host that can't be connected to gets 2 tries instead of `tries`, and for 10 s further requests
  to it fail at once, until it has answered: without a network a run ends within seconds.
- Stall rule: silence of `timeout_s`, or less than 1,000 bytes a second over a span of `timeout_s`
  counted from the answer's first byte. A drip ends within twice `timeout_s`; a slow link finishes.
- No text of a library's exception reaches a message: those hold URLs with their signatures.
"""

from __future__ import annotations

import errno
import http.client
import io
import ipaddress
import json as jsonlib
import logging
import math
import os
import queue
import random
import re
import socket
import ssl
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, Literal, Self, TypeVar
from urllib.parse import urljoin, urlsplit

import requests
import requests.adapters
import requests.utils
import urllib3
import urllib3.connection
import urllib3.exceptions
from requests.structures import CaseInsensitiveDict

from benchproof import __version__
from benchproof.errors import Cause, ConfigError, Unreachable, safe_url

logger = logging.getLogger(__name__)

USER_AGENT = f"benchproof/{__version__}"
DEFAULT_MAX_BYTES = 64 * 1024 * 1024
MAX_REDIRECTS = 5
#: Connecting is quick or hopeless: this long per try while a host has never answered, then 10 s.
CONNECT_S, CONNECT_AGAIN_S, RESOLVE_S = 4.0, 10.0, 4.0
QUICK_TRIES = 2
#: How long a host that could not be connected to is left alone.
DOWN_S = 10.0
MIN_BYTES_PER_S = 1000
BACKOFF_S, BACKOFF_MAX_S = 0.5, 30.0
#: GitHub: "wait for at least one minute before retrying" when a secondary limit names no time.
SECONDARY_S = 60.0
_ERROR_BODY = 64 * 1024
_RETRIED = frozenset({500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Overflow = Literal["raise", "cut"]
Follow = Literal["allowed", "same_origin", "none"]
T = TypeVar("T")
R = TypeVar("R")


def _drop(_: logging.LogRecord) -> bool:
    return False


# urllib3 logs request lines (debug) and whole URLs (unreadable headers): both hold signatures.
for _name in ("connection", "connectionpool", "poolmanager", "response", "util.retry"):
    logging.getLogger(f"urllib3.{_name}").addFilter(_drop)


# --- what is allowed -----------------------------------------------------------------------------

_HOST = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z0-9_-]+\Z")
_UNSAFE = re.compile(r"[^\x21-\x7e]|\\")
_PORTS = {"http": 80, "https": 443}


class _UrlError(ValueError):
    """A URL that is refused; the text says why and repeats none of it."""


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a URL leads; parsing is strict, so that no other parser can read another host in it."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, url: str) -> _Target:
        """Raises _UrlError for anything but a plain absolute http(s) URL without userinfo."""
        if _UNSAFE.search(url):
            raise _UrlError("it holds a character that no URL may hold")
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
            if parts.netloc.startswith("["):
                host = ipaddress.IPv6Address(host).compressed
        except ValueError:
            # The library's text repeats what it could not parse; ours must not.
            raise _UrlError("it can't be parsed") from None
        if "@" in parts.netloc:
            raise _UrlError("it holds a user name or password")
        if parts.scheme not in _PORTS or not parts.netloc:
            raise _UrlError("it isn't an absolute http or https URL")
        if ":" not in host and not _HOST.match(host):
            raise _UrlError("its host name isn't plain ASCII")
        return cls(parts.scheme, host, port or _PORTS[parts.scheme], parts.path)

    @property
    def shown(self) -> str:
        """Host, and the port when it isn't the scheme's own: a row of the traffic table."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """A configured endpoint; `wildcard` ones allow each sub-domain of their host, at any depth."""

    target: _Target
    wildcard: bool

    @classmethod
    def of(cls, text: str) -> _Endpoint:
        scheme, mark, rest = text.partition("://*.")
        try:
            return cls(_Target.of(f"{scheme}://{rest}" if mark else text), bool(mark))
        except _UrlError as error:
            # The text itself may hold a password, so it isn't repeated.
            message = f"endpoints: a URL can't be used: {error}. Write https://host[:port][/path]."
        raise ConfigError(message)

    def admits(self, target: _Target) -> bool:
        """True when the endpoint allows contacting the target's origin."""
        if self.wildcard:
            same = target.host.endswith("." + self.target.host)
            return same and target.origin[::2] == self.target.origin[::2]
        return target.origin == self.target.origin

    def contains(self, target: _Target) -> bool:
        """True when the target lies under the endpoint's own URL, path included."""
        base = self.target.path.rstrip("/")
        return self.admits(target) and (target.path == base or target.path.startswith(base + "/"))


def is_public(address: str) -> bool:
    """True for an address that the whole internet can reach (not private, loopback, link-local)."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    return ip.is_global and not ip.is_multicast


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _getaddrinfo(host: str, port: int) -> list[str]:
    return [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def read_token(environ: Mapping[str, str]) -> str | None:
    """Return GITHUB_TOKEN, None when unset. Raises ConfigError for one that can't be sent."""
    token = environ.get("GITHUB_TOKEN", "")
    if re.search(r"[^\x21-\x7e]", token):
        raise ConfigError(
            "GITHUB_TOKEN holds a space, a line break or another character that no token has. "
            "Set it again without, or unset it."
        )
    return token or None


def _trust(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return one TLS context for all connections: loading certificates for each takes 50 ms."""
    names = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
    name = next((name for name in names if environ.get(name)), None)
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


# --- traffic -------------------------------------------------------------------------------------


@dataclass(slots=True)
class HostTraffic:
    """What was exchanged with one host; bytes are those of bodies as they crossed the wire."""

    requests: int = 0
    bytes_in: int = 0
    retries: int = 0
    throttled: int = 0
    waited_s: float = 0.0


class Traffic:
    """Counts per host, for the table of that name. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hosts: dict[str, HostTraffic] = {}

    def add(
        self,
        host: str,
        *,
        requests: int = 0,
        bytes_in: int = 0,
        retries: int = 0,
        throttled: int = 0,
        waited_s: float = 0.0,
    ) -> None:
        """Add to a host's counts."""
        with self._lock:
            row = self._hosts.setdefault(host, HostTraffic())
            row.requests += requests
            row.bytes_in += bytes_in
            row.retries += retries
            row.throttled += throttled
            row.waited_s += waited_s

    def hosts(self) -> dict[str, HostTraffic]:
        """Return a copy of the counts by host, sorted."""
        with self._lock:
            return {host: replace(row) for host, row in sorted(self._hosts.items())}

    def merge(self, other: Traffic) -> None:
        """Add everything that another count holds."""
        for host, row in other.hosts().items():
            self.add(
                host,
                requests=row.requests,
                bytes_in=row.bytes_in,
                retries=row.retries,
                throttled=row.throttled,
                waited_s=row.waited_s,
            )

    def rows(self, stage: str) -> list[dict[str, str | int | float]]:
        """Return rows of the traffic table, sorted by host."""
        return [
            {
                "stage": stage,
                "host": host,
                "requests": row.requests,
                "bytes_in": row.bytes_in,
                "retries": row.retries,
                "throttled": row.throttled,
                "waited_s": round(row.waited_s, 3),
            }
            for host, row in self.hosts().items()
        ]


# --- the stall rule, below http.client so that it holds for headers and chunk sizes too ----------


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


class _WatchedResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._watched = _WatchedReader(self.fp.detach(), sock.gettimeout() or math.inf)
        self.fp = io.BufferedReader(self._watched)

    def begin(self) -> None:
        """Read the headers; http.client takes a connection closed among them for their end."""
        super().begin()
        if self._watched.ended:
            raise http.client.IncompleteRead(b"")


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


# --- answers and failures ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of any status that isn't retried.

    `body` is complete and decoded, or with overflow="cut" its first bytes as sent (`complete`
    False). `url` is where it came from after `redirects` (their statuses). It may hold a
    signature, and so may headers: neither is shown by repr, and neither belongs in a message.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str = field(repr=False)
    complete: bool = True
    redirects: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a try failed. `detail` is our own text; `asked_s` a wait that the server asked for."""

    cause: Cause
    detail: str
    asked_s: float | None = None
    final: bool = False
    connecting: bool = False
    state: _HostState | None = None


@dataclass(frozen=True, slots=True)
class _Call:
    """One request as the caller wants it."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)
    auth: bool
    max_bytes: int
    overflow: Overflow
    decode: bool
    follow: Follow


@dataclass(slots=True)
class _HostState:
    """What this process knows of a host."""

    answered: bool = False
    down_since: float | None = None
    down_cause: Cause = "no_network"
    addresses: tuple[float, list[str]] | None = None


_NO_ROUTE = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL}
_PROXY_ERRORS = (
    requests.exceptions.InvalidProxyURL,
    requests.exceptions.InvalidSchema,  # SOCKS, whose package isn't installed
    urllib3.exceptions.ProxySchemeUnknown,
)
_TRANSPORT_ERRORS = (
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    http.client.HTTPException,
    OSError,
    UnicodeError,
)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all that it wraps; urllib3 and requests nest them in four ways."""
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, BaseException) and id(item) not in seen:
            seen.add(id(item))
            yield item
            waiting += [*item.args, getattr(item, "reason", None), item.__cause__, item.__context__]


def _classify(error: BaseException, in_body: bool) -> _Failure:
    """Return the cause of a transport exception; the most specific of its chain decides."""
    chain = list(_chain(error))

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(item, kinds) for item in chain)

    if has(socket.gaierror, UnicodeError):
        return _Failure("dns", "the host's name does not resolve", connecting=True)
    if has(ConnectionRefusedError):
        return _Failure("refused", "the connection was refused", connecting=True)
    if any(isinstance(item, OSError) and item.errno in _NO_ROUTE for item in chain):
        return _Failure("no_network", "there is no route to the host", connecting=True)
    if has(ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError, http.client.IncompleteRead):
        return _Failure("reset", "the connection was closed early")
    if has(ssl.SSLCertVerificationError):
        return _Failure("tls", "the certificate is not trusted", final=True, connecting=True)
    if has(ssl.SSLError, urllib3.exceptions.SSLError):
        return _Failure("tls", "no secure connection could be made", connecting=True)
    if has(urllib3.exceptions.NewConnectionError) and not has(TimeoutError):
        return _Failure("no_network", "no connection could be opened", connecting=True)
    if has(requests.ConnectTimeout, urllib3.exceptions.ConnectTimeoutError):
        return _Failure("timeout", "no connection in time", connecting=True)
    if has(TimeoutError, urllib3.exceptions.TimeoutError, requests.Timeout):
        if in_body:
            return _Failure("stalled", "the answer stalled")
        return _Failure("timeout", "no answer in time")
    if has(urllib3.exceptions.ProxyError):
        return _Failure("refused", "the proxy does not let it through", connecting=True)
    if has(http.client.HTTPException, requests.exceptions.InvalidHeader, ValueError):
        return _Failure("malformed", "the answer is no valid HTTP")
    return _Failure("reset", "the connection broke")


class _TooLargeError(Exception):
    """More bytes came than the caller takes."""


class _DecodeError(Exception):
    """The body is not what its Content-Encoding says."""


def decode_body(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Undo a Content-Encoding of gzip or deflate, bounded by `max_bytes` whatever it claims."""
    if encoding in ("", "identity") or not body:
        return body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise _DecodeError
    try:
        return _inflate(body, zlib.MAX_WBITS | 32, max_bytes)
    except zlib.error:
        pass
    try:
        return _inflate(body, -zlib.MAX_WBITS, max_bytes)  # deflate without its zlib frame
    except zlib.error:
        raise _DecodeError from None


def _inflate(body: bytes, window: int, max_bytes: int) -> bytes:
    out = bytearray()
    while body:  # gzip may come in several members
        member = zlib.decompressobj(window)
        out += member.decompress(body, max_bytes + 1 - len(out))
        if len(out) > max_bytes:
            raise _TooLargeError
        if not member.eof:
            raise _DecodeError
        body = member.unused_data
    return bytes(out)


# --- waits ---------------------------------------------------------------------------------------


def server_time(headers: Mapping[str, str], now: datetime) -> datetime:
    """Return the server's clock by its Date header, else `now`: ours may be off by hours."""
    return _http_date(headers.get("Date", "")) or now


def _http_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that Retry-After asks for; None when it is absent, past or invalid."""
    text = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]+", text):
        seconds = min(float(text), 1e9)
    else:
        until = _http_date(text)
        seconds = (until - server_time(headers, now)).total_seconds() if until else 0.0
    return seconds if seconds > 0 else None


def limit_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds until GitHub's allowance resets; None when the headers don't say."""
    text = headers.get("X-RateLimit-Reset", "").strip()
    if not re.fullmatch(r"[0-9]{1,12}", text):
        return None
    # One second more: the reset is given in whole seconds.
    return max(0.0, int(text) - server_time(headers, now).timestamp()) + 1


def _verdict(response: Response, now: datetime) -> _Failure | None:
    """Return why an answer is to be retried, or None for one that is the caller's."""
    status, headers = response.status, response.headers
    detail = f"HTTP {status}"
    asked = retry_after(headers, now)
    if status in (403, 429) and headers.get("X-RateLimit-Remaining", "").strip() == "0":
        return _Failure("throttled", detail, asked or limit_reset(headers, now))
    if status in (403, 429) and _is_secondary(response.body):
        return _Failure("throttled", detail, asked or SECONDARY_S)
    if status == 429 or (status == 403 and "Retry-After" in headers):
        return _Failure("throttled", detail, asked)
    if status in _RETRIED and ("Retry-After" in headers or b"SlowDown" in response.body):
        return _Failure("throttled", detail, asked)
    return _Failure("server_error", detail) if status in _RETRIED else None


def _is_secondary(body: bytes) -> bool:
    """True for GitHub's documented message; the older wording is still in use on raw."""
    text = body.lower()
    return b"secondary rate limit" in text or b"abuse detection" in text


# --- the client ----------------------------------------------------------------------------------


class Http:
    """A client for the configured endpoints. One instance serves all threads of a job."""

    def __init__(
        self,
        allowed: Iterable[str],
        *,
        authorized: Iterable[str] = (),
        timeout_s: float = 60,
        tries: int = 6,
        max_wait_s: float = 300,
        connections: int = 16,
        environ: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        rng: random.Random | None = None,
        resolve: Callable[[str, int], list[str]] = _getaddrinfo,
        adapter: requests.adapters.BaseAdapter | None = None,
    ) -> None:
        """Prepare a client; nothing is sent.

        `allowed` are endpoint URLs, "https://*.host" for sub-domains; `authorized` those that the
        token is for, allowed as well. Raises ConfigError for a URL, token or certificate file that
        is no good.
        """
        environ = os.environ if environ is None else environ
        self._authorized = [_Endpoint.of(url) for url in authorized]
        self._allowed = [_Endpoint.of(url) for url in allowed] + self._authorized
        self._token = read_token(environ)
        if adapter is None:
            secure = any(endpoint.target.scheme == "https" for endpoint in self._allowed)
            adapter = Adapter(_trust(environ) if secure else None, connections)
        self._adapter = adapter
        self.timeout_s, self.tries, self.max_wait_s = timeout_s, tries, max_wait_s
        self.connections = connections
        self.traffic = Traffic()
        self._sleep, self._clock, self.now, self._resolve = sleep, clock, now, resolve
        self._rng = rng or random.Random()
        self._lock = threading.Lock()
        self._hosts: dict[tuple[str, str, int], _HostState] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close pooled connections."""
        self._adapter.close()

    @property
    def has_token(self) -> bool:
        """True while a token is set and GitHub hasn't refused it."""
        return self._token is not None

    def get(self, url: str, **options: Any) -> Response:
        """GET a URL; the options are those of `request`."""
        return self.request("GET", url, **options)

    def request(
        self,
        method: str,
        url: str,
        *,
        what: str = "",
        headers: Mapping[str, str] | None = None,
        json: object = None,
        idempotent: bool | None = None,
        auth: bool = False,
        max_bytes: int = DEFAULT_MAX_BYTES,
        overflow: Overflow = "raise",
        decode: bool = True,
        follow: Follow = "allowed",
    ) -> Response:
        """Send a request, with retries, and return the answer, whatever its status.

        `what` names the item in messages (default: host and path). A POST is retried only when
        `idempotent`. `auth` sends the token where it belongs. More than `max_bytes` is an error,
        or is cut off and the connection closed with overflow="cut". `decode=False` keeps a
        compressed body as stored. `follow` bounds redirects to allowed hosts, to the URL's own
        origin, or to none.

        Raises Unreachable with a cause when there is no answer within tries and budget.
        """
        sent, body = _content(headers, json)
        call = _Call(method, url, sent, body, auth, max_bytes, overflow, decode, follow)
        label = what or f"{method} {_shown(url)}"
        state, host = self._state_of(url, label)
        self._refuse_if_down(state, label)
        tries = self.tries if (idempotent or (idempotent is None and method != "POST")) else 1
        waited = 0.0
        attempt = 1
        while isinstance(outcome := self._try(call), _Failure):
            wait = max(outcome.asked_s or 0.0, self._backoff(attempt))
            over_budget = waited + wait > self.max_wait_s
            if outcome.cause == "throttled":
                self.traffic.add(host, throttled=1)
            if outcome.final or over_budget or attempt >= self._tries_for(outcome, tries):
                self._note_down(outcome)
                raise self._given_up(outcome, label, attempt, over_budget)
            if outcome.cause == "throttled" and wait >= 5:
                logger.warning("%s: asked to slow down, waiting %.0f s.", label, wait)
            else:
                logger.info("%s: %s, trying again in %.1f s.", label, outcome.detail, wait)
            self._sleep(wait)
            waited += wait
            attempt += 1
            self.traffic.add(host, retries=1, waited_s=wait)
        return outcome

    # Hosts

    def _state_of(self, url: str, label: str) -> tuple[_HostState, str]:
        try:
            target = _Target.of(url)
        except _UrlError as error:
            advice = f"The URL is refused: {error}."
        else:
            return self._state(target), target.shown
        raise Unreachable("host_not_allowed", label, advice)

    def _state(self, target: _Target) -> _HostState:
        with self._lock:
            return self._hosts.setdefault(target.origin, _HostState())

    def _refuse_if_down(self, state: _HostState, label: str) -> None:
        since = state.down_since
        if since is not None and self._clock() - since < DOWN_S:
            raise Unreachable(state.down_cause, label, "Its host could not be connected to.")

    def _note_down(self, failure: _Failure) -> None:
        if failure.connecting and failure.state is not None:
            failure.state.answered, failure.state.down_cause = False, failure.cause
            failure.state.down_since = self._clock()

    def _tries_for(self, failure: _Failure, tries: int) -> int:
        """A host that has answered before is worth all tries, another one two."""
        answered = failure.state is not None and failure.state.answered
        return min(tries, QUICK_TRIES) if failure.connecting and not answered else tries

    def _backoff(self, attempt: int) -> float:
        """Return the wait after a failed try: doubling, and jittered so that threads part."""
        ceiling: float = min(BACKOFF_MAX_S, BACKOFF_S * 2 ** min(attempt - 1, 16))
        return ceiling * (0.5 + 0.5 * self._rng.random())

    def _given_up(
        self, failure: _Failure, label: str, attempts: int, over_budget: bool
    ) -> Unreachable:
        advice = f"{failure.detail}, tried {attempts} time{'s' if attempts > 1 else ''}."
        if over_budget and failure.asked_s:
            advice += (
                f" The server asked to wait {failure.asked_s:.0f} s; http.max_wait_s allows"
                f" {self.max_wait_s:.0f} s in all. Run again later."
            )
        return Unreachable(failure.cause, label, advice[0].upper() + advice[1:])

    # One try

    def _try(self, call: _Call) -> Response | _Failure:
        """Send once and follow redirects; a retry begins again at the first URL."""
        redirects: tuple[int, ...] = ()
        while True:
            outcome = self._exchange(call)
            if isinstance(outcome, _Failure):
                return outcome
            location = outcome.headers.get("Location")
            if outcome.status not in _REDIRECTS or not location or call.follow == "none":
                return replace(outcome, redirects=redirects)
            redirects = (*redirects, outcome.status)
            if len(redirects) > MAX_REDIRECTS:
                return _Failure("malformed", f"more than {MAX_REDIRECTS} redirects", final=True)
            following = _redirected(call, outcome.status, location)
            if isinstance(following, _Failure):
                return following
            call = following

    def _exchange(self, call: _Call) -> Response | _Failure:
        """Send one request to one URL and read the answer."""
        try:
            target = _Target.of(call.url)
        except ValueError:
            return _Failure("host_not_allowed", "a URL that is refused", final=True)
        state = self._state(target)
        refusal = self._admit(target, state, call.url)
        if refusal is not None:
            return replace(refusal, state=state)
        token = self._token if call.auth and self._may_have_token(target) else None
        answer = self._send(call, target, state, token)
        if isinstance(answer, Response) and answer.status == 401 and token is not None:
            self._drop_token(token)
            answer = self._send(call, target, state, None)
        if isinstance(answer, Response):
            return _verdict(answer, self.now()) or answer
        return replace(answer, state=state)

    def _may_have_token(self, target: _Target) -> bool:
        return any(endpoint.contains(target) for endpoint in self._authorized)

    def _drop_token(self, token: str) -> None:
        with self._lock:
            if self._token != token:
                return
            self._token = None
        logger.warning(
            "GITHUB_TOKEN is refused by GitHub (401): going on without it. Renew or unset it."
        )

    def _admit(self, target: _Target, state: _HostState, url: str) -> _Failure | None:
        """Return why a target may not, or can't, be contacted."""
        admitting = [endpoint for endpoint in self._allowed if endpoint.admits(target)]
        if not admitting:
            return _Failure("host_not_allowed", f"{target.host} is not an endpoint", final=True)
        by_wildcard = all(endpoint.wildcard for endpoint in admitting)
        if _is_address(target.host):
            addresses: list[str] | None = [target.host]
        elif _proxies(url) or (state.answered and not by_wildcard):
            return None  # the proxy resolves; a known host needs no second look
        else:
            addresses = self._addresses(target, state)
        if addresses is None:
            return _Failure("dns", "the host's name does not resolve", connecting=True)
        if by_wildcard and not all(map(is_public, addresses)):
            detail = f"{target.host} has a private address"
            return _Failure("host_not_allowed", detail, final=True)
        return None

    def _addresses(self, target: _Target, state: _HostState) -> list[str] | None:
        """Resolve a host, remembering it for a minute; None when that fails or takes too long."""
        known = state.addresses
        if known is not None and self._clock() - known[0] < 60:
            return known[1]
        found = _within(RESOLVE_S, lambda: self._resolve(target.host, target.port))
        if found:
            state.addresses = self._clock(), found
        return found or None

    def _send(
        self, call: _Call, target: _Target, state: _HostState, token: str | None
    ) -> Response | _Failure:
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity", **call.headers}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        connect_s = min(self.timeout_s, CONNECT_AGAIN_S if state.answered else CONNECT_S)
        self.traffic.add(target.shown, requests=1)
        in_body = False
        raw: requests.Response | None = None
        try:
            prepared = requests.Request(call.method, call.url, headers, data=call.body).prepare()
            raw = self._adapter.send(
                prepared,
                stream=True,
                timeout=(connect_s, self.timeout_s),
                proxies=_proxies(call.url),
            )
            in_body = True
            state.answered, state.down_since = True, None
            return self._read(call, target, raw)
        except _TooLargeError:
            return _Failure("too_large", f"more than {call.max_bytes} bytes", final=True)
        except _DecodeError:
            return _Failure("malformed", "the answer's compression is unreadable")
        except _TRANSPORT_ERRORS as error:
            if not any(isinstance(item, _PROXY_ERRORS) for item in _chain(error)):
                return _classify(error, in_body)
        finally:
            if raw is not None:
                raw.close()
        raise ConfigError("The proxy settings name a proxy of a kind other than http and https.")

    def _read(self, call: _Call, target: _Target, raw: requests.Response) -> Response:
        """Read a body up to its cap. Nobody needs more of an error or a redirect than its start."""
        ordinary = raw.status_code < 300
        cap = call.max_bytes if ordinary else _ERROR_BODY
        cut = call.overflow == "cut" or not ordinary
        body = bytearray()
        for piece in _pieces(raw, cap + 1):
            self.traffic.add(target.shown, bytes_in=len(piece))
            body += piece
            if len(body) > cap:
                break
        complete = len(body) <= cap
        if not complete and not cut:
            raise _TooLargeError
        headers: CaseInsensitiveDict[str] = raw.headers
        content = bytes(body[:cap])
        if complete and call.decode:
            encoding = headers.get("Content-Encoding", "").strip().lower()
            content = decode_body(content, encoding, cap)
        return Response(raw.status_code, headers, content, call.url, complete)


def _content(
    headers: Mapping[str, str] | None, json: object
) -> tuple[dict[str, str], bytes | None]:
    """Return headers and body to send. Raises ValueError for headers that only Http may set."""
    sent = dict(headers or {})
    if {"authorization", "cookie"} & {name.lower() for name in sent}:
        raise ValueError("Authorization and Cookie are not the caller's to set")
    if json is None:
        return sent, None
    return {**sent, "Content-Type": "application/json"}, jsonlib.dumps(json).encode()


def _pieces(raw: requests.Response, most: int) -> Iterator[bytes]:
    """Yield the body as sent, undecoded. A piece is small enough that a cap is kept closely."""
    yield from raw.raw.stream(min(65536, most), decode_content=False)


def _proxies(url: str) -> dict[str, str]:
    """Return the proxies of the environment for a URL; NO_PROXY applied, none is an empty dict."""
    found = requests.utils.get_environ_proxies(url)
    return found if requests.utils.select_proxy(url, found) else {}


def _shown(url: str) -> str:
    try:
        return safe_url(url)
    except ValueError:
        return "a malformed URL"


def _redirected(call: _Call, status: int, location: str) -> _Call | _Failure:
    """Return the call that follows a redirect. It keeps its method: a POST is never made a GET."""
    try:
        # Header bytes come as Latin-1; servers mean UTF-8.
        location = location.encode("latin-1").decode("utf-8", "replace")
        url = requests.utils.requote_uri(urljoin(call.url, location)).partition("#")[0]
        here, there = _Target.of(call.url), _Target.of(url)
    except (ValueError, requests.RequestException):
        return _Failure("host_not_allowed", "a redirect to a URL that is refused", final=True)
    moved = here.origin != there.origin
    if call.follow == "same_origin" and moved:
        return _Failure("host_not_allowed", f"a redirect away, to {there.host}", final=True)
    if call.method == "POST" and (status == 303 or (moved and status in (301, 302))):
        return _Failure("malformed", f"HTTP {status} in answer to a POST", final=True)
    return replace(call, url=url, auth=call.auth and not moved)


def _within(limit_s: float, work: Callable[[], T]) -> T | None:
    """Return what `work` gives, or None if it raises OSError or takes too long (then abandoned)."""
    results: queue.SimpleQueue[T | None] = queue.SimpleQueue()

    def run() -> None:
        try:
            results.put(work())
        except (OSError, UnicodeError):
            results.put(None)

    threading.Thread(target=run, daemon=True).start()
    try:
        return results.get(timeout=limit_s)
    except queue.Empty:
        return None


# --- several at once -----------------------------------------------------------------------------


class _Slot(Generic[R]):
    """The place of one result."""

    __slots__ = ("done", "error", "result", "skipped")
    result: R

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: BaseException | None = None
        self.skipped = False

    def fill(self, function: Callable[[T], R], item: T, failed: threading.Event) -> None:
        try:
            self.result = function(item)
        except BaseException as error:  # handed to the consumer, who would wait for ever otherwise
            self.error = error
            failed.set()


def map_concurrently(
    function: Callable[[T], R], items: Iterable[T], connections: int
) -> Generator[R, None, None]:
    """Yield function(item) for each item, in the order of the items, `connections` at a time.

    After a first error no further item is begun; those under way are waited for, what succeeded is
    yielded, then the error is raised. Threads are daemons: an interrupted run doesn't wait for
    them.
    """
    todo: queue.SimpleQueue[tuple[T, _Slot[R]] | None] = queue.SimpleQueue()
    failed = threading.Event()

    def work() -> None:
        while (task := todo.get()) is not None:
            item, slot = task
            if failed.is_set():
                slot.skipped = True
            else:
                slot.fill(function, item, failed)
            slot.done.set()

    threads = 0
    pending: deque[_Slot[R]] = deque()
    error: BaseException | None = None
    source = iter(items)
    try:
        while True:
            # Twice as many as run: a slow first item doesn't leave the others idle.
            while len(pending) < 2 * connections and not failed.is_set():
                try:
                    item = next(source)
                except StopIteration:
                    break
                slot: _Slot[R] = _Slot()
                pending.append(slot)
                todo.put((item, slot))
                if threads < connections:
                    threads += 1
                    threading.Thread(target=work, daemon=True).start()
            if not pending:
                break
            slot = pending.popleft()
            slot.done.wait()
            if slot.error is not None:
                error = error or slot.error
            elif not slot.skipped:
                yield slot.result
    finally:
        failed.set()
        for _ in range(threads):
            todo.put(None)
    if error is not None:
        raise error
