"""The choice of a series: what touches nothing audited is left out, what nobody knows is kept."""

from __future__ import annotations

import pytest

from benchproof.history import series
from benchproof.sources.base import Entry


def one(*words: str) -> series.Audited:
    return series.identity(Entry(word.encode(), "100644", "1" * 40) for word in words)


LINE = {"a": [], "b": ["a"], "c": ["b"]}
MERGE = {"a": [], "b": ["a"], "c": ["a"], "m": ["b", "c"]}
EMPTY = one()


@pytest.mark.parametrize(
    ("parents", "read", "tip", "kept"),
    [
        (LINE, {"a": one("x"), "b": one("x"), "c": one("x", "y")}, "c", "ac"),
        (LINE, {"a": one("x"), "b": one("y"), "c": one("y")}, "c", "abc"),
        (LINE, {"a": EMPTY, "b": one("x"), "c": one("x")}, None, "b"),
        (LINE, {"a": one("x"), "b": EMPTY, "c": one("x")}, "c", "abc"),
        (MERGE, {"a": one("x"), "b": one("y"), "c": one("x"), "m": one("y")}, None, "ab"),
        (MERGE, {"a": one("x"), "b": one("y"), "c": one("z"), "m": one("y", "z")}, None, "abcm"),
        (MERGE, {"a": one("x"), "b": one("y"), "c": one("x"), "m": one("x")}, "m", "abm"),
        (LINE, {"a": one("x"), "c": one("x")}, "c", "abc"),
        ({"a": [], "b": []}, {"a": one("x"), "b": one("x")}, "b", "ab"),
    ],
    ids=[
        "unrelated", "pin-counts", "empty-root", "emptied", "merge-of-nothing", "merge-of-both",
        "merge-pinned", "unread-and-its-child", "two-roots",
    ],
)  # fmt: skip
def test_what_differs_from_every_parent_is_kept(
    parents: dict[str, list[str]], read: dict[str, series.Audited], tip: str | None, kept: str
) -> None:
    assert series.touching(parents, read, tip) == list(kept)


def test_a_moved_or_executable_file_is_another_one() -> None:
    """The place is audited as well as the blob."""
    same = Entry(b"evals/a.json", "100644", "1" * 40, 7)
    assert series.identity([same]) == series.identity([Entry(b"evals/a.json", "100644", "1" * 40)])
    for other in (
        Entry(b"evals/b.json", "100644", "1" * 40),
        Entry(b"evals/a.json", "100755", "1" * 40),
        Entry(b"evals/a.json", "100644", "2" * 40),
    ):
        assert series.identity([same]) != series.identity([other])
