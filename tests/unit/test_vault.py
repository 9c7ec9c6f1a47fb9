"""The vault is private whatever the umask, and its files are whole or absent."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchproof.errors import VaultError
from benchproof.vault import (
    BlobStore,
    Vault,
    partial,
    private_file,
    private_folder,
    read_json,
    slug,
    sweep,
    write_json,
)


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(root: Path) -> set[tuple[bool, str]]:
    found = [root, *root.rglob("*")]
    return {(path.is_dir(), oct(stat.S_IMODE(path.stat().st_mode))) for path in found}


def test_folders_are_0700_and_files_0600(tmp_path: Path, umask: None) -> None:
    vault = Vault(tmp_path / "a" / "vault")
    vault.create()
    vault.home()
    write_json(vault.pin_record("2026-01-15", "demo/one", "main"), {})
    write_json(vault.work("results", "2026-01-15") / "findings" / "x.json", [])
    BlobStore(vault).put("ab" * 20, b"x")
    assert modes(vault.root) == {(True, "0o700"), (False, "0o600")}


def test_an_existing_open_vault_is_closed(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir(mode=0o755)
    Vault(tmp_path / "vault").create()
    assert modes(tmp_path / "vault") == {(True, "0o700")}


def test_missing_parents_are_private_too(tmp_path: Path, umask: None) -> None:
    private_folder(tmp_path / "a" / "b" / "c")
    assert modes(tmp_path / "a") == {(True, "0o700")}


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"old": 1})
    half = private_file(path)
    half.__enter__().write(b"half")
    half.__exit__(RuntimeError, RuntimeError(), None)
    assert read_json(path) == {"old": 1}
    with private_file(path) as handle:
        handle.write(b"[]")
        handle.flush()
        assert read_json(path) == {"old": 1}
    assert read_json(path) == []
    assert os.listdir(tmp_path) == ["x.json"]


def test_no_room_names_the_file_and_keeps_the_old_one(tmp_path: Path) -> None:
    """BR-53"""
    path = tmp_path / "x.json"
    write_json(path, "old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(
            VaultError, match=r"x\.json: cannot be written \(no space: file too large\)"
        ):
            write_json(path, "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert read_json(path) == "old"
    assert os.listdir(tmp_path) == ["x.json"]


def test_a_file_in_the_way_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "vault").write_text("")
    vault = Vault(tmp_path / "vault")
    for make in (vault.create, vault.home):
        with pytest.raises(VaultError, match="vault"):
            make()
    with pytest.raises(VaultError, match="vault"):
        write_json(vault.root / "a" / "b", 1)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe"], ids=repr)
def test_our_own_damaged_file_is_named(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(VaultError, match=r"x\.json: damaged"):
        read_json(tmp_path / "x.json")
    with pytest.raises(VaultError, match=r"y\.json: missing"):
        read_json(tmp_path / "y.json")


def test_paths_of_different_things_differ(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    refs = ("main", "MAIN", "a/b", "a+b", "../x", "x" * 500)
    paths = {vault.pin_record("2026-01-15", repo, ref) for repo in ("a/b", "a/c") for ref in refs}
    assert len(paths) == 2 * len(refs)
    assert all(path.parent == tmp_path / "pins" / "2026-01-15" for path in paths)
    assert max(len(path.name) for path in paths) < 100
    assert slug("latchbio/scbench") == "latchbio+scbench"


@pytest.mark.parametrize(
    "results", ["results", "a/b", "/srv/results", "../out", "..", "./results", "/"]
)
def test_hand_overs_stay_inside_the_vault(tmp_path: Path, results: str) -> None:
    work = Path(os.path.normpath(Vault(tmp_path).work(results, "2026-01-15")))
    assert work.is_relative_to(tmp_path / "handover")


def test_blobs_are_kept_by_id(tmp_path: Path) -> None:
    store = BlobStore(Vault(tmp_path))
    assert store.get("ab" * 20) is None
    store.put("ab" * 20, b"\x00x")
    assert store.get("ab" * 20) == b"\x00x"


def test_what_killed_writers_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    kept = [
        tmp_path / name for name in ("x.part", "x.json.123.part", "download.h5ad.part", "y.json")
    ]
    left = [partial(tmp_path / "a" / name) for name in ("x.json", "x.json", ".hidden")]
    (tmp_path / "a").mkdir()
    for path in [*kept, *left]:
        path.touch()
    assert len(set(left)) == 3
    assert sweep(tmp_path) == 3
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(kept)


def test_a_private_vault_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a read-only file system even the same mode cannot be set, and a finished date needs nothing."""
    Vault(tmp_path / "v").create()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "chmod", refuse)
    Vault(tmp_path / "v").create()
