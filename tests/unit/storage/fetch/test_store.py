"""Finished and unfinished files: names, owners, what is believed and what is not."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchproof.errors import VaultError
from benchproof.storage.fetch import Store, owner
from benchproof.storage.fetch.digests import digest_file
from benchproof.storage.fetch.journal import read
from benchproof.storage.fetch.part import Part, is_dead, open_part, owner_of
from benchproof.storage.fetch.store import Record
from benchproof.storage.identity import Identity
from benchproof.vault import sweep

BLOCK = 1000
CONTENT = bytes(range(256)) * 20
IDENTITY = Identity(hashlib.md5(CONTENT).hexdigest(), len(CONTENT), "Mon, 13 Jul 2026")
LOOSE = Identity("0123456789abcdef0123456789abcdef-77", len(CONTENT), None)
HANDLE, NOW = "latch://12.node", "2026-08-28T12:00:00Z"


def filled(folder: Path, *blocks: int, identity: Identity = IDENTITY) -> Part:
    """An unfinished file of ours with some blocks."""
    part = open_part(folder, identity, BLOCK)
    part.reserve()
    for number in blocks:
        part.write(number * BLOCK, memoryview(CONTENT[number * BLOCK : (number + 1) * BLOCK]))
    return part


def disowned(part: Part, place: str | None = None, pid: int | None = None) -> Path:
    """Leave an unfinished file as another process, here or elsewhere, would."""
    part.close()
    head, mine = part.folder.name.removesuffix(".part").rsplit(".", 1)
    here, _, began, count = mine.split("-")
    name = f"{place or here}-{pid or dead_pid()}-{began}-{count}"
    return part.folder.rename(part.folder.with_name(f"{head}.{name}.part"))


def dead_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def published(store: Store, identity: Identity = IDENTITY) -> Record:
    part = store.open(HANDLE, identity, BLOCK)
    part.reserve()
    for number in range(len(CONTENT) // BLOCK + 1):
        part.write(number * BLOCK, memoryview(CONTENT[number * BLOCK : (number + 1) * BLOCK]))
    return store.publish(part, HANDLE, "h5ad", digest_file(part.data, identity), 5120, NOW)


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "suffix", ["", "../x", "json", "h5ad.json", "a/b", "H5AD", "part", "x" * 30]
)
def test_suffixes_that_are_none(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ValueError, match="suffix"):
        Store(tmp_path).path(HANDLE, IDENTITY, suffix)


def test_an_unfinished_file_outlives_the_sweep(tmp_path: Path) -> None:
    """A run begins by deleting what killed writers left; this is not it."""
    part = filled(tmp_path, 0)
    part.close()
    assert sweep(tmp_path) == 0
    assert part.data.exists()


def test_br03_nothing_is_believed_of_a_version_that_has_no_name(tmp_path: Path) -> None:
    """Without ETag and date another object of the same size looks the same on a later day."""
    nameless, store = Identity(None, len(CONTENT), None), Store(tmp_path)
    record = published(store, nameless)
    assert store.held(HANDLE, nameless, "h5ad") == 0
    assert store.find(HANDLE, nameless, "h5ad", NOW) is None
    assert not (tmp_path / record.path).exists()
    disowned(filled(store.folder(HANDLE), 0, 1, identity=nameless))
    assert store.held(HANDLE, nameless, "h5ad") == 0
    again = store.open(HANDLE, nameless, BLOCK)
    assert again.found == frozenset()
    again.discard()


# --- owners --------------------------------------------------------------------------------------


def test_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, second = owner.new_name(), owner.new_name()
    assert mine != second
    assert owner.state_of(mine) == "alive"
    owner.give_up(mine)
    assert owner.state_of(mine) == "dead"
    assert owner.state_of(second) == "alive"
    here, pid, began, count = second.split("-")
    assert owner.state_of(f"{here}-{dead_pid()}-{began}-1") == "dead"
    assert owner.state_of(f"{here}-{os.getppid()}-1-1") == "dead"  # the number is used again
    assert owner.state_of(f"{'0' * 12}-{pid}-{began}-{count}") == "elsewhere"
    assert owner.state_of("what is this") == "alive"
    monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere")
    assert owner.state_of(second) == "elsewhere"


def test_a_living_process_is_alive() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    place = owner.new_name().split("-")[0]
    began = owner._began(child.pid)
    assert owner.state_of(f"{place}-{child.pid}-{began}-1") == "alive"
    child.communicate()
    assert owner.state_of(f"{place}-{child.pid}-{began}-1") == "dead"


# --- unfinished files ----------------------------------------------------------------------------


def test_a_dead_process_leaves_its_blocks(tmp_path: Path) -> None:
    left = disowned(filled(tmp_path, 0, 3))
    inode = (left / "data").stat().st_ino
    part = open_part(tmp_path, IDENTITY, BLOCK)
    assert part.found == {0, 3}
    assert os.fstat(part.file).st_ino == inode
    assert not left.exists()
    progress = read(part.folder / "journal")
    assert progress is not None
    assert set(progress.blocks) == {0, 3}
    part.close()


def test_blocks_are_compared_with_their_digests(tmp_path: Path) -> None:
    left = disowned(filled(tmp_path, 0, 3, 5))
    with (left / "data").open("r+b") as file:
        file.seek(3 * BLOCK + 7)
        file.write(b"?")
    part = open_part(tmp_path, IDENTITY, BLOCK)
    assert part.found == {0, 5}
    part.close()


@pytest.mark.parametrize("change", ["no journal", "no data", "longer", "shorter", "other version"])
def test_what_does_not_fit_is_thrown_away(tmp_path: Path, change: str) -> None:
    """BR-08."""
    identity = LOOSE if change == "other version" else IDENTITY
    left = disowned(filled(tmp_path, 0, 3, identity=identity))
    if change == "other version":
        left.rename(left.with_name(left.name.replace(LOOSE.key(), IDENTITY.key())))
    elif change.startswith("no "):
        (left / change.removeprefix("no ")).unlink()
    elif change in ("longer", "shorter"):
        os.truncate(left / "data", len(CONTENT) + (10 if change == "longer" else -10))
    part = open_part(tmp_path, IDENTITY, BLOCK)
    assert part.found == frozenset()
    assert [path.name for path in tmp_path.iterdir()] == [part.folder.name]
    part.close()


def test_the_fullest_of_several_is_taken(tmp_path: Path) -> None:
    first, second = filled(tmp_path, 0), filled(tmp_path, 1, 2, 3)
    for part in (first, second):
        disowned(part)
    part = open_part(tmp_path, IDENTITY, BLOCK)
    assert part.found == {1, 2, 3}
    assert len(list(tmp_path.iterdir())) == 1
    part.close()


def test_a_living_process_keeps_its_file(tmp_path: Path) -> None:
    """BR-17: two that fetch the same object never write into one file."""
    first = filled(tmp_path, 0, 1)
    second = open_part(tmp_path, IDENTITY, BLOCK)
    assert second.found == frozenset()
    assert os.fstat(first.file).st_ino != os.fstat(second.file).st_ino
    first.close()
    second.close()


def test_what_is_elsewhere_is_copied_and_left_there(tmp_path: Path) -> None:
    left = disowned(filled(tmp_path, 0, 4), place="0" * 12)
    part = open_part(tmp_path, IDENTITY, BLOCK)
    assert part.found == {0, 4}
    assert os.pread(part.file, BLOCK, 4 * BLOCK) == CONTENT[4 * BLOCK : 5 * BLOCK]
    assert os.fstat(part.file).st_ino != (left / "data").stat().st_ino
    assert part.data.stat().st_mode & 0o777 == 0o600
    part.close()


def test_what_is_elsewhere_and_silent_is_taken(tmp_path: Path) -> None:
    left = disowned(filled(tmp_path, 0, 4), place="0" * 12)
    assert not is_dead(left)
    for path in left.iterdir():
        os.utime(path, (time.time() - 4000,) * 2)
    assert is_dead(left)
    part = open_part(tmp_path, IDENTITY, BLOCK)
    assert part.found == {0, 4}
    assert not left.exists()
    part.close()


def test_fresh_means_nothing_is_believed(tmp_path: Path) -> None:
    disowned(filled(tmp_path, 0, 4))
    part = open_part(tmp_path, IDENTITY, BLOCK, fresh=True)
    assert part.found == frozenset()
    part.close()


def test_somebody_was_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = disowned(filled(tmp_path, 0))

    def gone(*_: object) -> None:
        os.replace(left, tmp_path / "theirs")
        raise FileNotFoundError

    monkeypatch.setattr(os, "rename", gone)
    part = open_part(tmp_path, IDENTITY, BLOCK)
    assert part.found == frozenset()
    assert (tmp_path / "theirs" / "data").exists()
    part.close()


# --- room ----------------------------------------------------------------------------------------


def test_no_room_is_known_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = open_part(tmp_path, Identity("a", 1 << 60, None), BLOCK)
    with pytest.raises(VaultError, match="no space left") as caught:
        part.reserve()
    assert str(tmp_path) in str(caught.value)
    part.close()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_quota_is_known_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """And what is there already stays."""
    disowned(filled(tmp_path, 0, 2))
    part = open_part(tmp_path, IDENTITY, BLOCK)

    def full(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(VaultError, match="no space left"):
        part.reserve()
    disowned(part)
    monkeypatch.undo()
    part = open_part(tmp_path, IDENTITY, BLOCK)
    assert part.found == {0, 2}
    part.close()


def test_a_file_system_that_cannot_reserve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no")

    monkeypatch.setattr(os, "posix_fallocate", unsupported)
    part = filled(tmp_path, 1)
    assert part.data.stat().st_size == len(CONTENT)
    part.close()


def test_a_disk_that_fills_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = filled(tmp_path, 0)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(VaultError, match="no space left"):
        part.write(BLOCK, memoryview(CONTENT[BLOCK : 2 * BLOCK]))
    monkeypatch.undo()
    disowned(part)
    part = open_part(tmp_path, IDENTITY, BLOCK)
    assert part.found == {0}
    part.close()


def test_other_errors_name_the_folder(tmp_path: Path) -> None:
    (tmp_path / "12").write_text("a file where the folder should be")
    with pytest.raises(VaultError, match="12"):
        Store(tmp_path).open(HANDLE, IDENTITY, BLOCK)


# --- finished files ------------------------------------------------------------------------------


def test_a_published_file_is_found_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    record = published(store)
    assert (tmp_path / record.path).read_bytes() == CONTENT
    assert (record.proof, record.bytes_fetched, record.checked_at) == ("md5", 5120, NOW)
    found = store.find(HANDLE, IDENTITY, "h5ad", "2026-09-01T00:00:00Z")
    assert found is not None
    assert (found.sha256, found.bytes_fetched) == (record.sha256, 0)
    assert found.checked_at == "2026-09-01T00:00:00Z"
    assert len(list((tmp_path / "12").iterdir())) == 2
    assert json.loads((tmp_path / f"{record.path}.json").read_text())["checked_at"] == NOW


@pytest.mark.parametrize("identity", [IDENTITY, LOOSE])
@pytest.mark.parametrize("change", [b"", b"x", CONTENT[:-1] + b"\0", CONTENT + b"\0"])
def test_a_file_that_changed_is_thrown_away(
    tmp_path: Path, identity: Identity, change: bytes
) -> None:
    store = Store(tmp_path)
    path = tmp_path / published(store, identity).path
    path.write_bytes(change)
    assert store.find(HANDLE, identity, "h5ad", NOW) is None
    assert not path.exists()


@pytest.mark.parametrize("record", [None, b"", b"{}", b"[1]", b'{"handle": 5}'])
def test_a_file_without_a_record_needs_a_proof(tmp_path: Path, record: bytes | None) -> None:
    store = Store(tmp_path)
    for identity, expected in ((IDENTITY, "md5"), (LOOSE, None)):
        path = tmp_path / published(store, identity).path
        beside = Path(f"{path}.json")
        beside.unlink()
        if record is not None:
            beside.write_bytes(record)
        found = store.find(HANDLE, identity, "h5ad", NOW)
        assert (found.proof if found else None) == expected
        assert path.exists() is (expected is not None)


def test_a_record_of_another_handle_says_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = tmp_path / published(store, LOOSE).path
    beside = Path(f"{path}.json")
    beside.write_text(beside.read_text().replace("12.node", "13.node"))
    assert store.find(HANDLE, LOOSE, "h5ad", NOW) is None


def test_a_link_is_no_object(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.path(HANDLE, IDENTITY, "h5ad")
    path.parent.mkdir()
    (tmp_path / "other").write_bytes(CONTENT)
    path.symlink_to(tmp_path / "other")
    assert store.find(HANDLE, IDENTITY, "h5ad", NOW) is None


def test_what_dead_processes_left_goes_with_success(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = store.folder(HANDLE)
    disowned(filled(folder, 1, identity=LOOSE))
    alive = filled(folder, 2, identity=LOOSE)
    published(store)
    assert [path for path in folder.iterdir() if path.is_dir()] == [alive.folder]
    assert owner_of(alive.folder) in alive.folder.name
    alive.close()
