"""What is unknown is asked again, and that alone."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import yaml

from benchproof import config
from benchproof.cli import DEFAULTS
from benchproof.pending import STAGES, STORAGE, Pending, Unknown
from benchproof.vault import Vault, private_file, write_json

DAY = "2026-01-15"


class Bench:
    """One audit of two repositories in a folder."""

    def __init__(self, folder: Path) -> None:
        raw = copy.deepcopy(yaml.safe_load(DEFAULTS.read_text(encoding="utf-8")))
        one = {"repo": "demo/one", "ref": "main", "evals": "evals", "runs": "runs"}
        raw["family"] = [one, one | {"repo": "demo/two"}]
        self.vault, self.out, self.work = (
            Vault(folder / "v"),
            folder / "r" / DAY,
            folder / "v" / "work",
        )
        self.pending = Pending(self.vault, config.load(raw, DAY), self.work, self.out)

    def pinned(self, *repos: str) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "pins.parquet").touch()
        for repo in repos:
            write_json(self.vault.pin_record(DAY, repo, "main"), {})

    def mirrored(self, **records: tuple[str, str | None, str | None]) -> None:
        keys = ("status", "reason", "commit_sha")
        for name, (status, _, commit) in records.items():
            if status == "ok" and commit:
                with private_file(self.vault.content(f"demo/{name}", commit)):
                    pass
        write_json(
            self.work / "mirror.json",
            {f"demo/{n}": dict(zip(keys, v, strict=True)) for n, v in records.items()},
        )

    def left_open(self, stage: str, *items: tuple[str, str]) -> None:
        write_json(self.work / "open" / f"{stage}.json", [list(item) for item in items])

    def again(self) -> dict[str, int]:
        """Stages that were made to ask again, with the number of the attempt."""
        attempts = {
            stage: json.loads(self.pending.marker(stage).read_bytes())["attempt"]
            for stage in STAGES
        }
        return {stage: attempt for stage, attempt in attempts.items() if attempt > 1}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_before_the_first_run_nothing_is_unknown(bench: Bench) -> None:
    assert bench.pending.unknown() == []
    bench.pending.prepare(bump=True)
    assert bench.again() == {}


def test_an_unpinned_repository_reopens_the_pin_stage_alone(bench: Bench) -> None:
    bench.pending.prepare(bump=False)
    bench.pinned("demo/two")
    bench.mirrored(one=("unknown", "timeout", None), two=("ok", None, "c"))
    assert bench.pending.unknown() == [Unknown("pin", "demo/one", "timeout")]
    bench.pending.prepare(bump=True)
    assert bench.again() == {"pin": 2}


def test_an_unmirrored_repository_reopens_the_mirror_stage_alone(bench: Bench) -> None:
    bench.pending.prepare(bump=False)
    bench.pinned("demo/one", "demo/two")
    bench.mirrored(one=("unknown", "stalled", "c"), two=("missing", "missing", None))
    assert bench.pending.unknown() == [Unknown("mirror", "demo/one", "stalled")]
    bench.pending.prepare(bump=True)
    assert bench.again() == {"mirror": 2}


@pytest.mark.parametrize("stage", STORAGE)
def test_a_stage_that_left_something_open_is_asked_again_alone(bench: Bench, stage: str) -> None:
    bench.pinned("demo/one", "demo/two")
    bench.left_open(stage, ("latch://1.node", "timeout"))
    bench.pending.prepare(bump=False)
    assert bench.pending.unknown() == [Unknown(stage, "latch://1.node", "timeout")]
    bench.pending.prepare(bump=True)
    assert bench.again() == {stage: 2}
    bench.left_open(stage)
    bench.pending.prepare(bump=True)
    assert bench.again() == {stage: 2}


def test_a_fetch_that_stayed_open_is_made_again_and_no_other(bench: Bench) -> None:
    """Records are outputs of jobs: what is settled keeps its own, whatever became of a neighbour."""
    bench.pinned("demo/one", "demo/two")
    for name, status in (("1", "ok"), ("2", "stalled"), ("3", "denied")):
        write_json(bench.work / "fetched" / f"{name}.json", [{"handle": name, "status": status}])
    bench.left_open("fetch", ("2", "stalled"))
    bench.pending.prepare(bump=True)
    left = sorted(path.name for path in (bench.work / "fetched").iterdir())
    assert left == ["1.json", "3.json"]


@pytest.mark.parametrize(
    ("size", "status", "selected", "lost"),
    [
        pytest.param(None, "ok", True, True, id="deleted"),
        pytest.param(4, "ok", True, True, id="cut off"),
        pytest.param(9, "ok", True, False, id="here"),
        pytest.param(None, "denied", True, False, id="never fetched"),
        pytest.param(None, "ok", False, False, id="chosen no more"),
    ],
)
def test_a_snapshot_that_was_deleted_is_fetched_again(
    bench: Bench, size: int | None, status: str, selected: bool, lost: bool
) -> None:
    """Its record is the output of a job, and says nothing of what a user did to the file since."""
    bench.pinned("demo/one", "demo/two")
    record = bench.work / "fetched" / "1.json"
    write_json(bench.work / "selection.json", {"parts": {"1": []} if selected else {}})
    write_json(record, [{"handle": "h", "status": status, "path": "1/x.h5ad", "size": 9}])
    if size is not None:
        path = bench.vault.snapshots / "1" / "x.h5ad"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * size)
    assert (bench.pending.unknown() == [Unknown("fetch", "h", "file_missing")]) == lost
    bench.pending.prepare(bump=False)
    assert record.exists()
    bench.pending.prepare(bump=True)
    assert record.exists() == (not lost)
    assert (bench.again() == {"fetch": 2}) == lost


def test_a_file_that_could_not_be_inspected_is_fetched_again(bench: Bench) -> None:
    """The record says ok, the table says unknown."""
    bench.pinned("demo/one", "demo/two")
    record = bench.work / "fetched" / "1.json"
    write_json(record, [{"handle": "h", "status": "ok", "path": "x", "size": 9}])
    bench.left_open("fetch", ("h", "file_unreadable"))
    bench.pending.prepare(bump=True)
    assert not record.exists()


def test_an_archive_that_was_deleted_is_brought_again(bench: Bench) -> None:
    bench.pinned("demo/one", "demo/two")
    bench.mirrored(one=("ok", None, "c"), two=("ok", None, "d"))
    bench.vault.content("demo/two", "d").unlink()
    assert bench.pending.unknown() == [Unknown("mirror", "demo/two", "archive_missing")]


def test_a_finished_report_has_nothing_pending_whatever_became_of_the_vault(bench: Bench) -> None:
    bench.pinned("demo/one", "demo/two")
    bench.mirrored(one=("ok", None, "c"), two=("ok", None, "d"))
    bench.vault.content("demo/two", "d").unlink()
    seal = {"complete": True, "files": {"pins.parquet": "0" * 64}}
    (bench.out / "seal.json").write_text(json.dumps(seal))
    assert bench.pending.unknown() == []
    (bench.out / "pins.parquet").unlink()
    (bench.out / "seal.json").write_text(json.dumps(seal))
    assert bench.pending.unknown() == [Unknown("mirror", "demo/two", "archive_missing")]


def test_nothing_unknown_changes_no_marker(bench: Bench) -> None:
    """The second run has nothing to do: not even a time stamp moves."""
    bench.pending.prepare(bump=False)
    bench.pinned("demo/one", "demo/two")
    bench.mirrored(one=("ok", None, "c"), two=("empty", "empty", None))
    before = {stage: bench.pending.marker(stage).stat().st_mtime_ns for stage in STAGES}
    bench.pending.prepare(bump=True)
    bench.pending.prepare(bump=False)
    assert before == {stage: bench.pending.marker(stage).stat().st_mtime_ns for stage in STAGES}


def test_a_dry_or_offline_run_asks_nothing_again(bench: Bench) -> None:
    bench.pinned()
    bench.pending.prepare(bump=False)
    bench.pending.prepare(bump=False)
    assert bench.again() == {}
    assert [item.cause for item in bench.pending.unknown()] == ["not asked", "not asked"]


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_damaged_record_of_the_mirror_is_none(bench: Bench, text: str) -> None:
    bench.pinned("demo/one", "demo/two")
    bench.mirrored()
    (bench.work / "mirror.json").write_text(text)
    assert bench.pending.unknown() == []


def test_a_repository_that_is_no_longer_audited_is_not_pending(bench: Bench) -> None:
    bench.pinned("demo/one", "demo/two")
    bench.mirrored(gone=("unknown", "timeout", "c"))
    assert bench.pending.unknown() == []


def test_a_past_commit_that_stayed_open_is_asked_for_again(tmp_path: Path) -> None:
    """Whatever the state of the report: the past is no part of it. Each repository has a list of its own."""
    bench = Bench(tmp_path)
    bench.pending.prepare(bump=True)
    bench.left_open("history.demo+one", ("a" * 40, "timeout"))
    bench.left_open("history.demo+two", ("b" * 40, "internal_error"))
    assert bench.pending.unknown() == [
        Unknown("history", f"demo/one@{'a' * 40}", "timeout"),
        Unknown("history", f"demo/two@{'b' * 40}", "internal_error"),
    ]
    bench.pending.prepare(bump=True)
    assert bench.again() == {"history": 2}
    bench.out.mkdir(parents=True)
    (bench.out / "seal.json").write_text('{"complete": true, "files": {}}')
    assert {item.stage for item in bench.pending.unknown()} == {"history"}
