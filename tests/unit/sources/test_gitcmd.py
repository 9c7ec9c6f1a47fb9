"""git as a child process: its environment, its failures in our words, its traffic."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from benchproof.errors import Absent, Unreachable, VaultError
from benchproof.sources import gitcmd
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


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"SSL_CERT_FILE": "ca.pem"}, {"GIT_SSL_CAINFO": "ca.pem"}),
        ({"REQUESTS_CA_BUNDLE": "a.pem", "SSL_CERT_FILE": "b.pem"}, {"GIT_SSL_CAINFO": "a.pem"}),
        ({"SSL_CERT_DIR": "certs"}, {"GIT_SSL_CAPATH": "certs"}),
        ({"SSL_CERT_FILE": "ca.pem", "GIT_SSL_CAINFO": "/own.pem"}, {"GIT_SSL_CAINFO": "/own.pem"}),
        ({}, {}),
    ],
)
def test_git_trusts_whom_every_other_request_trusts(
    repo: Git,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, str],
    told: dict[str, str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "certs").mkdir()
    for name in list(os.environ):
        if name.startswith("GIT_SSL_") or name.endswith(("_CA_BUNDLE", "CERT_FILE", "CERT_DIR")):
            monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    found = repo._environment(network=True)
    expected = {name: str(tmp_path / value) for name, value in told.items()}
    assert {k: v for k, v in found.items() if k.startswith("GIT_SSL_")} == expected


@pytest.mark.parametrize(("trusted", "kind"), [(True, Absent), (False, Unreachable)])
def test_a_certificate_of_the_sites_own(
    repo: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool, kind: type[Exception]
) -> None:
    """As a proxy that looks into connections has one: trusted by SSL_CERT_FILE alone, unknown without."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, signed = tmp_path / "key.pem", tmp_path / "signed.pem"
    ask = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
    ask += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(signed)]
    subprocess.run(ask, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(signed, key)
    for name in ("GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(signed))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_not_found, args=(listening, context), daemon=True).start()
        url = f"https://127.0.0.1:{listening.getsockname()[1]}/x.git"
        with pytest.raises(kind) as caught:
            repo.remote(
                "-c", f"remote.origin.url={url}", "ls-remote", "origin", what="x", tally=Tally()
            )
    assert getattr(caught.value, "cause", "tls") == "tls"


def test_git_goes_through_the_proxy_of_the_environment(
    repo: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that only the proxy can resolve."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{listening.getsockname()[1]}")
        asked: list[bytes] = []
        threading.Thread(target=_not_found, args=(listening, None, asked), daemon=True).start()
        with pytest.raises(Absent):
            repo.remote("ls-remote", "http://far.invalid/x.git", what="x", tally=Tally())
    assert asked[0].startswith(b"GET http://far.invalid/x.git/info/refs?")


def _not_found(
    listening: socket.socket, context: ssl.SSLContext | None, asked: list[bytes] | None = None
) -> None:
    """Answer one connection: there is nothing here."""
    with suppress(OSError):
        taken, _ = listening.accept()
        with context.wrap_socket(taken, server_side=True) if context else taken as connection:
            data = connection.recv(65536)
            if asked is not None:
                asked.append(data)
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")


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


@pytest.mark.parametrize(
    "arguments",
    [
        ["fetch", "--stdin"],
        ["init", "--initial-branch=x"],
        ["-c", "a.b=c", "cat-file", "--batch-command"],
        ["log", "--diff-merges=first-parent"],
        ["maintenance", "run"],
    ],
)
def test_these_tests_run_a_git_that_is_not_newer_than_2_25(repo: Git, arguments: list[str]) -> None:
    with pytest.raises(VaultError, match=r"git 2\.25"):
        repo.local(*arguments)
    assert repo.local("hash-object", "-w", "--stdin", stdin=b"x")


def test_an_object_larger_than_any_blob_is_not_read(
    repo: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kilobyte of a pack can stand for gigabytes of an object."""
    sha = repo.local("hash-object", "-w", "--stdin", stdin=bytes(5000)).decode().strip()
    monkeypatch.setattr(gitcmd, "MAX_OBJECT", 4999)
    with repo.objects() as reader, pytest.raises(Unreachable, match="too_large"):
        reader.read(sha)
    monkeypatch.setattr(gitcmd, "MAX_OBJECT", 5000)
    with repo.objects() as reader:
        assert len(reader.read(sha)[1]) == 5000


def test_a_command_that_prints_without_end_is_ended(
    repo: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (b"a", b"b"):
        repo.local("hash-object", "-w", "--stdin", stdin=text * 10)
    monkeypatch.setattr(gitcmd, "MAX_PRINTED", 60)
    with pytest.raises(VaultError):
        repo.local("cat-file", "--batch-all-objects", "--batch-check")


def test_a_command_has_an_hour_and_bounded_memory(
    repo: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = repo.local("-c", "alias.told=!ulimit -v; ulimit -t", "told").split()
    assert said == [str(gitcmd.MAX_MEMORY // 1024).encode(), str(gitcmd.MAX_CPU_S).encode()]
    monkeypatch.setattr(gitcmd, "MAX_WALL_S", 0.3)
    with pytest.raises(Unreachable, match="too_large"):
        repo.remote("-c", "alias.nap=!sleep 30", "nap", what="o/n", tally=Tally())


def test_a_piece_that_git_refuses_is_too_large(repo: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gitcmd, "MAX_PIECE", 4096)
    with pytest.raises(VaultError):
        repo.local("hash-object", "-w", "--stdin", stdin=bytes(100_000))
