"""BR-53 for every writer: without room the old file stays, nothing else is left, and `no space` is said."""

from __future__ import annotations

import ast
import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchproof import outputs, streams, tables, vault
from benchproof.errors import BenchproofError
from benchproof.journal import Journal
from benchproof.sealing import seal
from benchproof.sources import content
from benchproof.sources.objects import blob_id

LARGE = os.urandom(200_000)
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def replaced(path: Path) -> None:
    with outputs.replacing(path) as part:
        part.write_bytes(LARGE)


def streamed(path: Path) -> None:
    with (
        outputs.replacing(path) as part,
        part.open("wb") as file,
        streams.writing(file, "readings", {}) as sink,
    ):
        for number in range(9000):
            sink.append(row(number))


def row(number: int) -> dict[str, object]:
    counts = ("runs", "applies", "verdicts_changed", "fields_changed")
    return {"reading": f"r{number:05d}{LARGE[number : number + 30].hex()}"} | dict.fromkeys(
        counts, 1
    )


def handed(path: Path) -> None:
    with vault.private_file(path) as file:
        file.write(LARGE)


def published(path: Path) -> None:
    (path.parent.parent / "staged").mkdir(exist_ok=True)
    (path.parent.parent / "staged" / path.name).write_bytes(b"small")
    seal.publish(path.parent.parent / "staged", path.parent, (path.name,))


WRITERS: dict[str, Callable[[Path], object]] = {
    "replacing": replaced,
    "table": lambda path: tables.write(path, "readings", map(row, range(9000)), {}),
    "streamed table": streamed,
    "private file": handed,
    "json": lambda path: vault.write_json(path, LARGE.hex()),
    "archive": lambda path: content.save(path, [], [(blob_id(LARGE), LARGE)]),
    "journal": lambda path: Journal(path).add("k", {"value": LARGE.hex()}),
}


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_finds_no_room(tmp_path: Path, name: str) -> None:
    """Nothing is truncated before the new one fits; a journal keeps what it had."""
    path = tmp_path / "there" / "x"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"{}\n")
    with limited(50_000), pytest.raises(BenchproofError, match=r"x: cannot be written \(no space"):
        WRITERS[name](path)
    assert path.read_bytes().startswith(b"{}\n")
    assert name == "journal" or path.read_bytes() == b"{}\n"
    assert os.listdir(path.parent) == ["x"]
    WRITERS[name](path)
    assert path.stat().st_size > 3


@pytest.mark.parametrize("name", [*(name for name in WRITERS if name != "journal"), "publish"])
@pytest.mark.parametrize("number", [errno.EDQUOT, errno.ENOSPC], ids=errno.errorcode.get)
def test_a_rename_that_finds_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    """Some file systems ask for room, or a quota, only then."""
    path = tmp_path / "there" / "x"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(BenchproofError, match=r"x: cannot be written \(no space"):
        (WRITERS | {"publish": published})[name](path)
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["x"]


@pytest.mark.parametrize("name", WRITERS)
def test_a_place_where_no_file_can_be(tmp_path: Path, name: str) -> None:
    """What clears up meets the same error, and must not hide it."""
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(BenchproofError, match=r"file"):
        WRITERS[name](tmp_path / "file" / "x")
    assert (tmp_path / "file").read_bytes() == b"old"


@pytest.mark.parametrize("name", WRITERS)
def test_a_read_only_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """It refuses to delete even what isn't there (EROFS comes before ENOENT)."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for call in ("open", "replace", "unlink"):
        monkeypatch.setattr(os, call, refused)
    monkeypatch.setattr(Path, "open", refused)
    monkeypatch.setattr(Path, "write_bytes", refused)
    with pytest.raises(BenchproofError, match=r"x: cannot be written \(Read-only file system\)"):
        WRITERS[name](tmp_path / "x")


def test_a_clock_needs_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BenchproofError, match=r"file: nothing can be written here"):
        vault.clock(tmp_path / "file")


#: Who opens files for writing by other means than the writers above, and why that is right.
OWN_MEANS = {
    "benchproof/outputs.py": "the writers themselves",
    "benchproof/vault.py": "the writers themselves",
    "benchproof/journal.py": "appends",
    "benchproof/lease.py": "is created, never replaced",
    "benchproof/workflow.py": "a probe for room",
    "benchproof/leaks/proof.py": "the scanner's own proof, in a private folder",
    "benchproof/watch/logs.py": "a log is appended to; errors of its own",
    "benchproof/determinism/deriving.py": "a log that is handed to snakemake",
    "benchproof/watch/nested.py": "a log that is there is handed to snakemake",
    "benchproof/storage/fetch/part.py": "unfinished snapshots, with errors of their own",
    "benchproof/storage/fetch/journal.py": "unfinished snapshots, with errors of their own",
}
#: Names that a writer gives to what it is about to publish.
GIVEN = {"part", "file", "handle"}


def writes(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that open or write a file, but for those on what a writer gave."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(owner, ast.Name) and owner.id in GIVEN:
            continue
        modes = [
            a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
        ]
        opens = name == "open" and any(set(mode) & set("wax+") and len(mode) < 4 for mode in modes)
        if name in ("write_text", "write_bytes") or opens:
            yield node


def test_nobody_writes_by_other_means() -> None:
    """What is written goes through a writer that is tested here; a new one belongs into the table above."""
    found = {
        path.relative_to(SCRIPTS).as_posix()
        for path in SCRIPTS.rglob("*.py")
        if list(writes(ast.parse(path.read_bytes())))
    }
    assert found <= set(OWN_MEANS)
    assert list(
        writes(ast.parse("Path('x').write_text('y'); open('x', 'w'); Path('x').open('ab')"))
    )
