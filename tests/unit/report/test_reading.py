"""The gate over reports on disk: the last complete one counts, one that cannot be read counts as none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchproof import cli, tables
from benchproof.lease import MARK, Lease
from benchproof.report import reading

ACCEPTED = "accepted: []\n"


def finding(name: str) -> dict[str, Any]:
    columns = dict.fromkeys(tables.SPECS["findings"].schema.names, "x")
    return {**columns, "finding_id": name, "severity": "critical"}


def report(day: str, *names: str, complete: bool = True, broken: bool = False) -> Path:
    folder = Path("results", day)
    tables.write(folder / "findings.parquet", "findings", map(finding, names), {})
    tables.write(folder / "data_findings.parquet", "data_findings", [], {})
    if broken:
        tables.write(folder / "claims.parquet", "readings", [], {})
    else:
        tables.write(folder / "claims.parquet", "claims", [], {})
    (folder / "seal.json").write_text(json.dumps({"complete": complete}))
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(MARK, "this-run")
    Path("accepted.yaml").write_text(ACCEPTED)


def judged(folder: Path) -> Any:
    return reading.judged(folder, Path("results"), ["critical"], Path("accepted.yaml"))


def test_the_last_complete_report_is_the_baseline() -> None:
    """What an incomplete report did not see is not mended by it."""
    report("2026-01-10", "a")
    report("2026-01-11", complete=False)
    assert judged(report("2026-01-12", "a")).code == 0
    assert judged(report("2026-01-13", "a", "b")).code == 10


def test_a_baseline_of_another_version_is_said_and_counts_as_none() -> None:
    report("2026-01-10", "a", broken=True)
    found = judged(report("2026-01-12", "a"))
    assert found.code == 10
    assert "cannot be read by this version" in found.lines[0]


def gate(*arguments: str) -> int:
    try:
        return cli.main(["gate", *arguments, "--accepted", "accepted.yaml"])
    except SystemExit as stop:
        return int(stop.code or 0)


def test_the_command_ends_with_the_gates_code(capsys: pytest.CaptureFixture[str]) -> None:
    report("2026-01-10", "a")
    report("2026-01-12", "a", "b")
    assert gate("2026-01-12") == 10
    assert "critical b" in capsys.readouterr().out
    assert gate("--config", "date=2026-01-12") == 10
    report("2026-01-13", "a", "b")
    assert gate("2026-01-13") == 0
    report("2026-01-14", "a", "b", complete=False)
    assert gate("2026-01-14") == 20


def test_a_date_without_a_sealed_report_is_incomplete_or_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert gate("2026-01-10") == 20
    assert "no sealed report" in capsys.readouterr().out
    log = Path("results/2026-01-10/logs/lint_evals.log")
    log.parent.mkdir(parents=True)
    log.write_text("10:00:00 error: the disk is full\n")
    assert gate("2026-01-10") == 1
    assert "lint_evals failed" in capsys.readouterr().err


def test_wrong_usage_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    report("2026-01-10")
    Path("accepted.yaml").write_text("accepted: 3\n")
    assert gate("2026-01-10") == 2
    assert gate("--nonsense") == 2
    assert gate("--config", "date=2026-02-30") == 2


def test_another_living_run_is_75(monkeypatch: pytest.MonkeyPatch) -> None:
    report("2026-01-10")
    holder = Lease(Path("resources"))
    holder.acquire()
    try:
        assert gate("2026-01-10") == 0
        monkeypatch.setenv(MARK, "another-run")
        assert gate("2026-01-10") == 75
    finally:
        holder.release()
