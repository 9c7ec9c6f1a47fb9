"""The auditor audited, in part: what the pages say is seen is seen, and nobody else is accused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from defects.campaign import (
    FIRST,
    LIST,
    PAGE,
    counts,
    listing,
    name_of,
    page,
    row,
    run,
    told,
    worse,
)
from defects.cases import CASES, KINDS, Case, Outcome, judge
from defects.reasons import REASONS
from defects.trial import Lines, accuses

#: Kinds of which a case takes a fraction of a second; claims and storage have tests of their own.
QUICK = ("manifest", "tree", "files", "graders", "runs", "tables", "clean")
#: Every so many cases, so that all kinds have some.
STEP = 25


def sample() -> list[Case]:
    """A part of the cases that costs seconds."""
    quick = [case for case in CASES if case.kind in QUICK and not case.large]
    return quick[:: len(quick) // STEP]


def test_a_part_is_as_the_list_says() -> None:
    cases, text = sample(), LIST.read_text()
    results = run(cases, tell=False)
    assert worse(cases, results, text) == []
    rows = [row(case, results[name_of(case)]) for case in cases if case.kind != "clean"]
    assert [line for line in rows if line not in text] == []


def test_the_pages_have_every_case_and_its_sums() -> None:
    """No figure is typed in: the sums are those of the rows."""
    text = LIST.read_text()
    known = told(text)
    defects = [case for case in CASES if case.kind != "clean"]
    assert set(known) == {f"{case.kind}/{case.says.replace('|', '/')}" for case in defects}
    outcomes = {
        name_of(case): Outcome(
            () if known[f"{case.kind}/{case.says.replace('|', '/')}"][0] else ("x",),
            ("x",) * known[f"{case.kind}/{case.says.replace('|', '/')}"][1],
        )
        for case in defects
    }
    outcomes |= {name_of(case): Outcome() for case in CASES if case.kind == "clean"}
    assert listing(CASES, outcomes) == text
    assert page(CASES, outcomes) == PAGE.read_text()
    assert len(PAGE.read_text().splitlines()) <= 80  # what somebody reads


def test_there_are_enough_of_each_kind() -> None:
    numbers = {kind: sum(case.kind == kind for case in CASES) for kind in KINDS}
    assert min(numbers.values()) >= 30
    assert sum(numbers.values()) - numbers["clean"] >= 200
    assert numbers["clean"] >= 100
    assert len({name_of(case) for case in CASES}) == len(CASES)
    assert FIRST.exists()


def test_each_miss_has_a_reason() -> None:
    known = told(LIST.read_text())
    missed = {
        name_of(case)
        for case in CASES
        if not known.get(f"{case.kind}/{case.says.replace('|', '/')}", (True, 0))[0]
    }
    assert missed == set(REASONS)


def test_a_blind_or_loud_auditor_shows() -> None:
    """A miss, a finding of another file and a second finding of the same one count."""
    before = Lines(["findings old a.json"])
    after = before + Lines(
        ["findings meant a.json", "findings other a.json", "findings far b.json"]
    )
    loud = judge(before, after, ("findings meant a.json",), (), ["a.json"])
    assert loud == Outcome((), ("findings far b.json", "findings other a.json"))
    assert judge(before, before, ("findings meant a.json",), (), ["a.json"]).found is False
    assert judge(before, after, (), (), ["a.json"]).false == (
        *("findings far b.json", "findings meant a.json", "findings other a.json"),
    )
    silent = judge(Lines(["runs r status=graded"]), Lines(["runs r status=unreadable"]), (), (), [])
    assert len(silent.false) == 2
    case = next(case for case in CASES if case.kind == "manifest")
    text = listing([case], {name_of(case): Outcome()})
    assert worse([case], {name_of(case): Outcome(("x",))}, text) == [name_of(case)]
    assert worse([replace(case)], {name_of(case): Outcome()}, text) == []
    assert counts({"clean/a": Outcome((), ("x",))})["clean"] == (1, 1, 1)


@pytest.mark.parametrize(
    ("line", "bad"),
    [
        ("findings orphan a.json", True),
        ("runs r passed_agrees=False", True),
        ("runs r status=graded", False),
        ("runs r status=unreadable", True),
        ("published_checks c status=fails", True),
        ("published_checks c status=not_checked", False),
        ("graders g rule_status=invalid_config", True),
        ("reconciliation None dangling=0", False),
        ("record_checks c n_fails=2", True),
        ("estimates e status=small_n", False),
    ],
)
def test_what_accuses(line: str, bad: bool) -> None:
    assert accuses(line) is bad
