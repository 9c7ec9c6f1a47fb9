"""The benchproof command: its exit codes, and one line for whatever is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchproof import cli, config, tables
from benchproof.lease import MARK, Lease
from benchproof.vault import Vault, write_json

DAY = "2026-01-15"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(MARK, "this-run")
    return tmp_path


def run(*arguments: str) -> int:
    try:
        return cli.main(list(arguments))
    except SystemExit as stop:
        return int(stop.code or 0)


def report(day: str, *, sealed: bool = True) -> Path:
    folder = Path("results", day)
    row: dict[str, Any] = dict.fromkeys(tables.SPECS["pins"].schema.names)
    tables.write(
        folder / "pins.parquet",
        "pins",
        [row | {"repo": "latchbio/scbench", "commit_sha": "c" * 40}],
        {},
    )
    (folder / "summary.md").write_text(f"benchproof {day}: é\n", encoding="utf-8")
    if sealed:
        (folder / "seal.json").write_text(json.dumps({"complete": True}))
    return folder


@pytest.mark.parametrize("command", ["summary", "pending", "drift", "purge", "watch"])
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command, "--help") == 0
    assert "--configfile" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["pending", "--frobnicate"],
        ["pending", "--config", "date"],
        ["pending", "--config", "=x"],
        ["pending", "--config", "onyl=x"],
        ["pending", "--config", "date=2026-02-30"],
        ["pending", "--configfile", "nowhere.yaml"],
        ["pending", "--configfile", "."],
        ["pending", "--configfile", "list.yaml"],
        ["pending", "--configfile", "broken.yaml"],
        ["pending", "--configfile", "binary.yaml"],
        ["pending", "--configfile", "day.yaml"],
        ["purge", "--report", "2026-01-09"],
        ["purge", "--report", "../results"],
        ["purge", "--report", ""],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_2_and_says_so_in_words(
    here: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "list.yaml").write_text("[1, 2]")
    (here / "broken.yaml").write_text("a: [1")
    (here / "binary.yaml").write_bytes(b"a: \xff\xfe")
    (here / "day.yaml").write_text("date: 2026-02-30\n")
    assert run(*arguments) == cli.USAGE
    said = capsys.readouterr()
    assert said.err.startswith(("benchproof: ", "usage: "))
    assert said.err.startswith("usage: ") or len(said.err.splitlines()) == 1
    assert said.out == ""


def test_the_configuration_is_merged_as_snakemake_merges_it(here: Path) -> None:
    """Files after the defaults, deeply; --config last."""
    (here / "a.yaml").write_text("{shards: 2, http: {tries: 3}, notice: a}")
    (here / "b.yaml").write_text("{http: {connections: 4}, notice: b}")
    options = cli._parser().parse_args(
        [
            "pending",
            "--configfile",
            "a.yaml",
            "--configfile",
            "b.yaml",
            "--config",
            "only=[scbench]",
            "date=2026-01-02",
        ]
    )
    found = cli._configured(options)
    limits = found.merged["http"]
    assert (limits["tries"], limits["connections"], limits["max_wait_s"]) == (3, 4, 300)
    assert (found.notice, found.date, len(found.family)) == ("b", "2026-01-02", 1)


def test_summary_prints_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    report("2026-01-01")
    Path("results/latest").symlink_to("2026-01-01")
    assert run("summary") == run("summary", "2026-01-01") == cli.OK
    assert capsys.readouterr().out == "benchproof 2026-01-01: é\n" * 2


def test_summary_of_an_unknown_date_names_those_that_are_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("summary") == cli.FAILED
    assert "run snakemake" in capsys.readouterr().err
    report("2026-01-01")
    report("2026-01-02")
    assert run("summary", "2026-01-09") == cli.FAILED
    assert "Reports here: 2026-01-01, 2026-01-02." in capsys.readouterr().err


def test_pending_counts_what_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("pending", "--config", f"date={DAY}", "only=scbench")
    assert run(*asked) == cli.INCOMPLETE
    assert "not begun" in capsys.readouterr().out
    report(DAY, sealed=False)
    assert run(*asked) == cli.INCOMPLETE
    assert "pin: latchbio/scbench: not asked\n1 unknown" in capsys.readouterr().out
    write_json(Vault("resources").pin_record(DAY, "latchbio/scbench", "main"), {})
    assert run(*asked) == cli.INCOMPLETE
    assert "not sealed" in capsys.readouterr().out
    report(DAY)
    assert run(*asked) == cli.OK
    assert capsys.readouterr().out == f"{DAY}: nothing is unknown.\n"


def test_purge_deletes_only_when_told_to(capsys: pytest.CaptureFixture[str]) -> None:
    folder = report("2026-01-01")
    assert run("purge", "--report", "2026-01-01") == cli.OK
    assert "Nothing was deleted; say --yes" in capsys.readouterr().out
    assert folder.exists()
    assert run("purge", "--report", "2026-01-01", "--yes") == cli.OK
    assert "Deleted 1 items" in capsys.readouterr().out
    assert not folder.exists()
    assert run("purge") == cli.OK
    assert "Nothing to delete." in capsys.readouterr().out


def test_purge_keeps_the_newest_reports_and_says_what_tells_of_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for day in ("2026-01-01", "2026-01-08", "2026-01-15"):
        report(day)
    assert run("purge", "--keep", "2", "--yes") == cli.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "results/2026-01-08 stays, and tells of changes since 2026-01-01, which goes."
    )
    assert lines[1].endswith("MB  results/2026-01-01")
    assert lines[2].startswith("Deleted 1 items")
    assert sorted(path.name for path in Path("results").iterdir()) == ["2026-01-08", "2026-01-15"]


@pytest.mark.parametrize(
    "wrong", [("--forget",), ("--keep", "0"), ("--keep", "1", "--report", "2026-01-01")], ids=str
)
def test_retention_that_cannot_be_meant_is_refused(wrong: tuple[str, ...]) -> None:
    folder = report("2026-01-01")
    assert run("purge", "--yes", *wrong) == cli.USAGE
    assert folder.exists()


def test_purge_leaves_a_vault_that_a_living_run_holds(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = report("2026-01-01")
    monkeypatch.setenv(MARK, "another")
    other = Lease(here / "resources")
    other.acquire()
    monkeypatch.setenv(MARK, "this-run")
    assert run("purge", "--report", "2026-01-01", "--yes") == cli.HELD
    assert "another run holds" in capsys.readouterr().err
    assert folder.exists()
    other.release()
    assert run("purge", "--report", "2026-01-01", "--yes") == cli.OK
    assert list((here / "resources").glob("lease*")) == []


def test_the_day_is_utc_however_late_it_is_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """BR-54"""
    import time
    from datetime import UTC, datetime

    for zone in ("Pacific/Auckland", "Pacific/Pago_Pago"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        assert config.today() in {datetime.now(UTC).date().isoformat()}
    monkeypatch.undo()
    time.tzset()


def test_it_starts_as_a_module() -> None:
    scripts = Path(cli.__file__).resolve().parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "benchproof", "--version"],
        env={"PYTHONPATH": str(scripts)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("benchproof ")


def test_drift_of_two_equal_reports(capsys: pytest.CaptureFixture[str]) -> None:
    for day in (DAY, "2026-01-22", "2026-01-29"):
        report(day)
    assert run("drift", "--config", "date=2026-01-29") == cli.OK
    assert capsys.readouterr().out == (
        "drift 2026-01-22..2026-01-29: 0 changes\n"
        "Next: open results/drift/2026-01-22..2026-01-29/drift.html. Exit code 0.\n"
    )
    assert run("drift", DAY, "2026-01-29") == cli.OK
    assert Path("results", "drift", f"{DAY}..2026-01-29", "drift.parquet").exists()
    assert not Path("resources").exists()


def test_drift_finds_the_reports_that_it_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The later one is this date's, or the latest; the configuration may name both."""
    report(DAY)
    assert run("drift", "--config", f"date={DAY}") == cli.OK
    assert "no earlier complete report" in capsys.readouterr().out
    report("2026-01-22")
    Path("results/latest").symlink_to("2026-01-22")
    assert run("drift", DAY) == cli.OK
    assert f"drift {DAY}..2026-01-22: 0 changes" in capsys.readouterr().out
    Path("named.yaml").write_text(f"drift: {{from: 2026-01-22, to: {DAY}}}")
    assert run("drift", "--configfile", "named.yaml") == cli.OK
    assert f"drift 2026-01-22..{DAY}: 0 changes" in capsys.readouterr().out


def test_drift_without_a_report_of_this_date_is_incomplete(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("drift", "--config", f"date={DAY}") == cli.INCOMPLETE
    assert f"results/{DAY}: no report yet; run snakemake." in capsys.readouterr().out


@pytest.mark.parametrize("named", [["2026-01-02", DAY], ["results"], [DAY, DAY, DAY]])
def test_drift_of_what_is_no_report_is_wrong_usage(
    named: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    report(DAY)
    assert run("drift", *named, "--config", f"date={DAY}") == cli.USAGE
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_drift_of_an_unfinished_report_is_incomplete_and_of_a_failed_one_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report("2026-01-01")
    folder = report(DAY, sealed=False)
    assert run("drift", "--config", f"date={DAY}") == cli.INCOMPLETE
    assert "0 changes" in capsys.readouterr().out
    (folder / "logs").mkdir()
    (folder / "logs" / "regrade_runs.log").write_text("00:00:00 error: no room\n")
    assert run("drift", "--config", f"date={DAY}") == cli.FAILED
    assert "regrade_runs failed" in capsys.readouterr().err


def test_drift_waits_for_no_other_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report(DAY)
    Vault("resources").create()
    monkeypatch.setenv(MARK, "another-run")
    Lease(Vault("resources").root).acquire()
    monkeypatch.setenv(MARK, "this-run")
    assert run("drift", "--config", f"date={DAY}") == cli.HELD
    assert "another run holds" in capsys.readouterr().err
