"""results/status.json: whole at any time, and enough to see a run that never ended."""

from __future__ import annotations

import errno
import json
import os
import stat
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchproof.errors import TableError
from benchproof.watch import status
from benchproof.watch.status import Status

NOW = datetime(2026, 1, 15, 3, 0, tzinfo=UTC)


def test_a_run_that_never_ended_is_seen(tmp_path: Path) -> None:
    """`running` since long ago; the next run counts it, and its own end makes an end of that."""
    first = Status().begun("2026-01-15", NOW, "a.log")
    status.write(tmp_path, first)
    found = status.read(tmp_path)
    assert (found.state, found.started_at, found.unended) == ("running", "2026-01-15T03:00:00Z", 0)
    second = found.begun("2026-01-22", NOW + timedelta(days=7), "b.log")
    third = second.begun("2026-01-29", NOW + timedelta(days=14), "c.log")
    assert (second.unended, third.unended) == (1, 2)
    assert third.ended(0, NOW + timedelta(days=14), complete=True).unended == 0


@pytest.mark.parametrize("code", [0, 10, 11, 20])
def test_only_a_complete_report_is_a_success(code: int) -> None:
    """Something new beside something unknown is 10 as well, and no success."""
    good = Status().begun("2026-01-15", NOW, "a.log").ended(code, NOW, complete=True)
    assert good.succeeded_at == good.ended_at == "2026-01-15T03:00:00Z"
    later = NOW + timedelta(days=7)
    bad = good.begun("2026-01-22", later, "b.log").ended(code, later, complete=False)
    assert bad.succeeded_at == "2026-01-15T03:00:00Z"
    assert (bad.ended_at, bad.exit_code) == ("2026-01-22T03:00:00Z", code)


def test_it_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    told = Status(
        findings={"critical": 1, "major": 0}, drift={"critical": 2}, told=("a", "é"), told_of="x"
    ).begun("2026-01-15", NOW, "a.log")
    status.write(tmp_path, told)
    assert status.read(tmp_path) == told


@pytest.mark.parametrize("name", [item.name for item in fields(Status)])
@pytest.mark.parametrize("value", [[1], {"a": "b"}, 1.5, True, -1])
def test_a_value_of_another_type_counts_as_none(tmp_path: Path, name: str, value: object) -> None:
    """A person has edited it: the others stay, and it is named."""
    good = Status(told=("a",), succeeded_at="2026-01-15T03:00:00Z", unended=2)
    status.write(tmp_path, good)
    path = tmp_path / status.NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    found, wrong = status.checked(tmp_path)
    assert found == replace(good, **{name: getattr(Status(), name)})
    assert [line.split("`")[1] for line in wrong] == [name]


@pytest.mark.parametrize(
    "instant", ["yesterday", "", "2026-01-15T03:00:00", "2026-13-45T00:00:00Z", 5]
)
def test_an_instant_is_one_and_says_its_zone(tmp_path: Path, instant: object) -> None:
    (tmp_path / status.NAME).write_text(json.dumps({"started_at": instant, "state": "running"}))
    found, wrong = status.checked(tmp_path)
    assert (found.started_at, found.state, len(wrong)) == (None, "running", 1)


@pytest.mark.parametrize(
    "text",
    [None, "", "{", "[]", '"x"', '{"told": 5}', '{"other": 1, "unended": 3}', "[" * 99_999],
    ids=lambda text: str(text)[:30],
)
def test_a_damaged_or_newer_status_stops_no_run(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / status.NAME).write_text(text)
    expected = 3 if text and "unended" in text else 0
    assert status.read(tmp_path).unended == expected


def test_a_full_disk_is_said_and_the_old_status_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-53"""
    status.write(tmp_path, Status(date="2026-01-15"))
    before = (tmp_path / status.NAME).read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(TableError, match=r"(?i)status\.json: cannot be written \(no space left"):
        status.write(tmp_path, Status(date="2026-01-22"))
    assert {path.name for path in tmp_path.iterdir()} == {status.NAME}
    assert (tmp_path / status.NAME).read_bytes() == before


def test_a_group_can_read_it(tmp_path: Path) -> None:
    """BR-53: the umask decides."""
    former = os.umask(0o027)
    try:
        status.write(tmp_path, Status())
    finally:
        os.umask(former)
    assert stat.S_IMODE((tmp_path / status.NAME).stat().st_mode) == 0o640


def test_it_names_no_host_process_or_folder(tmp_path: Path) -> None:
    status.write(tmp_path, Status().begun("2026-01-15", NOW, "a.log"))
    found = json.loads((tmp_path / status.NAME).read_text())
    assert not {"host", "pid", "user", "results", "resources"} & set(found)


@pytest.mark.parametrize(
    "change",
    [
        *({"started_at": 5}, {"started_at": "soon"}, {"started_at": "2026-13-01T00:00:00Z"}),
        *({"findings": [1]}, {"findings": {"critical": "<b>"}}, {"unended": True}, {"told": "abc"}),
        *(
            {"exit_code": 10**400},
            {"subject": {}},
            {"ended_at": "0001-01-01T00:00:00Z"},
            {"told": [1]},
        ),
    ],
    ids=str,
)
def test_a_value_that_somebody_else_wrote_counts_as_none(
    tmp_path: Path, change: dict[str, object]
) -> None:
    """results/ is there to be shared: what stands in it must not end the next run, or its metrics."""
    known = {"started_at": "2026-01-15T03:00:00Z", "findings": {"critical": 1}, "told": ["a"]}
    (tmp_path / status.NAME).write_text(json.dumps(known))
    assert status.read(tmp_path).findings == {"critical": 1}
    (tmp_path / status.NAME).write_text(json.dumps({**known, **change}))
    (tmp_path / "without").mkdir()
    kept = {name: value for name, value in known.items() if name not in change}
    (tmp_path / "without" / status.NAME).write_text(json.dumps(kept))
    assert status.read(tmp_path) == status.read(tmp_path / "without")
    (tmp_path / status.NAME).write_text("[" * 100_000)
    assert status.read(tmp_path) == Status()
