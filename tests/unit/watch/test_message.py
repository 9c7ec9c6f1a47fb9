"""What is said: one line as a subject, what matters, where it stands; nothing when nothing is new."""

from __future__ import annotations

import pytest

from benchproof.analysis.gate import Item
from benchproof.pending import Unknown
from benchproof.watch.message import (
    MOST,
    WIDTH,
    Changes,
    Message,
    judged,
    subject,
    unfinished,
)

BAD = Item("f1", "critical", False, "critical f1 at demo/one: it is wrong. Mend it.")
WORSE = Item("c1", "major", True, "invariant c1 fails")
GONE = "critical: one: 1 licences changed (a licence changed), by 0123456789"
SAME = Changes()
OPEN = Unknown("probe", "latch://1.node", "timeout")


def changed(number: int, code: int = 10) -> Changes:
    counts = {"critical": number}
    return Changes(code, {**counts, "info": 7}, counts, (GONE,) * min(number, 10), "drift.html")


def said(*new: Item, changes: Changes = SAME, unknown: tuple[Unknown, ...] = ()) -> Message:
    return judged("2026-01-15", new, changes, unknown, not unknown, "Report: r")


def test_nothing_new_says_nothing() -> None:
    assert said() == Message(0)
    assert said().text == ""


@pytest.mark.parametrize(
    ("found", "code", "first"),
    [
        (said(BAD), 10, "1 new failure (1 critical)"),
        (said(changes=changed(2)), 10, "2 changes (2 critical)"),
        (said(WORSE, BAD), 11, "1 invariant newly fails; 1 new failure (1 critical)"),
        (said(unknown=(OPEN, OPEN)), 20, "incomplete, 2 unknown"),
        (said(BAD, unknown=(OPEN,)), 10, "1 new failure (1 critical); incomplete, 1 unknown"),
        (judged("2026-01-15", [], SAME, [], False, ""), 20, "incomplete"),
        (
            said(BAD, changes=changed(1, 11)),
            11,
            "1 new failure (1 critical); 1 change (1 critical)",
        ),
    ],
)
def test_the_first_line_says_what_happened(found: Message, code: int, first: str) -> None:
    assert (found.code, found.lines[0]) == (code, f"benchproof 2026-01-15: {first}")


def test_then_what_matters_the_worst_first_and_where_it_stands() -> None:
    found = said(WORSE, BAD, changes=changed(1), unknown=(OPEN, OPEN))
    assert found.text.splitlines()[1:] == [
        WORSE.line,
        BAD.line,
        f"change: {GONE}",
        "unknown: probe: 2 (timeout)",
        "Report: r",
    ]


def test_more_than_ten_lines_are_counted() -> None:
    lines = said(*[BAD] * 13).lines
    assert len(lines) == MOST + 2
    assert lines[-1] == "and 3 more"


@pytest.mark.parametrize("text", ["x" * 300, "é" * 300, "a\x1b[31mb\nc\td"])
def test_a_subject_is_one_line_that_a_mail_can_bear(text: str) -> None:
    line = subject("2026-01-15", text)
    assert len(line) <= WIDTH
    assert line.isprintable()
    assert line.startswith("benchproof 2026-01-15: ")


def test_the_longest_subject_of_our_own_fits() -> None:
    """Every severity, invariants, changes and unknowns at once: cut, and the worst of it is there."""
    many = [Item(str(n), s, False, "") for n in range(999) for s in ("critical", "major", "minor")]
    found = said(*[WORSE] * 120, *many, changes=changed(999), unknown=(OPEN,) * 999)
    assert len(found.lines[0]) <= WIDTH
    assert "120 invariants newly fail" in found.lines[0]


def test_what_was_said_of_a_date_is_not_said_again() -> None:
    new, unknown = said(BAD), said(BAD, unknown=(OPEN,))
    assert new.unless_told(new.news) == Message(0)
    assert unknown.unless_told(unknown.news).code == 20
    assert unknown.unless_told(unknown.news).text == ""
    assert new.unless_told(()) is new


def test_learning_what_was_unknown_is_no_news() -> None:
    """Fewer unknowns, then none: the same failure is not said a second and a third time."""
    first = said(BAD, unknown=(OPEN,) * 6)
    fewer, none = said(BAD, unknown=(OPEN,) * 3), said(BAD)
    assert fewer.unless_told(first.news) == Message(20)
    assert none.unless_told(first.news) == Message(0)
    assert said(unknown=(OPEN,)).unless_told(first.news) == Message(20)
    more = said(BAD, WORSE)
    assert more.unless_told(first.news) is more
    assert first.unless_told(none.news) is first


def test_a_run_that_came_to_no_report_says_so_each_time() -> None:
    broken = unfinished("2026-01-15", 1, "a job failed", ["benchproof: x failed"], "Log: l")
    assert broken.unless_told(broken.lines) is broken
    assert broken.news == ()
    assert broken.text == "benchproof 2026-01-15: a job failed\nbenchproof: x failed\nLog: l\n"


@pytest.mark.parametrize("code", [0, 1, 2, 10, 11, 20, 75])
def test_every_exit_code_has_a_next_step(code: int) -> None:
    assert Message(code).next
