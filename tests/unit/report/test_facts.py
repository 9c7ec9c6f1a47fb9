"""What a report says is computed once, and never says None."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from benchproof.inventory.repository import not_read
from benchproof.report.facts import Facts, gather, pins_of, total, widest
from benchproof.sealing.seal import previous_report

Row = dict[str, Any]
ABOUT = {"label": "2026-01-15", "members": 2, "made_by": {"notice": "invented"}}


def row(table: str, **values: Any) -> Row:
    return {**dict.fromkeys(tables.SPECS[table].schema.names), "repo": "demo/one", **values}


def pin(repo: str = "demo/one", **values: Any) -> Row:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    return row(
        "pins",
        **{"repo": repo, "status": "ok", "commit_sha": "c" * 40, "committed_at": at, **values},
    )


def lost(repo: str, status: str, reason: str) -> Row:
    return pin(repo, status=status, reason=reason, commit_sha=None, committed_at=None)


def counted(repo: str = "demo/one", evals: int | None = 6, **values: Any) -> Row:
    return row(
        "reconciliation",
        **{"repo": repo, "evals": evals, "rows": evals, "files": 6, "status": "ok", **values},
    )


def facts(**given: Any) -> Facts:
    rows: dict[str, list[Row]] = {name: [] for name in tables.SPECS}
    rows |= {"pins": [pin()], "reconciliation": [counted()]} | given
    return Facts("2026-01-15", None, 6, rows, None, None)


def graded(number: int, agreeing: int, repo: str = "demo/one") -> list[Row]:
    return [
        row(
            "runs",
            repo=repo,
            run_path=f"{n}",
            eval_id=f"e{n % 3}",
            status="graded",
            passed_agrees=n < agreeing,
        )
        for n in range(number)
    ]


def verdict(**given: Any) -> str:
    return facts(**given).repositories[0].verdict


def test_a_verdict_says_coverage_first() -> None:
    """DESIGN: 273 of 273 recorded verdicts follow from the published rule; that is 6 of 195 evals."""
    assert verdict(runs=graded(9, 8)) == (
        "8 of 9 recorded verdicts follow from the published rule; that is 3 of 6 public evals"
    )


def test_verdicts_where_nothing_can_be_graded() -> None:
    evals = [row("evals", path=f"{n}", grader_form="grader" if n else "none") for n in range(3)]
    assert verdict(evals=evals) == "no recorded runs; rule published for 2 of 6 evals"
    runs = [row("runs", run_path=f"{n}", status="rule_not_published") for n in range(4)]
    assert verdict(runs=runs) == "0 of 4 recorded verdicts can be checked; 4 rule_not_published"
    assert (
        verdict(pins=[lost("demo/one", "missing", "missing")]) == "not audited: missing (missing)"
    )
    assert verdict(reconciliation=[not_read("demo/one", "timeout")]) == "not read: timeout"


@pytest.mark.parametrize("runs", [[], graded(3, 3)], ids=["no-runs", "runs"])
def test_an_unknown_number_of_evaluations_is_said_in_words(runs: list[Row]) -> None:
    assert "None" not in verdict(
        reconciliation=[counted(evals=None, status="unknown_shape")], runs=runs
    )


def test_repositories_keep_to_themselves() -> None:
    found = facts(
        pins=[pin(), pin("demo/two")],
        reconciliation=[counted(), counted("demo/two", 2)],
        runs=graded(2, 2) + graded(3, 1, "demo/two"),
        eval_handles=[
            row("eval_handles", repo=r, eval_id=e, handle=h) for r, e, h in ("abc", "aac", "bbd")
        ],
    )
    assert [(r.runs, r.agreeing) for r in found.repositories] == [(2, 2), (3, 1)]
    assert (
        found.family_line
        == "3 of 5 recorded verdicts follow from a published rule; 8 evals are public"
    )


@pytest.mark.parametrize(
    ("pins", "reconciliation", "complete"),
    [
        ([pin()], [counted()], True),
        ([lost("demo/one", "missing", "missing")], [not_read("demo/one", "missing")], True),
        ([lost("demo/one", "empty", "empty")], [not_read("demo/one", "empty")], True),
        ([lost("demo/one", "unknown", "timeout")], [not_read("demo/one", "timeout")], False),
        ([pin()], [not_read("demo/one", "stalled")], False),
        ([pin()], [counted(status="unknown_shape", evals=None)], True),
    ],
    ids=["read", "missing", "empty", "unpinned", "unread", "unknown-shape"],
)
def test_only_what_stayed_unknown_makes_a_report_incomplete(
    pins: list[Row], reconciliation: list[Row], complete: bool
) -> None:
    """Law 3: refused is a fact, unreachable is not."""
    found = replace(facts(pins=pins, reconciliation=reconciliation), members=1)
    assert found.complete is complete
    assert not replace(found, members=2).complete
    assert [r.repo for r in found.unknown] == ([] if complete else ["demo/one"])


def test_findings_come_worst_first() -> None:
    found = facts(
        findings=[
            row("findings", finding_id=f"{s}.1", severity=s)
            for s in ("info", "major", "critical", "minor")
        ]
    )
    assert [item["severity"] for item in found.worst] == ["critical", "major", "minor", "info"]
    assert found.by_severity == {"critical": 1, "major": 1, "minor": 1, "info": 1}
    assert facts().by_severity == dict.fromkeys(("critical", "major", "minor", "info"), 0)


# --- reading a folder ----------------------------------------------------------------------------


def report(results: Path, label: str, complete: object = True, commit: str = "c" * 40) -> Path:
    folder = results / label
    for name in tables.SPECS:
        rows = {"pins": [pin(commit_sha=commit)], "reconciliation": [counted()]}.get(name, [])
        tables.write(folder / f"{name}.parquet", name, rows, {})
    if complete is not None:
        (folder / "seal.json").write_text(f'{{"complete": {str(complete).lower()}}}')
    return folder


def test_the_previous_report_is_the_newest_complete_one_before(tmp_path: Path) -> None:
    """BR-54: gaps between dates are no matter."""
    assert previous_report(tmp_path, "2026-01-15") is None
    for label, complete in (
        ("2025-12-31", True),
        ("2026-01-02", True),
        ("2026-01-10", False),
        ("2026-01-15", True),
        ("2026-02-01", True),
    ):
        (tmp_path / label).mkdir()
        (tmp_path / label / "seal.json").write_text(f'{{"complete": {str(complete).lower()}}}')
    (tmp_path / "2026-01-11").mkdir()
    (tmp_path / "asof-2026-01-12").mkdir()
    found = previous_report(tmp_path, "2026-01-15")
    assert found is not None
    assert found.name == "2026-01-02"


def test_an_audit_of_the_past_has_no_previous_report(tmp_path: Path) -> None:
    """What changed between two dates is not what differs from an audit of older commits."""
    report(tmp_path, "2026-01-02")
    assert previous_report(tmp_path, "asof-2025-01-01") is None


def test_gathering_reads_this_folder_and_the_previous_pins(tmp_path: Path) -> None:
    report(tmp_path, "2026-01-02", commit="d" * 40)
    found = gather(report(tmp_path, "2026-01-15", None), ABOUT, tmp_path)
    assert (found.label, found.notice, found.members) == ("2026-01-15", "invented", 2)
    assert (found.previous_label, found.moved) == ("2026-01-02", ["one"])
    assert gather(tmp_path / "2026-01-02", {**ABOUT, "label": "2026-01-02"}, tmp_path).moved is None


def test_an_unknown_commit_is_no_change() -> None:
    """Law 3: what could not be asked has not been seen to move."""
    unread = {"pins": [lost("demo/one", "unknown", "dns")]}
    found = facts(**unread, reconciliation=[not_read("demo/one", "dns")])
    assert replace(found, previous={"demo/one": "c" * 40}, previous_label="d").moved == []


def test_small_sums() -> None:
    assert total([1, 0, 2]) == "3"
    assert total([1, None, 2]) == "at least 3"
    assert (widest(["a", "abc"]), widest([], 5)) == (3, 5)


def test_a_damaged_earlier_report_is_none_and_stops_nothing(tmp_path: Path) -> None:
    """What lies beside this date is not this run's to mend."""
    earlier = tmp_path / "2026-01-08"
    earlier.mkdir()
    (earlier / "seal.json").write_text('{"complete": true}')
    (earlier / "pins.parquet").write_bytes(b"PAR1 cut")
    assert pins_of(earlier) is None


# --- the data behind the handles -----------------------------------------------------------------


def held(handle: str, status: str = "reachable", reason: str | None = None) -> Row:
    return {**row("handles", handle=handle, status=status, reason=reason)}


def thing(table: str, handle: str, **values: Any) -> Row:
    return row(table, **{"handle": handle, "status": "ok", **values})


def test_what_is_not_known_of_the_data_makes_a_report_incomplete_once_per_handle() -> None:
    """A handle without an answer is unknown in later tables too, and is counted where it began."""
    found = facts(
        handles=[held("a", "unknown", "timeout"), held("b"), held("c", "refused", "not_shared")],
        objects=[thing("objects", "b", status="throttled", reason="throttled")],
        contents=[thing("contents", "b", status="throttled", reason="throttled")],
    )
    assert found.unlearnt == ["1 handles (timeout)", "1 objects (throttled)"]
    assert not found.complete
    assert facts(handles=[held("c", "refused", "not_shared")]).unlearnt == []


def test_a_refusal_is_a_fact_and_leaves_a_report_complete() -> None:
    made = replace(facts(handles=[held("a", "refused")], runnable=[]), members=1)
    assert made.complete


def test_the_data_is_counted_per_repository_with_shared_handles_once() -> None:
    pairs = [("e1", "a"), ("e2", "a"), ("e2", "b")]
    found = facts(
        handles=[held("a"), held("b", "refused")],
        eval_handles=[row("eval_handles", eval_id=e, handle=h) for e, h in pairs],
        runnable=[
            row("runnable", eval_id="e1", runnable="all"),
            row("runnable", eval_id="e2", runnable="some"),
        ],
        objects=[thing("objects", "a", container="hdf5", size_bytes=8_800_000)],
    )
    only = found.data[0]
    assert (only.handles, only.reachable, only.refused, only.evals, only.full) == (2, 1, 1, 2, 1)
    assert [item["eval_id"] for item in only.incomplete] == ["e2"]
    line = "1 of 2 evals can be run (1 of 2 handles); 1 snapshots, 8.8 MB"
    assert found.data_line == line


def test_what_nobody_answered_is_said_to_be_not_known() -> None:
    found = facts(
        handles=[held("a", "unknown", "dns")], runnable=[row("runnable", runnable="unknown")]
    )
    assert found.data_line.startswith("0 of 1 evals can be run, 1 not known (0 of 1 handles)")


def test_an_object_that_is_damaged_where_it_lies_is_named_once() -> None:
    bad = {"status": "truncated", "reason": "shorter_than_superblock"}
    found = facts(
        contents=[thing("contents", "a", **bad), thing("contents", "b")],
        files=[thing("files", "a", status="truncated", reason="at_source")],
    )
    assert [item["handle"] for item in found.broken] == ["a"]
