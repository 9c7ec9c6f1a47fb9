"""results/status.json: what became of the last watched run, for whoever checks that runs still come.

A run writes it at its start, at each step and at its end, whole or not at all. A run that never ended is
one whose `state` still says `running` long after `started_at`. It names no host, process or folder:
results are there to be shared, and the lease in the vault says who runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from benchproof import __version__
from benchproof.outputs import replacing

NAME: Final = "status.json"
RUNNING, ENDED = "running", "ended"


@dataclass(frozen=True)
class Status:
    """What a status file says; instants are UTC, ISO 8601 to the second, ending in Z."""

    schema: int = 1
    version: str = __version__
    state: str = ENDED
    #: audit, gate, drift, purge or done
    step: str = "done"
    #: The label of the report that the last run worked on.
    date: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    #: When a run last ended with a report that nothing is missing from, whatever it says.
    succeeded_at: str | None = None
    #: Of the last run that ended.
    exit_code: int | None = None
    #: Runs that began and never ended since one last did.
    unended: int = 0
    #: The label that results/latest leads to.
    complete: str | None = None
    findings: Mapping[str, int] = field(default_factory=dict)
    unknown: int = 0
    drift: Mapping[str, int] = field(default_factory=dict)
    #: The first line of what the last run said; empty when nothing was new.
    subject: str = ""
    #: The news that were said of a report, and of which, so that they are said once.
    told: tuple[str, ...] = ()
    told_of: str | None = None
    next: str = ""
    #: The name of the run's log, in <resources>/logs.
    log: str | None = None

    def begun(self, date: str, now: datetime, log: str) -> Status:
        """Return the status of a run that begins after this one."""
        unended = self.unended + (self.state == RUNNING)
        return replace(
            self,
            schema=1,
            version=__version__,
            state=RUNNING,
            step="audit",
            date=date,
            started_at=instant(now),
            unended=unended,
            next="wait for the run to end",
            log=log,
        )

    def ended(
        self, code: int, now: datetime, *, complete: bool, subject: str = "", next: str = ""
    ) -> Status:
        """Return the status of this run at its end, and whether it left a complete report."""
        return replace(
            self,
            state=ENDED,
            step="done",
            ended_at=instant(now),
            succeeded_at=instant(now) if complete else self.succeeded_at,
            exit_code=code,
            unended=0,
            subject=subject,
            next=next,
        )


def instant(now: datetime) -> str:
    """Return a UTC instant as text, to the second."""
    return f"{now:%Y-%m-%dT%H:%M:%SZ}"


def read(results: Path) -> Status:
    """Return the status that the last run left; a missing or damaged file is one of no run at all."""
    try:
        found = json.loads((results / NAME).read_bytes())
        known = {item.name: found[item.name] for item in fields(Status) if item.name in found}
        return Status(**{**known, "told": tuple(known.get("told", ()))})
    except (OSError, ValueError, TypeError):
        return Status()


def write(results: Path, status: Status) -> None:
    """Write the status; raises TableError when there is no room, and the old one stays."""
    values: dict[str, Any] = asdict(status)
    with replacing(results / NAME) as part:
        part.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
