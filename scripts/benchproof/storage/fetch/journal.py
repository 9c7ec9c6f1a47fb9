"""What of an unfinished file is there: a text line per finished block, with a digest of it.

A line is written after its block, in one write. After a kill both are in the page cache; after a
power loss either may be gone, so nothing in a journal is believed: each block is read again and
compared before it counts. Then no fsync is needed, and a torn or lost line costs its block. CRC-32 is
enough for that, since it is chance that damages a page; it takes half the time of SHA-256.
"""

from __future__ import annotations

import json
import os
import re
import threading
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchproof.storage.identity import Identity

VERSION = 1
_LINE = re.compile(rb"(\d{1,10}) ([0-9a-f]{8})")
#: A journal of the largest object that a block of 64 KiB leaves room for; more is not ours.
_MOST = 1 << 30


def digest(data: bytes | bytearray | memoryview) -> str:
    """Return what a journal knows a block by."""
    return f"{zlib.crc32(data):08x}"


@dataclass(frozen=True, slots=True)
class Progress:
    """What a journal says: of which version it speaks, in which blocks, and the digest of each."""

    identity: Identity
    block: int
    blocks: Mapping[int, str]

    @property
    def bytes_held(self) -> int:
        """Bytes of the finished blocks, the last one perhaps shorter."""
        return min(len(self.blocks) * self.block, self.identity.size or 0)


def read(path: Path) -> Progress | None:
    """Return what a journal says; None when there is none or its first line can't be used."""
    try:
        if path.stat().st_size > _MOST:
            return None
        head, *lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return None
    identity, block = _head(head)
    if identity is None or identity.size is None or not lines:
        return None
    count = -(-identity.size // block)
    # Behind the last line break stands nothing, or a line that was torn.
    matches = (_LINE.fullmatch(line) for line in lines[:-1])
    found = {int(match[1]): match[2].decode() for match in matches if match}
    return Progress(identity, block, {n: text for n, text in found.items() if n < count})


def _head(line: bytes) -> tuple[Identity | None, int]:
    try:
        head = json.loads(line)
        if head["version"] != VERSION or not 1 <= head["block"] <= 1 << 30:
            return None, 0
        return Identity(head["etag"], head["size"], head["last_modified"]), head["block"]
    except (ValueError, TypeError, KeyError):
        return None, 0


class Journal:
    """A journal that is being written; begins with the blocks that were found good."""

    def __init__(self, path: Path, progress: Progress) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._begin(progress)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND)

    def _begin(self, progress: Progress) -> None:
        """Put a journal that holds just what is certain in place of the old one."""
        known = progress.identity
        head = {"version": VERSION, "block": progress.block, "etag": known.etag, "size": known.size}
        lines = [json.dumps({**head, "last_modified": known.last_modified})]
        lines += [f"{number} {text}" for number, text in sorted(progress.blocks.items())]
        fresh = self._path.with_suffix(".new")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(fresh, self._path)

    def add(self, number: int, text: str) -> None:
        """Enter a block that has been written."""
        line = f"{number} {text}\n".encode()
        with self._lock:
            written = os.write(self._file, line)
            if written < len(line):  # no room: the rest raises and says so
                os.write(self._file, line[written:])

    def close(self) -> None:
        """Close the file; the journal stays."""
        os.close(self._file)
