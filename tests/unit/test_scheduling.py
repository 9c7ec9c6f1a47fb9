"""docs/scheduling.md and share/: what is recommended there is understood."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchproof import cli
from benchproof.watch import status
from benchproof.watch.arguments import seconds
from benchproof.watch.status import Status

ROOT = Path(__file__).resolve().parents[2]
UNITS = sorted((ROOT / "share" / "systemd").iterdir())
TEXTS = [ROOT / "docs" / "scheduling.md", *UNITS]


def commands() -> list[str]:
    """Return the arguments of every watched run that is shown."""
    found = set()
    for path in TEXTS:
        for line in path.read_text(encoding="utf-8").splitlines():
            shown = re.search(r"\.venv/bin/benchproof (watch[^|'\n]*)", line)
            if shown is not None:
                found.add(shown[1].strip())
    return sorted(found)


def test_there_are_recipes() -> None:
    assert len(commands()) >= 6
    assert len(UNITS) == 3


@pytest.mark.parametrize("line", commands())
def test_every_watched_run_that_is_shown_is_understood(line: str) -> None:
    options = cli._parser().parse_args(shlex.split(line))
    assert options.run.__name__ == "_watch"
    assert isinstance(options.limit, float)


def test_a_run_ends_before_the_scheduler_ends_it() -> None:
    """The interrupt needs its grace: a job's time is longer than its limit, and so is systemd's patience."""
    from benchproof.watch.nested import GRACE_S

    text = (ROOT / "docs" / "scheduling.md").read_text(encoding="utf-8")
    for hours, minutes in re.findall(r"--time=(\d+):(\d+):00", text):
        assert int(hours) * 3600 + int(minutes) * 60 > seconds("20h") + GRACE_S
    service = (ROOT / "share/systemd/benchproof.service").read_text(encoding="utf-8")
    stop = re.search(r"TimeoutStopSec=(\d+)min", service)
    assert stop is not None
    assert int(stop[1]) * 60 > GRACE_S
    assert "KillMode=mixed\nKillSignal=SIGINT\n" in service


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """Verified as they are installed: with a folder in its place whose command exists."""
    command = tmp_path / ".venv" / "bin" / "benchproof"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    units = tmp_path / "units"
    units.mkdir()
    for unit in UNITS:
        (units / unit.name).write_text(unit.read_text().replace("/srv/benchproof", str(tmp_path)))
    done = subprocess.run(
        ["systemd-analyze", "verify", *sorted(map(str, units.iterdir()))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_mail_has_our_first_line_as_its_subject_and_none_comes_of_nothing(tmp_path: Path) -> None:
    mail = tmp_path / "mail"
    mail.write_text('#!/bin/sh\nprintf "%s\\n" "$@"; echo ---; cat\n')
    mail.chmod(0o755)

    def sent(text: str) -> str:
        return subprocess.run(
            ["sh", str(ROOT / "share" / "mail.sh"), "you@example.org"],
            input=text,
            env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert sent("") == ""
    assert sent(' benchproof: "x" $y \\z\nmore\n') == (
        '-s\n benchproof: "x" $y \\z\n--\nyou@example.org\n---\n benchproof: "x" $y \\z\nmore\n'
    )


@pytest.mark.parametrize(
    ("days", "code"), [(1, 0), (9, 1), (None, 1)], ids=["fresh", "old", "never"]
)
def test_the_dead_man_check_that_is_shown_works(
    tmp_path: Path, days: int | None, code: int
) -> None:
    text = (ROOT / "docs" / "scheduling.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```sh\n(python3 -c .*?)```", text, re.DOTALL)
    ended = Status()
    if days is not None:
        when = datetime.now(UTC) - timedelta(days=days)
        ended = ended.begun("2026-01-15", when, "a.log").ended(10, when, complete=True)
    status.write(tmp_path / "results", ended)
    python = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=tmp_path,
        env={"PATH": f"{python}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert ("no complete report for" in done.stderr) == bool(code)
