"""What is withheld leaves the vault on demand alone, and one repository is audited like six."""

from __future__ import annotations

import json

import pytest

from benchproof import tables
from conftest import DAY, Bench

pytestmark = pytest.mark.workflow


def _findings(bench: Bench) -> list[dict[str, object]]:
    target = f"results/{DAY}/findings.parquet"
    bench.audit(target)
    return tables.read(bench.folder / target, "findings")


def test_places_are_released_by_the_configuration_alone(bench: Bench) -> None:
    """The same four evaluations, first as a number, then by path, as a table and for tools."""
    bench.settings["only"] = ["spatialbench"]
    (number,) = (row for row in _findings(bench) if row["rule"] == "passes_on_zeros")
    assert number["path"] is None
    assert "demo_sp_14_confound" not in (bench.out / "findings.sarif").read_text()
    bench.settings["disclose"] = "places"
    placed = [row for row in _findings(bench) if row["rule"] == "passes_on_zeros"]
    assert len({row["path"] for row in placed}) == 4
    assert "demo_sp_14_confound" in (bench.out / "findings.sarif").read_text()
    listed = json.loads((bench.out / "findings.json").read_text())["findings"]
    assert {row["finding_id"] for row in listed} == {row["finding_id"] for row in _findings(bench)}
    assert [path.name for path in (bench.out / "findings").iterdir()] == ["demo+spatialbench.md"]
