"""Exactly what differs between two tables, row by row and column by column."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.analysis.drift import delta, keyed
from benchproof.analysis.drift.delta import Delta, compare
from benchproof.analysis.drift.frames import Frame, same

NAN = float("nan")
TYPES = {
    "k": pa.string(),
    "n": pa.int64(),
    "x": pa.float64(),
    "t": pa.string(),
    "b": pa.bool_(),
    "l": pa.list_(pa.string()),
}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "n": st.none() | st.sampled_from([0, 1, 9007199254740993, -(2**63), 2**63 - 1]),
    "x": st.none() | st.sampled_from([NAN, 0.0, -0.0, 1.0, float("inf")]),
    "t": st.none() | st.sampled_from(["", "NA", "NaN", "null", "None", "1E5", "SEPT1", "a", "a "]),
    "b": st.none() | st.booleans(),
    "l": st.none() | st.lists(st.sampled_from(["NA", "a", "a,b"]), max_size=2),
}
ROW = st.fixed_dictionaries(VALUES)
TABLE = st.dictionaries(st.text("abc", max_size=3), ROW, max_size=12)


def frame(rows: list[dict[str, Any]]) -> Frame:
    return Frame.of(
        pa.table({name: pa.array([r[name] for r in rows], kind) for name, kind in TYPES.items()})
    )


def listed(rows: dict[str, dict[str, Any]], seed: int | None = None) -> list[dict[str, Any]]:
    found = [{"k": key, **rows[key]} for key in sorted(rows)]
    if seed is not None:
        random.Random(seed).shuffle(found)
    return found


@settings(deadline=None)
@given(TABLE, TABLE, st.none() | st.integers(0, 3))
def test_exactly_the_edits_are_found(
    old: dict[str, Any], new: dict[str, Any], seed: int | None
) -> None:
    """Random tables, in order or not: no edit is missed and none is invented (BR-43, 45, 47)."""
    found = compare(frame(listed(old)), frame(listed(new, seed)), ["k"])
    assert {row["k"] for row in found.removed} == old.keys() - new.keys()
    assert {row["k"] for row in found.added} == new.keys() - old.keys()
    told = {(one["k"], name) for one, _, names in found.changed for name in names}
    both = old.keys() & new.keys()
    assert told == {(k, n) for k in both for n in VALUES if not same(old[k][n], new[k][n])}
    for one, other, names in found.changed:
        for name in names:
            assert same(one[name], old[one["k"]][name])
            assert same(other[name], new[one["k"]][name])


def of(**columns: Any) -> Frame:
    return Frame.of(
        pa.table(
            {
                name: value if isinstance(value, pa.Array) else pa.array(value)
                for name, value in columns.items()
            }
        )
    )


def names(found: Delta) -> dict[Any, tuple[str, ...]]:
    return {one["k"]: columns for one, _, columns in found.changed}


def test_another_number_type_is_no_change_of_its_values() -> None:
    """BR-45: 1 and 1.0 are equal; 2**53 + 1 and its rounded neighbour are not."""
    old = of(k=["a", "b", "c"], n=pa.array([1, 9007199254740993, None]))
    new = of(k=["a", "b", "c"], n=pa.array([1.0, 9007199254740992.0, None]))
    found = compare(old, new, ["k"])
    assert (names(found), found.uncompared) == ({"b": ("n",)}, {})


def test_a_column_of_another_kind_is_said_and_not_compared() -> None:
    found = compare(of(k=["a"], n=[1]), of(k=["a"], n=["1"]), ["k"])
    assert (found.changed, found.uncompared) == ([], {"n": "type_changed"})


def test_columns_of_another_version_are_said_and_not_compared() -> None:
    found = compare(of(k=["a"], gone=[1], both=[1]), of(k=["a"], come=[2], both=[2]), ["k"])
    assert names(found) == {"a": ("both",)}
    assert found.uncompared == {"gone": "only_old", "come": "only_new"}


def test_a_table_without_its_key_is_compared_with_nothing() -> None:
    found = compare(of(k=["a"]), of(other=["a"]), ["k"])
    assert (found.removed, found.added, found.uncompared["k"]) == ([], [], "only_old")


def test_a_column_of_nulls_compares_with_any_type() -> None:
    """BR-44: another library writes an all-null column as one without a type."""
    old = of(k=["a", "b"], t=pa.array([None, None], pa.null()))
    assert names(compare(old, of(k=["a", "b"], t=["x", None]), ["k"])) == {"a": ("t",)}


def test_measurements_are_left_out() -> None:
    found = compare(of(k=["a"], checked_at=[1]), of(k=["a"], checked_at=[2]), ["k"], {"checked_at"})
    assert (found.changed, found.uncompared) == ([], {})


def test_rows_in_many_chunks_are_the_same_rows() -> None:
    """Other writers use many row groups."""
    whole = pa.table({"k": ["a", "b", "c"], "t": ["x", "y", "z"]})
    parts = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    found = compare(Frame.of(whole), Frame.of(parts), ["k"])
    assert (found.removed, found.added, found.changed) == ([], [], [])


def test_only_context_travels_with_the_rows_of_a_long_table() -> None:
    old = of(k=["a", "b"], t=["x", "y"], n=[1, 2], b=[True, True])
    new = of(k=["a", "c"], t=["z", "y"], n=[1, 2], b=[True, True])
    found = compare(old, new, ["k"], context=["n"])
    assert found.removed == [{"k": "b", "t": "y", "n": 2}]
    assert found.changed == [({"k": "a", "t": "x", "n": 1}, {"k": "a", "t": "z", "n": 1}, ("t",))]


@pytest.mark.parametrize("pieces", [0, 400])
def test_columns_are_compared_alike_in_pieces_and_in_order(
    pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta, "_PIECES", pieces)
    monkeypatch.setattr(keyed, "_ALONE", 0)
    keys = [f"{n:05d}" for n in range(2000)]
    old = of(k=keys[::2], t=keys[::2])
    kept = [key for key in keys[::2] if not key.endswith("44")]
    new = of(k=kept, t=["x" if key.endswith("66") else key for key in kept])
    found = compare(old, new, ["k"])
    assert len(found.removed) == 20
    assert names(found) == {key: ("t",) for key in kept if key.endswith("66")}
