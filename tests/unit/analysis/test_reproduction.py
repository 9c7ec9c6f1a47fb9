"""Two makings of a table: what differs, by key and column, and what is said of it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from benchproof.analysis.reproduction import compare, makers, screen, told
from benchproof.errors import BenchproofError
from benchproof.job import Unread
from benchproof.reproducing import compare_folders, missed
from reports import pin, row

KEY = ("repo", "run_path")
MADE = {"code": "a", "config": "c", "versions": {"benchproof": "1", "pyarrow": "2"}}


def run(path: str = "x/result.json", **values: Any) -> dict[str, Any]:
    return row("runs", run_path=path, **values)


def test_equal_rows_differ_nowhere_whatever_their_order() -> None:
    one, two = run("a"), run("b", derived_score=math.nan)
    assert compare("runs", KEY, [one, two], [dict(two), dict(one)]) == ()


@pytest.mark.parametrize(
    ("recorded", "derived"),
    [(True, False), (None, False), (1.0, None), (0.0, -0.0), (math.nan, 0.5), (1, True), (1, 1.0)],
    ids=repr,
)
def test_a_cell_is_named_by_key_and_column(recorded: Any, derived: Any) -> None:
    (found,) = compare("runs", KEY, [run(derived_score=recorded)], [run(derived_score=derived)])
    assert found.key == (("repo", "demo/one"), ("run_path", "x/result.json"))
    assert (found.column, found.recorded, found.derived) == ("derived_score", recorded, derived)


def test_a_row_of_one_side_is_named_with_its_side() -> None:
    gone, new = compare("runs", KEY, [run("a"), run("b")], [run("b"), run("c")])
    assert gone.line() == "repo=demo/one run_path=a: only recorded"
    assert new.line() == "repo=demo/one run_path=c: only derived again"


def test_keys_may_be_null() -> None:
    assert compare("runs", KEY, [row("runs")], [row("runs")]) == ()
    assert len(compare("runs", KEY, [row("runs"), run("a")], [run("a")])) == 1


def test_how_a_repository_was_asked_is_no_difference() -> None:
    there, here = pin(source="git", repo_id=None), pin(source="github", repo_id=7)
    assert compare("pins", ("repo",), [there], [here]) == ()
    assert len(compare("pins", ("repo",), [there], [here | {"commit_sha": "d" * 40}])) == 1


def test_columns_of_one_version_alone_are_not_compared() -> None:
    older = {name: value for name, value in run().items() if name != "tier"}
    assert compare("runs", KEY, [older], [run(tier="A")]) == ()


def test_makers_are_told_apart_in_words() -> None:
    assert makers(MADE, dict(MADE)) == ""
    assert makers(MADE, MADE | {"code": "b"}) == "other code"
    other = MADE | {"versions": {"benchproof": "1", "pyarrow": "3"}}
    assert makers(MADE, other) == "pyarrow 2 then, 3 now"
    assert "other code" in makers({}, MADE)


# -- folders --------------------------------------------------------------------------------------------


def written(folder: Path, *rows: dict[str, Any], **about: Any) -> Path:
    tables.write(folder / "runs.parquet", "runs", rows, MADE | about)
    return folder


def test_the_same_makers_are_compared_by_bytes(tmp_path: Path) -> None:
    one, two = written(tmp_path / "one", run()), written(tmp_path / "two", run())
    (outcome,) = compare_folders(one, two, ["runs"])
    assert (outcome.how, outcome.differs) == ("bytes", False)
    assert "1 byte for byte" in screen("2026-01-15", [outcome])[1]


def test_other_code_is_compared_row_by_row(tmp_path: Path) -> None:
    one, two = written(tmp_path / "one", run(), code="old"), written(tmp_path / "two", run())
    (outcome,) = compare_folders(one, two, ["runs"])
    assert (outcome.how, outcome.why, outcome.differs) == ("rows", "other code", False)
    assert "1 row by row by key (other code): runs" in "\n".join(screen("x", [outcome]))


@pytest.mark.parametrize("code", ["a", "old"])
def test_a_differing_cell_is_said_with_table_key_and_column(tmp_path: Path, code: str) -> None:
    one = written(tmp_path / "one", run(derived_passed=True), run("y"), code=code)
    two = written(tmp_path / "two", run(derived_passed=False), run("y"))
    outcomes = compare_folders(one, two, ["runs"])
    assert outcomes[0].differs
    text = "\n".join(screen("x", outcomes))
    assert "runs DIFFERS in 1 of 2 rows" in text
    cell = "repo=demo/one run_path=x/result.json: derived_passed: recorded True, derived False"
    assert cell in text
    assert f"runs {cell}" in list(told(outcomes))


def test_bytes_that_differ_without_a_row_are_said_to(tmp_path: Path) -> None:
    """Same makers, same rows, other metadata: not the file that these commits give."""
    one, two = written(tmp_path / "one", run(), extra=1), written(tmp_path / "two", run())
    (outcome,) = compare_folders(one, two, ["runs"])
    assert outcome.differs
    assert "runs: its bytes differ, its rows don't" in "\n".join(screen("x", [outcome]))


def test_a_table_that_the_report_lacks_is_nothing_to_compare(tmp_path: Path) -> None:
    (outcome,) = compare_folders(tmp_path, written(tmp_path / "two", run()), ["runs"])
    assert (outcome.how, outcome.differs) == ("nothing", False)
    assert "0 of 1 content tables" in screen("x", [outcome])[0]


def test_a_damaged_table_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "runs.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BenchproofError, match="not a readable Parquet file"):
        compare_folders(tmp_path, written(tmp_path / "two", run()), ["runs"])


def test_a_screen_holds_however_much_differs(tmp_path: Path) -> None:
    many = [run(f"{number}\x1b/{'long' * 60}") for number in range(500)]
    outcomes = compare_folders(
        written(tmp_path / "one", *many), written(tmp_path / "two", run()), ["runs"] * 20
    )
    lines = screen("x", outcomes)
    assert len(lines) <= 20
    assert all(len(line) <= 160 and line.isprintable() for line in lines)
    assert sum("only recorded" in line for line in told(outcomes)) == 20 * 500


def test_what_cannot_be_read_now_is_no_difference(tmp_path: Path) -> None:
    listed = [
        row("reconciliation", status="ok"),
        row("reconciliation", repo="demo/two", status="not_read"),
    ]
    tables.write(tmp_path / "reconciliation.parquet", "reconciliation", listed, {})
    unread = [Unread("demo/one", "unknown", "dns"), Unread("demo/two", "unknown", "dns")]
    assert missed(tmp_path, unread) == ["demo/one (dns)"]
