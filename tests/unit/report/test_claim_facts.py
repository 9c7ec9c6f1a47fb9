"""What a report says of claims, published numbers and statistics."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchproof import tables
from benchproof.report import summary
from benchproof.report.facts import Facts
from reports import page

Row = dict[str, Any]


def row(table: str, **values: Any) -> Row:
    return {**dict.fromkeys(tables.SPECS[table].schema.names), "repo": "demo/one", **values}


def claim(name: str, status: str, kind: str = "observation", **values: Any) -> Row:
    base = dict.fromkeys(tables.SPECS["claims"].schema.names)
    told = {
        "claim_id": name,
        "kind": kind,
        "status": status,
        "as_of": "2026-08-28",
        "expected": "1",
    }
    return {**base, **told, "source": "a page", "says": "So.", "repos": ["one"], **values}


def facts(**given: Any) -> Facts:
    rows: dict[str, list[Row]] = {name: [] for name in tables.SPECS}
    return Facts("2026-01-15", None, 0, rows | given, None, None)


CLAIMS = [
    claim("a", "holds"),
    claim("b", "drifted"),
    claim("c", "fails"),
    claim("d", "fails", "invariant", observed="7"),
    claim("e", "not_checked", reason="table_missing_handles"),
    claim("f", "not_checked", reason="table_missing_handles"),
    claim("g", "not_checked", reason="not_in_this_audit"),
    claim("h", "holds", topic="size", expected="195"),
    claim("i", "drifted", topic="size", expected="394", as_of="2026-02-11"),
]


def test_claims_are_counted_and_what_is_amiss_comes_first() -> None:
    found = facts(claims=CLAIMS).claims
    assert found.line == "2 hold, 2 drifted, 2 fail, 3 not checked"
    assert [row["claim_id"] for row in found.amiss] == ["d", "c", "b", "i"]
    assert found.unasked == {"not_in_this_audit": 1, "table_missing_handles": 2}
    assert {topic: [r["claim_id"] for r in rows] for topic, rows in found.topics.items()} == {
        "size": ["i", "h"]
    }
    assert facts().claims.line == ""


def test_the_summary_names_the_first_invariant_that_fails() -> None:
    text = summary.render(facts(claims=[*CLAIMS, claim("z", "fails", "invariant")]), "results/x")
    assert (
        "Claims: 2 hold, 2 drifted, 3 fail, 3 not checked\n  invariant fails: d and 1 more\n"
        in text
    )
    assert "Claims" not in summary.render(facts(), "results/x")


def words(text: str) -> str:
    """A page without its links, in one line."""
    return " ".join(re.sub(r"</?a\b[^>]*>", "", text).split())


def test_the_page_shows_claims_side_by_side_and_what_was_checked(tmp_path: Path) -> None:
    checks = [
        row("published_checks", check="total", status=status, place=str(n))
        for n, status in enumerate(("holds", "holds", "fails"))
    ]
    records = [row("record_checks", check="veto", n_holds=4, n_fails=0, n_not_checked=12)]
    made = facts(claims=CLAIMS, published_checks=checks, record_checks=records)
    assert made.checked == [
        ("demo/one", "published: total", 2, 1, 0),
        ("demo/one", "records: veto", 4, 0, 12),
    ]
    given = {"claims": CLAIMS, "published_checks": checks, "record_checks": records}
    text = words(page(tmp_path, given))
    assert "Sources disagree about size" in text
    assert "All 9 claims" in text
    assert "<td>None" not in text
    assert '<td>published: total</td><td class="n">2</td><td class="n fails">1</td>' in text


def test_statistics_say_how_little_few_evaluations_tell(tmp_path: Path) -> None:
    compared = [
        row("comparisons", p_holm=p, n_evals=6, other_model=str(p)) for p in (0.01, 1.0, 0.06)
    ]
    strata = [
        row("strata", axis="eval", stratum=name, status=status)
        for name, status in (("x", "never_passed"), ("y", "always_passed"), ("z", "ok"))
    ]
    made = facts(models=[row("models")], comparisons=compared, strata=strata)
    (found,) = made.statistics
    assert (found.pairs, found.apart, found.largest_n) == (3, 1, 6)
    assert (found.never, found.always) == (["x"], ["y"])
    given = {"models": [row("models")], "comparisons": compared, "strata": strata}
    text = words(page(tmp_path, given))
    assert "of 3 comparisons of two models, paired by evaluation, 1 differ" in text
    assert "with at most 6 evaluations" in text
    assert "Never passed: <code>x</code>" in text
