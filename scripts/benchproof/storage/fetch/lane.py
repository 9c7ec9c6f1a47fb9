"""One connection of a transfer: takes ranges, brings them, goes on inside them after a break."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchproof.errors import Unreachable
from benchproof.http import Stream
from benchproof.storage.fetch.answer import Expired, Misfit, judge
from benchproof.storage.fetch.patience import Setback
from benchproof.storage.fetch.plan import Span

if TYPE_CHECKING:
    from benchproof.storage.fetch.transfer import Transfer

#: Enough of an object that comes whole to tell it from an error page.
_HEAD = 1024


class Left(Exception):
    """A connection ends here: all is stopped, or the others do its work."""


class Lane:
    """One connection: takes ranges and brings them, in a thread."""

    def __init__(self, transfer: Transfer) -> None:
        self._transfer = transfer
        self._patience = transfer.means.patience()
        self._buffer = memoryview(bytearray(transfer.part.block))
        self._held = 0
        self._retired = False

    def run(self) -> None:
        """Work until there is nothing left to begin."""
        transfer = self._transfer
        try:
            while (span := transfer.plan.take()) is not None:
                try:
                    self._bring(span)
                finally:
                    self._held = 0
                    transfer.plan.release(span)
        except Left:
            pass
        except BaseException as error:  # told by the thread that waits
            transfer.fail(error)
        if not self._retired:
            transfer.gone()

    def _bring(self, span: Span) -> None:
        """Bring a range; raises Left when this connection is to end, or what ends all."""
        transfer = self._transfer
        while span.at < span.end:
            transfer.pause_if_held()
            transfer.check()
            try:
                self._attempt(span)
            except Expired:
                continue
            except Misfit as error:
                transfer.check()
                self._set_back(Setback(error.reason, refused=True))
            except Unreachable as error:
                transfer.check()  # an end from outside looks like a break
                self._set_back(Setback.of(error))

    def _attempt(self, span: Span) -> None:
        """Ask for what is missing of a range, once, and keep what comes."""
        transfer, means = self._transfer, self._transfer.means
        url = means.url.get()
        wanted = span.at + self._held, span.end
        asked = {"Range": f"bytes={wanted[0]}-{wanted[1] - 1}"}
        headers = {**asked, **transfer.identity.condition()}
        with means.http.stream(url, what=means.handle, headers=headers) as stream:
            try:
                transfer.opened(stream)
                head = self._head(stream) if stream.status == 200 else stream.body
                answer = stream.status, stream.headers, head
                in_part = judge(*answer, wanted, transfer.identity, means.handle)
                transfer.accepted(url, stream)
                if in_part:
                    transfer.join()
                    self._read(stream, span, wanted[1])
                else:
                    self._read_whole(stream, span, len(head))
            except Expired:
                means.url.died(url)
                raise
            finally:
                transfer.closed(stream)

    def _head(self, stream: Stream) -> bytes:
        """Return the first bytes of a whole object; they stay in the buffer."""
        held, most = 0, min(_HEAD, len(self._buffer))
        while held < most and (count := stream.readinto(self._buffer[held:most])):
            held += count
        self._held = 0
        return bytes(self._buffer[:held])

    def _read(self, stream: Stream, span: Span, end: int) -> None:
        """Read a range block by block; `end` is what was asked for, a thief may have lowered it."""
        transfer = self._transfer
        while span.at < min(end, span.end):
            length = min(len(self._buffer), transfer.plan.size - span.at)
            while self._held < length:
                count = stream.readinto(self._buffer[self._held : length])
                transfer.check()
                if not count:
                    raise Misfit("short_answer")
                self._held += count
                self._patience.gained(count)
            self._held = 0
            transfer.store(span, self._buffer[:length])
        self._patience.arrived()

    def _read_whole(self, stream: Stream, span: Span, held: int) -> None:
        """Read an object that comes whole; only the last connection does."""
        if self._transfer.retire():
            self._retired = True
            raise Left
        whole = self._transfer.begin_again()
        span.end = span.at  # nothing is left of the range: the plan is drawn up anew
        self._held = held
        try:
            self._read(stream, whole, whole.end)
        finally:
            self._held = 0
            self._transfer.plan.release(whole)

    def _set_back(self, setback: Setback) -> None:
        """Wait before the next try; or leave, and as the last one end the transfer."""
        wait = self._patience.wait_after(setback)
        if wait is None:
            if not setback.final and self._transfer.retire():
                self._retired = True
                raise Left
            raise setback.failed(self._transfer.means.handle)
        if setback.asked_s:
            self._transfer.hold(wait)
        self._transfer.means.count_retry(wait)
        self._transfer.pause(wait)
