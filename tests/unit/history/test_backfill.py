"""The past of one repository: what is derived, what is skipped, and what one bad commit costs."""

from __future__ import annotations

import importlib
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchproof import tables
from benchproof.errors import HistoryError, LeakError, ProofError, TableError
from benchproof.history import backfill, rows
from benchproof.history.backfill import Places
from benchproof.history.derive import PINS, RULE_OF, STEPS, Terms, derive
from benchproof.history.listing import Listed, reached
from benchproof.http import Http
from benchproof.sources.base import Pin, RepoSpec
from benchproof.sources.git import GitSource
from benchproof.vault import Vault
from conftest import ROOT
from family import RepoTree, write_repo

SPEC = RepoSpec("demo/one", "main", "evals", "trajectories")
ACCEPTED = str(ROOT / "config" / "accepted.yaml")
CODES = dict.fromkeys((PINS, *(step.rule for step in STEPS)), "c")
TERMS = Terms(CODES, None, "counts", ACCEPTED, "2026-01-15")


def tree(*names: str, note: str = "", manifest: bool = True) -> RepoTree:
    leaves = RepoTree()
    listed = [{"task": "t", "kit": "k", "eval_id": name} for name in names]
    if manifest:
        leaves.put("evals/manifest.json", json.dumps(listed))
    for name in names:
        value = {"id": name, "task": "Do it.", "metadata": {"task": "t"}, "data_node": []}
        leaves.put_json(f"evals/t/{name}.json", value)
    leaves.put("docs/note.txt", note)
    return leaves


STATES = [
    tree("a", manifest=False),
    tree("a"),
    tree("a", note="docs"),
    tree("a", "b"),
    tree("a", "b", note="docs"),
    tree("a", "b", note="more"),
]
PARENTS = [[], [0], [1], [1], [2, 3], [4]]


@dataclass
class Bench:
    """A vault, results, and a source that reads a local repository."""

    folder: Path
    commits: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.vault = Vault(self.folder / "vault")
        self.commits = write_repo(self.folder / "one.git", STATES, parents=PARENTS)
        http = Http([], environ={}, sleep=lambda _: None, tries=1)
        mirrors = {"demo/one": str(self.folder / "one.git")}
        self.source = GitSource(
            self.vault, http, "http://127.0.0.1:9", mirrors, timeout_s=1, tries=1
        )
        self.places = Places(self.folder / "vault" / "work", self.folder / "results")
        self.listed = reached(self.source, SPEC, self.pin())

    def pin(self) -> Pin:
        return self.source.pin(SPEC)

    def run(self, listed: Listed | None = None, terms: Terms = TERMS) -> list[dict[str, Any]]:
        return backfill.backfill(
            self.source, self.vault, SPEC, listed or self.listed, self.places, terms
        )

    def folders(self) -> set[str]:
        return {path.name for path in self.places.results.iterdir() if path.is_dir()}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    level = logging.getLogger("benchproof").level
    yield Bench(tmp_path)
    assert logging.getLogger("benchproof").level == level


def test_a_series_is_what_touches_what_is_audited(bench: Bench) -> None:
    found = bench.run()
    chosen = [bench.commits[n] for n in (0, 1, 3, 5)]
    assert [row["commit_sha"] for row in found] == chosen
    assert [row["position"] for row in found] == [1, 2, 3, 4]
    assert [(row["shape"], row["evals"]) for row in found] == [
        ("e", 1),
        ("a", 1),
        ("a", 2),
        ("a", 2),
    ]
    assert {row["status"] for row in found} == {"ok"}
    assert bench.folders() == set(chosen)
    tables.write(bench.folder / "timeline.parquet", "timeline", found, {})


def test_nothing_but_tables_is_left(bench: Bench) -> None:
    """No archive of a past commit, no hand-over, no partial folder."""
    bench.run()
    for name in bench.folders():
        held = {path.stem for path in (bench.places.results / name).iterdir()}
        assert held == set(RULE_OF)
    assert list(bench.vault.root.rglob("*.zip")) == []
    assert list(bench.places.work.iterdir()) == []


def test_an_archive_that_was_there_stays(bench: Bench) -> None:
    from benchproof.pinning import mirror

    mirror(bench.source, bench.vault, SPEC, bench.pin())
    bench.run()
    assert [path.stem for path in bench.vault.root.rglob("*.zip")] == [bench.commits[5]]


def test_what_is_finished_is_not_derived_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bench.run()
    lost = bench.places.results / bench.commits[1]
    (lost / "runs.parquet").unlink()
    derived: list[str] = []
    true = derive

    def counting(vault: Vault, spec: RepoSpec, pin: Pin, *rest: Any) -> Path:
        derived.append(str(pin.commit_sha))
        return true(vault, spec, pin, *rest)

    monkeypatch.setattr(backfill, "derive", counting)
    assert bench.run() == first
    assert derived == [bench.commits[1]]
    bench.run(terms=replace(TERMS, notice="invented"))
    assert len(derived) == 5


@pytest.mark.parametrize(
    ("error", "reason"),
    [(TableError("x"), "not_derived"), (ZeroDivisionError("secret 73519"), "internal_error")],
    ids=["ours", "any-other"],
)
def test_one_bad_commit_is_a_row(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    reason: str,
) -> None:
    """Law 5, and law 2: the text of an unexpected error could quote an answer."""
    true = derive

    def failing(vault: Vault, spec: RepoSpec, pin: Pin, *rest: Any) -> Path:
        if pin.commit_sha == bench.commits[1]:
            raise error
        return true(vault, spec, pin, *rest)

    monkeypatch.setattr(backfill, "derive", failing)
    found = bench.run()
    assert [(row["status"], row["reason"]) for row in found] == [
        ("ok", None),
        ("failed", reason),
        ("ok", None),
        ("ok", None),
    ]
    assert found[1]["evals"] is None
    assert bench.commits[1] not in bench.folders()
    assert "73519" not in caplog.text
    monkeypatch.undo()
    assert {row["status"] for row in bench.run()} == {"ok"}


@pytest.mark.parametrize("error", [LeakError("x"), ProofError("blob", "a", "b", "x")])
def test_a_leak_or_a_broken_proof_stops_the_job(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def failing(*_: Any) -> Path:
        raise error

    monkeypatch.setattr(backfill, "derive", failing)
    with pytest.raises(type(error)):
        bench.run()
    assert not bench.places.results.exists()


def test_a_graded_value_in_a_table_is_found_before_anything_leaves(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law 2: the tables of each commit are searched for its own graded values."""
    value = "benchproof-planted-7351924680"
    leaves = tree("a")
    item = json.loads(leaves.text("evals/t/a.json")) | {"notes": f"The answer is {value} today."}
    leaves.put_json("evals/t/a.json", item)
    ids = write_repo(bench.folder / "one.git", [leaves])
    true = derive

    def leaking(vault: Vault, spec: RepoSpec, pin: Pin, *rest: Any) -> Path:
        staged = true(vault, spec, pin, *rest)
        row = dict.fromkeys(tables.SPECS["readings"].schema.names)
        about = tables.about(staged / "readings.parquet")
        text = f"The answer is {value} today."
        tables.write(staged / "readings.parquet", "readings", [row | {"reading": text}], about)
        return staged

    monkeypatch.setattr(backfill, "derive", leaking)
    with pytest.raises(LeakError) as met:
        bench.run(reached(bench.source, SPEC, bench.pin()))
    assert "readings.parquet" in str(met.value)
    assert value not in str(met.value)
    assert not (bench.places.results / ids[0]).exists()


def test_without_its_server_a_past_tells_what_is_here(bench: Bench) -> None:
    """Law 3: unknown with its cause; what was finished stays so."""
    first = bench.run()
    shutil.rmtree(bench.places.results / bench.commits[3])
    shutil.rmtree(bench.vault.mirror("demo/one"))
    shutil.rmtree(bench.folder / "one.git")
    source = bench.source
    bench.source = source.offline()
    found = bench.run()
    assert [(row["commit_sha"], row["status"], row["reason"]) for row in found] == [
        (sha, "unknown", "offline") if sha not in bench.folders() else (sha, "ok", None)
        for sha in bench.commits
    ]
    assert [row["evals"] for row in found if row["status"] == "ok"] == [
        row["evals"] for row in first if row["commit_sha"] != bench.commits[3]
    ]


def test_a_repository_without_commits_is_one_row(bench: Bench) -> None:
    listed = Listed("unknown", "timeout", None, ())
    (row,) = bench.run(listed)
    assert (row["commit_sha"], row["status"], row["reason"]) == (None, "unknown", "timeout")


def test_a_chosen_list_is_taken_whole(bench: Bench) -> None:
    chosen = replace(bench.listed, tip=None, commits=bench.listed.commits[1:3])
    assert [row["commit_sha"] for row in bench.run(chosen)] == bench.commits[1:3]


@pytest.mark.parametrize(("reason", "fails"), [("internal_error", True), ("not_derived", False)])
def test_the_target_fails_for_a_fault_of_ours_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str, fails: bool
) -> None:
    """Its tables stand either way; a run in which no commit could be derived ended with 0 once."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    target = importlib.import_module("history")
    tables.write(
        tmp_path / "timeline.parquet", "timeline", [rows.absent("demo/one", "failed", reason)], {}
    )
    shown: list[str] = []
    inputs = SimpleNamespace(
        timelines=[tmp_path / "timeline.parquet"], page="history/timeline.html"
    )
    task: Any = SimpleNamespace(input=inputs, screen=lambda _, text: shown.append(text))
    with (
        pytest.raises(HistoryError, match=r"1 commits .* history/logs") if fails else nullcontext()
    ):
        target.main(task)
    assert len(shown) == 1


def test_others_read_timelines_by_repository(bench: Bench) -> None:
    found = bench.run()
    for name in ("timeline", "chosen"):
        path = bench.folder / "history" / "demo+one" / f"{name}.parquet"
        tables.write(path, "timeline", found if name == "timeline" else [], {})
    assert rows.timelines(bench.folder) == {"demo/one": found}
    assert rows.timelines(bench.folder, "chosen") == {}
