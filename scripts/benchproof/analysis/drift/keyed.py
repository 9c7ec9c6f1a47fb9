"""Rows of two tables paired by key, whatever their order: sorted tables by a merge, others by number.

Both ways give the same pairs. The merge steps over equal stretches with one comparison, so that two
tables of a million rows with few differences cost a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from benchproof.analysis.drift.frames import Column, Frame

pc: Any = pyarrow.compute
Places = np.ndarray[Any, np.dtype[np.int64]]

#: Single steps after which a merge is given up: tables with little in common are numbered instead.
_STEPS = 20_000
#: Rows that are compared at once; the first stretch after a difference is short.
_LEAST, _MOST = 64, 1 << 18
#: Rows below which a thread costs more than it saves.
_ALONE = 100_000


@dataclass(frozen=True)
class Pairing:
    """Places of rows: those of one side alone, and pairs as stretches (start, start, length).

    `repeated` are keys that a side holds more than once; their rows stand nowhere else.
    """

    removed: Places
    added: Places
    stretches: list[tuple[int, int, int]]
    repeated: list[tuple[Any, ...]]

    @property
    def pairs(self) -> tuple[Places, Places]:
        """The places of all pairs, one array a side."""
        mine = [np.arange(a, a + n) for a, _, n in self.stretches]
        theirs = [np.arange(b, b + n) for _, b, n in self.stretches]
        none = np.zeros(0, np.int64)
        return np.concatenate([none, *mine]), np.concatenate([none, *theirs])


def pair(old: Frame, new: Frame, key: Sequence[str]) -> Pairing:
    """Return how the rows of two tables belong together by their key."""
    ours, theirs = map(list, zip(*(both(old, new, name, keep=True) for name in key), strict=True))
    fitting = all(a.type == b.type and not a.null_count for a, b in zip(ours, theirs, strict=True))
    if fitting and _increases(ours) and _increases(theirs):
        merged = _merge([_whole(c) for c in ours], [_whole(c) for c in theirs])
        if merged is not None:
            return merged
    return _number(ours, theirs)


def both(old: Frame, new: Frame, name: str, *, keep: bool = False) -> tuple[Column, Column]:
    """Return a column of both sides, read side by side: reading is most of what a comparison costs."""
    if old.rows + new.rows < _ALONE:
        return old.column(name, keep=keep), new.column(name, keep=keep)
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(old.column, name, keep=keep)
        theirs = new.column(name, keep=keep)
        return waiting.result(), theirs


def _whole(column: Column) -> Column:
    """Return a column as one array."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _increases(columns: Sequence[Column]) -> bool:
    """True when keys come in order and none comes twice."""
    length = len(columns[0])
    if length < 2:
        return True
    greater, equal = None, None
    for column in columns:
        earlier, later = column.slice(0, length - 1), column.slice(1)
        above, level = pc.greater(later, earlier), pc.equal(later, earlier)
        greater = above if greater is None else pc.or_(greater, pc.and_(equal, above))
        equal = level if equal is None else pc.and_(equal, level)
    return bool(pc.all(greater).as_py())


def _merge(old: Sequence[Column], new: Sequence[Column]) -> Pairing | None:
    """Return the pairs of two sorted tables; None when they have too little in common for it."""
    removed: list[int] = []
    added: list[int] = []
    stretches: list[tuple[int, int, int]] = []
    a = b = 0
    ends, span = (len(old[0]), len(new[0])), _MOST
    while a < ends[0] and b < ends[1]:
        wanted = min(span, ends[0] - a, ends[1] - b)
        equal = _equal_stretch(old, new, a, b, wanted)
        if equal:
            _extend(stretches, a, b, equal)
            a, b = a + equal, b + equal
            span = min(span * 8, _MOST)
            if equal == wanted:
                continue
        if a < ends[0] and b < ends[1]:
            if _at(old, a) < _at(new, b):
                removed.append(a)
                a += 1
            else:
                added.append(b)
                b += 1
            span = _LEAST
            if len(removed) + len(added) > _STEPS:
                return None
    tails = np.arange(a, ends[0]), np.arange(b, ends[1])
    return Pairing(
        np.concatenate([np.array(removed, np.int64), tails[0]]),
        np.concatenate([np.array(added, np.int64), tails[1]]),
        stretches,
        [],
    )


def _equal_stretch(
    old: Sequence[Column], new: Sequence[Column], a: int, b: int, length: int
) -> int:
    """Return how many rows from here on have equal keys, at most `length`."""
    for mine, theirs in zip(reversed(old), reversed(new), strict=True):
        equal = pc.equal(mine.slice(a, length), theirs.slice(b, length))
        if equal.false_count:
            length = int(equal.to_numpy(zero_copy_only=False).argmin())
        if not length:
            break
    return length


def _at(columns: Sequence[Column], place: int) -> tuple[Any, ...]:
    return tuple(column[place].as_py() for column in columns)


def _extend(stretches: list[tuple[int, int, int]], a: int, b: int, length: int) -> None:
    """Add a stretch, or make the last one longer when it goes on there."""
    if stretches:
        before, other, size = stretches[-1]
        if (before + size, other + size) == (a, b):
            stretches[-1] = (before, other, size + length)
            return
    stretches.append((a, b, length))


def _number(old: Sequence[Column], new: Sequence[Column]) -> Pairing:
    """Return the pairs of any two tables: equal keys get equal numbers, and numbers are places."""
    numbers, size = _numbered(old, new)
    ours, theirs = numbers[: len(old[0])], numbers[len(old[0]) :]
    counts = np.bincount(ours, minlength=size), np.bincount(theirs, minlength=size)
    twice = (counts[0] > 1) | (counts[1] > 1)
    at = np.full(size, -1, np.int64)
    at[theirs] = np.arange(len(theirs))
    single = ~twice[ours]
    places = np.flatnonzero(single & (counts[1][ours] == 1))
    removed = np.flatnonzero(single & (counts[1][ours] == 0))
    added = np.flatnonzero(~twice[theirs] & (counts[0][theirs] == 0))
    return Pairing(
        removed, added, _stretched(places, at[ours[places]]), _repeated(old, new, numbers, twice)
    )


def _numbered(old: Sequence[Column], new: Sequence[Column]) -> tuple[Places, int]:
    numbers, size = np.zeros(len(old[0]) + len(new[0]), np.int64), 1
    for mine, theirs in zip(old, new, strict=True):
        if mine.type != theirs.type:
            mine, theirs = mine.cast(pa.string()), theirs.cast(pa.string())
        both = _whole(pa.chunked_array([*mine.chunks, *theirs.chunks], mine.type))
        codes = pc.dictionary_encode(both, null_encoding="encode")
        numbers = numbers * len(codes.dictionary) + codes.indices.to_numpy(zero_copy_only=False)
        # Numbered anew after each column, so that no product of sizes can overflow.
        values, numbers = np.unique(numbers, return_inverse=True)
        size = len(values)
    return numbers.astype(np.int64), size


def _repeated(
    old: Sequence[Column],
    new: Sequence[Column],
    numbers: Places,
    twice: np.ndarray[Any, np.dtype[np.bool_]],
) -> list[tuple[Any, ...]]:
    """Return the keys that a side holds more than once, each once."""
    seen = np.flatnonzero(twice[numbers])
    _, firsts = np.unique(numbers[seen], return_index=True)
    length = len(old[0])
    return [
        tuple(
            (mine[place] if place < length else theirs[place - length]).as_py()
            for mine, theirs in zip(old, new, strict=True)
        )
        for place in map(int, seen[firsts])
    ]


def _stretched(ours: Places, theirs: Places) -> list[tuple[int, int, int]]:
    """Return pairs of places as stretches in which both sides go on by one."""
    if not len(ours):
        return []
    breaks = np.flatnonzero((np.diff(ours) != 1) | (np.diff(theirs) != 1)) + 1
    starts: Iterable[int] = map(int, [0, *breaks])
    ends: Iterable[int] = map(int, [*breaks, len(ours)])
    return [(int(ours[s]), int(theirs[s]), e - s) for s, e in zip(starts, ends, strict=True)]
