"""The unfinished file of one version: a folder with `data` and `journal`, private to one process.

No two processes ever write into one: a folder has its owner in its name, is taken over by one rename
and only from an owner that is known to be dead, and is copied from otherwise. So nothing depends on
file locks, which do nothing on some file systems, and nobody is left who could write into a file that
has its final name.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from benchproof.errors import VaultError, is_no_space, why
from benchproof.storage.fetch import owner
from benchproof.storage.fetch.journal import Journal, Progress, digest, read
from benchproof.storage.identity import Identity
from benchproof.vault import clock, private_folder

logger = logging.getLogger(__name__)

SUFFIX = ".part"
#: Somebody elsewhere who has written nothing for so long is taken for dead.
SILENT_S = 3600.0
_UNSUPPORTED = {errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.ENODEV, errno.ESPIPE}


def storage_error(folder: Path, error: OSError) -> VaultError:
    """Return the error that names the folder and says whether there is no space."""
    if is_no_space(error):
        return VaultError(
            f"{folder}: no space left for a snapshot ({why(error)}); what has arrived is kept. "
            "Free some room there, or set `resources` to a larger disk, and run again."
        )
    return VaultError(f"{folder}: a snapshot can't be written there ({why(error)}).")


class Part:
    """An unfinished file that this process alone writes into. `found` are its good blocks."""

    def __init__(self, folder: Path, progress: Progress) -> None:
        """Open a folder of ours; `progress` says which of its blocks were found good."""
        self.folder, self.identity, self.block = folder, progress.identity, progress.block
        self.size = progress.identity.size or 0
        self.found = frozenset(progress.blocks)
        self.data = folder / "data"
        try:
            self.file = os.open(self.data, os.O_RDWR | os.O_CREAT, 0o600)
            self._journal = Journal(folder / "journal", progress)
        except OSError as error:
            raise storage_error(folder.parent, error) from None
        self._open = True

    def reserve(self) -> None:
        """Take the room for the whole file. Raises VaultError when there isn't enough."""
        folder = self.folder.parent
        try:
            held = os.fstat(self.file).st_blocks * 512
            room = os.statvfs(self.file)
            if room.f_bavail * room.f_frsize < self.size - held:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.ftruncate(self.file, self.size)
            if self.size:
                self._allocate()
        except OSError as error:
            raise storage_error(folder, error) from None

    def _allocate(self) -> None:
        """Let the file system set the blocks aside, so that a full disk or quota is known now."""
        try:
            os.posix_fallocate(self.file, 0, self.size)
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                return
            last = max(self.found, default=-1) + 1
            os.ftruncate(self.file, min(last * self.block, self.size))
            os.ftruncate(self.file, self.size)
            raise

    def write(self, offset: int, data: memoryview) -> None:
        """Write a whole block and journal it. Raises VaultError when there is no space."""
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(self.file, data[written:], offset + written)
            self._journal.add(offset // self.block, digest(data))
        except OSError as error:
            raise storage_error(self.folder.parent, error) from None

    def close(self) -> None:
        """Close the files; what is there stays for the next run."""
        self._close_files()
        owner.give_up(owner_of(self.folder))

    def _close_files(self) -> None:
        if self._open:
            self._open = False
            os.close(self.file)
            self._journal.close()

    def rename_to(self, path: Path) -> None:
        """Give the data its final name, after which nobody can write into it, and delete the rest.

        The folder is ours until then: who gives it up first invites another thread to tidy it away.
        """
        self._close_files()
        try:
            os.replace(self.data, path)
        except OSError as error:
            raise storage_error(path.parent, error) from None
        self.discard()

    def discard(self) -> None:
        """Close and delete."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def open_part(folder: Path, identity: Identity, block: int, *, fresh: bool = False) -> Part:
    """Return the unfinished file of a version below a handle's folder, with all that is there of it.

    What dead processes left is taken over, what somebody elsewhere has is copied; each journalled
    block is compared with its digest. Without a journal that fits nothing is believed, and nothing
    at all when it is to be `fresh`.
    """
    private_folder(folder)
    mine = folder / f"{identity.key()}.{owner.new_name()}{SUFFIX}"
    others = [] if fresh else _parts_of(folder, identity.key())
    dead = [path for path in others if is_dead(path)]
    progress = _take_over(dead, mine, identity)
    if progress is None:
        private_folder(mine)
        elsewhere = [path for path in others if path not in dead and path.exists()]
        progress = _copied(elsewhere, mine, identity)
    for path in dead:
        shutil.rmtree(path, ignore_errors=True)
    return Part(mine, progress or Progress(identity, block, {}))


def is_dead(folder: Path) -> bool:
    """True for an unfinished file whose owner is gone, or elsewhere and silent for an hour."""
    state = owner.state_of(owner_of(folder))
    if state != "elsewhere":
        return state == "dead"
    try:
        newest = max(path.stat().st_mtime for path in (folder / "data", folder / "journal"))
        return clock(folder.parent) - newest > SILENT_S
    except FileNotFoundError:
        return False


def parts_in(folder: Path) -> list[Path]:
    """Return all unfinished files below a handle's folder."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_dir())


def _parts_of(folder: Path, key: str) -> list[Path]:
    return [path for path in parts_in(folder) if path.name.startswith(f"{key}.")]


def owner_of(folder: Path) -> str:
    """Return the owner that an unfinished file's name tells of."""
    return folder.name.removesuffix(SUFFIX).rpartition(".")[2]


def _take_over(dead: list[Path], mine: Path, identity: Identity) -> Progress | None:
    """Make the fullest of dead processes' folders ours and return what is good in it."""
    for path in sorted(dead, key=_written, reverse=True):
        try:
            os.rename(path, mine)
        except OSError:
            if not mine.exists():
                continue  # somebody else was faster
        progress = _verified(mine, identity)
        if progress is not None:
            return progress
        shutil.rmtree(mine, ignore_errors=True)
    return None


def _written(folder: Path) -> int:
    try:
        return (folder / "journal").stat().st_size
    except OSError:
        return -1


def _verified(folder: Path, identity: Identity) -> Progress | None:
    """Return which blocks of a folder are what its journal says; None for another version's."""
    progress = _claimed(folder, identity)
    if progress is None:
        return None
    with open(folder / "data", "rb", buffering=0) as file:
        good = {number: text for number, text, _ in _good(file.fileno(), progress)}
    lost = len(progress.blocks) - len(good)
    if lost:
        logger.warning("%s: %d blocks are damaged and fetched again.", folder.parent, lost)
    return Progress(identity, progress.block, good)


def _claimed(folder: Path, identity: Identity) -> Progress | None:
    """Return what a journal says when it fits the version, for certain, and the data beside it."""
    progress = read(folder / "journal")
    if progress is None or not (identity.recognisable and progress.identity.same_as(identity)):
        return None
    try:
        return progress if (folder / "data").stat().st_size == identity.size else None
    except FileNotFoundError:
        return None


def _good(file: int, progress: Progress) -> Iterable[tuple[int, str, bytes]]:
    """Yield number, digest and bytes of each block that has its digest."""
    size = progress.identity.size or 0
    for number, text in sorted(progress.blocks.items()):
        start = number * progress.block
        data = os.pread(file, min(progress.block, size - start), start)
        if digest(data) == text:
            yield number, text, data


def _copied(others: list[Path], mine: Path, identity: Identity) -> Progress | None:
    """Copy what somebody elsewhere has; never move it, since they may be writing into it."""
    for path in sorted(others, key=_written, reverse=True):
        progress = _claimed(path, identity)
        if progress is None or owner.state_of(owner_of(path)) != "elsewhere":
            continue
        good: dict[int, str] = {}
        try:
            with open(path / "data", "rb", buffering=0) as file, open(mine / "data", "wb") as copy:
                os.chmod(copy.fileno(), 0o600)
                copy.truncate(identity.size)
                for number, text, data in _good(file.fileno(), progress):
                    os.pwrite(copy.fileno(), data, number * progress.block)
                    good[number] = text
        except FileNotFoundError:
            continue  # finished meanwhile
        except OSError as error:
            raise storage_error(mine.parent, error) from None
        return Progress(identity, progress.block, good)
    return None
