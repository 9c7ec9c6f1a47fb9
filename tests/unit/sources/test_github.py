"""The REST source against a scripted GitHub: pins, truncated trees, proofs and the allowance."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlsplit

import pytest
import requests
import urllib3
from requests.structures import CaseInsensitiveDict

from benchproof.errors import Absent, AllowanceTooSmall, ProofError, Unreachable
from benchproof.http import Http
from benchproof.sources import objects
from benchproof.sources.base import Entry, Pin, RepoSpec
from benchproof.sources.github import GitHubSource

API, RAW = "https://api.example.test", "https://raw.example.test"
COMMIT = "c" * 40
NOW = datetime(2026, 8, 28, 12, 0, tzinfo=UTC)
SPEC = RepoSpec("o/n", "main", "evals", "runs")

Scripted = tuple[int, dict[str, str], bytes]


def ok(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Scripted:
    return status, headers or {}, json.dumps(value).encode()


class GitHub(requests.adapters.BaseAdapter):
    """An adapter that answers from a table of URLs; a list is answered item by item."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Scripted | list[Scripted]] = {}
        self.asked: list[str] = []
        self.tokens: set[str | None] = set()
        self.lock = threading.Lock()

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        assert request.url is not None
        url = request.url.removeprefix(API)
        with self.lock:
            self.asked.append(url)
            self.tokens.add(request.headers.get("Authorization"))
            found = self.answers.get(url, ok({"message": "Not Found"}, 404))
            if isinstance(found, list):
                found = found.pop(0) if len(found) > 1 else found[0]
        status, headers, body = found
        response = requests.Response()
        response.status_code = status
        response.headers = CaseInsensitiveDict(headers)
        response.raw = urllib3.HTTPResponse(io.BytesIO(body), headers, preload_content=False)
        return response

    def close(self) -> None:
        """Nothing is open."""

    def of(self, kind: str) -> list[str]:
        return [url for url in self.asked if kind in url]


class Store(dict[str, bytes]):
    """The vault's store, in memory."""

    def put(self, sha: str, data: bytes) -> None:
        self[sha] = data


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> GitHub:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    server = GitHub()
    describe(server)
    server.answers["/rate_limit"] = allowance(60)
    return server


def describe(server: GitHub, repo: str = "o/n", **changes: Any) -> None:
    """Script a repository and its commit."""
    server.answers[f"/repos/{repo}"] = ok({"id": 7, "full_name": repo, **changes})
    server.answers[f"/repos/{repo}/commits/main"] = ok(commit())


def commit(sha: str = COMMIT, date: str = "2026-08-01T10:00:00Z") -> dict[str, Any]:
    inner = {"tree": {"sha": "a" * 40}, "committer": {"date": date}, "author": {"date": "x"}}
    return {"sha": sha, "commit": inner}


def allowance(remaining: int, reset_s: int = 3000, **headers: str) -> Scripted:
    reset = int((NOW + timedelta(seconds=reset_s)).timestamp())
    core = {"limit": 60, "remaining": remaining, "reset": reset}
    return ok({"resources": {"core": core, "search": {"remaining": 0}}}, headers=headers)


def source(server: GitHub, store: Store | None = None, **environ: str) -> GitHubSource:
    http = Http(
        [],
        authorized=[API, RAW],
        environ=environ,
        sleep=lambda _: None,
        now=lambda: NOW,
        resolve=lambda *_: ["127.0.0.1"],
        adapter=server,
    )
    return GitHubSource(http, API + "/", RAW, Store() if store is None else store)


# --- pin -----------------------------------------------------------------------------------------


def test_a_pin_costs_two_requests(github: GitHub) -> None:
    pin = source(github).pin(SPEC)
    assert pin == Pin(
        repo="o/n",
        ref="main",
        status="ok",
        reason=None,
        commit_sha=COMMIT,
        tree_sha="a" * 40,
        committed_at=datetime(2026, 8, 1, 10, tzinfo=UTC),
        resolved_repo="o/n",
        repo_id=7,
        source="github",
    )
    assert github.asked == ["/repos/o/n", "/repos/o/n/commits/main"]
    assert github.tokens == {None}


def test_the_token_goes_along(github: GitHub) -> None:
    source(github, GITHUB_TOKEN="T").pin(SPEC)
    assert github.tokens == {"Bearer T"}


@pytest.mark.parametrize(
    ("ref", "asked"),
    [
        ("v1.0", "v1.0"),
        ("feature/x#1", "feature/x%231"),
        ("é%", "%C3%A9%25"),
        ("4a7d2b0", "4a7d2b0"),
        (COMMIT, COMMIT),
    ],
)
def test_a_ref_is_a_branch_a_tag_or_a_commit(github: GitHub, ref: str, asked: str) -> None:
    github.answers[f"/repos/o/n/commits/{asked}"] = ok(commit())
    assert source(github).pin(RepoSpec("o/n", ref, "", "")).commit_sha == COMMIT


@pytest.mark.parametrize("ref", ["-x", "a..b", "../../x", "a b", "a\n", "a^", "x.lock", "/a", ""])
def test_a_ref_that_cannot_exist_is_not_asked_for(github: GitHub, ref: str) -> None:
    assert source(github).pin(RepoSpec("o/n", ref or ".", "", "")).status == "ref_missing"
    assert github.asked == ["/repos/o/n"]


def test_the_last_commit_before_a_time(github: GitHub) -> None:
    """`until` includes its second, "before" doesn't."""
    url = "/repos/o/n/commits?sha=main&until=2026-06-30T21:59:59Z&per_page=1"
    github.answers[url] = ok([commit(date="2026-06-01T00:00:00+02:00")])
    as_of = datetime.fromisoformat("2026-07-01T00:00:00+02:00")
    pin = source(github).pin(SPEC, as_of)
    assert (pin.status, pin.commit_sha) == ("ok", COMMIT)
    assert pin.committed_at == datetime(2026, 5, 31, 22, tzinfo=UTC)
    github.answers[url] = ok([])
    pin = source(github).pin(SPEC, as_of)
    assert (pin.status, pin.reason) == ("ref_missing", "no_commit_yet")


def test_a_renamed_repository_is_followed_on_the_same_host(github: GitHub) -> None:
    """BR-21: both names and the id are recorded."""
    github.answers["/repos/o/n"] = 301, {"Location": f"{API}/repositories/7"}, b"{}"
    github.answers["/repositories/7"] = ok({"id": 7, "full_name": "o/new"})
    github.answers["/repos/o/new/commits/main"] = ok(commit())
    pin = source(github).pin(SPEC)
    assert (pin.status, pin.reason, pin.commit_sha) == ("renamed", "redirected", COMMIT)
    assert (pin.repo, pin.resolved_repo, pin.repo_id) == ("o/n", "o/new", 7)
    assert len(github.asked) == 3


def test_a_renamed_repository_without_the_ref_keeps_both_names(github: GitHub) -> None:
    describe(github, full_name="o/new")
    pin = source(github).pin(SPEC)
    assert (pin.status, pin.resolved_repo, pin.repo_id) == ("ref_missing", "o/new", 7)


def test_another_case_is_no_new_name(github: GitHub) -> None:
    describe(github, full_name="O/N")
    github.answers["/repos/O/N/commits/main"] = ok(commit())
    pin = source(github).pin(SPEC)
    assert (pin.status, pin.resolved_repo) == ("ok", "o/n")


def test_a_redirect_to_another_host_is_not_followed(github: GitHub) -> None:
    github.answers["/repos/o/n"] = 301, {"Location": f"{RAW}/o/n"}, b""
    pin = source(github).pin(SPEC)
    assert (pin.status, pin.reason) == ("unknown", "host_not_allowed")
    assert github.asked == ["/repos/o/n"]


PRIMARY = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (ok({}, 404), "missing", "missing"),
        (ok({}, 401), "private", "private"),
        (ok({"message": "Repository access blocked"}, 403), "private", "private"),
        (ok({}, 451), "private", "private"),
        (ok({}, 418), "unknown", "malformed"),
        (ok({}, 500), "unknown", "server_error"),
        ((403, PRIMARY, b"{}"), "unknown", "throttled"),
        ((429, {"Retry-After": "9999"}, b"{}"), "unknown", "throttled"),
        ((200, {}, b"<html>log in</html>"), "unknown", "malformed"),
        ((200, {}, b'{"id": 7'), "unknown", "malformed"),
        (ok([]), "unknown", "malformed"),
        (ok({"id": 7, "full_name": "o/../n"}), "unknown", "malformed"),
        (ok({"id": True, "full_name": "o/n"}), "unknown", "malformed"),
    ],
)
def test_a_repository_that_cannot_be_read(
    github: GitHub, answer: Scripted, status: str, reason: str
) -> None:
    """What the server says is a fact; what it fails to say is unknown, with the cause."""
    github.answers["/repos/o/n"] = answer
    pin = source(github).pin(SPEC)
    assert (pin.status, pin.reason) == (status, reason)
    assert (pin.commit_sha, pin.tree_sha, pin.committed_at) == (None, None, None)


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (ok({"message": "Git Repository is empty."}, 409), "empty", "empty"),
        (ok({}, 404), "ref_missing", "ref_missing"),
        (ok({"message": "No commit found for SHA: x"}, 422), "ref_missing", "ref_missing"),
        (ok({}, 403), "private", "private"),
        (ok({}, 502), "unknown", "server_error"),
        (ok({}), "unknown", "malformed"),
        (ok(commit(sha="c" * 39)), "unknown", "malformed"),
        (ok(commit(date="yesterday")), "unknown", "malformed"),
        (ok(commit(date="2026-08-01T10:00:00")), "unknown", "malformed"),
    ],
)
def test_a_commit_that_cannot_be_read(
    github: GitHub, answer: Scripted, status: str, reason: str
) -> None:
    github.answers["/repos/o/n/commits/main"] = answer
    pin = source(github).pin(SPEC)
    assert (pin.status, pin.reason, pin.commit_sha) == (status, reason, None)
    assert pin.repo_id == 7
    if status == "empty":
        assert len(github.asked) == 2  # it isn't asked for ever


def test_another_commit_than_the_one_asked_for(github: GitHub) -> None:
    github.answers[f"/repos/o/n/commits/{'d' * 40}"] = ok(commit())
    assert source(github).pin(RepoSpec("o/n", "d" * 40, "", "")).reason == "malformed"


@pytest.mark.parametrize("repo", ["o", "o/n/x", "o/..", "../n", "o/n?x", "o/n#", "o/ n"])
def test_a_name_that_cannot_exist_is_not_asked_for(github: GitHub, repo: str) -> None:
    assert source(github).pin(RepoSpec(repo, "main", "", "")).status == "missing"
    assert github.asked == []


def test_text_that_is_no_json_is_asked_for_again(github: GitHub) -> None:
    github.answers["/repos/o/n"] = [(200, {}, b"<html>"), ok({"id": 7, "full_name": "o/n"})]
    assert source(github).pin(SPEC).status == "ok"


# --- tree ----------------------------------------------------------------------------------------


class Tree:
    """A tree of files, served as GitHub does; at most `most` rows an answer."""

    def __init__(self, server: GitHub, files: dict[str, bytes], most: int = 100_000) -> None:
        self.files = files
        self.entries = [
            Entry(path.encode(), "100644", objects.blob_id(data), len(data))
            for path, data in sorted(files.items())
        ]
        self.folders = {""} | {
            path.encode()[:at].decode()
            for path in files
            for at, char in enumerate(path.encode())
            if char == 47
        }
        self.ids = {folder: self.id_of(folder) for folder in self.folders}
        for folder, sha in self.ids.items():
            url = f"/repos/o/n/git/trees/{sha}"
            server.answers[url] = self.listing(folder, False, most)
            server.answers[url + "?recursive=1"] = self.listing(folder, True, most)

    def below(self, folder: str) -> list[tuple[bytes, Entry]]:
        prefix = f"{folder}/".encode() if folder else b""
        return [
            (entry.path[len(prefix) :], entry)
            for entry in self.entries
            if entry.path.startswith(prefix)
        ]

    def id_of(self, folder: str) -> str:
        return objects.tree_id(
            Entry(path, entry.mode, entry.sha) for path, entry in self.below(folder)
        )

    def listing(self, folder: str, recursive: bool, most: int) -> Scripted:
        rows: list[dict[str, Any]] = [
            {"path": path.decode(), "mode": entry.mode, "sha": entry.sha, "size": entry.size}
            for path, entry in self.below(folder)
        ]
        prefix = f"{folder}/" if folder else ""
        rows += [
            {"path": name[len(prefix) :], "mode": "040000", "type": "tree", "sha": self.ids[name]}
            for name in self.folders
            if name and name.startswith(prefix) and name != folder and hasattr(self, "ids")
        ]
        if not recursive:
            rows = [row for row in rows if "/" not in row["path"]]
        rows.sort(key=lambda row: row["path"])
        return ok({"sha": "x", "tree": rows[:most], "truncated": len(rows) > most})

    def pin(self, **changes: Any) -> Pin:
        given = {"commit_sha": COMMIT, "tree_sha": self.ids[""], "resolved_repo": "o/n", **changes}
        return Pin(
            repo="o/n", ref="main", status="ok", reason=None, committed_at=NOW, repo_id=7,
            source="github", **given,
        )  # fmt: skip


FILES = {
    "README": b"r" * 2000,
    "evals/a.json": b'{"a":1}\n',
    "evals/b/c.json": b"c",
    "evals/é.json": b"e",
    "evals.md": b"",
}


def test_a_tree_is_one_request_and_proven(github: GitHub) -> None:
    tree = Tree(github, FILES)
    listed = source(github).tree(tree.pin())
    assert [entry.path for entry in listed] == sorted(path.encode() for path in FILES)
    sizes = {entry.path.decode(): entry.size for entry in listed}
    assert sizes["evals/a.json"] == 8
    assert sizes["README"] is None  # the git source doesn't know it either
    assert len(github.asked) == 1


def test_links_and_submodules_keep_their_modes(github: GitHub) -> None:
    """BR-24."""
    entries = [
        Entry(b"link", "120000", "b" * 40, 9),
        Entry(b"sub/module", "160000", "d" * 40),
        Entry(b"tool", "100755", "e" * 40, 5),
    ]
    sha = objects.tree_id(entries)
    rows = [
        {"path": entry.path.decode(), "mode": entry.mode, "type": "?", "sha": entry.sha}
        | ({"size": entry.size} if entry.size is not None else {})
        for entry in entries
    ]
    rows.append({"path": "sub", "mode": "040000", "type": "tree", "sha": "f" * 40})
    github.answers[f"/repos/o/n/git/trees/{sha}?recursive=1"] = ok({"tree": rows})
    assert source(github).tree(Tree(github, {}).pin(tree_sha=sha)) == entries


def test_an_empty_tree_costs_nothing(github: GitHub) -> None:
    assert source(github).tree(Tree(github, {}).pin()) == []
    assert github.asked == []


def test_folders_without_files_are_part_of_the_proof(github: GitHub) -> None:
    entry = Entry(b"a", "100644", "b" * 40)
    sha = objects.tree_id([entry], [b"empty"])
    rows = [
        {"path": "a", "mode": "100644", "type": "blob", "sha": "b" * 40},
        {"path": "empty", "mode": "040000", "type": "tree", "sha": objects.EMPTY_TREE},
    ]
    github.answers[f"/repos/o/n/git/trees/{sha}?recursive=1"] = ok({"tree": rows})
    assert source(github).tree(Tree(github, {}).pin(tree_sha=sha)) == [entry]


@pytest.mark.parametrize("most", [9, 20, 30, 60, 64, 1000])
def test_a_truncated_tree_is_walked(github: GitHub, most: int) -> None:
    """BR-19: 60 files of which an answer lists fewer; below 25 a sub-tree is truncated too."""
    files = {f"top{n}": b"%d" % n for n in range(5)}
    files |= {f"big/{n // 8}/{n}": b"%d" % n for n in range(50)}
    files |= {f"same{n}/x": b"same" for n in range(2)}
    files |= {f"more/{n}": b"%d" % n for n in range(3)}
    tree = Tree(github, files, most)
    if most == 9:
        tree = Tree(github, {path: data for path, data in files.items() if "top" not in path}, 9)
    assert {entry.path for entry in source(github).tree(tree.pin())} == {
        path.encode() for path in tree.files
    }
    assert max(Counter(github.asked).values()) == 1


def test_a_folder_too_large_for_rest_is_an_error(github: GitHub) -> None:
    tree = Tree(github, {f"{n}": b"" for n in range(20)}, most=10)
    with pytest.raises(Unreachable, match=r"Listing incomplete.*source: git"):
        source(github).tree(tree.pin())


def test_a_listing_that_lacks_a_file_is_refused(github: GitHub) -> None:
    """Truncated without saying so."""
    tree = Tree(github, FILES)
    pin = tree.pin()
    value = json.loads(tree.listing("", True, 100)[2])
    value["tree"] = [row for row in value["tree"] if row["path"] != "README"]
    github.answers[f"/repos/o/n/git/trees/{pin.tree_sha}?recursive=1"] = ok(value)
    with pytest.raises(ProofError) as caught:
        source(github).tree(pin)
    assert caught.value.expected == pin.tree_sha


def test_a_path_that_is_not_utf8_names_the_way_out(github: GitHub) -> None:
    sha = objects.tree_id([Entry(b"a\xff", "100644", "b" * 40)])
    rows = [{"path": "a\ufffd", "mode": "100644", "type": "blob", "sha": "b" * 40}]
    url = f"/repos/o/n/git/trees/{sha}?recursive=1"
    github.answers[url] = ok({"tree": rows})
    with pytest.raises(ProofError, match="source: git"):
        source(github).tree(Tree(github, {}).pin(tree_sha=sha))
    github.answers[url] = 200, {}, b'{"tree": [{"path": "a\\udcff", "mode": "100644"}]}'
    with pytest.raises(Unreachable, match="source: git"):
        source(github).tree(Tree(github, {}).pin(tree_sha=sha))


@pytest.mark.parametrize(
    "rows",
    [
        [{"path": "a", "mode": "100644", "sha": "b" * 40}] * 2,
        [{"path": "../a", "mode": "100644", "sha": "b" * 40}],
        [{"path": ".git/a", "mode": "100644", "sha": "b" * 40}],
        [{"path": None, "mode": "100644", "sha": "b" * 40}],
        [{"path": "a", "mode": 100644, "sha": "b" * 40}],
        [{"path": "a", "mode": "100644", "sha": "b"}],
        ["a"],
        None,
    ],
)
def test_a_listing_that_no_tree_has(github: GitHub, rows: Any) -> None:
    github.answers[f"/repos/o/n/git/trees/{'a' * 40}?recursive=1"] = ok({"tree": rows})
    with pytest.raises(Unreachable) as caught:
        source(github).tree(Tree(github, {}).pin(tree_sha="a" * 40))
    assert caught.value.cause == "malformed"


@pytest.mark.parametrize(("status", "fact"), [(404, "missing"), (409, "empty"), (451, "private")])
def test_a_tree_that_is_gone(github: GitHub, status: int, fact: str) -> None:
    github.answers[f"/repos/o/n/git/trees/{'a' * 40}?recursive=1"] = ok({}, status)
    with pytest.raises(Absent) as caught:
        source(github).tree(Tree(github, {}).pin(tree_sha="a" * 40))
    assert caught.value.status == fact


# --- blobs ---------------------------------------------------------------------------------------


def raw_url(path: str, repo: str = "o/n") -> str:
    return f"{RAW}/{repo}/{COMMIT}/{path}"


def serve(server: GitHub, files: dict[bytes, bytes]) -> dict[str, bytes]:
    """Script raw content; return what is wanted."""
    for path, data in files.items():
        url = requests.Request("GET", raw_url(quote(path))).prepare().url
        assert url is not None
        server.answers[url] = 200, {}, data
    return {objects.blob_id(data): path for path, data in files.items()}


BLOBS = {b"a.json": b'{"a":1}\n', b"b c/\xc3\xa9#?%25.json": b"b", b"x/\xff&=+": b"x"}


def test_blobs_are_read_at_the_commit_and_kept(github: GitHub) -> None:
    """BR-22: by the full id; paths of any bytes and signs."""
    wanted, store = serve(github, BLOBS), Store()
    pin = Tree(github, {}).pin()
    found = dict(source(github, store).blobs(pin, wanted))
    assert found == store == {objects.blob_id(data): data for data in BLOBS.values()}
    raw = github.of(RAW)
    assert sorted(unquote_to_bytes(urlsplit(url).path) for url in raw) == sorted(
        b"/o/n/%s/%s" % (COMMIT.encode(), path) for path in BLOBS
    )
    assert github.of("/rate_limit") == ["/rate_limit"]


def test_what_the_store_has_is_not_asked_for(github: GitHub) -> None:
    wanted = serve(github, BLOBS)
    pin = Tree(github, {}).pin()
    store = Store({objects.blob_id(b"b"): b"b", objects.blob_id(b"x"): b"damaged"})
    assert len(dict(source(github, store).blobs(pin, wanted))) == 3
    assert len(github.of(RAW)) == 2
    assert store[objects.blob_id(b"x")] == b"x"
    github.asked.clear()
    assert dict(source(github, store).blobs(pin, wanted)) == dict(store)
    assert github.asked == []


def test_a_renamed_repository_is_read_under_its_new_name(github: GitHub) -> None:
    github.answers[raw_url("a", "o/new")] = 200, {}, b"x"
    pin = Tree(github, {}).pin(resolved_repo="o/new")
    assert dict(source(github).blobs(pin, {objects.blob_id(b"x"): b"a"}))


def test_an_allowance_that_is_too_small_is_said_first(github: GitHub) -> None:
    wanted = serve(github, {b"%d" % n: b"%d" % n for n in range(100)})
    github.answers["/rate_limit"] = allowance(12)
    with pytest.raises(
        AllowanceTooSmall, match="100 requests are needed and 12 are left"
    ) as caught:
        list(source(github).blobs(Tree(github, {}).pin(), wanted))
    assert (caught.value.needed, caught.value.allowed) == (100, 12)
    assert caught.value.reset_at == NOW + timedelta(seconds=3000)
    assert github.of(RAW) == []


def test_only_the_rest_counts(github: GitHub) -> None:
    wanted = serve(github, BLOBS)
    github.answers["/rate_limit"] = allowance(1)
    store = Store({objects.blob_id(data): data for data in (b"b", b"x")})
    assert len(dict(source(github, store).blobs(Tree(github, {}).pin(), wanted))) == 3


@pytest.mark.parametrize(
    "answer",
    [
        allowance(0, reset_s=200),
        allowance(0, reset_s=3800, Date="Fri, 28 Aug 2026 13:00:00 GMT"),
        ok({"message": "Rate limiting is not enabled."}, 404),
        ok({"resources": {}}),
    ],
    ids=["resets soon", "by the server's clock", "no limits", "not said"],
)
def test_what_can_be_waited_for_is_begun(github: GitHub, answer: Scripted) -> None:
    github.answers["/rate_limit"] = answer
    wanted = serve(github, BLOBS)
    assert len(dict(source(github).blobs(Tree(github, {}).pin(), wanted))) == 3


def test_waiting_for_one_reset_must_suffice(github: GitHub) -> None:
    github.answers["/rate_limit"] = allowance(0, reset_s=200)
    wanted = serve(github, {b"%d" % n: b"%d" % n for n in range(61)})
    with pytest.raises(AllowanceTooSmall):
        list(source(github).blobs(Tree(github, {}).pin(), wanted))


def test_other_bytes_are_never_kept(github: GitHub) -> None:
    """The rest is, so that the next run asks for one blob alone."""
    wanted, store = serve(github, BLOBS), Store()
    github.answers[raw_url("a.json")] = 200, {}, b'{"a":2}\n'
    with pytest.raises(ProofError, match=r"o/n@cccccccccccc: a\.json") as caught:
        list(source(github, store).blobs(Tree(github, {}).pin(), wanted))
    assert caught.value.expected == objects.blob_id(BLOBS[b"a.json"])
    assert caught.value.actual == objects.blob_id(b'{"a":2}\n')
    assert objects.blob_id(b'{"a":1}\n') not in store
    assert all(objects.blob_id(data) == sha for sha, data in store.items())


def blob_json(data: bytes, **changes: Any) -> Scripted:
    content = base64.encodebytes(data).decode()
    return ok({"content": content, "encoding": "base64", **changes})


def test_what_raw_does_not_give_is_asked_for_by_id(github: GitHub) -> None:
    data, store = bytes(range(256)), Store()
    sha = objects.blob_id(data)
    github.answers[f"/repos/o/n/git/blobs/{sha}"] = blob_json(data)
    pin = Tree(github, {}).pin()
    assert dict(source(github, store).blobs(pin, {sha: b"a"})) == {sha: data} == store


@pytest.mark.parametrize(
    "answer",
    [blob_json(b"x", encoding="utf-8"), blob_json(b"x", content="a"), blob_json(b"x", content=1)],
)
def test_an_answer_without_content(github: GitHub, answer: Scripted) -> None:
    sha = objects.blob_id(b"x")
    github.answers[f"/repos/o/n/git/blobs/{sha}"] = answer
    with pytest.raises(Unreachable, match="no content"):
        list(source(github).blobs(Tree(github, {}).pin(), {sha: b"a"}))


@pytest.mark.parametrize(
    ("status", "error"), [(404, Absent), (403, Absent), (500, Unreachable), (418, Unreachable)]
)
def test_a_blob_that_cannot_be_had(github: GitHub, status: int, error: type[Exception]) -> None:
    github.answers[raw_url("a")] = ok({}, status)
    with pytest.raises(error):
        list(source(github).blobs(Tree(github, {}).pin(), {"b" * 40: b"a"}))


def test_a_tree_that_names_itself_over_and_over_ends(
    github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten levels of ten equal folders are ten trees, and ten thousand million files."""
    monkeypatch.setattr("benchproof.sources.github.MAX_ENTRIES", 5000)
    ids = [f"{level:040x}" for level in range(11)]
    for level in range(10):
        rows = [{"path": f"{n}", "mode": "040000", "sha": ids[level + 1]} for n in range(10)]
        url = f"/repos/o/n/git/trees/{ids[level]}"
        github.answers[url] = ok({"tree": rows})
        github.answers[url + "?recursive=1"] = ok({"tree": [], "truncated": True})
    with pytest.raises(Unreachable, match="Listing incomplete, there are more than 5000 entries"):
        source(github).tree(Tree(github, {}).pin(tree_sha=ids[0]))
    assert len(github.asked) < 20
