"""Every figure of a report: a stable id, its value by one query over the tables, and what it rests on.

The page takes its numbers from here, so that none can differ from the query that stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchproof.report.measures import USED, Measure, measures

if TYPE_CHECKING:
    from benchproof.analysis.query import Tables

#: The workflow's rule that writes each table; a test holds it to the rule files.
RULES: Mapping[str, str] = {
    "pins": "pin_commits",
    "tree": "list_trees",
    "manifest": "reconcile_manifests",
    "reconciliation": "reconcile_manifests",
    "evals": "project_evals",
    "eval_handles": "project_evals",
    "graders": "project_evals",
    "tolerances": "project_evals",
    "licences": "check_licences",
    "handles": "resolve_handles",
    "runnable": "resolve_handles",
    "objects": "probe_sizes",
    "contents": "peek_snapshots",
    "files": "inspect_snapshots",
    "runs": "regrade_runs",
    "run_fields": "regrade_runs",
    "readings": "regrade_runs",
    "models": "summarise_models",
    "estimates": "summarise_models",
    "strata": "summarise_models",
    "comparisons": "summarise_models",
    "record_checks": "check_records",
    "published": "check_published",
    "published_checks": "check_published",
    "claims": "check_claims",
    "findings": "collect_findings",
    "data_findings": "lint_contents",
    "traffic": "collect_traffic",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One number or word of a report.

    `query` is one SELECT over `tables` that gives `value`; `paths` are files or folders of `repo` at
    `commit` that it rests on, at most twenty; without a repository it rests on the whole family.
    """

    id: str
    value: int | float | str | None
    meaning: str
    query: str
    tables: tuple[str, ...]
    repo: str | None
    commit: str | None
    paths: tuple[str, ...]
    rule: str | None


def figures(folder: Path) -> dict[str, Figure]:
    """Return the figures of a report folder, by id, in the order of the page.

    Raises TableError when a table is not of this version.
    """
    from benchproof.analysis.query import Tables

    tables = Tables(folder, (name for name in USED if (folder / f"{name}.parquet").exists()))
    found = [one for one in measures(tables) if set(one.tables) <= tables.names]
    values = tables.values(one.query for one in found)
    paths = _paths(
        tables, (one for one, value in zip(found, values, strict=True) if _rests(one, value))
    )
    commits = dict(tables.listed("SELECT repo, commit_sha FROM pins"))
    return {
        one.id: Figure(
            one.id,
            value,
            one.meaning,
            one.query,
            one.tables,
            one.repo,
            commits.get(one.repo),
            paths.get(one.places, ()),
            RULES[one.tables[0]],
        )
        for one, value in zip(found, values, strict=True)
    }


def _rests(one: Measure, value: object) -> bool:
    """True when there are places to ask for: nothing that was counted one by one lies nowhere."""
    return bool(value) or one.places is None or "LIMIT" not in one.places


def _paths(tables: Tables, found: Iterable[Measure]) -> dict[str | None, tuple[str, ...]]:
    """Return what each query for places gives, each asked once."""
    asked = dict.fromkeys(one.places for one in found if one.places)
    return {query: tuple(path for (path,) in tables.listed(query)) for query in asked}
