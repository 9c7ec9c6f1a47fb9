"""Progress of long work as plain lines: a count, a rate and the time that remains.

Lines rather than a redrawn bar: a job's words pass through Snakemake and into its log. A new line comes
after two seconds, then at most every ten, so that short work says nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

log = logging.getLogger("benchproof")

FIRST_S, EVERY_S = 2.0, 10.0


class Progress:
    """Counts what is done of a total, in items or bytes; safe for threads."""

    def __init__(
        self,
        what: str,
        total: int,
        *,
        show: Callable[[float], str] = "{:.0f}".format,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what, self._total, self._show, self._clock = what, total, show, clock
        self._began = clock()
        self._next = self._began + FIRST_S
        self._done = 0.0
        self._start: float | None = None
        self._lock = threading.Lock()

    def add(self, amount: float = 1) -> None:
        """Count something done; writes a line when one is due."""
        with self._lock:
            self._set(self._done + amount)

    def reach(self, done: float) -> None:
        """Say how much is done in all; what was there at the first word counts for no rate."""
        with self._lock:
            self._start = done if self._start is None else self._start
            self._set(max(done, self._done))

    def _set(self, done: float) -> None:
        self._done = done
        now = self._clock()
        if now < self._next or done >= self._total:
            return
        self._next = now + EVERY_S
        log.info("%s", self._line(now - self._began))

    def _line(self, elapsed: float) -> str:
        rate = (self._done - (self._start or 0)) / elapsed if elapsed > 0 else 0.0
        left = f", {duration((self._total - self._done) / rate)} left" if rate > 0 else ""
        done, total, speed = map(self._show, (self._done, self._total, rate))
        return f"{self._what}: {done} of {total}, {speed}/s{left}"


def duration(seconds: float) -> str:
    """Return a time for people: 40 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def megabytes(size: float) -> str:
    """Return bytes for people: 0.3 MB, 8.8 MB, 9.6 GB (powers of ten)."""
    return f"{size / 1e9:.1f} GB" if size >= 999.95e6 else f"{size / 1e6:.1f} MB"
