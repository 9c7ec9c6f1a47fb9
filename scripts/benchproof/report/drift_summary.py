"""summary.md of a comparison: what matters first, in lines for people, within 4096 bytes."""

from __future__ import annotations

from collections import Counter
from typing import Final

from benchproof.analysis.drift.compare import Drift
from benchproof.analysis.drift.groups import Group
from benchproof.printable import printable
from benchproof.severity import SEVERITIES

MOST_BYTES: Final = 4096
#: Groups and notes that are told; more are counted.
_GROUPS, _NOTES, _COLUMNS, _NAMED = 10, 6, 260, 90


def render(drift: Drift) -> str:
    """Return the text; groups are left out from its end until it fits."""
    for told in range(_GROUPS, -1, -1):
        text = "\n".join(map(_line, _lines(drift, told))) + "\n"
        if len(text.encode()) <= MOST_BYTES:
            return text
    raise AssertionError("the lines that are always there fit")  # each is cut, and they are few


def headline(drift: Drift) -> str:
    """Return how much differs, in one line; an upstream change in many rows counts once."""
    changes = [group for group in drift.groups if group.observed]
    counted = Counter(group.severity for group in changes)
    said = ", ".join(f"{counted[name]} {name}" for name in SEVERITIES if counted[name])
    unseen = sum(len(group.diffs) for group in drift.groups if not group.observed)
    rest = f"; {unseen} rows not observed" if unseen else ""
    number = f"{len(changes)} change{'' if len(changes) == 1 else 's'}"
    return f"{number}{f' ({said})' if said else ''}{rest}"


def sentence(group: Group) -> str:
    """Return what a group is, in one line: how bad, where, what, which commit, and one of its rows."""
    where = (group.repo or group.subject).rsplit("/", 1)[-1]
    commit = f", by {group.commit[:10]}" if group.commit else ""
    return f"{group.severity}: {where}: {group.sentence} ({group.why}){commit}{example(group)}"


def example(group: Group) -> str:
    """Return the row that shows a group best, after a comma; nothing where its name says little."""
    told = 0 < len(group.first) <= _NAMED and not group.first.isdecimal()
    return f", e.g. {group.first}" if told else ""


def _lines(drift: Drift, told: int) -> list[str]:
    changes = [group for group in drift.groups if group.observed]
    unseen = [group for group in drift.groups if not group.observed]
    lines = [f"drift {drift.old.label}..{drift.new.label}: {headline(drift)}"]
    lines += [f"- {sentence(group)}" for group in changes[:told]]
    if len(changes) > told:
        lines.append(f"- and {len(changes) - told} more changes, see drift.html")
    for group in unseen[:3]:
        lines.append(f"Not observed: {group.repo or 'tables'}: {group.sentence}")
    lines += [f"Note: {note}" for note in drift.notes[:_NOTES]]
    if len(drift.notes) > _NOTES:
        lines.append(f"and {len(drift.notes) - _NOTES} more notes, see drift.html")
    return lines


def _line(text: str) -> str:
    """Return one line that a terminal can print; names from upstream may hold what it would obey."""
    told = printable(text)
    return told if len(told) <= _COLUMNS else told[: _COLUMNS - 1] + "…"
