"""Values of any version of a table become comparable, and one text each."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest

from benchproof.analysis.drift.frames import Frame, comparable, key_text, kind_of, same, text

NAN = float("nan")


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (NAN, NAN, True),
        (None, None, True),
        (NAN, None, False),
        (None, 3, False),
        (3, None, False),
        (-0.0, 0.0, True),
        (1, 1.0, True),
        ("a", "a ", False),
        ("null", None, False),
        (True, 1, False),
        (9007199254740993, 9007199254740992.0, False),
        (["a"], ["a"], True),
        (["a", "b"], ["b", "a"], False),
        ([], None, False),
    ],
)
def test_what_is_equal(one: Any, other: Any, equal: bool) -> None:
    """BR-45: null and NaN say different things, so one in place of the other is a change."""
    assert same(one, other) is equal
    assert same(other, one) is equal


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, None),
        ("null", "null"),
        ("NaN", "NaN"),
        (True, "true"),
        (9007199254740993, "9007199254740993"),
        (2**63, str(2**63)),
        (NAN, "nan"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (["ä", 'b"'], '["ä","b\\""]'),
        ([], "[]"),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00Z"),
        (datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=13))), "2026-01-01T14:00:00Z"),
    ],
)
def test_each_value_has_one_text(value: Any, said: str | None) -> None:
    """BR-43, BR-47: nothing is rounded, and what looks like a missing value stays a text."""
    assert text(value) == said


def test_a_key_is_a_json_list() -> None:
    assert key_text(["demo/one", "a b", 3, None]) == '["demo/one","a b",3,null]'


@pytest.mark.parametrize(
    ("type", "kind"),
    [
        (pa.large_string(), "text"),
        (pa.dictionary(pa.int32(), pa.string()), "text"),
        (pa.int8(), "whole"),
        (pa.float32(), "real"),
        (pa.timestamp("s"), "instant"),
        (pa.large_list(pa.large_string()), "texts"),
        (pa.null(), "null"),
        (pa.struct([("a", pa.int8())]), "other"),
    ],
    ids=str,
)
def test_types_have_kinds(type: pa.DataType, kind: str) -> None:
    assert kind_of(type) == kind


def test_numbers_compare_with_numbers_and_with_nothing_else() -> None:
    assert comparable("whole", "real")
    assert comparable("null", "text")
    assert not comparable("whole", "text")
    assert not comparable("other", "other")


def test_a_column_comes_in_the_type_of_its_kind() -> None:
    instants = pa.array([0], pa.timestamp("s"))
    found = Frame.of(
        pa.table(
            {
                "a": pa.array(["x"], pa.large_string()),
                "b": pa.array([2**63], pa.uint64()),
                "c": instants,
                "d": pa.array(["y"]).dictionary_encode(),
            }
        )
    )
    assert found.column("a").type == pa.string()
    assert found.all() == [{"a": "x", "b": 2**63, "c": datetime(1970, 1, 1, tzinfo=UTC), "d": "y"}]


def test_rows_keep_every_value() -> None:
    """BR-43: no float stands between an integer and its text, whatever is null beside it."""
    frame = Frame.of_rows([{"a": 9007199254740993}, {"a": None}, {}], {"a": "whole", "b": "real"})
    assert [row["a"] for row in frame.all()] == [9007199254740993, None, None]
    assert frame.at([0], ["a"]) == [{"a": 9007199254740993}]
    assert not any(math.isnan(row["b"] or 0) for row in frame.all())
