"""A file's size against the end that its superblock states finds every truncation, and additions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchproof.storage.checks import Ending, ending
from h5ad import build, huge
from h5ad.faulty import append, cut, cuts, flip, latest, user_block


def plain(path: Path) -> None:
    """Write a file with superblock 0."""
    build(path)


WRITERS = [plain, latest, user_block]


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_whole_files(write: Callable[[Path], None], tmp_path: Path) -> None:
    """Superblocks 0 and 3, at the start and behind a user block, state the size of a whole file."""
    write(tmp_path / "x.h5ad")
    size = (tmp_path / "x.h5ad").stat().st_size
    assert ending(tmp_path / "x.h5ad") == Ending("whole", size, size)


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
@pytest.mark.parametrize("which", range(6))
def test_every_cut_is_found(which: int, write: Callable[[Path], None], tmp_path: Path) -> None:
    """A file that is cut is short; how much was meant is told once the superblock is there."""
    path = tmp_path / "x.h5ad"
    write(path)
    size = path.stat().st_size
    length = cuts(size)[which]
    cut(path, length)
    if write is user_block and 7 <= length <= 100:
        # The signature would have come after a block that HDF5 does not look into.
        assert ending(path).verdict == "not_hdf5"
        return
    stated = size if length >= 100 else None
    assert ending(path) == Ending("short", length, stated)


def test_additions_are_found(tmp_path: Path) -> None:
    """One byte behind the end is enough."""
    build(tmp_path / "x.h5ad")
    size = (tmp_path / "x.h5ad").stat().st_size
    append(tmp_path / "x.h5ad")
    assert ending(tmp_path / "x.h5ad") == Ending("longer", size + 1, size)


def test_other_bytes(tmp_path: Path) -> None:
    """What has no signature is not HDF5, however long; a signature before other bytes is unknown."""
    path = tmp_path / "x"
    path.write_bytes(b"not hdf5 " * 100_000)
    assert ending(path) == Ending("not_hdf5", 900_000)
    build(path)
    flip(path, 13, 2)  # offsets would have 12 bytes
    assert ending(path).verdict == "unknown"
    with pytest.raises(FileNotFoundError):
        ending(tmp_path / "none")


def test_size_does_not_matter(tmp_path: Path) -> None:
    """A file of 9.6 GB is judged from its first bytes."""
    huge(tmp_path / "x.h5ad", size=9_631_000_007)
    assert ending(tmp_path / "x.h5ad") == Ending("whole", 9_631_000_007, 9_631_000_007)
