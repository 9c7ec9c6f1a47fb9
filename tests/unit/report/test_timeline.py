"""The page and the screen of a past: honest gaps, words for every chart, upstream text as text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest

from benchproof import tables
from benchproof.report import timeline
from benchproof.report.dictionary import STATUSES

HOSTILE = '<img src=x onerror=alert(1)></script><script>alert(2)</script>"&\x1b[31m'


def row(position: int | None = 1, **values: Any) -> dict[str, Any]:
    wholes = (f.name for f in tables.spec_of("timeline").schema if f.type == tables.WHOLE)
    base = {
        **dict.fromkeys(tables.spec_of("timeline").schema.names),
        **dict.fromkeys(wholes, 0),
        "repo": "demo/one",
        "position": position,
        "commit_sha": f"{position or 0:040x}",
        "committed_at": datetime(2026, 8, 1, tzinfo=UTC) + timedelta(days=position or 0),
        "parents": 1,
        "changed_paths": 2,
        "shape": "a",
        "status": "ok",
    }
    return base | values


def absent(status: str = "unknown", reason: str = "timeout") -> dict[str, Any]:
    empty = dict.fromkeys(tables.spec_of("timeline").schema.names)
    return {**empty, "repo": "demo/two", "status": status, "reason": reason}


PAST = [
    row(1, shape="d", evals=30, graders=30),
    row(2, shape="unknown", evals=None, critical=1),
    row(3, status="failed", reason="not_derived", shape=None, evals=None, runs=None, critical=None),
    row(4, evals=6, graders=6, runs=273, graded=273, agreeing=270, critical=3, parents=2),
]


class Page(HTMLParser):
    """Collects elements, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [found for name, found in self.elements if name == tag]


def test_the_page_needs_nothing_else() -> None:
    page = Page(timeline.render([*PAST, absent()]))
    assert not page.named("script")
    assert not page.named("link")
    assert not page.named("img")
    for _, attributes in page.elements:
        assert not {"src", "href"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)


def test_text_from_upstream_is_text() -> None:
    """BR-55"""
    hostile = row(1, shape=HOSTILE, status=HOSTILE, reason=HOSTILE, repo=HOSTILE)
    page = Page(timeline.render([hostile], notice=HOSTILE))
    assert not page.named("script")
    assert not page.named("img")
    assert page.text.count(HOSTILE) >= 4


def test_every_chart_says_in_words_what_it_draws() -> None:
    text = timeline.render(PAST)
    page = Page(text)
    charts = page.named("svg")
    assert len(charts) == 5
    ids = {found["id"] for _, found in page.elements if "id" in found}
    for chart in charts:
        assert chart["role"] == "img"
        assert set(str(chart["aria-labelledby"]).split()) <= ids
    assert len(ids) == len(re.findall(r'\bid="', text))
    assert (
        "evaluations: 30 at first, 6 at last, between 6 and 30; known at 2 of 4 commits, changed at 1."
        in text
    )
    assert "agreeing: 98.9 at first, 98.9 at last" in text


def test_what_is_not_known_is_a_gap_and_never_zero() -> None:
    """Law 3"""
    path = timeline._path([1, None, 2, 2, None], 2)
    assert path.count("M") == 2
    assert timeline._path([None, None], 1) == ""
    page = Page(timeline.render(PAST))
    assert "not known" in page.text
    assert "failed (not_derived)" in page.text


@pytest.mark.parametrize("number", [1, 2, timeline.DOTS + 1])
def test_any_number_of_commits_stays_inside_the_chart(number: int) -> None:
    page = Page(timeline.render([row(n, evals=n) for n in range(1, number + 1)]))
    paths = [str(found["d"]) for found in page.named("path") if found["class"] != "scale"]
    for path in paths:
        assert all(0 <= float(x) <= timeline.WIDTH for x in re.findall(r"[MH]([\d.-]+)", path))
        assert all(0 <= float(y) <= timeline.HEIGHT for y in re.findall(r"[ V]([\d.-]+)", path))
    for band in page.named("rect"):
        assert float(str(band["x"])) + float(str(band["width"])) <= timeline.WIDTH
    assert bool(page.named("circle")) == (number <= timeline.DOTS)


def test_a_repository_without_commits_says_why() -> None:
    page = Page(timeline.render([absent("missing", "missing")]))
    assert "missing (missing)" in page.text
    assert not page.named("svg")
    assert timeline.screen([absent()]) == "demo/two\n  no commits: unknown (timeout)"
    assert "history" in timeline.render([])
    assert timeline.screen([]) == ""


def test_the_screen_shows_what_changed_and_counts_the_rest() -> None:
    shown = timeline.screen([*PAST, row(5, **{k: v for k, v in PAST[3].items() if k in COUNTED})])
    lines = shown.splitlines()
    assert lines[0] == "demo/one"
    assert [line.split()[0] for line in lines[2:6]] == [f"{n:040x}"[:10] for n in (1, 2, 3, 4)]
    assert "270 of 273" in lines[5]
    assert "?" in lines[3]
    assert lines[4].endswith("failed (not_derived)")
    assert lines[6] == "  5 commits that touch what is audited; 1 as the one before."
    assert max(map(len, lines)) <= 80


COUNTED = ("shape", "evals", "graders", "runs", "graded", "agreeing", "critical")


def test_a_long_past_is_cut_in_the_middle() -> None:
    shown = timeline.screen([row(n, evals=n) for n in range(1, 101)]).splitlines()
    assert len(shown) <= 30
    assert any("76 more in the table" in line for line in shown)


def test_a_list_of_commits_claims_nothing_about_what_they_touch() -> None:
    shown = timeline.screen([row(1, parents=None)])
    assert shown.endswith("  1 commit; none as the one before.")


def test_a_terminal_obeys_nothing() -> None:
    assert "\x1b" not in timeline.screen([row(1, repo="demo/\x1b[31m")])


def test_statuses_of_a_timeline_are_explained() -> None:
    assert {"ok", "unknown", "failed", "missing"} <= STATUSES["timeline"].keys()
