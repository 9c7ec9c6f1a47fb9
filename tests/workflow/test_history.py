"""The past end to end: a series with a merge and another manifest shape, equality with an audit, a kill."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from benchproof.history.derive import RULE_OF
from benchproof.history.rows import timelines
from conftest import Bench, kill_group, settings
from family import Family, draft_family, write_family, write_repo
from upstream import Upstream

pytestmark = pytest.mark.workflow
NAME = "demo+scbench"


@dataclass
class Past:
    """A member whose main has six commits: shape d, shape a, two sides, their merge, and words alone."""

    family: Family
    commits: list[str]
    series: list[str] = field(init=False)

    def __post_init__(self) -> None:
        # The merge brings what one side has, the side of documents and the tip nothing that is audited;
        # the tip is pinned.
        self.series = [self.commits[n] for n in (0, 1, 3, 5)]


def build(root: Path) -> Past:
    drafts = {
        shape: draft_family(repos=["scbench"], small=True, variants={"scbench": shape})
        for shape in ("d", "moved")
    }
    old = drafts["d"].tree("scbench")
    today, moved = drafts["moved"].trees["scbench"][-2:]
    side, merge = today.clone(), moved.clone()
    for leaves in (side, merge):
        leaves.put("docs/guide.txt", "Words.\n")
    tip = merge.clone()
    tip.put("docs/guide.txt", "More words.\n")
    family = write_family(drafts["moved"], root)
    ids = write_repo(
        Path(family.repos["scbench"].path),
        [old, today, side, moved, merge, tip],
        parents=[[], [0], [1], [1], [2, 3], [4]],
    )
    return Past(family, ids)


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Past:
    return build(tmp_path_factory.mktemp("past"))


@pytest.fixture(scope="module")
def served(past: Past) -> Iterator[Upstream]:
    with Upstream(past.family.root, family=past.family) as upstream:
        yield upstream
        assert not upstream.errors, upstream.errors


@dataclass
class Derived:
    """A bench whose past was derived, and what the run said."""

    bench: Bench
    output: str

    @property
    def folder(self) -> Path:
        return self.bench.folder / "results" / "history" / NAME


@pytest.fixture(scope="module")
def derived(past: Past, served: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Derived:
    bench = Bench(tmp_path_factory.mktemp("derived"), settings(past.family, served))
    return Derived(bench, bench.audit("history"))


def commits(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in folder.iterdir() if path.is_dir()}


def held(folder: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def test_a_series_is_derived_and_drawn(derived: Derived, past: Past) -> None:
    (rows,) = timelines(derived.bench.folder / "results").values()
    assert [row["commit_sha"] for row in rows] == past.series
    assert {row["status"] for row in rows} == {"ok"}
    assert [row["shape"] for row in rows] == ["d", "a", "a", "a"]
    assert [row["runs"] for row in rows][1] + 1 == rows[2]["runs"] == rows[3]["runs"]
    assert [row["parents"] for row in rows] == [0, 1, 1, 1]
    assert rows[3]["changed_paths"] == 1
    assert all(row["agreeing"] == row["graded"] > 0 for row in rows)
    assert commits(derived.folder).keys() == set(past.series)
    page = (derived.folder.parent / "timeline.html").read_text()
    assert all(sha[:12] in page for sha in past.series)
    assert not re.search(r"https?://|<script|src=|href=", page)
    last = derived.output.rsplit("Elapsed", 1)[1]
    assert "4 commits that touch what is audited; 1 as the one before." in last
    assert "The page: results/history/timeline.html" in last


def test_a_past_takes_few_requests(derived: Derived, served: Upstream) -> None:
    """Two for the pin, then all commits, all trees and all blobs, in one fetch each, whatever the number."""
    asked = [request.path.rsplit("/", 1)[-1] for request in served.requests("git")]
    assert asked.count("refs") <= 5
    assert len(asked) <= 13
    assert not served.requests("sign")
    assert not served.requests("storage")


def test_nothing_of_an_answer_leaves(derived: Derived, past: Past) -> None:
    """Law 2: tables, pages and logs of the past hold no value of the family's answer keys."""
    graded = [item.text for item in past.family.graded_values if len(item.text) >= 9]
    assert graded
    results = derived.bench.folder / "results"
    texts = [str(tables.read(p, p.stem)) for p in results.rglob("*.parquet")]
    texts += [p.read_text() for p in results.rglob("*") if p.suffix in (".html", ".log")]
    assert len(texts) > 4 * len(RULE_OF)
    for text in texts:
        assert not [value for value in graded if value in text]


def test_a_past_commit_has_the_bytes_of_an_audit_of_it(
    derived: Derived, past: Past, served: Upstream, tmp_path: Path
) -> None:
    member = {**past.family.config[0], "ref": past.series[0]}
    bench = Bench(tmp_path, settings(past.family, served, family=[member]))
    bench.audit(*(f"results/{bench.out.name}/{name}.parquet" for name in RULE_OF))
    assert held(bench.out) == held(derived.folder / past.series[0])


def test_a_second_run_has_nothing_to_do(derived: Derived, served: Upstream) -> None:
    before = {path: path.stat().st_mtime_ns for path in derived.folder.rglob("*")}
    served.log.reset()
    assert "backfill_history" not in derived.bench.audit("history")
    assert {path: path.stat().st_mtime_ns for path in derived.folder.rglob("*")} == before
    assert not served.requests()


def test_listed_commits_are_derived_offline_from_the_same_vault(
    derived: Derived, past: Past, served: Upstream
) -> None:
    """One of the series, which is finished, and one that it leaves out; the day's report stays untouched."""
    day = held(derived.bench.out)
    config = [f"as_of=[{past.series[0][:7]}, scbench@{past.commits[2]}]", "offline=true"]
    output = derived.bench.audit("--config", *config)
    (rows,) = timelines(derived.bench.folder / "results", "chosen").values()
    assert [row["commit_sha"] for row in rows] == [past.series[0], past.commits[2]]
    assert commits(derived.folder).keys() == {*past.series, past.commits[2]}
    assert "2 commits; none as the one before." in output
    assert not served.requests()
    assert held(derived.bench.out) == day
    # A fault of ours at a commit is none of the commit: the default target of a list fails for it too.
    (place,) = (derived.bench.folder / "results" / "history").glob("*/chosen.parquet")
    rows[1] |= {"status": "failed", "reason": "internal_error"}
    tables.write(place, "timeline", rows, {})
    done = derived.bench.run("--config", *config)
    assert done.returncode == 1
    assert "benchproof: judge_history failed: " in done.stdout


def test_a_commit_that_nobody_has_ends_in_one_line(derived: Derived) -> None:
    done = derived.bench.run("--config", "as_of=abcdef0", "offline=true")
    assert done.returncode == 1
    assert "lists abcdef0, which is no commit of demo/scbench" in done.stdout.splitlines()[-1]


def test_a_kill_leaves_nothing_that_looks_finished(
    derived: Derived, past: Past, served: Upstream, tmp_path: Path
) -> None:
    """Law 7: whatever there is under a commit's name is whole, and the next run makes the rest."""
    bench = Bench(tmp_path, settings(past.family, served))
    folder = tmp_path / "results" / "history" / NAME
    process = bench.start("history")
    deadline = time.monotonic() + 60
    while not any(len(path.name) == 40 for path in folder.glob("*")):
        assert time.monotonic() < deadline
        time.sleep(0.002)
    kill_group(process)
    whole = {name: path for name, path in commits(folder).items() if len(name) == 40}
    assert all(held(path).keys() == RULE_OF.keys() for path in whole.values())
    assert not (folder / "timeline.parquet").exists()
    bench.audit("history")
    assert commits(folder).keys() == set(past.series)
    expected: dict[str, Any] = {sha: held(derived.folder / sha) for sha in past.series}
    assert {sha: held(folder / sha) for sha in past.series} == expected
