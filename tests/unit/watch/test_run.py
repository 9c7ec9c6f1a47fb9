"""The steps of a run and what each leaves to be said; snakemake is played by a function."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchproof import config, provenance, tables
from benchproof.cli import ACCEPTED, DEFAULTS
from benchproof.errors import TableError, VaultError
from benchproof.lease import MARK
from benchproof.report import drifting
from benchproof.sealing.seal import previous_report
from benchproof.vault import Vault, write_json
from benchproof.watch import run as running
from benchproof.watch import status
from benchproof.watch.run import Plan, Run

DAY, WEEK = "2026-01-15", "2026-01-22"
Snakemake = Callable[[], int]


class Stage:
    """A folder with reports, and a run whose snakemake does what the test says."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.results = folder, folder / "results"
        self.commands: list[Sequence[str]] = []
        self.seen: list[status.Status] = []
        self.does: Snakemake = lambda: 0
        self.stopped: str | None = None
        stage = self

        class Played:
            stopped: str | None = None

            def __init__(self, limit_s: float) -> None:
                self.limit_s = limit_s

            def __enter__(self) -> Played:
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def run(self, command: Sequence[str], log: Path, env: object) -> int:
                stage.commands.append(command)
                stage.seen.append(status.read(stage.results))
                self.stopped = stage.stopped
                return stage.does()

        monkeypatch.setattr(running, "Nested", Played)

    def plan(self, day: str = DAY, **changes: Any) -> Plan:
        raw = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
        raw |= {"date": day, "results": "results", "resources": "resources"}
        raw["family"] = [{"repo": "demo/one", "ref": "main", "evals": "e", "runs": "t"}]
        about: dict[str, Any] = {"configfiles": [], "pairs": [], "extra": [], "limit_s": 60.0}
        about |= {"config": config.load(raw, day), "accepted": ACCEPTED}
        return Plan(**(about | changes))

    def run(self, day: str = DAY, **changes: Any) -> int:
        return Run(self.plan(day, **changes), lambda: datetime(2026, 1, 15, 3, tzinfo=UTC)).go()

    def report(
        self, day: str = DAY, *, found: Sequence[str] = (), complete: bool = True
    ) -> Snakemake:
        """Return a snakemake that seals a report with critical findings of these ids."""

        def seal() -> int:
            folder = self.results / day
            row = dict.fromkeys(tables.SPECS["findings"].schema.names)
            row |= {"repo": "demo/one", "rule": "r", "severity": "critical", "stage": "s"}
            row |= {"message": "It is wrong.", "remedy": "Mend it."}
            rows = [{**row, "finding_id": name} for name in found]
            for name, content in (("findings", rows), ("data_findings", []), ("claims", [])):
                tables.write(folder / f"{name}.parquet", name, content, {})
            record = Vault("resources").pin_record(day, "demo/one", "main")
            write_json(record, {"repo": "demo/one", "commit_sha": "c" * 40})
            made = {
                "config": self.plan(day).config.content_digest(),
                "code": provenance.library_digest(),
            }
            (folder / "seal.json").write_text(json.dumps({"complete": complete, "made_by": made}))
            old = previous_report(self.results, day)
            if old is not None:
                place = drifting.place(self.results, old, folder)
                drifting.write(drifting.compared(old, folder, None, None), place)
            return 0

        return seal

    def status(self) -> status.Status:
        return status.read(self.results)

    def log(self) -> str:
        return "".join(path.read_text() for path in (self.folder / "resources/logs").iterdir())


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(MARK, "this-run")
    monkeypatch.setenv(config.DAY, DAY)
    return Stage(tmp_path, monkeypatch)


Said = pytest.CaptureFixture[str]


def test_a_run_with_nothing_new_is_silent(stage: Stage, capsys: Said) -> None:
    stage.does = stage.report()
    assert stage.run() == 0
    assert capsys.readouterr() == ("", "")
    ended = stage.status()
    assert (ended.state, ended.step, ended.exit_code) == ("ended", "done", 0)
    assert (ended.date, ended.subject, ended.log) == (DAY, "", "2026-01-15T030000Z.log")
    assert stage.seen[0].state == "running"
    assert stage.seen[0].step == "audit"


def test_what_is_new_is_said_once_a_date(stage: Stage, capsys: Said) -> None:
    stage.does = stage.report(found=["f1"])
    assert stage.run() == 10
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"benchproof {DAY}: 1 new failure (1 critical)"
    assert "f1" in lines[1]
    assert lines[2] == f"Report: results/{DAY}/report.html"
    assert stage.status().findings["critical"] == 1
    assert stage.run() == 0
    assert capsys.readouterr().out == ""
    stage.does = stage.report(WEEK, found=["f1"])
    assert stage.run(WEEK) == 0
    assert capsys.readouterr().out == ""
    assert [command[3:5] for command in stage.commands[1:]] == [
        ["all", "--snakefile"],
        ["all", "diff_reports"],
    ]


def test_a_new_finding_is_a_failure_and_not_a_change_as_well(stage: Stage, capsys: Said) -> None:
    stage.report(DAY)()
    stage.does = stage.report(WEEK, found=["f2"])
    assert stage.run(WEEK) == 10
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"benchproof {WEEK}: 1 new failure (1 critical)"
    page = f"results/drift/{DAY}..{WEEK}/drift.html"
    assert lines[-1] == f"Report: results/{WEEK}/report.html, {page}"
    assert len(lines) == 3


def test_a_kill_between_saying_and_noting_says_it_again(
    stage: Stage, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice rather than never."""
    stage.does = stage.report(found=["f1"])

    class Killed(BaseException):
        pass

    def killed(self: status.Status, *_: object, **__: object) -> status.Status:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(status.Status, "ended", killed)
        with pytest.raises(Killed):
            stage.run()
    assert "1 new failure" in capsys.readouterr().out
    assert stage.run() == 10
    assert "1 new failure" in capsys.readouterr().out


def test_an_incomplete_report_says_so_once_and_stays_20(stage: Stage, capsys: Said) -> None:
    stage.does = stage.report(complete=False)
    assert stage.run() == 20
    assert capsys.readouterr().out.startswith(f"benchproof {DAY}: incomplete")
    assert stage.run() == 20
    assert capsys.readouterr().out == ""
    assert stage.status().succeeded_at is None
    stage.does = stage.report()
    assert stage.run() == 0
    assert capsys.readouterr().out == ""


def test_news_of_an_incomplete_report_are_not_news_once_it_is_complete(
    stage: Stage, capsys: Said
) -> None:
    stage.does = stage.report(found=["f1"], complete=False)
    assert stage.run() == 10
    assert "1 new failure" in capsys.readouterr().out
    stage.does = stage.report(found=["f1"])
    assert stage.run() == 0
    stage.does = stage.report(found=["f1"])
    assert stage.run() == 0
    assert capsys.readouterr().out == ""
    stage.does = stage.report(found=["f1", "f2"])
    assert stage.run() == 10
    assert "2 new failures" in capsys.readouterr().out


def failing(stage: Stage, code: int, *lines: str) -> Snakemake:
    def fail() -> int:
        log = next((stage.folder / "resources/logs").iterdir())
        with log.open("a") as handle:
            handle.writelines(f"{line}\n" for line in lines)
        return code

    return fail


def test_a_failed_job_is_said_in_its_own_words_each_time(stage: Stage, capsys: Said) -> None:
    stage.does = failing(stage, 1, "Error in rule x", "benchproof: x failed: no space left")
    for _ in range(2):
        assert stage.run() == 1
        assert capsys.readouterr().out.splitlines() == [
            f"benchproof {DAY}: a job failed",
            "benchproof: x failed: no space left",
            "Log: resources/logs/2026-01-15T030000Z.log",
        ]
    assert stage.status().told == ()


def test_a_death_without_words_is_said(stage: Stage, capsys: Said) -> None:
    stage.does = lambda: -9
    assert stage.run() == 1
    assert "snakemake ended with -9: no word of ours." in capsys.readouterr().out


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_death_for_lack_of_room_is_said_as_such(stage: Stage, capsys: Said, number: int) -> None:
    """BR-53: Snakemake meets a full disk before a job of ours does; its path stays in the log."""
    stage.does = failing(
        stage, 1, f"OSError: [Errno {number}] {os.strerror(number)}: '/x/.snakemake'"
    )
    assert stage.run() == 1
    said = capsys.readouterr().out
    assert "snakemake ended with 1: no space left; free room and run again." in said
    assert "/x/" not in said


@pytest.mark.parametrize(
    ("stopped", "why"), [("limit", "stopped by its limit of 60 s"), ("SIGTERM", "by SIGTERM")]
)
def test_a_run_that_was_stopped_is_incomplete(
    stage: Stage, capsys: Said, stopped: str, why: str
) -> None:
    stage.stopped, stage.does = stopped, lambda: 1
    assert stage.run() == 20
    out = capsys.readouterr().out
    assert why in out.splitlines()[0]
    assert "the next run goes on" in out
    assert stage.status().state == "ended"


def test_a_stop_that_comes_too_late_changes_nothing(stage: Stage, capsys: Said) -> None:
    stage.stopped, stage.does = "SIGTERM", stage.report()
    assert stage.run() == 0
    assert capsys.readouterr().out == ""


def test_arguments_that_snakemake_refuses_are_wrong_usage(stage: Stage, capsys: Said) -> None:
    stage.does = lambda: 2
    assert stage.run() == 2
    assert "those after --" in capsys.readouterr().out


def test_a_date_that_other_code_finished_is_refused_before_anything_runs(
    stage: Stage, capsys: Said
) -> None:
    stage.report()()
    seal = stage.results / DAY / "seal.json"
    made = json.loads(seal.read_text())
    made["made_by"]["code"] = "0" * 64
    seal.write_text(json.dumps(made))
    assert stage.run() == 2
    assert "made with other code" in capsys.readouterr().out
    assert stage.commands == []


def test_targets_that_make_no_report_are_no_success(stage: Stage, capsys: Said) -> None:
    assert stage.run(extra=["pin"]) == 20
    assert "no report" in capsys.readouterr().out


def test_snakemake_is_told_the_same_configuration(stage: Stage) -> None:
    """Options that take all words that follow come last."""
    stage.does = stage.report()
    stage.run(configfiles=["a.yaml", "b.yaml"], pairs=["only=one"], extra=["--cores", "4"])
    command = list(stage.commands[0])
    end = ["--cores", "4", "--configfile", "a.yaml", "b.yaml", "--config", "only=one"]
    assert command[-len(end) :] == end
    assert Path(command[command.index("--snakefile") + 1]).is_file()


def test_what_a_killed_run_left_of_its_status_goes(stage: Stage) -> None:
    stage.results.mkdir()
    part = stage.results / f"status.json.{'0' * 32}.part"
    part.write_text("{")
    status.write(stage.results, status.Status(state="running", started_at="2026-01-08T03:00:00Z"))
    stage.does = stage.report()
    stage.run()
    assert not part.exists()
    assert stage.log().startswith("the run that began at 2026-01-08T03:00:00Z never ended\n")


def test_reports_beyond_those_to_be_kept_go_and_the_log_names_them(stage: Stage) -> None:
    for day in ("2026-01-01", "2026-01-08"):
        stage.report(day)()
    stage.does = stage.report()
    assert stage.run(keep=2) == 0
    assert {path.name for path in stage.results.glob("2*")} == {"2026-01-08", DAY}
    assert "delete results/2026-01-01 (" in stage.log()


def test_nothing_is_deleted_after_a_failure(stage: Stage) -> None:
    for day in ("2026-01-01", "2026-01-08"):
        stage.report(day)()
    stage.does = lambda: 1
    assert stage.run(keep=1) == 1
    assert (stage.results / "2026-01-01").exists()


@pytest.mark.parametrize(
    ("found", "first"), [(["f1"], "1 new failure (1 critical)"), ([], "purge failed")]
)
def test_news_are_told_even_if_nothing_can_be_deleted(
    stage: Stage, capsys: Said, monkeypatch: pytest.MonkeyPatch, found: list[str], first: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise VaultError("results/2026-01-01: cannot be deleted (Permission denied).")

    monkeypatch.setattr("benchproof.purge.remove", refuse)
    stage.does = stage.report(found=found)
    assert stage.run(keep=1) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"benchproof {DAY}: {first}"
    assert "Permission denied" in lines[-2]
    assert lines[-1].startswith("Log: ")
    assert stage.status().succeeded_at is not None  # the report is there


def test_acceptances_are_read_before_an_audit_is_made(stage: Stage, capsys: Said) -> None:
    (stage.folder / "accepted.yaml").write_text("accepted: 5")
    assert stage.run(accepted=stage.folder / "accepted.yaml") == 2
    assert "not started" in capsys.readouterr().out
    assert stage.commands == []


def test_what_nobody_expected_is_a_type_and_a_place(stage: Stage, capsys: Said) -> None:
    """Its text could quote what must not leave."""

    def broken() -> int:
        raise ZeroDivisionError("secret")

    stage.does = broken
    assert stage.run() == 1
    said = capsys.readouterr().out
    assert "internal error ZeroDivisionError at test_run.py:" in said
    assert "secret" not in said + stage.log()
    assert stage.status().state == "ended"


def test_a_report_that_cannot_be_read_is_a_failure(stage: Stage, capsys: Said) -> None:
    stage.does = stage.report()

    def damaged() -> int:
        stage.report()()
        (stage.results / DAY / "findings.parquet").write_text("x")
        return 0

    stage.does = damaged
    assert stage.run() == 1
    assert capsys.readouterr().out.startswith(f"benchproof {DAY}: gate failed\n")


def test_a_disk_that_fills_at_the_end_hides_no_news(
    stage: Stage, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-53: what is new has been said; the old status stays."""
    stage.does = stage.report(found=["f1"])
    real = status.write

    def full(results: Path, now: status.Status) -> None:
        if now.state == status.ENDED:
            raise TableError("results/status.json: cannot be written (No space left on device)")
        real(results, now)

    monkeypatch.setattr(status, "write", full)
    assert stage.run() == 1
    said = capsys.readouterr().out
    assert said.startswith(f"benchproof {DAY}: 1 new failure")
    assert said.count(f"benchproof {DAY}") == said.count("No space left") == 1
    assert stage.status().state == "running"


@pytest.mark.parametrize("at", [status.RUNNING, status.ENDED])
def test_a_status_that_can_never_be_written_is_one_message(
    stage: Stage, capsys: Said, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """BR-53: what the steps say of the full disk isn't said again at the end; what nobody said is raised."""
    stage.does = stage.report()
    calls: list[str] = []

    def full(results: Path, now: status.Status) -> None:
        calls.append(now.state)
        if at == status.ENDED and now.state == status.RUNNING and len(calls) == 1:
            return
        raise TableError("results/status.json: cannot be written (No space left on device)")

    monkeypatch.setattr(status, "write", full)
    if at == status.RUNNING:
        with pytest.raises(TableError, match="No space left"):
            stage.run()
        assert capsys.readouterr().out == ""
    else:
        assert stage.run() == 1
        assert capsys.readouterr().out.count("No space left") == 1


def test_a_status_that_somebody_has_edited_is_said_once_and_kept(
    stage: Stage, capsys: Said
) -> None:
    """What is right of it counts, so that news isn't told again; the audit is made all the same."""
    stage.does = stage.report(found=["f1"])
    assert stage.run() == 10
    path = stage.results / status.NAME
    edited = json.loads(path.read_text()) | {"started_at": "yesterday", "unended": "2"}
    path.write_text(json.dumps(edited))
    capsys.readouterr()
    assert stage.run() == 1
    said = capsys.readouterr().out
    assert said.startswith(f"benchproof {DAY}: reading the status failed\n")
    assert "`started_at` has a value that it can't have; `unended` has" in said
    assert "f1" not in said
    assert json.loads((stage.results / status.ASIDE).read_text()) == edited
    assert stage.run() == 0
    assert capsys.readouterr().out == ""


def test_the_status_goes_to_prometheus_as_well(stage: Stage) -> None:
    """Under the folder's whole name: two schedules of one host must not tell of the same series."""
    stage.does = stage.report(found=["f1"])
    stage.run(prometheus=stage.folder / "b.prom")
    line = f'exit_code{{results="{stage.results}"}} 10'
    assert line in (stage.folder / "b.prom").read_text()


@pytest.mark.parametrize(
    ("found", "first"), [(["f1"], "1 new failure (1 critical)"), ([], "metrics failed")]
)
def test_metrics_that_cannot_be_written_cost_no_audit(
    stage: Stage, capsys: Said, found: list[str], first: str
) -> None:
    (stage.folder / "file").write_text("")
    stage.does = stage.report(found=found)
    assert stage.run(prometheus=stage.folder / "file" / "b.prom") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"benchproof {DAY}: {first}"
    assert "b.prom: cannot be written" in lines[-2]
    ended = stage.status()
    assert (ended.state, ended.exit_code) == ("ended", 1)
    assert ended.succeeded_at == "2026-01-15T03:00:00Z"


def test_what_nobody_could_hear_is_said_again(
    stage: Stage, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.does = stage.report(found=["f1"])
    with monkeypatch.context() as deaf:
        deaf.setattr(running, "printed", lambda text: False)
        assert stage.run() == 10
    assert stage.status().state == "ended"
    assert stage.run() == 10
    assert "1 new failure" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_the_output_does_not_change_the_exit_code() -> None:
    text = "import sys; from benchproof.watch.run import printed; sys.exit(10 + printed('news'))"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", text],
            env={"PYTHONPATH": str(provenance.SCRIPTS)},
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (10, b"")
