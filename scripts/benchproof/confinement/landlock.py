"""Landlock: the Linux kernel's own limit on what a process and its children may open, without privileges.

It is an allow-list by path, so a folder is denied by allowing everything beside the way to it. The kernel
looks at the file itself, not at the words it was asked for by: links, descriptors of folders, /proc and
native libraries are all the same to it. https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

# The same numbers on every architecture that Python packages are built for.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_NO_NEW_PRIVS: Final = 38
_TSYNC: Final = 1 << 3

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << n for n in range(6))
_MAKE_DIR, _MAKE_REG = 1 << 7, 1 << 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
#: Rights that each version of the interface knows.
_KNOWN: Final = {1: _REFER - 1, 2: _TRUNCATE - 1, 3: _IOCTL_DEV - 1, 4: _IOCTL_DEV - 1}
_ALL: Final = (_IOCTL_DEV << 1) - 1
#: Rights that a rule for a file, not a folder, may name.
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
#: Make, fill, rename and delete, but read nothing.
_WRITE: Final = (
    _WRITE_FILE | _REMOVE_FILE | _REMOVE_DIR | _MAKE_DIR | _MAKE_REG | _REFER | _TRUNCATE
)
_TCP: Final = 3
#: Sockets of the abstract namespace. Not signals: a child that was started before may have to be ended.
_ABSTRACT: Final = 1
_ABI_NET, _ABI_SCOPED, _ABI_TSYNC = 4, 6, 8


class Unavailable(Exception):
    """The kernel's limit cannot be had here; `str()` says why in a few words."""


def abi() -> int:
    """Return the version of the kernel's interface; 0 where there is none or it is switched off."""
    try:
        return max(
            0, _syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
        )
    except OSError:  # ENOSYS: not built in; EOPNOTSUPP: not among the modules of this boot
        return 0


def restrict(
    denied: tuple[Path, ...],
    open_below: Iterable[Path] = (),
    write_below: Iterable[Path] = (),
    list_below: Iterable[Path] = (),
    *,
    network: bool = False,
) -> tuple[int, int]:
    """Deny this thread, threads it starts and children all below `denied` but the three lists; for ever.

    All paths are real ones. What does not exist yet is allowed where its folder is, except in the folders
    on the way to what is denied: they can neither be listed nor get new entries. Without `network`, TCP is
    denied where the kernel can. Returns the version of the interface that holds, and how many threads were
    started before and go on without it: only newer kernels reach them. Raises Unavailable.
    """
    version = abi()
    if not version:
        raise Unavailable("not in this kernel")
    known = _KNOWN.get(version, _ALL)
    rules = [(path, known) for path in _beside(denied)]
    rules += [(str(path), known) for path in open_below]
    rules += [(str(path), _WRITE & known) for path in write_below]
    rules += [(str(path), _READ_DIR) for path in list_below]
    fields = [known, *((0, 0) if network else (_TCP, _ABSTRACT))]
    size = 1 + (version >= _ABI_NET) + (version >= _ABI_SCOPED)
    ruleset = _create(fields[:size])
    try:
        for path, access in rules:
            _add(ruleset, path, access)
        others = len(os.listdir("/proc/self/task")) - 1
        _enforce(ruleset, _TSYNC if version >= _ABI_TSYNC else 0)
    finally:
        os.close(ruleset)
    return version, others if version < _ABI_TSYNC else 0


@cache
def _beside(denied: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the widest folders and files that hold nothing of what is denied.

    Remembered: once it is denied, the folders on the way to it cannot be listed.
    """
    found: list[str] = []
    ends = set(map(str, denied))
    ways = {
        str(folder)
        for path in denied
        for folder in path.parents
        if ends.isdisjoint(map(str, (folder, *folder.parents)))
    }
    for way in sorted(ways):
        try:
            entries = list(os.scandir(way))
        except OSError:
            raise Unavailable(f"{way} cannot be listed") from None
        for entry in entries:
            # What a link points to has a place of its own.
            if entry.path not in ends and entry.path not in ways and not entry.is_symlink():
                found.append(entry.path)
    return tuple(found)


def _create(fields: Sequence[int]) -> int:
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    size = ctypes.c_size_t(len(attributes))
    return _syscall(_CREATE_RULESET, ctypes.c_char_p(attributes), size, ctypes.c_uint32(0))


def _add(ruleset: int, path: str, access: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:  # gone since, or nobody's to see
        return
    try:
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            access &= _OF_FILES
        rule = ctypes.c_char_p(struct.pack("=Qi", access, beneath))
        _syscall(_ADD_RULE, ruleset, ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
    except OSError as error:
        if error.errno != errno.EBADFD:  # a file system of the kernel's own: it is not limited
            raise Unavailable(f"a rule was refused ({os.strerror(error.errno or 0)})") from None
    finally:
        os.close(beneath)


def _enforce(ruleset: int, flags: int) -> None:
    libc = _libc()
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise Unavailable("privileges cannot be given up")
    try:
        _syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(flags))
    except OSError as error:
        raise Unavailable(f"refused ({os.strerror(error.errno or 0)})") from None


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _syscall(number: int, *arguments: object) -> int:
    """Make a system call; raises OSError."""
    try:
        result = _libc().syscall(ctypes.c_long(number), *arguments)
    except AttributeError:  # no such function on this system
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from None
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)
