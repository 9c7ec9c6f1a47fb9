"""`benchproof watch`: its options, one run at a time, one UTC day."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchproof import cli, config
from benchproof.lease import MARK, Lease
from benchproof.watch import command, status
from benchproof.watch.run import Plan
from benchproof.watch.status import Status

Said = pytest.CaptureFixture[str]


class Runs:
    """Stands for `Run`: keeps the plans."""

    plans: list[Plan]

    def __init__(self, plan: Plan) -> None:
        self.plans.append(plan)

    def go(self) -> int:
        """Return what a run with something new returns."""
        return 10


@pytest.fixture(autouse=True)
def plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(MARK, "this-run")
    monkeypatch.delenv(config.DAY, raising=False)
    Runs.plans = []
    monkeypatch.setattr(command, "Run", Runs)
    return Runs.plans


def run(*arguments: str) -> int:
    try:
        return cli.main(["watch", *arguments])
    except SystemExit as stop:
        return int(stop.code or 0)


def test_its_options_reach_the_run(plans: list[Plan]) -> None:
    code = run(
        *("--limit", "30m", "--keep", "12", "--forget", "--prometheus", "x.prom"),
        *("--workflow-profile", "profiles/slurm", "--config", "only=scbench", "--"),
        *("--cores", "4", "-k"),
    )
    assert code == 10
    (plan,) = plans
    assert (plan.limit_s, plan.keep, plan.forget) == (1800, 12, True)
    assert plan.prometheus == Path("x.prom")
    assert plan.pairs == ["only=scbench"]
    assert plan.extra == ["--cores", "4", "-k", "--workflow-profile", "profiles/slurm"]
    assert [spec.repo for spec in plan.config.family] == ["latchbio/scbench"]
    assert list(Path("resources").glob("lease*")) == []


def test_a_day_is_its_default_limit_but_four_hours(plans: list[Plan]) -> None:
    run()
    assert plans[0].limit_s == 20 * 3600
    assert plans[0].keep is None


@pytest.mark.parametrize(
    "wrong",
    [
        ("--limit", "20"),
        ("--limit", "0h"),
        ("--limit", "-1h"),
        ("--limit", "1w"),
        ("--keep", "0"),
        ("--keep", "-1"),
        ("--keep", "x"),
        ("--keep", "１"),
        ("--forget",),
        ("--config", "onyl=1"),
        ("--config", "only"),
        ("--configfile", "missing.yaml"),
        ("--", "--config", "a=b"),
        ("--", "--configfile=x"),
        ("--", "--directory", "x"),
        ("--", "--snakefile=x"),
        ("--", "-d", "x"),
        ("--", "-sx"),
        ("--", "-C", "a=b"),
        ("--", "--snake", "x"),
        ("--", "--dir=x"),
        ("--", "--configfiles", "x"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_2_and_begins_nothing(
    wrong: tuple[str, ...], plans: list[Plan], capsys: Said
) -> None:
    assert run(*wrong) == 2
    said = capsys.readouterr()
    assert said.out or said.err
    assert not plans
    assert os.listdir() == []


def test_a_wrong_configuration_makes_a_mail_too(capsys: Said) -> None:
    """Standard output with a subject first, as for whatever else there is to say."""
    assert run("--config", "onyl=1") == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"benchproof {config.today()}: not started"
    assert lines[1].startswith("benchproof: config: `onyl` is not a key")


def test_the_day_is_fixed_before_anything_is_read(
    plans: list[Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-54: midnight comes while the configuration is read; nested processes have the first day."""
    days = iter(["2026-01-15", "2026-01-16", "2026-01-16"])
    monkeypatch.setattr(config, "today", lambda: next(days))
    run()
    assert plans[0].config.date == "2026-01-15"
    assert os.environ[config.DAY] == "2026-01-15"


def other(monkeypatch: pytest.MonkeyPatch) -> Lease:
    monkeypatch.setenv(MARK, "another")
    held = Lease(Path("resources"))
    held.acquire()
    monkeypatch.setenv(MARK, "this-run")
    return held


def begun(ago: timedelta) -> None:
    began = datetime.now(UTC) - ago
    status.write(Path("results"), Status().begun("2026-01-15", began, "a.log"))


def everything() -> dict[str, tuple[int, bytes]]:
    files = (path for path in Path().rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_an_overlap_is_75_in_silence_and_touches_nothing(
    plans: list[Plan], monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    """BR-49: a run that is still within its limit is no news for a mail."""
    held = other(monkeypatch)
    begun(timedelta(hours=19))
    before = everything()
    assert run() == 75
    assert capsys.readouterr() == ("", "")
    assert everything() == before
    assert not plans
    held.release()
    assert run() == 10


def test_an_overlap_with_a_run_that_does_not_end_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    held = other(monkeypatch)
    begun(timedelta(hours=21))
    before = everything()
    assert run() == 75
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("not started: another run does not end")
    assert "another run holds resources" in lines[1]
    assert everything() == before
    held.release()


def test_a_vault_that_no_watched_run_holds_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    """Somebody's own snakemake, since whenever."""
    held = other(monkeypatch)
    assert run() == 75
    assert "another run holds resources" in capsys.readouterr().out
    held.release()


def test_a_person_at_a_terminal_is_told_of_any_overlap(
    monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    held = other(monkeypatch)
    begun(timedelta(hours=1))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run() == 75
    assert "another run" in capsys.readouterr().out
    held.release()


def test_no_room_for_the_lease_makes_a_mail(capsys: Said) -> None:
    """BR-53, and rights."""
    Path("resources").write_text("")
    assert run() == 1
    assert capsys.readouterr().out.splitlines()[0].endswith(": failed")


def test_a_stale_lease_is_taken_over(plans: list[Plan]) -> None:
    """BR-49: its process is gone."""
    Path("resources").mkdir()
    import socket

    gone = {"token": "dead", "host": socket.gethostname(), "pid": 2**22 + 1, "started": "x"}
    Path("resources", "lease.json").write_text(json.dumps(gone))
    assert run() == 10
    assert len(plans) == 1
