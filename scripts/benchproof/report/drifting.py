"""Compare two report folders and write what differs: drift.parquet, drift.html, summary.md."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from benchproof import accepted, provenance, tables
from benchproof.analysis.drift.compare import Drift, compare
from benchproof.analysis.drift.verdict import Verdict, judge
from benchproof.analysis.drift.views import Report, is_open
from benchproof.outputs import DATED, comparison_label, replacing
from benchproof.report import drift_page, drift_summary, folders, past
from benchproof.sealing.seal import named, previous_report, seal_text, write_seal
from benchproof.sources.base import History
from benchproof.vault import Vault

FILES: Final = ("drift.parquet", "drift.html", "summary.md")
NOTHING: Final = (
    "drift {label}: no earlier complete report here to compare with. Audit a later date, or name two "
    "reports: benchproof drift FROM TO."
)


def compared(old: Path, new: Path, source: History | None, vault: Vault | None) -> Drift:
    """Return what differs between two report folders.

    Without a source no commit is named, without a vault no changed grader; both are said.
    """
    reports = folders.load(old), folders.load(new)
    equal = folders.equal_tables(old, new)
    ranges, unknown = past.ranges(source, *reports)
    graders, unseen = past.graders(vault, *reports, equal)
    drift = compare(*reports, older=folders.Older(old), ranges=ranges, equal=equal, graders=graders)
    if unknown:
        causes = ", ".join(f"{repo} ({why})" for repo, why in unknown.items())
        drift.notes.insert(
            0, f"Causes, and whether history was rewritten, not known: commits of {causes}"
        )
    if unseen:
        drift.notes.append(
            f"{unseen} evaluations changed whose earlier or later file the vault lacks: whether their "
            "graders changed is not known"
        )
    return drift


def place(results: Path, old: Path, new: Path) -> Path:
    """Return the folder of a comparison."""
    return results / "drift" / comparison_label(results, old, new)


def write(drift: Drift, folder: Path) -> None:
    """Write the three files; the same two reports give the same bytes, wherever they lie."""
    old, new = drift.old, drift.new
    about = {
        "table": "drift",
        "from": old.label,
        "to": new.label,
        "pins": [{repo: r.commit(repo) for repo in sorted(r.pins)} for r in (old, new)],
        "code": provenance.code_digest("diff_reports"),
        "versions": provenance.versions(),
    }
    tables.write(folder / FILES[0], "drift", drift.rows, about)
    for name, text in (
        (FILES[1], drift_page.render(drift)),
        (FILES[2], drift_summary.render(drift)),
    ):
        with replacing(folder / name) as part:
            part.write_text(text, encoding="utf-8")


def seal(folder: Path, old: Path, new: Path) -> None:
    """Seal a written comparison: its files, and the seals of the two reports where they have one."""
    compared = [named(old), named(new)]
    values = {"kind": "drift", "label": folder.name, "compared": compared}
    write_seal(folder, seal_text(folder, values))


def judged(folder: Path, new: Path, fail_on: Collection[str], acceptances: Path) -> Verdict:
    """Return what a written comparison means for the report that it leads to."""
    known = accepted.load(acceptances, _day(new))
    quiet = [name for name in known.entries if known.of(name) is not None]
    rows = tables.read(folder / FILES[0], "drift")
    return judge(rows, fail_on, is_complete(folders.load(new)), quiet)


def is_complete(report: Report) -> bool:
    """True when nothing of a report stayed unknown, by its seal or else by its rows, and none of its
    tables is damaged.
    """
    if report.notes:
        return False
    if report.complete is not None:
        return report.complete
    if report.pins.keys() - report.read:
        return False
    return not any(
        is_open(name, row)
        for name in ("handles", "runnable", "objects", "contents", "files")
        for row in report.rows(name)
    )


def earlier(new: Path) -> Path | None:
    """Return the newest complete report before one, among its neighbours."""
    return previous_report(new.parent, new.name)


def _day(folder: Path) -> str:
    """Return the day on which acceptances are read; a folder without a day has none of its own."""
    name = accepted.day_of(folder.name)
    return name if DATED.fullmatch(name) else "0001-01-01"
