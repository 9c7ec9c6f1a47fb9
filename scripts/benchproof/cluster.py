"""Jobs of a run on a Slurm cluster: which outlived it or ended badly, and how they are ended.

Snakemake's executor gives all jobs of a run one name, which no other run has. The lease keeps that name, so
that whoever takes it over from a dead run can end what the cluster still does for it. Only `squeue` and
`scancel` are asked, and only for a run that was submitted: accounting (`sacct`) is off on many clusters.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchproof.errors import ClusterError

#: States that a job never leaves (squeue's JOB STATE CODES); one that may be requeued comes back as PENDING.
ENDED = frozenset(
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED REVOKED TIMEOUT".split()
)
#: Over, but for a node that has not said so: it does on its return, and a dead node never.
ENDING = "COMPLETING"
#: How often a controller that is busy or restarts is asked, and the seconds between.
TRIES, WAIT_S = 4, 2.0
#: How long ended jobs may take to be gone. Slurm kills what ignores SIGTERM after KillWait, 30 s by default.
PATIENCE_S = 90.0
_SILENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class ClusterJob:
    """A submitted job: Slurm's number and state of it, and what the executor noted, rule or group."""

    number: str
    state: str
    note: str


def name_of(workflow: Any) -> str | None:
    """Return the name that this Snakemake's jobs bear on a cluster; None when it submits none."""
    executor = getattr(workflow.scheduler, "_executor", None)
    name = getattr(executor, "run_uuid", None)
    return name if isinstance(name, str) else None


def leftovers(name: str, *, sleep: Callable[[float], None] = time.sleep) -> list[ClusterJob]:
    """Return the jobs of that name which have not ended, by number.

    Raises ClusterError when the cluster can't be asked: no answer doesn't mean that there are none.
    """
    return [job for job in _jobs(name, sleep) if job.state not in ENDED]


def failures(name: str, *, sleep: Callable[[float], None] = time.sleep) -> list[ClusterJob]:
    """Return the last job of each rule or group of that name when it ended badly, as long as Slurm knows.

    Raises ClusterError when the cluster can't be asked.
    """
    last = {job.note: job for job in _jobs(name, sleep)}
    return [job for job in last.values() if job.state in ENDED - {"COMPLETED"}]


def is_empty(name: str, *, sleep: Callable[[float], None] = time.sleep) -> bool:
    """True when the cluster knows no job of that name, ended or not: it refused all, or none was submitted.

    Raises ClusterError when the cluster can't be asked.
    """
    return not _jobs(name, sleep)


def cancel(
    name: str,
    *,
    patience_s: float = PATIENCE_S,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """End the jobs of that name and return how many there were. Only for a run that is dead or ending.

    Raises ClusterError when some go on after `patience_s`, or when the cluster can't be asked.
    """
    found = left = leftovers(name, sleep=sleep)
    deadline = clock() + patience_s
    while left:
        doomed = [job.number for job in left if job.state != ENDING]
        if clock() >= deadline:
            if not doomed:
                break
            raise ClusterError(
                f"jobs {', '.join(doomed)} of an ended run go on {patience_s:.0f} s after scancel "
                f"({left[0].state}); end them with `scancel --name={name}` and run again."
            )
        if doomed:
            _ask("scancel", *doomed, sleep=sleep)
        sleep(min(1.0, patience_s))
        left = leftovers(name, sleep=sleep)
    return len(found)


def _jobs(name: str, sleep: Callable[[float], None]) -> list[ClusterJob]:
    user = f"--user={os.getuid()}"
    asked = ["--noheader", "--states=all", user, f"--name={name}", "--format=%i|%T|%k"]
    lines = _ask("squeue", *asked, sleep=sleep).splitlines()
    found = (ClusterJob(*(part.strip() for part in line.split("|", 2))) for line in lines if line)
    return sorted(found, key=lambda job: _order(job.number))


def _order(number: str) -> tuple[int, str]:
    """Jobs by number, the tasks of an array (12_3) behind each other."""
    first = number.partition("_")[0]
    return (int(first) if first.isdigit() else 0, number)


def _ask(program: str, *arguments: str, sleep: Callable[[float], None]) -> str:
    """Return what a Slurm command says; a failure is tried again, since controllers restart."""
    said = ""
    for attempt in range(TRIES):
        if attempt:
            sleep(WAIT_S * attempt)
        try:
            done = subprocess.run(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_SILENCE_S,
                check=False,
            )
        except FileNotFoundError:
            raise ClusterError(
                f"{program} is not on this machine, and an ended run may still have jobs on a cluster; "
                "run where Slurm's commands are, or give this run its own --config resources=…"
            ) from None
        except subprocess.TimeoutExpired:
            said = f"silent for {_SILENCE_S:.0f} s"
            continue
        if done.returncode == 0 or "Invalid job id" in done.stderr:  # gone since it was listed
            return done.stdout
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:200]
    raise ClusterError(
        f"{program} failed {TRIES} times ({said}), and an ended run may still have jobs on the cluster; "
        "run again when Slurm answers."
    )
