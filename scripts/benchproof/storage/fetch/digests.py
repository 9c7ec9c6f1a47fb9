"""Digests of a whole file: SHA-256, and what its ETag may be.

An ETag of 32 hex digits is the MD5 of an object that was uploaded in one piece, unless it is
encrypted with a key of AWS KMS or of the customer. "<hex>-<n>" is the MD5 of the MD5s of n parts;
the parts' size isn't told, and clients use few: where one of those fits, equality proves the content
and inequality proves nothing.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from benchproof.storage.identity import Identity

READ = 1 << 20
_USUAL = "5 6 7 8 10 12 15 16 20 24 25 30 32 40 48 50 60 64 75 80 96 100 120 128 150 160 192 "
_LARGE = "200 250 256 300 320 384 400 500 512 1000 1024"
PART_SIZES = tuple(
    sorted(unit * int(n) for n in (_USUAL + _LARGE).split() for unit in (1_000_000, 1 << 20))
)
#: md5: the ETag is the content's MD5. parts: it is that of parts of a usual size. size: only the
#: length was compared. mismatch: the ETag is an MD5, and of other content.
Proof = Literal["md5", "parts", "size", "mismatch"]


class _Sink(Protocol):
    length: int

    def update(self, data: memoryview) -> None: ...


S = TypeVar("S", bound=_Sink)


def part_sizes(size: int, parts: int) -> list[int]:
    """Return the usual part sizes, in bytes, that make `parts` parts of `size` bytes."""
    if parts == 1:
        return [max(size, 1)]
    return [length for length in PART_SIZES if -(-size // length) == parts]


def is_opaque(headers: Mapping[str, str]) -> bool:
    """True for an answer whose ETag is no MD5 though it looks like one."""
    method = headers.get("x-amz-server-side-encryption", "").strip().lower()
    return method.startswith("aws:kms") or (
        "x-amz-server-side-encryption-customer-algorithm" in headers
    )


class _Parts:
    """The ETag that parts of one size would give."""

    def __init__(self, length: int) -> None:
        self._length, self._filled = length, 0
        self._part = hashlib.md5(usedforsecurity=False)
        self._all = hashlib.md5(usedforsecurity=False)

    def update(self, data: memoryview) -> None:
        while data:
            piece = data[: self._length - self._filled]
            self._part.update(piece)
            self._filled += len(piece)
            data = data[len(piece) :]
            if self._filled == self._length:
                self._close()

    def hexdigest(self) -> str:
        if self._filled:
            self._close()
        return self._all.hexdigest()

    def _close(self) -> None:
        self._all.update(self._part.digest())
        self._part, self._filled = hashlib.md5(usedforsecurity=False), 0


class _Sha256:
    """SHA-256 of what is fed."""

    def __init__(self) -> None:
        self._hash, self.length = hashlib.sha256(), 0

    def update(self, data: memoryview) -> None:
        self._hash.update(data)
        self.length += len(data)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


class _Tag:
    """What an ETag may be of what is fed: its MD5, or that of its parts."""

    def __init__(self, identity: Identity) -> None:
        self._identity, self.length = identity, 0
        self._md5 = hashlib.md5(usedforsecurity=False) if identity.md5 else None
        lengths = part_sizes(identity.size or 0, identity.parts) if identity.parts else []
        self._parts = [_Parts(length) for length in lengths]

    @property
    def idle(self) -> bool:
        """True when there is nothing to compute."""
        return self._md5 is None and not self._parts

    def update(self, data: memoryview) -> None:
        self.length += len(data)
        if self._md5 is not None:
            self._md5.update(data)
        for parts in self._parts:
            parts.update(data)

    def result(self) -> tuple[str | None, Proof]:
        """Return the MD5, if the ETag may be one, and what the ETag says of what was fed."""
        if self._md5 is not None:
            md5 = self._md5.hexdigest()
            return md5, "md5" if md5 == self._identity.md5 else "mismatch"
        expected = (self._identity.etag or "").partition("-")[0]
        return None, "parts" if any(p.hexdigest() == expected for p in self._parts) else "size"


@dataclass(frozen=True, slots=True)
class Digests:
    """Digests of a whole file; `length` is how many bytes were read."""

    length: int
    sha256: str
    md5: str | None
    proof: Proof


class _Reader(Generic[S]):
    """A thread that feeds a file into a sink, close behind what is there without a gap."""

    def __init__(self, file: int, make: Callable[[], S]) -> None:
        self._file, self._make, self._sink = file, make, make()
        self._changed = threading.Condition()
        self._mark = self._generation = 0
        self._ended = False
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="digest", daemon=True)
        self._thread.start()

    def advance(self, mark: int) -> None:
        with self._changed:
            self._mark = max(self._mark, mark)
            self._changed.notify()

    def restart(self) -> None:
        with self._changed:
            self._mark, self._generation = 0, self._generation + 1

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()

    def finish(self) -> S:
        """Feed the rest and return the sink. Raises OSError when the file can't be read."""
        self.end()
        if self._error is not None:
            raise self._error
        return self._sink

    def _run(self) -> None:
        buffer, generation = memoryview(bytearray(READ)), 0
        try:
            while (task := self._next(generation)) is not None:
                if task[1] != generation:
                    generation, self._sink = task[1], self._make()
                piece = buffer[: task[0]]
                count = os.preadv(self._file, [piece], self._sink.length)
                if not count:
                    return  # shorter than it should be: the length tells
                self._sink.update(piece[:count])
        except OSError as error:
            self._error = error

    def _next(self, generation: int) -> tuple[int, int] | None:
        """Wait for bytes to feed; return how many and of which generation, None at the end."""
        with self._changed:
            while True:
                fed = self._sink.length if self._generation == generation else 0
                if self._mark > fed:
                    return min(self._mark - fed, READ), self._generation
                if self._ended:
                    return None
                self._changed.wait()


class Follower:
    """Digests a file while it is being filled: SHA-256 and, beside it, what the ETag calls for."""

    def __init__(self, file: int, identity: Identity, *, tag: bool = True) -> None:
        self._sha256 = _Reader(file, _Sha256)
        calls_for = tag and not _Tag(identity).idle
        self._tag = _Reader(file, lambda: _Tag(identity)) if calls_for else None
        self._readers = [reader for reader in (self._sha256, self._tag) if reader is not None]

    def advance(self, mark: int) -> None:
        """All bytes before `mark` are there now."""
        for reader in self._readers:
            reader.advance(mark)

    def restart(self) -> None:
        """Begin again: what was there is being written over."""
        for reader in self._readers:
            reader.restart()

    def finish(self) -> Digests:
        """Digest the rest and return the digests. Raises OSError when the file can't be read."""
        sha256 = self._sha256.finish()
        proof: tuple[str | None, Proof] = (None, "size")
        if self._tag is not None:
            proof = self._tag.finish().result()
        return Digests(sha256.length, sha256.hexdigest(), *proof)

    def stop(self) -> None:
        """End the threads whatever is left to digest; to be called in any case, also twice."""
        for reader in self._readers:
            reader.restart()
            reader.end()


def digest_file(path: Path, identity: Identity, *, tag: bool = True) -> Digests:
    """Return the digests of a file; without `tag` its ETag is not looked into."""
    with open(path, "rb", buffering=0) as file:
        follower = Follower(file.fileno(), identity, tag=tag)
        try:
            follower.advance(path.stat().st_size)
            return follower.finish()
        finally:
            follower.stop()
