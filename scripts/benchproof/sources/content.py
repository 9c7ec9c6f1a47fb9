"""The content archive: what an audit needs of one commit, proven once and proven again at each read.

Both sources end in the same archive, so that every later stage reads one local file, needs neither git
nor a network, and cannot tell which source was used.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchproof.errors import VaultError
from benchproof.sources import objects
from benchproof.sources.base import Entry
from benchproof.vault import private_file

_LISTING = "tree"
#: What zipfile and zlib raise for damaged bytes, wherever these stand.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)


class Content:
    """An open archive: the listing of a commit and those blobs that the audit reads."""

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self._archive, self._where = archive, where
        self._names = set(archive.namelist())
        self.entries = parse_listing(archive.read(_LISTING))

    def has(self, sha: str) -> bool:
        """True when the blob is in the archive."""
        return f"blobs/{sha}" in self._names

    def read(self, sha: str) -> bytes:
        """Return a blob; raises ProofError when it does not hash to its id, VaultError when it isn't here."""
        try:
            data = self._archive.read(f"blobs/{sha}")
        except KeyError:
            raise VaultError(
                f"{self._where}: blob {sha} is missing; run the mirror stage again."
            ) from None
        except _DAMAGE:
            raise VaultError(f"{self._where}: damaged; delete this file and run again.") from None
        objects.prove("blob", sha, data, self._where)
        return data


@contextmanager
def opened(path: Path) -> Iterator[Content]:
    """Open an archive for reading; raises VaultError when it is missing or damaged."""
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(path))
            found = Content(archive, str(path))
        except FileNotFoundError:
            raise VaultError(f"{path}: missing; run the mirror stage again.") from None
        except (*_DAMAGE, KeyError):
            raise VaultError(f"{path}: damaged; delete this file and run again.") from None
        yield found


def blob_ids(path: Path) -> set[str]:
    """Return the ids of the blobs an archive holds; empty when there is none or it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except _DAMAGE:
        return set()
    return {name.removeprefix("blobs/") for name in names if name != _LISTING}


def save(path: Path, entries: Iterable[Entry], blobs: Iterable[tuple[str, bytes]]) -> int:
    """Write an archive that appears under its name when it is whole; return the number of blobs."""
    number = 0
    with (
        private_file(path) as handle,
        zipfile.ZipFile(handle, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        archive.writestr(_LISTING, listing(entries))
        for sha, data in blobs:
            archive.writestr(f"blobs/{sha}", data)
            number += 1
    return number


def listing(entries: Iterable[Entry]) -> bytes:
    """Return entries as bytes, each a NUL-ended record: mode, id, size or '-', and the path, any bytes."""
    return b"".join(
        f"{e.mode} {e.sha} {'-' if e.size is None else e.size} ".encode() + e.path + b"\0"
        for e in entries
    )


def parse_listing(data: bytes) -> list[Entry]:
    """Return the entries that `listing` wrote; raises ValueError for bytes that it never writes."""
    entries = []
    for record in data.split(b"\0")[:-1]:
        mode, sha, size, path = record.split(b" ", 3)
        entries.append(
            Entry(path, mode.decode(), sha.decode(), None if size == b"-" else int(size))
        )
    return entries
