"""How bad each kind of change is; docs/drift.md says the same."""

from __future__ import annotations

import re
from typing import Any

import pytest

from benchproof import tables
from benchproof.analysis.drift import severity
from benchproof.analysis.drift.causes import Range
from benchproof.analysis.drift.changes import Diff
from benchproof.analysis.drift.severity import RULES, assign
from benchproof.severity import SEVERITIES
from conftest import ROOT
from unit.analysis.drift.reports import row


def judged(table: str, column: str, old: dict[str, Any], new: dict[str, Any], **more: Any) -> str:
    diff = Diff(table, "changed", row(table, **old), row(table, **new), (column,), **more)
    assign(diff, {"demo/one": Range(False)})
    return diff.severities[column]


def whole(table: str, change: str, **values: Any) -> str:
    subject = values.pop("subject", "evals changed")
    item = row(table, **values)
    old, new = (item, None) if change == "removed" else (None, item)
    diff = Diff(table, change, old, new, subject=subject)
    assign(diff, {})
    return diff.severities[None]


@pytest.mark.parametrize(
    ("table", "column", "old", "new", "said"),
    [
        ("runs", "derived_passed", True, False, "critical"),
        ("runs", "recorded_passed", False, True, "critical"),
        ("runs", "derived_passed", None, True, "major"),
        ("runs", "passed_agrees", True, False, "critical"),
        ("runs", "passed_agrees", False, True, "minor"),
        ("runs", "blob_sha", "1", "2", "minor"),
        ("graders", "type", "a", "b", "critical"),
        ("graders", "rule_status", "published", "withheld", "critical"),
        ("graders", "rule_status", "withheld", "published", "minor"),
        ("evals", "grader_form", "grader", "none", "critical"),
        ("evals", "grader_form", "grader", "graders", "critical"),
        ("evals", "grader_form", "none", "grader", "major"),
        ("evals", "status", "ok", "unreadable", "critical"),
        ("evals", "blob_sha", "1", "2", "major"),
        ("evals", "has_canary", True, False, "major"),
        ("evals", "task", "a", "b", "minor"),
        ("tolerances", "mode", "a", "b", "critical"),
        ("licences", "blob_sha", "1", "2", "critical"),
        ("objects", "etag", "1", "2", "critical"),
        ("objects", "size_bytes", 1, 2, "critical"),
        ("files", "sha256", "1", "2", "critical"),
        ("objects", "header", "1", "2", "minor"),
        ("runnable", "runnable", "all", "none", "critical"),
        ("runnable", "runnable", "some", "none", "critical"),
        ("runnable", "runnable", "none", "all", "minor"),
        ("handles", "status", "reachable", "refused", "major"),
        ("handles", "status", "refused", "reachable", "minor"),
        ("pins", "status", "ok", "missing", "critical"),
        ("pins", "status", "ok", "private", "critical"),
        ("pins", "status", "missing", "ok", "minor"),
        ("pins", "commit_sha", "1", "2", "critical"),
        ("pins", "repo_id", 1, 2, "critical"),
        ("reconciliation", "shape", "d", "a", "major"),
        ("reconciliation", "orphans", 0, 1, "major"),
        ("reconciliation", "orphans", 1, 0, "minor"),
        ("models", "accuracy", 0.5, 0.6, "major"),
        ("models", "n_runs", 1, 2, "info"),
        ("record_checks", "n_fails", 0, 1, "major"),
        ("record_checks", "n_fails", 1, 0, "info"),
        ("published_checks", "status", "holds", "fails", "major"),
        ("published", "accuracy", 1.0, 2.0, "major"),
        ("published", "status", "ok", "contradicted", "major"),
        ("findings", "message", "a", "b", "info"),
    ],
)
def test_a_change_of_a_column(table: str, column: str, old: Any, new: Any, said: str) -> None:
    assert judged(table, column, {column: old}, {column: new}) == said


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [
        ("invariant", "fails", "critical"),
        ("observation", "fails", "major"),
        ("observation", "drifted", "minor"),
        ("invariant", "holds", "minor"),
    ],
)
def test_a_claim_that_turns(kind: str, status: str, said: str) -> None:
    assert judged("claims", "status", {"kind": kind}, {"kind": kind, "status": status}) == said


@pytest.mark.parametrize(
    ("table", "change", "more", "said"),
    [
        ("evals", "removed", {}, "major"),
        ("evals", "added", {}, "minor"),
        ("graders", "removed", {"subject": "evals removed"}, "critical"),
        ("graders", "added", {"subject": "evals added"}, "info"),
        ("graders", "added", {}, "critical"),
        ("tolerances", "removed", {}, "critical"),
        ("tolerances", "removed", {"subject": "evals removed"}, "info"),
        ("eval_handles", "added", {}, "major"),
        ("eval_handles", "added", {"subject": "evals added"}, "info"),
        ("licences", "removed", {}, "critical"),
        ("runs", "removed", {}, "major"),
        ("runs", "added", {}, "minor"),
        ("findings", "added", {"severity": "critical"}, "critical"),
        ("findings", "added", {"severity": "info"}, "info"),
        ("findings", "removed", {"severity": "critical"}, "info"),
        ("published_checks", "added", {"status": "fails"}, "major"),
        ("published_checks", "added", {"status": "holds"}, "info"),
        ("tree", "added", {}, "info"),
    ],
)
def test_a_row_that_is_new_or_gone(
    table: str, change: str, more: dict[str, Any], said: str
) -> None:
    assert whole(table, change, **more) == said


def test_an_ancestor_or_an_unknown_one_alarms_nobody() -> None:
    for known in ({"demo/one": Range(True)}, {}):
        diff = Diff(
            "pins",
            "changed",
            row("pins", commit_sha="1"),
            row("pins", commit_sha="2"),
            ("commit_sha",),
        )
        assign(diff, known)
        assert diff.severities == {"commit_sha": "info"}


@pytest.mark.parametrize("cause", ["benchproof", "config"])
def test_what_is_ours_is_info(cause: str) -> None:
    assert (
        judged("licences", "class", {"class": "verbatim"}, {"class": "other"}, cause=cause)
        == "info"
    )


def test_every_kind_names_a_table_and_columns_that_are_there() -> None:
    for kind in RULES:
        assert kind.severity in SEVERITIES
        columns = {*tables.SPECS[kind.table].schema.names, "grader"}
        assert set(kind.columns) <= columns, kind


def test_the_page_shows_every_kind() -> None:
    """docs/drift.md: a line per kind, in the order in which they are tried."""
    text = (ROOT / "docs" / "drift.md").read_text()
    lines = re.findall(r"^\| (\w+) \| `(\w+)` \| (.+) \|$", text, re.MULTILINE)
    assert lines == [(kind.severity, kind.table, kind.text) for kind in severity.RULES]
