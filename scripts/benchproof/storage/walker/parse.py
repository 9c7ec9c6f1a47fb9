"""HDF5's structures, from bytes to values, as its file format specification lays them out.

Only files with offsets and lengths of 8 bytes are understood; nobody writes others.
Source: HDF5 File Format Specification, versions 1.1 to 3.0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

SIGNATURE = b"\x89HDF\r\n\x1a\n"
UNDEFINED = 0xFFFF_FFFF_FFFF_FFFF

ATTRIBUTE, CONTINUATION, SYMBOL_TABLE, LINK = 0x000C, 0x0010, 0x0011, 0x0006
MAX_MESSAGES = 4096
_SUPERBLOCK_BYTES = {0: 96, 1: 100, 2: 48, 3: 48}
_VLEN, _REFERENCE, _STRING = 9, 7, 3


class Unparsable(Exception):
    """Bytes are not what was looked for, or in a form that is not read here."""


class CutShort(Unparsable):
    """The object ends inside its superblock."""


@dataclass(frozen=True, slots=True)
class Superblock:
    """Where a file's structures start; `base` is added to every address here, `end` is the file's end.

    A user block that was put before a finished file moves its end, so the base that is stated counts.

    `tree` and `heap` are those of the root group's symbol table, None when not told here. A node of a
    symbol table's tree has `tree_bytes`, of its leaves `leaf_bytes`.
    """

    base: int
    end: int
    root: int
    tree: int | None = None
    heap: int | None = None
    tree_bytes: int = 544
    leaf_bytes: int = 328


def superblock(head: bytes) -> Superblock | None:
    """Return the superblock that stands in an object's first bytes, None when there is no signature.

    Raises Unparsable when the signature is not followed by a superblock that is known, CutShort when
    it is not followed by enough.
    """
    at = 0
    while head[at : at + 8] != SIGNATURE:
        at = at * 2 if at else 512
        if at >= len(head):
            return None
    body = head[at:]
    if len(body) < 9 or len(body) < _SUPERBLOCK_BYTES.get(body[8], 0):
        raise CutShort
    return _old(body, body[8], at) if body[8] < 2 else _new(body, body[8], at)


def _old(body: bytes, version: int, base: int) -> Superblock:
    sizes, leaf, internal = body[13:15], *struct.unpack_from("<HH", body, 16)
    _expect(sizes == b"\x08\x08" and 0 < leaf <= 64 and 0 < internal <= 256)
    at = 24 if version == 0 else 28
    stated, _, end = struct.unpack_from("<QQQ", body, at)
    _, root, cached, tree, heap = struct.unpack_from("<QQI4xQQ", body, at + 32)
    return Superblock(
        base,
        base - stated + end,
        base + root,
        base + tree if cached == 1 else None,
        base + heap if cached == 1 else None,
        tree_bytes=24 + 8 * (4 * internal + 1),
        leaf_bytes=8 + 40 * 2 * leaf,
    )


def _new(body: bytes, version: int, base: int) -> Superblock:
    _expect(version <= 3 and body[9:11] == b"\x08\x08")
    stated, _, end, root = struct.unpack_from("<4Q", body, 12)
    return Superblock(base, base - stated + end, base + root)


class Message(NamedTuple):
    """A message of an object header."""

    kind: int
    flags: int
    data: bytes


def first_chunk(data: bytes) -> tuple[int, int, bool]:
    """Return where the messages of a header start, their length in bytes, and whether it is of version 1."""
    if data[:4] != b"OHDR":
        _expect(data[0] == 1)
        return 16, int(struct.unpack_from("<I", data, 8)[0]), True
    flags = data[5]
    at = 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    width = 1 << (flags & 3)
    return at + width, int.from_bytes(data[at : at + width], "little"), False


def messages(data: bytes, *, old: bool, tracked: bool = False) -> Iterator[Message]:
    """Yield the messages of a chunk; `tracked` when each carries its creation order (version 2)."""
    at, head = 0, 8 if old else (6 if tracked else 4)
    for _ in range(MAX_MESSAGES):
        if at + head > len(data):
            return
        if old:
            kind, size, flags = struct.unpack_from("<HHB", data, at)
        else:
            kind, size, flags = struct.unpack_from("<BHB", data, at)
        yield Message(kind, flags, data[at + head : at + head + size])
        at += head + size


class Attribute(NamedTuple):
    """A compact attribute: `pointers` are (collection, index) of its variable-length texts.

    `texts` are the values of a fixed-length one, `address` what a reference to an object points to.
    """

    name: str
    pointers: tuple[tuple[int, int], ...] = ()
    texts: tuple[str, ...] = ()
    address: int | None = None


def attribute(data: bytes) -> Attribute:
    """Return an attribute from its message, as far as it is text or a reference."""
    version = data[0]
    name_size, type_size, space_size = struct.unpack_from("<HHH", data, 2)
    _expect(version in (1, 2, 3) and (version == 1 or not data[1] & 3))
    at = 9 if version == 3 else 8
    places = []
    for size in (name_size, type_size, space_size):
        places.append(data[at : at + size])
        at += -(-size // 8) * 8 if version == 1 else size
    name = places[0].split(b"\0")[0].decode("utf-8", "replace")
    count, value = _count(places[2]), data[at:]
    kind, size = places[1][0] & 15, struct.unpack_from("<I", places[1], 4)[0]
    if kind == _VLEN:
        count = min(count, len(value) // 16)
        return Attribute(
            name, tuple(struct.unpack_from("<QI", value, 16 * i + 4) for i in range(count))
        )
    if kind == _STRING and size:
        count = min(count, len(value) // size)
        return Attribute(
            name, texts=tuple(_text(value[i * size : (i + 1) * size]) for i in range(count))
        )
    if kind == _REFERENCE and size == 8 and count == 1:
        return Attribute(name, address=struct.unpack_from("<Q", value)[0])
    return Attribute(name)


def _count(space: bytes) -> int:
    """Return how many values a dataspace has."""
    version, rank = space[0], space[1]
    _expect(version in (1, 2))
    if version == 2 and space[3] == 2:
        return 0
    count = 1
    for size in struct.unpack_from(f"<{rank}Q", space, 8 if version == 1 else 4):
        count *= size
    return count


class Entry(NamedTuple):
    """A member of a group: its object's address, and tree and heap when it is known to be a group."""

    address: int
    tree: int | None = None
    heap: int | None = None


def link(data: bytes) -> tuple[str, Entry] | None:
    """Return name and target of a link message, None when the link is not a hard one."""
    flags, at = data[1], 2
    _expect(data[0] == 1)
    if flags & 8:
        if data[at]:
            return None
        at += 1
    at += (8 if flags & 4 else 0) + (1 if flags & 16 else 0)
    width = 1 << (flags & 3)
    size = int.from_bytes(data[at : at + width], "little")
    at += width
    name = data[at : at + size].decode("utf-8", "replace")
    return name, Entry(struct.unpack_from("<Q", data, at + size)[0])


def tree_node(data: bytes) -> tuple[int, list[int]]:
    """Return level and children of a node of a symbol table's tree."""
    _expect(data[:4] == b"TREE" and data[4] == 0)
    level, used = data[5], struct.unpack_from("<H", data, 6)[0]
    used = min(used, (len(data) - 24) // 16)
    return level, [struct.unpack_from("<Q", data, 32 + 16 * i)[0] for i in range(used)]


def leaf_node(data: bytes) -> list[tuple[int, Entry]]:
    """Return (place of the name in the heap, member) of each entry of a leaf."""
    _expect(data[:4] == b"SNOD")
    used = min(struct.unpack_from("<H", data, 6)[0], (len(data) - 8) // 40)
    entries = []
    for i in range(used):
        name, address, cached, tree, heap = struct.unpack_from("<QQI4xQQ", data, 8 + 40 * i)
        if cached == 1:
            entries.append((name, Entry(address, tree, heap)))
        elif cached == 0:
            entries.append((name, Entry(address)))
    return entries


def local_heap(data: bytes) -> tuple[int, int]:
    """Return (address, length) of a local heap's names."""
    _expect(data[:4] == b"HEAP")
    size, _, address = struct.unpack_from("<QQQ", data, 8)
    return address, size


def collection_size(data: bytes) -> int:
    """Return the length of a global heap collection in bytes."""
    _expect(data[:4] == b"GCOL")
    return int(struct.unpack_from("<Q", data, 8)[0])


def collection(data: bytes) -> dict[int, bytes]:
    """Return the objects of a global heap collection by index."""
    found: dict[int, bytes] = {}
    at = 16
    while at + 16 <= len(data):
        index, size = struct.unpack_from("<H6xQ", data, at)
        if index == 0 or size > len(data):
            break
        found[index] = data[at + 16 : at + 16 + size]
        at += 16 + -(-size // 8) * 8
    return found


def name_at(names: bytes, place: int) -> str:
    """Return the name at a place of a local heap."""
    return _text(names[place : place + 4096])


def _text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("utf-8", "replace")


def _expect(condition: bool) -> None:
    if not condition:
        raise Unparsable
