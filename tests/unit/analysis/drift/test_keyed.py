"""Rows are paired by key whatever their order, and both ways of pairing say the same."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.analysis.drift import keyed
from benchproof.analysis.drift.frames import Frame
from benchproof.analysis.drift.keyed import Pairing, pair

KEYS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 40)), unique=True)


def frame(keys: list[tuple[Any, ...]], kind: pa.DataType | None = None) -> Frame:
    return Frame.of(
        pa.table(
            {
                "a": pa.array([k[0] for k in keys], pa.string()),
                "b": pa.array([k[1] for k in keys], kind),
            }
        )
    )


def told(pairing: Pairing, old: list[Any], new: list[Any]) -> tuple[set[Any], set[Any], set[Any]]:
    mine, theirs = pairing.pairs
    return (
        {old[n] for n in pairing.removed},
        {new[n] for n in pairing.added},
        {(old[a], new[b]) for a, b in zip(mine, theirs, strict=True)},
    )


@given(KEYS, KEYS, st.booleans(), st.booleans())
def test_every_key_is_removed_added_or_paired(
    old: list[Any], new: list[Any], in_order: bool, also: bool
) -> None:
    old, new = (sorted(k) if ordered else k for k, ordered in ((old, in_order), (new, also)))
    removed, added, pairs = told(
        pair(frame(old, pa.int64()), frame(new, pa.int64()), ("a", "b")), old, new
    )
    assert removed == set(old) - set(new)
    assert added == set(new) - set(old)
    assert pairs == {(k, k) for k in set(old) & set(new)}


@settings(deadline=None)
@given(st.sets(st.integers(0, 3000), max_size=40), st.sets(st.integers(0, 3000), max_size=40))
def test_a_merge_and_numbers_agree_over_long_stretches(gone: set[int], come: set[int]) -> None:
    old = [("r", n) for n in range(0, 6000, 2) if n // 2 not in gone]
    new = sorted(("r", n) for n in {*range(0, 6000, 2), *(2 * n + 1 for n in come)})
    frames = frame(old, pa.int64()), frame(new, pa.int64())
    merged = pair(*frames, ("a", "b"))
    numbered = keyed._number(
        [frames[0].column(c) for c in "ab"], [frames[1].column(c) for c in "ab"]
    )
    assert told(merged, old, new) == told(numbered, old, new)
    assert merged.stretches == numbered.stretches


def test_tables_with_little_in_common_are_paired_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keyed, "_STEPS", 3)
    old, new = [("r", n) for n in range(0, 100, 2)], [("r", n) for n in range(0, 100, 3)]
    removed, added, pairs = told(pair(frame(old), frame(new), ("a", "b")), old, new)
    assert (len(removed), len(added), len(pairs)) == (33, 17, 17)


def test_a_key_that_stands_twice_is_named_and_the_others_are_paired() -> None:
    """A foreign or damaged file: neither a crash nor a pair at random."""
    old, new = [("r", 1), ("r", 2), ("r", 2), ("r", 4)], [("r", 1), ("r", 2), ("r", 3), ("r", 3)]
    found = pair(frame(old), frame(new), ("a", "b"))
    assert sorted(found.repeated) == [("r", 2), ("r", 3)]
    removed, added, pairs = told(found, old, new)
    assert (removed, added, pairs) == ({("r", 4)}, set(), {(("r", 1), ("r", 1))})


def test_null_is_a_key_of_its_own() -> None:
    old, new = [("r", None), ("r", "null")], [("r", "null"), ("r", "")]
    removed, added, pairs = told(pair(frame(old), frame(new), ("a", "b")), old, new)
    assert (removed, added) == ({("r", None)}, {("r", "")})
    assert pairs == {(("r", "null"), ("r", "null"))}


def test_keys_of_another_type_are_compared_as_text() -> None:
    old, new = [("r", 1), ("r", 2)], [("r", "2"), ("r", "3")]
    removed, added, _ = told(pair(frame(old), frame(new), ("a", "b")), old, new)
    assert (removed, added) == ({("r", 1)}, {("r", "3")})
