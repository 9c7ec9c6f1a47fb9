"""`benchproof explain`: what a finding, run, claim or number rests on, and how to refute it."""

from __future__ import annotations

from benchproof.config import Config
from benchproof.explain.locate import locate
from benchproof.explain.reports import Report, find_report
from benchproof.explain.text import Page

__all__ = ["Report", "explained", "find_report", "page"]


def explained(audit: Config, asked: str, named: str | None = None) -> str:
    """Return the explanation of an id in a report (a date or a folder; the latest without one).

    Raises ConfigError for an id that nothing or more than one thing has, BenchproofError without a report.
    """
    return str(page(find_report(audit, named), asked))


def page(report: Report, asked: str) -> Page:
    """Return the explanation of an id of a report."""
    subject = locate(report, asked)
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
