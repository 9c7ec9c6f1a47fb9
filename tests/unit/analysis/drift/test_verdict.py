"""The exit code: what wakes a person, and what doesn't."""

from __future__ import annotations

from typing import Any

import pytest

from benchproof.analysis.drift.verdict import judge

BASE = {
    "table": "runs",
    "key": '["demo/one","p"]',
    "change": "changed",
    "column": "derived_passed",
    "severity": "critical",
    "cause": "upstream",
    "group_id": "g",
}
CLAIM = {"table": "claims", "key": '["one.sound"]', "column": "status"}


def code(
    *rows: dict[str, Any],
    fail_on: tuple[str, ...] = ("critical",),
    complete: bool = True,
    accepted: tuple[str, ...] = (),
) -> int:
    return judge([{**BASE, **row} for row in rows], fail_on, complete, accepted).code


@pytest.mark.parametrize(
    ("row", "fail_on", "said"),
    [
        ({}, ("critical",), 10),
        ({"severity": "major"}, ("critical",), 0),
        ({"severity": "major"}, ("major",), 10),
        ({}, ("minor",), 10),
        ({}, (), 0),
        ({"cause": "storage"}, ("critical",), 10),
        ({"cause": "benchproof"}, ("critical",), 0),
        ({"cause": "config"}, ("critical",), 0),
        ({"change": "not_observed"}, ("critical",), 0),
        (CLAIM, (), 11),
        ({**CLAIM, "severity": "major"}, (), 0),
        ({**CLAIM, "cause": "benchproof"}, ("critical",), 0),
    ],
)
def test_a_row_and_what_it_means(row: dict[str, Any], fail_on: tuple[str, ...], said: int) -> None:
    """As for the gate: severities above the lowest named count too, and an invariant always does."""
    assert code(row, fail_on=fail_on) == said


def test_the_worst_code_wins_and_gaps_come_last() -> None:
    assert code({}, CLAIM) == 11
    assert code({}, complete=False) == 10
    assert code(complete=False) == 20
    assert code() == 0


def test_what_is_accepted_fails_nothing() -> None:
    assert code(CLAIM, accepted=("one.sound",)) == 0
    assert code({"table": "findings", "key": '["rule-1"]'}, accepted=("rule-1",)) == 0
    assert code({"table": "findings", "key": '["rule-1"]'}, accepted=("rule-2",)) == 10
    assert code({"key": '["one.sound"]'}, accepted=("one.sound",)) == 10


def test_groups_count_once() -> None:
    rows = [{**BASE, "key": str(number)} for number in range(3)]
    assert judge(rows, ["critical"], True).groups == 1
