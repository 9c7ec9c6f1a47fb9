"""results/status.json: what became of the last watched run, for whoever checks that runs still come.

A run writes it at its start, at each step and at its end, whole or not at all. A run that never ended is
one whose `state` still says `running` long after `started_at`. It names no host, process or folder:
results are there to be shared, and the lease in the vault says who runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from benchproof import __version__, jsontext
from benchproof.errors import Unreadable
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
        found = jsontext.read_object(results / NAME)
    except (OSError, Unreadable):
        return Status()
    known = {item.name: found[item.name] for item in fields(Status) if item.name in found}
    if not all(_FITS[str(item.type)](known.get(item.name, item)) for item in fields(Status)):
        return Status()
    times = [known.get(name) for name in ("started_at", "ended_at", "succeeded_at")]
    if not all(time is None or (_INSTANT.fullmatch(time) and _is_instant(time)) for time in times):
        return Status()
    return Status(**{**known, "told": tuple(known.get("told", ()))})


_INSTANT: Final = re.compile(r"[0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}(?::[0-9]{2}){2}Z")


def _is_instant(text: str) -> bool:
    """True for an instant that a calendar has, and that arithmetic in any zone can reach."""
    try:
        return 1970 <= datetime.fromisoformat(text).year < 9999
    except ValueError:
        return False


def _whole(value: Any) -> bool:
    return type(value) is int and abs(value) < 1 << 53


#: What a field of each type may hold in a file that anybody can write; a field itself stands for none.
_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "int": lambda v: isinstance(v, Field) or _whole(v),
    "int | None": lambda v: isinstance(v, Field) or v is None or _whole(v),
    "str": lambda v: isinstance(v, Field | str),
    "str | None": lambda v: isinstance(v, Field | str | None),
    "Mapping[str, int]": lambda v: (
        isinstance(v, Field) or (isinstance(v, dict) and all(map(_whole, v.values())))
    ),
    "tuple[str, ...]": lambda v: (
        isinstance(v, Field) or (isinstance(v, list) and all(isinstance(t, str) for t in v))
    ),
}


def write(results: Path, status: Status) -> None:
    """Write the status; raises TableError when there is no room, and the old one stays."""
    values: dict[str, Any] = asdict(status)
    with replacing(results / NAME) as part:
        part.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
