"""A Parquet file as documents: its rows, its columns, and what its footer says beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

from benchproof.leaks.text import CELL

#: The stubs of these functions know no columns of bytes.
pc: Any = pa.compute
Column = Any
#: Between items of a list; between rows stands a line end.
_ITEM: Final = "\x1d"
_ROWS: Final = 16384
#: A value that is broken up over the cells of a column is looked for over the end of a batch, too.
_CARRIED: Final = 64
_TAIL: Final = 65536


def documents(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (kind, text) of a table's bytes; raises ValueError for one that can't be read."""
    try:
        yield from _documents(data)
    except (OSError, pa.ArrowException):
        raise ValueError from None


def _documents(data: bytes) -> Iterator[tuple[str, bytes]]:
    with pq.ParquetFile(pa.BufferReader(data)) as file:
        yield "table names and metadata", _footer(file)
        yield "table statistics", _statistics(file.metadata)
        ends: dict[str, bytes] = {}
        for batch in file.iter_batches(_ROWS, use_threads=False):
            columns = [_text(batch.column(i)) for i in range(batch.num_columns)]
            yield "table rows", _joined(columns, CELL, "\n", len(batch))
            yield "table columns", b"\n\n".join(_columns(batch.schema.names, columns, ends))


def _columns(names: list[str], columns: list[Column], ends: dict[str, bytes]) -> Iterator[bytes]:
    """Yield each column's cells; `ends` carries the last ones from batch to batch."""
    for name, column in zip(names, columns, strict=True):
        text = _joined([column], CELL, CELL, len(column))
        yield ends.get(name, b"") + text
        ends[name] = CELL.encode().join(text[-_TAIL:].split(CELL.encode())[-_CARRIED:])


def _footer(file: pq.ParquetFile) -> bytes:
    schema, about = file.schema_arrow, file.metadata
    kept: list[Any] = [*schema.names, about.created_by]
    for held in (schema.metadata, about.metadata, *(field.metadata for field in schema)):
        kept += [part for pair in (held or {}).items() for part in pair]
    return b"\n".join(item if isinstance(item, bytes) else str(item).encode() for item in kept)


def _statistics(about: pq.FileMetaData) -> bytes:
    kept: list[Any] = []
    for group in range(about.num_row_groups):
        for column in range(about.num_columns):
            held = about.row_group(group).column(column)
            if held.statistics is not None and held.statistics.has_min_max:
                kept += [held.path_in_schema, held.statistics.min, held.statistics.max]
    return "\n".join(map(str, kept)).encode("utf-8", "surrogatepass")


def _text(column: Column) -> Column:
    """Return a column's cells as bytes; lists as their items one after another."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        items = _text(column.values)
        column = (
            type(column).from_arrays(column.offsets, items, mask=None).cast(pa.list_(pa.binary()))
        )
        return pc.fill_null(pc.binary_join(column, _ITEM.encode()), b"")
    if pa.types.is_nested(column.type) or pa.types.is_dictionary(column.type):
        cells = [str(cell) for cell in column.to_pylist()]
        return pa.array(cells, pa.string()).cast(pa.binary())
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        column = column.cast(pa.string())
    return pc.fill_null(column.cast(pa.binary()), b"")


def _joined(columns: list[Column], between: str, end: str, rows: int) -> bytes:
    """Return the cells of all rows as one text."""
    if not columns or not rows:
        return b""
    ends = pa.array([b""] * rows, pa.binary())
    parts = [pc.binary_join_element_wise(*columns, between.encode()), ends]
    held = pc.binary_join_element_wise(*parts, end.encode())
    data = held.buffers()[2]
    return data.to_pybytes() if data is not None else b""
