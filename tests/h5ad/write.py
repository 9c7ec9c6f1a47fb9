"""Writes .h5ad files in the layouts of AnnData 0.6 to 0.13."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from h5ad.layout import TEXT, Layout, codes, hole
from h5ad.spec import Column, Spec
from h5ad.values import Array, names, numbers


def build(path: Path, spec: Spec | None = None) -> Spec:
    """Write a file and return what it holds."""
    spec = spec or Spec()
    kind = {"0.6": Layout06, "0.7": Layout07, "0.13": Layout13}.get(spec.generation, Layout)
    with h5py.File(path, "w") as file:
        kind(file, spec).write()
    return spec


class Layout07(Layout):
    """The layout of 0.7: only frames and sparse matrices name an encoding, categories are referred to."""

    frame_version = "0.1.0"
    marks_all = False

    def raw(self) -> None:
        """Add raw, which states its shape."""
        super().raw()
        if self.spec.raw is not None:
            shape = np.array((self.spec.n_obs, self.spec.raw_vars), "int64")
            self.file["raw"].attrs["shape"] = shape

    def categorical(self, frame: Any, column: Column, values: Array) -> None:
        """Add codes with a reference to their categories."""
        known = frame.require_group("__categories")
        listed = self.texts(known, column.name, names(column.name, column.categories))
        listed.attrs["ordered"] = column.kind == "ordered"
        frame.create_dataset(column.name, data=values).attrs["categories"] = listed.ref


class Layout13(Layout):
    """The layout of 0.13 with pandas 3: texts of a frame may be missing, those of the index too."""

    def index(self, frame: Any, key: str, values: Sequence[str]) -> None:
        """Add the names of the rows as strings with a mask."""
        self.nullable_text(frame, key, values)

    def column(self, frame: Any, column: Column, length: int, salt: int) -> None:
        """Add one column; all strings are nullable ones."""
        kind = "nullable-string" if column.kind == "string" else column.kind
        super().column(frame, Column(column.name, kind, column.categories), length, salt)

    def nullable_text(self, group: Any, name: str, values: Sequence[str]) -> None:
        """Add strings with a mask and the value that stands for a missing one."""
        super().nullable_text(group, name, values)
        group[name].attrs["na-value"] = np.nan


class Layout06(Layout07):
    """The layout of 0.6: obs and var are tables of compound type, categories stand in uns."""

    def write(self) -> None:
        """Write everything, in 0.6's order."""
        spec, file = self.spec, self.file
        self.matrix(file, "X", spec.x, (spec.n_obs, spec.n_vars))
        self.frame(file, "obs", spec.obs, names("cell", spec.n_obs), "index")
        self.frame(file, "var", spec.var, self.var_names(), "index")
        for key, found, length in (
            ("obsm", spec.obsm, spec.n_obs),
            ("varm", spec.varm, spec.n_vars),
        ):
            kinds = [(name, "f4", (width,)) for name, width in found.items()]
            if kinds:
                file.create_dataset(key, data=np.zeros(length, kinds))
        self.uns(file.create_group("uns"), spec.uns)
        for column in (*spec.obs, *spec.var):
            if column.kind in ("categorical", "ordered"):
                known = names(column.name, column.categories)
                self.texts(file["uns"], f"{column.name}_categories", known)
        if spec.padding:
            hole(file["uns"], "padding", (spec.padding,), "uint8")
        if spec.raw is not None:
            self.matrix(file, "raw.X", spec.raw, (spec.n_obs, spec.raw_vars))
            self.frame(file, "raw.var", spec.var, names("feature", spec.raw_vars), "index")

    def sparse_group(self, group: Any, name: str, form: str, shape: tuple[int, int]) -> Any:
        """Add the group of a sparse matrix, as h5sparse marked it."""
        node = group.create_group(name)
        node.attrs["h5sparse_format"] = form
        node.attrs["h5sparse_shape"] = np.array(shape, "int64")
        return node

    def frame(
        self, group: Any, name: str, columns: Sequence[Column], index: Sequence[str], key: str
    ) -> None:
        """Add a table whose first field is the index."""
        fields: list[tuple[str, Any]] = [(key, TEXT)]
        parts: list[Any] = [np.array(index, dtype=object)]
        for salt, column in enumerate(columns):
            dtype, values = _plain(column, len(index), salt)
            fields.append((column.name, dtype))
            parts.append(values)
        table = np.empty(len(index), np.dtype(fields))
        for (field, _), values in zip(fields, parts, strict=True):
            table[field] = values
        group.create_dataset(name, data=table).attrs["source_type"] = "dataframe"


def _plain(column: Column, length: int, salt: int) -> tuple[Any, Any]:
    """Return dtype and values of a column that has no missing values."""
    if column.kind in ("categorical", "ordered"):
        values = codes(column, length, salt)
        return values.dtype, values
    if column.kind.endswith("string"):
        return TEXT, np.array(names(column.name, length), dtype=object)
    dtype = {"nullable-integer": "int64", "nullable-boolean": "bool"}.get(column.kind, column.kind)
    return dtype, numbers(length, dtype, salt)
