"""The two folders of a reproduction: what was recorded, and what was derived again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchproof import tables
from benchproof.analysis.reproduction import Outcome, compare, makers
from benchproof.job import Unread
from benchproof.recorded import rows


def compare_folders(recorded: Path, derived: Path, names: Iterable[str]) -> list[Outcome]:
    """Return what came of each of these tables, in their order."""
    return [_compare(recorded, derived, name) for name in names]


def missed(recorded: Path, unread: Iterable[Unread]) -> list[str]:
    """Return, with the cause, the repositories that the report had read and that could not be read now."""
    listed = rows(recorded, "reconciliation")
    had = {row["repo"] for row in listed if row["status"] != "not_read"}
    return [f"{item.repo} ({item.reason})" for item in unread if item.repo in had]


def _compare(recorded: Path, derived: Path, name: str) -> Outcome:
    theirs, ours = recorded / f"{name}.parquet", derived / f"{name}.parquet"
    if not theirs.is_file():
        return Outcome(name, "nothing", note="not in the report, which another version made")
    why = makers(_about(theirs), _about(ours))
    if not why and theirs.read_bytes() == ours.read_bytes():
        return Outcome(name, "bytes")
    left, right = rows(recorded, name), rows(derived, name)
    found = compare(name, tables.SPECS[name].key, left, right)
    lacking = _one_sided(left, right)
    if why:
        return Outcome(name, "rows", why, max(len(left), len(right)), found, lacking)
    # The same makers must give the same bytes, of pins but for how they were asked.
    note = "" if found else "its bytes differ, its rows don't"
    broken = not found and not (name == "pins" and left != right)
    return Outcome(name, "bytes", "", max(len(left), len(right)), found, note, broken)


def _one_sided(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> str:
    """Say which columns only one version has; nothing when they are the same, or there are no rows."""
    if not left or not right:
        return ""
    gone, new = sorted(set(left[0]) - set(right[0])), sorted(set(right[0]) - set(left[0]))
    parts = [
        f"{word} {', '.join(names)}"
        for word, names in (("only then", gone), ("only now", new))
        if names
    ]
    return f"columns that were not compared: {'; '.join(parts)}" if parts else ""


def _about(path: Path) -> Mapping[str, Any]:
    try:
        return tables.about(path)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
