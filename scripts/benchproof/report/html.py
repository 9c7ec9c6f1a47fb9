"""report.html: one self-contained page, without scripts, that opens from a file on any machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchproof.grading.readings import READINGS
from benchproof.inventory.manifests import SHAPES
from benchproof.report.facts import UNTESTED, Facts, total

TEMPLATES = Path(__file__).parent / "templates"

#: One meaning per status that a reader meets in the tables.
MEANINGS = {
    "ok": "read and understood",
    "renamed": "the repository has moved; it was followed on the same host",
    "missing": "the server says that there is no such repository, or hides it",
    "private": "the server asks for credentials",
    "empty": "the repository has no commit",
    "ref_missing": "the repository has no such branch, tag or commit",
    "unknown": "the request failed; run again to ask once more",
    "graded": "the published rule gives a verdict for this run",
    "no_submission": "the agent submitted nothing; counts 0",
    "rule_not_published": "the evaluation ships no grader, so nobody outside can check the verdict",
    "rule_undetermined": "public sources do not settle the rule for this case",
    "not_supported": "the rule is published and not implemented here yet",
    "invalid_config": "the published rule cannot be applied as it stands",
    "unreadable": "the file cannot be read",
    "eval_missing": "the run names an evaluation that the repository does not hold",
}


def render(facts: Facts) -> str:
    """Return the page. Everything from upstream is escaped text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(**_context(facts))


def _context(facts: Facts) -> dict[str, Any]:
    statuses = {row["status"] for name in ("pins", "runs", "evals") for row in facts.tables[name]}
    return {
        "facts": facts,
        "untested": UNTESTED,
        "family_line": facts.family_line,
        "totals": {
            name: total(facts.tables["reconciliation"], name)
            for name in ("rows", "evals", "files", "orphans", "dangling")
        },
        "graders": sum(r.graders for r in facts.repositories),
        "handles": len({row["handle"] for row in facts.tables["eval_handles"]}),
        "meanings": {status: MEANINGS[status] for status in sorted(statuses) if status in MEANINGS},
        "readings": READINGS,
        "shapes": SHAPES,
        "percent": lambda value: "" if value is None else f"{100 * value:.2f}",
        "shown": lambda value: "not known" if value is None else value,
    }
