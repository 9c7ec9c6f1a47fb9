"""With what an object is asked for: the client, the URL of the handle, and how patiently."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from benchproof.errors import ObjectFailed
from benchproof.http import Http
from benchproof.storage.fetch.patience import Patience


class Links(Protocol):
    """Where signed URLs come from; storage.links.Links is one."""

    def url(self, handle: str) -> str:
        """Return the URL of a handle."""
        ...

    def renew(self, handle: str, dead: str) -> str:
        """Return another URL than the dead one."""
        ...


class SignedUrl:
    """The URL that all connections use; one that dies is renewed once for all of them.

    An expiry counts against no tries. But a new URL that never worked and is refused as expired
    ends it: then nobody's clock is right, and signing again would go on for ever.
    """

    def __init__(self, links: Links, handle: str) -> None:
        self._links, self._handle = links, handle
        self._lock = threading.Lock()
        self._url: str | None = None
        self._renewed = self._worked = False

    def get(self) -> str:
        """Return the URL. Raises ObjectFailed when the handle is refused."""
        with self._lock:
            if self._url is None:
                self._url = self._links.url(self._handle)
            return self._url

    def worked(self, url: str) -> None:
        """Note that the storage took a URL."""
        with self._lock:
            self._worked = self._worked or url == self._url

    def died(self, url: str) -> None:
        """Renew a URL that the storage called expired, unless somebody has. Raises ObjectFailed."""
        with self._lock:
            if url != self._url:
                return
            if self._renewed and not self._worked:
                raise ObjectFailed("denied", "expired", self._handle)
            self._url = self._links.renew(self._handle, url)
            self._renewed, self._worked = True, False


@dataclass(frozen=True, slots=True)
class Means:
    """With what an object is asked for, and how patiently."""

    http: Http
    handle: str
    url: SignedUrl = field(repr=False)
    tries: int
    max_wait_s: float
    sleep: Callable[[float], None] | None
    clock: Callable[[], float]
    rng: random.Random

    def patience(self) -> Patience:
        """Return the patience of one connection."""
        return Patience(self.tries, self.max_wait_s, self.rng)

    def count_retry(self, waited_s: float) -> None:
        """Count a further try for the traffic table."""
        self.http.count_retry(self.url.get(), waited_s)
