"""Resolve: which handles can be had, and with that, which evaluations can be run.

A refusal is believed when it is said twice: services flap. What has no answer after the retries is
`unknown` with its cause and counts as nothing else.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchproof.concurrency import map_concurrently
from benchproof.journal import Journal
from benchproof.outputs import OPEN
from benchproof.progress import Progress
from benchproof.storage.opening import World
from benchproof.storage.signer import DOUBTED, Signed

#: What keeps every request from an answer, not this one alone.
_OUTAGES = {
    "no_network",
    "dns",
    "refused",
    "timeout",
    "stalled",
    "reset",
    "tls",
    "throttled",
    "server_error",
}


@dataclass(frozen=True, slots=True)
class Resolved:
    """What was learnt of one handle, and when."""

    handle: str
    status: str
    reason: str | None
    http_status: int | None
    checked_at: datetime

    def record(self) -> dict[str, Any]:
        """Return it as a journal keeps it."""
        return {
            "status": self.status,
            "reason": self.reason,
            "http_status": self.http_status,
            "checked_at": self.checked_at.isoformat(),
        }

    @classmethod
    def of(cls, handle: str, record: Mapping[str, Any]) -> Resolved:
        """Return what a journal kept."""
        moment = datetime.fromisoformat(record["checked_at"])
        return cls(handle, record["status"], record["reason"], record["http_status"], moment)


def resolve(
    eval_handles: Iterable[Mapping[str, Any]],
    world: World | None,
    journal: Journal,
    *,
    connections: int,
    now: Callable[[], datetime],
) -> list[Resolved]:
    """Return what is known of each distinct handle, asking for what the journal doesn't know.

    `eval_handles` are rows of that table; what is no handle is sent to nobody. Without a world
    (offline) an unasked handle is unknown, with the reason `offline`.
    """
    good = {row["handle"]: row["status"] == "ok" for row in eval_handles}
    distinct = sorted(good)
    known = journal.items(Resolved.of)
    known |= {
        h: Resolved(h, "malformed", "handle_malformed", None, now()) for h in good if not good[h]
    }
    if world is None:
        return [known.get(h) or Resolved(h, "unknown", "offline", None, now()) for h in distinct]
    known = {handle: item for handle, item in known.items() if item.status not in OPEN}
    asked = [handle for handle in distinct if handle not in known]
    progress = Progress("resolve handles", len(asked))
    patience = Patience(3 * connections)

    def ask(handle: str) -> Resolved:
        """Ask once; what is doubted is journalled by the second round alone."""
        found = _ask(world, handle, patience, now())
        if found.status not in DOUBTED:
            journal.add(handle, found.record())
        progress.add()
        return found

    def ask_again(handle: str) -> Resolved:
        found = _ask(world, handle, patience, now())
        journal.add(handle, found.record())
        return found

    fresh = {found.handle: found for found in map_concurrently(ask, asked, connections)}
    doubted = [handle for handle in asked if fresh[handle].status in DOUBTED]
    fresh |= {found.handle: found for found in map_concurrently(ask_again, doubted, connections)}
    return [known.get(handle) or fresh[handle] for handle in distinct]


class Patience:
    """Ends a stage early when nothing gets through: after so many failures in a row, it is over.

    Six tries for each of five hundred handles would take an hour to say what the first fifty said. What
    says something of one item alone, such as a host that isn't allowed, doesn't count: the next run would
    begin with the same items and never come to the others.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._failed = limit, 0
        self._cause: str | None = None
        self._lock = threading.Lock()

    @property
    def over(self) -> str | None:
        """The cause that ended it, None while it lasts."""
        return self._cause

    def note(self, cause: str | None) -> None:
        """Count an outcome: the cause when there was no answer, None or another reason when there was."""
        with self._lock:
            outage = cause is not None and cause.removeprefix("signing_") in _OUTAGES
            self._failed = self._failed + 1 if outage else 0
            if self._failed >= self._limit and self._cause is None:
                self._cause = cause


def _ask(world: World, handle: str, patience: Patience, moment: datetime) -> Resolved:
    signed = Signed("unknown", patience.over, None)
    if patience.over is None:
        signed = world.signer.sign(handle)
        patience.note(signed.reason)
    if signed.url is not None:
        world.links.keep(handle, signed.url)
    return Resolved(handle, signed.status, signed.reason, signed.http_status, moment)


def handle_rows(
    resolved: Iterable[Resolved], eval_handles: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return rows of the handles table; `n_evals` counts the evaluations that name a handle."""
    users = Counter(row["handle"] for row in eval_handles)
    return [
        {
            "handle": item.handle,
            "status": item.status,
            "reason": item.reason,
            "http_status": item.http_status,
            "n_evals": users[item.handle],
            "checked_at": item.checked_at,
        }
        for item in resolved
    ]


def runnable_rows(
    evals: Iterable[Mapping[str, Any]],
    eval_handles: Iterable[Mapping[str, Any]],
    resolved: Iterable[Resolved],
    moment: datetime,
) -> list[dict[str, Any]]:
    """Return one row per evaluation that could be read; `checked_at` is that of its latest handle.

    An evaluation is `all` runnable when each of its handles resolves, `some` or `none` when refusals
    settle it, and `unknown` while an unanswered handle could still change the answer. One that names no
    handle is unknown, too: what it needs is not said.
    """
    known = {item.handle: item for item in resolved}
    named: dict[tuple[str, str], list[Resolved]] = defaultdict(list)
    for row in eval_handles:
        named[row["repo"], row["eval_id"]].append(known[row["handle"]])
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in evals:
        key = (row["repo"], row["eval_id"])
        if row["status"] == "ok":
            rows.setdefault(key, _runnable_row(row, named.get(key, []), moment))
    return list(rows.values())


def _runnable_row(
    row: Mapping[str, Any], items: list[Resolved], moment: datetime
) -> dict[str, Any]:
    reachable = sum(item.status == "reachable" for item in items)
    refused = sum(item.status == "refused" for item in items)
    unknown = len(items) - reachable - refused
    return {
        "repo": row["repo"],
        "eval_id": row["eval_id"],
        "n_handles": len(items),
        "n_reachable": reachable,
        "n_refused": refused,
        "n_unknown": unknown,
        "runnable": _runnable(reachable, refused, unknown),
        "checked_at": max((item.checked_at for item in items), default=moment),
    }


def _runnable(reachable: int, refused: int, unknown: int) -> str:
    if reachable and refused:
        return "some"
    if unknown or not (reachable or refused):
        return "unknown"
    return "all" if reachable else "none"
