"""Three dates, with changes upstream between the first two: the target, its files, its codes, the command."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from conftest import DAY, Bench, settings
from family import RepoTree, draft_family, write_family, write_repo
from upstream import Upstream

pytestmark = pytest.mark.workflow
LATER, LAST = "2026-01-22", "2026-01-29"
REPO = "demo/scbench"
CHANGED, UNCHANGED = f"{DAY}..{LATER}", f"{LATER}..{LAST}"


@dataclass
class Story:
    """A bench after its three dates: what each run printed, and the commits after the first date."""

    bench: Bench
    said: dict[str, str]
    codes: dict[str, int]
    commits: list[str]
    paths: dict[str, str]

    def folder(self, name: str) -> Path:
        return self.bench.folder / "results" / "drift" / name

    def rows(self, table: str, name: str = CHANGED) -> list[dict[str, Any]]:
        found = tables.read(self.folder(name) / "drift.parquet", "drift")
        return [row for row in found if row["table"] == table]

    def cli(self, *arguments: str, **changed: Any) -> tuple[int, str]:
        """Run the command, with some keys of the configuration changed."""
        kept = self.bench.settings
        self.bench.settings = {**kept, **changed}
        self.bench.command()
        self.bench.settings = kept
        done = self.bench.cli("drift", *arguments)
        return done.returncode, done.stdout + done.stderr


def _edits(tree: RepoTree) -> tuple[list[RepoTree], dict[str, str]]:
    """Return three commits: one evaluation uses other data, another grades otherwise, a run goes."""
    evals = sorted(path for path in tree.below("evals") if not path.endswith(b"manifest.json"))
    first, second = evals[0], evals[1]
    data = tree.clone()
    one, other = data.json(first), data.json(second)
    one["data_node"] = other["data_node"]
    data.put_json(first, one)
    rule = data.clone()
    config = other["grader"]["config"]
    for tolerance in config.get("tolerances", {}).values():
        tolerance["value"] = 987654.25
    config["ground_truth_note"] = "only the configuration of the grader differs"
    rule.put_json(second, other)
    run = sorted(path for path in tree.below("trajectories") if path.endswith(b"result.json"))[0]
    gone = rule.clone()
    del gone[run]
    named = {"data": first, "rule": second, "run": run}
    return [data, rule, gone], {name: path.decode() for name, path in named.items()}


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    folder = tmp_path_factory.mktemp("drift")
    draft = draft_family(small=True, repos=["scbench"])
    family = write_family(draft, folder / "upstream")
    trees = draft.trees["scbench"]
    edits, paths = _edits(trees[-1])
    with Upstream(family.root, family=family) as upstream:
        bench = Bench(folder, settings(family, upstream))
        said, codes = {}, {}
        for day in (DAY, LATER, LAST):
            if day == LATER:
                shutil.rmtree(family.repos["scbench"].path)
                ids = write_repo(Path(family.repos["scbench"].path), [*trees, *edits])
            bench.settings["date"] = day
            done = bench.run("drift")
            said[day], codes[day] = done.stdout, done.returncode
        yield Story(bench, said, codes, list(ids)[-3:], paths)
        assert not upstream.errors


def test_without_an_earlier_report_it_says_so_and_ends_well(story: Story) -> None:
    assert story.codes[DAY] == 0, story.said[DAY][-2000:]
    assert f"drift {DAY}: no earlier complete report here to compare with" in story.said[DAY]
    assert json.loads((story.bench.out.parent / DAY / "seal.json").read_text())["complete"]


def test_what_changed_upstream_is_found_with_its_commits(story: Story) -> None:
    data, rule, run = story.commits
    keys = {name: f'["{REPO}","{path}"]' for name, path in story.paths.items()}
    evals = story.rows("evals")
    assert {(r["key"], r["commit_sha"]) for r in evals if r["column"] == "blob_sha"} == {
        (keys["data"], data),
        (keys["rule"], rule),
    }
    graders = [r for r in evals if r["column"] == "grader"]
    assert [(r["key"], r["severity"], r["old"], r["new"]) for r in graders] == [
        (keys["rule"], "critical", None, None)
    ]
    gone = [r for r in story.rows("runs") if r["change"] == "removed"]
    assert [(r["key"], r["severity"], r["commit_sha"]) for r in gone] == [
        (keys["run"], "major", run)
    ]
    group = next(r["group_id"] for r in evals if r["key"] == keys["data"])
    together = {r["table"] for t in tables.SPECS for r in story.rows(t) if r["group_id"] == group}
    assert {"evals", "eval_handles", "tree", "handles"} <= together
    assert {r["cause"] for t in tables.SPECS for r in story.rows(t)} == {"upstream"}


def test_the_target_fails_and_leaves_its_tables(story: Story) -> None:
    """The verdict is a rule of its own, without outputs: it is asked again, and nothing else is made."""
    assert story.codes[LATER] == 1
    last = story.said[LATER].splitlines()[-1]
    assert f"drift {CHANGED}: an invariant does not hold any more (11)" in last
    assert f"drift {CHANGED}: " in story.said[LATER]
    story.bench.settings["date"] = LATER
    again = story.bench.run("drift")
    assert again.returncode == 1
    assert "rule diff_reports" not in again.stdout


def test_an_unchanged_upstream_is_no_change(story: Story) -> None:
    assert story.codes[LAST] == 0, story.said[LAST][-2000:]
    assert tables.read(story.folder(UNCHANGED) / "drift.parquet", "drift") == []
    assert f"drift {UNCHANGED}: 0 changes\n" in story.said[LAST]


def test_the_command_needs_no_network_and_gives_the_same_bytes(story: Story) -> None:
    before = {p.name: p.read_bytes() for p in story.folder(CHANGED).iterdir()}
    nowhere: dict[str, Any] = dict.fromkeys(story.bench.settings["endpoints"], "http://127.0.0.1:9")
    nowhere |= {"storage": ["http://127.0.0.1:9"]}
    code, said = story.cli(DAY, LATER, endpoints=nowhere)
    assert code == 11, said
    assert {p.name: p.read_bytes() for p in story.folder(CHANGED).iterdir()} == before
    assert said.startswith(before["summary.md"].decode())
    assert len(before["summary.md"]) <= 4096


def test_the_command_works_without_a_vault_and_for_folders_that_were_moved(
    story: Story, tmp_path: Path
) -> None:
    results = story.bench.folder / "results"
    for day in (DAY, LATER):
        shutil.copytree(results / day, tmp_path / f"moved {day}")
    moved = [str(tmp_path / f"moved {day}") for day in (DAY, LATER)]
    code, said = story.cli(*moved, resources="nowhere")
    assert code == 11, said
    assert f"not known: commits of {REPO} (no vault or no git here)" in said
    assert "whether their graders changed is not known" in said
    name = f"moved_{DAY}..moved_{LATER}"
    assert {r["commit_sha"] for r in story.rows("evals", name)} == {None}
    assert not (story.bench.folder / "nowhere").exists()


def test_the_command_brings_the_commits_that_its_vault_lacks_unless_it_is_offline(
    story: Story,
) -> None:
    vault = story.bench.folder / "other"
    vault.mkdir(mode=0o700)
    before = story.rows("runs")
    code, said = story.cli(DAY, LATER, resources="other", offline=True)
    assert code == 11, said
    assert f"commits of {REPO} (offline)" in said
    assert {row["commit_sha"] for row in story.rows("runs")} == {None}
    code, said = story.cli(DAY, LATER, resources="other")
    assert code == 11, said
    assert "not known: commits" not in said
    assert story.rows("runs") == before
    assert not (vault / "lease.json").exists()
    assert story.cli(DAY, LATER)[0] == 11


def test_two_equal_dates_and_a_gap_between_dates(story: Story) -> None:
    assert story.cli(date=LAST)[0] == 0
    assert story.cli(DAY, date=LAST)[0] == 11
    assert (story.folder(f"{DAY}..{LAST}") / "drift.html").exists()
    assert story.cli(DAY, DAY)[0] == 0


def test_what_is_no_report_is_wrong_usage(story: Story) -> None:
    for named in ("2020-01-01", "drift", str(story.bench.folder)):
        code, said = story.cli(named, LATER)
        assert code == 2, said
        assert named in said
        assert len(said.splitlines()) == 1


class Page(HTMLParser):
    """What a page holds that could act or ask."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attributes if name in ("href", "src")]


def test_the_page_stands_alone(story: Story) -> None:
    text = (story.folder(CHANGED) / "drift.html").read_text()
    page = Page()
    page.feed(text)
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert page.links == []
    assert page.tags.count("details") == len(re.findall(r"<summary>", text))
    assert all(commit in text for commit in story.commits)
    assert "987654" not in text
