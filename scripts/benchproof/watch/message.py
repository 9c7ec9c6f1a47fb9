"""What a watched run says: a first line that serves as a mail's subject, what matters, where it stands.

Pure. Nothing is said when nothing is new; what has been said of a date is not said again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from benchproof.analysis.gate import FAILED, INCOMPLETE, INVARIANT, NEW, OK, Item
from benchproof.pending import Unknown
from benchproof.printable import printable
from benchproof.severity import SEVERITIES

#: Columns of a subject, and lines that matter.
WIDTH: Final = 78
MOST: Final = 10
USAGE, HELD = 2, 75
#: What a person, or the next run, does about an exit code.
_NEXT: Final[Mapping[int, str]] = {
    OK: "nothing",
    FAILED: "read the log; the next run goes on from what is there",
    USAGE: "correct the configuration",
    NEW: "read the report; mend what is new, or accept it in config/accepted.yaml",
    INVARIANT: "read the report; mend what is new, or accept it in config/accepted.yaml",
    INCOMPLETE: "nothing: the next run on this date asks for what is unknown",
    HELD: "wait for the other run to end",
}


@dataclass(frozen=True)
class Changes:
    """A comparison: its exit code, its groups by severity, and of those that matter number and lines."""

    code: int = OK
    groups: Mapping[str, int] = field(default_factory=dict)
    waking: Mapping[str, int] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    page: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """An exit code, the lines to be said, none when nothing is new, and where more of it stands.

    `news` is what of it is said once a date; `standing` is the exit code that is left once it has been: None
    for a run that came to no report, which is said each time.
    """

    code: int
    lines: tuple[str, ...] = ()
    news: tuple[str, ...] = ()
    standing: int | None = OK
    where: str = ""

    @property
    def text(self) -> str:
        """What is printed; empty when nothing is new."""
        return "".join(f"{line}\n" for line in (*self.lines, self.where) if self.lines and line)

    @property
    def next(self) -> str:
        """What is to be done now, for the status."""
        return _NEXT[self.code]

    def unless_told(self, told: Sequence[str]) -> Message:
        """Return what is left to say after `told` was said of the same date: nothing, without further news.

        What was new then is not new now; what is unknown still is, and is not said again, however much it is.
        """
        if self.standing is None or not set(self.news) <= set(told):
            return self
        return Message(self.standing)


def judged(
    label: str,
    new: Sequence[Item],
    changes: Changes,
    unknown: Sequence[Unknown],
    complete: bool,
    where: str,
) -> Message:
    """Return what a finished report has to say: what newly fails, what changed, what is not known.

    `new` is at or above the severity that the configuration names, and so are the changes that are told.
    """
    invariants = [item for item in new if item.invariant]
    others = Counter(item.severity for item in new if not item.invariant)
    parts = [
        _counted(len(invariants), "invariant newly fails", "invariants newly fail"),
        _by_severity(others, "new failure"),
        _by_severity(changes.waking, "change"),
    ]
    if not complete:
        parts.append("incomplete" if not unknown else f"incomplete, {len(unknown)} unknown")
    said = [part for part in parts if part]
    if not said:
        return Message(OK)
    broken = invariants or changes.code == INVARIANT
    code = INVARIANT if broken else NEW if others or changes.waking else INCOMPLETE
    found = [*(item.line for item in new), *(f"change: {line}" for line in changes.lines)]
    if not complete and not unknown:
        found.append("Not everything was audited: `only` leaves members out, or see the report.")
    lines = (subject(label, "; ".join(said)), *_clipped([*found, *_unlearnt(unknown)]))
    news = (*_clipped(found), *([] if complete else ["incomplete"]))
    return Message(code, lines, news, OK if complete else INCOMPLETE, where)


def unfinished(
    label: str, code: int, why: str, lines: Iterable[str] = (), where: str = ""
) -> Message:
    """Return what is said of a run that did not come to a report."""
    said = (subject(label, why), *_clipped(list(lines)))
    return Message(code, said, standing=None, where=where)


def subject(label: str, text: str) -> str:
    """Return one line of at most WIDTH columns."""
    line = printable(f"benchproof {label}: {text}")
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}" if number else ""


def _by_severity(counts: Mapping[str, int], what: str) -> str:
    """Return for example `3 new failures (2 critical, 1 major)`."""
    told = ", ".join(f"{counts[name]} {name}" for name in SEVERITIES if counts.get(name))
    number = sum(counts.values())
    return f"{number} {what}{'s' if number > 1 else ''} ({told})" if number else ""


def _unlearnt(unknown: Iterable[Unknown]) -> list[str]:
    """Return what stayed unknown, counted by stage and cause."""
    counts = Counter((item.stage, item.cause) for item in unknown)
    return [f"unknown: {stage}: {number} ({cause})" for (stage, cause), number in counts.items()]


def _clipped(lines: Sequence[str]) -> list[str]:
    shown = [printable(line) for line in lines[:MOST]]
    return [*shown, f"and {len(lines) - MOST} more"] if len(lines) > MOST else shown
