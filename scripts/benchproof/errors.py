"""Errors that benchproof raises; each names the item, what was expected, what came and what to do.

BenchproofError
├── ConfigError         the configuration or the command line is wrong
├── ProofError          bytes do not hash to the git object id they were asked for by
├── Unreachable         a request failed and stayed failed after the retries
├── Absent              the server says that there is nothing to read
├── ObjectFailed        the object behind a handle could not be read
├── AllowanceTooSmall   the REST allowance cannot cover what is still needed
├── Unreadable          upstream text cannot be read as JSON
├── TableError          rows do not fit the table they were meant for
├── VaultError          the vault is missing something, damaged or not writable
├── LeakError           a graded value was about to leave the vault
├── ConfinementError    a process reached for what it had given up
├── GateError           something fails that did not fail before
├── NotReproduced       a report's tables differ from what its commits give
├── NotDeterministic    the same pins gave other bytes, or that was not shown
├── DriftError          something differs that must be looked at
├── HistoryError        past commits could not be derived for a fault of ours
├── SealError           a seal is missing, damaged or says what none can, or can't be signed
├── ClusterError        the cluster cannot be asked, or does not end a job
└── LeaseHeld           another living run holds the vault

No message ever carries a query string, userinfo or a token: `safe_url` is the only way a URL enters one.
"""

from __future__ import annotations

import errno
import os
from datetime import datetime
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

Cause = Literal[
    "offline",
    "no_network",
    "dns",
    "refused",
    "timeout",
    "stalled",
    "reset",
    "tls",
    "throttled",
    "server_error",
    "malformed",
    "host_not_allowed",
    "too_large",
    "git_failed",
]
AbsentStatus = Literal["missing", "private", "empty", "ref_missing"]
#: Reason of a ref without a commit before the date that an audit of the past looks at.
NOT_YET = "no_commit_yet"


#: Full disks, quotas and limits on files.
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_no_space(error: OSError) -> bool:
    """True when a disk, a quota or a limit is what kept something from being written."""
    return error.errno in _NO_SPACE


def unwritten(error: OSError, path: Path) -> str:
    """Return why a file could not be written: for its own sake, or for that of what it is made from.

    An error that names no file comes from one that is open: the one that is written, unless libraries read,
    whose errors have no number. Those are raised again.
    """
    if error.errno is None:
        raise error
    named = path if error.filename is None else Path(os.fsdecode(error.filename))
    beside = any(
        place.parent == path.parent and place.name.startswith(f"{path.name}.")
        for place in (named, *named.parents)
    )
    if named == path or beside or named in path.parents:
        return f"{path}: cannot be written ({why(error)}); free room or permissions there and run again."
    return f"{path}: cannot be made, since {named} cannot be read ({why(error)}); mend that and run again."


def tells_no_space(text: str) -> bool:
    """True when a text quotes the system's words for it, as programs do that are not ours."""
    return any(os.strerror(number) in text for number in _NO_SPACE)


def why(error: OSError) -> str:
    """Return what an OSError says, in few words and without its path; what has no room says `no space`."""
    if error.errno == errno.ENOSPC:
        return "no space left on the device"
    if error.errno is not None and is_no_space(error):
        return f"no space: {os.strerror(error.errno).lower()}"
    return error.strerror or type(error).__name__


def safe_url(url: str) -> str:
    """Return scheme, host, port and path of a URL; the query, fragment and userinfo are dropped."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an unreadable URL"
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    return f"{parts.scheme}://{host}{port}{parts.path}"


class BenchproofError(Exception):
    """Base of every error a user may see; `str()` is one or two plain sentences."""


class ConfigError(BenchproofError):
    """The configuration or the command line is wrong; the message names the key and the remedy."""


class ProofError(BenchproofError):
    """Bytes do not hash to their id.

    `kind` is blob, tree or commit; `expected` and `actual` are object ids.
    """

    def __init__(self, kind: str, expected: str, actual: str, where: str) -> None:
        super().__init__(
            f"{where}: {kind} does not hash to its id: expected {expected}, got {actual}. Nothing was kept. "
            "Run again; if it stays so, a mirror that is named here is damaged and can be deleted, or the "
            "upstream or a proxy alters content."
        )
        self.kind, self.expected, self.actual, self.where = kind, expected, actual, where


class Unreachable(BenchproofError):
    """A request failed after its retries. `cause` is a fixed code that goes into tables."""

    def __init__(
        self, cause: Cause, what: str, advice: str = "Run again to ask once more."
    ) -> None:
        super().__init__(f"{what}: not reachable ({cause}). {advice}")
        self.cause: Cause = cause


class Absent(BenchproofError):
    """The server answered, and the answer is that there is nothing to read.

    `reason` is a fixed code, the status where nothing more is known.
    """

    def __init__(self, status: AbsentStatus, what: str, reason: str | None = None) -> None:
        super().__init__(f"{what}: {reason or status}.")
        self.status: AbsentStatus = status
        self.reason: str = reason or status


class ObjectFailed(BenchproofError):
    """The object behind a handle could not be read: a row's status and reason, both fixed codes.

    `expired` is True when the URL has died and a new one may help.
    """

    def __init__(self, status: str, reason: str, what: str = "", *, expired: bool = False) -> None:
        super().__init__(f"{what or 'an object'}: {status} ({reason}).")
        self.status, self.reason, self.expired = status, reason, expired


class AllowanceTooSmall(BenchproofError):
    """The REST source needs more requests than GitHub still allows; both numbers are known."""

    def __init__(self, needed: int, allowed: int, reset_at: datetime | None) -> None:
        when = f" It resets at {reset_at:%Y-%m-%d %H:%M} UTC." if reset_at else ""
        super().__init__(
            f"{needed} requests are needed and {allowed} are left in GitHub's allowance.{when} "
            "Set GITHUB_TOKEN or use `source: git`; what has arrived is kept."
        )
        self.needed, self.allowed, self.reset_at = needed, allowed, reset_at


class Unreadable(BenchproofError):
    """Text cannot be read as JSON. `reason` is a fixed code that goes into tables."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"not readable as JSON: {reason}")
        self.reason = reason


class TableError(BenchproofError):
    """Rows do not fit the schema of their table, or a table cannot be read."""


class VaultError(BenchproofError):
    """The vault lacks something that an earlier stage should have left, or cannot be written."""


class LeakError(BenchproofError):
    """A graded value was found in something that leaves the vault; says where, never what."""


class ConfinementError(BenchproofError):
    """A confined process reached for the vault, a program or the network; says how and where, never what."""

    def __init__(self, tried: str, place: str) -> None:
        super().__init__(
            f"a confined job tried to {tried} at {place}; it was stopped. Report this as a defect."
        )
        self.tried, self.place = tried, place


class GateError(BenchproofError):
    """Something fails that did not fail in the last complete report; what it is has been said."""

    def __init__(self, code: int, label: str) -> None:
        super().__init__(
            f"the gate of {label} is shut ({code}): what is new stands above; mend it, or accept it in "
            "config/accepted.yaml."
        )


class NotReproduced(BenchproofError):
    """A report's tables differ from those that its commits give again; what differs has been said."""

    def __init__(self, label: str, tables: int, where: str) -> None:
        super().__init__(
            f"{label} was not reproduced: {tables} tables differ; what differs stands above, and all of it "
            f"in {where}."
        )


class NotDeterministic(BenchproofError):
    """The same pins gave other bytes, or a condition was not in force; what it is has been said."""

    def __init__(self, label: str, faults: str, where: str) -> None:
        super().__init__(
            f"{label} is not shown to be deterministic: {faults}; what it is stands above, and all of it in "
            f"{where}."
        )


class DriftError(BenchproofError):
    """Something differs that must be looked at, or the later report has gaps; what it is has been said."""

    def __init__(self, code: int, compared: str) -> None:
        said = {
            10: "something changed at or above drift.fail_on",
            11: "an invariant does not hold any more",
            20: "nothing to look at, and the later report is incomplete: run snakemake again",
        }[code]
        super().__init__(f"drift {compared}: {said} ({code}); what it is stands above.")
        self.code = code


class HistoryError(BenchproofError):
    """Commits of the past ended in an error that nobody expected; the others stand in the timeline."""

    def __init__(self, commits: int, logs: str) -> None:
        super().__init__(
            f"history: {commits} commits ended in an error of benchproof's own; the others stand in the "
            f"timeline. See {logs} and report it as a defect."
        )


class SealError(BenchproofError):
    """A report's seal is not there, says what no seal can say, or could not be signed."""


class ClusterError(BenchproofError):
    """The cluster could not be asked about the jobs of an ended run, or does not end them."""


class LeaseHeld(BenchproofError):
    """Another living run holds the vault."""
