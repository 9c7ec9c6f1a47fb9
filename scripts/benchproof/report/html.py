"""report.html: one self-contained page, without scripts, that opens from a file on any machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchproof.grading.readings import READINGS
from benchproof.inventory.manifests import SHAPES
from benchproof.progress import megabytes
from benchproof.report import dictionary
from benchproof.report.facts import UNTESTED, Facts, total
from benchproof.report.summary import changed

TEMPLATES = Path(__file__).parent / "templates"


def render(facts: Facts) -> str:
    """Return the page. Everything from upstream is escaped text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(**_context(facts))


def _users(facts: Facts) -> dict[str, list[str]]:
    """Return the evaluations that name each handle."""
    users: dict[str, list[str]] = {}
    for row in facts.tables["eval_handles"]:
        users.setdefault(row["handle"], []).append(row["eval_id"])
    return users


def _meanings(facts: Facts) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the statuses that the tables of this page have, and what they mean where."""
    tables = facts.tables.items()
    return dictionary.meanings(
        {n: {row["status"] for row in rows if "status" in row} for n, rows in tables}
    )


def _reasons(facts: Facts) -> dict[str, str]:
    """Return the reasons that the tables of this page have, and what they mean."""
    codes = {row["reason"] for rows in facts.tables.values() for row in rows if row.get("reason")}
    known = {code: dictionary.reason(code) for code in sorted(codes)}
    return {code: text for code, text in known.items() if text is not None}


def _printable(value: Any) -> Any:
    """Return upstream text without control characters, which a terminal would obey."""
    if type(value) is not str or value.isprintable():
        return value
    return "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}"
        for char in value
    )


def _context(facts: Facts) -> dict[str, Any]:
    return {
        "facts": facts,
        "untested": UNTESTED,
        "changed": changed(facts),
        "grave": [row for row in facts.worst if row["severity"] in ("critical", "major")],
        "shown_at_most": 20,
        "family_line": facts.family_line,
        "totals": {
            name: total([row[name] for row in facts.tables["reconciliation"]])
            for name in ("rows", "evals", "files", "orphans", "dangling")
        },
        "graders": total([r.graders for r in facts.repositories]),
        "handles": total(
            [len({row["handle"] for row in facts.tables["eval_handles"]})]
            + [None for r in facts.repositories if r.handles is None]
        ),
        "meanings": _meanings(facts),
        "reasons": _reasons(facts),
        "readings": READINGS,
        "shapes": SHAPES,
        "users": _users(facts),
        "contents": {row["handle"]: row for row in facts.tables["contents"]},
        "megabytes": megabytes,
        "listed": lambda names: ", ".join(names or ()),
        "percent": lambda value: "" if value is None else f"{100 * value:.2f}",
        "shown": lambda value: "not known" if value is None else value,
    }
