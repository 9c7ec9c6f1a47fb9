"""Folders of reports: found by name or place, of older versions, damaged, moved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchproof import tables
from benchproof.analysis.drift.compare import compare
from benchproof.errors import ConfigError, TableError
from benchproof.outputs import folder_label
from benchproof.report import folders
from conftest import ROOT
from unit.analysis.drift.reports import edited, published

OLDER = ROOT / "tests" / "unit" / "report" / "data" / "older"


def written(
    folder: Path, rows: dict[str, list[dict[str, Any]]], *, complete: bool | None = True
) -> Path:
    for name, listed in rows.items():
        tables.write(folder / f"{name}.parquet", name, listed, {"code": "1", "config": "1"})
    if complete is not None:
        (folder / "seal.json").write_text(json.dumps({"complete": complete}))
    return folder


def test_a_report_is_found_by_date_by_link_and_by_place(tmp_path: Path) -> None:
    results = tmp_path / "results"
    made = written(results / "2026-01-01", published(evals=1))
    (results / "latest").symlink_to("2026-01-01")
    assert folders.find("2026-01-01", results) == made
    assert folders.find("latest", results).name == "2026-01-01"
    assert folders.find(str(made), Path("elsewhere")) == made


@pytest.mark.parametrize("named", ["2026-01-02", "empty", "../nowhere", ""])
def test_what_is_no_report_is_named(tmp_path: Path, named: str) -> None:
    (tmp_path / "results" / "empty").mkdir(parents=True)
    with pytest.raises(ConfigError, match=named or "results"):
        folders.find(named, tmp_path / "results")


@pytest.mark.parametrize(
    ("place", "label"),
    [
        ("results/2026-01-01", "2026-01-01"),
        ("results/asof-2026-01-01/", "asof-2026-01-01"),
        ("x/a b\nc", "a_b_c"),
        (f"history/demo+one/{'a' * 40}", "demo+one@aaaaaaaaaaaa"),
        ("x/" + "y" * 200, "y" * 80),
    ],
)
def test_a_label_is_a_name_for_files(place: str, label: str) -> None:
    assert folder_label(Path(place)) == label


def test_a_report_of_an_older_version_reads(tmp_path: Path) -> None:
    """Tables that 0.1.0 wrote: runs had no blob then."""
    older = folders.load(OLDER)
    assert older.notes == ()
    assert "blob_sha" not in older.frames["runs"].kinds
    new = edited(published(), "runs", {"eval_id": "e1"}, derived_passed=False)
    found = compare(older, folders.load(written(tmp_path / "2026-01-02", new)))
    assert {(r["table"], r["column"]) for r in found.rows if r["change"] == "changed"} == {
        ("runs", "derived_passed")
    }
    assert {r["key"] for r in found.rows if r["change"] == "not_observed"} == {""}
    assert "runs.blob_sha is not in the earlier report: not compared" in found.notes


@pytest.mark.parametrize("damage", ["cut", "text", "page"])
def test_a_damaged_table_is_named_and_the_others_are_compared(tmp_path: Path, damage: str) -> None:
    old = written(tmp_path / "2026-01-01", published())
    new = written(
        tmp_path / "2026-01-02", edited(published(), "evals", {"eval_id": "e1"}, task="x")
    )
    path = new / "runs.parquet"
    data = path.read_bytes()
    spoilt = {"cut": data[:-40], "text": b"no table", "page": data[:4] + b"\xff" * 400 + data[404:]}
    path.write_bytes(spoilt[damage])
    report = folders.load(new)
    assert report.notes == ("runs.parquet cannot be read, and is not compared",)
    found = compare(folders.load(old), report)
    assert {(r["table"], r["change"]) for r in found.rows} == {
        ("evals", "changed"),
        ("runs", "not_observed"),
    }
    assert "2026-01-02: runs.parquet cannot be read, and is not compared" in found.notes


def test_damage_inside_a_large_table_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_SMALL_BYTES", 0)
    folder = written(tmp_path / "2026-01-01", published())
    path = folder / "runs.parquet"
    data = path.read_bytes()
    path.write_bytes(data[:4] + b"\xff" * 400 + data[404:])
    frame = folders.load(folder).frames["runs"]
    with pytest.raises(TableError, match=r"runs\.parquet: column \w+ is damaged"):
        frame.all()


def test_a_large_table_reads_as_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "2026-01-01", published())
    small = folders.load(folder).frames["evals"].all()
    monkeypatch.setattr(folders, "_SMALL_BYTES", 0)
    assert folders.load(folder).frames["evals"].all() == small


def test_foreign_metadata_says_nothing(tmp_path: Path) -> None:
    table = pa.table({"repo": ["demo/one"]}).replace_schema_metadata({"benchproof": "[1]"})
    for number, made in enumerate((table, table.replace_schema_metadata({"benchproof": "{"}))):
        folder = tmp_path / str(number)
        folder.mkdir()
        pq.write_table(made, folder / "pins.parquet")
        assert folders.load(folder).about["pins"] == {}


def test_completeness_is_the_seals_word(tmp_path: Path) -> None:
    """A dated folder without a seal is an audit that did not end; another one need not have one."""
    rows = published(evals=1)
    told = {
        name: folders.load(written(tmp_path / name, rows, complete=complete)).complete
        for name, complete in (
            ("2026-01-01", True),
            ("2026-01-02", False),
            ("2026-01-03", None),
            ("x", None),
        )
    }
    assert told == {"2026-01-01": True, "2026-01-02": False, "2026-01-03": False, "x": None}


def test_equal_files_are_known_by_their_bytes(tmp_path: Path) -> None:
    old = written(tmp_path / "a", published())
    new = written(tmp_path / "b", edited(published(), "evals", {"eval_id": "e1"}, task="x"))
    assert folders.equal_tables(old, new) == set(tables.SPECS) - {"evals"}


def test_older_reports_come_newest_first_and_are_read_when_asked_for(tmp_path: Path) -> None:
    for name in (
        "2026-01-03",
        "2026-01-01",
        "2026-01-02",
        "asof-2025-01-01",
        "drift",
        "2026-01-02.bak",
    ):
        written(tmp_path / name, published(evals=1), complete=None)
    older = folders.Older(tmp_path / "2026-01-03")
    assert older._read == {}
    assert [report.label for report in older] == ["2026-01-02", "2026-01-01"]
    assert [report.label for report in older[1:]] == ["2026-01-01"]
    assert older[0] is older[0]
    with pytest.raises(IndexError):
        older[2]
    assert list(folders.Older(tmp_path / "drift")) == []
    assert list(folders.Older(tmp_path / "asof-2025-01-01")) == []
