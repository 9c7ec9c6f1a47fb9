"""What an AnnData file holds, read with h5py alone: shapes, encodings, columns and keys, never data.

All layouts since 0.6 are told: obs as a table of records and `h5sparse_format` (0.6), categories by
reference (0.7), encodings (0.8 to 0.12), nullable strings and null X (0.13). What is unknown keeps its
shape and is named by its own encoding. Links that leave the file are named and not followed. Names are
upstream text: their number and length are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import h5py

from benchproof.storage.inside import Elsewhere, Inside, Node

_SPARSE = {"csr": "csr_matrix", "csc": "csc_matrix"}
#: The member whose length is the length of a column that is a group.
_LENGTH_OF = {
    "categorical": "codes",
    "nullable-integer": "values",
    "nullable-boolean": "values",
    "nullable-string-array": "values",
}


class NotAnnData(Exception):
    """The file is HDF5 and lacks what makes it AnnData."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is told: names longer than `text` characters are cut, surplus ones are counted.

    `links` members of a group are looked at. Of `columns` column names, `typed` come with their dtype.
    """

    columns: int = 1000
    typed: int = 200
    members: int = 100
    links: int = 1000
    text: int = 200


def describe(file: h5py.File, limits: Limits | None = None) -> dict[str, Any]:
    """Return the columns n_obs to encoding_version of the contents table, as JSON values.

    Raises NotAnnData; h5py's own errors (OSError, KeyError, ValueError, RuntimeError, TypeError) when
    the file is damaged.
    """
    return _Reader(file, limits or Limits()).contents()


class _Reader:
    def __init__(self, file: h5py.File, limits: Limits) -> None:
        self._file, self._limits = file, limits
        self._inside = Inside(file, limits.links)

    def contents(self) -> dict[str, Any]:
        """Read the whole description."""
        kind = self._inside.attribute(self._file, "encoding-type")
        obs, var = self._inside.member(self._file, "obs"), self._inside.member(self._file, "var")
        if kind not in (None, "anndata") or (kind is None and (obs is None or var is None)):
            raise NotAnnData
        x = self._inside.member(self._file, "X")
        version = self._inside.attribute(self._file, "encoding-version")
        shape = self._shape(x) or ()
        rows, columns = self._rows(obs), self._rows(var)
        if rows is None and shape:
            rows = shape[0]
        if columns is None and len(shape) == 2:
            columns = shape[1]
        return {
            "n_obs": rows,
            "n_vars": columns,
            "x_encoding": self._encoding(x) if x is not None else "absent",
            "x_dtype": self._dtype(x),
            "nnz": self._stored(x),
            "obs_columns": self._columns(obs),
            "var_columns": self._columns(var),
            **{
                name: self._elements(self._inside.member(self._file, name))
                for name in ("layers", "obsm", "obsp", "varm")
            },
            "uns": self._keys(self._inside.member(self._file, "uns")),
            "raw": self._raw(),
            "encoding_version": None if version is None else self._text(version),
        }

    # One object: its encoding, dtype and shape.

    def _encoding(self, node: Node) -> str:
        if node is None:
            return "absent"
        if isinstance(node, Elsewhere):
            return node.kind
        named = self._inside.attribute(node, "encoding-type")
        if named is not None:
            return self._text(named)
        old = self._inside.attribute(node, "h5sparse_format")
        if old is not None:
            return _SPARSE.get(old, self._text(old))
        if isinstance(node, h5py.Dataset):
            return "array" if node.dtype.names is None else "dataframe"
        return "dataframe" if self._inside.attribute(node, "_index") is not None else "group"

    def _shape(self, node: Node) -> tuple[int, ...] | None:
        """Return an element's shape as its writer states it; None when nothing states it."""
        if isinstance(node, h5py.Dataset):
            return None if node.shape is None else tuple(int(n) for n in node.shape)
        if not isinstance(node, h5py.Group):
            return None
        for name in ("shape", "h5sparse_shape"):
            stated = self._inside.whole_numbers(node, name)
            if stated:
                return stated
        if self._inside.attribute(node, "_index") is not None:
            rows = self._rows(node)
            return None if rows is None else (rows, len(self._column_names(node)))
        length = self._length(node)
        return None if length is None else (length,)

    def _dtype(self, node: Node) -> str | None:
        if isinstance(node, h5py.Group):
            inner = self._inside.member(node, "data")
            node = self._inside.member(node, "values") if inner is None else inner
        if not isinstance(node, h5py.Dataset) or node.shape is None:
            return None
        return self._dtype_of(node)

    def _dtype_of(self, dataset: h5py.Dataset) -> str:
        try:
            dtype = dataset.dtype
        except (TypeError, ValueError):
            return "unknown"
        if h5py.check_string_dtype(dtype) is not None or dtype.kind == "S":
            return "string"
        if dtype.names is not None:
            return "compound"
        return "unknown" if dtype.kind in "OV" else self._text(dtype.name)

    def _stored(self, node: Node) -> int | None:
        """Return the number of stored values of a sparse matrix."""
        if not isinstance(node, h5py.Group):
            return None
        data = self._inside.member(node, "data")
        if isinstance(data, h5py.Dataset) and data.shape is not None and len(data.shape) == 1:
            return int(data.shape[0])
        return None

    def _element(self, node: Node) -> str:
        """Return "encoding dtype (shape)", less what is not known."""
        words = [self._encoding(node)]
        dtype, shape = self._dtype(node), self._shape(node)
        words += [dtype] if dtype is not None else []
        if shape is None and isinstance(node, h5py.Group):
            length = self._inside.whole_numbers(node, "length")
            words += [f"({length[0]}, *)"] if length else []
        words += [f"({', '.join(map(str, shape))})"] if shape is not None else []
        return " ".join(words)

    def _raw(self) -> str | None:
        raw = self._inside.member(self._file, "raw")
        if raw is not None and not isinstance(raw, h5py.Group):
            return self._encoding(raw)
        holder, prefix = (raw, "") if raw is not None else (self._file, "raw.")
        x = self._inside.member(holder, f"{prefix}X")
        if x is not None:
            return self._element(x)
        var = self._inside.member(holder, f"{prefix}var")
        if raw is None and var is None:
            return None
        columns = self._rows(var)
        return "no X" if columns is None else f"no X (*, {columns})"

    # Tables: obs, var and data frames elsewhere.

    def _rows(self, table: Node) -> int | None:
        """Return the length of a table's index, else of its first column that has one."""
        if isinstance(table, h5py.Dataset):
            return int(table.shape[0]) if table.shape else None
        if not isinstance(table, h5py.Group):
            return None
        index = self._inside.attribute(table, "_index")
        names = [index] if index is not None else ["_index", "index"]
        for name in [*names, *self._column_names(table)[:8]]:
            length = self._length(self._inside.member(table, name))
            if length is not None:
                return length
        return None

    def _length(self, column: Node) -> int | None:
        if isinstance(column, h5py.Group):
            inner = _LENGTH_OF.get(self._inside.attribute(column, "encoding-type") or "")
            names = [inner] if inner else ["values", "codes"]
            nodes = (self._inside.member(column, name) for name in names)
            column = next((node for node in nodes if node is not None), None)
        if isinstance(column, h5py.Dataset) and column.shape:
            return int(column.shape[0])
        return None

    def _column_names(self, table: h5py.Group) -> list[str]:
        """Return the columns in their order, without the index."""
        order = self._inside.texts(table, "column-order")
        if order is not None:
            return order
        index = self._inside.attribute(table, "_index")
        names, _ = self._inside.names(table)
        # The last two are index names of writers that did not state it.
        return [n for n in names if n not in (index, "__categories", "_index", "index")]

    def _columns(self, table: Node) -> list[str]:
        if isinstance(table, h5py.Dataset):
            return self._record_columns(table)
        if not isinstance(table, h5py.Group):
            return []
        names = self._column_names(table)
        typed = [
            f"{self._text(name)}: {self._column(self._inside.member(table, name))}"
            for name in names[: self._limits.typed]
        ]
        plain = [self._text(n) for n in names[self._limits.typed : self._limits.columns]]
        return typed + plain + _surplus(len(names) - len(typed) - len(plain))

    def _column(self, node: Node) -> str:
        if isinstance(node, h5py.Dataset):
            # As 0.7 kept them.
            count = self._length(self._inside.referenced(node, "categories"))
            if count is not None:
                return f"categorical[{count}]"
            plain = self._dtype_of(node)
            return "string-array" if plain == "string" else plain
        encoding = self._encoding(node)
        if not isinstance(node, h5py.Group):
            return encoding
        if encoding == "categorical":
            count = self._length(self._inside.member(node, "categories"))
            return f"categorical[{'?' if count is None else count}]"
        dtype = self._dtype(node) if encoding == "nullable-integer" else None
        return encoding if dtype is None else f"{encoding} {dtype}"

    def _record_columns(self, table: h5py.Dataset) -> list[str]:
        """Name the columns of a table of records, as 0.6 wrote them; its first field is the index."""
        names = list(table.dtype.names or ())[1:]
        uns = self._inside.member(self._file, "uns")
        shown = []
        for name in names[: self._limits.columns]:
            dtype = table.dtype[name]
            text = "string-array" if dtype.kind in "SO" else self._text(dtype.name)
            if isinstance(uns, h5py.Group) and dtype.kind in "iu":
                count = self._length(self._inside.member(uns, f"{name}_categories"))
                text = text if count is None else f"categorical[{count}]"
            shown.append(f"{self._text(name)}: {text}")
        return shown + _surplus(len(names) - len(shown))

    # Groups: members by name.

    def _elements(self, group: Node) -> list[str]:
        if not isinstance(group, h5py.Group):
            return [group.kind] if isinstance(group, Elsewhere) else []
        names, more = self._inside.names(group)
        shown = names[: self._limits.members]
        texts = [f"{self._text(n)}: {self._element(self._inside.member(group, n))}" for n in shown]
        return texts + _surplus(len(names) - len(shown), more)

    def _keys(self, group: Node) -> list[str]:
        if not isinstance(group, h5py.Group):
            return [group.kind] if isinstance(group, Elsewhere) else []
        names, more = self._inside.names(group)
        shown = names[: self._limits.members]
        return [self._text(n) for n in shown] + _surplus(len(names) - len(shown), more)

    def _text(self, text: str) -> str:
        return text if len(text) <= self._limits.text else text[: self._limits.text] + "…"


def _surplus(count: int, more: bool = False) -> list[str]:
    if count <= 0:
        return []
    return [f"… more than {count} more" if more else f"… {count} more"]
