"""Object headers, attributes and links of HDF5, each as a walk: what has to be read first is yielded."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from benchproof.storage.walker import parse
from benchproof.storage.walker.parse import Attribute, Entry, Superblock, Unparsable
from benchproof.storage.walker.scheduler import Walk

#: What HDF5 itself reads of a header or a heap before it knows the length.
_SPECULATIVE = 512
_COLLECTION = 4096
_MAX_CHUNK = 256 * 1024
_MAX_CONTINUATIONS = 64
_MAX_LEVELS = 6


@dataclass(slots=True)
class Header:
    """An object's header: its attributes, and where its members are when it is a group."""

    attributes: dict[str, Attribute] = field(default_factory=dict)
    links: dict[str, Entry] = field(default_factory=dict)
    table: tuple[int, int] | None = None


@dataclass(slots=True)
class Object:
    """An object: attributes, and members by name if it is a group."""

    attributes: dict[str, Attribute]
    members: dict[str, Entry]


class Objects:
    """Walks over the objects of one file; of a group the first `names` or so members are looked up."""

    def __init__(self, block: Superblock, names: int) -> None:
        self._block = block
        # A leaf is at least half full, unless members were removed.
        half = max((block.leaf_bytes - 8) // 80, 1)
        self._max_leaves = names // half + 2
        self._collections: dict[int, dict[int, bytes]] = {}

    def object(self, entry: Entry) -> Walk:
        """Walk an object; returns an Object."""
        base = self._block.base
        if entry.tree is None or entry.heap is None:
            header: Header = yield from self._header(base + entry.address)
            if header.table is None:
                return Object(header.attributes, header.links)
            members = yield from self._members(*header.table)
            return Object(header.attributes, members)
        # The entry tells where the members are, so nothing has to wait for the header.
        walks = [
            self._header(base + entry.address),
            self._members(base + entry.tree, base + entry.heap),
        ]
        found, members = yield walks
        return Object(found.attributes if found else {}, members or {})

    def texts(self, attributes: dict[str, Attribute], *names: str) -> Walk:
        """Walk the values of text attributes; returns {name: [text]} of those that have one."""
        wanted = [attributes[name] for name in names if name in attributes]
        places = sorted({place for item in wanted for place, _ in item.pointers})
        missing = [place for place in places if place not in self._collections]
        found = yield [self._collection(place) for place in missing]
        self._collections.update(
            (place, objects or {}) for place, objects in zip(missing, found, strict=True)
        )
        return {item.name: self._values(item) for item in wanted}

    def _values(self, item: Attribute) -> list[str]:
        found = [self._collections[place].get(index) for place, index in item.pointers]
        return [*item.texts, *(data.decode("utf-8", "replace") for data in found if data)]

    def _collection(self, place: int) -> Walk:
        at = self._block.base + place
        data = yield (at, _COLLECTION)
        size = parse.collection_size(data)
        if size > len(data):
            data = yield (at, size)
        return parse.collection(data[:size])

    def _header(self, at: int) -> Walk:
        data = yield (at, _SPECULATIVE)
        start, length, old = parse.first_chunk(data)
        if length > _MAX_CHUNK:
            raise Unparsable
        if start + length > len(data):
            data = yield (at, start + length)
        tracked = not old and bool(data[5] & 4)
        header, more = Header(), [data[start : start + length]]
        for _ in range(_MAX_CONTINUATIONS):
            if not more:
                break
            for place, size in self._take(header, more.pop(), old, tracked):
                chunk = yield (self._block.base + place, min(size, _MAX_CHUNK))
                more.append(chunk if old else chunk[4:-4])
        return header

    def _take(
        self, header: Header, chunk: bytes, old: bool, tracked: bool
    ) -> list[tuple[int, int]]:
        """Put a chunk's messages into a header; returns where it goes on."""
        more: list[tuple[int, int]] = []
        for message in parse.messages(chunk, old=old, tracked=tracked):
            if message.flags & 2:
                continue
            if message.kind == parse.CONTINUATION:
                more.append(struct.unpack_from("<QQ", message.data))
            elif message.kind == parse.SYMBOL_TABLE:
                tree, heap = struct.unpack_from("<QQ", message.data)
                header.table = self._block.base + tree, self._block.base + heap
            elif message.kind == parse.LINK:
                found = parse.link(message.data)
                header.links.update([found] if found else [])
            elif message.kind == parse.ATTRIBUTE:
                _keep(header, message.data)
        return more

    def _members(self, tree: int, heap: int) -> Walk:
        leaves: list[tuple[int, Entry]] = []
        names, _ = yield [self._names(heap), self._tree(tree, leaves, [self._max_leaves])]
        return {parse.name_at(names or b"", place): entry for place, entry in leaves}

    def _names(self, heap: int) -> Walk:
        data = yield (heap, _SPECULATIVE)
        address, size = parse.local_heap(data)
        names = yield (self._block.base + address, size)
        return names

    def _tree(
        self, at: int, leaves: list[tuple[int, Entry]], left: list[int], depth: int = 0
    ) -> Walk:
        """Collect the first leaves of a tree; `left` holds how many more may be read."""
        data = yield (at, self._block.tree_bytes)
        level, children = parse.tree_node(data)
        if depth > _MAX_LEVELS:
            raise Unparsable
        if level:
            # Inner nodes are half full at least, too.
            half = ((self._block.tree_bytes - 24) // 8 - 1) // 4
            needed = left[0] // half ** min(level, _MAX_LEVELS) + 2
            subtrees = [self._block.base + child for child in children[:needed]]
            yield [self._tree(child, leaves, left, depth + 1) for child in subtrees]
        else:
            children = children[: max(left[0], 0)]
            left[0] -= len(children)
            yield [self._leaf(self._block.base + child, leaves) for child in children]
        return None

    def _leaf(self, at: int, leaves: list[tuple[int, Entry]]) -> Walk:
        data = yield (at, self._block.leaf_bytes)
        leaves += parse.leaf_node(data)


def _keep(header: Header, data: bytes) -> None:
    """Keep an attribute that is understood; an odd one does not hide the others."""
    try:
        found = parse.attribute(data)
    except (Unparsable, struct.error, IndexError):
        return
    header.attributes[found.name] = found
