"""Rows of the page as JSON: whole, small, and each named by a key of its own."""

from __future__ import annotations

from typing import Any

import pytest

from benchproof.report import grids as module
from benchproof.report.facts import Facts
from benchproof.report.grids import cell, encoded, grids
from benchproof.tables import SPECS
from reports import counted, pin, row, sample


def facts(**given: Any) -> Facts:
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in SPECS}
    rows |= {"pins": [pin()], "reconciliation": [counted()]}
    return Facts("2026-01-15", None, 1, rows | given, None, None)


def columns(data: dict[str, Any]) -> dict[str, list[Any]]:
    return {
        c["name"]: c["cells"] if "cells" in c else [c["values"][n] for n in c["at"]]
        for c in data["columns"]
    }


def test_what_is_packed_comes_out_again() -> None:
    """Also true, 1 and 1.0, which Python takes for one another, and texts that look like numbers."""
    values = [True, 1, 1.0, "1", None, "null", False, 0] * 3
    packed = module._packed(values, always=True)
    found = [packed["values"][n] for n in packed["at"]]
    assert [(type(v), v) for v in found] == [(type(v), v) for v in values]


def test_a_grid_holds_every_column_of_its_table_and_repeats_little() -> None:
    made = grids(facts(**sample(500)))["runs"]
    data = encoded(made)
    found = columns(data)
    assert list(found) == SPECS["runs"].schema.names
    assert found["model"][:5] == ["NA", "null", "1E5", "sage-1", "sage-2"]
    assert found["derived_passed"][28] is None
    assert len(data["columns"][list(found).index("model")]["values"]) == 5


def test_two_repositories_may_hold_one_path() -> None:
    runs = [row("runs", repo=repo, run_path="p", status="graded") for repo in ("a/x", "b/x")]
    made = grids(facts(runs=runs))["runs"]
    assert [made.id(item) for item in made.rows] == ["a/x:p", "b/x:p"]


def test_a_grid_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 7)
    made = grids(facts(**sample(20)))
    assert [(made[n].total, len(made[n].rows)) for n in ("runs", "objects")] == [(20, 7), (14, 7)]


def test_handles_show_what_later_stages_learnt_of_them() -> None:
    made = columns(encoded(grids(facts(**sample()))["objects"]))
    assert (made["status"][3], made["reason"][3]) == ("refused", "not_shared_or_unknown")
    assert (made["size_bytes"][2], made["n_obs"][2], made["files status"][0]) == (
        9_000_000,
        200,
        "ok",
    )
    assert made["size_bytes"][13] is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2**53 - 1, 2**53 - 1),
        (2**53, "9007199254740992"),
        (-(2**60), "-1152921504606846976"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (["a", "b\x07"], "a, b\\x07"),
        ([], ""),
        (None, None),
        (False, False),
    ],
)
def test_cells_are_what_json_and_a_browser_keep(value: Any, shown: Any) -> None:
    """BR-43"""
    assert cell(value) == shown
    assert type(cell(value)) is type(shown)
