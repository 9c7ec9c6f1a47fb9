"""The request log: what arrived, what was sent, counted per area."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

AREAS = ("git", "api", "raw", "sign", "storage", "control", "other")


@dataclass(slots=True)
class Record:
    """One request. `path` has no query, `query` no signature; `started` is in seconds since server
    start.

    Of the headers only those are kept that tests ask about, and of credentials only whether there
    were any. `bytes_out` counts body bytes that were handed to the socket, `bytes_in` body bytes
    received.
    """

    started: float
    method: str
    path: str
    area: str
    query: str = ""
    status: int = 0
    bytes_out: int = 0
    bytes_in: int = 0
    seconds: float = 0.0
    authorization: bool = False
    cookie: bool = False
    api_key: bool = False
    range: str | None = None
    if_match: str | None = None
    if_range: str | None = None
    accept_encoding: str | None = None
    user_agent: str | None = None
    git_protocol: str | None = None
    faults: list[str] = field(default_factory=list)


class RequestLog:
    """A thread-safe list of records. A record is entered when its request arrives and filled
    later.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records: list[Record] = []

    def add(self, record: Record) -> None:
        """Enter a record."""
        with self._lock:
            self._records.append(record)

    def reset(self) -> None:
        """Forget everything."""
        with self._lock:
            self._records.clear()

    def requests(self, area: str | None = None, method: str | None = None) -> list[Record]:
        """Return the records so far, of one area or method if given; control requests only if
        asked.
        """
        with self._lock:
            found = list(self._records)
        if area is None:
            found = [record for record in found if record.area != "control"]
        else:
            found = [record for record in found if record.area == area]
        return [record for record in found if method in (None, record.method)]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return requests, bytes_out and bytes_in per area."""
        total = {area: {"requests": 0, "bytes_out": 0, "bytes_in": 0} for area in AREAS}
        with self._lock:
            for record in self._records:
                area = total[record.area]
                area["requests"] += 1
                area["bytes_out"] += record.bytes_out
                area["bytes_in"] += record.bytes_in
        return total
