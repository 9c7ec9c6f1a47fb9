"""Members and attributes of a file of strangers, by h5py: where a path leads is looked at before it is taken.

Links that leave the file are not followed, values are read only when they are few, and what is no UTF-8
is replaced.
"""

from __future__ import annotations

import contextlib
import math
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import h5py
import numpy as np
from h5py import h5a, h5l

#: Soft links that lead to soft links are followed so far.
_HOPS = 8
#: More values than this are not the attribute of any table.
_MOST = 100_000


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A link that is not followed; `kind` says why."""

    kind: str


Node: TypeAlias = "h5py.Group | h5py.Dataset | Elsewhere | None"


class Inside:
    """Looks into one open file; `links` members of a group are listed at most."""

    def __init__(self, file: h5py.File, links: int) -> None:
        self._file, self._links = file, links

    def names(self, group: h5py.Group) -> tuple[list[str], bool]:
        """Return a group's names, sorted, and whether there are more than the limit."""
        found: list[str] = []

        def add(name: bytes) -> bool | None:
            found.append(_decoded(name))
            return True if len(found) > self._links else None

        # In the file's own order, so that a group of any size is left once enough is known.
        group.id.links.iterate(add, idx_type=h5py.h5.INDEX_NAME, order=h5py.h5.ITER_NATIVE)
        return sorted(found[: self._links]), len(found) > self._links

    def member(self, group: h5py.Group, path: str, hops: int = _HOPS) -> Node:
        """Open what lies at a path below a group; each step of it is checked for where it leads."""
        node: Node = group
        for step in _steps(path):
            if not isinstance(node, h5py.Group):
                return node if isinstance(node, Elsewhere) else None
            node = self._step(node, step, hops)
        return None if node is group else node

    def _step(self, group: h5py.Group, name: bytes, hops: int) -> Node:
        if not group.id.links.exists(name):
            return None
        kind = group.id.links.get_info(name).type
        if kind == h5l.TYPE_HARD:
            opened = group[name]
            return opened if isinstance(opened, h5py.Group | h5py.Dataset) else None
        if kind == h5l.TYPE_EXTERNAL:
            return Elsewhere("external link")
        if kind != h5l.TYPE_SOFT:
            return Elsewhere("unknown link")
        target = _decoded(group.id.links.get_val(name))
        if hops == 0:
            return Elsewhere("soft link")
        start = self._file["/"] if target.startswith("/") else group
        found = self.member(start, target, hops - 1)
        return Elsewhere("soft link") if found is None else found

    # Attributes.

    def attribute(self, node: h5py.Group | h5py.Dataset, name: str) -> str | None:
        """Return a text attribute; None when it is absent or no text."""
        texts = self.texts(node, name, scalar=True)
        return texts[0] if texts else None

    def texts(
        self, node: h5py.Group | h5py.Dataset, name: str, *, scalar: bool = False
    ) -> list[str] | None:
        """Return an attribute of texts; None when it is absent, something else or far too long.

        With `scalar` one of several texts counts as absent, too.
        """
        attribute = _attribute(node, name)
        if attribute is None or (scalar and math.prod(attribute.shape) != 1):
            return None
        if 0 in attribute.shape:
            return []
        if attribute.dtype.kind not in "SO" or math.prod(attribute.shape) > _MOST:
            return None
        values = np.ravel(np.asarray(node.attrs[name], dtype=object)).tolist()
        texts = [_decoded(v) for v in values if isinstance(v, str | bytes)]
        return texts if len(texts) == len(values) else None

    def whole_numbers(self, node: h5py.Group, name: str) -> tuple[int, ...]:
        """Return an attribute of at most 8 whole numbers; empty when it is anything else."""
        attribute = _attribute(node, name)
        if attribute is None or attribute.dtype.kind not in "iu":
            return ()
        if math.prod(attribute.shape) > 8:
            return ()
        return tuple(int(n) for n in np.ravel(node.attrs[name]))

    def referenced(self, node: h5py.Dataset, name: str) -> Node:
        """Return the object that an attribute refers to; references cannot leave the file."""
        attribute = _attribute(node, name)
        if attribute is None or attribute.shape != () or attribute.dtype != h5py.ref_dtype:
            return None
        reference = node.attrs[name]
        found = self._file[reference] if reference else None
        return found if isinstance(found, h5py.Group | h5py.Dataset) else None


def _attribute(node: h5py.Group | h5py.Dataset, name: str) -> h5a.AttrID | None:
    """Open an attribute without reading its value; None without one or of a type unknown here."""
    if not h5a.exists(node.id, name.encode()):
        return None
    attribute = h5a.open(node.id, name.encode())
    try:
        _ = attribute.dtype
    except (TypeError, ValueError):
        return None
    return attribute if attribute.shape is not None else None


def _steps(path: str) -> Iterator[bytes]:
    for step in path.split("/"):
        if step not in ("", "."):
            yield step.encode("utf-8", "surrogateescape")


def _decoded(value: str | bytes) -> str:
    """Return text that any table can hold: what is no UTF-8 is replaced."""
    data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return data.decode("utf-8", "replace")


@contextlib.contextmanager
def no_more_files() -> Iterator[None]:
    """Let this process open no other file meanwhile, whatever a file it reads refers to."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Open ones go on working.
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
