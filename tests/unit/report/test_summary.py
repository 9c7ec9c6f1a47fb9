"""summary.md: the first screen, 24 lines of 80 columns whatever stands in the tables."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof import tables
from benchproof.inventory.repository import not_read
from benchproof.report.facts import UNTESTED, Facts
from benchproof.report.summary import render

Row = dict[str, Any]
HOSTILE = (
    "\x1b[2J\x07",
    "a\nb\r\tc",
    "\u202eevil",
    "\u2028",
    "漢字" * 60,
    "e\u0301" * 90,
    "x" * 500,
    "<img src=x>",
    "",
)


def row(table: str, **values: Any) -> Row:
    return {**dict.fromkeys(tables.SPECS[table].schema.names), "repo": "demo/one", **values}


def repository(name: str, read: bool = True) -> dict[str, list[Row]]:
    repo = f"demo/{name}"
    at = datetime(2026, 1, 2, tzinfo=UTC)
    pin = row("pins", repo=repo, status="ok", commit_sha="c" * 40, committed_at=at)
    counted = row("reconciliation", repo=repo, evals=6, status="ok")
    runs = [
        row(
            "runs", repo=repo, run_path=f"{n}", eval_id=f"e{n}", status="graded", passed_agrees=True
        )
        for n in range(3)
    ]
    if read:
        return {"pins": [pin], "reconciliation": [counted], "runs": runs}
    pin |= {"status": "unknown", "reason": "timeout", "commit_sha": None, "committed_at": None}
    return {"pins": [pin], "reconciliation": [not_read(repo, "timeout")], "runs": []}


def facts(names: list[str], unread: tuple[str, ...] = (), **more: list[Row]) -> Facts:
    rows: dict[str, list[Row]] = {name: [] for name in tables.SPECS}
    for name in names:
        for table, found in repository(name, name not in unread).items():
            rows[table] = rows[table] + found
    return Facts("2026-01-15", None, len(names), rows | more, None, None)


def finding(path: str | None, severity: str = "critical", number: int = 0) -> Row:
    return row("findings", finding_id=f"f{number}", severity=severity, rule="orphan", path=path)


def columns(line: str) -> int:
    """Width on a terminal: wide characters take two columns, combining ones none."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in line)
    return len(line) + wide - sum(unicodedata.combining(char) > 0 for char in line)


def fits(text: str) -> list[str]:
    lines = text.split("\n")
    assert lines.pop() == ""
    assert len(lines) <= 24
    assert [line for line in lines if columns(line) > 80] == []
    assert all(line.isprintable() for line in lines)
    return lines


def test_a_plain_report_says_all_there_is_to_say() -> None:
    lines = fits(render(facts(["one", "two"]), "results/2026-01-15"))
    assert lines == [
        "benchproof 2026-01-15: 2 of 2 repositories, 6 runs, 0 findings",
        "one@ccccccc  3 of 3 recorded verdicts follow from the published rule; that is 3",
        "             of 6 public evals",
        "two@ccccccc  3 of 3 recorded verdicts follow from the published rule; that is 3",
        "             of 6 public evals",
        UNTESTED,
        "Data: 0 of 0 evals can be run (0 of 0 handles); 0 snapshots, 0.0 MB",
        "Nothing found that doesn't hold.",
        "Changed: no earlier complete report here to compare with",
        "Next: open results/2026-01-15/report.html",
    ]


@pytest.mark.parametrize("number", [1, 6, 7, 12, 13, 14, 30, 100])
def test_any_number_of_repositories_fits_and_none_is_lost(number: int) -> None:
    names = [f"r{n:03}" for n in range(number)]
    found = facts(
        names, unread=tuple(names[:3]), findings=[finding("p", number=n) for n in range(9)]
    )
    lines = fits(render(replace(found, notice="n" * 200), "results/2026-01-15"))
    shown = sum(line.startswith("r0") for line in lines)
    more = [line for line in lines if "more repositories" in line]
    assert shown == number or more == [f"and {number - shown} more repositories, see the report"]
    assert shown >= min(number, 8)
    assert UNTESTED in lines
    assert lines[-1].startswith("Next: ")


def test_a_partial_audit_says_incomplete_and_what_is_open() -> None:
    lines = fits(render(facts(["one", "two"], unread=("two",)), "r"))
    assert lines[0].startswith("INCOMPLETE: ")
    assert any("two (timeout)" in line and line.startswith("Unknown: ") for line in lines)
    assert any("Run again" in line for line in lines)


def test_an_audit_of_some_members_is_partial() -> None:
    """DESIGN: a partial audit says INCOMPLETE, also when `only` made it so."""
    assert render(replace(facts(["one"]), members=6), "r").startswith("INCOMPLETE: ")


def test_without_any_network_it_says_what_works() -> None:
    names = ["one", "two"]
    text = render(facts(names, unread=tuple(names)), "r")
    fits(text)
    assert "make demo" in text
    assert "Nothing found that doesn't hold in the 0 of 2 repositories read." in text
    assert "offline=true" in text


@pytest.mark.parametrize("text", HOSTILE, ids=repr)
def test_hostile_text_neither_breaks_nor_steers_the_screen(text: str) -> None:
    """Paths come from upstream, notice and folder from the configuration."""
    found = facts(["one"], findings=[finding(text), finding(None, number=1)])
    fits(render(replace(found, notice=text or None, previous={}, previous_label=text), text))


@pytest.mark.parametrize("length", [70, 75, 100])
def test_one_long_name_does_not_cost_the_others_their_verdict(length: int) -> None:
    """GitHub allows 100 characters."""
    lines = fits(render(facts(["one", "x" * length]), "r"))
    (mine,) = (line for line in lines if line.startswith("one@"))
    assert "3 of 3 recorded verdicts" in mine


def test_the_worst_findings_are_named_and_minor_ones_only_counted() -> None:
    found = [
        finding(f"p{n}", s, n)
        for n, s in enumerate(("minor", "critical", "major", "major", "info", "critical"))
    ]
    lines = render(facts(["one"], findings=found), "r").splitlines()
    at = lines.index("Doesn't hold: 2 critical, 2 major, 1 minor, 1 info")
    assert [line.split()[0] for line in lines[at + 1 : at + 4]] == [
        "critical:",
        "critical:",
        "major:",
    ]
    alone = render(facts(["one"], findings=[finding("p", "minor")]), "r")
    assert "orphan" not in alone


def test_what_changed_since_the_last_complete_report() -> None:
    found = facts(["one", "two"])
    same = {"demo/one": "c" * 40, "demo/two": "c" * 40}
    assert "no commit moved since 2026-01-02" in render(
        replace(found, previous=same, previous_label="2026-01-02"), "r"
    )
    moved = replace(found, previous=same | {"demo/two": "d" * 40}, previous_label="2026-01-02")
    assert "Changed since 2026-01-02: commits of two" in render(moved, "r")


def test_runs_without_a_derived_verdict_are_counted_by_reason() -> None:
    """2 of 2 that can be graded must not hide those that can't."""
    runs = [
        row("runs", run_path=f"{s}{n}", status=s)
        for s, number in (("not_supported", 3), ("no_submission", 1), ("graded", 2))
        for n in range(number)
    ]
    said = "Runs without a derived verdict: 1 no_submission, 3 not_supported"
    assert said in render(facts(["one"], runs=runs), "r")


def test_withheld_rules_are_what_cannot_be_checked() -> None:
    evals = [row("evals", path=f"{n}", grader_form="none" if n < 4 else "grader") for n in range(5)]
    runs = [row("runs", run_path=f"w{n}", status="rule_not_published") for n in range(16)]
    assert "Can't be checked: 4 of 5 evals publish no rule (16 runs)" in render(
        facts(["one"], evals=evals, runs=runs), "r"
    )


texts = st.text(max_size=120)


@given(texts, texts, st.lists(texts, max_size=4), st.integers(0, 40))
@settings(max_examples=60)
def test_no_text_makes_it_larger(notice: str, folder: str, found: list[str], number: int) -> None:
    made = facts(
        [f"r{n}" for n in range(number)],
        findings=[finding(p, number=n) for n, p in enumerate(found)],
    )
    lines = render(replace(made, notice=notice or None), folder).split("\n")
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
