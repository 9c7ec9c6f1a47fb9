"""Reports made of rows that a test invents, without an audit: tables as the workflow writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchproof import tables
from benchproof.report import html
from benchproof.report.facts import Facts, gather
from benchproof.report.figures import figures

Row = dict[str, Any]
Rows = Mapping[str, Iterable[Row]]

DAY = "2026-01-15"
COMMIT = "c" * 40
ABOUT: dict[str, Any] = {"label": DAY, "members": 1, "made_by": {"notice": None}}
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_FILLED = {
    tables.WHOLE: 1,
    tables.REAL: 0.5,
    tables.YES_NO: True,
    tables.INSTANT: AT,
}


def row(table: str, **values: Any) -> Row:
    """Return a row with these values and nulls, of the repository demo/one."""
    schema = tables.SPECS[table].schema
    repo = {"repo": "demo/one"} if "repo" in schema.names else {}
    return {**dict.fromkeys(schema.names), **repo, **values}


def filled(table: str, text: str, **values: Any) -> Row:
    """Return a row in which every text says `text` and nothing is null."""
    schema = tables.SPECS[table].schema
    cells = {
        field.name: _FILLED.get(field.type, [text] if field.type == tables.TEXTS else text)
        for field in schema
    }
    repo = {"repo": "demo/one"} if "repo" in schema.names else {}
    severity = {"severity": "major"} if "severity" in schema.names else {}
    return {**cells, **repo, **severity, **values}


def pin(repo: str = "demo/one", **values: Any) -> Row:
    """Return the pin of a repository that was read."""
    read = {"status": "ok", "commit_sha": COMMIT, "committed_at": AT, "repo": repo}
    return row("pins", **{**read, **values})


def counted(repo: str = "demo/one", **values: Any) -> Row:
    """Return the reconciliation of a repository of one evaluation."""
    counts = dict.fromkeys("rows evals files".split(), 1) | dict.fromkeys(
        "orphans dangling".split(), 0
    )
    read = {"status": "ok", "shape": "a", "folder": "evals", "repo": repo}
    return row("reconciliation", **{**counts, **read, **values})


def write(folder: Path, **given: Iterable[Row]) -> Path:
    """Write all tables of a report: the given rows, one pinned repository, and else none."""
    rows = {"pins": [pin()], "reconciliation": [counted()]} | given
    for name in tables.SPECS:
        tables.write(folder / f"{name}.parquet", name, rows.get(name, []), {})
    return folder


def read(folder: Path, **about: Any) -> Facts:
    """Return what a written report says."""
    return gather(folder, {**ABOUT, **about}, folder.parent)


def every(*texts: str) -> dict[str, list[Row]]:
    """Return a row of every table for each text, which stands in every column that upstream can fill."""
    rows = {
        name: [
            filled(name, text, **({"row": n} if name == "manifest" else {}))
            for n, text in enumerate(texts)
        ]
        for name in tables.SPECS
    }
    pinned = [pin(reason=texts[0], ref=texts[0])]
    return {**rows, "pins": pinned, "reconciliation": [counted(shape=texts[0])]}


def page(folder: Path, rows: Rows | None = None, notice: str | None = None) -> str:
    """Write a report of these rows and return its page."""
    write(folder, **(rows or {}))
    return html.render(read(folder, made_by={"notice": notice}), figures(folder))
