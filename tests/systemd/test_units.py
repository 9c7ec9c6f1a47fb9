"""share/systemd under a real systemd, which is the first process of namespaces of its own (Linux, root).

`make test-systemd` asks for these; they take a minute, and what they need is not there in most containers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from conftest import ROOT, settings
from family import Family
from upstream import Upstream

pytestmark = [
    pytest.mark.systemd,
    pytest.mark.workflow,
    pytest.mark.skipif(
        "SYSTEMD_TESTBED" not in os.environ, reason="boots a systemd; `make test-systemd` does"
    ),
]
PATIENCE_S = 120
SERVED = "/srv/benchproof"
#: An environment's command that runs the code beside it, whatever project the environment was made for.
COMMAND = (
    f'#!/bin/sh\nPYTHONPATH={SERVED}/scripts exec {SERVED}/.venv/bin/python -m benchproof "$@"\n'
)
#: As on most machines, but that nobody is asked for a password.
SUDO = '#!/bin/sh\nexec "$@"\n'


class Machine:
    """A machine with systemd, on which the project lies in /srv/benchproof."""

    def __init__(self, project: Path) -> None:
        self.project = project
        # Kernels with both hierarchies have the second below; systemd is content without controllers.
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
        (place, *_) = [line.split()[1] for line in mounts if line.split()[2] == "cgroup2"]
        self._group = Path(place, f"benchproof-{os.getpid()}")

    def __enter__(self) -> Machine:
        self._group.mkdir()
        join = f"echo $$ > {self._group}/cgroup.procs"
        boot = [str(Path(__file__).with_name("boot.sh")), str(self.project)]
        boot += [str(ROOT / ".venv"), sys.base_prefix]
        own = [
            "unshare",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount",
            "--cgroup",
            "--uts",
            "--ipc",
        ]
        with (self.project.parent / "console.log").open("wb") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", f'{join}; exec "$@"', "sh", *own, *boot],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        until(lambda: self.run("systemctl", "is-system-running").stdout == "running\n")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        until(lambda: "populated 0" in (self._group / "cgroup.events").read_text())
        for folder, _folders, _files in os.walk(self._group, topdown=False):
            os.rmdir(folder)

    @property
    def _first(self) -> str:
        """The number of systemd's process, as it is seen from outside."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        return (children.read_text().split() or ["0"])[0]

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command inside, as root and in the project."""
        path = f"{SERVED}/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
        return subprocess.run(
            ["nsenter", "-t", self._first, "-m", "-p", "-u", "-i", "-C",
             "sh", "-c", f'cd {SERVED} && exec "$@"', "sh", *command],
            env={"PATH": path, **more}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def shows(self, unit: str, what: str) -> str:
        """A property of a unit."""
        return self.run("systemctl", "show", "--value", f"-p{what}", unit).stdout.strip()

    def start(self) -> int:
        """Start the service, wait for its end, and return the exit code of what it runs."""
        self.run("systemctl", "start", "benchproof.service")
        return self.code()

    def code(self) -> int:
        return int(self.shows("benchproof.service", "ExecMainStatus"))

    def journal(self, which: str = "") -> str:
        return self.run("journalctl", "-q", "-u", f"benchproof{which}.service").stdout

    def mail(self) -> list[str] | None:
        """The lines of a mail since the last look; None when there was none."""
        until(lambda: self.run("systemctl", "list-jobs", "--no-legend").stdout == "")
        assert self.shows("benchproof-mail.service", "Result") == "success", self.journal("-mail")
        path = self.project / "mail"
        if not path.exists():
            return None
        lines = path.read_text(encoding="utf-8").splitlines()
        path.unlink()
        return lines

    def status(self) -> dict[str, object]:
        found: dict[str, object] = json.loads((self.project / "results/status.json").read_text())
        return found


def until(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def served(small_family: Family) -> Iterator[Upstream]:
    with Upstream(small_family.root, family=small_family) as upstream:
        yield upstream


@pytest.fixture(scope="module")
def machine(
    tmp_path_factory: pytest.TempPathFactory, small_family: Family, served: Upstream
) -> Iterator[Machine]:
    """The project as docs/scheduling.md has it installed, with what a user wrote into its configuration."""
    project = tmp_path_factory.mktemp("systemd") / "project"
    for name in ("config", "docs", "envs", "profiles", "rules", "scripts", "share"):
        shutil.copytree(ROOT / name, project / name)
    shutil.copy(ROOT / "Snakefile", project)
    config = project / "config" / "config.yaml"
    theirs, chosen = (
        yaml.safe_load(config.read_text(encoding="utf-8")),
        settings(small_family, served),
    )
    del chosen["date"]
    for name in ("endpoints", "http", "fetch"):
        chosen[name] = {**theirs[name], **chosen[name]}
    config.write_text(json.dumps({**theirs, **chosen}), encoding="utf-8")
    (project / "bin").mkdir()
    for path, text in (("command", COMMAND), ("bin/sudo", SUDO)):
        (project / path).write_text(text)
        (project / path).chmod(0o755)
    with Machine(project) as found:
        yield found


def test_it_is_installed_and_catches_up(machine: Machine) -> None:
    """A timer that was due while the machine was off starts the service; what it says is mailed."""
    page = (ROOT / "docs" / "scheduling.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```sh\n(for unit in share/systemd.*?)```", page, re.DOTALL)
    stamp = "/var/lib/systemd/timers/stamp-benchproof.timer"
    machine.run("install", "-D", "/dev/null", stamp)
    machine.run("touch", "-d", "15 days ago", stamp)
    delay = "/etc/systemd/system/benchproof.timer.d/now.conf"
    machine.run(
        "sh",
        "-c",
        f"mkdir {delay.rpartition('/')[0]}; echo '[Timer]\nRandomizedDelaySec=0' > {delay}",
    )
    done = machine.run("sh", "-c", script, USER="benchproof")
    assert done.returncode == 0, done.stderr
    until(lambda: machine.shows("benchproof.service", "ActiveState") == "failed")
    mail = machine.mail()
    assert mail is not None, machine.journal("*")
    assert machine.code() == 11, (
        mail
    )  # the small family fails an invariant that it is too small for
    assert mail[0] == "-s"
    assert mail[1].endswith(": 1 invariant newly fails")
    assert mail[2:4] == ["--", "you@example.org"]
    assert mail[-1].startswith("Report: results/")
    assert machine.status()["exit_code"] == 11


def test_a_second_run_has_nothing_to_say(machine: Machine) -> None:
    assert machine.start() == 0
    assert machine.shows("benchproof.service", "Result") == "success"
    assert machine.mail() is None


def test_a_run_that_meets_another_is_no_failure(machine: Machine, served: Upstream) -> None:
    """A user's own run is under way when the timer comes."""
    anew(machine)
    own = ["--uid=benchproof", "--unit=own", f"--working-directory={SERVED}", "--setenv=HOME=/tmp"]
    machine.run("systemd-run", *own, f"{SERVED}/.venv/bin/benchproof", "watch")
    until((machine.project / "resources" / "lease.json").exists)
    assert machine.start() == 75
    assert machine.shows("benchproof.service", "Result") == "success"
    assert machine.mail() is None
    machine.run("systemctl", "stop", "own.service")


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("stop",), "20", "stopped by SIGINT; the next run goes on"),
        (("kill", "--signal=KILL"), "9", "benchproof: signal (KILL)"),
    ],
    ids=["stopped", "killed"],
)
def test_a_run_that_is_ended_from_outside_is_told_of_and_gone_on_from(
    machine: Machine, command: tuple[str, ...], code: str, said: str
) -> None:
    """Nothing of it is left in the service's group, and the next start ends the audit."""
    anew(machine)
    machine.run("systemctl", "start", "--no-block", "benchproof.service")
    until((machine.project / "resources" / "lease.json").exists)
    machine.run("systemctl", *command, "benchproof.service")
    until(lambda: machine.shows("benchproof.service", "ActiveState") == "failed")
    assert machine.shows("benchproof.service", "ExecMainStatus") == code
    assert machine.shows("benchproof.service", "TasksCurrent") in ("0", "[not set]")
    mail = machine.mail()
    assert mail is not None, machine.journal("*")
    assert said in mail[1]
    assert machine.start() == 11
    assert machine.mail() is not None


def anew(machine: Machine) -> None:
    """Forget what was audited, so that a run takes a while."""
    for name in ("results", "resources"):
        shutil.rmtree(machine.project / name, ignore_errors=True)
