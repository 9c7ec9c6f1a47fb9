"""The Snakefile's side: date, paths, lease, refusals, last words."""

from __future__ import annotations

import atexit
import copy
import errno
import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchproof import cluster, config, provenance, workflow
from benchproof.cli import DEFAULTS
from benchproof.errors import VaultError
from benchproof.lease import MARK, Lease
from benchproof.outputs import ERROR_MARK
from benchproof.vault import write_json
from benchproof.workflow import Audit

RAW: dict[str, Any] = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """What a run leaves to the end of its process; nothing of it reaches the tests' own."""
    left: list[Callable[[], object]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(workflow.DAY, raising=False)
    monkeypatch.setenv(MARK, "this-run")
    monkeypatch.setattr(atexit, "register", left.append)
    return left


def audit(**changes: Any) -> Audit:
    return Audit({**copy.deepcopy(RAW), "date": "2026-01-15", **changes})


def last_words(left: list[Callable[[], object]], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    for call in left:
        call()
    return capsys.readouterr().err


def sealed(made: Audit, **changes: str) -> None:
    by = {"config": made.config.content_digest(), "code": provenance.library_digest(), **changes}
    path = Path(made.result("seal.json"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"complete": True, "made_by": by}))
    for spec in made.config.family:
        write_json(made.vault.pin_record(made.config.label, spec.repo, spec.ref), {})


def test_paths_are_literal_and_of_this_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """Law 9: no wildcard, no other date."""
    made = audit()
    assert made.result("tree") == "results/2026-01-15/tree.parquet"
    assert made.result("report.html") == "results/2026-01-15/report.html"
    assert made.handover("mirror.json") == "resources/handover/results/2026-01-15/mirror.json"
    assert (
        made.findings("list_trees")
        == "resources/handover/results/2026-01-15/findings/list_trees.json"
    )
    assert audit(as_of="2025-06-01").result("tree") == "results/asof-2025-06-01/tree.parquet"


def test_midnight_cannot_split_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """BR-54: the main process resolves the day, nested ones are handed it."""
    monkeypatch.setattr(config, "today", lambda: "2026-01-15")
    assert audit(date=None).out == "results/2026-01-15"
    monkeypatch.setattr(config, "today", lambda: "2026-01-16")
    assert audit(date=None).out == "results/2026-01-15"
    monkeypatch.delenv(workflow.DAY)
    assert audit(date=None).out == "results/2026-01-16"


def test_a_wrong_configuration_ends_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        Audit.open({**RAW, "onyl": 1})
    assert caught.value.code == 1
    err = capsys.readouterr().err
    assert err.startswith("benchproof: config: `onyl`")
    assert err.count("\n") == 1
    assert os.listdir() == []


def test_params_hold_what_tables_depend_on_and_no_way_of_asking() -> None:
    """Other endpoints or limits must not make a stage ask the world again."""
    other = {
        "endpoints": RAW["endpoints"] | {"git": "https://example.org"},
        "source": "github",
        "shards": 7,
    }
    assert audit().params == audit(**other, http=RAW["http"] | {"tries": 1}, offline=True).params
    assert audit().params != audit(only=["scbench"]).params


def test_stages_that_ask_the_world_are_versioned_by_hand() -> None:
    made = audit()
    assert made.code("pin_commits") == str(workflow.PROTOCOLS["pin_commits"])
    assert made.code("list_trees") == provenance.code_digest("list_trees")


def test_begin_takes_the_lease_and_keeps_the_config(said: list[Callable[[], object]]) -> None:
    made = audit(notice="invented")
    made.begin()
    kept = json.loads(Path("results/2026-01-15/config.json").read_text())
    assert kept == {name: value for name, value in made.config.merged.items() if name != "sign"}
    assert json.loads(Path(made.settings).read_bytes()) == made.config.merged
    assert stat.S_IMODE(Path(made.settings).stat().st_mode) == 0o600
    assert Path("resources/lease.json").exists()
    said[0]()
    assert not Path("resources/lease.json").exists()


def test_a_second_run_leaves_with_75_and_touches_nothing(
    said: list[Callable[[], object]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """BR-49"""
    monkeypatch.setenv(MARK, "another")
    other = Lease(Path("resources"))
    other.acquire()
    monkeypatch.setenv(MARK, "this-run")
    made = audit()
    made.prepare(dry_run=False)
    with pytest.raises(SystemExit) as caught:
        made.begin()
    assert caught.value.code == workflow.EXIT_HELD == 75
    assert "another run holds resources" in last_words(said, capsys)
    assert {str(path) for path in Path().rglob("*")} == {"resources", "resources/lease.json"}
    other.release()


def test_a_finished_date_is_not_made_again_with_the_same_code(
    said: list[Callable[[], object]],
) -> None:
    made = audit()
    sealed(made)
    made.begin()
    assert len(said) == 1


def test_a_finished_date_is_refused_to_another_vault(
    said: list[Callable[[], object]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its pins are not there, so that a run would pin the date anew (law 9)."""
    made = audit()
    sealed(made)
    first = made.config.family[0]
    made.vault.pin_record(made.config.label, first.repo, first.ref).unlink()
    with pytest.raises(SystemExit) as caught:
        made.begin()
    assert caught.value.code == 1
    assert f"has no pins of it (first: {first.repo})" in last_words(said, capsys)


@pytest.mark.parametrize("differs", ["config", "code"])
def test_a_finished_date_is_refused_to_other_code_or_config(
    said: list[Callable[[], object]], capsys: pytest.CaptureFixture[str], differs: str
) -> None:
    """Law 9"""
    made = audit()
    sealed(made, **{differs: "other"})
    with pytest.raises(SystemExit) as caught:
        made.begin()
    assert caught.value.code == 1
    err = last_words(said, capsys)
    assert f"finished and was made with other {differs};" in err
    assert "benchproof purge --report 2026-01-15" in err
    assert [path.name for path in Path("results/2026-01-15").iterdir()] == ["seal.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"complete": false}'])
def test_a_date_that_is_not_finished_may_be_made_again_with_other_code(
    said: list[Callable[[], object]], text: str
) -> None:
    made = audit()
    sealed(made)
    Path(made.result("seal.json")).write_text(text)
    made.begin()
    assert len(said) == 1


def test_a_dry_run_marks_nothing_to_be_asked_again() -> None:
    made = audit()
    made.prepare(dry_run=False)
    Path(made.out).mkdir(parents=True)
    Path(made.result("pins")).touch()
    made.prepare(dry_run=True)
    audit(offline=True).prepare(dry_run=False)
    assert json.loads(Path(made.ask_again("pin")).read_bytes()) == {"attempt": 1}
    made.prepare(dry_run=False)
    assert json.loads(Path(made.ask_again("pin")).read_bytes()) == {"attempt": 2}


def test_the_last_words_of_a_failed_run_are_one_line_per_failed_job(
    said: list[Callable[[], object]], capsys: pytest.CaptureFixture[str]
) -> None:
    logs = Path("results/2026-01-15/logs")
    logs.mkdir(parents=True)
    (logs / "pin_commits.log").write_text(
        f"10:00:00 {ERROR_MARK}early\n10:00:01 {ERROR_MARK}a: not reachable (dns).\n"
    )
    (logs / "regrade_runs.log").write_bytes(b"\xff fine\n")
    (logs / "list_trees.log").write_text(f"10:00:02 {ERROR_MARK}table tree: wrong.\n")
    audit().fail()
    assert last_words(said, capsys).splitlines() == [
        f"benchproof: list_trees failed: table tree: wrong. (log: {logs}/list_trees.log)",
        f"benchproof: pin_commits failed: a: not reachable (dns). (log: {logs}/pin_commits.log)",
    ]


def test_a_run_of_which_slurm_took_no_job_says_so(
    said: list[Callable[[], object]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Snakemake keeps to itself why a submission was refused; a job that was there speaks for itself."""
    for empty, words in ((True, "Slurm has no job of this run"), (False, "stopped before a job")):
        monkeypatch.setattr(cluster, "failures", lambda _name: [])
        monkeypatch.setattr(cluster, "is_empty", lambda _name, told=empty: told)
        run = audit()
        run._jobs = "benchproof_1"
        run.fail()
        assert words in last_words(said, capsys)
        said.clear()


def test_old_errors_are_not_repeated_and_silence_is_explained(
    said: list[Callable[[], object]], capsys: pytest.CaptureFixture[str]
) -> None:
    logs = Path("results/2026-01-15/logs")
    logs.mkdir(parents=True)
    (logs / "pin_commits.log").write_text(f"10:00:00 {ERROR_MARK}yesterday\n")
    (logs / "kept.log").write_text("10:00:00 fine\n")
    made = audit()
    made.begin()
    made.fail()
    err = last_words(said, capsys)
    assert "yesterday" not in err
    assert "stopped before a job could say why" in err
    assert (logs / "kept.log").exists()


def test_a_good_run_ends_with_the_first_screen(
    said: list[Callable[[], object]], capsys: pytest.CaptureFixture[str]
) -> None:
    made = audit()
    made.succeed()
    assert said == []
    path = Path(made.result("summary.md"))
    path.parent.mkdir(parents=True)
    path.write_text("benchproof: é\n", encoding="utf-8")
    made.succeed()
    assert "run snakemake to write it again" in last_words(said, capsys)
    said.clear()
    sealed(made)
    made.succeed()
    assert last_words(said, capsys) == "benchproof: é\n"


def test_screens_are_shown_once_in_order(
    said: list[Callable[[], object]], capsys: pytest.CaptureFixture[str]
) -> None:
    made = audit()
    folder = Path(made.handover("screens"))
    folder.mkdir(parents=True)
    (folder / "2-sizes.txt").write_text("sizes\n")
    (folder / "1-handles.txt").write_text("handles\n")
    made.succeed()
    assert last_words(said, capsys) == "handles\n\nsizes\n"
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("tables", "kept"),
    [((), False), (("handles",), True), (("handles", "objects"), False)],
    ids=["nothing asked", "sizes to come", "sizes known"],
)
@pytest.mark.parametrize("end", ["succeed", "fail"])
def test_signed_urls_go_when_nothing_needs_them(
    tables: tuple[str, ...], kept: bool, end: str
) -> None:
    """Each handle is signed once: `snakemake handles`, then `snakemake sizes`, share the links."""
    made = audit()
    made.book.parent.mkdir(parents=True)
    made.book.touch()
    for name in tables:
        path = Path(made.result(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    getattr(made, end)()
    assert made.book.exists() == kept


def test_signed_urls_of_other_reports_go_when_a_run_begins() -> None:
    """A run that was killed left them, and nobody comes back for that date."""
    made = audit()
    old = made.vault.work(made.config.results, "2026-01-14") / "links.jsonl"
    for path in (old, made.book):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    made.begin()
    assert (old.exists(), made.book.exists()) == (False, True)


@pytest.mark.parametrize("dry_run", [True, False])
def test_signed_urls_of_a_finished_report_go_though_nothing_runs(dry_run: bool) -> None:
    """Killed between the seal and the end: the next run has nothing to do, and no end of its own."""
    made = audit()
    sealed(made)
    made.book.parent.mkdir(parents=True)
    made.book.touch()
    made.prepare(dry_run)
    assert made.book.exists() == dry_run


def test_a_finished_date_may_choose_other_snapshots(said: list[Callable[[], object]]) -> None:
    """What is fetched is the user's to change on any date; `choose_snapshots` breaks the seal for it."""
    made = audit()
    made._keep_config()
    sealed(made)
    other = audit(fetch=RAW["fetch"] | {"select": "all", "max_total_bytes": 10**12})
    other.begin()
    assert other.chosen != made.chosen


def test_a_finished_date_keeps_its_configuration(said: list[Callable[[], object]]) -> None:
    """Another limit of requests is no reason to change a file that the seal covers."""
    made = audit()
    made._keep_config()
    sealed(made)
    before = Path(made.result("config.json")).read_bytes()
    audit(http=RAW["http"] | {"tries": 1}, fetch=RAW["fetch"] | {"connections": 1}).begin()
    assert Path(made.result("config.json")).read_bytes() == before


def test_a_selection_names_the_records_of_its_fetch_jobs() -> None:
    made = audit()
    objects = [{"handle": "latch://1.node"}]
    selection = Path(made.handover("selection.json"))
    write_json(selection, {"parts": {"1": objects, "shard-0001": []}})
    names = [Path(path).name for path in made.fetched(str(selection))]
    assert names == ["1.json", "shard-0001.json"]
    assert made.part("1") == objects


def test_a_list_of_commits_is_asked_for_in_place_of_a_report() -> None:
    """The default target makes them; only repositories that may hold one have a job."""
    made = audit(as_of=["scbench@4a7d2b0"])
    assert made.wanted == [
        "results/history/latchbio+scbench/chosen.parquet",
        "results/history/chosen.html",
        "resources/handover/results/history/history/judged.json",
    ]
    assert made.past.pins == []
    assert made.log("list_commits") == "results/history/logs/list_commits.log"
    assert len(audit(as_of=["4a7d2b0"]).past.tables) == len(RAW["family"])
    assert "results/2026-01-15/seal.json" in audit().wanted


def test_a_series_ends_at_the_pins_of_its_date() -> None:
    made = audit(only=["scbench"])
    assert made.past.pins == ["results/2026-01-15/pins.parquet"]
    assert made.past.tables == ["results/history/latchbio+scbench/timeline.parquet"]
    assert made.past.page == "results/history/timeline.html"


def test_what_derives_a_past_commit_is_made_again_by_its_code_and_configuration() -> None:
    """Where the world is asked is none of it."""
    terms = audit().past.terms
    assert terms["codes"]["regrade_runs"] == provenance.code_digest("regrade_runs")
    assert terms["codes"]["pin_commits"] == str(workflow.PROTOCOLS["pin_commits"])
    assert audit(source="github", offline=True).past.terms == terms
    assert audit(notice="invented").past.terms != terms


def dated(day: str, complete: bool = True) -> Path:
    """Make the folder of a report with one table and a seal."""
    folder = Path("results", day)
    folder.mkdir(parents=True)
    (folder / "pins.parquet").write_bytes(b"")
    (folder / "seal.json").write_text(json.dumps({"complete": complete}))
    return folder


def test_drift_without_an_earlier_report_needs_this_one_alone() -> None:
    made = audit().drift
    assert (made.names, made.inputs) == (None, [])
    assert made.wanted == {"seal": "results/2026-01-15/seal.json"}


def test_drift_compares_this_date_with_the_newest_complete_one_before() -> None:
    """The other date's files are plain inputs, this one's are made."""
    for day, complete in (("2026-01-01", True), ("2026-01-08", True), ("2026-01-10", False)):
        dated(day, complete)
    dated("2026-01-22")
    made = audit().drift
    assert made.names == ["results/2026-01-08", "results/2026-01-15"]
    assert made.file("drift.html") == "results/drift/2026-01-08..2026-01-15/drift.html"
    assert made.wanted == {"table": made.file("drift.parquet")}
    there = ["results/2026-01-08/pins.parquet", "results/2026-01-08/seal.json"]
    assert made.inputs == [*there, *audit().tables, "results/2026-01-15/seal.json"]


def test_drift_between_two_named_reports_audits_nothing() -> None:
    dated("2026-01-01")
    dated("2026-01-08")
    Path("elsewhere").symlink_to("results/2026-01-08")
    for to in ("2026-01-08", "elsewhere"):
        made = audit(drift={"from": "2026-01-01", "to": to, "fail_on": []}).drift
        assert made.names is not None
        assert [Path(path).parent.name for path in made.inputs] == ["2026-01-01"] * 2 + [to] * 2
        assert made.file("x") == "results/drift/2026-01-01..2026-01-08/x"


def test_an_audit_of_the_past_has_no_report_before_it() -> None:
    dated("2026-01-01")
    assert audit(as_of="2026-01-15").drift.names is None


# --- shares of the recorded runs -----------------------------------------------------------------


def shares(dry_run: bool = False, nested: bool = False, **changes: Any) -> int:
    """Return in how many shares a process sees the recorded runs."""
    made = audit(**changes)
    if not nested:
        made.prepare(dry_run)
    names = made.shares("json")
    assert names == [
        made.handover(f"shares/{n:04d}-of-{len(names):04d}.json") for n in range(1, len(names) + 1)
    ]
    return len(names)


def regraded() -> None:
    path = Path(audit().result("runs"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")


def test_one_job_has_no_shares() -> None:
    assert shares(shards=1) == 0
    assert shares(shards=3) == 3


def test_what_is_graded_keeps_its_number() -> None:
    """Other inputs would be a reason to grade again, and a finished date must not be touched."""
    assert shares(shards=3) == 3
    assert shares(shards=5) == 5  # nothing is graded yet
    regraded()
    assert [shares(shards=number) for number in (1, 5, 7)] == [5, 5, 5]
    Path(audit().result("runs")).unlink()
    assert shares(shards=7) == 7


def test_a_report_from_before_shares_had_one_job() -> None:
    regraded()
    assert shares(shards=4) == 0


def test_a_dry_run_tells_the_number_and_keeps_nothing() -> None:
    assert shares(shards=3) == 3
    assert shares(dry_run=True, shards=4) == 4
    assert shares(nested=True, shards=9) == 3


def test_nested_processes_see_what_the_main_one_saw() -> None:
    """Snakemake deletes the table before it lets a job write it anew."""
    shares(shards=3)
    regraded()
    assert shares(shards=8) == 3
    Path(audit().result("runs")).unlink()
    assert shares(nested=True, shards=8) == 3


def test_shares_of_another_number_go() -> None:
    """What a killed run graded in three jobs is of no use to five, and nobody else would delete it."""
    shares(shards=3)
    part = Path(audit().handover("shares/0001-of-0003.runs.parquet"))
    part.write_bytes(b"x")
    shares(shards=3)
    shares(dry_run=True, shards=5)
    assert part.exists()
    shares(shards=5)
    assert not part.exists()


def test_shards_are_no_choice_of_snapshots() -> None:
    assert audit(shards=1).chosen == audit(shards=9).chosen
    assert audit(shards=1).config.content_digest() == audit(shards=9).config.content_digest()


def test_other_claims_are_seen_whatever_the_time_of_their_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claims = Path("claims.yaml")
    monkeypatch.setattr("benchproof.provenance.CLAIMS", claims)
    seen = set()
    for text in ("claims: []", "claims: [] "):
        claims.write_text(text)
        os.utime(claims, (1e9, 1e9))
        seen.add(audit().claims)
    assert len(seen) == 2


def test_a_file_from_the_future_that_stays_so_is_the_last_word_when_nothing_else_is(
    monkeypatch: pytest.MonkeyPatch,
    said: list[Callable[[], object]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """BR-52: Snakemake fails what reads it, and our job has nothing to say."""
    claims = Path("config/claims.yaml")
    claims.parent.mkdir()
    claims.write_text("claims: []")
    os.utime(claims, (time.time() + 86_400,) * 2)
    monkeypatch.setattr("benchproof.provenance.CLAIMS", claims)

    def refused(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    made = audit()
    monkeypatch.setattr(os, "utime", refused)
    made.prepare(dry_run=False)
    assert "config/claims.yaml is from the future" in capsys.readouterr().err
    made.fail()
    assert "config/claims.yaml is from the future" in last_words(said, capsys)


@pytest.mark.parametrize("call", ["held_by_other", "_bring_to_present"])
def test_a_vault_where_nothing_can_be_written_ends_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], call: str
) -> None:
    made = audit()

    def refused(*_: object) -> bool:
        raise VaultError("resources: nothing can be written here (no space).")

    monkeypatch.setattr(Lease if call == "held_by_other" else Audit, call, refused)
    with pytest.raises(SystemExit):
        made.prepare(dry_run=False)
    assert (
        capsys.readouterr().err
        == "benchproof: resources: nothing can be written here (no space).\n"
    )


# --- without room --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG], ids=errno.errorcode.get
)
def test_a_run_without_last_words_says_that_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch,
    said: list[Callable[[], object]],
    capsys: pytest.CaptureFixture[str],
    number: int,
) -> None:
    """BR-53: a quota is not seen in what a disk has free."""
    made = audit()
    Path(made.out).mkdir(parents=True)

    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", full)
    made.fail()
    assert "no space left" in last_words(said, capsys)
    assert os.listdir(made.out) == []
