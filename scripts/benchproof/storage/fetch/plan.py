"""Which bytes are asked for next: shrinking ranges of whole blocks, each block once.

Guided self-scheduling: a range is a connection's share of what nobody has asked for yet, large at
first so that few requests are made (each costs a round trip), small in the end so that all finish
together and the digests, which need the bytes in order, keep up. A connection that finds nothing
left takes over half of the largest range under way.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

MIB = 1 << 20
#: A range is at least and at most this long.
LEAST, MOST = 2 * MIB, 64 * MIB
#: What is journalled at once. A break costs a connection less than this, and what is on the wire.
BLOCK = 512 * 1024
#: More than sockets hold of an answer that nobody reads any more. Who allows less to be lost gets
#: ranges that are no longer than that.
ON_THE_WIRE = 8 * MIB


def block_size(chunk_bytes: int) -> int:
    """Return the length of a block for the most that an interruption may cost a connection."""
    return min(chunk_bytes, BLOCK)


class Span:
    """A range that one connection brings: bytes from `at` up to `end`, which a thief may lower."""

    __slots__ = ("at", "end", "whole")

    def __init__(self, at: int, end: int, *, whole: bool = False) -> None:
        self.at, self.end, self.whole = at, end, whole


class Plan:
    """What of an object is still to be brought; safe to use from several threads.

    `done` are the blocks that are there already.
    """

    def __init__(
        self, size: int, block: int, connections: int, chunk_bytes: int, done: Iterable[int] = ()
    ) -> None:
        self.size, self.block = size, block
        self._connections = connections
        self._most = MOST if chunk_bytes >= ON_THE_WIRE else max(chunk_bytes, block)
        self._least = min(LEAST, self._most)
        self._lock = threading.Lock()
        self._done = bytearray(-(-size // block))
        self._active: set[Span] = set()
        self._mark = 0
        self.missing = size
        for number in done:
            self._finish(number)
        self._free = self._gaps()

    def take(self) -> Span | None:
        """Return the next range to ask for; None when there is nothing left to begin."""
        with self._lock:
            span = self._cut() if self._free else self._steal()
            if span is not None:
                self._active.add(span)
            return span

    def take_all(self) -> Span:
        """Return the whole object as one range: for a server that can't send a part of it."""
        with self._lock:
            self._free, span = [], Span(0, self.size, whole=True)
            self._active = {span}
            return span

    def finish(self, span: Span) -> int:
        """Count the block at `span.at` as there and return the start of the next one."""
        with self._lock:
            self._finish(span.at // self.block)
            span.at = min(span.at + self.block, self.size)
            return span.at

    def release(self, span: Span) -> None:
        """End a range; what it has not brought goes to the end of the queue."""
        with self._lock:
            if span not in self._active:
                return  # the plan was drawn up anew meanwhile
            self._active.remove(span)
            if span.whole:
                self._free = self._gaps()
            elif span.at < span.end:
                self._free.append((span.at, span.end))

    def forget(self) -> None:
        """Count nothing as there; only while one connection is left."""
        with self._lock:
            self._done = bytearray(len(self._done))
            self._mark, self.missing = 0, self.size

    def has(self, offset: int) -> bool:
        """True when the block at an offset is there."""
        return bool(self._done[offset // self.block])

    @property
    def mark(self) -> int:
        """All bytes before this offset are there."""
        return min(self._mark * self.block, self.size)

    def ranges_left(self) -> int:
        """Return how many connections have something to do now."""
        with self._lock:
            return sum(-(-(end - start) // self._least) for start, end in self._free)

    def _finish(self, number: int) -> None:
        if not self._done[number]:
            self._done[number] = 1
            self.missing -= min(self.block, self.size - number * self.block)
        while self._mark < len(self._done) and self._done[self._mark]:
            self._mark += 1

    def _gaps(self) -> list[tuple[int, int]]:
        """Return the runs of bytes that are not there, in order."""
        gaps, end = [], 0
        while (first := self._done.find(0, end)) >= 0:
            found = self._done.find(1, first)
            end = len(self._done) if found < 0 else found
            gaps.append((first * self.block, min(end * self.block, self.size)))
        return gaps

    def _cut(self) -> Span:
        unasked = sum(end - start for start, end in self._free)
        share = min(max(unasked // self._connections, self._least), self._most)
        length = max(share // self.block, 1) * self.block
        start, end = self._free.pop(0)
        span = Span(start, min(start + length, end))
        if span.end < end:
            self._free.insert(0, (span.end, end))
        return span

    def _steal(self) -> Span | None:
        """Halve the largest range under way, when half of it is worth a connection."""
        open_spans = [span for span in self._active if not span.whole]
        victim = max(open_spans, key=lambda span: span.end - span.at, default=None)
        if victim is None or victim.end - victim.at < 2 * max(self._least, self.block):
            return None
        blocks = -(-(victim.end - victim.at) // self.block)
        middle = victim.at + -(-blocks // 2) * self.block
        span = Span(middle, victim.end)
        victim.end = middle
        return span
