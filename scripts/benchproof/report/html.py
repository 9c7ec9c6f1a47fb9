"""report.html: one self-contained page, without scripts, that opens from a file on any machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchproof.grading.readings import READINGS
from benchproof.inventory.manifests import SHAPES
from benchproof.progress import megabytes
from benchproof.report.facts import UNTESTED, Facts, total
from benchproof.report.summary import changed

TEMPLATES = Path(__file__).parent / "templates"

#: One meaning per status that a reader meets in the tables.
MEANINGS = {
    "ok": "read and understood",
    "renamed": "the repository has moved; it was followed on the same host",
    "missing": "the server says that there is no such repository or object, or hides it",
    "private": "the server asks for credentials",
    "empty": "the repository has no commit",
    "ref_missing": "the repository has no such branch, tag or commit",
    "unknown": "the request failed; run again to ask once more",
    "reachable": "the signer gives a link for the handle to anybody who asks",
    "refused": "the signer says that the handle is not shared or does not exist; it doesn't say which",
    "unauthorized": "the signer wants credentials for this handle",
    "denied": "storage refuses the object that the signer gave a link for",
    "throttled": "the server asked to wait longer than http.max_wait_s allows; run again to ask once more",
    "stalled": "the answer stopped coming and stayed away; run again to go on from there",
    "changed": "the object was replaced while it was read, twice",
    "unsupported": "the object is there, and this reader can't tell what is inside; the reason says why",
    "truncated": "the object is shorter than its own header says",
    "mismatch": "what was fetched is not what was announced; nothing was kept",
    "too_large": "chosen, and more than fetch.max_total_bytes allows; nothing was fetched",
    "unresolved": "chosen, and its handle could not be resolved",
    "graded": "the published rule gives a verdict for this run",
    "no_submission": "the agent submitted nothing; counts 0",
    "rule_not_published": "the evaluation ships no grader, so nobody outside can check the verdict",
    "rule_undetermined": "public sources do not settle the rule for this case",
    "not_supported": "the rule is published and not implemented here yet",
    "invalid_config": "the published rule cannot be applied as it stands",
    "unreadable": "the file cannot be read",
    "eval_missing": "the run names an evaluation that the repository does not hold",
    "not_read": "the content could not be had, so nothing was counted",
    "no_manifest": "there is no manifest; the files themselves were counted",
    "unknown_shape": "the manifest cannot be understood; the number of evaluations is not known",
    "malformed": "it lacks what its format requires",
    "invalid_id": "the id could not serve as a name on common systems",
    "duplicate_id": "another file states the same id; this one has no rows of its own elsewhere",
    "dangling": "the manifest names an evaluation that has no file",
    "duplicate_identical": "the row repeats an earlier one",
    "duplicate_conflicting": "the row contradicts an earlier one about the same evaluation",
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


def _users(facts: Facts) -> dict[str, list[str]]:
    """Return the evaluations that name each handle."""
    users: dict[str, list[str]] = {}
    for row in facts.tables["eval_handles"]:
        users.setdefault(row["handle"], []).append(row["eval_id"])
    return users


def _context(facts: Facts) -> dict[str, Any]:
    statuses = {row.get("status") for rows in facts.tables.values() for row in rows}
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
        "meanings": {name: MEANINGS[name] for name in sorted(MEANINGS) if name in statuses},
        "readings": READINGS,
        "shapes": SHAPES,
        "users": _users(facts),
        "contents": {row["handle"]: row for row in facts.tables["contents"]},
        "megabytes": megabytes,
        "listed": lambda names: ", ".join(names or ()),
        "percent": lambda value: "" if value is None else f"{100 * value:.2f}",
        "shown": lambda value: "not known" if value is None else value,
    }
