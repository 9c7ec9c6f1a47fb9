"""git as a child process: its environment, its failures in our words, its traffic."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchproof.errors import Absent, Unreachable, VaultError
from benchproof.sources.gitcmd import Git, Moved, Tally, _classified, _count
from benchproof.vault import private_folder


@pytest.fixture
def repo(tmp_path: Path) -> Git:
    git = Git(private_folder(tmp_path / "m.git"), private_folder(tmp_path / "home"), 5)
    git.local("init", "--quiet", "--bare", ".")
    return git


@pytest.mark.parametrize(
    ("said", "kind", "code"),
    [
        ("fatal: unable to access '<URL>': Could not resolve host: h", Unreachable, "dns"),
        (
            "fatal: unable to access '<URL>': Failed to connect to h port 1 after 0 ms",
            Unreachable,
            "refused",
        ),
        (
            "fatal: unable to access '<URL>': Operation too slow. Less than 100",
            Unreachable,
            "stalled",
        ),
        (
            "fatal: unable to access '<URL>': The requested URL returned error: 503",
            Unreachable,
            "server_error",
        ),
        (
            "fatal: unable to access '<URL>': The requested URL returned error: 429",
            Unreachable,
            "throttled",
        ),
        (
            "fatal: unable to access '<URL>': SSL certificate problem: self-signed",
            Unreachable,
            "tls",
        ),
        ("error: RPC failed; curl 56 Recv failure: Connection reset by peer", Unreachable, "reset"),
        ("fatal: early EOF", Unreachable, "reset"),
        ("fatal: transport 'ext' not allowed", Unreachable, "host_not_allowed"),
        ("error: something new", Unreachable, "git_failed"),
        ("", Unreachable, "git_failed"),
        ("fatal: repository '<URL>' not found", Absent, "missing"),
        ("fatal: '/x' does not appear to be a git repository", Absent, "missing"),
        (
            "fatal: could not read Username for '<URL>': terminal prompts disabled",
            Absent,
            "private",
        ),
        ("fatal: Authentication failed for '<URL>'", Absent, "private"),
        ("fatal: couldn't find remote ref refs/heads/x", Absent, "ref_missing"),
        ("fatal: remote error: upload-pack: not our ref 0000", Absent, "ref_missing"),
        ("fatal: unable to access '<URL>': The requested URL returned error: 301", Moved, None),
    ],
)
def test_gits_words_become_a_fixed_code(said: str, kind: type[Exception], code: str | None) -> None:
    error = _classified(
        said.replace("<URL>", "https://u:SECRET1@h/x.git?token=SECRET2"), "demo/one"
    )
    assert isinstance(error, kind)
    assert code in (getattr(error, "cause", None), getattr(error, "status", None))
    assert str(error).startswith("demo/one: ")
    assert "SECRET" not in str(error)


def test_the_environment_is_nobodys(repo: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "GIT_DIR",
        "GIT_TRACE",
        "GIT_PROXY_COMMAND",
        "GIT_CONFIG_COUNT",
        "SSH_ASKPASS",
        "LANG",
    ):
        monkeypatch.setenv(name, "planted")
    kept = {"https_proxy", "GIT_SSL_CAINFO", "no_proxy"}
    for name in kept:
        monkeypatch.setenv(name, "kept")
    found = repo._environment(network=True)
    assert "planted" not in found.values()
    assert {name for name, value in found.items() if value == "kept"} == kept
    assert (found["GIT_CONFIG_NOSYSTEM"], found["GIT_TERMINAL_PROMPT"]) == ("1", "0")
    assert found["HOME"] == found["XDG_CONFIG_HOME"]
    assert os.listdir(found["HOME"]) == []
    assert repo._environment(network=False)["GIT_ALLOW_PROTOCOL"] == "none"


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x.git", "file:///", "/"])
def test_a_local_command_cannot_reach_any_remote(repo: Git, url: str) -> None:
    with pytest.raises(VaultError, match="ls-remote failed"):
        repo.local("ls-remote", url)


@pytest.mark.parametrize("url", ["ext::sh -c 'touch pwned'", "fd::3", "git://127.0.0.1:9/x"])
def test_a_remote_helper_never_runs(repo: Git, url: str) -> None:
    with pytest.raises(Unreachable) as caught:
        repo.remote("ls-remote", url, what="x", tally=Tally())
    assert caught.value.cause == "host_not_allowed"
    assert not (repo.folder / "pwned").exists()


def test_objects_are_read_in_any_order_and_number(repo: Git) -> None:
    data = [b"", b"one\n", b"\x00\xff" * 100_000]
    ids = [repo.local("hash-object", "-w", "--stdin", stdin=item).decode().strip() for item in data]
    with repo.objects() as reader:
        for sha, item in [*zip(ids, data, strict=True)] * 2:
            assert reader.read(sha) == ("blob", item)
        with pytest.raises(VaultError, match=r"0000 is missing; delete this folder"):
            reader.read("0" * 40)
        assert reader.read(ids[1]) == ("blob", b"one\n")
    assert repo.sizes([*ids, "0" * 40]) == dict(zip(ids, map(len, data), strict=True))


def test_only_locks_are_cleared(repo: Git) -> None:
    for name in ("shallow.lock", "refs/x.lock", "objects/pack/y.lock"):
        (repo.folder / name).touch()
    kept = {path for path in repo.folder.rglob("*") if path.suffix != ".lock"}
    assert repo.clear_stale_locks() == 3
    assert set(repo.folder.rglob("*")) == kept
    assert repo.clear_stale_locks() == 0


def test_requests_and_bytes_are_counted_from_gits_own_trace() -> None:
    reading, writing = os.pipe()
    lines = [
        b"12:00:00.0 http.c:700 => Send header: GET /x HTTP/1.1\n",
        b"12:00:00.0 http.c:700 => Send header: Host: GET /y\n",
        b"12:00:00.0 http.c:700 <= Recv header, 0000000017 bytes (0x00000011)\n",
        b"12:00:00.0 http.c:700 <= Recv data, 0000001000 bytes (0x000003e8)\n",
        b"12:00:00.0 http.c:700 <= Recv data: => Send header: POST \n",
        b"12:00:00.0 http.c:700 => Send header: POST /z HTTP/2\n",
    ]
    os.write(writing, b"".join(lines))
    os.close(writing)
    tally = Tally()
    _count(reading, tally)
    assert (tally.requests, tally.bytes_in) == (2, 1017)
