"""Which tables claims are checked against: asking for claims alone never asks signer or storage."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchproof import workflow
from benchproof.cli import DEFAULTS
from benchproof.lease import MARK
from benchproof.outputs import DATA, TABLES
from benchproof.workflow import Audit

RAW: dict[str, Any] = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
CONTENT = set(TABLES) - {"claims", "data_findings", "traffic"} - set(DATA)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(workflow.DAY, raising=False)
    monkeypatch.setenv(MARK, "this-run")


def claimed(*targets: str, inner: bool = False) -> set[str]:
    made = Audit({**copy.deepcopy(RAW), "date": "2026-01-15"})
    return {Path(path).stem for path in made.claimed(targets, inner)} - CONTENT


@pytest.mark.parametrize(
    ("targets", "data"),
    [
        (["claims"], ""),
        (["pin", "regrade", "claims"], ""),
        (["results/2026-01-15/claims.parquet"], ""),
        (["results/2026-01-15/handles.parquet"], "handles"),
        (["claims", "handles"], "handles runnable"),
        (["sizes"], "handles runnable objects"),
        (["peek", "claims"], "handles runnable objects contents"),
        (["fetch"], "handles runnable objects contents files"),
        (["gate"], "handles runnable objects contents files"),
        (["results/2026-01-15/seal.json"], "handles runnable objects contents files"),
        ([], "handles runnable objects contents files"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_targets_decide(targets: list[str], data: str) -> None:
    """DESIGN: pin to claims never contact signer or storage unless handles or sizes were asked for."""
    assert claimed(*targets) == set(data.split())


def test_what_is_there_is_used_by_every_target() -> None:
    """So that asking for claims after a whole audit finds nothing to do."""
    path = Path("results/2026-01-15/objects.parquet")
    path.parent.mkdir(parents=True)
    path.touch()
    assert claimed("claims") == {"objects"}
    assert claimed(inner=True) == {"objects"}


def test_a_process_of_one_job_asks_for_nothing() -> None:
    assert claimed(inner=True) == set()


def test_every_content_table_can_be_asked() -> None:
    made = Audit({**copy.deepcopy(RAW), "date": "2026-01-15"})
    assert {Path(path).stem for path in made.claimed(["claims"], False)} == CONTENT
