"""The embedded upstream acts as GitHub, signer and storage, and its faults do what they say."""

from __future__ import annotations

import concurrent.futures
import gzip
import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from family import Family, Handle, RepoTree, build_family, write_repo
from family.tree import git_environment
from upstream import KINDS, TOKEN, Fault, Upstream

REPO = "demo/scbench"
AGENT = {"User-Agent": "test"}


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Family:
    """A small family with odd tree entries, one repository that moved on and an empty one."""
    return build_family(
        tmp_path_factory.mktemp("family"),
        small=True,
        planted=True,
        variants={"scbench": "moved", "epibench": "empty"},
    )


@pytest.fixture(scope="module")
def server(family: Family) -> Iterator[Upstream]:
    """One server for all tests."""
    with Upstream(family.root, family) as upstream:
        yield upstream
        assert upstream.errors == []


@pytest.fixture
def upstream(server: Upstream) -> Iterator[Upstream]:
    """The server without faults, names or records of other tests."""
    server.reset()
    server.git.aliases.clear()
    server.github.allowance.anonymous = 100_000
    yield server
    server.reset()


class Answer:
    """What came back: status, headers by lower-case name, body."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {key.lower(): value for key, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def ask(
    upstream: Upstream,
    path: str,
    method: str = "GET",
    body: bytes | None = None,
    timeout: float = 5,
    **headers: str,
) -> Answer:
    """Send one request; `path` may be a whole URL. Header names are given with underscores."""
    parts = urlsplit(path)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    named = AGENT | {key.replace("_", "-"): value for key, value in headers.items()}
    connection = http.client.HTTPConnection(upstream.host, upstream.port, timeout=timeout)
    try:
        connection.request(method, target, body, named)
        with connection.getresponse() as response:
            return Answer(response)
    finally:
        connection.close()


def git(*arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    """Run git without settings of the user."""
    environment = git_environment() | {"GIT_ASKPASS": "true"}
    return subprocess.run(
        ["git", *map(str, arguments)], env=environment, capture_output=True, check=check
    )


def signed(upstream: Upstream, handle: str) -> str:
    """Return a signed URL."""
    body = json.dumps({"path": handle}).encode()
    answer = ask(upstream, "/sign", "POST", body, Content_Type="application/json")
    assert answer.status == 200
    url: str = answer.json["data"]["url"]
    return url


def smallest(family: Family) -> str:
    """Return the smallest handle that can be had."""
    found = [entry for entry in family.handles.values() if entry.status == "reachable"]
    return min(found, key=lambda entry: entry.size).handle


# Git


def test_ls_remote_takes_two_requests(upstream: Upstream, family: Family) -> None:
    """ls-remote over protocol v2 names the commit of main."""
    url = f"{upstream.endpoints()['git']}/{REPO}"
    out = git("-c", "protocol.version=2", "ls-remote", url, "refs/heads/main").stdout.decode()
    assert out.split() == [family.repos["scbench"].commit, "refs/heads/main"]
    records = upstream.requests("git")
    assert [record.method for record in records] == ["GET", "POST"]
    assert {record.git_protocol for record in records} == {"version=2"}


def test_blobless_clone_and_single_blobs(
    upstream: Upstream, family: Family, tmp_path: Path
) -> None:
    """A filter leaves blobs out; afterwards exactly the wanted ones come, in one request."""
    url = f"{upstream.endpoints()['git']}/{REPO}.git"
    mirror = tmp_path / "mirror"
    git("clone", "--bare", "--quiet", "--filter=blob:none", "--depth=1", url, mirror)
    missing = git("-C", mirror, "rev-list", "--objects", "--missing=print", "HEAD").stdout.split()
    absent = [name[1:].decode() for name in missing if name.startswith(b"?")]
    rows = git("-C", mirror, "ls-tree", "-r", "HEAD").stdout.decode().splitlines()
    blobs = {row.split()[2] for row in rows}
    assert set(absent) == blobs
    few = sorted(blobs)[:5]
    upstream.log.reset()
    command = ["-C", str(mirror), "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet"]
    git(*command, "--no-tags", "--no-write-fetch-head", "--filter=blob:none", "origin", *few)
    assert upstream.counts()["git"]["requests"] <= 3
    kept = git("-C", mirror, "cat-file", "--batch-all-objects", "--batch-check").stdout.decode()
    assert set(few) <= {row.split()[0] for row in kept.splitlines() if " blob " in row}
    assert len([row for row in kept.splitlines() if " blob " in row]) == len(few)


def test_older_protocols(upstream: Upstream, family: Family, tmp_path: Path) -> None:
    """Protocol v0 works, too."""
    url = f"{upstream.endpoints()['git']}/{REPO}"
    git("-c", "protocol.version=0", "clone", "--quiet", "--bare", url, tmp_path / "c")
    out = git("-C", tmp_path / "c", "rev-parse", "HEAD").stdout.decode().strip()
    assert out == family.repos["scbench"].commit


def test_large_requests_are_read(tmp_path: Path) -> None:
    """Bodies that git sends in gzip, or in chunks when they outgrow its buffer, are understood."""
    tree = RepoTree()
    for number in range(1_500):
        tree.put(f"{number}.txt", f"{number}\n")
    write_repo(tmp_path / "o" / "many.git", [tree])
    with Upstream(tmp_path) as upstream:
        for buffer in (65_536, 1 << 20):
            mirror = tmp_path / f"mirror-{buffer}"
            url = f"{upstream.endpoints()['git']}/o/many"
            git("clone", "--bare", "--quiet", "--filter=blob:none", url, mirror)
            rows = git("-C", mirror, "ls-tree", "-r", "HEAD").stdout.decode().splitlines()
            blobs = sorted({row.split()[2] for row in rows})
            fetch = ["fetch", "--quiet", "--no-tags", "--filter=blob:none", "origin"]
            git("-C", mirror, "-c", f"http.postBuffer={buffer}", *fetch, *blobs)
            missing = git("-C", mirror, "rev-list", "--objects", "--missing=print", "HEAD").stdout
            assert b"?" not in missing
        posted = [record.bytes_in for record in upstream.requests("git", "POST")]
    assert max(posted) > 65_536


def test_git_refusals(upstream: Upstream, family: Family) -> None:
    """A missing repository, a private one, bad credentials and a push are refused."""
    base = f"{upstream.endpoints()['git']}"
    assert git("ls-remote", f"{base}/demo/none", check=False).returncode == 128
    refs = "/info/refs?service=git-upload-pack"
    assert ask(upstream, f"/git/demo/none.git{refs}").status == 404
    assert ask(upstream, f"/git/{REPO}{refs}", Authorization="Basic eDp5").status == 401
    assert ask(upstream, f"/git/{REPO}/info/refs?service=git-receive-pack").status == 403
    upstream.add("private", REPO)
    answer = ask(upstream, f"/git/{REPO}{refs}")
    assert (answer.status, "www-authenticate" in answer.headers) == (401, True)
    assert ask(upstream, f"/api/repos/{REPO}").status == 404


def test_paths_stay_below_the_root(upstream: Upstream) -> None:
    """Names that climb out of the root are no repositories."""
    refs = "info/refs?service=git-upload-pack"
    for path in (f"/git/../demo/{refs}", f"/git/%2e%2e/demo/{refs}", f"/git/demo/..%2fx/{refs}"):
        assert ask(upstream, path).status == 404


# REST and raw


def test_commit_and_repository(upstream: Upstream, family: Family) -> None:
    """Branch, full and short ids lead to a commit; answers carry the limits."""
    info = family.repos["scbench"]
    for ref in ("main", "heads/main", info.commit, info.commit[:10]):
        answer = ask(upstream, f"/api/repos/{REPO}/commits/{ref}")
        assert answer.json["sha"] == info.commit
    tree = git("--git-dir", info.path, "rev-parse", "main^{tree}").stdout.decode().strip()
    assert answer.json["commit"]["tree"]["sha"] == tree
    assert answer.json["commit"]["committer"]["date"] == "2026-08-11T00:00:00Z"
    assert answer.json["parents"] == [{"sha": info.commits[0]}]
    limits = {"limit", "remaining", "reset", "used", "resource"}
    assert limits <= {key.removeprefix("x-ratelimit-") for key in answer.headers}
    assert ask(upstream, f"/api/repos/{REPO}/git/commits/{info.commit}").json["tree"]["sha"] == tree
    whole = ask(upstream, f"/api/repos/{REPO}").json
    assert (whole["full_name"], whole["default_branch"]) == (REPO, "main")
    assert isinstance(whole["id"], int)
    plain = ask(upstream, f"/api/repos/{REPO}/commits/main", Accept="application/vnd.github.sha")
    assert plain.body.decode() == info.commit
    again = ask(
        upstream,
        f"/api/repos/{REPO}",
        If_None_Match=ask(upstream, f"/api/repos/{REPO}").headers["etag"],
    )
    assert (again.status, again.body) == (304, b"")


def test_history_before_a_date(upstream: Upstream, family: Family) -> None:
    """`until` leaves later commits out, pages are linked."""
    info = family.repos["scbench"]
    listing = f"/api/repos/{REPO}/commits?sha=main"
    assert [c["sha"] for c in ask(upstream, listing).json] == list(reversed(info.commits))
    before = ask(upstream, f"{listing}&until=2026-08-05T00:00:00Z&per_page=1")
    assert [c["sha"] for c in before.json] == [info.commits[0]]
    page = ask(upstream, f"{listing}&per_page=1")
    assert 'rel="next"' in page.headers["link"]
    assert ask(upstream, f"{listing}&until=2026-01-01T00:00:00Z").json == []


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/api/repos/demo/none", 404, "Not Found"),
        ("/api/repos/demo/epibench/commits/main", 409, "Git Repository is empty."),
        ("/api/repos/demo/epibench/git/trees/main", 409, "Git Repository is empty."),
        (f"/api/repos/{REPO}/commits/nope", 422, "No commit found for SHA: nope"),
        (f"/api/repos/{REPO}/git/trees/{'0' * 40}", 404, "Not Found"),
        ("/api/nothing", 404, "Not Found"),
    ],
)
def test_rest_errors(upstream: Upstream, path: str, status: int, text: str) -> None:
    """Errors have GitHub's status and wording."""
    answer = ask(upstream, path)
    assert (answer.status, answer.json["message"]) == (status, text)


def test_recursive_tree_is_ls_tree(upstream: Upstream, family: Family) -> None:
    """A recursive tree lists what git lists, links, submodules and odd bytes included."""
    for name in ("scbench", "scbench-long"):
        info = family.repos[name]
        answer = ask(upstream, f"/api/repos/demo/{name}/git/trees/{info.commit}?recursive=1").json
        rows = git("--git-dir", info.path, "ls-tree", "-r", "-t", "-z", "main").stdout.split(b"\0")
        expected = []
        for row in filter(None, rows):
            head, path = row.split(b"\t", 1)
            mode, kind, sha = head.decode().split()
            expected.append((path.decode("utf-8", "replace"), mode, kind, sha))
        assert [(e["path"], e["mode"], e["type"], e["sha"]) for e in answer["tree"]] == expected
        assert answer["truncated"] is False
    modes = {entry["path"]: entry for entry in answer["tree"]}
    assert (modes["vendor/helper"]["type"], "size" in modes["vendor/helper"]) == ("commit", False)
    top = ask(upstream, f"/api/repos/demo/{name}/git/trees/main").json["tree"]
    assert {entry["path"] for entry in top} == {path.split("/")[0] for path in modes}


def test_truncated_trees(upstream: Upstream) -> None:
    """Recursive trees are cut on demand or over the limit; sub-trees answer in full."""
    url = f"/api/repos/{REPO}/git/trees/main"
    fault = upstream.add("truncate_tree", "/git/trees/", keep=7)
    cut = ask(upstream, f"{url}?recursive=1").json
    assert (len(cut["tree"]), cut["truncated"]) == (7, True)
    assert ask(upstream, url).json["truncated"] is False
    fault.params["subtrees"] = True
    fault.params["keep"] = 2
    assert ask(upstream, url).json["truncated"] is True
    upstream.reset()
    upstream.github.tree_limit = 10
    assert ask(upstream, f"{url}?recursive=1").json["truncated"] is True
    upstream.github.tree_limit = 100_000


def test_raw_by_commit_and_branch(upstream: Upstream, family: Family) -> None:
    """Raw content is the blob at the commit; a stale branch is the commit before."""
    info = family.repos["scbench"]
    path = "evals/dimensionality_reduction/demo_dr_01_sentinels.json"
    bodies = [ask(upstream, f"/raw/{REPO}/{sha}/{path}").body for sha in info.commits]
    assert bodies[0] != bodies[1]
    assert ask(upstream, f"/raw/{REPO}/main/{path}").body == bodies[1]
    assert ask(upstream, f"/raw/{REPO}/refs/heads/main/{path}").body == bodies[1]
    upstream.add("stale_branch", "/raw/")
    assert ask(upstream, f"/raw/{REPO}/main/{path}").body == bodies[0]
    assert ask(upstream, f"/raw/{REPO}/{info.commits[1]}/{path}").body == bodies[1]
    missing = ask(upstream, f"/raw/{REPO}/main/none.json")
    assert (missing.status, missing.body) == (404, b"404: Not Found")
    odd = ask(upstream, "/raw/demo/scbench-long/main/docs/caf%E9.txt")
    assert odd.body == b"A name in Latin-1.\n"


def test_tokens_and_limits(upstream: Upstream) -> None:
    """An unknown token is 401; without one, REST and raw share an allowance and then refuse."""
    assert ask(upstream, f"/api/repos/{REPO}", Authorization="Bearer nope").status == 401
    upstream.reset()
    upstream.github.allowance.anonymous = 2
    assert ask(upstream, f"/api/repos/{REPO}").headers["x-ratelimit-remaining"] == "1"
    assert ask(upstream, f"/raw/{REPO}/main/README.md").status == 200
    answer = ask(upstream, f"/api/repos/{REPO}")
    assert (answer.status, answer.headers["x-ratelimit-remaining"]) == (403, "0")
    assert int(answer.headers["x-ratelimit-reset"]) > time.time()
    assert ask(upstream, f"/raw/{REPO}/main/README.md").status == 429
    assert ask(upstream, "/api/rate_limit").json["rate"]["remaining"] == 0
    assert ask(upstream, f"/api/repos/{REPO}", Authorization=f"Bearer {TOKEN}").status == 200


def test_limit_faults(upstream: Upstream) -> None:
    """`rate_limit` counts what it matches; `secondary_limit` says when to come back."""
    upstream.add("rate_limit", "/api/", allowance=2, limit=60, reset_in_s=5)
    answers = [ask(upstream, f"/api/repos/{REPO}") for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 403]
    assert [answer.headers["x-ratelimit-remaining"] for answer in answers] == ["1", "0", "0"]
    assert 0 < int(answers[2].headers["x-ratelimit-reset"]) - time.time() <= 6
    upstream.reset()
    upstream.add("secondary_limit", "/api/", times=1, retry_after=7)
    refused = ask(upstream, f"/api/repos/{REPO}")
    assert (refused.status, refused.headers["retry-after"]) == (403, "7")
    assert "secondary rate limit" in refused.json["message"]
    assert ask(upstream, f"/api/repos/{REPO}").status == 200


def test_rename(upstream: Upstream, family: Family) -> None:
    """The old name is answered 301 by REST and git, the new one serves the same repository."""
    number = ask(upstream, f"/api/repos/{REPO}").json["id"]
    upstream.rename(REPO, "demo/scbench-two")
    moved = ask(upstream, f"/api/repos/{REPO}/commits/main")
    assert (moved.status, moved.json["message"]) == (301, "Moved Permanently")
    assert urlsplit(moved.headers["location"]).path == f"/api/repositories/{number}/commits/main"
    assert ask(upstream, moved.headers["location"]).json["sha"] == family.repos["scbench"].commit
    whole = ask(upstream, f"/api/repositories/{number}").json
    assert (whole["full_name"], whole["id"]) == ("demo/scbench-two", number)
    out = git("ls-remote", f"{upstream.endpoints()['git']}/{REPO}", "HEAD").stdout.decode()
    assert out.split()[0] == family.repos["scbench"].commit


# Signer and storage


def test_signer(upstream: Upstream, family: Family) -> None:
    """200 with a URL, 400 for what is refused or unknown, 401 with any Authorization."""
    refused = next(h for h, entry in family.handles.items() if entry.status == "refused")
    for handle in (refused, "latch://1.node", "nonsense"):
        body = json.dumps({"path": handle}).encode()
        assert ask(upstream, "/sign", "POST", body).status == 400
    assert ask(upstream, "/sign", "POST", b"not json").status == 400
    body = json.dumps({"path": smallest(family)}).encode()
    assert ask(upstream, "/sign", "POST", body, Authorization="x").status == 401
    assert ask(upstream, "/sign").status == 405
    assert "X-Amz-Signature=" in signed(upstream, smallest(family))


def test_storage_ranges(upstream: Upstream, family: Family) -> None:
    """Ranges, conditions and refusals are S3's."""
    handle = smallest(family)
    url, size = signed(upstream, handle), family.handles[handle].size
    part = ask(upstream, url, Range="bytes=0-7")
    assert (part.status, part.headers["content-range"]) == (206, f"bytes 0-7/{size}")
    tag = part.headers["etag"]
    whole = ask(upstream, url)
    assert (whole.status, len(whole.body)) == (200, size)
    entry = upstream.storage.object_of(handle)
    assert hashlib.sha256(whole.body).hexdigest() == entry.sha256()
    assert ask(upstream, url, Range=f"bytes={size - 3}-").body == whole.body[-3:]
    assert ask(upstream, url, Range="bytes=-5").body == whole.body[-5:]
    assert ask(upstream, url, Range="bytes=100-199", If_Match=tag).body == whole.body[100:200]
    assert ask(upstream, url, Range="bytes=1-2", If_Match='"other"').status == 412
    assert ask(upstream, url, Range="bytes=1-2", If_Range='"other"').status == 200
    past = ask(upstream, url, Range=f"bytes={size}-")
    assert (past.status, past.headers["content-range"]) == (416, f"bytes */{size}")
    assert ask(upstream, url, "HEAD").status == 403
    for refused in (
        ask(upstream, url, Authorization="x"),
        ask(upstream, url, Cookie="x"),
        ask(upstream, url, X_Api_Key="x"),
    ):
        assert refused.status == 400
    assert ask(upstream, urlsplit(url).path).status == 403
    assert ask(upstream, url.replace("X-Amz-Signature=", "X-Amz-Signature=0")).status == 403
    log = upstream.requests("storage")
    assert all("?" not in record.path and not record.query for record in log)
    assert sum(record.authorization for record in log) == 1


def test_signed_urls_expire(upstream: Upstream, family: Family) -> None:
    """A URL dies when its time is over, or at once when told; a new one works."""
    handle = smallest(family)
    url = signed(upstream, handle)
    upstream.storage.expire_urls()
    dead = ask(upstream, url)
    assert (dead.status, b"Request has expired" in dead.body) == (403, True)
    url = signed(upstream, handle)
    assert ask(upstream, url, Range="bytes=0-0").status == 206
    upstream.storage.clock_offset_s = 3601
    assert ask(upstream, url, Range="bytes=0-0").status == 403
    upstream.storage.clock_offset_s = 0


def test_objects_are_never_whole(upstream: Upstream) -> None:
    """A large made-up object has a magic, a tail and an HDF5 header that states its size."""
    handle = Handle("latch://76.node", "reachable", 9_631_000_000, "hdf5")
    upstream.storage.share(handle.handle, size=handle.size)
    url = signed(upstream, handle.handle)
    head = ask(upstream, url, Range="bytes=0-99").body
    assert head.startswith(b"\x89HDF\r\n\x1a\n")
    assert int.from_bytes(head[40:48], "little") == handle.size
    tail = ask(upstream, url, Range=f"bytes={handle.size - 200_000}-").body
    assert len(tail) == 200_000
    entry = upstream.storage.object_of(handle.handle)
    assert entry.synthetic(handle.size - 70_000, 70_000) == tail[-70_000:]
    other = upstream.storage.replace_object(handle.handle)
    assert other.size == handle.size
    assert other.synthetic(0, 4096) != entry.synthetic(0, 4096)
    again = ask(upstream, url, Range="bytes=0-0")
    assert again.headers["etag"] == other.content().etag != entry.content().etag


def test_objects_from_files_and_bytes(upstream: Upstream, tmp_path: Path) -> None:
    """A handle can stand for a real file or given bytes."""
    (tmp_path / "x.h5ad").write_bytes(b"real content")
    upstream.storage.share("latch://77.node", path=tmp_path / "x.h5ad")
    assert ask(upstream, signed(upstream, "latch://77.node")).body == b"real content"
    upstream.storage.share("latch://78.node", data=b"given", container="text")
    assert ask(upstream, signed(upstream, "latch://78.node"), Range="bytes=1-2").body == b"iv"
    upstream.storage.refuse("latch://77.node")
    assert ask(upstream, "/sign", "POST", b'{"path": "latch://77.node"}').status == 400


# Faults

README = f"/raw/{REPO}/main/README.md"


def test_unknown_kind() -> None:
    """A kind that doesn't exist is named together with those that do."""
    with pytest.raises(ValueError, match="known: latency"):
        Fault("nonsense")


def test_times_and_after(upstream: Upstream) -> None:
    """A fault lets `after` requests pass and then acts `times` times."""
    upstream.add("status", "GET /raw/", times=2, after=1, status=503, headers={"Retry-After": "1"})
    found = [ask(upstream, README) for _ in range(4)]
    assert [answer.status for answer in found] == [200, 503, 503, 200]
    assert found[1].headers["retry-after"] == "1"
    assert [record.faults for record in upstream.requests("raw")] == [
        [],
        ["status"],
        ["status"],
        [],
    ]


def test_chance_and_spread(upstream: Upstream) -> None:
    """A fault may act on a share of the requests and end each after another number of bytes."""
    upstream.add("status", "GET /raw/", chance=0.3, seed=1, status=503)
    acted = [ask(upstream, README).status == 503 for _ in range(60)]
    assert 8 <= sum(acted) <= 28
    ends = {Fault("reset", bytes=10, spread=90, seed=seed).limit() for seed in range(50)}
    assert 10 <= min(ends) < max(ends) <= 100


def test_answers_that_break_off(upstream: Upstream) -> None:
    """Resets, early closes and stalls end an answer after the bytes that were asked for."""
    upstream.add("reset", "/raw/", times=1, bytes=-1)
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        ask(upstream, README)
    upstream.add("reset", "/raw/", times=1, bytes=10)
    with pytest.raises((ConnectionError, http.client.IncompleteRead)):
        ask(upstream, README)
    upstream.add("close_early", "/raw/", times=1, bytes=10)
    with pytest.raises(http.client.IncompleteRead) as early:
        ask(upstream, README)
    assert len(early.value.partial) == 10
    upstream.add("stall", "/raw/", times=1, bytes=10, seconds=5)
    with pytest.raises(TimeoutError):
        ask(upstream, README, timeout=0.3)
    assert ask(upstream, README).status == 200


def test_slow_answers(upstream: Upstream) -> None:
    """Latency waits once, drip between pieces, `latency_s` before every answer."""
    upstream.add("latency", "/raw/", times=1, seconds=0.2)
    began = time.monotonic()
    ask(upstream, README)
    assert time.monotonic() - began >= 0.2
    upstream.add("pace", "/raw/", times=1, rate=4 * len(ask(upstream, README).body))
    began = time.monotonic()
    ask(upstream, README)
    assert time.monotonic() - began >= 0.15
    upstream.add("drip", "/raw/", times=1, chunk=100, interval=0.05)
    began = time.monotonic()
    size = len(ask(upstream, README).body)
    assert time.monotonic() - began >= 0.05 * (size // 100)
    upstream.latency_s = 0.1
    began = time.monotonic()
    ask(upstream, README)
    upstream.latency_s = 0.0
    assert time.monotonic() - began >= 0.1


def test_altered_answers(upstream: Upstream, family: Family) -> None:
    """Wrong bytes keep the length, gzip is undone by the reader, garbage is no JSON."""
    right = ask(upstream, README).body
    upstream.add("wrong_bytes", "/raw/", times=1)
    wrong = ask(upstream, README).body
    assert len(wrong) == len(right)
    assert sum(a != b for a, b in zip(right, wrong, strict=True)) == 1
    upstream.add("wrong_bytes", "/raw/", times=1, body="other")
    assert ask(upstream, README).body == b"other"
    upstream.add("gzip", "/raw/", times=1)
    squeezed = ask(upstream, README)
    assert squeezed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(squeezed.body) == right
    upstream.add("edit", "/raw/", times=1, action=bytes.upper)
    assert ask(upstream, README).body == right.upper()
    upstream.add("headers", "/raw/", times=1, headers={"Set-Cookie": "a=b"})
    upstream.add("no_length", "/raw/", times=1)
    unsized = ask(upstream, README)
    assert (unsized.body, unsized.headers["set-cookie"]) == (right, "a=b")
    assert "content-length" not in unsized.headers
    upstream.add("garbage", "/api/", times=1)
    assert ask(upstream, f"/api/repos/{REPO}").body.startswith(b"<html>")
    upstream.add("redirect", "/raw/", times=1, location="/raw/elsewhere", status=307)
    answer = ask(upstream, README)
    assert (answer.status, answer.headers["location"]) == (307, f"{upstream.url}/raw/elsewhere")
    upstream.add("gone", f"/{REPO}", times=3)
    paths = (f"/api/repos/{REPO}", README, f"/git/{REPO}/info/refs?service=git-upload-pack")
    assert [ask(upstream, path).status for path in paths] == [404, 404, 404]


def test_storage_faults(upstream: Upstream, family: Family) -> None:
    """Ranges that are ignored or wrong, and objects that vanish, expire or change."""
    handle = smallest(family)
    url, size = signed(upstream, handle), family.handles[handle].size
    upstream.add("ignore_range", "/storage/", times=1)
    whole = ask(upstream, url, Range="bytes=5-9")
    assert (whole.status, len(whole.body)) == (200, size)
    upstream.add("wrong_range", "/storage/", times=1, shift=2)
    assert ask(upstream, url, Range="bytes=5-9").headers["content-range"] == f"bytes 7-11/{size}"
    upstream.add("wrong_total", "/storage/", times=1)
    shown = ask(upstream, url, Range="bytes=5-9").headers["content-range"]
    assert shown == f"bytes 5-9/{size + 5}"
    for kind, status in (("expired", 403), ("denied", 403), ("missing", 404)):
        upstream.add(kind, "/storage/", times=1)
        assert ask(upstream, url).status == status
    before = ask(upstream, url, Range="bytes=0-0").headers["etag"]
    upstream.add("replaced", "/storage/")
    assert ask(upstream, url, Range="bytes=0-0", If_Match=before).status == 412


def test_endless_body(upstream: Upstream) -> None:
    """A huge body goes on until the reader has had enough."""
    upstream.add("huge", "/api/", times=1)
    connection = http.client.HTTPConnection(upstream.host, upstream.port, timeout=5)
    connection.request("GET", f"/api/repos/{REPO}", headers=AGENT)
    response = connection.getresponse()
    assert len(response.read(3_000_000)) == 3_000_000
    response.close()
    connection.close()
    assert ask(upstream, f"/api/repos/{REPO}").status == 200


def test_action(upstream: Upstream, family: Family, tmp_path: Path) -> None:
    """`call` lets a test act between two requests, for example move a branch."""
    seen: list[str] = []
    upstream.add("call", "/raw/", times=1, action=lambda request: seen.append(request.path))
    ask(upstream, README)
    ask(upstream, README)
    assert seen == [README]


def test_every_kind_is_described() -> None:
    """Each kind can be switched on by its name alone, apart from those that need a value."""
    for kind in KINDS:
        assert Fault(kind).kind == kind


# The server itself


def test_a_branch_that_moves(tmp_path: Path) -> None:
    """A push between two requests shows at once, also in a repository that was made anew."""
    tree = RepoTree()
    tree.put("a.txt", "one\n")
    place = tmp_path / "o" / "r.git"
    first = write_repo(place, [tree])[-1]
    with Upstream(tmp_path) as upstream:
        url = "/api/repos/o/r/commits/main"
        assert ask(upstream, url).json["sha"] == first
        later = tree.clone()
        later.put("a.txt", "two\n")
        second = write_repo(place, [tree, later])[-1]
        assert ask(upstream, url).json["sha"] == second
        assert ask(upstream, "/raw/o/r/main/a.txt").body == b"two\n"
        assert ask(upstream, f"/raw/o/r/{first}/a.txt").body == b"one\n"


def test_a_hundred_connections(upstream: Upstream) -> None:
    """A hundred connections at once are served, and kept alive for the next request."""

    def twice(_: int) -> int:
        connection = http.client.HTTPConnection(upstream.host, upstream.port, timeout=20)
        sizes = []
        for _ in range(2):
            connection.request("GET", README, headers=AGENT)
            with connection.getresponse() as response:
                sizes.append(len(response.read()))
                assert response.getheader("Connection") != "close"
        connection.close()
        return min(sizes)

    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        assert min(pool.map(twice, range(100))) > 0
    assert upstream.counts()["raw"]["requests"] == 200


def test_continue_and_chunks(upstream: Upstream, family: Family) -> None:
    """Expect: 100-continue is answered, and chunked and gzip bodies are read."""
    body = gzip.compress(json.dumps({"path": smallest(family)}).encode())
    head = (
        "POST /sign HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Encoding: gzip\r\n"
        "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection((upstream.host, upstream.port), timeout=5) as link:
        link.sendall(head.encode())
        assert link.recv(64).startswith(b"HTTP/1.1 100")
        for piece in (body[:10], body[10:]):
            link.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        link.sendall(b"0\r\n\r\n")
        answer = b"".join(iter(lambda: link.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 200")


def test_stopping_ends_stalled_answers(family: Family) -> None:
    """A server that is stopped lets no client wait."""
    upstream = Upstream(family.root, family).start()
    upstream.add("stall", "/raw/", bytes=-1)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, upstream, README, timeout=20)
        while not upstream.requests("raw"):
            time.sleep(0.01)
        began = time.monotonic()
        upstream.stop()
        assert isinstance(waiting.exception(), (ConnectionError, http.client.HTTPException))
    assert time.monotonic() - began < 3
    upstream.stop()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command(family: Family, tmp_path: Path, number: signal.Signals) -> None:
    """The command prints its endpoints, serves, can be told faults, and ends quietly."""
    family.save(tmp_path / "family.json")
    command = [sys.executable, "-W", "error", "-m", "upstream", "--root", str(family.root)]
    command += ["--family", str(tmp_path / "family.json"), "--print-config", "--control"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    config = json.loads(process.stdout.readline())
    assert sorted(config["endpoints"]) == ["git", "github_api", "github_raw", "signer", "storage"]
    link = http.client.HTTPConnection("127.0.0.1", config["port"], timeout=5)
    told = json.dumps({"kind": "status", "match": "/raw/", "status": 418})
    for method, path, body, status in (
        ("GET", README, None, 200),
        ("POST", "/_control/faults", told, 200),
        ("GET", README, None, 418),
        ("DELETE", "/_control/faults", None, 200),
        ("GET", "/_control/counts", None, 200),
    ):
        link.request(method, path, body, AGENT)
        with link.getresponse() as response:
            text = response.read()
            assert response.status == status
    assert json.loads(text)["raw"]["requests"] == 0
    link.close()
    process.send_signal(number)
    out, err = process.communicate(timeout=5)
    assert (process.returncode, out, err) == (0, "", "")
