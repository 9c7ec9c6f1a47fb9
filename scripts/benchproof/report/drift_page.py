"""drift.html: one self-contained page without scripts; a closed box per change, the worst first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchproof.analysis.drift.changes import Diff
from benchproof.analysis.drift.compare import Drift, rows_of
from benchproof.analysis.drift.groups import Group
from benchproof.report.drift_summary import example, headline
from benchproof.report.visible import visible

TEMPLATES = Path(__file__).parent / "templates"
#: Rows and groups that the page shows; the table has all.
_ROWS, _GROUPS, _LETTERS = 60, 150, 300


def render(drift: Drift) -> str:
    """Return the page. Everything from upstream is escaped text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    changes = [group for group in drift.groups if group.observed]
    return environment.get_template("drift.html.j2").render(
        old=drift.old.label,
        new=drift.new.label,
        headline=headline(drift),
        changes=changes[:_GROUPS],
        left=len(changes) - _GROUPS,
        unseen=[group for group in drift.groups if not group.observed],
        notes=drift.notes,
        pins=_pins(drift),
        rows=_rows,
        example=example,
    )


def _pins(drift: Drift) -> list[tuple[str, str, str]]:
    """Return (repository, earlier commit, later commit) of all repositories."""
    repos = sorted(drift.old.pins.keys() | drift.new.pins.keys())
    sides = [(drift.old.commit(repo), drift.new.commit(repo)) for repo in repos]
    return [
        (repo, old or "not known", "the same" if old == new and old else new or "not known")
        for repo, (old, new) in zip(repos, sides, strict=True)
    ]


def _rows(group: Group) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of a group that are shown, and how many are not."""
    shown: list[dict[str, Any]] = []
    total = 0
    for diff in group.diffs:
        total += len(diff.shown)
        if len(shown) < _ROWS:
            shown += [_cells(row, diff) for row in rows_of(diff)]
    return shown[:_ROWS], total - len(shown[:_ROWS])


def _cells(row: dict[str, Any], diff: Diff) -> dict[str, Any]:
    """Return a row for people: its key without brackets."""
    key = " ".join("" if value is None else str(value) for value in diff.key)
    return {**row, "key": key or "the whole table"}


def _shown(value: Any) -> Any:
    """Return upstream text with what nobody could see spelt out, and cut: a cell holds a sentence."""
    if type(value) is not str:
        return value
    return visible(value if len(value) <= _LETTERS else value[: _LETTERS - 1] + "…")
