"""One log a run, in the vault."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchproof.errors import VaultError
from benchproof.watch import logs
from benchproof.watch.logs import RunLog

NOW = datetime(2026, 1, 15, 3, 0, 7, tzinfo=UTC)


def test_it_is_private_and_named_by_its_start(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "vault", NOW)
    log.say(["one", "two"])
    assert log.path.name == "2026-01-15T030007Z.log"
    assert log.path.read_text() == "one\ntwo\n"
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_two_runs_within_a_second_lose_nothing(tmp_path: Path) -> None:
    """BR-54"""
    RunLog(tmp_path, NOW).say(["first"])
    RunLog(tmp_path, NOW).say(["second"])
    assert RunLog(tmp_path, NOW).path.read_text() == "first\nsecond\n"


def test_only_our_own_words_leave_it(tmp_path: Path) -> None:
    """A traceback or a command of Snakemake's may hold anything."""
    log = RunLog(tmp_path, NOW)
    log.say(["Traceback", "benchproof: a failed: x", "  benchproof: no", "benchproof: a failed: x"])
    log.say([f"benchproof: {n} failed: y" for n in range(9)])
    assert log.last_words(3) == [f"benchproof: {n} failed: y" for n in (6, 7, 8)]
    assert log.last_words(50)[0] == "benchproof: a failed: x"
    assert len(log.last_words(50)) == 10


def test_the_oldest_logs_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"2026-01-{day:02}T000000Z.log" for day in range(1, 8)]
    for folder in (tmp_path / "vault" / "logs", tmp_path / ".snakemake" / "log"):
        folder.mkdir(parents=True)
        for name in (*names, "other.txt"):
            (folder / name).touch()
    logs.prune(tmp_path / "vault", kept=2)
    for folder in (tmp_path / "vault" / "logs", tmp_path / ".snakemake" / "log"):
        assert sorted(path.name for path in folder.iterdir()) == [*names[-2:], "other.txt"]


def test_a_folder_without_logs_is_none_to_prune(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    logs.prune(tmp_path / "vault")
    assert list(tmp_path.iterdir()) == []


def test_no_room_for_it_is_said(tmp_path: Path) -> None:
    """BR-53"""
    log = RunLog(tmp_path, NOW)
    log.path.unlink()
    log.path.symlink_to("/dev/full")
    with pytest.raises(VaultError, match=r"(?i)no space left"):
        log.say(["x" * 100])
    (tmp_path / "taken").write_text("")
    with pytest.raises(VaultError, match="taken"):
        RunLog(tmp_path / "taken", NOW)
