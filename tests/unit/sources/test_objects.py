"""Object ids, trees and quoted paths, compared with git itself."""

from __future__ import annotations

import os
import random
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchproof.errors import ProofError
from benchproof.sources import objects
from benchproof.sources.base import Entry
from benchproof.sources.objects import (
    MalformedObjectError,
    blob_id,
    object_id,
    parse_commit,
    parse_tree,
    quote_path,
    tree_id,
    unquote_path,
)

A, B = "a" * 40, "b" * 40


def git(folder: Path, *args: str, stdin: bytes = b"") -> bytes:
    """Run git without anybody's configuration and return its output."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    done = subprocess.run(
        ["git", *args], cwd=folder, env=env, input=stdin, capture_output=True, check=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("git")
    git(folder, "init", "-q")
    return folder


def leaf(path: bytes, mode: str = "100644", sha: str = A) -> Entry:
    return Entry(path, mode, sha)


def test_a_blob_id_is_the_documented_one() -> None:
    assert blob_id(b'{"a":1}\n') == "0187f3b09d66cef7911083ad49f890f5a6589589"
    assert object_id("tree", b"") == objects.EMPTY_TREE == tree_id([])


def test_proof_names_both_ids_and_the_place() -> None:
    objects.prove("blob", blob_id(b"x"), b"x", "here")
    with pytest.raises(ProofError, match=r"o/n at x\.json: blob.*expected a{40}, got 0187f3b"):
        objects.prove("blob", A, b'{"a":1}\n', "o/n at x.json")


def random_paths(rng: random.Random) -> dict[bytes, str]:
    """Return leaves whose names are apt to sort differently as files and as directories."""
    names = [b"a", b"a.b", b"a-b", b"a0", b"A", b"\xc3\xa9", b"\xff", b"z z", b".gitignore", b"a~"]
    found: dict[bytes, str] = {}
    for _ in range(rng.randint(1, 60)):
        path = b"/".join(rng.choice(names) for _ in range(rng.randint(1, 5)))
        ancestors = {path[:at] for at in range(len(path)) if path[at : at + 1] == b"/"}
        below = any(other.startswith(path + b"/") for other in found)
        if not below and not ancestors & found.keys():
            found[path] = rng.choice(["100644", "100755", "120000", "160000"])
    return found


@pytest.mark.parametrize("seed", range(25))
def test_a_flat_listing_rebuilds_to_gits_root_tree(repository: Path, seed: int) -> None:
    rng = random.Random(seed)
    entries = [
        Entry(path, mode, f"{rng.getrandbits(160):040x}")
        for path, mode in random_paths(rng).items()
    ]
    rows = b"".join(
        b"%s %s\t%s\0" % (entry.mode.encode(), entry.sha.encode(), entry.path) for entry in entries
    )
    git(repository, "read-tree", "--empty")
    git(repository, "update-index", "-z", "--index-info", stdin=rows)
    expected = git(repository, "write-tree", "--missing-ok").decode().strip()
    rng.shuffle(entries)
    assert tree_id(entries) == expected

    raw = git(repository, "cat-file", "tree", expected)
    assert object_id("tree", raw) == expected
    listed = git(repository, "ls-tree", "-z", expected).split(b"\0")[:-1]
    assert [
        b"%s %s\t%s" % (mode.zfill(6).encode(), sha.encode(), name)
        for mode, name, sha in parse_tree(raw)
    ] == [row.split(b" ")[0] + b" " + row.split(b" ", 2)[2] for row in listed]


@given(st.binary(max_size=60).filter(lambda path: b"\0" not in path))
def test_any_path_survives_quoting(path: bytes) -> None:
    text = quote_path(path)
    text.encode()
    assert unquote_path(text) == path
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)


def test_quoting_is_gits_with_quotepath_off(repository: Path) -> None:
    """Compared for every ASCII byte and for text; git prints bytes that are no text, we escape."""
    paths = [b"x%cy" % byte for byte in range(1, 128) if byte != 47] + ["é/日本 語".encode()]
    rows = b"".join(b"100644 %s\t%s\0" % (A.encode(), path) for path in paths)
    git(repository, "read-tree", "--empty")
    git(repository, "update-index", "-z", "--index-info", stdin=rows)
    shown = git(repository, "-c", "core.quotePath=false", "ls-files").decode().splitlines()
    assert sorted(shown) == sorted(map(quote_path, paths))


def test_quoting_is_gits_default_for_bytes_that_are_no_text(repository: Path) -> None:
    paths = [b"x%cy" % byte for byte in range(128, 256)] + [b'\xff"\\\n\x01 z']
    rows = b"".join(b"100644 %s\t%s\0" % (A.encode(), path) for path in paths)
    git(repository, "read-tree", "--empty")
    git(repository, "update-index", "-z", "--index-info", stdin=rows)
    assert sorted(git(repository, "ls-files").decode().splitlines()) == sorted(
        map(quote_path, paths)
    )


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("evals/é.json", "evals/é.json"),
        ("a b", "a b"),
        ("no\u00a0break", "no\u00a0break"),
        ("c1\u009b", '"c1\\302\\233"'),
        ("rtl\u202e", '"rtl\\342\\200\\256"'),
        ("line\u2028", '"line\\342\\200\\250"'),
        ('"', '"\\""'),
    ],
)
def test_quoting_of_text(path: str, text: str) -> None:
    assert quote_path(path.encode()) == text


@pytest.mark.parametrize("text", ['"', '"a', '"\\x"', '"\\777"', '"\\"', '"a"b"', '"\\1"'])
def test_text_that_quoting_never_makes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"quoted path|byte must be"):
        unquote_path(text)


@pytest.mark.parametrize(
    "paths",
    [
        [b"a", b"a"],
        [b"a", b"a/b"],
        [b"a/b", b"a"],
        [b""],
        [b"/a"],
        [b"a//b"],
        [b"a/"],
        [b"."],
        [b"a/../b"],
        [b".."],
        [b".git/config"],
        [b"a/.GIT"],
        [b"GIT~1/x"],
        [b".git. ./x"],
        [b".g\xe2\x80\x8cit"],
        [b".git\\x"],
        [b"a\0b"],
    ],
)
def test_paths_that_no_tree_may_hold_are_refused(paths: list[bytes]) -> None:
    with pytest.raises(MalformedObjectError):
        tree_id(map(leaf, paths))


@pytest.mark.parametrize("path", [b".gitignore", b".github/x", b"git", b"...", b".gitx", b"a.git"])
def test_paths_that_only_look_alike_are_taken(path: bytes) -> None:
    assert tree_id([leaf(path)])


@pytest.mark.parametrize(
    "entry",
    [
        leaf(b"a", mode="40000"),
        leaf(b"a", mode="040000"),
        leaf(b"a", mode="x"),
        leaf(b"a", sha="A"),
    ],
)
def test_leaves_with_a_bad_mode_or_id_are_refused(entry: Entry) -> None:
    with pytest.raises(MalformedObjectError):
        tree_id([entry])


def test_an_empty_directory_can_be_named() -> None:
    """git never writes one, yet a tree may hold one and a flat listing can't show it."""
    raw = b"100644 a\0" + bytes.fromhex(A) + b"40000 b\0" + bytes.fromhex(objects.EMPTY_TREE)
    assert tree_id([leaf(b"a")], [b"b"]) == object_id("tree", raw)


def test_depth_is_not_bounded_by_the_stack() -> None:
    assert tree_id([leaf(b"/".join([b"d"] * 50_000))])


@pytest.mark.parametrize(
    "data",
    [
        b"100644 a\0" + b"x" * 19,
        b"100644 a",
        b"100644",
        b"100648 a\0" + b"x" * 20,
        b" a\0" + b"x" * 20,
        b"100644 \0" + b"x" * 20,
        b"100644 a/b\0" + b"x" * 20,
        b"100644 a\0" + b"x" * 20 + b"1",
    ],
)
def test_a_malformed_tree_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedObjectError):
        parse_tree(data)


def commit(*lines: str) -> bytes:
    return "\n".join(lines).encode()


def test_a_commit_of_git_is_read(repository: Path) -> None:
    tree = git(repository, "mktree").decode().strip()
    raw = (
        f"tree {tree}\nparent {A}\nparent {B}\nauthor X <x> 1 +0000\n"
        "committer A > B <a@b> 1756339200 +1245\ngpgsig x\n committer no\n\nm\n\ncommitter no\n"
    ).encode()
    sha = git(repository, "hash-object", "-t", "commit", "-w", "--stdin", stdin=raw).decode()
    assert object_id("commit", raw) == sha.strip()
    read = parse_commit(raw)
    assert (read.tree_sha, read.parents) == (tree, (A, B))
    assert read.committed_at == datetime(2025, 8, 28, tzinfo=UTC)
    assert read.committed_at.utcoffset() == UTC.utcoffset(None)


def test_times_before_the_epoch_are_read() -> None:
    read = parse_commit(commit(f"tree {A}", "committer <> -86400 -0000", ""))
    assert read.committed_at == datetime(1969, 12, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        commit(f"tree {A[1:]}", "committer x <> 1 +0000"),
        commit(f"parent {A}", "committer x <> 1 +0000"),
        commit(f"tree {A}", "parent x", "committer x <> 1 +0000"),
        commit(f"tree {A}", "author x <> 1 +0000"),
        commit(f"tree {A}", "committer x <> one +0000"),
        commit(f"tree {A}", "committer x <> 999999999999999 +0000"),
        commit(f"tree {A}", f"committer x <> {'9' * 5000} +0000"),
        commit(f"tree {A}", "author x", "", "committer x <> 1 +0000"),
    ],
)
def test_a_malformed_commit_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedObjectError):
        parse_commit(data)


def bomb(depth: int) -> tuple[dict[str, list[tuple[str, bytes, str]]], str]:
    """Folders that hold each other ten times over: `depth` objects name 10**depth files."""
    trees: dict[str, list[tuple[str, bytes, str]]] = {"leaf": [("100644", b"f", "0" * 40)]}
    below = "leaf"
    for level in range(depth):
        trees[f"t{level}"] = [("40000", bytes([97 + n]), below) for n in range(10)]
        below = f"t{level}"
    return trees, below


@pytest.mark.parametrize(("depth", "size"), [(0, 2), (1, 10 * 4), (3, 1000 * 8), (12, 10**12 * 26)])
def test_a_listing_is_sized_before_it_is_made(depth: int, size: int) -> None:
    """Each distinct tree is counted once, so that a tree bomb costs no more than its objects."""
    trees, root = bomb(depth)
    assert objects.size_of(trees, root) == size


def test_a_tree_that_holds_a_name_twice_is_refused() -> None:
    twice = [("100644", b"f", "0" * 40), ("100644", b"f", "1" * 40)]
    with pytest.raises(objects.MalformedObjectError, match="holds this name twice"):
        objects.size_of({"root": twice}, "root")


def test_a_tree_that_stands_in_many_places_is_sized_once() -> None:
    """Each of 3,000 places of a tree of 3,000 entries once cost as much as the tree itself."""
    leaf = [("100644", b"f%d" % n, "1" * 40) for n in range(3000)]
    trees = {"r": [("40000", b"d%d" % n, "t") for n in range(3000)], "t": leaf}

    class Counting(dict[str, list[tuple[str, bytes, str]]]):
        reads = 0

        def __getitem__(self, key: str) -> list[tuple[str, bytes, str]]:
            Counting.reads += 1
            return super().__getitem__(key)

    total = objects.size_of(Counting(trees), "r")
    paths = (len(f"d{n}/") for n in range(3000))
    assert total == 3000 * sum(len(n) + 1 for _, n, _ in leaf) + 3000 * sum(paths)
    assert Counting.reads < 10
