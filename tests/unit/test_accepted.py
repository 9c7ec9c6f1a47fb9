"""Acceptances: shown, counted, and gone the day after they expire."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from benchproof.accepted import day_of, load
from benchproof.errors import ConfigError
from conftest import ROOT

ENTRY = "{id: orphan.0123456789, owner: somebody, reason: comes next week, expires: 2026-03-01}"


def _written(folder: Path, text: str) -> Path:
    path = folder / "accepted.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("day", "holds"), [("2026-02-28", True), ("2026-03-01", True), ("2026-03-02", False)]
)
def test_an_acceptance_holds_through_its_last_day(tmp_path: Path, day: str, holds: bool) -> None:
    known = load(_written(tmp_path, f"accepted: [{ENTRY}]"), day)
    found = known.of("orphan.0123456789")
    assert (found is not None) is holds
    assert [entry.id for entry in known.expired(["orphan.0123456789"])] == (
        [] if holds else ["orphan.0123456789"]
    )
    assert known.of("dangling.0123456789") is None


def test_entries_that_nothing_needs_are_told(tmp_path: Path) -> None:
    known = load(_written(tmp_path, f"accepted: [{ENTRY}]"), "2026-01-01")
    assert [entry.owner for entry in known.unused([])] == ["somebody"]
    assert known.unused(["orphan.0123456789"]) == []
    assert known.expired([]) == []


def test_a_day_may_be_quoted(tmp_path: Path) -> None:
    text = ENTRY.replace("2026-03-01", "'2026-03-01'")
    known = load(_written(tmp_path, f"accepted: [{text}]"), "2026-01-01")
    assert known.entries["orphan.0123456789"].expires == date(2026, 3, 1)


@pytest.mark.parametrize("text", ["accepted: []", "accepted:"])
def test_nothing_may_be_accepted(tmp_path: Path, text: str) -> None:
    assert load(_written(tmp_path, text), "2026-01-01").entries == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "one key, `accepted`"),
        ("- a", "one key, `accepted`"),
        ("accepted: {}", "one key, `accepted`"),
        ("accepted: []\nother: 1", "one key, `accepted`"),
        ("accepted: [", "not readable as YAML"),
        ("accepted: [x]", "entry 1 takes id, owner, reason and expires"),
        (f"accepted: [{ENTRY}, {ENTRY}]", "entry 2 repeats the id orphan.0123456789"),
        (f"accepted: [{ENTRY.replace('owner: somebody, ', '')}]", "`owner` is missing"),
        (f"accepted: [{ENTRY.replace('owner', 'who')}]", "`owner` is missing"),
        (f"accepted: [{ENTRY[:-1]}, zeal: 1}}]", "`zeal` is not a key"),
        (f"accepted: [{ENTRY.replace('somebody', '7')}]", "`owner` takes one line of text"),
        (f"accepted: [{ENTRY.replace('comes next week', '[]')}]", "`reason` takes one line"),
        (f"accepted: [{ENTRY.replace('2026-03-01', 'soon')}]", "written YYYY-MM-DD"),
        (f"accepted: [{ENTRY.replace('2026-03-01', '2026-03-01T00:00:00')}]", "written YYYY-MM-DD"),
        (f"accepted: [{ENTRY.replace('2026-03-01', '20260301')}]", "written YYYY-MM-DD"),
    ],
)
def test_a_fault_is_one_line_that_names_it(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(_written(tmp_path, text), "2026-01-01")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"accepted: \[\]"):
        load(tmp_path / "accepted.yaml", "2026-01-01")


def test_the_shipped_file_accepts_nothing() -> None:
    assert load(ROOT / "config" / "accepted.yaml", "2026-01-01").entries == {}


def test_the_day_is_the_one_that_the_report_names() -> None:
    assert [day_of("2026-01-15"), day_of("asof-2026-01-15")] == ["2026-01-15", "2026-01-15"]


def test_a_day_that_is_none_is_said_in_one_line(tmp_path: Path) -> None:
    text = ENTRY.replace("2026-03-01", "2026-02-30")
    with pytest.raises(ConfigError, match="days included"):
        load(_written(tmp_path, f"accepted: [{text}]"), "2026-01-01")
