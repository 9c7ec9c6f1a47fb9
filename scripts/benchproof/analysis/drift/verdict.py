"""The exit code of a drift: what a person must look at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchproof.analysis.drift.frames import key_text
from benchproof.analysis.drift.severity import OURS
from benchproof.analysis.gate import INCOMPLETE, INVARIANT, NEW, OK, threshold

_ACCEPTABLE = ("findings", "data_findings", "claims")


@dataclass(frozen=True)
class Verdict:
    """An exit code, and how many groups made it so."""

    code: int
    groups: int


def judge(
    rows: Iterable[Mapping[str, Any]],
    fail_on: Collection[str],
    complete: bool,
    accepted: Collection[str] = (),
) -> Verdict:
    """Return what the rows of a drift table mean: 11 for an invariant that newly fails, 10 for anything
    at or above the lowest severity of `fail_on`, 20 for a report with gaps, else 0.

    `accepted` are ids of findings and claims that fail nothing.
    """
    quiet = {key_text([known]) for known in accepted}
    waking = [row for row in rows if _wakes(row, quiet)]
    broken = {row["group_id"] for row in waking if _broken(row)}
    bad = {row["group_id"] for row in waking if row["severity"] in threshold(fail_on)}
    if broken:
        return Verdict(INVARIANT, len(broken | bad))
    if bad:
        return Verdict(NEW, len(bad))
    return Verdict(OK if complete else INCOMPLETE, 0)


def _wakes(row: Mapping[str, Any], quiet: Collection[str]) -> bool:
    if row["cause"] in OURS or row["change"] == "not_observed":
        return False
    return not (row["table"] in _ACCEPTABLE and row["key"] in quiet)


def _broken(row: Mapping[str, Any]) -> bool:
    """True for an invariant that fails: of claims nothing else is critical."""
    return (row["table"], row["severity"]) == ("claims", "critical")
