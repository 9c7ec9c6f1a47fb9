"""Signed URLs: asked for once while they live, renewed once for all that met the same dead one.

The book that holds them is a journal inside the vault (0600); `Audit` deletes it at the end of a run,
unless sizes are still to be asked for.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from benchproof.errors import ObjectFailed
from benchproof.journal import Journal
from benchproof.storage.signer import DOUBTED, Signer


@dataclass(slots=True)
class _Turn:
    """Whose turn it is to sign a handle, how often that was tried, and what the last try failed with."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    tries: int = 0
    failed: tuple[str, str] | None = None


class Links:
    """Signed URLs of handles. One instance serves all threads of a job; jobs share the book."""

    def __init__(self, signer: Signer, book: Journal) -> None:
        self._signer, self._book = signer, book
        self._urls: dict[str, str] = {}
        self._turns: dict[str, _Turn] = {}
        self._lock = threading.Lock()
        self.signings = 0

    def url(self, handle: str) -> str:
        """Return the URL of a handle, signed now when there is none. Raises ObjectFailed when refused."""
        url = self._urls.get(handle)
        return url if url is not None else self.renew(handle, "")

    def renew(self, handle: str, dead: str) -> str:
        """Return another URL than `dead`: one that somebody else signed meanwhile, or a new one.

        Raises ObjectFailed with what the signer says instead, to all that waited for the same answer.
        """
        turn = self._turn_of(handle)
        came_at = turn.tries
        with turn.lock:
            current = self._urls.get(handle)
            if current in (None, dead):
                self._follow()
                current = self._urls.get(handle)
            if current not in (None, dead):
                return str(current)
            if turn.tries == came_at or turn.failed is None:
                self._sign(handle, turn)
            if turn.failed is not None:
                raise ObjectFailed(*turn.failed, handle)
            return self._urls[handle]

    def _sign(self, handle: str, turn: _Turn) -> None:
        for _ in range(2):  # services flap: a refusal is believed when it is said twice
            signed = self._signer.sign(handle)
            with self._lock:
                self.signings += 1
            if signed.status not in DOUBTED:
                break
        turn.failed = None
        if signed.url is None:
            status = "denied" if signed.status in ("refused", "unauthorized") else "unknown"
            turn.failed = status, f"signing_{signed.reason or signed.status}"
        else:
            self.keep(handle, signed.url)
        turn.tries += 1

    def keep(self, handle: str, url: str) -> None:
        """Enter a URL that was signed just now."""
        self._book.add(handle, {"url": url})
        with self._lock:
            self._urls[handle] = url

    def _turn_of(self, handle: str) -> _Turn:
        with self._lock:
            return self._turns.setdefault(handle, _Turn())

    def _follow(self) -> None:
        """Learn the URLs that came into the book since the last look, from whatever job."""
        with self._lock:
            for handle, record in self._book.follow().items():
                if isinstance(record.get("url"), str):
                    self._urls[handle] = record["url"]
