"""Files of an exact size that occupy almost nothing: real structure around a hole where X would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from h5ad.layout import hole
from h5ad.spec import Column, Matrix, Spec, wide
from h5ad.write import build

#: Below this, a dataset may share a block with others, and sizes would not add up.
_ALONE = 4096
#: Bytes of a name in the file: a reference, and in a heap a header, the text and what rounding adds.
_TEXT = 52


def huge(path: Path, *, size: int, columns: int = 20, form: str = "csr", **changes: Any) -> Spec:
    """Write a file of exactly `size` bytes and return what it holds.

    `form` is csr, csc or dense; `changes` are fields of Spec. A dense file gets as many columns of
    X as fit, a sparse one as many values. Raises ValueError when `size` is too small.
    """
    given: dict[str, Any] = {"n_obs": 20_000, "n_vars": 2_000, "obs": wide(columns)} | changes
    spec = Spec(**given, x=Matrix(form, hole=True))
    if form == "dense" and "n_vars" not in changes:
        each = 4 * spec.n_obs + _row(spec.var) + 4 * sum(spec.varm.values())
        left = size - _rest(replace(spec, n_vars=0))
        spec = replace(spec, n_vars=max(left // each, 1))
    return exactly(path, spec, size)


def exactly(path: Path, spec: Spec, size: int) -> Spec:
    """Write `spec` so that the file has exactly `size` bytes and return what was written.

    A sparse X or raw that is a hole takes nearly all that is left, uns/padding the rest. Raises
    ValueError when `spec` does not fit into `size`.
    """
    spec = build(path, _filled(spec, size))
    for _ in range(4):
        left = size - path.stat().st_size
        if left == 0:
            return spec
        spec = replace(spec, padding=spec.padding + left)
        if spec.padding < _ALONE:
            break
        _pad(path, spec.padding)
    raise ValueError(f"{path.name}: {size} bytes are too few")


def _pad(path: Path, count: int) -> None:
    """Give uns/padding, which is the last thing in the file, another length."""
    with h5py.File(path, "r+") as file:
        marks = dict(file["uns/padding"].attrs)
        del file["uns/padding"]
        hole(file["uns"], "padding", (count,), "uint8").attrs.update(marks)


def _filled(spec: Spec, size: int) -> Spec:
    """Return `spec` with the least padding and as many values in its hole as will fit for certain."""
    spec = replace(spec, padding=_ALONE)
    for place in ("x", "raw"):
        matrix: Matrix | None = getattr(spec, place)
        if matrix and matrix.sparse and matrix.hole and not matrix.stored:
            left = size - _rest(spec)
            if left < 0:
                raise ValueError(f"{size} bytes are too few")
            each = np.dtype(matrix.dtype).itemsize + 4
            changes: dict[str, Any] = {place: replace(matrix, stored=left // each)}
            return replace(spec, **changes)
    return spec


def _rest(spec: Spec) -> int:
    """Return a little more than the bytes of a file without those of the hole that is to be filled."""
    rows = spec.n_obs * (_row(spec.obs) + 4 * sum(spec.obsm.values()) + 41 * len(spec.obsp))
    rows += (spec.n_vars + spec.raw_vars) * (_row(spec.var) + 4 * sum(spec.varm.values()))
    known = sum(
        8 * (spec.n_obs + 1)
        + (np.dtype(matrix.dtype).itemsize + 4)
        * (matrix.stored if matrix.hole else matrix.per_line * max(spec.n_obs, spec.n_vars))
        + (4 * spec.n_obs * spec.n_vars if matrix.form == "dense" else 0)
        for matrix in (spec.x, spec.raw, *spec.layers.values())
        if matrix
    )
    return rows + known + 3_000 * (len(spec.obs) + len(spec.uns)) + 150_000


def _row(columns: Sequence[Column]) -> int:
    """Return the bytes of a table's row, its index included, a little more than they are."""
    special = {
        "categorical": 1,
        "ordered": 1,
        "string": _TEXT,
        "nullable-string": _TEXT,
        "nullable-integer": 9,
        "nullable-boolean": 2,
    }
    return _TEXT + sum(special.get(c.kind) or np.dtype(c.kind).itemsize for c in columns)
