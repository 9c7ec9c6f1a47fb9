"""The seal: what is in a report's folder, and where `latest` leads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path

import pytest

from benchproof.errors import LeakError
from benchproof.outputs import replacing
from benchproof.sealing import seal
from unit.sealing.folders import written


def folder(results: Path, label: str, complete: object = True) -> Path:
    path = results / label
    path.mkdir(parents=True)
    (path / "pins.parquet").write_bytes(label.encode())
    seal.write_seal(path, seal.seal_text(path, {"complete": complete, "label": label}))
    return path


def latest(results: Path, *labels: str) -> str:
    for label in labels:
        if not (results / label).exists():
            folder(results, label)
        seal.point_latest(results, label)
    return os.readlink(results / "latest")


def test_the_seal_lists_every_file_but_itself_and_logs(tmp_path: Path) -> None:
    path = tmp_path / "2026-01-15"
    for name in (
        "report.html",
        "a/b.json",
        "logs/x.log",
        "seal.json",
        "x.parquet.1.part",
        "logs.txt",
    ):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(name)
    (path / "link").symlink_to("report.html")
    seal.write_seal(path, seal.seal_text(path, {"complete": True}))
    files = seal.sealed(path)
    assert files == {
        name: sha256(name.encode()).hexdigest() for name in ("a/b.json", "logs.txt", "report.html")
    }
    assert list(files) == sorted(files)
    assert seal.digests(path) == files


def test_the_signature_stands_before_the_seal_and_an_older_one_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is sealed counts as finished: a run that ends in between must not leave it unsigned."""
    text = seal.seal_text(tmp_path, {"complete": True})
    written: list[str] = []
    whole = replacing

    def noted(path: Path) -> AbstractContextManager[Path]:
        written.append(path.name)
        return whole(path)

    monkeypatch.setattr(seal, "replacing", noted)
    seal.write_seal(tmp_path, text, b"signed")
    assert written == ["seal.json.sig", "seal.json"]
    assert (tmp_path / "seal.json.sig").read_bytes() == b"signed"
    seal.write_seal(tmp_path, text)
    assert [path.name for path in tmp_path.iterdir()] == ["seal.json"]


def test_the_same_folder_gives_the_same_seal(tmp_path: Path) -> None:
    texts = {(folder(tmp_path / name, "2026-01-15") / "seal.json").read_text() for name in "ab"}
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ('{"complete": true}', True),
        ('{"complete": false}', False),
        ("{}", False),
        ("[]", False),
        ("5", False),
        ("", False),
        ('{"complete"', False),
        (None, False),
    ],
)
def test_only_a_whole_seal_that_says_so_is_complete(
    tmp_path: Path, text: str | None, complete: bool
) -> None:
    if text is not None:
        (tmp_path / "seal.json").write_text(text)
    assert seal.is_complete(tmp_path) is complete
    assert seal.is_complete(tmp_path / "nowhere") is False


def test_latest_leads_to_the_newest_and_never_backwards(tmp_path: Path) -> None:
    assert latest(tmp_path, "2026-01-15") == "2026-01-15"
    assert latest(tmp_path, "2026-01-10") == "2026-01-15"
    assert latest(tmp_path, "2026-02-01") == "2026-02-01"
    assert latest(tmp_path, "2026-02-01") == "2026-02-01"
    assert (tmp_path / "latest" / "seal.json").exists()
    assert {path.name for path in tmp_path.iterdir()} == {
        "latest",
        "2026-01-10",
        "2026-01-15",
        "2026-02-01",
    }


def test_a_latest_that_is_gone_or_broken_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to("2026-03-01")
    assert latest(tmp_path, "2026-01-15") == "2026-01-15"
    folder(tmp_path, "2026-04-01", complete=False)
    (tmp_path / "latest").unlink()
    (tmp_path / "latest").symlink_to("2026-04-01")
    assert latest(tmp_path, "2026-01-15") == "2026-01-15"


def test_an_audit_of_the_past_is_never_the_latest(tmp_path: Path) -> None:
    """Once there it would stay for good: "asof-" sorts behind every date."""
    latest(tmp_path, "2026-01-15")
    assert latest(tmp_path, "asof-2025-06-01") == "2026-01-15"
    assert latest(tmp_path, "2026-01-16") == "2026-01-16"


def test_a_date_takes_latest_back_from_an_audit_of_the_past(tmp_path: Path) -> None:
    folder(tmp_path, "asof-2025-06-01")
    (tmp_path / "latest").symlink_to("asof-2025-06-01")
    assert latest(tmp_path, "2026-01-16") == "2026-01-16"


def test_publishing_copies_whole_files_over_older_ones(tmp_path: Path) -> None:
    staged, out = tmp_path / "staged", tmp_path / "out"
    staged.mkdir(mode=0o700)
    for name in ("report.html", "summary.md"):
        (staged / name).write_text(name)
        (staged / name).chmod(0o600)
    out.mkdir()
    (out / "report.html").write_text("old")
    before = os.umask(0o027)
    try:
        seal.publish(staged, out, ("report.html", "summary.md"))
    finally:
        os.umask(before)
    assert {path.name: path.read_text() for path in out.iterdir()} == {
        name: name for name in ("report.html", "summary.md")
    }
    assert (out / "summary.md").stat().st_mode & 0o777 == 0o640


def test_a_date_that_has_not_come_holds_no_other_back(tmp_path: Path) -> None:
    """A mistyped year must not hide every later report for a lifetime."""
    assert latest(tmp_path, "2026-01-15") == "2026-01-15"
    assert latest(tmp_path, "2999-01-01") == "2999-01-01"
    assert latest(tmp_path, "2026-01-22") == "2026-01-22"


@pytest.mark.parametrize("value", ["x", [1], 1, "true"])
def test_only_true_is_complete(tmp_path: Path, value: object) -> None:
    assert not seal.is_complete(folder(tmp_path, "2026-01-15", value))


@pytest.mark.parametrize(
    ("name", "meanwhile"),
    [
        ("new.md", lambda folder, staged: (folder / "new.md").write_text("x")),
        ("findings/new.md", lambda folder, staged: (folder / "findings/new.md").write_text("x")),
        (
            "licences.parquet",
            lambda folder, staged: (folder / "licences.parquet").write_bytes(b"x"),
        ),
        (
            "other.md",
            lambda folder, staged: (folder / "findings/demo+one.md").rename(folder / "other.md"),
        ),
        ("report.html", lambda folder, staged: (staged / "report.html").write_text("x")),
    ],
    ids=["new", "new below", "changed", "renamed", "staged"],
)
def test_what_was_changed_after_the_search_is_not_sealed(
    tmp_path: Path, name: str, meanwhile: Callable[[Path, Path], object]
) -> None:
    """Nor published: what is staged is looked at before it is copied."""
    with pytest.raises(LeakError, match=f"1 files were changed .*first: {re.escape(name)}"):
        written(tmp_path / "results", meanwhile=meanwhile)
    made = tmp_path / "results" / "2026-01-15"
    assert not (made / "seal.json").exists()
    assert (made / "report.html").exists() == (name != "report.html")


def test_logs_may_be_written_after_the_search(tmp_path: Path) -> None:
    """And what is gone meanwhile isn't sealed."""

    def meanwhile(folder: Path, staged: Path) -> None:
        (folder / "logs" / "more.log").write_text("x")
        (folder / "findings" / "demo+one.md").unlink()

    made = written(tmp_path / "results", meanwhile=meanwhile)
    assert "findings/demo+one.md" not in seal.sealed(made)
