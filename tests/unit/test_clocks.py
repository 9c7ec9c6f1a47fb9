"""BR-52: files from the future get the present, others keep their time, and much is one warning."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from benchproof import clocks
from benchproof.lease import Lease
from benchproof.vault import clock


def test_only_the_future_is_brought_to_the_present(tmp_path: Path) -> None:
    now = time.time()
    moved = {"past": -86_400.0, "now": -1.0, "soon": 600.0, "tomorrow": 86_400.0}
    for name, ahead in moved.items():
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (now + ahead,) * 2)
    paths = [tmp_path / name for name in (*moved, "absent")]
    furthest, stuck = clocks.to_present(tmp_path, paths)
    assert furthest == pytest.approx(86_400, abs=60)
    times = {path.name: path.stat().st_mtime - now for path in paths if path.exists()}
    assert [times["past"], times["now"]] == pytest.approx([-86_400, -1])
    assert all(-1 < times[name] < 60 for name in ("soon", "tomorrow"))
    assert sorted(os.listdir(tmp_path)) == sorted(moved)
    assert stuck == []
    assert clocks.to_present(tmp_path, paths) == (0, [])


@pytest.mark.parametrize("number", [errno.EPERM, errno.EROFS])
def test_one_that_is_somebody_elses_stays_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Snakemake then fails every job that reads it, and our last words are for those who must mend it."""

    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    (tmp_path / "x").write_bytes(b"")
    os.utime(tmp_path / "x", (time.time() + 5400,) * 2)
    monkeypatch.setattr(os, "utime", refused)
    furthest, stuck = clocks.to_present(tmp_path, [tmp_path / "x", tmp_path / "absent"])
    assert stuck == [tmp_path / "x"]
    told = clocks.warning(furthest, stuck)
    assert told is not None
    assert f"{tmp_path / 'x'} is from the future, by up to 1.5 hours" in told


@pytest.mark.parametrize(
    ("ahead", "said"), [(0, None), (900, None), (901, "0.3 hours"), (90_000, "25.0 hours")]
)
def test_a_quarter_of_an_hour_is_worth_a_warning(ahead: float, said: str | None) -> None:
    told = clocks.warning(ahead)
    assert (told is None) if said is None else (told is not None and said in told)


@pytest.mark.parametrize("skew", [-3600.0, 3600.0], ids=["behind", "ahead"])
def test_a_lease_asks_no_clock_but_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, skew: float
) -> None:
    """A host whose own clock is an hour off neither takes a living lease nor leaves a stale one."""
    monkeypatch.setattr(time, "time", lambda: time.monotonic() + skew)
    monkeypatch.setenv("BENCHPROOF_LEASE", "first")
    lease = Lease(tmp_path)
    path = tmp_path / "lease.json"
    path.write_text('{"token": "other", "host": "elsewhere", "pid": 1, "started": "x"}')
    assert lease.held_by_other()
    os.utime(path, (clock(tmp_path) - 301,) * 2)
    assert not lease.held_by_other()
