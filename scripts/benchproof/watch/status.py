"""results/status.json: what became of the last watched run, for whoever checks that runs still come.

A run writes it at its start, at each step and at its end, whole or not at all. A run that never ended is
one whose `state` still says `running` long after `started_at`. It names no host, process or folder:
results are there to be shared, and the lease in the vault says who runs.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from benchproof import __version__, jsontext
from benchproof.errors import Unreadable, why
from benchproof.outputs import replacing

NAME: Final = "status.json"
RUNNING, ENDED = "running", "ended"
#: What a run puts a file beside that it can't take as it is.
ASIDE: Final = "status.json.damaged"


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
    """Return the status that the last run left, as far as it can be taken; without a file, that of no run."""
    return checked(results)[0]


def checked(results: Path) -> tuple[Status, list[str]]:
    """Return the status that the last run left, and what of it can't be taken, for a person to read.

    What somebody has edited is no reason not to audit: a wrong value counts as none, and the others stay.
    """
    try:
        found = jsontext.read_object(results / NAME)
    except FileNotFoundError:
        return Status(), []
    except OSError as error:
        return Status(), [f"it cannot be read ({why(error)})"]
    except Unreadable:
        return Status(), ["it is no JSON object"]
    known = {item.name: found[item.name] for item in fields(Status) if item.name in found}
    wrong = [name for name, value in known.items() if not _RIGHT[name](value)]
    right = {name: value for name, value in known.items() if name not in wrong}
    return Status(**{**right, "told": tuple(right.get("told", ()))}), [
        f"`{name}` has a value that it can't have" for name in wrong
    ]


def set_aside(results: Path) -> None:
    """Keep the file that can't be taken as it is; where that fails, it stays until it is written over."""
    with suppress(OSError):
        os.replace(results / NAME, results / ASIDE)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _maybe_text(value: Any) -> bool:
    return value is None or _text(value)


def _number(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 53


def _counts(value: Any) -> bool:
    return isinstance(value, dict) and all(_number(number) for number in value.values())


def _instant(value: Any) -> bool:
    """True for none, and for an instant that a calendar has and arithmetic in any zone can reach."""
    if not isinstance(value, str):
        return value is None
    try:
        return bool(_INSTANT.fullmatch(value)) and 1970 <= datetime.fromisoformat(value).year < 9999
    except ValueError:
        return False


_INSTANT: Final = re.compile(r"[0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}(?::[0-9]{2}){2}Z")
#: What each field may hold in a file that anybody can write.
_RIGHT: Final[Mapping[str, Callable[[Any], bool]]] = {
    "schema": _number,
    "version": _text,
    "state": lambda value: value in (RUNNING, ENDED),
    "step": _text,
    "date": _maybe_text,
    "started_at": _instant,
    "ended_at": _instant,
    "succeeded_at": _instant,
    "exit_code": lambda value: value is None or _number(value),
    "unended": _number,
    "complete": _maybe_text,
    "findings": _counts,
    "unknown": _number,
    "drift": _counts,
    "subject": _text,
    "told": lambda value: isinstance(value, list) and all(_text(item) for item in value),
    "told_of": _maybe_text,
    "next": _text,
    "log": _maybe_text,
}


def write(results: Path, status: Status) -> None:
    """Write the status; raises TableError when there is no room, and the old one stays."""
    values: dict[str, Any] = asdict(status)
    with replacing(results / NAME) as part:
        part.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
