"""Write the pages of this folder from the code, so that they cannot disagree with it.

.venv/bin/python docs/build.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "scripts"))

from benchproof import tables as schemas  # noqa: E402
from benchproof.report import dictionary  # noqa: E402
from benchproof.rulebook import RULES  # noqa: E402
from benchproof.severity import SEVERITIES  # noqa: E402

ABOUT_TABLES = """Parquet files in `results/<date>/`, with fixed schemas; rows are sorted by key, and keys are
unique. An empty table has the same columns. Null means not known or not there, never zero. Instants are UTC
with microseconds. What made a table stands as JSON in its metadata, under `benchproof`. The words in `status`
and `reason` are explained in [statuses.md](statuses.md) and [reasons.md](reasons.md), findings in
[findings.md](findings.md).
"""
ABOUT_REASONS = """What stands in the `reason` columns: fixed codes, null when the status says it all.
What varies in a code stands in <…>.
"""
MADE = "<!-- made by docs/build.py -->\n\n"
ABOUT = """Every kind of finding that an audit can report, worst first: in `findings.parquet`, `findings.json`
and `findings.sarif`, and as issue texts for the owner of each repository in `findings/<owner>+<name>.md`.

Where a kind marked * was met would tell anyone what to submit or where an answer stands. Results hold its
number per repository; the places stand in the lists inside the vault, and in results only with
`disclose: places`. `config/accepted.yaml` names findings that are accepted until a date.
"""


TYPES = {
    schemas.TEXT: "text",
    schemas.WHOLE: "whole number",
    schemas.REAL: "number",
    schemas.YES_NO: "true or false",
    schemas.TEXTS: "list of texts",
    schemas.INSTANT: "instant",
}


def _table(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table; `head` holds its titles, divided by bars."""
    lines = [f"| {head} |", "|---" * (head.count("|") + 1) + "|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def tables() -> str:
    """Return the page of tables and columns, in the order of the audit."""
    parts = [f"{MADE}# Tables\n\n{ABOUT_TABLES}"]
    for spec in (*schemas.SPECS.values(), *schemas.OTHER.values()):
        key = ", ".join(f"`{name}`" for name in spec.key)
        texts = dictionary.COLUMNS[spec.name]
        rows = ((f"`{field.name}`", TYPES[field.type], texts[field.name]) for field in spec.schema)
        head = f"## {spec.name}\n\nA row is {dictionary.TABLES[spec.name]}. Key: {key}.\n\n"
        parts.append(head + _table("column | type | meaning", rows))
    return "\n".join(parts)


def statuses() -> str:
    """Return the page of statuses: words with one meaning first, then those that differ by table."""
    words = dictionary.meanings({name: set(texts) for name, texts in dictionary.STATUSES.items()})
    places = {
        word: ", ".join(name for name, texts in dictionary.STATUSES.items() if word in texts)
        for word in words
    }
    one = ((f"`{w}`", places[w], *uses) for w, uses in words.items() if len(uses) == 1)
    several = (
        (f"`{word}`", ", ".join(used), text)
        for word, uses in words.items()
        if len(uses) > 1
        for text, used in uses.items()
    )
    head = "status | tables | meaning"
    return (
        f"{MADE}# Statuses\n\nWhat stands in the `status` columns, and what it means. "
        "`reason` says why: [reasons.md](reasons.md).\n\n"
        f"{_table(head, one)}\n"
        f"## Words whose meaning differs by table\n\n{_table(head, several)}"
    )


def reasons() -> str:
    """Return the page of reasons."""
    texts = sorted(dictionary.REASONS.items(), key=lambda item: item[0].strip("<"))
    codes = sorted(dictionary.STORAGE_CODES.items())
    head = "reason | meaning"
    return (
        f"{MADE}# Reasons\n\n{ABOUT_REASONS}\n"
        f"{_table(head, ((f'`{code}`', text) for code, text in texts))}\n"
        "## Codes of the storage service\n\nThe ones that are met most:\n\n"
        f"{_table(head, ((f'`{code}`', text) for code, text in codes))}"
    )


def findings() -> str:
    """Return the page of finding kinds, worst first."""
    ranked = sorted(RULES.items(), key=lambda item: (SEVERITIES.index(item[1].severity), item[0]))
    rows = "".join(
        f"| {r.severity} | `{name}`{' *' if r.withheld else ''} | {r.message} | {r.remedy} |\n"
        for name, r in ranked
    )
    head = "| severity | rule | what is wrong | what to do |\n|---|---|---|---|\n"
    return f"{MADE}# Findings\n\n{ABOUT}\n{head}{rows}"


PAGES = {
    "tables.md": tables,
    "statuses.md": statuses,
    "reasons.md": reasons,
    "findings.md": findings,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
