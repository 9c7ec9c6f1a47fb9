"""The gate wakes for what is new, and for nothing else."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from benchproof.accepted import Accepted, Entry
from benchproof.analysis import gate
from benchproof.analysis.gate import Report

NOW, BEFORE = "2026-02-02", "2026-02-01"


def finding(name: str, severity: str = "critical") -> dict[str, Any]:
    return {
        "finding_id": name, "severity": severity, "repo": "demo/one", "commit_sha": "c" * 40,
        "path": "evals/a.json", "pointer": "/task", "message": "It is wrong.", "remedy": "Mend it.",
    }  # fmt: skip


def claim(name: str, status: str = "fails", kind: str = "invariant") -> dict[str, Any]:
    return {
        "claim_id": name, "kind": kind, "status": status, "says": "So it is.", "expected": "0",
        "observed": "3", "source": "a page", "as_of": "2026-08-28",
    }  # fmt: skip


def report(*rows: dict[str, Any], label: str = NOW, complete: bool = True) -> Report:
    found = [row for row in rows if "finding_id" in row]
    return Report(label, found, [row for row in rows if "claim_id" in row], complete)


def accepting(day: str, *ids: str, expires: str = "2026-12-31") -> Accepted:
    until = date.fromisoformat(expires)
    return Accepted({name: Entry(name, "o", "r", until) for name in ids}, day)


def judge(
    now: Report, before: Report | None = None, *, fail_on: tuple[str, ...] = ("critical",),
    accepted: tuple[str, ...] = (), expires: str = "2026-12-31",
) -> gate.Outcome:  # fmt: skip
    at = [accepting(day, *accepted, expires=expires) for day in (NOW, BEFORE)]
    return gate.judge(now, before, fail_on, *at)


def before(*rows: dict[str, Any]) -> Report:
    return report(*rows, label=BEFORE)


@pytest.mark.parametrize(
    ("now", "then", "code"),
    [
        (report(), before(), 0),
        (report(finding("a")), before(), 10),
        (report(finding("a")), before(finding("a")), 0),
        (report(finding("a"), finding("b")), before(finding("a")), 10),
        (report(finding("a", "major")), before(), 0),
        (report(finding("a")), before(finding("a", "minor")), 10),
        (report(), before(finding("a")), 0),
        (report(claim("i")), before(), 11),
        (report(claim("i")), before(claim("i")), 0),
        (report(claim("i")), before(claim("i", "not_checked")), 11),
        (report(claim("i"), finding("a")), before(), 11),
        (report(claim("o", "fails", "observation")), before(), 0),
        (report(claim("o", "drifted", "observation")), before(), 0),
        (report(claim("o", "not_checked")), before(), 0),
        (report(complete=False), before(), 20),
        (report(finding("a"), complete=False), before(), 10),
        (report(finding("a"), complete=False), before(finding("a")), 20),
        (report(), None, 0),
        (report(finding("a")), None, 10),
        (report(claim("i")), None, 11),
    ],
    ids=["quiet", "new", "standing", "one-more", "below", "worse", "mended", "invariant",
         "invariant-stands", "invariant-newly-asked", "both", "observation", "drifted", "unasked",
         "incomplete", "incomplete-and-new", "incomplete-and-standing", "first", "first-new",
         "first-invariant"],
)  # fmt: skip
def test_exit_codes(now: Report, then: Report | None, code: int) -> None:
    """DESIGN: 0 nothing new, 10 new, 11 an invariant newly fails, 20 incomplete."""
    assert judge(now, then).code == code


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [((), 0), (("critical",), 0), (("major",), 10), (("critical", "minor"), 10), (("info",), 10)],
)
def test_at_or_above_the_lowest_severity_named(fail_on: tuple[str, ...], code: int) -> None:
    assert judge(report(finding("a", "major")), before(), fail_on=fail_on).code == code


def test_claims_count_by_severity_where_they_are_no_invariants() -> None:
    """A failing observation is major, a drifted one minor."""
    failing, drifted = (claim("o", status, "observation") for status in ("fails", "drifted"))
    assert judge(report(failing), before(), fail_on=("major",)).code == 10
    assert judge(report(drifted), before(), fail_on=("major",)).code == 0
    assert judge(report(drifted), before(), fail_on=("minor",)).code == 10


@pytest.mark.parametrize("item", [finding("a"), claim("a")], ids=["finding", "invariant"])
def test_accepted_ones_wake_nobody_until_they_expire(item: dict[str, Any]) -> None:
    assert judge(report(item), before(), accepted=("a",)).code == 0
    assert judge(report(item), before(), accepted=("b",)).code != 0
    assert judge(report(item), before(item), accepted=("a",), expires=NOW).code == 0
    expired = judge(report(item), before(item), accepted=("a",), expires=BEFORE)
    assert expired.code != 0


def test_what_expired_before_the_last_report_stands_already() -> None:
    item = finding("a")
    assert judge(report(item), before(item), accepted=("a",), expires="2026-01-31").code == 0


def test_messages_name_the_item_what_was_expected_what_came_and_what_to_do() -> None:
    lines = "\n".join(judge(report(claim("i"), finding("a")), before()).lines)
    for said in (
        "invariant i fails",
        "expected 0, got 3",
        "accept it",
        "critical a at demo/one@cccccccccc:evals/a.json /task",
        "It is wrong. Mend it.",
        "Exit code 11",
    ):
        assert said in lines
    assert "a page, 2026-08-28" in lines
    quiet = judge(
        report(finding("a"), finding("b")), before(finding("a"), finding("b")), accepted=("b",)
    )
    assert quiet.lines == (
        f"gate {NOW}: nothing new since {BEFORE}; 1 standing, 1 accepted. Exit code 0.",
    )


def test_many_are_counted_and_the_worst_come_first() -> None:
    many = [finding(f"m{n:02d}", "major") for n in range(30)] + [finding("z")]
    lines = judge(report(*many), before(), fail_on=("major",)).lines
    assert lines[0] == "31 new at or above major:"
    assert "critical z" in lines[1]
    assert "and 11 more" in lines[21]


def test_lines_hold_nothing_that_a_terminal_obeys() -> None:
    odd = {**finding("a"), "path": "evals/\x1b[2J.json", "message": "One.\nexit code 0"}
    assert all(line.isprintable() for line in judge(report(odd)).lines)
