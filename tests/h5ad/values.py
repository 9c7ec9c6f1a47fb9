"""Invented values as functions of their place: no chance, so that a file has the same bytes each time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def mixed(count: int, salt: int) -> Array:
    """Return `count` whole numbers below 2**24 without an evident pattern."""
    return (np.arange(1, count + 1, dtype=np.uint64) * (2_654_435_761 + 2 * salt) % (1 << 32)) >> 8


def numbers(count: int, dtype: str, salt: int) -> Array:
    """Return `count` values of a numpy dtype; floats lie between 0 and 1."""
    kind = np.dtype(dtype).kind
    found = mixed(count, salt)
    if kind == "f":
        return (found / float(1 << 24)).astype(dtype)
    if kind == "b":
        return found % 3 > 0
    return (found % 120).astype(dtype)


@lru_cache(maxsize=64)
def names(stem: str, count: int) -> tuple[str, ...]:
    """Return `count` distinct names."""
    return tuple(f"{stem}_{number:06}" for number in range(count))


def lines(rows: int, columns: int, per_line: int) -> tuple[Array, Array]:
    """Return (indices, indptr) of a compressed matrix with ascending, distinct indices in each line."""
    per_line = min(per_line, columns)
    if rows == 0 or per_line == 0:
        return np.zeros(0, "int32"), np.zeros(rows + 1, "int32")
    step = columns // per_line
    starts = np.arange(rows, dtype="int32") % step
    indices = (starts[:, None] + step * np.arange(per_line, dtype="int32")[None, :]).reshape(-1)
    return indices.astype("int32"), np.arange(rows + 1, dtype="int32") * per_line
