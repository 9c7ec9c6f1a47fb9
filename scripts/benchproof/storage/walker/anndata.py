"""Which objects of an AnnData file `describe` looks at, in any layout; the two must be kept in step.

What is missed here is read later by HDF5 itself, one request after the other.
"""

from __future__ import annotations

from benchproof.storage.blocks import Blocks
from benchproof.storage.walker.objects import Object, Objects
from benchproof.storage.walker.parse import Entry, Superblock
from benchproof.storage.walker.scheduler import Scheduler, Walk

_MAPPINGS = ("layers", "obsm", "obsp", "varm")
_INNER = ("data", "values", "categories")


def prefetch(blocks: Blocks, block: Superblock, *, typed: int, members: int, links: int) -> None:
    """Bring into `blocks` what `describe` will read with these limits.

    Raises ReadRefused when the parent could not read; anything else merely ends it early.
    """
    walker = _Walker(Objects(block, links), typed, members)
    root = Entry(
        block.root - block.base,
        None if block.tree is None else block.tree - block.base,
        None if block.heap is None else block.heap - block.base,
    )
    Scheduler(blocks).run(walker.file(root))


class _Walker:
    def __init__(self, objects: Objects, typed: int, members: int) -> None:
        self._objects, self._typed, self._members = objects, typed, members

    def file(self, root: Entry) -> Walk:
        """Walk a whole file."""
        found: Object = yield from self._objects.object(root)
        walks = [self._objects.texts(found.attributes, "encoding-type", "encoding-version")]
        for name, walk in (
            *((name, self._frame) for name in ("obs", "var")),
            *((name, self._element) for name in ("X", "raw.X")),
            *((name, self._mapping) for name in _MAPPINGS),
            ("uns", self._uns),
            ("raw", self._raw),
        ):
            if name in found.members:
                walks.append(walk(found.members[name]))
        yield walks

    def _mapping(self, entry: Entry) -> Walk:
        found: Object = yield from self._objects.object(entry)
        shown = sorted(found.members)[: self._members]
        yield [self._element(found.members[name]) for name in shown]

    def _uns(self, entry: Entry) -> Walk:
        found: Object = yield from self._objects.object(entry)
        # Where 0.6 kept the categories of its tables.
        old = [name for name in found.members if name.endswith("_categories")]
        yield [self._objects.object(found.members[name]) for name in old[: self._typed]]

    def _raw(self, entry: Entry) -> Walk:
        found: Object = yield from self._objects.object(entry)
        if "X" in found.members:
            yield from self._element(found.members["X"])
        elif "var" in found.members:
            yield from self._element(found.members["var"])

    def _element(self, entry: Entry) -> Walk:
        """Walk a matrix or a data frame as far as its encoding, dtype and shape."""
        found: Object = yield from self._objects.object(entry)
        texts = yield from self._objects.texts(
            found.attributes, "encoding-type", "h5sparse_format", "_index", "column-order"
        )
        walks = [self._objects.object(found.members[n]) for n in _INNER if n in found.members]
        walks += [self._index(found.members[n]) for n in _index(found, texts)]
        yield walks

    def _frame(self, entry: Entry) -> Walk:
        """Walk a table: its index, and the dtype of the first columns."""
        found: Object = yield from self._objects.object(entry)
        texts = yield from self._objects.texts(found.attributes, "_index", "column-order")
        index = _index(found, texts)
        names = texts.get("column-order") or sorted(found.members)
        shown = [n for n in names[: self._typed] if n in found.members and n not in index]
        walks = [self._index(found.members[n]) for n in index]
        yield walks + [self._column(found.members[n]) for n in shown]

    def _index(self, entry: Entry) -> Walk:
        found: Object = yield from self._objects.object(entry)
        if found.members:
            inner = [found.members[n] for n in ("values", "codes") if n in found.members]
            yield [
                self._objects.texts(found.attributes, "encoding-type"),
                *(self._objects.object(member) for member in inner),
            ]

    def _column(self, entry: Entry) -> Walk:
        found: Object = yield from self._objects.object(entry)
        walks: list[Walk] = []
        categories = found.attributes.get("categories")
        if categories and categories.address is not None:
            walks.append(self._index(Entry(categories.address)))
        if found.members:
            walks.append(self._objects.texts(found.attributes, "encoding-type"))
        if "categories" in found.members:
            walks.append(self._index(found.members["categories"]))
        elif "values" in found.members:
            walks.append(self._objects.object(found.members["values"]))
        yield walks


def _index(found: Object, texts: dict[str, list[str]]) -> list[str]:
    """Return the members that can be a table's index."""
    names = texts.get("_index") or ["_index", "index"]
    return [name for name in names if name in found.members]
