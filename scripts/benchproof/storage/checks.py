"""A check of a local file that needs no HDF5 library: is it as long as its superblock states.

That takes less than a millisecond at any size and finds every truncation, and appended bytes, which
HDF5's own library accepts. It finds no hole and no flipped bit: those are for the digests of fetch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchproof.storage.walker.parse import SIGNATURE, Unparsable, superblock

#: A superblock's longest form with its checksum or driver block address, and a little more.
_SUPERBLOCK = 128
Verdict = Literal["whole", "short", "longer", "not_hdf5", "unknown"]


@dataclass(frozen=True, slots=True)
class Ending:
    """A file's size in bytes, the end its superblock states (None without one), and what follows.

    `verdict` is whole, short (truncated), longer (bytes stand behind the end), not_hdf5, or unknown: a
    signature with a superblock that isn't understood here.
    """

    verdict: Verdict
    size: int
    stated: int | None = None


def ending(path: Path) -> Ending:
    """Compare a file's size with the end of file that its HDF5 superblock states.

    Raises OSError when the file cannot be read.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        at = 0
        while at < size or at == 0:
            file.seek(at)
            block = file.read(_SUPERBLOCK)
            if block.startswith(SIGNATURE):
                return _judged(block, at, size)
            if size < len(SIGNATURE) and SIGNATURE.startswith(block):
                return Ending("short", size)
            # A user block may stand before it: of 512 bytes or a power of two times as many.
            at = at * 2 if at else 512
    return Ending("not_hdf5", size)


def _judged(block: bytes, at: int, size: int) -> Ending:
    try:
        found = superblock(block)
    except Unparsable:
        found = None
    if found is None:
        return Ending("short" if len(block) < _SUPERBLOCK else "unknown", size)
    stated = at + found.end
    verdict: Verdict = "whole" if stated == size else "short" if stated > size else "longer"
    return Ending(verdict, size, stated)
