"""What became of each chosen snapshot, as rows of the files table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from benchproof.storage import files
from benchproof.storage.files import file_rows
from benchproof.storage.inspect import Inspected
from unit.storage.conftest import HANDLE, NOW

OLD, NEW = "0" * 32, "1" * 32


def record(etag: str, path: str = "100/x.h5ad") -> dict[str, Any]:
    known = {"handle": HANDLE, "path": path, "size": 9, "sha256": "a" * 64, "etag": etag}
    said = {"status": "ok", "reason": None, "last_modified": None, "proof": "md5"}
    return known | said | {"bytes_fetched": 9, "checked_at": NOW.isoformat()}


def rows(fetched: dict[str, Any], peek_reason: str | None = None) -> list[dict[str, Any]]:
    chosen = {"handle": HANDLE, "etag": OLD, "size_bytes": 9, "last_modified": None}
    contents = {"handle": HANDLE, "status": "ok", "reason": peek_reason, "n_obs": 5, "n_vars": 2}
    selection = {"parts": {"100": [chosen]}, "rows": []}
    found = file_rows([fetched], selection, [contents], Path("snapshots"), NOW)
    tables.build("files", found, {})
    return found


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let every file be good; returns what each was compared with."""
    seen: list[Any] = []

    def fake(*_: object, peeked: Any, **__: Any) -> Inspected:
        seen.append(peeked and peeked["n_obs"])
        return Inspected("ok", None, 7, 2, "h5py")

    monkeypatch.setattr(files, "inspect", fake)
    return seen


@pytest.mark.parametrize(
    ("etag", "peek_reason", "with_what", "reason"),
    [
        pytest.param(OLD, None, 5, None, id="one-version"),
        pytest.param(NEW, None, None, "newer_than_probe", id="replaced-after-the-peek"),
        pytest.param(NEW, "newer_than_probe", None, "newer_than_probe", id="replaced-before-it"),
        pytest.param(OLD, "newer_than_probe", None, None, id="put-back"),
    ],
)
def test_br03_a_file_is_compared_with_a_peek_into_the_same_version(
    compared: list[Any], etag: str, peek_reason: str | None, with_what: Any, reason: str | None
) -> None:
    """An object that was replaced before it was fetched has no shape that it should have kept."""
    (row,) = rows(record(etag), peek_reason)
    assert compared == [with_what]
    assert (row["status"], row["reason"], row["etag"]) == ("ok", reason, etag)


def test_br03_other_containers_say_that_they_are_newer(compared: list[Any]) -> None:
    (row,) = rows(record(NEW, "100/x.bam"))
    assert (row["status"], row["reason"], compared) == ("ok", "newer_than_probe", [])
