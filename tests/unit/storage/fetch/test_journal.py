"""A journal says what is there, and what can't be read in it says nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchproof.storage.fetch.journal import Journal, Progress, digest, read
from benchproof.storage.identity import Identity

IDENTITY = Identity("abc-3", 1000, "Mon, 13 Jul 2026 00:00:00 GMT")


def written(path: Path, *numbers: int) -> Path:
    journal = Journal(path, Progress(IDENTITY, 100, {0: "00000000"}))
    for number in numbers:
        journal.add(number, f"{number:08x}")
    journal.close()
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    found = read(written(tmp_path / "journal", 4, 9))
    assert found == Progress(IDENTITY, 100, {0: "00000000", 4: "00000004", 9: "00000009"})
    assert (tmp_path / "journal").stat().st_mode & 0o777 == 0o600


def test_the_last_line_of_a_block_counts(tmp_path: Path) -> None:
    path = written(tmp_path / "journal", 4)
    path.write_bytes(path.read_bytes() + b"4 ffffffff\n")
    found = read(path)
    assert found is not None
    assert found.blocks[4] == "ffffffff"


def test_a_torn_line_is_ignored(tmp_path: Path) -> None:
    path = written(tmp_path / "journal", 4, 9)
    whole = path.read_bytes()
    head = whole.index(b"\n") + 1
    for length in range(head, len(whole)):
        path.write_bytes(whole[:length])
        found = read(path)
        assert found is not None
        assert len(found.blocks) == whole[head:length].count(b"\n")


@pytest.mark.parametrize(
    "line",
    [b"x\n", b"-1 00000000\n", b"3 0000000\n", b"10 00000000\n", b"\0\0\0\n", b"3  00000000\n"],
)
def test_lines_that_are_none_are_ignored(tmp_path: Path, line: bytes) -> None:
    path = written(tmp_path / "journal")
    path.write_bytes(path.read_bytes() + line + b"5 00000005\n")
    found = read(path)
    assert found is not None
    assert set(found.blocks) == {0, 5}


@pytest.mark.parametrize(
    "head",
    [b"", b"{}", b"[]", b"{", b"null", b'{"version":2}', b"\xff", b'{"version":1,"block":0}'],
)
def test_a_first_line_that_is_none_makes_it_useless(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "journal").write_bytes(head + b"\n0 00000000\n")
    assert read(tmp_path / "journal") is None


def test_no_journal(tmp_path: Path) -> None:
    assert read(tmp_path / "journal") is None


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "journal", Progress(IDENTITY, 100, {}))
    real = os.write
    calls = []

    def short(file: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) == 1:
            return real(file, data[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(OSError, match="No space"):
        journal.add(1, "00000001")
    monkeypatch.undo()
    journal.close()
    found = read(tmp_path / "journal")
    assert found is not None
    assert found.blocks == {}


def test_digests_differ() -> None:
    assert digest(b"a") != digest(b"b")
    assert digest(bytes(100)) == digest(bytearray(100)) == digest(memoryview(bytes(100)))
