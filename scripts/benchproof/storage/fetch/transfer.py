"""Connections that bring what is missing of one version, until all is there or one thing ends it.

One connection begins alone: what is wrong with the URL, the version or the server shows there, and
costs one request. The others join when its first answer is good. Each brings a range at a time and
goes on inside it after a break; one that gets nowhere hands its range back and leaves, and what the
last one meets ends the transfer. Whatever ends it, the unfinished file stays as it is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from benchproof.errors import ObjectFailed
from benchproof.http import Stream
from benchproof.storage.fetch.digests import Follower, is_opaque
from benchproof.storage.fetch.lane import Lane, Left
from benchproof.storage.fetch.means import Means
from benchproof.storage.fetch.part import Part
from benchproof.storage.fetch.plan import Plan, Span
from benchproof.storage.identity import Identity

logger = logging.getLogger(__name__)

#: How often a server that ignores ranges is asked for the whole object.
WHOLE_TRIES = 3


class Transfer:
    """Brings what `plan` says into `part`. `received` counts the bytes that came."""

    def __init__(
        self,
        means: Means,
        part: Part,
        plan: Plan,
        follower: Follower,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.means, self.part, self.plan = means, part, plan
        self._follower, self._progress = follower, progress
        self.identity: Identity = part.identity
        self.received = self.wholes = 0
        self.opaque = False
        self._lock = threading.Lock()
        self._stop, self._good = threading.Event(), threading.Event()
        self._error: BaseException | None = None
        self._alive = 0
        self._streams: set[Stream] = set()
        self._hold_until = 0.0

    def run(self, connections: int) -> None:
        """Bring all that is missing. Raises ObjectFailed, VaultError or Replaced."""
        while self.plan.missing and self._error is None:
            self._good.clear()
            threads = [self._start()]
            try:
                while threads[0].is_alive() and not self._good.wait(0.1):
                    pass
                if self._good.is_set():
                    more = min(connections - 1, self.plan.ranges_left())
                    threads += [self._start() for _ in range(more)]
                for thread in threads:
                    while thread.is_alive():
                        thread.join(0.5)
            except BaseException as error:
                self.fail(error)
                raise
            finally:
                for thread in threads:
                    thread.join()
        if self._error is not None:
            raise self._error

    def _start(self) -> threading.Thread:
        lane = Lane(self)
        with self._lock:
            self._alive += 1
        thread = threading.Thread(target=lane.run, name="fetch", daemon=True)
        thread.start()
        return thread

    def fail(self, error: BaseException) -> None:
        """End the transfer; the first error is the one that is told."""
        with self._lock:
            self._error = self._error or error
            self._stop.set()
            streams = list(self._streams)
        self._good.set()
        for stream in streams:
            stream.abort()

    def check(self) -> None:
        """Raise Left when the transfer has ended."""
        if self._stop.is_set():
            raise Left

    def retire(self) -> bool:
        """Let a connection leave; False when it is the last one, which has to stay."""
        with self._lock:
            if self._alive > 1:
                self._alive -= 1
                return True
            return False

    def gone(self) -> None:
        """Count a connection as gone."""
        with self._lock:
            self._alive -= 1

    def opened(self, stream: Stream) -> None:
        """Know a stream that may have to be ended from outside."""
        with self._lock:
            self._streams.add(stream)
        self.check()

    def closed(self, stream: Stream) -> None:
        """Forget a stream and count what it brought."""
        with self._lock:
            self._streams.discard(stream)
            self.received += stream.received

    def accepted(self, url: str, stream: Stream) -> None:
        """Note an answer from the right version."""
        self.means.url.worked(url)
        self.opaque = self.opaque or is_opaque(stream.headers)

    def join(self) -> None:
        """Let the other connections begin."""
        self._good.set()

    def begin_again(self) -> Span:
        """Return the whole object as one range, for the last connection. Raises ObjectFailed."""
        self.wholes += 1
        if self.wholes > min(WHOLE_TRIES, self.means.tries):
            raise ObjectFailed("unsupported", "range_ignored", self.means.handle)
        if self.wholes == 1:
            logger.warning("%s: server ignored Range, restarted.", self.means.handle)
        if self.identity.etag is None:  # nothing else proves that both parts are of one version
            self.plan.forget()
            self._follower.restart()
        return self.plan.take_all()

    def store(self, span: Span, data: memoryview) -> None:
        """Keep a block of a range. Raises Left when the transfer has ended: what is read from a
        stream that was aborted may be anything.
        """
        self.check()
        if not self.plan.has(span.at):
            self.part.write(span.at, data)
        self.plan.finish(span)
        self._follower.advance(self.plan.mark)
        if self._progress is not None:
            self._progress(self.plan.size - self.plan.missing)

    def hold(self, seconds: float) -> None:
        """Let no connection ask again before: the server asked for that."""
        self._hold_until = max(self._hold_until, self.means.clock() + seconds)

    def pause(self, seconds: float) -> None:
        """Wait, and longer when the server has asked for it meanwhile."""
        while seconds > 0:
            (self.means.sleep or self._stop.wait)(seconds)
            self.check()
            seconds = self._hold_until - self.means.clock()

    def pause_if_held(self) -> None:
        """Wait as long as the server has asked for, if it has."""
        self.pause(self._hold_until - self.means.clock())
