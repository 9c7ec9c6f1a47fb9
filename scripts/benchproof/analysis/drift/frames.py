"""A table as drift reads it: by columns, of any version that ever wrote it.

Foreign files and older versions may hold other columns, other types and more row groups. A column is
brought to the one type that its kind has here, and values become one text each.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds

Row = dict[str, Any]
#: An Arrow array, chunked or not: the stubs of pyarrow cannot follow columns whose type is data.
Column = Any

#: The Arrow type of each kind of column; kinds that are not here are compared with nothing.
TYPES: Mapping[str, pa.DataType] = {
    "text": pa.string(),
    "whole": pa.int64(),
    "real": pa.float64(),
    "truth": pa.bool_(),
    "instant": pa.timestamp("us", tz="UTC"),
    "texts": pa.list_(pa.string()),
}
#: Columns of these kinds may be compared with each other, by value.
_NUMBERS = ("whole", "real")
#: Columns below this are kept once they were read, and so are keys: rows are looked up in them later.
_KEPT_BYTES = 12 << 20


def kind_of(type: Any) -> str:
    """Return the kind of a column's type: a key of TYPES, `null` for one without values, or `other`."""
    if kinds.is_dictionary(type):
        return kind_of(type.value_type)
    tests: tuple[tuple[str, Callable[[pa.DataType], bool]], ...] = (
        ("null", kinds.is_null),
        ("text", kinds.is_string),
        ("text", kinds.is_large_string),
        ("whole", kinds.is_integer),
        ("real", kinds.is_floating),
        ("truth", kinds.is_boolean),
        ("instant", kinds.is_timestamp),
    )
    for kind, test in tests:
        if test(type):
            return kind
    listed = kinds.is_list(type) or kinds.is_large_list(type)
    return "texts" if listed and kind_of(type.value_type) in ("text", "null") else "other"


def comparable(one: str, other: str) -> bool:
    """True for kinds whose values can be equal: 1 and 1.0 can, 1 and "1" can't."""
    if "other" in (one, other):
        return False
    return one == other or "null" in (one, other) or {one, other} <= set(_NUMBERS)


class Frame:
    """One table: the kinds of its columns, its length, and its columns when they are asked for."""

    def __init__(self, schema: pa.Schema, rows: int, load: Callable[[str], Column]) -> None:
        self.kinds = {field.name: kind_of(field.type) for field in schema}
        self.rows = rows
        self._load = load
        self._kept: dict[str, Column] = {}

    @classmethod
    def of(cls, table: pa.Table) -> Frame:
        """Return the frame of a table in memory."""
        return cls(table.schema, table.num_rows, table.column)

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> Frame:
        """Return the frame of some rows; `kinds` names its columns."""
        arrays = {
            name: pa.array([row.get(name) for row in rows], TYPES.get(kind, pa.null()))
            for name, kind in kinds.items()
        }
        return cls.of(pa.table(arrays))

    def column(self, name: str, *, keep: bool = False) -> Column:
        """Return a column, in the type of its kind where its values fit it; `keep` holds a large one."""
        if name in self._kept:
            return self._kept[name]
        column = self._load(name)
        wanted = TYPES.get(self.kinds[name])
        if wanted is not None and column.type != wanted:
            column = _cast(column, wanted)
        if keep or column.nbytes < _KEPT_BYTES:
            self._kept[name] = column
        return column

    def at(self, places: Sequence[int], names: Iterable[str] | None = None) -> list[Row]:
        """Return the rows at some places, with all columns or those that are named."""
        if not len(places):
            return []
        wanted = [name for name in (self.kinds if names is None else names) if name in self.kinds]
        index = pa.array(places, pa.int64())
        values = {name: self.column(name).take(index).to_pylist() for name in wanted}
        return [{name: values[name][number] for name in wanted} for number in range(len(places))]

    def all(self) -> list[Row]:
        """Return every row."""
        return self.at(range(self.rows))


def _cast(column: Column, wanted: pa.DataType) -> Column:
    """Return a column in another type; as it is when a value does not fit, such as 2**63."""
    try:
        if kinds.is_timestamp(column.type) and column.type.tz is None:
            # Another reader's instants without a zone are UTC, as all of ours are.
            column = column.cast(pa.timestamp(column.type.unit, tz="UTC"))
        return column.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def same(one: Any, other: Any) -> bool:
    """True for equal values. NaN equals NaN and -0.0 equals 0.0; null equals null alone, and not NaN."""
    if one is None or other is None:
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    return bool(one == other)


def text(value: Any) -> str | None:
    """Return a value as the one text that stands for it; None for null, so that "null" stays a text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        moment = value if value.tzinfo is None else value.astimezone(UTC)
        return moment.replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, list | tuple):
        return json.dumps(list(value), ensure_ascii=False, separators=(",", ":"), default=str)
    return str(value)


def key_text(values: Iterable[Any]) -> str:
    """Return a key as a JSON list."""
    plain = [value if isinstance(value, str | int | None) else text(value) for value in values]
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
