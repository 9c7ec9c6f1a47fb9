"""A report as drift sees it: its tables, and what it looked at.

A row that is not there means something only where the report looked. What was out of its scope, could
not be reached or was never asked for is not observed: neither changed nor gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from benchproof.analysis.drift.frames import Frame, Row
from benchproof.foreign import is_pin
from benchproof.outputs import OPEN
from benchproof.tables import SPECS

#: Statuses of a pin that lead to content.
PINNED = ("ok", "renamed")
#: Reasons of claims that nobody could check, for want of what they ask about.
_UNASKED = re.compile(r"not_in_this_audit|repository_not_read|table_missing_\w+|not_all_known_\w+")
#: Statuses of chosen snapshots that were not brought: nothing was learnt of them.
_NOT_BROUGHT = ("too_large", "unresolved")
#: Tables about handles, each filled from the one before it.
HANDLES = ("handles", "objects", "contents", "files")
#: Tables about all audited repositories together.
WHOLE = ("readings",)


@dataclass
class Report:
    """The tables of one folder, by name, with what each says about its making.

    `complete` is None where no seal says it. `notes` name what is damaged.
    """

    label: str
    frames: Mapping[str, Frame]
    about: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    complete: bool | None = None
    notes: tuple[str, ...] = ()

    def rows(self, name: str) -> list[Row]:
        """Return all rows of a small table; none of one that is not there or lacks its key."""
        frame = self.frames.get(name)
        whole = frame is not None and set(SPECS[name].key) <= frame.kinds.keys()
        return frame.all() if frame is not None and whole else []

    @cached_property
    def pins(self) -> dict[str, Row]:
        """The pin of each repository; without a pins table what the tables say they were made from."""
        rows = {row["repo"]: row for row in self.rows("pins") if is_pin(row)}
        if rows:
            return rows
        made = [about.get("pins") or {} for about in self.about.values()]
        return {
            repo: {"repo": repo, "commit_sha": commit, "status": PINNED[0] if commit else OPEN[0]}
            for commits in made
            for repo, commit in (commits.items() if isinstance(commits, Mapping) else ())
            if is_pin({"repo": repo, "commit_sha": commit})
        }

    @cached_property
    def read(self) -> frozenset[str]:
        """The repositories whose content was read."""
        rows = self.rows("reconciliation")
        unread = {row["repo"] for row in rows if row.get("status") == "not_read"}
        pinned = {
            repo
            for repo, pin in self.pins.items()
            if pin.get("status") in PINNED and pin.get("commit_sha")
        }
        return frozenset(pinned - unread)

    @cached_property
    def users(self) -> dict[str, set[str]]:
        """The repositories whose evaluations name each handle."""
        found: dict[str, set[str]] = {}
        for row in self.rows("eval_handles"):
            found.setdefault(row["handle"], set()).add(row["repo"])
        return found

    @cached_property
    def _states(self) -> dict[str, dict[str, Row]]:
        return {name: {row["handle"]: row for row in self.rows(name)} for name in HANDLES}

    def state(self, table: str, handle: str) -> Row | None:
        """Return the row of a handle in one of the tables about handles."""
        return self._states[table].get(handle)

    def commit(self, repo: str) -> str | None:
        """Return the commit of a repository."""
        found: str | None = self.pins.get(repo, {}).get("commit_sha")
        return found


def is_open(table: str, row: Row) -> bool:
    """True for a row that stands there and says that it isn't known."""
    status = row.get("status")
    if status in OPEN or (table, status) == ("reconciliation", "not_read"):
        return True
    if table == "runnable":
        return row.get("runnable") == "unknown"
    if table == "files":
        return status in _NOT_BROUGHT
    if table == "claims":
        return status == "not_checked" and bool(_UNASKED.fullmatch(row.get("reason") or ""))
    return False


def observes(report: Report, table: str, row: Row, owner: Report) -> bool:
    """True when a report would hold this row, which stands in its `owner`, if there were one like it."""
    if table not in report.frames:
        return False
    if table == "pins":
        return row["repo"] in report.pins
    if table in HANDLES:
        return _looked_behind(report, table, row["handle"], owner)
    if table in WHOLE:
        return report.read == owner.read
    if "repo" not in row:
        return True
    return row["repo"] in report.read and (table not in _RESTS_ON or _RESTS_ON[table](report, row))


def _looked_behind(report: Report, table: str, handle: str, owner: Report) -> bool:
    """True when every repository that names the handle was read, and the tables before say the rest."""
    if not owner.users.get(handle, set()) <= report.read:
        return False
    if table == "handles":
        return True
    for name in HANDLES[: HANDLES.index(table)]:
        if name not in report.frames:
            return False
        row = report.state(name, handle)
        if row is None:  # a handle that nobody names any more, or an object that nobody asked for
            return name == "handles"
        if is_open(name, row):
            return False
        if row.get("status") not in ("reachable", "ok"):
            return True
    # Everything before it is well and the row is missing: nobody asked for it.
    return report.state(table, handle) is not None


def _all_contents_known(report: Report, row: Row) -> bool:
    """True when nothing that a repository's handles lead to stayed unknown."""
    handles = (handle for handle, repos in report.users.items() if row.get("repo") in repos)
    states = (report.state(name, h) for h in handles for name in ("handles", "objects", "contents"))
    return not any(state is not None and state.get("status") in OPEN for state in states)


#: What else must be known before a missing row of a table says anything.
_RESTS_ON: Mapping[str, Callable[[Report, Row], bool]] = {"data_findings": _all_contents_known}
