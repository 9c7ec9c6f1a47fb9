"""The layout that AnnData 0.8 to 0.12 write, by h5py alone; older and newer ones differ from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import h5py
import numpy as np

from h5ad.spec import Column, Matrix, Spec
from h5ad.values import Array, lines, names, numbers

TEXT = h5py.string_dtype()


def hole(group: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
    """Add a contiguous dataset that has its space in the file and is never written."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.CONTIGUOUS)
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    plist.set_obj_track_times(False)
    space = h5py.h5s.create_simple(shape)
    kind = h5py.h5t.py_create(np.dtype(dtype), logical=True)
    h5py.h5d.create(group.id, name.encode(), kind, space, plist)
    return group[name]


class Layout:
    """The layout of 0.8 to 0.12: every element names its encoding."""

    frame_version = "0.2.0"
    marks_all = True

    def __init__(self, file: Any, spec: Spec) -> None:
        self.file, self.spec = file, spec

    def write(self) -> None:
        """Write everything, in AnnData's order: X lies between the root's links and obs."""
        spec, file = self.spec, self.file
        self.mark(file, "anndata", "0.1.0")
        self.matrix(file, "X", spec.x, (spec.n_obs, spec.n_vars))
        self.raw()
        self.frame(file, "obs", spec.obs, names("cell", spec.n_obs), spec.obs_index)
        self.frame(file, "var", spec.var, self.var_names(), spec.var_index)
        for key, found, length in (
            ("obsm", spec.obsm, spec.n_obs),
            ("varm", spec.varm, spec.n_vars),
        ):
            group = self.mapping(file, key)
            for salt, (name, width) in enumerate(found.items()):
                values = numbers(length * width, "float32", salt).reshape(length, width)
                self.array(group, name, values)
        square = self.mapping(file, "obsp")
        for name in spec.obsp:
            self.matrix(square, name, Matrix(dtype="float64", per_line=3), (spec.n_obs, spec.n_obs))
        self.mapping(file, "varp")
        layers = self.mapping(file, "layers")
        for name, matrix in spec.layers.items():
            self.matrix(layers, name, matrix, (spec.n_obs, spec.n_vars))
        self.uns(self.mapping(file, "uns"), spec.uns)
        if spec.padding:
            self.mark(hole(file["uns"], "padding", (spec.padding,), "uint8"), "array", "0.2.0")

    def var_names(self) -> Sequence[str]:
        """Return the names of var: given ones or invented ones."""
        return self.spec.var_names or names("feature", self.spec.n_vars)

    def mark(self, node: Any, kind: str, version: str, *, always: bool = False) -> Any:
        """Name the encoding of a group or dataset and return it."""
        if self.marks_all or always:
            node.attrs["encoding-type"] = kind
            node.attrs["encoding-version"] = version
        return node

    def mapping(self, group: Any, name: str) -> Any:
        """Add a group of named elements."""
        return self.mark(group.create_group(name), "dict", "0.1.0")

    def array(self, group: Any, name: str, values: Array, **options: Any) -> Any:
        """Add a dataset of numbers."""
        return self.mark(group.create_dataset(name, data=values, **options), "array", "0.2.0")

    def texts(self, group: Any, name: str, values: Sequence[str]) -> Any:
        """Add a dataset of strings."""
        data = np.array(values, dtype=object)
        return self.mark(group.create_dataset(name, data=data, dtype=TEXT), "string-array", "0.2.0")

    def scalar(self, group: Any, name: str, value: Any) -> None:
        """Add one value, a list of texts or a nested mapping."""
        if isinstance(value, Mapping):
            self.uns(self.mapping(group, name), value)
        elif isinstance(value, list):
            self.texts(group, name, value)
        elif isinstance(value, str):
            self.mark(group.create_dataset(name, data=value, dtype=TEXT), "string", "0.2.0")
        elif isinstance(value, np.ndarray):
            self.array(group, name, value)
        else:
            self.mark(group.create_dataset(name, data=value), "numeric-scalar", "0.2.0")

    def uns(self, group: Any, values: Mapping[str, Any]) -> None:
        """Add unstructured values."""
        for name, value in values.items():
            self.scalar(group, name, value)

    def frame(
        self, group: Any, name: str, columns: Sequence[Column], index: Sequence[str], key: str
    ) -> None:
        """Add a data frame: a group with a dataset or group for each column."""
        frame = group.create_group(name)
        frame.attrs["column-order"] = [column.name for column in columns]
        frame.attrs["_index"] = key
        self.mark(frame, "dataframe", self.frame_version, always=True)
        self.index(frame, key, index)
        for salt, column in enumerate(columns):
            self.column(frame, column, len(index), salt)

    def index(self, frame: Any, key: str, values: Sequence[str]) -> None:
        """Add the names of the rows."""
        self.texts(frame, key, values)

    def column(self, frame: Any, column: Column, length: int, salt: int) -> None:
        """Add one column."""
        if column.kind in ("categorical", "ordered"):
            self.categorical(frame, column, codes(column, length, salt))
        elif column.kind == "string":
            self.texts(frame, column.name, names(column.name, length))
        elif column.kind.startswith("nullable-"):
            self.nullable(frame, column, length, salt)
        else:
            self.array(frame, column.name, numbers(length, column.kind, salt))

    def categorical(self, frame: Any, column: Column, values: Array) -> None:
        """Add a categorical: a group of codes and categories."""
        group = self.mark(frame.create_group(column.name), "categorical", "0.2.0")
        group.attrs["ordered"] = column.kind == "ordered"
        self.array(group, "codes", values)
        self.texts(group, "categories", names(column.name, column.categories))

    def nullable(self, frame: Any, column: Column, length: int, salt: int) -> None:
        """Add a column with missing values: a group of values and mask."""
        kind = column.kind
        if kind == "nullable-string":
            self.nullable_text(frame, column.name, names(column.name, length))
            return
        group = self.mark(frame.create_group(column.name), kind, "0.1.0")
        dtype = "bool" if kind == "nullable-boolean" else "int64"
        self.array(group, "values", numbers(length, dtype, salt))
        self.array(group, "mask", numbers(length, "int64", salt + 1) % 10 == 0)

    def nullable_text(self, group: Any, name: str, values: Sequence[str]) -> None:
        """Add strings with a mask."""
        inner = self.mark(group.create_group(name), "nullable-string-array", "0.1.0")
        self.texts(inner, "values", values)
        self.array(inner, "mask", np.zeros(len(values), bool))

    def matrix(self, group: Any, name: str, matrix: Matrix, shape: tuple[int, int]) -> None:
        """Add a matrix in its form."""
        if matrix.sparse:
            node = self.sparse_group(group, name, matrix.form, shape)
            self.compressed(node, matrix, shape)
        elif matrix.form == "null":
            self.mark(group.create_dataset(name, data=h5py.Empty("f")), "null", "0.1.0")
        elif matrix.form == "dense" and matrix.hole:
            self.mark(hole(group, name, shape, matrix.dtype), "array", "0.2.0")
        elif matrix.form == "dense":
            values = numbers(shape[0] * shape[1], matrix.dtype, 5).reshape(shape)
            self.array(group, name, values, compression=matrix.compression)

    def sparse_group(self, group: Any, name: str, form: str, shape: tuple[int, int]) -> Any:
        """Add the group of a sparse matrix."""
        node = group.create_group(name)
        node.attrs["shape"] = np.array(shape, "int64")
        return self.mark(node, f"{form}_matrix", "0.1.0", always=True)

    def compressed(self, node: Any, matrix: Matrix, shape: tuple[int, int]) -> None:
        """Add data, indices and indptr."""
        rows, columns = shape if matrix.form == "csr" else shape[::-1]
        if matrix.hole:
            hole(node, "data", (matrix.stored,), matrix.dtype)
            hole(node, "indices", (matrix.stored,), "int32")
            # Always as wide as the largest matrices need, so that size grows evenly with `stored`.
            starts = np.linspace(0, matrix.stored, rows + 1).astype("int64")
            node.create_dataset("indptr", data=starts)
            return
        indices, starts = lines(rows, columns, matrix.per_line)
        values = numbers(len(indices), matrix.dtype, 3) + np.ones(1, matrix.dtype)
        for name, data in (("data", values), ("indices", indices), ("indptr", starts)):
            node.create_dataset(name, data=data, maxshape=(None,), compression=matrix.compression)

    def raw(self) -> None:
        """Add raw: a matrix and var of its own."""
        spec = self.spec
        if spec.raw is None:
            return
        group = self.mark(self.file.create_group("raw"), "raw", "0.1.0", always=True)
        self.matrix(group, "X", spec.raw, (spec.n_obs, spec.raw_vars))
        index = names("feature", spec.raw_vars)
        self.frame(group, "var", spec.var, index, spec.var_index)
        self.mapping(group, "varm")


def codes(column: Column, length: int, salt: int) -> Array:
    """Return the codes of a categorical column."""
    kind = "int8" if column.categories < 128 else "int16"
    return (numbers(length, "int64", salt) % column.categories).astype(kind)
