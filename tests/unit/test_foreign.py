"""Reports that somebody wrote by hand: no path, ref or script is made of what they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchproof.analysis.drift.frames import Frame
from benchproof.analysis.drift.views import Report as Compared
from benchproof.errors import BenchproofError, TableError, VaultError
from benchproof.explain import refute
from benchproof.explain.reports import Report
from benchproof.foreign import is_pin, refuse_odd_pins
from benchproof.recorded import rows
from benchproof.report import folders
from benchproof.vault import Vault, slug

SHA = "a" * 40
GOOD = {"repo": "o/n", "ref": "main", "commit_sha": SHA, "tree_sha": SHA, "resolved_repo": "o/m"}
BAD: list[dict[str, Any]] = [
    {"commit_sha": "x; touch pwned"},
    {"commit_sha": "../../../../tmp/x"},
    {"commit_sha": SHA + "\n"},
    {"commit_sha": "A" * 40},
    {"tree_sha": 7},
    {"repo": "../.."},
    {"repo": "o/.."},
    {"repo": "o/n/m"},
    {"repo": "-o/n"},
    {"repo": None},
    {"resolved_repo": "o/n?x=@evil"},
    {"ref": "--upload-pack=touch pwned"},
    {"ref": "a\x1b[2J"},
]


def test_pins_of_ours_pass() -> None:
    assert refuse_odd_pins([GOOD, {"repo": "o/.github", "commit_sha": None}], "x")


@pytest.mark.parametrize("change", BAD, ids=str)
def test_odd_pins_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    """`explain` prints scripts that a reader runs; `drift` and `reproduce` open folders by these names."""
    assert not is_pin({**GOOD, **change})
    pq.write_table(pa.Table.from_pylist([{**GOOD, **change}]), tmp_path / "pins.parquet")
    report = Report(tmp_path, None)  # type: ignore[arg-type]
    with pytest.raises(BenchproofError, match="no report of benchproof's"):
        _ = report.pins
    frame = Frame.of(pa.Table.from_pylist([{**GOOD, **change}]))
    assert not Compared("x", {"pins": frame}).pins
    assert not Compared("x", {}, {"runs": {"pins": {"o/n": change.get("commit_sha", "x")}}}).pins


def test_texts_of_a_table_that_are_no_utf8_make_it_unreadable(tmp_path: Path) -> None:
    """Arrow reads them without a word, and Python then fails wherever a cell is first looked at."""
    cells = pa.array([b"a\xffb"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"repo": cells}), tmp_path / "pins.parquet")
    with pytest.raises(BenchproofError, match="not a readable Parquet file"):
        rows(tmp_path, "pins")
    with pytest.raises(TableError, match="not a readable Parquet file"):
        Report(tmp_path, None).rows("pins")  # type: ignore[arg-type]
    assert folders.load(tmp_path).notes == ("pins.parquet cannot be read, and is not compared",)


def test_a_script_names_a_commit_by_its_id() -> None:
    assert f"C={SHA};" in refute.fetched("https://h/o/n.git", SHA, [])[1]
    with pytest.raises(ValueError, match="by its id"):
        refute.fetched("https://h/o/n.git", "$(touch pwned)", [])


@pytest.mark.parametrize("name", ["..", ".", "", "a/b/../..", "x\0", "é", "a b", "x" * 300])
def test_no_path_of_the_vault_leads_out_of_it(name: str) -> None:
    vault = Vault("v")
    with pytest.raises(VaultError):
        vault.content("o/n", f"../{name}")
    with pytest.raises(VaultError):
        vault.pin_record(name, "o/n", "main")
    with pytest.raises(VaultError):
        vault.observed(name, "x", "1")
    if "/" not in name:
        with pytest.raises(VaultError):
            slug(name)
