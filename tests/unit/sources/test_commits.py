"""Ranges of commits, the same through either source: merges, roots, rewritten branches, what they cost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from benchproof.errors import Absent, AllowanceTooSmall, ProofError, Unreachable
from benchproof.http import Http
from benchproof.sources.base import Commit, History, RepoSpec
from benchproof.sources.git import GitSource
from benchproof.sources.github import GitHubSource
from benchproof.vault import BlobStore, Vault
from family import RepoTree, write_repo
from unit.sources.test_git import git
from upstream import Upstream

SPEC, ODD = RepoSpec("demo/one", "main", "evals", "runs"), RepoSpec("demo/odd", "main", "e", "r")


def tree(**files: str) -> RepoTree:
    leaves = RepoTree()
    leaves.put("evals/kept.json", "{}" + " " * 5000)
    for name, text in files.items():
        leaves.put(f"evals/{name}", text)
    return leaves


@dataclass
class Past:
    """A repository whose main has a merge, and whose first main was rewritten away."""

    place: Path
    old: list[str]
    main: list[str]


@pytest.fixture
def past(tmp_path: Path) -> Past:
    place = tmp_path / "repos" / "demo" / "one.git"
    lost = write_repo(place, [tree(), tree(a="1"), tree(a="rewritten")])
    states = [tree(), tree(a="1"), tree(a="1", b="2"), tree(a="1", c="3")]
    states.append(tree(a="1", b="2", c="3", d="own"))
    main = write_repo(place, states, parents=[[], [0], [1], [1], [2, 3]])
    return Past(place, lost, main)


@pytest.fixture
def upstream(past: Past) -> Iterator[Upstream]:
    with Upstream(past.place.parents[1]) as served:
        yield served
        assert not served.errors, served.errors


def opened(vault: Vault, endpoint: str, *, offline: bool = False, **mirrors: str) -> GitSource:
    http = Http([endpoint], environ={}, sleep=lambda _: None, tries=1)
    named = {f"demo/{name}": path for name, path in mirrors.items()}
    return GitSource(
        vault,
        http,
        endpoint,
        named,
        timeout_s=1,
        tries=1,
        offline=offline,
        sleep=lambda _: None,
    )


def rest(upstream: Upstream, vault: Vault, *, offline: bool = False) -> GitHubSource:
    api, raw = f"{upstream.url}/api", f"{upstream.url}/raw"
    http = Http([], authorized=[api, raw], environ={}, sleep=lambda _: None, tries=1)
    return GitHubSource(http, api, raw, BlobStore(vault), offline=offline)


@pytest.fixture(params=["git", "github"])
def either(request: pytest.FixtureRequest, upstream: Upstream, tmp_path: Path) -> History:
    vault = Vault(tmp_path / "vault")
    if request.param == "github":
        return rest(upstream, vault)
    return opened(vault, f"{upstream.url}/git")


@pytest.fixture
def source(upstream: Upstream, tmp_path: Path) -> GitSource:
    return opened(Vault(tmp_path / "vault"), f"{upstream.url}/git")


@pytest.fixture
def github(upstream: Upstream, tmp_path: Path) -> GitHubSource:
    return rest(upstream, Vault(tmp_path / "vault"))


def told(commits: list[Commit], known: list[str]) -> list[tuple[int, set[bytes]]]:
    return [(known.index(commit.sha), set(commit.paths)) for commit in commits]


def test_a_range_names_what_each_commit_changes(either: History, past: Past) -> None:
    found = either.commits(SPEC, past.main[4], past.main[0])
    assert told(found, past.main) == [
        (4, {b"evals/d"}),
        (3, {b"evals/c"}),
        (2, {b"evals/b"}),
        (1, {b"evals/a"}),
    ]
    assert found[0].parents == (past.main[2], past.main[3])
    assert found[0].tree_sha == git(past.place, "rev-parse", f"{past.main[4]}^{{tree}}")
    assert int(found[0].committed_at.timestamp()) == int(
        git(past.place, "log", "-1", "--format=%ct", past.main[4])
    )


def test_without_a_beginning_the_root_commit_changes_all(either: History, past: Past) -> None:
    found = either.commits(SPEC, past.main[1])
    assert told(found, past.main) == [(1, {b"evals/a"}), (0, {b"evals/kept.json"})]


@pytest.mark.parametrize(
    ("until", "since", "numbers"),
    [(1, 1, []), (1, 4, []), (2, 3, [2]), (4, 2, [4, 3])],
    ids=["same", "back", "side", "merged-side"],
)
def test_what_the_beginning_reaches_is_left_out(
    either: History, past: Past, until: int, since: int, numbers: list[int]
) -> None:
    found = either.commits(SPEC, past.main[until], past.main[since])
    assert [past.main.index(commit.sha) for commit in found] == numbers
    assert either.is_ancestor(SPEC, past.main[since], past.main[until]) == (since <= until != 2)


def test_a_commit_of_no_branch_is_asked_for_by_its_id(either: History, past: Past) -> None:
    assert past.old[2] not in git(past.place, "rev-list", "--all")
    found = either.commits(SPEC, past.main[2], past.old[2])
    assert told(found, past.main) == [(2, {b"evals/b"})]
    assert not either.is_ancestor(SPEC, past.old[2], past.main[4])
    assert either.is_ancestor(SPEC, past.old[0], past.old[2])


def test_histories_that_share_nothing(either: History, past: Past) -> None:
    states = [tree(z="1"), tree(z="2")]
    other = write_repo(past.place, states, branch="other", dates=[1, 2])
    found = either.commits(SPEC, other[1], past.main[4])
    assert told(found, other) == [(1, {b"evals/z"}), (0, {b"evals/z", b"evals/kept.json"})]
    assert not either.is_ancestor(SPEC, past.main[4], other[1])


def test_a_commit_that_is_nowhere_is_absent_and_no_ancestor(either: History, past: Past) -> None:
    gone = "0" * 40
    for until, since in ((gone, None), (past.main[1], gone), (gone, past.main[1])):
        with pytest.raises(Absent) as met:
            either.commits(SPEC, until, since)
        assert met.value.status == "ref_missing"
    assert not either.is_ancestor(SPEC, gone, past.main[4])
    with pytest.raises(Absent):
        either.is_ancestor(SPEC, past.main[4], gone)


def test_a_repository_that_is_gone_is_missing(either: History, past: Past) -> None:
    shutil.rmtree(past.place)
    for since in (None, past.main[0]):
        with pytest.raises(Absent) as met:
            either.commits(SPEC, past.main[1], since)
        assert met.value.status == "missing"


def test_a_renamed_repository_has_its_past(either: History, past: Past, upstream: Upstream) -> None:
    upstream.git.aliases["demo/new"] = "demo/one"
    upstream.add("rename", r"/demo/one(\.git|/|$)", to="demo/new")
    assert len(either.commits(SPEC, past.main[4])) == 5


@pytest.mark.parametrize("digits", [7, 40])
def test_a_commit_is_found_by_its_first_digits(either: History, past: Past, digits: int) -> None:
    assert either.find(SPEC, past.main[1][:digits]) == [past.main[1]]
    assert either.find(SPEC, "0" * digits) == []
    root = git(past.place, "rev-parse", "main^{tree}")
    assert either.find(SPEC, root[:digits]) == []
    shutil.rmtree(past.place)
    with pytest.raises(Absent) as met:
        either.find(SPEC, "1" * digits)
    assert met.value.status == "missing"


def test_what_came_is_told_again_offline(
    either: History, past: Past, upstream: Upstream, tmp_path: Path
) -> None:
    pins = [either.pin(replace(SPEC, ref=sha)) for sha in past.main]
    either.bring(pins)
    trees = [either.tree(pin) for pin in pins]
    wanted = {entry.sha: entry.path for entries in trees for entry in entries}
    told = dict(either.blobs(pins[-1], wanted))
    upstream.log.reset()
    vault = Vault(tmp_path / "vault")
    offline: History = rest(upstream, vault, offline=True)
    if either.name == "git":
        offline = opened(vault, f"{upstream.url}/git", offline=True)
    offline.bring(pins)
    assert [offline.tree(pin) for pin in pins] == trees
    assert dict(offline.blobs(pins[-1], wanted)) == told
    for ask in (offline.commits, offline.find):
        with pytest.raises(Unreachable) as met:
            ask(SPEC, "0" * 40)
        assert met.value.cause == "offline"
    assert upstream.requests() == []


def test_many_commits_come_in_one_request(
    source: GitSource, past: Past, upstream: Upstream
) -> None:
    pin = source.pin(SPEC)
    upstream.log.reset()
    pins = [replace(pin, commit_sha=sha, tree_sha=None) for sha in past.main]
    source.bring(pins)
    source.bring(pins)
    asked = [request.path.rsplit("/", 1)[-1] for request in upstream.requests("git")]
    assert asked == ["refs", "git-upload-pack", "git-upload-pack"]


def test_paths_are_bytes_or_not_known(source: GitSource, github: GitHubSource, past: Past) -> None:
    odd = tree()
    odd.put(b"odd \xff\n", b"x")
    ids = write_repo(past.place.with_name("odd.git"), [tree(), odd])
    assert source.commits(ODD, ids[1])[0].paths == {b"odd \xff\n"}
    with pytest.raises(Unreachable, match="UTF-8"):
        github.commits(ODD, ids[1])


# --- git -----------------------------------------------------------------------------------------


def test_one_fetch_brings_a_past_that_then_needs_no_network(
    source: GitSource, past: Past, upstream: Upstream
) -> None:
    source.commits(SPEC, past.main[4], past.main[0])
    asked = [request.path.rsplit("/", 1)[-1] for request in upstream.requests("git")]
    assert asked.count("git-upload-pack") <= 3
    upstream.log.reset()
    assert len(source.commits(SPEC, past.main[4])) == 5
    assert source.is_ancestor(SPEC, past.main[1], past.main[4])
    assert upstream.requests() == []
    held = git(
        source._vault.history("demo/one"), "cat-file", "--batch-all-objects", "--batch-check"
    )
    assert " blob " not in held


def test_a_branch_that_made_room_for_a_folder_of_branches(source: GitSource, past: Past) -> None:
    git(past.place, "branch", "topic", past.main[1])
    source.commits(SPEC, past.main[1])
    git(past.place, "branch", "-D", "topic")
    git(past.place, "branch", "topic/two", past.old[1])
    git(past.place, "update-ref", "refs/heads/topic/new", past.old[2])
    assert len(source.commits(SPEC, past.old[2])) == 3


def test_a_past_without_trees_is_made_anew(source: GitSource, past: Past) -> None:
    git_folder = source._vault.history("demo/one")
    git_folder.mkdir(parents=True)
    git(git_folder, "init", "--quiet", "--bare")
    url = str(past.place)
    git(git_folder, "config", "remote.origin.url", url)
    git(git_folder, "fetch", "--quiet", "--filter=tree:0", "origin", "+refs/heads/*:refs/heads/*")
    assert len(source.commits(SPEC, past.main[4])) == 5


def test_a_damaged_past_is_a_broken_proof(source: GitSource, past: Past) -> None:
    source.commits(SPEC, past.main[4])
    folder = source._vault.history("demo/one")
    other = git(folder, "cat-file", "commit", past.main[1]).replace("state", "stat3").encode()
    for path in folder.glob("objects/pack/*"):
        path.rename(folder / path.name)
    for path in folder.glob("*.pack"):
        git(folder, "unpack-objects", "-q", stdin=path.read_bytes())
    place = folder / "objects" / past.main[1][:2] / past.main[1][2:]
    wrong = git(folder, "hash-object", "-w", "-t", "commit", "--stdin", stdin=other)
    place.unlink()
    shutil.copy(folder / "objects" / wrong[:2] / wrong[2:], place)
    with pytest.raises(ProofError, match="commit does not hash"):
        source.commits(SPEC, past.main[4])


def test_a_commit_that_git_would_not_write_is_unreachable(source: GitSource, past: Past) -> None:
    root = git(past.place, "rev-parse", "main^{tree}")
    data = b"tree %s\nauthor x\ncommitter x\n\nm\n" % root.encode()
    sha = git(past.place, "hash-object", "-w", "-t", "commit", "--literally", "--stdin", stdin=data)
    git(past.place, "update-ref", "refs/heads/bad", sha)
    with pytest.raises(Unreachable, match="malformed"):
        source.commits(SPEC, sha)


def test_a_mirror_whose_own_past_is_cut_says_so(past: Past, tmp_path: Path) -> None:
    cut = tmp_path / "cut.git"
    git(past.place, "clone", "--quiet", "--bare", "--depth=1", f"file://{past.place}", str(cut))
    source = opened(Vault(tmp_path / "vault"), "http://127.0.0.1:1", one=str(cut))
    for ask in (
        lambda: source.commits(SPEC, past.main[4]),
        lambda: source.is_ancestor(SPEC, past.main[3], past.main[4]),
    ):
        with pytest.raises(Unreachable, match="shallow clone"):
            ask()
    git(cut, "fetch", "--quiet", "--unshallow", str(past.place))
    assert len(source.commits(SPEC, past.main[4])) == 5


# --- REST ----------------------------------------------------------------------------------------


def test_a_range_costs_a_page_and_its_distinct_trees(
    github: GitHubSource, past: Past, upstream: Upstream
) -> None:
    github.commits(SPEC, past.main[4], past.main[0])
    asked = [request.path.split("/")[-2] for request in upstream.requests("api")]
    assert sorted(asked) == ["api", "compare", *["trees"] * 5]


def test_many_commits_come_page_by_page(
    github: GitHubSource, past: Past, upstream: Upstream
) -> None:
    """A comparison shows 250 commits at once and 100 a page."""
    one, other = tree(a="1"), tree(a="2")
    ids = write_repo(past.place, [one, other] * 130, dates=range(1, 261))
    found = github.commits(SPEC, ids[-1], ids[0])
    assert [commit.sha for commit in found] == ids[:0:-1]
    assert {commit.paths for commit in found} == {frozenset({b"evals/a"})}
    asked = [request.path.split("/")[-2] for request in upstream.requests("api")]
    assert (asked.count("compare"), asked.count("trees")) == (3, 2)
    assert [commit.sha for commit in github.commits(SPEC, ids[-1])] == ids[::-1]


def test_a_list_that_is_not_whole_is_refused(
    github: GitHubSource, past: Past, upstream: Upstream
) -> None:
    upstream.github.commit_limit = 2
    with pytest.raises(Unreachable, match="isn't whole"):
        github.commits(SPEC, past.main[4])
    with pytest.raises(Unreachable, match="isn't whole"):
        github.commits(SPEC, past.main[4], past.main[0])


def test_an_allowance_that_is_too_small_is_told_before_the_first_tree(
    github: GitHubSource, past: Past, upstream: Upstream
) -> None:
    upstream.github.allowance.anonymous = 4
    with pytest.raises(AllowanceTooSmall, match="5 requests are needed and 3 are left"):
        github.commits(SPEC, past.main[4], past.main[0])
