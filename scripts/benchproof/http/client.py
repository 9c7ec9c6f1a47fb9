"""The client: requests with their retries, redirects, token and proxies.

It sends through requests' adapter, below its Session, so that netrc, cookies and automatic
redirects are never in play. The rules:

- The token goes to the endpoints named in `authorized` when the caller asks for it, and is dropped
  at the first redirect that leaves them, or for good after a 401.
- A redirect keeps its method. A POST answered 301 or 302 is posted again on the same origin, or
  fails.
- Retried: no connection, reset, early close, timeout, stall, and the answers that waits.py names.
  All waits of a request come out of one budget, `max_wait_s`; what exceeds it fails at once.
- A host that can't be connected to gets 2 tries instead of `tries`, and for 10 s further requests
  to it fail at once, until it has answered: without a network a run ends within seconds.
"""

from __future__ import annotations

import json as jsonlib
import logging
import os
import queue
import random
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, Self, TypeVar
from urllib.parse import urljoin

import requests
import requests.adapters
import requests.utils
from requests.structures import CaseInsensitiveDict

from benchproof import __version__
from benchproof.errors import ConfigError, Unreachable, safe_url
from benchproof.http.hosts import (
    Endpoint,
    HostState,
    Target,
    UrlError,
    getaddrinfo,
    is_address,
    is_public,
)
from benchproof.http.traffic import Traffic
from benchproof.http.transport import (
    PROXY_ERRORS,
    TRANSPORT_ERRORS,
    Adapter,
    DecodeError,
    Failure,
    Stream,
    StreamFailed,
    TooLargeError,
    chain_of,
    classify,
    decode_body,
    trust,
)
from benchproof.http.waits import server_time, verdict

logger = logging.getLogger(__name__)

USER_AGENT = f"benchproof/{__version__}"
DEFAULT_MAX_BYTES = 64 * 1024 * 1024
MAX_REDIRECTS = 5
#: Connecting is quick or hopeless: this long per try while a host has never answered, then 10 s.
CONNECT_S, CONNECT_AGAIN_S, RESOLVE_S = 4.0, 10.0, 4.0
QUICK_TRIES = 2
#: How long a host that could not be connected to is left alone.
DOWN_S = 10.0
BACKOFF_S, BACKOFF_MAX_S = 0.5, 30.0
#: Longest silence of a body that is streamed: a stall there is noticed sooner than elsewhere.
STREAM_SILENCE_S = 15.0
#: AWS refuses requests that are signed more than 15 minutes from its own time.
SKEW_S = 900.0
_ERROR_BODY = 64 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Overflow = Literal["raise", "cut"]
Follow = Literal["allowed", "same_origin", "none"]
T = TypeVar("T")


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


def read_token(environ: Mapping[str, str]) -> str | None:
    """Return GITHUB_TOKEN, None when unset. Raises ConfigError for one that can't be sent."""
    token = environ.get("GITHUB_TOKEN", "").rstrip("\r\n")
    if re.search(r"[^\x21-\x7e]", token):
        raise ConfigError(
            "GITHUB_TOKEN holds a space, a line break or another character that no token has. "
            "Set it again without, or unset it."
        )
    return token or None


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
        resolve: Callable[[str, int], list[str]] = getaddrinfo,
        adapter: requests.adapters.BaseAdapter | None = None,
    ) -> None:
        """Prepare a client; nothing is sent.

        `allowed` are endpoint URLs, "https://*.host" for sub-domains; `authorized` those that the
        token is for, allowed as well. Raises ConfigError for a URL, token or certificate file that
        is no good.
        """
        environ = os.environ if environ is None else environ
        self._authorized = [Endpoint.of(url) for url in authorized]
        self._allowed = [Endpoint.of(url) for url in allowed] + self._authorized
        self._token = read_token(environ)
        if adapter is None:
            secure = any(endpoint.target.scheme == "https" for endpoint in self._allowed)
            adapter = Adapter(trust(environ) if secure else None, connections)
        self._adapter = adapter
        self.timeout_s, self.tries, self.max_wait_s = timeout_s, tries, max_wait_s
        self.connections = connections
        self.traffic = Traffic()
        self._sleep, self._clock, self.now, self._resolve = sleep, clock, now, resolve
        self._rng = rng or random.Random()
        self._clock_noted = False
        self._lock = threading.Lock()
        self._hosts: dict[tuple[str, str, int], HostState] = {}

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
        while isinstance(outcome := self._try(call), Failure):
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

    @contextmanager
    def stream(
        self,
        url: str,
        *,
        what: str = "",
        headers: Mapping[str, str] | None = None,
        silence_s: float = STREAM_SILENCE_S,
    ) -> Iterator[Stream]:
        """GET a URL once, following redirects, and hand its body out while it comes.

        There are no retries: who streams resumes by itself. The stall rule holds with the smaller
        of `silence_s` and `timeout_s`. Raises StreamFailed, which knows the cause and what the
        server asked to wait, for no connection, for a break and for the answers of waits.py.
        """
        sent, _ = _content(headers, None)
        call = _Call("GET", url, sent, None, False, _ERROR_BODY, "cut", False, "allowed")
        label = what or f"GET {_shown(url)}"
        opened = self._open(call, label, min(silence_s, self.timeout_s))
        if isinstance(opened, Failure):
            raise StreamFailed(opened, label)
        stream, host = opened
        try:
            yield stream
        finally:
            stream.close()
            self.traffic.add(host, bytes_in=stream.received)

    def count_retry(self, url: str, waited_s: float) -> None:
        """Count a further try that the reader of a stream makes, for the traffic table."""
        with suppress(ValueError):
            self.traffic.add(Target.of(url).shown, retries=1, waited_s=waited_s)

    def _open(self, call: _Call, label: str, silence_s: float) -> tuple[Stream, str] | Failure:
        """Send a GET and follow its redirects; return the answer to stream and its host."""
        for _ in range(MAX_REDIRECTS + 1):
            try:
                target = Target.of(call.url)
            except ValueError:
                return Failure("host_not_allowed", "a URL that is refused", final=True)
            state = self._state(target)
            failure = self._admit(target, state, call.url) or self._down(state)
            if failure is not None:
                return replace(failure, state=state)
            raw = self._begin(call, target, state, None, silence_s)
            if isinstance(raw, Failure):
                return replace(raw, state=state)
            if raw.status_code < 300:
                return Stream(raw, label), target.shown
            answer = self._finish(call, target, raw)
            if isinstance(answer, Failure):
                return answer
            failure = verdict(answer, self.now())
            if failure is not None:
                self.traffic.add(target.shown, throttled=int(failure.cause == "throttled"))
                return failure
            location = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not location:
                return Stream(raw, label, answer.body), target.shown
            following = _redirected(call, answer.status, location)
            if isinstance(following, Failure):
                return following
            call = following
        return Failure("malformed", f"more than {MAX_REDIRECTS} redirects", final=True)

    # Hosts

    def _state_of(self, url: str, label: str) -> tuple[HostState, str]:
        try:
            target = Target.of(url)
        except UrlError as error:
            advice = f"The URL is refused: {error}."
        else:
            return self._state(target), target.shown
        raise Unreachable("host_not_allowed", label, advice)

    def _state(self, target: Target) -> HostState:
        with self._lock:
            return self._hosts.setdefault(target.origin, HostState())

    def _refuse_if_down(self, state: HostState, label: str) -> None:
        failure = self._down(state)
        if failure is not None:
            raise Unreachable(failure.cause, label, "Its host could not be connected to.")

    def _down(self, state: HostState) -> Failure | None:
        since = state.down_since
        if since is None or self._clock() - since >= DOWN_S:
            return None
        return Failure(state.down_cause, "its host could not be connected to", connecting=True)

    def _note_down(self, failure: Failure) -> None:
        if failure.connecting and failure.state is not None:
            failure.state.answered, failure.state.down_cause = False, failure.cause
            failure.state.down_since = self._clock()

    def _tries_for(self, failure: Failure, tries: int) -> int:
        """A host that has answered before is worth all tries, another one two."""
        answered = failure.state is not None and failure.state.answered
        return min(tries, QUICK_TRIES) if failure.connecting and not answered else tries

    def _backoff(self, attempt: int) -> float:
        """Return the wait after a failed try: doubling, and jittered so that threads part."""
        ceiling: float = min(BACKOFF_MAX_S, BACKOFF_S * 2 ** min(attempt - 1, 16))
        return ceiling * (0.5 + 0.5 * self._rng.random())

    def _given_up(
        self, failure: Failure, label: str, attempts: int, over_budget: bool
    ) -> Unreachable:
        advice = f"{failure.detail}, tried {attempts} time{'s' if attempts > 1 else ''}."
        if over_budget and failure.asked_s:
            advice += (
                f" The server asked to wait {failure.asked_s:.0f} s; http.max_wait_s allows"
                f" {self.max_wait_s:.0f} s in all. Run again later."
            )
        return Unreachable(failure.cause, label, advice[0].upper() + advice[1:])

    # One try

    def _try(self, call: _Call) -> Response | Failure:
        """Send once and follow redirects; a retry begins again at the first URL."""
        redirects: tuple[int, ...] = ()
        while True:
            outcome = self._exchange(call)
            if isinstance(outcome, Failure):
                return outcome
            location = outcome.headers.get("Location")
            if outcome.status not in _REDIRECTS or not location or call.follow == "none":
                return replace(outcome, redirects=redirects)
            redirects = (*redirects, outcome.status)
            if len(redirects) > MAX_REDIRECTS:
                return Failure("malformed", f"more than {MAX_REDIRECTS} redirects", final=True)
            following = _redirected(call, outcome.status, location)
            if isinstance(following, Failure):
                return following
            call = following

    def _exchange(self, call: _Call) -> Response | Failure:
        """Send one request to one URL and read the answer."""
        try:
            target = Target.of(call.url)
        except ValueError:
            return Failure("host_not_allowed", "a URL that is refused", final=True)
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
            return verdict(answer, self.now()) or answer
        return replace(answer, state=state)

    def _may_have_token(self, target: Target) -> bool:
        return any(endpoint.contains(target) for endpoint in self._authorized)

    def _drop_token(self, token: str) -> None:
        with self._lock:
            if self._token != token:
                return
            self._token = None
        logger.warning(
            "GITHUB_TOKEN is refused by GitHub (401): going on without it. Renew or unset it."
        )

    def _admit(self, target: Target, state: HostState, url: str) -> Failure | None:
        """Return why a target may not, or can't, be contacted."""
        admitting = [endpoint for endpoint in self._allowed if endpoint.admits(target)]
        if not admitting:
            return Failure("host_not_allowed", f"{target.host} is not an endpoint", final=True)
        by_wildcard = all(endpoint.wildcard for endpoint in admitting)
        if is_address(target.host):
            addresses: list[str] | None = [target.host]
        elif _proxies(url, state) or (state.answered and not by_wildcard):
            return None  # the proxy resolves; a known host needs no second look
        else:
            addresses = self._addresses(target, state)
        if addresses is None:
            return Failure("dns", "the host's name does not resolve", connecting=True)
        if by_wildcard and not all(map(is_public, addresses)):
            detail = f"{target.host} has a private address"
            return Failure("host_not_allowed", detail, final=True)
        return None

    def _addresses(self, target: Target, state: HostState) -> list[str] | None:
        """Resolve a host, remembering it for a minute; None when that fails or takes too long."""
        known = state.addresses
        if known is not None and self._clock() - known[0] < 60:
            return known[1]
        found = _within(RESOLVE_S, lambda: self._resolve(target.host, target.port))
        if found:
            state.addresses = self._clock(), found
        return found or None

    def _send(
        self, call: _Call, target: Target, state: HostState, token: str | None
    ) -> Response | Failure:
        raw = self._begin(call, target, state, token, self.timeout_s)
        return raw if isinstance(raw, Failure) else self._finish(call, target, raw)

    def _begin(
        self, call: _Call, target: Target, state: HostState, token: str | None, silence_s: float
    ) -> requests.Response | Failure:
        """Send a request and return the answer with its body unread."""
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity", **call.headers}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        connect_s = min(self.timeout_s, CONNECT_AGAIN_S if state.answered else CONNECT_S)
        self.traffic.add(target.shown, requests=1)
        try:
            prepared = requests.Request(call.method, call.url, headers, data=call.body).prepare()
            raw = self._adapter.send(
                prepared,
                stream=True,
                timeout=(connect_s, silence_s),
                proxies=_proxies(call.url, state),
            )
        except TRANSPORT_ERRORS as error:
            if not any(isinstance(item, PROXY_ERRORS) for item in chain_of(error)):
                return classify(error, in_body=False)
        else:
            state.answered, state.down_since = True, None
            self._note_clock(raw.headers, target)
            return raw
        raise ConfigError("The proxy settings name a proxy of a kind other than http and https.")

    def _note_clock(self, headers: Mapping[str, str], target: Target) -> None:
        """Warn once when this machine's clock is far off: S3 refuses what was signed at another time."""
        if self._clock_noted or "Date" not in headers:
            return
        self._clock_noted = True
        now = self.now()
        skew = (now - server_time(headers, now)).total_seconds()
        if abs(skew) > SKEW_S:
            logger.warning(
                "This machine's clock is %.0f minutes %s that of %s; signed links may be refused. "
                "Set the clock.",
                abs(skew) / 60,
                "ahead of" if skew > 0 else "behind",
                target.shown,
            )

    def _finish(self, call: _Call, target: Target, raw: requests.Response) -> Response | Failure:
        """Read an answer's body and let go of its connection."""
        try:
            return self._read(call, target, raw)
        except TooLargeError:
            return Failure("too_large", f"more than {call.max_bytes} bytes", final=True)
        except DecodeError:
            return Failure("malformed", "the answer's compression is unreadable")
        except TRANSPORT_ERRORS as error:
            return classify(error, in_body=True)
        finally:
            raw.close()

    def _read(self, call: _Call, target: Target, raw: requests.Response) -> Response:
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
            raise TooLargeError
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


def _proxies(url: str, state: HostState) -> dict[str, str]:
    """Return the proxies of the environment for a URL; NO_PROXY applied, none is an empty dict.

    They are looked up once per origin: reading the environment is a third of a request's work.
    """
    if state.proxies is None:
        found = requests.utils.get_environ_proxies(url)
        state.proxies = found if requests.utils.select_proxy(url, found) else {}
    return state.proxies


def _shown(url: str) -> str:
    try:
        return safe_url(url)
    except ValueError:
        return "a malformed URL"


def _redirected(call: _Call, status: int, location: str) -> _Call | Failure:
    """Return the call that follows a redirect. It keeps its method: a POST is never made a GET."""
    try:
        # Header bytes come as Latin-1; servers mean UTF-8.
        location = location.encode("latin-1").decode("utf-8", "replace")
        url = requests.utils.requote_uri(urljoin(call.url, location)).partition("#")[0]
        here, there = Target.of(call.url), Target.of(url)
    except (ValueError, requests.RequestException):
        return Failure("host_not_allowed", "a redirect to a URL that is refused", final=True)
    moved = here.origin != there.origin
    if call.follow == "same_origin" and moved:
        return Failure("host_not_allowed", f"a redirect away, to {there.host}", final=True)
    if call.method == "POST" and (status == 303 or (moved and status in (301, 302))):
        return Failure("malformed", f"HTTP {status} in answer to a POST", final=True)
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
