"""What a comparison says in a mail: changes of upstream and storage that are bad enough."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchproof import tables
from benchproof.cli import ACCEPTED
from benchproof.errors import TableError
from benchproof.watch import changed
from benchproof.watch.message import Changes

SUMMARY = """drift a..b: 3 changes (1 critical, 1 major, 1 info)
- critical: one: 2 graders changed (a rule changed), by 0123456789
- major: one: 1 evals changed (an evaluation's content changed)
- info: one: 1 pins changed (a repository moved on)
Note: - critical: this is no line of a group
"""


def written(folder: Path, *rows: tuple[str, ...]) -> Changes:
    """Return what is read of a drift table with these (table, change, severity, cause, group)."""
    names = ("table", "change", "severity", "cause", "group_id")
    empty = dict.fromkeys(tables.OTHER["drift"].schema.names)
    made = [
        {**empty, "key": str(n), "column": "c", **dict(zip(names, row, strict=True))}
        for n, row in enumerate(rows)
    ]
    tables.write(folder / "drift.parquet", "drift", made, {})
    (folder / "summary.md").write_text(SUMMARY)
    report = folder / "2026-01-15"
    report.mkdir(exist_ok=True)
    (report / "seal.json").write_text(json.dumps({"complete": True}))
    return changed.read(folder, report, ["major"], ACCEPTED)


def test_groups_count_once_by_their_worst_row(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        ("graders", "changed", "critical", "upstream", "g1"),
        ("evals", "changed", "minor", "upstream", "g1"),
        ("evals", "changed", "major", "upstream", "g2"),
        ("pins", "changed", "info", "upstream", "g3"),
    )
    assert found.code == 10
    assert found.groups == {"critical": 1, "major": 1, "minor": 0, "info": 1}
    assert found.waking == {"critical": 1, "major": 1}
    assert [line.partition(":")[0] for line in found.lines] == ["critical", "major"]
    assert found.page == str(tmp_path / "drift.html")


@pytest.mark.parametrize(
    "row",
    [
        ("graders", "not_observed", "info", "storage", "g1"),
        ("graders", "changed", "critical", "benchproof", "g1"),
        ("graders", "changed", "critical", "config", "g1"),
        ("evals", "changed", "minor", "upstream", "g1"),
    ],
    ids=["not observed", "ours", "our configuration", "below what is told"],
)
def test_what_wakes_nobody_is_not_told(tmp_path: Path, row: tuple[str, ...]) -> None:
    found = written(tmp_path, row)
    assert (found.code, found.waking, found.lines) == (0, {}, ())


@pytest.mark.parametrize("table", ["findings", "data_findings", "claims"])
def test_what_the_gate_tells_is_not_told_twice(tmp_path: Path, table: str) -> None:
    found = written(tmp_path, (table, "added", "critical", "upstream", "g1"))
    assert found.code in (10, 11)
    assert (found.groups["critical"], found.waking, found.lines) == (1, {}, ())


def test_a_comparison_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "drift.parquet").write_text("x")
    with pytest.raises(TableError):
        changed.read(tmp_path, tmp_path / "2026-01-15", ["major"], ACCEPTED)
