"""What differs between two tables of one name, row by row and column by column."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from benchproof.analysis.drift.frames import Column, Frame, Row, comparable, same
from benchproof.analysis.drift.keyed import Pairing, Places, both, pair

pc: Any = pyarrow.compute
#: Stretches above which columns are brought into order at once instead of piece by piece.
_PIECES = 400


@dataclass
class Delta:
    """Rows of one side alone, and pairs of rows with the columns in which they differ.

    `repeated` are keys that stand twice on a side and are compared with nothing; `uncompared` says for
    each column why it was not compared: `only_old`, `only_new` or `type_changed`.
    """

    removed: list[Row] = field(default_factory=list)
    added: list[Row] = field(default_factory=list)
    changed: list[tuple[Row, Row, tuple[str, ...]]] = field(default_factory=list)
    repeated: list[tuple[Any, ...]] = field(default_factory=list)
    uncompared: dict[str, str] = field(default_factory=dict)


def compare(
    old: Frame,
    new: Frame,
    key: Sequence[str],
    skipped: Collection[str] = (),
    context: Collection[str] | None = None,
) -> Delta:
    """Return what differs; columns of `skipped` are left out.

    Rows carry all columns, or the key, the changed ones and those of `context`. A table without its key
    columns has no rows that could be paired: all of it is `uncompared`.
    """
    out = Delta(uncompared=_uncompared(old, new, skipped))
    if any(name in out.uncompared or name not in old.kinds for name in key):
        return out
    pairing = pair(old, new, key)
    out.repeated = sorted(pairing.repeated, key=repr)
    compared = [
        name
        for name in new.kinds
        if name not in key and name not in skipped and name not in out.uncompared
    ]
    # Last, and kept: the rows that differ are looked up in the columns that travel with them.
    compared.sort(key=lambda name: context is not None and name in context)
    differing = {
        name: _differing(old, new, name, pairing, context is not None and name in context)
        for name in compared
    }
    differing = {name: places for name, places in differing.items() if len(places)}
    wanted = None if context is None else {*key, *context, *differing}
    out.removed = old.at(pairing.removed.tolist(), wanted)
    out.added = new.at(pairing.added.tolist(), wanted)
    out.changed = _changed(old, new, differing, pairing, wanted)
    return out


def _uncompared(old: Frame, new: Frame, skipped: Collection[str]) -> dict[str, str]:
    found = {name: "only_old" for name in old.kinds if name not in new.kinds}
    found |= {name: "only_new" for name in new.kinds if name not in old.kinds}
    found |= {
        name: "type_changed"
        for name, kind in new.kinds.items()
        if name in old.kinds and not comparable(old.kinds[name], kind)
    }
    return {name: why for name, why in sorted(found.items()) if name not in skipped}


def _differing(old: Frame, new: Frame, name: str, pairing: Pairing, keep: bool) -> Places:
    """Return the numbers of the pairs whose values differ in one column."""
    mine, theirs = both(old, new, name, keep=keep)
    if len(pairing.stretches) > _PIECES:
        ours, others = pairing.pairs
        pieces = [(mine.take(pa.array(ours)), theirs.take(pa.array(others)))]
    else:
        pieces = [(mine.slice(a, n), theirs.slice(b, n)) for a, b, n in pairing.stretches]
    found, start = [np.zeros(0, np.int64)], 0
    for one, other in pieces:
        found.append(_unequal(one, other) + start)
        start += len(one)
    return np.concatenate(found)


def _unequal(one: Column, other: Column) -> Places:
    if one.type != other.type or pa.types.is_nested(one.type) or pa.types.is_null(one.type):
        pairs = zip(one.to_pylist(), other.to_pylist(), strict=True)
        return np.array([n for n, (a, b) in enumerate(pairs) if not same(a, b)], np.int64)
    equal = pc.fill_null(pc.equal(one, other), False)
    equal = pc.or_(equal, pc.and_(pc.is_null(one), pc.is_null(other)))
    if pa.types.is_floating(one.type):
        neither = pc.and_(pc.is_nan(one), pc.is_nan(other))
        equal = pc.or_(equal, pc.fill_null(neither, False))
    return np.flatnonzero(~equal.to_numpy())


def _changed(
    old: Frame,
    new: Frame,
    differing: dict[str, Places],
    pairing: Pairing,
    wanted: Collection[str] | None,
) -> list[tuple[Row, Row, tuple[str, ...]]]:
    if not differing:
        return []
    numbers = np.unique(np.concatenate(list(differing.values())))
    ours, theirs = pairing.pairs
    names: dict[int, list[str]] = {int(number): [] for number in numbers}
    for name in filter(differing.__contains__, new.kinds):
        for place in differing[name]:
            names[int(place)].append(name)
    return [
        (before, after, tuple(names[int(number)]))
        for number, before, after in zip(
            numbers,
            old.at(ours[numbers].tolist(), wanted),
            new.at(theirs[numbers].tolist(), wanted),
            strict=True,
        )
    ]
