"""Where two makings of a file first differ, and what the gate says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from benchproof.determinism import judging, words
from benchproof.determinism.compare import Disagreement, Product
from benchproof.determinism.conditions import DESIGN, plan

EMPTY = dict.fromkeys(tables.SPECS["readings"].schema.names)
ROWS = [{**EMPTY, "reading": name, "runs": 1} for name in "ab"]
ABOUT = {"code": "0" * 64, "config": "1", "versions": {"pyarrow": "1"}}


def table(folder: Path, rows: list[dict[str, Any]], about: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    tables.write(folder / "readings.parquet", "readings", rows, about)
    return folder / "readings.parquet"


@pytest.mark.parametrize(
    ("rows", "about", "place"),
    [
        pytest.param(
            [ROWS[0], ROWS[1] | {"runs": 2}], ABOUT, "row reading=b, column runs", id="cell"
        ),
        pytest.param(ROWS[:1], ABOUT, "row reading=b, only in some", id="row"),
        pytest.param(ROWS, ABOUT | {"path": "/x"}, "metadata: path", id="path in the metadata"),
    ],
)
def test_the_first_difference_of_tables_is_named(
    tmp_path: Path, rows: list[dict[str, Any]], about: dict[str, Any], place: str
) -> None:
    one, other = table(tmp_path / "A", ROWS, ABOUT), table(tmp_path / "B", rows, about)
    assert judging.first_difference(one, other) == place


@pytest.mark.parametrize(
    ("text", "place"),
    [("a\nB\nc\n", "line 2"), ("a\nb\nc\nd\n", "line 4"), (None, "not made by all")],
)
def test_the_first_line_that_differs_is_named_without_its_text(
    tmp_path: Path, text: str | None, place: str
) -> None:
    one, other = tmp_path / "one.md", tmp_path / "other.md"
    one.write_text("a\nb\nc\n")
    if text is not None:
        other.write_text(text)
    assert judging.first_difference(one, other) == place


def test_the_reports_own_tables_count_when_the_same_code_made_them(tmp_path: Path) -> None:
    made = table(tmp_path / "A", ROWS, ABOUT).parent
    table(tmp_path / "same", ROWS, ABOUT)
    table(tmp_path / "other", ROWS[:1], ABOUT)
    table(tmp_path / "older", ROWS[:1], ABOUT | {"code": "9"})
    names = ["readings"]
    assert judging.against_report(tmp_path / "same", made, names) == (names, {})
    assert judging.against_report(tmp_path / "other", made, names) == ([], {"readings": ""})
    said = {"readings": "other code"}
    assert judging.against_report(tmp_path / "older", made, names) == ([], said)
    said = {"readings": "not there yet"}
    assert judging.against_report(tmp_path / "none", made, names) == ([], said)


def verdict(**changes: Any) -> words.Verdict:
    planned = plan({"source": ("git",), "locale": ("C", "C.UTF-8")}, {"source": "offline"})
    base: dict[str, Any] = {
        "label": "2026-01-15",
        "plan": planned,
        "observed": {name: planned.given(name) for name in DESIGN},
        "products": [Product("runs.parquet", dict.fromkeys("ABCDEF", "1"))],
        "disagreements": [],
        "problems": [],
        "same": ["runs"],
        "others": {},
        "jobs": 6,
        "seconds": 1.0,
        "no_page": None,
        "kept": "vault/determinism/2026-01-15",
    }
    return words.Verdict(**{**base, **changes})


def test_the_screen_names_some_files_and_the_summary_all() -> None:
    many = [Disagreement(f"{at}.json", ("A", "B"), "line 1", ()) for at in range(30)]
    found = verdict(disagreements=many)
    assert "and 22 more files differ" in "\n".join(words.screen(found))
    assert "29.json DIFFERS" in words.summary(found)
    assert "more files" not in words.summary(found)


def test_what_holds_says_so_with_all_conditions() -> None:
    found = verdict()
    assert found.holds
    lines = words.screen(found)
    assert lines[0].startswith(
        "verify_determinism 2026-01-15: 1 of 1 tables and 0 of 0 other files are the same in 6 derivations"
    )
    assert "  locale             ACDE: C | BF: C.UTF-8" in lines
    assert "  not varied: source: offline" in lines
    assert len(lines) <= 24
    text = words.summary(found)
    assert "| locale | ACDE: C \\| BF: C.UTF-8 |" in text
    assert all(name in text for name in DESIGN)


def test_what_differs_is_told_with_its_place_and_what_it_follows() -> None:
    found = verdict(
        products=[Product("runs.parquet", {"A": "1", "B": "2"})],
        disagreements=[Disagreement("runs.parquet", ("A", "B"), "row x, column y", ("locale",))],
        problems=["time zone: did not take effect"],
    )
    assert not found.holds
    assert (
        words.faults(found) == "1 files differ and 1 conditions are not shown to have been in force"
    )
    lines = "\n".join(words.screen(found))
    assert "runs.parquet DIFFERS between A and B: row x, column y" in lines
    assert "it follows locale" in lines
    assert "time zone: did not take effect" in lines
    assert "all makings are in vault/determinism/2026-01-15/made" in lines


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"others": {"runs": ""}, "same": []}, "runs DIFFER from all that was derived now"),
        ({"others": {"runs": "other code"}}, "1 not compared (other code)"),
        ({"no_page": "there is no report"}, "page and summary: not compared, because there is no"),
        (
            {"disagreements": [Disagreement("x", ("A", "B"), "line 1", ())]},
            "it follows no single condition: chance",
        ),
    ],
)
def test_the_rest_is_told_too(changes: dict[str, Any], said: str) -> None:
    found = verdict(**changes)
    assert said in "\n".join(words.screen(found))
    assert said in words.summary(found)
    assert found.holds == ("other code" in said or "not compared" in said)
