"""report.html: whatever upstream wrote is text on the page, and the page needs nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from benchproof import tables
from benchproof.inventory.repository import not_read
from benchproof.report.dictionary import REASONS, STATUSES
from benchproof.report.facts import Facts
from benchproof.report.html import render

#: BR-55
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "&<>\"'",
    '" onmouseover="alert(3)',
    "{{ 7 * 7 }}{% raw %}",
    "</td></table><h1>x",
    '=HYPERLINK("http://x")',
    "<!--",
)
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """A page as a browser's parser sees it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.ids: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


def row(table: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(tables.SPECS[table].schema.names), "repo": "demo/one", **values}


def facts(text: str = "x", **changes: Any) -> Facts:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in tables.SPECS}
    rows["pins"] = [row("pins", status="ok", commit_sha="c" * 40, committed_at=at)]
    rows["reconciliation"] = [
        row(
            "reconciliation",
            evals=1,
            rows=1,
            files=1,
            orphans=0,
            dangling=0,
            shape="a",
            status="ok",
        )
    ]
    rows["evals"] = [row("evals", path=text, eval_id=text, status="ok", grader_form="grader")]
    rows["runs"] = [row("runs", run_path=text, eval_id=text, status="graded", passed_agrees=True)]
    rows["readings"] = [
        row("readings", reading="bounds", runs=1, applies=1, verdicts_changed=0, fields_changed=0)
    ]
    del rows["readings"][0]["repo"]
    rows["models"] = [
        row("models", model=text, harness=text, n_evals=1, n_runs=1, n_missing=0, accuracy=0.5)
    ]
    rows["findings"] = [
        row(
            "findings",
            finding_id="orphan.1",
            severity="major",
            rule="orphan",
            path=text,
            pointer=text,
            message=text,
            remedy=text,
        )
    ]
    return Facts("2026-01-15", text, 1, rows | changes, None, None)


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_from_data_is_text(text: str) -> None:
    """BR-55"""
    plain, page = Page(render(facts())), Page(render(facts(text)))
    assert page.tags == plain.tags
    assert [name for name, _ in page.attributes] == [name for name, _ in plain.attributes]
    assert page.open == []
    assert page.text.count(" ".join(text.split())) >= 6


def test_the_page_stands_alone() -> None:
    page = Page(render(facts()))
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    inside = {str(value) for name, value in page.attributes if name == "href"}
    assert inside == {f"#{name}" for name in page.ids if name != "orphan.1"}
    assert dict(page.attributes).get("charset") == "utf-8"
    assert len(page.ids) == len(set(page.ids))
    assert {
        "orphan.1",
        "verdicts",
        "wrong",
        "reconciliation",
        "runs",
        "readings",
        "models",
        "findings",
    } <= set(page.ids)


def test_nothing_known_is_shown_as_zero_or_none() -> None:
    """Law 3"""
    pins = [row("pins", status="unknown", reason="timeout")]
    page = Page(
        render(
            facts(pins=pins, reconciliation=[not_read("demo/one", "timeout")], runs=[], evals=[])
        )
    )
    assert "demo/one (timeout) stayed unknown" in " ".join(page.text.split())
    assert "None" not in page.text
    assert page.text.count("not known") >= 8
    assert page.text.count("at least 0") == 8
    assert STATUSES["pins"]["unknown"] in page.text
    assert REASONS["timeout"] in page.text


def test_totals_are_sums_and_handles_are_distinct_over_the_family() -> None:
    handles = [
        row("eval_handles", repo=r, eval_id=e, handle=h) for r, e, h in ("axh", "ayh", "bxh", "bxi")
    ]
    page = render(facts(eval_handles=handles))
    assert '<td class="n">2</td><td></td></tr></tfoot>' in page


def test_a_report_without_findings_says_none() -> None:
    assert "All findings None." in Page(render(facts(findings=[]))).text


def test_what_does_not_hold_comes_before_the_tables() -> None:
    """A reader learns in the first screen what is wrong; twenty rows at most, then a link."""
    one = {**facts().tables["findings"][0], "severity": "critical"}
    many = [{**one, "finding_id": f"f{n:02}", "path": f"file{n:02}"} for n in range(23)]
    page = Page(render(facts(findings=many))).text
    assert "Doesn't hold: 23 critical." in page
    assert page.index("file19") < page.index("manifest rows") < page.index("file20")
    assert "And 3 more" in page


def test_the_notice_and_what_is_untested_are_said() -> None:
    page = Page(render(facts("invented data"))).text
    assert page.index("invented data") < page.index("What holds")
    assert "Not tested:" in page


def test_the_same_facts_give_the_same_page() -> None:
    assert render(facts("é")) == render(facts("é"))


def test_a_thousand_findings_stay_below_the_limit() -> None:
    """DESIGN: report.html at most 1.5 MB."""
    one = facts("path/of/a/file.json").tables["findings"][0]
    many = [
        one | {"finding_id": f"orphan.{n}", "message": "m" * 120, "remedy": "r" * 60}
        for n in range(2000)
    ]
    assert len(render(facts(findings=many)).encode()) < 1_500_000


def test_words_are_explained_where_they_are_met() -> None:
    """A word that means something else in each table says where; words that don't occur are left out."""
    page = Page(
        render(
            facts(
                handles=[row("handles", handle="h", status="malformed", reason="no_url")],
                eval_handles=[row("eval_handles", handle="h", eval_id="e", status="malformed")],
            )
        )
    )
    assert f"in handles: {STATUSES['handles']['malformed']}" in page.text
    assert f"in eval_handles: {STATUSES['eval_handles']['malformed']}" in page.text
    assert STATUSES["evals"]["malformed"] not in page.text
    assert f"graded{STATUSES['runs']['graded']}" in page.text.replace(
        " " + STATUSES["runs"]["graded"], STATUSES["runs"]["graded"]
    )
    assert REASONS["no_url"] in page.text
    assert REASONS["bad_url"] not in page.text


def test_control_characters_of_upstream_do_not_reach_the_page() -> None:
    """A reader who prints the page to a terminal is not at the mercy of a column's name."""
    row = dict.fromkeys(tables.SPECS["files"].schema.names)
    row |= {"handle": "latch://1\x1b[31m\x07.node", "status": "ok"}
    page = render(facts(files=[row]))
    assert "\x1b" not in page
    assert "\x07" not in page
    assert "latch://1\N{REPLACEMENT CHARACTER}[31m" in page
