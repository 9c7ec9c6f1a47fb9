"""Ranges of commits as values: who is reached, in which order, what each one changes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from benchproof.errors import Unreachable
from benchproof.sources import objects, ranges
from benchproof.sources.base import Entry

DAY = datetime(2026, 8, 1, tzinfo=UTC)


def graph(**parents: str) -> dict[str, objects.Commit]:
    """Commits named by letters, each a day later than the one before it."""
    return {
        name: objects.Commit("t" * 40, tuple(above), DAY + timedelta(days=number))
        for number, (name, above) in enumerate(parents.items())
    }


LINES = graph(a="", b="a", c="a", d="b", m="dc", x="")


@pytest.mark.parametrize(
    ("start", "stop", "found"),
    [("m", None, "abcdm"), ("x", None, "x"), ("a", None, "a"), ("c", "zz", "ac")],
)
def test_all_ancestors_are_reached_once(start: str, stop: str | None, found: str) -> None:
    assert set(ranges.reachable(start, LINES.__getitem__, stop)) == set(found)


def test_the_walk_ends_where_it_is_told() -> None:
    assert "a" not in ranges.reachable("m", LINES.__getitem__, stop="m")
    assert "a" in ranges.reachable("m", LINES.__getitem__, stop="a")


def test_no_parent_comes_before_its_child_whatever_the_clocks_said() -> None:
    assert ranges.newest_first(LINES) == list("xmdcba")
    wrong = LINES | {"a": objects.Commit("t" * 40, (), DAY + timedelta(days=99))}
    assert ranges.newest_first(wrong) == list("xmdcba")
    equal = {name: objects.Commit("t" * 40, c.parents, DAY) for name, c in LINES.items()}
    assert ranges.newest_first(equal) == list("mcdbax")


def test_parents_outside_the_range_are_left_out() -> None:
    assert ranges.newest_first({name: LINES[name] for name in "md"}) == ["m", "d"]


def test_a_parent_named_twice_is_one_parent() -> None:
    assert ranges.newest_first(graph(a="", b="aa")) == ["b", "a"]


TREES = {
    "one": [("100644", b"same", "1"), ("40000", b"dir", "in"), ("100644", b"gone", "2")],
    "two": [("100755", b"same", "1"), ("40000", b"dir", "in"), ("40000", b"gone", "deep")],
    "three": [("100644", b"same", "1"), ("40000", b"dir", "other"), ("160000", b"sub", "5")],
    "in": [("100644", b"f", "3")],
    "other": [("100644", b"f", "3"), ("120000", b"\xff\n", "4")],
    "deep": [("40000", b"er", "in")],
}


@pytest.mark.parametrize(
    ("old", "new", "paths"),
    [
        ("one", "one", set()),
        (None, "one", {b"same", b"dir/f", b"gone"}),
        ("one", "two", {b"same", b"gone", b"gone/er/f"}),
        ("one", "three", {b"dir/\xff\n", b"sub", b"gone"}),
    ],
    ids=["equal", "root", "mode-and-file-to-folder", "link-submodule-removed"],
)
def test_trees_are_compared_by_leaf(old: str | None, new: str, paths: set[bytes]) -> None:
    assert ranges.changed_in_trees(old, new, TREES.__getitem__, "o/n") == paths
    if old is not None:
        assert ranges.changed_in_trees(new, old, TREES.__getitem__, "o/n") == paths
    needed = [[new, old] if old else [new]]
    listings = ((sha, flat(sha)) for sha in dict.fromkeys(needed[0]))
    assert list(ranges.changes_of(needed, listings)) == [paths]


def flat(tree: str | None, prefix: bytes = b"") -> list[Entry]:
    found: list[Entry] = []
    for mode, name, sha in TREES[tree] if tree else []:
        if mode == "40000":
            found += flat(sha, prefix + name + b"/")
        else:
            found.append(Entry(prefix + name, mode, sha))
    return found


def test_equal_folders_are_not_entered() -> None:
    read: list[str] = []

    def rows(sha: str) -> ranges.Rows:
        read.append(sha)
        return TREES[sha]

    ranges.changed_in_trees("one", "two", rows, "o/n")
    assert read.count("in") == 1  # below `gone`, where there was none


def test_trees_that_hold_each_other_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "MAX_CHANGED", 10_000)
    bomb = {str(n): [("40000", b"%d" % k, str(n + 1)) for k in range(10)] for n in range(40)}
    with pytest.raises(Unreachable, match="too_large"):
        ranges.changed_in_trees(None, "0", bomb.__getitem__, "o/n")


def test_a_merge_changes_what_differs_from_all_its_parents() -> None:
    sides = [frozenset({b"a", b"both"}), frozenset({b"b", b"both"})]
    assert ranges.own_changes(sides) == {b"both"}
    assert ranges.own_changes(sides[:1]) == sides[0]


def test_listings_are_dropped_when_no_commit_needs_them_any_more() -> None:
    needed = [["one", "two", "three"], ["two", "one"], ["one"], ["one", "three"]]
    arrived: list[str] = []

    def listings() -> Iterator[tuple[str, list[Entry]]]:
        for name in ("one", "two", "three"):
            arrived.append(name)
            yield name, flat(name)

    changes = ranges.changes_of(needed, listings())
    assert next(changes) == {b"gone"}
    assert [len(paths) for paths in changes] == [3, 3, 3]
    assert arrived == ["one", "two", "three"]
