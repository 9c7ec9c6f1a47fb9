"""Faults that can be switched on, and how each changes an answer."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# What each kind does, and its parameters with their defaults.
KINDS: dict[str, str] = {
    "latency": "wait first: seconds=0.05",
    "status": "answer instead: status=503, headers={}, body=''",
    "reset": "TCP reset: bytes=0 of the body first (-1: before any answer)",
    "close_early": "full Content-Length, then the end after bytes=0 of the body",
    "stall": "silence: bytes=0 of the body first (-1: before any answer), seconds=None (for ever)",
    "drip": "slow: chunk=1 bytes every interval=0.1 seconds",
    "pace": "no faster than rate=10_000_000 bytes a second, each answer for itself",
    "truncate_tree": "REST tree: keep=50 entries and truncated true; subtrees=False",
    "wrong_bytes": "altered content of the same length: at=None (middle), xor=1; or body=...",
    "redirect": "location=..., status=302",
    "edit": "action(body) returns the body to send instead",
    "headers": "further headers on the usual answer: headers={}",
    "no_length": "chunked instead of Content-Length",
    "gzip": "Content-Encoding: gzip, asked for or not: only_if_offered=False",
    "ignore_range": "200 and the whole body",
    "wrong_range": "206 with another range: shift=1",
    "wrong_total": "Content-Range with another total: delta=5",
    "rename": "301 and the new name: to=owner/name",
    "gone": "404 for a repository",
    "private": "401 for git, 404 for REST and raw",
    "rate_limit": "allowance=60 requests, then 403 (429 for raw): limit=60, reset_in_s=3600",
    "secondary_limit": "retry_after=1 (seconds, date text or None), status=403",
    "garbage": "200 and no JSON: body='<html>...'",
    "huge": "an endless body: limit=2**40 bytes",
    "stale_branch": "raw by branch: commit=... (the parent of the branch by default)",
    "expired": "storage: 403 as for an expired URL",
    "denied": "storage: 403 AccessDenied",
    "replaced": "storage: another object of the same size from now on: size=None",
    "missing": "storage: 404 NoSuchKey",
    "call": "run action(request), then answer as usual",
}


@dataclass(slots=True)
class Fault:
    """A fault for requests whose "METHOD path" (no query) contains the regular expression `match`.

    It leaves `after` matching requests alone, then acts on `times` of them (on all when None), and
    of those on a share of `chance`, drawn from `seed`. Further keywords are the kind's parameters,
    see KINDS; to `bytes` up to `spread` are added, drawn anew each time. `query` narrows by a
    regular expression on the query.
    """

    kind: str
    match: str
    times: int | None
    after: int
    query: str | None
    chance: float
    params: dict[str, Any]
    seen: int
    used: int
    _rng: random.Random = field(repr=False)
    _lock: threading.Lock = field(repr=False)

    def __init__(
        self,
        kind: str,
        match: str = "",
        times: int | None = None,
        after: int = 0,
        query: str | None = None,
        chance: float = 1.0,
        seed: int = 0,
        **params: Any,
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"no fault {kind!r}; known: {', '.join(KINDS)}")
        self.kind, self.match, self.times, self.after = kind, match, times, after
        self.query, self.chance, self.params = query, chance, params
        self.seen = self.used = 0
        self._rng = random.Random(seed)
        self._lock = threading.Lock()

    def matches(self, line: str, query: str = "") -> bool:
        """True when the fault speaks of this request, whether or not its turn has come."""
        if self.query is not None and not re.search(self.query, query):
            return False
        return re.search(self.match, line) is not None

    def claim(self, line: str, query: str = "") -> bool:
        """Count a matching request; True when the fault acts on it."""
        if not self.matches(line, query):
            return False
        with self._lock:
            self.seen += 1
            if self.seen <= self.after or (self.times is not None and self.used >= self.times):
                return False
            if self.chance < 1 and self._rng.random() >= self.chance:
                return False
            self.used += 1
            return True

    def get(self, name: str, default: Any) -> Any:
        """Return a parameter."""
        return self.params.get(name, default)

    def limit(self) -> int:
        """Return after how many bytes of the body the answer ends this time."""
        spread = int(self.get("spread", 0))
        with self._lock:
            return int(self.get("bytes", 0)) + (self._rng.randint(0, spread) if spread else 0)

    @property
    def action(self) -> Callable[[Any], Any]:
        """The action of a `call` or `edit` fault."""
        action: Callable[[Any], Any] = self.params["action"]
        return action


class Active:
    """The faults that act on one request."""

    def __init__(self, faults: list[Fault]) -> None:
        self._faults = {fault.kind: fault for fault in faults}

    def __contains__(self, kind: str) -> bool:
        return kind in self._faults

    def get(self, kind: str) -> Fault | None:
        """Return the acting fault of a kind, None when there is none."""
        return self._faults.get(kind)

    def kinds(self) -> list[str]:
        """Return the kinds that act."""
        return list(self._faults)
