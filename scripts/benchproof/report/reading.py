"""Reports of this and of earlier dates, as the gate reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchproof import accepted, tables
from benchproof.analysis import gate
from benchproof.errors import TableError
from benchproof.sealing.seal import is_complete, previous_report

_FINDINGS = ("findings", "data_findings")


def report(folder: Path) -> gate.Report:
    """Return what the gate needs of a sealed report; raises TableError for one it cannot read."""
    findings = [row for name in _FINDINGS for row in tables.read(folder / f"{name}.parquet", name)]
    claims = tables.read(folder / "claims.parquet", "claims")
    return gate.Report(folder.name, findings, claims, is_complete(folder))


def judged(folder: Path, results: Path, fail_on: list[str], acceptances: Path) -> gate.Outcome:
    """Return what the gate says of a sealed report."""
    now = report(folder)
    before, note = _before(results, now.label)
    of_day = [
        accepted.load(acceptances, accepted.day_of(label))
        for label in (now.label, before.label if before else now.label)
    ]
    outcome = gate.judge(now, before, fail_on, *of_day)
    return replace(outcome, lines=(*note, *outcome.lines))


def _before(results: Path, label: str) -> tuple[gate.Report | None, list[str]]:
    """Return the last complete report before this one, or what to say when it cannot be read."""
    folder = previous_report(results, label)
    if folder is None:
        return None, []
    try:
        return report(folder), []
    except TableError:
        said = (
            f"{folder} cannot be read by this version, so that everything that fails counts as new."
        )
        return None, [said]
