"""What was exchanged with each host, counted for the traffic table."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace


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
