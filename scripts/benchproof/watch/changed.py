"""What a watched run has to say of a comparison that `diff_reports` wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from benchproof import tables
from benchproof.analysis.drift.severity import OURS
from benchproof.analysis.gate import threshold
from benchproof.report import drifting
from benchproof.severity import SEVERITIES
from benchproof.watch.message import Changes

#: The gate tells these one by one; a change in nothing else is not told a second time.
_GATED: Final = ("findings", "data_findings", "claims")


def read(folder: Path, report: Path, fail_on: Collection[str], acceptances: Path) -> Changes:
    """Return what a comparison says; raises TableError when it cannot be read."""
    name, page, summary = (folder / name for name in drifting.FILES)
    code = drifting.judged(folder, report, fail_on, acceptances).code
    wanted = threshold(fail_on)
    groups = _worst(tables.read(name, "drift"))
    own = _worst(row for row in tables.read(name, "drift") if row["table"] not in _GATED)
    waking = {severity: number for severity, number in own.items() if severity in wanted and number}
    lines = _lines(summary.read_text(encoding="utf-8"), wanted) if waking else ()
    return Changes(code, groups, waking, lines, str(page))


def _worst(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many groups of what upstream and storage changed are how bad."""
    found: dict[str, str] = {}
    for row in rows:
        if row["cause"] not in OURS and row["change"] != "not_observed":
            known = found.setdefault(row["group_id"], row["severity"])
            found[row["group_id"]] = min(known, row["severity"], key=SEVERITIES.index)
    counts = Counter(found.values())
    return {name: counts[name] for name in SEVERITIES}


def _lines(summary: str, wanted: Collection[str]) -> tuple[str, ...]:
    """Return the lines of a summary about groups that are bad enough; each begins with its severity."""
    told = (line.removeprefix("- ") for line in summary.splitlines() if line.startswith("- "))
    return tuple(line for line in told if line.partition(":")[0] in wanted)
