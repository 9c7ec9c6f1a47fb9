"""Reading a zip archive of a million members without an object for each.

`zipfile` keeps about a kilobyte per member and takes 40 microseconds to read one. An archive of ours has
one shape (no comment, no encryption, one disk), so that 44 bytes a member suffice: the digest of its name,
where it begins, its two sizes and its checksum, sorted by digest.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from hashlib import blake2b
from typing import BinaryIO, Final

_END: Final = struct.Struct("<4s4H2LH")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR: Final = struct.Struct("<4sLQL")
_CENTRAL: Final = struct.Struct("<4s4B4H3L5H2L")
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_PLACE: Final = struct.Struct(">QQQL")
_DIGEST: Final = 16
_RECORD: Final = _DIGEST + _PLACE.size
_FULL: Final = 0xFFFFFFFF
STORED, DEFLATED = 0, 8


class DamagedError(Exception):
    """Bytes that no archive of ours has."""


class Archive:
    """Members of an open archive by name. Raises DamagedError, and OSError where the disk fails."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._end = file, file.seek(0, 2)
        self._table = b"".join(sorted(map(_record, _members(_directory(file)))))
        self._number = len(self._table) // _RECORD

    def __len__(self) -> int:
        return self._number

    def __contains__(self, name: bytes) -> bool:
        return self._find(name) is not None

    def read(self, name: bytes) -> bytes:
        """Return a member, its checksum compared. Raises KeyError when there is none of that name."""
        place = self._find(name)
        if place is None:
            raise KeyError(name)
        offset, packed, size, checksum = place
        if offset + packed > self._end:
            raise DamagedError
        self._file.seek(offset)
        header = self._file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or not header.startswith(b"PK\3\4"):
            raise DamagedError
        *_, method, _time, _date, _crc, _packed, _size, named, extra = _LOCAL.unpack(header)
        raw = self._file.read(named + extra + packed)[named + extra :]
        data = _unpacked(raw, method, size)
        if len(raw) != packed or len(data) != size or zlib.crc32(data) != checksum:
            raise DamagedError
        return data

    def _find(self, name: bytes) -> tuple[int, int, int, int] | None:
        wanted, table = _digest(name), self._table

        def at(place: int) -> bytes:
            return table[place * _RECORD : place * _RECORD + _DIGEST]

        found = bisect_left(range(self._number), wanted, key=at)
        if found == self._number or at(found) != wanted:
            return None
        offset, packed, size, checksum = _PLACE.unpack_from(table, found * _RECORD + _DIGEST)
        return offset, packed, size, checksum


def names(file: BinaryIO) -> Iterator[bytes]:
    """Yield the names of the members of an archive. Raises DamagedError, OSError."""
    for name, *_ in _members(_directory(file)):
        yield name


def _digest(name: bytes) -> bytes:
    return blake2b(name, digest_size=_DIGEST).digest()


def _record(member: tuple[bytes, int, int, int, int]) -> bytes:
    name, *place = member
    return _digest(name) + _PLACE.pack(*place)


def _unpacked(raw: bytes, method: int, size: int) -> bytes:
    if method == STORED:
        return raw
    if method != DEFLATED:
        raise DamagedError
    try:
        # One byte more than is due: a member that unpacks to gigabytes is damaged, and costs nothing.
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, size + 1)
    except (zlib.error, OverflowError):
        raise DamagedError from None


def _directory(file: BinaryIO) -> bytes:
    """Return the central directory, wherever the end of the archive says that it lies."""
    end = file.seek(0, 2)
    tail = _at(file, max(0, end - _END.size - _LOCATOR.size), _END.size + _LOCATOR.size)
    if len(tail) < _END.size:
        raise DamagedError
    mark, *_, size, offset, comment = _END.unpack(tail[-_END.size :])
    if mark != b"PK\5\6" or comment:
        raise DamagedError
    if tail.startswith(b"PK\6\7") and len(tail) == _END.size + _LOCATOR.size:
        _, _, at, _ = _LOCATOR.unpack(tail[: _LOCATOR.size])
        if at > end:
            raise DamagedError
        record = _at(file, at, _END64.size)
        if not record.startswith(b"PK\6\6") or len(record) < _END64.size:
            raise DamagedError
        *_, size, offset = _END64.unpack(record)
        if offset + size > at:
            raise DamagedError
    if offset + size > end:
        raise DamagedError
    return _at(file, offset, size)


def _at(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)


def _members(directory: bytes) -> Iterator[tuple[bytes, int, int, int, int]]:
    """Yield name, offset, packed size, size and checksum of each member."""
    at, end = 0, len(directory)
    while at < end:
        try:
            fields = _CENTRAL.unpack_from(directory, at)
        except struct.error:
            raise DamagedError from None
        mark, checksum, packed, size = fields[0], *fields[9:12]
        named, extra, comment, offset = *fields[12:15], fields[-1]
        if mark != b"PK\1\2":
            raise DamagedError
        at += _CENTRAL.size
        name = directory[at : at + named]
        if _FULL in (packed, size, offset):
            large = directory[at + named : at + named + extra]
            size, packed, offset = _large(large, size, packed, offset)
        at += named + extra + comment
        yield name, offset, packed, size, checksum


def _large(extra: bytes, *given: int) -> Iterator[int]:
    """Return sizes and offset with those that need 64 bits from the field that holds them."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            held = iter(struct.iter_unpack("<Q", extra[at + 4 : at + 4 + length - length % 8]))
            try:
                return iter([next(held)[0] if value == _FULL else value for value in given])
            except StopIteration:
                break
        at += 4 + length
    raise DamagedError
