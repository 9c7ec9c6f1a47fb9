"""Bringing one object behind a handle into the store: whole and verified, or not at all."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC

from benchproof.errors import ObjectFailed, Unreachable, VaultError
from benchproof.http import Http, Stream
from benchproof.storage.answers import is_error_page
from benchproof.storage.fetch.answer import Expired, Misfit, Replaced, refuse
from benchproof.storage.fetch.digests import Digests, Follower
from benchproof.storage.fetch.means import Links, Means, SignedUrl
from benchproof.storage.fetch.part import Part, storage_error
from benchproof.storage.fetch.patience import Setback
from benchproof.storage.fetch.plan import Plan, block_size
from benchproof.storage.fetch.store import Record, Store
from benchproof.storage.fetch.transfer import Transfer
from benchproof.storage.identity import Identity, encoded

CHUNK_BYTES = 8 << 20
_UNKNOWN = Identity(None, None, None)


def fetch(
    http: Http,
    links: Links,
    handle: str,
    identity: Identity,
    store: Store,
    *,
    suffix: str = "h5ad",
    connections: int = 4,
    chunk_bytes: int = CHUNK_BYTES,
    tries: int = 6,
    max_wait_s: float = 300.0,
    max_bytes: int | None = None,
    progress: Callable[[int], None] | None = None,
    sleep: Callable[[float], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    rng: random.Random | None = None,
) -> Record:
    """Bring the object behind a handle into the store and return its record.

    `identity` is the version that a probe saw. When another one stands there by now, that one is
    brought instead, once; the record names the version whose bytes are kept. A version that the
    store has already is read and compared, and nothing is asked for.

    An interruption costs each of the `connections` at most `chunk_bytes`. `tries` is how often a
    connection fails without getting anywhere, `max_wait_s` how long it then waits in all.
    `progress` is called with the bytes that are there, from any thread. `sleep` and `clock` go
    together.

    Raises ObjectFailed: denied, missing, throttled, stalled, changed (also when a new version is
    larger than `max_bytes`), unsupported, mismatch when the content isn't what its ETag says, or
    unknown with the cause; and VaultError when there is no space. What has arrived stays for the
    next call, except after a mismatch.
    """
    url = SignedUrl(links, handle)
    rng = rng or random.Random()
    means = Means(http, handle, url, tries, max_wait_s, sleep, clock, rng)
    job = _Fetch(means, store, suffix, connections, chunk_bytes, max_bytes, progress)
    try:
        return job.bring(identity)
    except Replaced:
        pass
    try:
        return job.bring(_UNKNOWN)
    except Replaced:
        raise ObjectFailed("changed", "replaced", handle) from None


class _Stale(Exception):
    """Blocks of earlier runs and the server's don't make one object: all is fetched again."""


class _Fetch:
    """One call of `fetch`, over all versions that it meets."""

    def __init__(
        self,
        means: Means,
        store: Store,
        suffix: str,
        connections: int,
        chunk_bytes: int,
        max_bytes: int | None,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._means, self._store, self._suffix = means, store, suffix
        self._connections, self._chunk_bytes = connections, chunk_bytes
        self._max_bytes, self._progress = max_bytes, progress
        self._received = 0

    def bring(self, identity: Identity) -> Record:
        """Bring one version; one without a size is asked for first. Raises Replaced."""
        if identity.size is None:
            identity = self._learn(identity)
            if self._max_bytes is not None and (identity.size or 0) > self._max_bytes:
                raise ObjectFailed("changed", "too_large", self._means.handle)
        found = self._store.find(self._means.handle, identity, self._suffix, self._now())
        if found is not None:
            return found
        if identity.size == 0 and self._learn(identity).size != 0:
            raise Replaced
        try:
            return self._attempt(identity)
        except _Stale:
            return self._attempt(identity, fresh=True)

    def _attempt(self, identity: Identity, *, fresh: bool = False) -> Record:
        """Bring a version. Raises _Stale when what earlier runs left is of something else."""
        block = block_size(self._chunk_bytes)
        part = self._store.open(self._means.handle, identity, block, fresh=fresh)
        try:
            digests = self._transferred(part)
            if digests.proof != "mismatch":
                handle, fetched = self._means.handle, self._received
                return self._store.publish(
                    part, handle, self._suffix, digests, fetched, self._now()
                )
            part.discard()
            if part.found:
                raise _Stale
            raise ObjectFailed("mismatch", "md5", self._means.handle)
        finally:
            part.close()

    def _transferred(self, part: Part) -> Digests:
        """Fill an unfinished file and return the digests of all of it."""
        part.reserve()
        plan = Plan(part.size, part.block, self._connections, self._chunk_bytes, part.found)
        follower = Follower(part.file, part.identity)
        transfer = Transfer(self._means, part, plan, follower, self._progress)
        try:
            follower.advance(plan.mark)
            transfer.run(self._connections)
            digests = follower.finish()
        except OSError as error:
            raise storage_error(part.folder.parent, error) from None
        except Replaced:
            part.discard()
            raise
        finally:
            self._received += transfer.received
            follower.stop()
        if digests.length != part.size:
            raise VaultError(f"{part.folder}: damaged while it was being written; run again.")
        # An ETag that is no MD5 can't speak against the content.
        opaque = digests.proof == "mismatch" and transfer.opaque
        return replace(digests, proof="size") if opaque else digests

    def _now(self) -> str:
        return self._means.http.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _learn(self, identity: Identity) -> Identity:
        """Return what stands there now, by asking for one byte."""
        patience = self._means.patience()
        while True:
            try:
                return self._asked(identity)
            except Expired:
                continue
            except Misfit as error:
                setback = Setback(error.reason, refused=True)
            except Unreachable as error:
                setback = Setback.of(error)
            wait = patience.wait_after(setback)
            if wait is None:
                raise setback.failed(self._means.handle)
            self._means.count_retry(wait)
            (self._means.sleep or time.sleep)(wait)

    def _asked(self, identity: Identity) -> Identity:
        means = self._means
        url = means.url.get()
        headers = {"Range": "bytes=0-0", **identity.condition()}
        with means.http.stream(url, what=means.handle, headers=headers) as stream:
            try:
                return self._stated(stream)
            except Expired:
                means.url.died(url)
                raise
            finally:
                self._received += stream.received

    def _stated(self, stream: Stream) -> Identity:
        """Return the identity that an answer states."""
        there = Identity.of(stream.status, stream.headers)
        if stream.status != 416:
            refuse(stream.status, stream.body, self._means.handle)
            head = bytearray(1024)
            count = stream.readinto(memoryview(head))
            if is_error_page(stream.status, stream.headers, bytes(head[:count])):
                raise Misfit("error_page")
        if encoded(stream.headers):
            raise Misfit("compressed")
        if there.size is None or (stream.status == 416 and there.size):
            raise Misfit("no_size")
        return there
