"""The git source against the embedded upstream: pins, listings, blobs, faults, and nobody's settings."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchproof.errors import BenchproofError, ConfigError, ProofError, Unreachable, VaultError
from benchproof.http import Http
from benchproof.sources import git as git_module
from benchproof.sources import gitcmd, objects
from benchproof.sources.base import SMALL_BYTES, Pin, RepoSpec
from benchproof.sources.git import GitSource
from benchproof.vault import Vault
from family import RepoTree, write_repo
from family.tree import FIRST_COMMIT_AT, git_environment
from upstream import Upstream

FIRST_DAY = datetime.fromtimestamp(FIRST_COMMIT_AT, UTC)
BIG = b'{"id": "big"}' + b" " * 2 * SMALL_BYTES
OTHER = b'{"id": "other"}' + b" " * 2 * SMALL_BYTES


def git(repo: Path, *arguments: str, stdin: bytes = b"") -> str:
    who = {
        f"GIT_{role}_{what}": "x@y.z"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", "--git-dir", str(repo), *arguments],
        env={**git_environment(), **who},
        input=stdin,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def tree(number: int) -> RepoTree:
    leaves = RepoTree()
    leaves.put("evals/big.json", BIG)
    leaves.put("evals/other.json", OTHER)
    leaves.put("number", str(number))
    leaves.put(b"odd \xff\n", b"x", "100755")
    leaves.link("link", "../outside")
    leaves.submodule("sub", "5" * 40)
    return leaves


def colliding_commits(root: str) -> list[bytes]:
    """Return two commit objects whose ids share their first seven digits."""
    seen: dict[str, bytes] = {}
    for number in range(1_000_000):
        who = b"x <x@y.z> %d +0000" % (FIRST_COMMIT_AT + number)
        data = b"tree %s\nauthor %s\ncommitter %s\n\nm\n" % (root.encode(), who, who)
        short = objects.object_id("commit", data)[:7]
        if short in seen:
            return [seen[short], data]
        seen[short] = data
    raise AssertionError


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """demo/one: three commits, tags and branches; empty, headless and twin repositories."""
    root = tmp_path_factory.mktemp("repos")
    one = root / "demo" / "one.git"
    commits = write_repo(one, [tree(1), tree(2), tree(3)])
    git(one, "tag", "light", commits[0])
    git(one, "tag", "-a", "-m", "a tag", "noted", commits[1])
    git(one, "branch", "side/branch", commits[1])
    git(one, "tag", "side/branch", commits[0])
    write_repo(root / "demo" / "empty.git", [])
    headless = root / "demo" / "headless.git"
    write_repo(headless, [tree(1)])
    (headless / "HEAD").write_text("ref: refs/heads/gone\n")
    twins = root / "demo" / "twins.git"
    write_repo(twins, [tree(1)])
    for number, data in enumerate(colliding_commits(git(twins, "rev-parse", "main^{tree}"))):
        sha = git(twins, "hash-object", "-w", "-t", "commit", "--stdin", stdin=data)
        git(twins, "update-ref", f"refs/heads/twin{number}", sha)
    return root


@pytest.fixture(scope="module")
def commits(root: Path) -> list[str]:
    return git(root / "demo" / "one.git", "rev-list", "--reverse", "main").split()


@pytest.fixture(scope="module")
def served(root: Path) -> Iterator[Upstream]:
    with Upstream(root) as upstream:
        yield upstream
        assert not upstream.errors, upstream.errors


@pytest.fixture
def upstream(served: Upstream) -> Iterator[Upstream]:
    served.reset()
    served.git.aliases.clear()
    yield served
    served.reset()


class Bench:
    """A source with a vault of its own; `slept` holds the waits it asked for."""

    def __init__(self, upstream: Upstream, folder: Path, tries: int = 3) -> None:
        self.vault, self.upstream = Vault(folder / "vault"), upstream
        self.slept: list[float] = []
        self.http = Http([f"{upstream.url}/git"], environ={}, sleep=self.slept.append, tries=1)
        self.mirrors: dict[str, str] = {}
        self.source = self.open(f"{upstream.url}/git", tries)

    def open(self, endpoint: str, tries: int = 3) -> GitSource:
        return GitSource(
            self.vault,
            self.http,
            endpoint,
            self.mirrors,
            timeout_s=1,
            tries=tries,
            sleep=self.slept.append,
        )

    def pin(self, ref: str = "main", repo: str = "demo/one", as_of: datetime | None = None) -> Pin:
        return self.source.pin(RepoSpec(repo, ref, "evals", "runs"), as_of)

    def blobs(self, pin: Pin, *wanted: bytes) -> dict[str, bytes]:
        return dict(self.source.blobs(pin, {objects.blob_id(data): b"p" for data in wanted}))

    def asked(self) -> list[str]:
        return [f"{r.method} {r.path.rsplit('/', 1)[-1]}" for r in self.upstream.requests("git")]


@pytest.fixture
def bench(upstream: Upstream, tmp_path: Path) -> Bench:
    return Bench(upstream, tmp_path)


# --- pins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ref", "commit"),
    [("main", 2), ("HEAD", 2), ("light", 0), ("noted", 1), ("side/branch", 1)],
    ids=["branch", "head", "light-tag", "annotated-tag-peeled", "branch-before-tag-of-its-name"],
)
def test_a_name_is_pinned_to_its_commit(
    bench: Bench, commits: list[str], ref: str, commit: int
) -> None:
    pin = bench.pin(ref)
    assert (pin.status, pin.reason, pin.commit_sha) == ("ok", None, commits[commit])
    assert pin.committed_at == FIRST_DAY + timedelta(days=10 * commit)
    assert (pin.repo, pin.resolved_repo, pin.ref, pin.source) == (
        "demo/one",
        "demo/one",
        ref,
        "git",
    )
    assert bench.slept == []


@pytest.mark.parametrize("digits", [40, 7])
def test_a_commit_id_is_pinned_whole_or_short(
    bench: Bench, commits: list[str], digits: int
) -> None:
    assert bench.pin(commits[0][:digits]).commit_sha == commits[0]


def test_a_short_id_that_fits_two_commits_is_a_config_error(bench: Bench, root: Path) -> None:
    short = git(root / "demo" / "twins.git", "rev-parse", "twin0")[:7]
    with pytest.raises(ConfigError, match=rf"^config: .*{short}.*demo/twins.*more digits"):
        bench.pin(short, "demo/twins")


@pytest.mark.parametrize(
    ("repo", "ref", "status"),
    [
        ("demo/one", "nowhere", "ref_missing"),
        ("demo/one", "0" * 40, "ref_missing"),
        ("demo/one", "0123abc", "ref_missing"),
        ("demo/none", "main", "missing"),
        ("demo/empty", "main", "empty"),
        ("demo/empty", "HEAD", "empty"),
        ("demo/headless", "main", "ok"),
        ("demo/headless", "HEAD", "ref_missing"),
    ],
)
def test_what_the_server_says_is_a_status(bench: Bench, repo: str, ref: str, status: str) -> None:
    pin = bench.pin(ref, repo)
    assert pin.status == status
    assert (pin.commit_sha is not None) == (status == "ok")
    assert bench.slept == []


@pytest.mark.parametrize("name", ["refs/tags/noted", "main^{tree}"], ids=["tag-object", "tree"])
def test_an_id_of_something_else_than_a_commit_is_no_broken_proof(
    bench: Bench, root: Path, commits: list[str], name: str
) -> None:
    sha = git(root / "demo" / "one.git", "rev-parse", name)
    assert bench.pin(sha).commit_sha in (None, commits[1])


def test_a_private_repository_is_a_status_and_nothing_prompts(
    bench: Bench, upstream: Upstream
) -> None:
    upstream.add("private")
    assert bench.pin().status == "private"


@pytest.mark.parametrize(
    ("seconds", "commit"),
    [(1, 0), (10 * 86400, 0), (10 * 86400 + 1, 1), (10**7, 2)],
    ids=["just-after-the-first", "at-the-second", "just-after-the-second", "after-all"],
)
def test_as_of_takes_the_last_commit_before_an_instant(
    bench: Bench, commits: list[str], seconds: int, commit: int
) -> None:
    pin = bench.pin(as_of=FIRST_DAY + timedelta(seconds=seconds))
    assert pin.commit_sha == commits[commit]


def test_as_of_before_everything_is_ref_missing(bench: Bench) -> None:
    pin = bench.pin(as_of=FIRST_DAY)
    assert (pin.status, pin.reason) == ("ref_missing", "no_commit_yet")


def test_a_renamed_repository_is_followed_and_named_twice(
    bench: Bench, upstream: Upstream, commits: list[str]
) -> None:
    """BR-21"""
    upstream.git.aliases["demo/new"] = "demo/one"
    upstream.add("rename", r"/demo/one\.git", to="demo/new")
    pin = bench.pin()
    assert (pin.status, pin.repo, pin.resolved_repo) == ("renamed", "demo/one", "demo/new")
    assert pin.commit_sha == commits[2]
    assert bench.blobs(pin, BIG)[objects.blob_id(BIG)] == BIG


@pytest.mark.parametrize("location", ["http://127.0.0.1:1/demo/one.git", "/elsewhere/demo/one.git"])
def test_a_redirect_off_the_endpoint_is_not_followed(
    bench: Bench, upstream: Upstream, location: str
) -> None:
    upstream.add("redirect", "/git/", location=location + "/info/refs", status=301)
    pin = bench.pin()
    assert pin.commit_sha is None
    assert pin.status in ("missing", "unknown")
    assert not upstream.requests("other") or location.startswith("/")


# --- listing and blobs ---------------------------------------------------------------------------


def test_the_listing_rebuilds_to_the_root_tree(bench: Bench) -> None:
    pin = bench.pin()
    entries = bench.source.tree(pin)
    assert objects.tree_id(entries) == pin.tree_sha
    assert [entry.path for entry in entries] == sorted(tree(3))
    known = {entry.path: entry.size for entry in entries}
    assert known[b"link"] == len("../outside")
    assert known[b"sub"] is known[b"evals/big.json"] is None


def test_exactly_the_wanted_blobs_arrive_in_one_fetch(bench: Bench, upstream: Upstream) -> None:
    pin = bench.pin()
    upstream.log.reset()
    assert list(bench.blobs(pin, BIG).values()) == [BIG]
    assert bench.asked().count("POST git-upload-pack") <= 2
    upstream.log.reset()
    assert list(bench.blobs(pin, BIG).values()) == [BIG]
    assert upstream.requests() == []
    with (
        bench.source._mirror("demo/one").objects() as reader,
        pytest.raises(VaultError, match="missing"),
    ):
        reader.read(objects.blob_id(OTHER))


def test_an_unchanged_repository_costs_two_requests(bench: Bench, upstream: Upstream) -> None:
    bench.pin()
    upstream.log.reset()
    bench.pin()
    assert bench.asked() == ["GET refs", "POST git-upload-pack"]


def test_traffic_is_what_the_server_counted(bench: Bench, upstream: Upstream) -> None:
    bench.blobs(bench.pin(), BIG, OTHER)
    (host,) = bench.http.traffic.hosts().items()
    served = upstream.counts()["git"]
    assert host[0] == upstream.url.removeprefix("http://")
    assert host[1].requests == served["requests"] == len(upstream.requests())
    assert (
        served["bytes_out"] <= host[1].bytes_in <= served["bytes_out"] + 1000 * served["requests"]
    )


def test_every_pin_is_held_by_a_ref(bench: Bench, commits: list[str]) -> None:
    bench.pin("light")
    bench.pin("main")
    listed = git(bench.vault.mirror("demo/one"), "for-each-ref", "--format=%(objectname)")
    assert set(listed.split()) == {commits[0], commits[2]}


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_local_mirror_without_filters_serves_too(
    bench: Bench, tmp_path: Path, scheme: str
) -> None:
    local = tmp_path / "with space" / "local.git"
    write_repo(local, [tree(1)])
    (local / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
    bench.mirrors["demo/one"] = f"{scheme}{local}"
    pin = bench.pin()
    assert list(bench.blobs(pin, OTHER).values()) == [OTHER]
    assert bench.upstream.requests() == []
    assert list(bench.http.traffic.hosts()) == ["local"]


def test_a_local_mirror_that_is_not_there_is_missing(bench: Bench, tmp_path: Path) -> None:
    bench.mirrors["demo/one"] = str(tmp_path / "nowhere.git")
    assert bench.pin().status == "missing"


@pytest.mark.parametrize("leave", ["nothing", "another-source"])
def test_a_recorded_pin_is_enough_to_fill_a_mirror_that_lacks_it(bench: Bench, leave: str) -> None:
    """A deleted mirror, and a pin that the other source made, need no hand."""
    pin = bench.pin()
    shutil.rmtree(bench.vault.mirror("demo/one"))
    if leave == "another-source":
        pin = replace(pin, source="github", repo_id=7)
    assert objects.tree_id(bench.source.tree(pin)) == pin.tree_sha
    assert list(bench.blobs(pin, BIG).values()) == [BIG]


# --- faults --------------------------------------------------------------------------------------


def test_a_passing_fault_is_asked_again(
    bench: Bench, upstream: Upstream, commits: list[str]
) -> None:
    upstream.add("status", "info/refs", times=2, status=503)
    assert bench.pin().commit_sha == commits[2]
    assert len(bench.slept) == 2
    (traffic,) = bench.http.traffic.hosts().values()
    assert (traffic.retries, traffic.requests) == (2, len(upstream.requests("git")))


@pytest.mark.parametrize(
    ("kind", "params", "cause"),
    [
        ("status", {"status": 500}, "server_error"),
        ("status", {"status": 429}, "throttled"),
        ("reset", {"bytes": -1}, "reset"),
        ("stall", {"bytes": -1}, "stalled"),
    ],
)
def test_a_lasting_fault_is_unknown_with_its_cause(
    upstream: Upstream, tmp_path: Path, kind: str, params: dict[str, int], cause: str
) -> None:
    bench = Bench(upstream, tmp_path, tries=1)
    upstream.add(kind, "/git/", **params)
    pin = bench.pin()
    assert (pin.status, pin.reason, pin.commit_sha) == ("unknown", cause, None)


@pytest.mark.parametrize("repo", ["demo/one", "demo/ssl-certificate"])
def test_a_cause_does_not_depend_on_the_name_asked_for(bench: Bench, repo: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        source = bench.open(url, tries=1)
        pin = source.pin(RepoSpec(repo, "main", "evals", "runs"))
    assert (pin.status, pin.reason) == ("unknown", "refused")


@pytest.mark.parametrize("kind", ["wrong_bytes", "close_early", "garbage"])
def test_damage_in_transit_never_becomes_a_pin(bench: Bench, upstream: Upstream, kind: str) -> None:
    upstream.add(kind, "git-upload-pack$", after=1)
    pin = bench.pin()
    assert (pin.status, pin.commit_sha) == ("unknown", None)
    upstream.faults.clear()
    assert bench.pin().status == "ok"


def test_leftovers_of_a_killed_fetch_are_cleared(bench: Bench, commits: list[str]) -> None:
    bench.pin("light")
    mirror = bench.vault.mirror("demo/one")
    for name in (
        "shallow.lock",
        "packed-refs.lock",
        "config.lock",
        f"refs/benchproof/pins/{commits[2]}.lock",
    ):
        (mirror / name).touch()
    (mirror / "objects" / "pack" / "tmp_pack_AbCdEf").write_bytes(b"half a pack")
    assert bench.pin().commit_sha == commits[2]
    assert list(mirror.rglob("*.lock")) == []


def loosen(mirror: Path) -> None:
    """Turn a mirror's packs into loose objects, which can be damaged one by one."""
    for pack in list((mirror / "objects" / "pack").glob("*.pack")):
        data = pack.read_bytes()
        for part in pack.parent.glob(f"{pack.stem}.*"):
            part.unlink()
        git(mirror, "unpack-objects", "-q", stdin=data)


def damage(mirror: Path, sha: str, kind: str, data: bytes) -> None:
    loose = mirror / "objects" / sha[:2] / sha[2:]
    loose.unlink()
    loose.write_bytes(zlib.compress(f"{kind} {len(data)}\0".encode() + data))


def test_wrong_bytes_in_the_mirror_are_a_proof_error(bench: Bench) -> None:
    """Law 1: a byte that doesn't hash to its id stops the job and is named by both ids."""
    pin = bench.pin()
    bench.blobs(pin, BIG)
    mirror = bench.vault.mirror("demo/one")
    loosen(mirror)
    damage(mirror, objects.blob_id(BIG), "blob", OTHER)
    with pytest.raises(ProofError) as caught:
        bench.blobs(pin, BIG)
    assert (caught.value.expected, caught.value.actual) == tuple(map(objects.blob_id, (BIG, OTHER)))
    assert pin.tree_sha is not None
    damage(mirror, pin.tree_sha, "tree", b"")
    with pytest.raises(ProofError, match=pin.tree_sha):
        bench.source.tree(pin)


@pytest.mark.parametrize("what", ["cut", "zeros", "gone", "config"])
def test_a_mirror_damaged_on_disk_is_a_clear_error(bench: Bench, what: str) -> None:
    """It names the folder to delete, and neither hangs nor leaves as an exception of Python's."""
    pin = bench.pin()
    mirror = bench.vault.mirror("demo/one")
    if what == "config":
        (mirror / "config").write_text("[core\n")
    else:
        for pack in (mirror / "objects" / "pack").glob("*.pack"):
            data = pack.read_bytes()
            pack.chmod(0o600)
            pack.write_bytes(
                {"cut": data[:40], "zeros": data[:12] + bytes(len(data) - 12), "gone": b""}[what]
            )
    with pytest.raises(BenchproofError) as caught:
        bench.source.tree(pin)
    assert str(mirror) in str(caught.value)


# --- nobody's settings ---------------------------------------------------------------------------


def test_no_lazy_fetch_even_with_a_remote_to_ask(bench: Bench, upstream: Upstream) -> None:
    """git before 2.45 doesn't know GIT_NO_LAZY_FETCH; the protocol is closed to it instead."""
    bench.pin()
    mirror = bench.vault.mirror("demo/one")
    git(mirror, "config", "remote.origin.url", f"{upstream.url}/git/demo/one.git")
    git(mirror, "config", "remote.origin.promisor", "true")
    upstream.log.reset()
    handle = bench.source._mirror("demo/one")
    with handle.objects() as reader, pytest.raises(VaultError):
        reader.read(objects.blob_id(BIG))
    assert handle.sizes([objects.blob_id(BIG)]) == {}
    assert upstream.requests() == []


def test_settings_of_the_user_change_nothing(
    upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commits: list[str]
) -> None:
    home, trap = tmp_path / "home", tmp_path / "sprung"
    (home / "git").mkdir(parents=True)
    hostile = f"""
[url "http://127.0.0.1:1/"]
    insteadOf = {upstream.url}
[credential]
    helper = "!touch {trap}; echo username=u; echo password=p"
[http]
    extraHeader = "X-Api-Key: SECRET"
    cookieFile = {home}/cookies
[core]
    askPass = "touch {trap}"
"""
    for name in (".gitconfig", "git/config"):
        (home / name).write_text(hostile)
    (home / ".netrc").write_text(f"machine {upstream.host} login u password p\n")
    script = home / "askpass"
    script.write_text(f"#!/bin/sh\ntouch {trap}\necho p\n")
    script.chmod(0o700)
    for name, value in {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "url.http://127.0.0.1:1/.insteadOf",
        "GIT_CONFIG_VALUE_0": upstream.url,
        "GIT_CONFIG_PARAMETERS": "'http.extraheader=X-Api-Key: SECRET'",
        "GIT_ASKPASS": str(script),
        "SSH_ASKPASS": str(script),
        "GIT_DIR": str(tmp_path / "nowhere"),
        "GIT_TRACE": str(trap),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "nowhere"),
    }.items():
        monkeypatch.setenv(name, value)
    bench = Bench(upstream, tmp_path)
    assert bench.pin().commit_sha == commits[2]
    upstream.add("private")
    assert bench.pin().status == "private"
    assert not trap.exists()
    assert not any(r.api_key or r.cookie for r in upstream.requests())
    assert not any(r.authorization for r in upstream.requests() if "private" not in r.faults)


def test_nothing_outside_the_vault_is_written(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    working = tmp_path / "cwd"
    working.mkdir()
    monkeypatch.chdir(working)
    bench.blobs(bench.pin(as_of=FIRST_DAY + timedelta(days=1)), BIG)
    assert os.listdir(working) == []
    assert os.listdir(bench.vault.home()) == []
    assert {path.name for path in bench.vault.root.iterdir()} == {"history", "home", "mirrors"}


def test_what_git_said_stays_private_in_the_vault(bench: Bench, upstream: Upstream) -> None:
    upstream.add("status", "git-upload-pack$", after=1, status=418)
    assert bench.pin().status == "unknown"
    kept = bench.vault.mirror("demo/one") / "benchproof-last-error.txt"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_the_same_content_gives_the_same_ids() -> None:
    """The test's own arithmetic: a blob id is SHA-1 over a header and the content."""
    assert objects.blob_id(BIG) == hashlib.sha1(b"blob %d\0" % len(BIG) + BIG).hexdigest()


def test_a_flood_is_cut_off_and_not_asked_for_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than any audit needs ends the command: a hostile server must not fill the disk."""
    monkeypatch.setattr(gitcmd, "MAX_ANSWER", 1000)
    pin = bench.pin()
    assert (pin.status, pin.reason) == ("unknown", "too_large")
    assert bench.slept == []


def test_a_tree_bomb_is_too_large_before_it_is_listed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = bench.pin()
    monkeypatch.setattr(git_module, "MAX_LISTING", 3)
    with pytest.raises(Unreachable) as caught:
        bench.source.tree(pin)
    assert caught.value.cause == "too_large"


def test_a_403_passes_and_is_no_private_repository(bench: Bench) -> None:
    """Limits, abuse blocks and proxies answer 403; recorded as `private` it would stand all day (law 3)."""
    fault = bench.upstream.add("status", "git/demo/one.git", status=403)
    pin = bench.pin()
    assert (pin.status, pin.reason) == ("unknown", "throttled")
    bench.upstream.faults.remove(fault)
    assert bench.pin().status == "ok"
