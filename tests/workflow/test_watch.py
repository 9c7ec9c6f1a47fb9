"""`benchproof watch` for real: a schedule that overlaps, is killed, stopped, and finds its disk full."""

from __future__ import annotations

import os
import re
import resource
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign.schedule import Schedule
from campaign.watch import killed
from conftest import content, settings
from family import Family
from upstream import Upstream

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def served(small_family: Family) -> Iterator[Upstream]:
    with Upstream(small_family.root, family=small_family) as upstream:
        yield upstream
        assert not upstream.errors, upstream.errors


@pytest.fixture(scope="module")
def first(
    tmp_path_factory: pytest.TempPathFactory, small_family: Family, served: Upstream
) -> tuple[Schedule, subprocess.CompletedProcess[str]]:
    """The first date of a schedule, and what its run said; a group works in its folder."""
    folder = tmp_path_factory.mktemp("a schedule")  # with a space, as users' folders have
    schedule = Schedule(folder, settings(small_family, served))
    before = os.umask(0o002)
    try:
        return schedule, schedule.run()
    finally:
        os.umask(before)


@pytest.fixture
def schedule(first: tuple[Schedule, object]) -> Schedule:
    return first[0]


def test_the_first_report_says_what_stands(
    first: tuple[Schedule, subprocess.CompletedProcess[str]],
) -> None:
    """The small family fails an invariant that it is too small for; nothing else is critical."""
    schedule, done = first
    lines = done.stdout.splitlines()
    assert done.returncode == 11, done.stdout
    assert lines[0] == f"benchproof {schedule.out.name}: 1 invariant newly fails"
    assert lines[-1] == f"Report: results/{schedule.out.name}/report.html"
    assert schedule.faults() == []
    assert schedule.status["exit_code"] == 11
    (log,) = (schedule.vault / "logs").iterdir()
    assert "pin_commits" in log.read_text()


def test_a_group_works_with_results_and_nobody_reads_the_vault(schedule: Schedule) -> None:
    """BR-53: 0664 and 0775 under umask 002; test_filesystems has 027."""
    found = {
        (path.is_dir(), stat.S_IMODE(path.stat().st_mode))
        for path in (schedule.out, *schedule.out.rglob("*"))
    }
    assert found == {(True, 0o775), (False, 0o664)}
    vault = [schedule.vault, *schedule.vault.rglob("*")]
    assert [str(path) for path in vault if stat.S_IMODE(path.lstat().st_mode) & 0o077] == []


def test_a_second_run_on_a_date_is_idle_and_quiet(schedule: Schedule, served: Upstream) -> None:
    """BR-54: it changes nothing and asks nobody."""
    before = content(schedule.out)
    served.log.reset()
    done = schedule.run()
    assert (done.returncode, done.stdout) == (0, "")
    assert content(schedule.out) == before
    assert served.log.requests() == []
    assert schedule.status["exit_code"] == 0


def test_runs_overlap_are_stopped_and_find_no_room(schedule: Schedule, served: Upstream) -> None:
    """BR-49, BR-50 (a), BR-53: one date of trouble, and then a whole report.

    The second of two runs leaves with 75, silently, and touches nothing. SIGTERM ends the first cleanly, and
    its processes with it. A disk on which files end at 16 KiB is said, and costs no report that was there;
    halves are not taken for whole, even if Snakemake is told to keep what failed jobs leave.
    """
    whole = content(schedule.out)
    before = {p: p.read_bytes() for p in (schedule.folder / "results").glob("2*/*.*")}
    schedule.on("2026-01-22")
    slow = served.add("latency", "git", seconds=2)
    process = schedule.start()
    assert schedule.wait_until(lambda: schedule.status["state"] == "running", process)
    second = schedule.run()
    assert (second.returncode, second.stdout) == (75, "")
    assert schedule.status["state"] == "running"
    running = schedule.others()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 20
    assert not [pid for pid in running if Path(f"/proc/{pid}").exists()]
    assert (schedule.status["state"], schedule.status["exit_code"]) == ("ended", 20)
    assert not (schedule.vault / "lease.json").exists()
    served.faults.remove(slow)
    full = with_little_room(schedule, 16 * 1024)
    assert full.returncode == 1
    assert full.stdout.startswith("benchproof 2026-01-22: ")
    assert re.search(r"cannot be written \(.*file too large\)", full.stdout, re.IGNORECASE)
    assert full.stderr == ""
    assert {p: p.read_bytes() for p in before} == before
    assert not (schedule.vault / "lease.json").exists()
    done = schedule.run()
    assert (done.returncode, done.stdout) == (0, "")
    assert schedule.faults() == []
    assert content(schedule.out) == whole


def with_little_room(schedule: Schedule, most: int) -> subprocess.CompletedProcess[str]:
    """Run where no file can grow beyond `most` bytes."""
    return subprocess.run(
        [*schedule.command(), "--keep-incomplete"],
        env=schedule.environ(),
        cwd=schedule.folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("day", "moment", "alone"),
    [("2026-01-29", "pinned", True), ("2026-02-05", "regraded", False)],
    ids=["the main process", "all of its processes"],
)
def test_the_run_after_a_kill_is_complete(
    schedule: Schedule, day: str, moment: str, alone: bool
) -> None:
    """BR-49: SIGKILL leaves a lease, marks, halves of files and, of the main process alone, orphans that
    still write. `python -m campaign.watch` kills at every stage, both ways.
    """
    whole = content(schedule.out)
    schedule.on(day)
    assert killed(schedule, moment, alone)
    assert schedule.status["state"] == "running"
    done = schedule.run()
    assert (done.returncode, done.stdout) == (0, "")
    assert schedule.faults() == []
    assert content(schedule.out) == whole
