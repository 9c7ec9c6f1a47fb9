"""The page's large tables: which columns they show, and their rows as JSON beside the page's script.

A grid holds whole rows, so that one can be looked at in full. Columns in which values repeat are written
as a list of values and a list of places in it. Past a hundred thousand rows a grid ends and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from math import isfinite
from typing import Any, Final

from benchproof.report.facts import Facts
from benchproof.report.figures import Figure
from benchproof.report.visible import visible
from benchproof.tables import INSTANT, REAL, SPECS, TEXTS, WHOLE, YES_NO

Row = Mapping[str, Any]
FIGURE_COLUMNS: Final = tuple(f.name for f in fields(Figure))
MOST_ROWS: Final = 100_000
#: Rows that stand in the page itself: all it shows without a script, and in print.
FIRST_ROWS: Final = 20
_EXACT = 2**53 - 1
_KINDS = {WHOLE: "n", REAL: "n", YES_NO: "yes", TEXTS: "list", INSTANT: "text"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a grid: `source` names the table and column that explain it, `kind` how it is shown."""

    name: str
    kind: str
    source: str

    @property
    def table(self) -> str:
        """The table that its words are of."""
        return self.source.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table to sort, filter and page through; `key` are the columns that name a row, and the cell of
    `lead` leads to its evidence.
    """

    name: str
    title: str
    key: Sequence[str]
    lead: str
    columns: Sequence[Column]
    shown: Sequence[str]
    facets: Sequence[str]
    rows: Sequence[Row]
    total: int = 0
    first: int = FIRST_ROWS

    def id(self, row: Row) -> str:
        """Return what names a row in links."""
        return ":".join(str(cell(row[name])) for name in self.key)

    @property
    def visible_columns(self) -> list[Column]:
        """The columns that it shows, in order."""
        by_name = {column.name: column for column in self.columns}
        return [by_name[name] for name in self.shown]


def grids(facts: Facts) -> dict[str, Grid]:
    """Return the grids of a report, by name."""
    rows = facts.tables
    made = [
        _grid(
            "findings",
            "All findings, worst first",
            "finding_id",
            "rule",
            "severity rule repo path message remedy",
            "severity rule repo",
            [*facts.worst, *_of_data(rows["data_findings"])],
            first=100,
        ),
        _grid(
            "runs",
            "Recorded runs",
            "repo run_path",
            "eval_id",
            "repo eval_id model harness replicate status recorded_passed derived_passed passed_agrees "
            "edge contested",
            "repo status passed_agrees edge model harness",
            rows["runs"],
        ),
        _grid(
            "claims",
            "All claims",
            "claim_id",
            "claim_id",
            "claim_id says source as_of kind expected observed status",
            "status kind",
            rows["claims"],
            first=200,
        ),
        _grid(
            "evals",
            "Evaluations",
            "repo path",
            "eval_id",
            "repo eval_id task kit grader_form n_graders n_handles prompt_chars has_canary status",
            "repo grader_form task kit status",
            rows["evals"],
        ),
        _objects(facts),
    ]
    return {grid.name: grid for grid in made}


def _of_data(findings: Iterable[Row]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "checked_at"} for row in findings]


def _grid(
    table: str,
    title: str,
    key: str,
    lead: str,
    shown: str,
    facets: str,
    rows: Sequence[Row],
    first: int = FIRST_ROWS,
) -> Grid:
    columns = [_column(table, name) for name in SPECS[table].schema.names]
    kept = rows[:MOST_ROWS]
    return Grid(
        table,
        title,
        key.split(),
        lead,
        columns,
        shown.split(),
        facets.split(),
        kept,
        len(rows),
        first,
    )


def _column(table: str, name: str, label: str | None = None) -> Column:
    kind = _KINDS.get(SPECS[table].schema.field(name).type, "text")
    if name in ("status", "reason", "edge", "severity") or (name, table) == ("class", "licences"):
        kind = "word"
    elif name.endswith(("_sha", "path", "handle", "_id", "etag", "sha256")):
        kind = "code"
    elif name in ("size_bytes", "bytes_read", "bytes_fetched"):
        kind = "bytes"
    return Column(label or name, kind, f"{table}.{name}")


def of_figures(found: Iterable[Figure]) -> Grid:
    """Return the grid of all figures, with what each rests on."""
    rows = [
        {**asdict(one), "tables": list(one.tables), "paths": "\n".join(one.paths)} for one in found
    ]
    columns = [Column(name, "text", "") for name in FIGURE_COLUMNS]
    shown = ("id", "value", "meaning", "rule")
    return Grid(
        "figures", "All figures", ("id",), "id", columns, shown, ("repo", "rule"), rows, len(rows)
    )


def _objects(facts: Facts) -> Grid:
    """Handles with what is known of their objects and of what is inside, one row a handle."""
    tables = ("handles", "objects", "contents", "files")
    wanted = {
        "handles": "handle status reason n_evals",
        "objects": "status reason container size_bytes header last_modified etag",
        "contents": "status reason n_obs n_vars x_encoding x_dtype nnz obs_columns var_columns layers obsm "
        "obsp varm uns raw encoding_version",
        "files": "status reason sha256 verified_by reader",
    }
    columns: list[Column] = []
    for table in tables:
        for name in wanted[table].split():
            label = name if table == "handles" or name not in ("status", "reason") else ""
            columns.append(_column(table, name, label or f"{table} {name}"))
    known = {table: {row["handle"]: row for row in facts.tables[table]} for table in tables}
    rows = [
        {
            column.name: known[column.table].get(handle, {}).get(column.source.partition(".")[2])
            for column in columns
        }
        for handle in list(known["handles"])[:MOST_ROWS]
    ]
    return Grid(
        "objects",
        "Handles, their objects, and what is inside",
        ("handle",),
        "handle",
        columns,
        ("handle", "status", "n_evals", "container", "size_bytes", "n_obs", "n_vars", "x_encoding"),
        ("status", "container", "x_encoding"),
        rows,
        len(known["handles"]),
    )


def encoded(grid: Grid) -> dict[str, Any]:
    """Return a grid as JSON values; repeated values of a column are written once."""
    columns = []
    for column in grid.columns:
        values = [cell(row[column.name]) for row in grid.rows]
        packed = _packed(values, column.name in grid.facets)
        about = {"name": column.name, "kind": column.kind, "source": column.source}
        columns.append({**about, **packed})
    return {
        "key": list(grid.key),
        "lead": grid.lead,
        "shown": list(grid.shown),
        "facets": list(grid.facets),
        "rows": len(grid.rows),
        "total": grid.total,
        "columns": columns,
    }


def cell(value: Any) -> Any:
    """Return a cell as JSON has it: lists as one text, instants to the second, text as it may be shown."""
    if isinstance(value, list):
        return visible(", ".join(map(str, value)))
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S} UTC"
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if type(value) is int and abs(value) > _EXACT:  # a browser would round it
        return str(value)
    return visible(value) if isinstance(value, str) else value


def _packed(values: list[Any], always: bool) -> dict[str, Any]:
    distinct = dict.fromkeys((type(value), value) for value in values)
    if len(distinct) * 2 > len(values) and not always:
        return {"cells": values}
    place = {pair: n for n, pair in enumerate(distinct)}
    return {
        "values": [value for _, value in distinct],
        "at": [place[type(value), value] for value in values],
    }
