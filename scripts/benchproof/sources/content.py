"""The content archive: what an audit needs of one commit, proven once and proven again at each read.

Both sources end in the same archive, so that every later stage reads one local file, needs neither git
nor a network, and cannot tell which source was used.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

from benchproof.errors import VaultError
from benchproof.sources import archive, objects
from benchproof.sources.base import Entry
from benchproof.vault import private_file

_LISTING = b"tree"
#: What damaged bytes raise, wherever these stand.
_DAMAGE = (archive.DamagedError, OSError, ValueError)


class Content:
    """An open archive: the listing of a commit and those blobs that the audit reads."""

    def __init__(self, held: archive.Archive, where: str) -> None:
        self._held, self._where = held, where

    @cached_property
    def entries(self) -> list[Entry]:
        """The listing as a whole; `listing` yields it without keeping it."""
        return list(self.listing())

    def listing(self) -> Iterator[Entry]:
        """Yield the entries of the commit's tree, sorted by path."""
        if "entries" in vars(self):
            return iter(self.entries)
        return parse_listing(self._member(_LISTING, "the listing"))

    def has(self, sha: str) -> bool:
        """True when the blob is in the archive."""
        return _blob(sha) in self._held

    def read(self, sha: str) -> bytes:
        """Return a blob; raises ProofError when it does not hash to its id, VaultError when it isn't here."""
        data = self._member(_blob(sha), f"blob {sha}")
        objects.prove("blob", sha, data, self._where)
        return data

    def _member(self, name: bytes, what: str) -> bytes:
        try:
            return self._held.read(name)
        except KeyError:
            raise VaultError(
                f"{self._where}: {what} is missing; run the mirror stage again."
            ) from None
        except _DAMAGE:
            raise _damaged(self._where) from None


@contextmanager
def opened(path: Path) -> Iterator[Content]:
    """Open an archive for reading; raises VaultError when it is missing or damaged."""
    with ExitStack() as stack:
        try:
            held = archive.Archive(stack.enter_context(path.open("rb")))
        except FileNotFoundError:
            raise VaultError(f"{path}: missing; run the mirror stage again.") from None
        except _DAMAGE:
            raise _damaged(str(path)) from None
        yield Content(held, str(path))


def blob_ids(path: Path) -> set[str]:
    """Return the ids of the blobs an archive holds; empty when there is none or it is damaged."""
    try:
        with path.open("rb") as file:
            names = [name.decode("ascii") for name in archive.names(file)]
    except _DAMAGE:
        return set()
    return {name.removeprefix("blobs/") for name in names if name != _LISTING.decode()}


def _damaged(where: str) -> VaultError:
    return VaultError(f"{where}: damaged; delete this file and run again.")


def _blob(sha: str) -> bytes:
    return b"blobs/" + sha.encode()


def save(path: Path, entries: Iterable[Entry], blobs: Iterable[tuple[str, bytes]]) -> int:
    """Write an archive that appears under its name when it is whole; return the number of blobs."""
    number = 0
    with (
        private_file(path) as handle,
        zipfile.ZipFile(handle, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made,
    ):
        made.writestr(_LISTING.decode(), listing(entries))
        for sha, data in blobs:
            made.writestr(f"blobs/{sha}", data)
            number += 1
    return number


def listing(entries: Iterable[Entry]) -> bytes:
    """Return entries as bytes, each a NUL-ended record: mode, id, size or '-', and the path, any bytes."""
    return b"".join(
        f"{e.mode} {e.sha} {'-' if e.size is None else e.size} ".encode() + e.path + b"\0"
        for e in entries
    )


def parse_listing(data: bytes) -> Iterator[Entry]:
    """Yield the entries that `listing` wrote; raises ValueError for bytes that it never writes."""
    modes: dict[bytes, str] = {}
    at = 0
    while (end := data.find(b"\0", at)) >= 0:
        mode, sha, size, path = data[at:end].split(b" ", 3)
        known = modes.setdefault(mode, mode.decode())  # one text for a million entries
        yield Entry(path, known, sha.decode(), None if size == b"-" else int(size))
        at = end + 1
