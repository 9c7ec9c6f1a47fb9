"""The files of a folder against its seal: missing, there besides, of another kind, or changed, and where.

Nothing in a folder is trusted: links are not followed, nothing but plain files is opened, and no more of a
file is read than was sealed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from benchproof.errors import why
from benchproof.sealing import locate, seal
from benchproof.sealing.form import Sealed, told
from benchproof.sealing.outcome import Check, failed, ok

NAME: Final = "files"
_NFS: Final = re.compile(r"\.nfs[0-9a-f]{24}")
#: A seal of before says no sizes; no file of a report has more bytes.
_MOST_BYTES: Final = 1 << 36
#: More entries than any report has.
_MOST: Final = 100_000
_KINDS: Final = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISLNK, "symbolic link"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """An entry of a folder: its kind ("file" or what else it is), size, mode, and how many names it has."""

    kind: str
    size: int
    mode: int
    links: int


def listing(folder: Path) -> dict[str, Found]:
    """Return what is below a folder by relative path, links not followed.

    Raises OSError when a folder can't be listed or holds more entries than any report.
    """
    found: dict[str, Found] = {}
    waiting = [""]
    while waiting:
        above = waiting.pop()
        with os.scandir(folder / above) as entries:
            for entry in entries:
                name = f"{above}{entry.name}"
                found[name] = _found(entry.stat(follow_symlinks=False))
                if found[name].kind == "folder":
                    waiting.append(f"{name}/")
                if len(found) > _MOST:
                    raise OSError(f"more than {_MOST} entries")
    return found


def _found(status: os.stat_result) -> Found:
    kind = next((name for test, name in _KINDS if test(status.st_mode)), "file")
    return Found(kind, status.st_size, stat.S_IMODE(status.st_mode), status.st_nlink)


def check(folder: Path, sealed: Mapping[str, Sealed]) -> Check:
    """Return whether a folder holds the sealed files, and no others."""
    try:
        found = listing(folder)
    except OSError as error:
        return failed(NAME, [f"the folder can't be listed: {why(error)}"])
    faults = sorted(_faults(folder, sealed, found))
    if faults:
        return failed(NAME, (f"{name}: {fault}" for name, fault in faults))
    size = sum(found[name].size for name in sealed)
    lines = [
        f"{len(sealed)} files, {size:,} bytes, are those that were sealed; logs are not sealed"
    ]
    left = [name for name, item in sorted(found.items()) if _of_nfs(name, item)]
    return ok(NAME, *lines, *_oddities(sealed, found), *_kept_open(left))


def check_unsealed(folder: Path, names: Iterable[str]) -> Check:
    """Return whether a folder without a seal holds nothing but plain files of some names."""
    try:
        found = listing(folder)
    except OSError as error:
        return failed(NAME, [f"the folder can't be listed: {why(error)}"])
    known = set(names)
    odd = {n: item for n, item in sorted(found.items()) if item.kind != "file" or n not in known}
    left = [name for name, item in odd.items() if _of_nfs(name, item)]
    if len(left) < len(odd):
        return failed(NAME, (f"{n}: is a {odd[n].kind} of no report" for n in odd if n not in left))
    return ok(NAME, "there are tables alone, and nothing proves their bytes", *_kept_open(left))


def _faults(
    folder: Path, sealed: Mapping[str, Sealed], found: Mapping[str, Found]
) -> Iterator[tuple[str, str]]:
    extra = {name: item for name, item in found.items() if _is_extra(name, item, sealed)}
    moved = _renamed(folder, sealed, found, extra)
    for name, known in sealed.items():
        item = found.get(name)
        if item is None:
            yield name, f"is called {moved[name]} now" if name in moved else "is missing"
        elif item.kind != "file":
            yield name, f"is a {item.kind} now, and was a file"
        else:
            fault = changed(folder / name, known)
            if fault:
                yield name, fault
    lower = {name.casefold(): name for name in sealed}
    for name, item in extra.items():
        if name in moved.values():
            continue
        twin = lower.get(name.casefold())
        alike = f", a name that differs from {twin} by case alone" if twin else ""
        yield name, f"is a {item.kind} that was not sealed{alike}"


def _is_extra(name: str, item: Found, sealed: Mapping[str, Sealed]) -> bool:
    if name in sealed or _of_nfs(name, item):
        return False
    if item.kind == "folder":
        # A folder is there for the files in it.
        return not any(known.startswith(f"{name}/") for known in sealed) and name != "logs"
    return item.kind != "file" or seal.covered(name)


def _of_nfs(name: str, item: Found) -> bool:
    """True for what an NFS client keeps of a file that is deleted while it is open."""
    return item.kind == "file" and _NFS.fullmatch(name.rsplit("/", 1)[-1]) is not None


def _kept_open(names: list[str]) -> Iterator[str]:
    if names:
        yield f"{len(names)} files are called as NFS calls deleted ones, and not sealed (first: {names[0]})"


def _renamed(
    folder: Path,
    sealed: Mapping[str, Sealed],
    found: Mapping[str, Found],
    extra: Mapping[str, Found],
) -> dict[str, str]:
    """Return the new names of sealed files that are there under another one."""
    known = {entry.sha256: name for name, entry in sealed.items() if name not in found}
    sizes = {entry.size for name, entry in sealed.items() if name not in found}
    moved: dict[str, str] = {}
    for name, item in extra.items():
        old_seal = None in sizes and item.size <= _MOST_BYTES
        if item.kind == "file" and (item.size in sizes or old_seal):
            old = known.get(_digest(folder / name, item.size) or "")
            if old is not None:
                moved[old] = name
    return moved


def changed(path: Path, known: Sealed) -> str | None:
    """Return how a file differs from what was sealed, with the first byte that does; None when it doesn't."""
    try:
        with plain(path) as file:
            size = os.fstat(file.fileno()).st_size
            if known.size is None and size > _MOST_BYTES:
                return f"has {size:,} bytes, more than any file of a report"
            if known.size is None or known.checks is None:
                same = _hash(file, size) == known.sha256
                return None if same else "differs; an earlier version's seal doesn't say where"
            return _changed(file, size, known.size, known)
    except OSError as error:
        return f"can't be read: {why(error)}"


def _changed(file: BinaryIO, size: int, whole: int, known: Sealed) -> str | None:
    checks = known.checks or b""
    if size >= whole and _hash(file, whole) == known.sha256:
        more = size - whole
        return f"{more:,} bytes were added, from byte {whole:,} on" if more else None
    file.seek(0)
    if size < whole:
        change = locate.first_change_of_part(file, size, whole, checks)
        same = size // locate.block_size(whole) * locate.block_size(whole)
        text = f"is cut off: {size:,} of {whole:,} bytes are there"
        return f"{text}; {_at(file, change)}" if change else f"{text}, the first {same:,} as sealed"
    change = locate.first_change(file, whole, checks)
    grown = f", and {size - whole:,} bytes longer" if size > whole else ""
    return f"{_at(file, change)}{grown}" if change else f"differs from its digest{grown}"


def _at(file: BinaryIO, change: locate.Change) -> str:
    file.seek(change.first)
    return told(change, file.read(1)[0])


def plain(path: Path) -> BinaryIO:
    """Open a plain file for reading; raises OSError for anything else, without waiting or following."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("no plain file")
    return os.fdopen(descriptor, "rb")


def read(path: Path, most: int) -> bytes:
    """Return the bytes of a plain file; raises OSError for anything else, or more than `most` bytes."""
    with plain(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(f"more than {most} bytes")
    return data


def _digest(path: Path, size: int) -> str | None:
    try:
        with plain(path) as file:
            return _hash(file, size)
    except OSError:
        return None


def _hash(file: BinaryIO, size: int) -> str:
    digest = sha256()
    while size > 0 and (data := file.read(min(size, 1 << 20))):
        digest.update(data)
        size -= len(data)
    return digest.hexdigest()


def _oddities(sealed: Mapping[str, Sealed], found: Mapping[str, Found]) -> Iterator[str]:
    """Say what is no change of a byte: a copy on another file system has other modes."""
    items = {name: found[name] for name in sealed}
    for bits, what in ((0o111, "executable"), (stat.S_ISUID | stat.S_ISGID, "set-id")):
        special = [name for name, item in items.items() if item.mode & bits]
        if special:
            yield f"modes are not sealed: {len(special)} files are {what} (first: {special[0]})"
    linked = [name for name, item in items.items() if item.links > 1]
    if linked:
        yield f"{len(linked)} files have other names, by which they can be changed (first: {linked[0]})"
