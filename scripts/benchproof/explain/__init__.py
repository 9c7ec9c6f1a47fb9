"""`benchproof explain`: what a finding, run, claim or number rests on, and how to refute it."""

from __future__ import annotations

from benchproof.config import Config
from benchproof.explain.locate import Subject, locate
from benchproof.explain.reports import Report, find_report
from benchproof.explain.text import Page

__all__ = ["Report", "explained", "find_report", "told"]


def explained(audit: Config, asked: str, named: str | None = None) -> str:
    """Return the explanation of an id in a report (a date or a folder; the latest without one).

    Raises ConfigError for an id that nothing or more than one thing has, BenchproofError without a report.
    """
    return told(find_report(audit, named), asked)


def told(report: Report, asked: str) -> str:
    """Return the explanation of what an id names; of each, where a claim and a number share it."""
    return "\n\n".join(str(_page(report, subject)) for subject in locate(report, asked))


def _page(report: Report, subject: Subject) -> Page:
    if subject.kind == "run":
        from benchproof.explain import runs

        found = runs.explain(report, subject.item)
    elif subject.kind == "finding":
        from benchproof.explain import findings

        found = findings.explain(report, subject.item)
    else:
        from benchproof.explain import counts

        explain = counts.claim if subject.kind == "claim" else counts.number
        found = explain(report, subject.item)
    found.section("Report", _report(report))
    return found


def _report(report: Report) -> list[str]:
    sealed = "sealed" if report.seal else "not sealed"
    versions = report.made("runs").get("versions") or report.made("pins").get("versions") or {}
    made = f", by benchproof {versions['benchproof']}" if "benchproof" in versions else ""
    lines = [f"{report.label} in {report.folder}, {sealed}{made}"]
    altered = report.altered(("runs", "run_fields", "evals", "tree", "findings", "claims"))
    if altered:
        lines.append(f"NOT what the seal says: {', '.join(altered)}; explained as they are")
    return lines
