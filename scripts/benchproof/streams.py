"""Tables of any length: rows come in the order of the key and leave in row groups, so that memory is flat.

A table's bytes depend on its rows alone: neither on how many came at once, nor on how many parts they were
collected in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from benchproof import tables
from benchproof.errors import TableError
from benchproof.jsontext import canonical

#: Rows that are held as dictionaries, and rows of a row group.
BATCH: Final = 1 << 12
GROUP: Final = 1 << 15


class Sink:
    """A table that is being written. Raises TableError for rows that don't fit or come out of order."""

    def __init__(self, file: BinaryIO, name: str, about: Mapping[str, Any]) -> None:
        self._name, self._key = name, list(tables.spec_of(name).key)
        metadata = {tables.METADATA_KEY: canonical(dict(about)).encode()}
        schema = tables.spec_of(name).schema.with_metadata(metadata)
        self._writer = pq.ParquetWriter(file, schema, compression="zstd", version="2.6")
        self._rows: list[Mapping[str, Any]] = []
        self._held: list[pa.Table] = []
        self._last: tuple[Any, ...] | None = None
        self._written = False

    def append(self, row: Mapping[str, Any], /) -> None:
        """Add a row."""
        self._rows.append(row)
        if len(self._rows) == BATCH:
            self._pack()

    def extend(self, part: str | Path) -> None:
        """Add the rows of a table that another sink wrote."""
        self._pack()
        with pq.ParquetFile(part) as file:
            for batch in file.iter_batches(BATCH * 8, use_threads=False):
                self._take(pa.Table.from_batches([batch]))

    def close(self) -> None:
        """Write what is left."""
        self._pack()
        self._write(least=1)
        if not self._written:
            self._writer.write_table(tables.build(self._name, [], {}))
        self._writer.close()

    def abandon(self) -> None:
        """Give up without a footer's worth of care: the file is thrown away."""
        self._writer.is_open = False
        self._rows, self._held = [], []

    def _pack(self) -> None:
        if self._rows:
            packed = tables.build(self._name, self._rows, {})
            self._rows = []
            self._take(packed)

    def _take(self, table: pa.Table) -> None:
        first, last = self._key_of(table, 0), self._key_of(table, table.num_rows - 1)
        if self._last is not None and first <= self._last:
            raise TableError(
                f"table {self._name}: rows come out of order; report this as a defect."
            )
        self._last = last
        self._held.append(table)
        self._write(least=GROUP)

    def _key_of(self, table: pa.Table, row: int) -> tuple[Any, ...]:
        return tuple(table[column][row].as_py() for column in self._key)

    def _write(self, least: int) -> None:
        """Write whole row groups while there are `least` rows; a group's bytes are those of its rows."""
        while sum(map(len, self._held)) >= least:
            together = pa.concat_tables(self._held).combine_chunks()
            self._writer.write_table(together.slice(0, GROUP), row_group_size=GROUP)
            rest = together.slice(GROUP)
            self._held = [rest] if len(rest) else []
            self._written = True


@contextmanager
def writing(file: BinaryIO, name: str, about: Mapping[str, Any]) -> Iterator[Sink]:
    """Give a sink whose file is whole when the block ends well."""
    sink = Sink(file, name, about)
    try:
        yield sink
        sink.close()
    except BaseException:
        sink.abandon()
        raise
