"""How long a connection goes on without getting anywhere, and how it waits."""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchproof.errors import ObjectFailed, Unreachable
from benchproof.http import StreamFailed

#: Fewer bytes than this since the last failure are no progress: a server that breaks each answer
#: after a few would be asked for ever.
PROGRESS = 16 * 1024
#: A break is tried again soon; a refusal not more often than three times a second.
FIRST_WAIT_S, REFUSED_WAIT_S = 0.1, 0.34
BACKOFF_S, BACKOFF_MAX_S = 0.5, 30.0
#: A host that has never answered is worth fewer tries.
UNMET_TRIES = 2
_STALLED = {"stalled", "timeout"}


@dataclass(frozen=True, slots=True)
class Setback:
    """A request that failed, or an answer that was of no use; `cause` is a fixed code."""

    cause: str
    asked_s: float | None = None
    refused: bool = False
    final: bool = False
    unmet: bool = False

    @classmethod
    def of(cls, error: Unreachable) -> Setback:
        """Return the setback that a failed request or signing is."""
        refused = error.cause in ("throttled", "server_error")
        if isinstance(error, StreamFailed):
            return cls(error.cause, error.asked_s, refused, error.final, error.unmet)
        return cls(error.cause, None, refused, final=True)

    def failed(self, what: str) -> ObjectFailed:
        """Return what the setback makes of the object when it stays."""
        status = "stalled" if self.cause in _STALLED else "unknown"
        return ObjectFailed("throttled" if self.cause == "throttled" else status, self.cause, what)


class Patience:
    """The tries and waits of one connection; both begin anew with each progress."""

    def __init__(self, tries: int, max_wait_s: float, rng: random.Random) -> None:
        self._tries, self._max_wait_s, self._rng = tries, max_wait_s, rng
        self._fruitless, self._waited, self._gained = 0, 0.0, 0

    def gained(self, count: int) -> None:
        """Note bytes that came and are kept."""
        self._gained += count
        if self._gained >= PROGRESS:
            self._fruitless, self._waited, self._gained = 0, 0.0, 0

    def arrived(self) -> None:
        """Note a range that is complete, however short."""
        self.gained(PROGRESS)

    def wait_after(self, setback: Setback) -> float | None:
        """Return the seconds to wait before the next try; None when it is enough."""
        self._fruitless += 1
        tries = min(self._tries, UNMET_TRIES) if setback.unmet else self._tries
        wait = self._wait(setback)
        if setback.final or self._fruitless >= tries or self._waited + wait > self._max_wait_s:
            return None
        self._waited += wait
        return wait

    def _wait(self, setback: Setback) -> float:
        jitter = 0.5 + 0.5 * self._rng.random()
        step = self._fruitless - 2
        longest = min(BACKOFF_MAX_S, BACKOFF_S * 2 ** min(step, 16)) if step >= 0 else FIRST_WAIT_S
        wait = longest * jitter
        # Where a time is the least, jitter comes on top, so that connections part there too.
        if setback.refused:
            wait = max(wait, REFUSED_WAIT_S * (1 + jitter / 5))
        return max(wait, (setback.asked_s or 0.0) * (1 + 0.05 * jitter))
