"""report.html: whatever upstream wrote is text on the page, and the page needs nothing else."""

from __future__ import annotations

import base64
import json
import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from benchproof.inventory.repository import not_read
from benchproof.report.dictionary import COLUMNS, REASONS, STATUSES
from benchproof.report.figures import figures
from benchproof.report.html import TEMPLATES
from reports import AT, counted, every, filled, page, pin, row

#: BR-55
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "&<>\"'",
    '" onmouseover="alert(3)',
    "{{ 7 * 7 }}{% raw %}",
    "</td></table><h1>x",
    '=HYPERLINK("http://x")',
    "<!--<script>",
    "javascript:alert(4)",
    "</style><style>*{}",
)
#: BR-47
MISSING = ("NA", "NaN", "null", "None", "TP53", "1E5", "SEPT1")
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """A page as a browser's parser sees it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.texts: list[str] = []
        self.blocks: dict[str, str] = {}
        self.ids: list[str] = []
        self.open: list[str] = []
        self._block = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)
        self._block = dict(attrs).get("id") or "script"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.blocks[self._block if self.open[-1] == "script" else "style"] = data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())

    @property
    def links(self) -> list[str]:
        return [unquote(value or "") for _, name, value in self.attributes if name == "href"]

    def data(self, name: str) -> Any:
        return json.loads(self.blocks[f"data-{name}"])

    def cells(self, name: str) -> dict[str, list[Any]]:
        """The columns of a grid, as its script reads them."""
        return {
            c["name"]: c["cells"] if "cells" in c else [c["values"][n] for n in c["at"]]
            for c in self.data(name)["columns"]
        }


def texts_of(grid: dict[str, list[Any]]) -> set[str]:
    return {cell for cells in grid.values() for cell in cells if isinstance(cell, str)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plain")


@pytest.fixture(scope="module")
def plain(folder: Path) -> str:
    """A page on which every table has rows, of harmless words."""
    words = [f"plain{n}" for n in range(len(HOSTILE))]
    return page(folder, every(*words), words[0])


def test_markup_from_data_is_text_in_every_table(tmp_path: Path, plain: str) -> None:
    """BR-55: no element, no attribute, no end of a block comes from data, and the text is shown as it is."""
    harmless, hostile = Page(plain), Page(page(tmp_path, every(*HOSTILE), HOSTILE[0]))
    assert hostile.open == []
    assert hostile.tags == harmless.tags
    assert [(t, n) for t, n, _ in hostile.attributes if n != "id"] == [
        (t, n) for t, n, _ in harmless.attributes if n != "id"
    ]
    assert not [name for _, name, _ in hostile.attributes if name.startswith("on")]
    assert not {"img", "iframe", "object", "embed", "link", "base", "form"} & set(hostile.tags)
    for text in HOSTILE:
        assert hostile.text.count(" ".join(text.split())) >= 20, text
        for name in ("findings", "runs", "claims", "evals", "objects"):
            assert text in texts_of(hostile.cells(name)), name
    blocks = [b for name, b in hostile.blocks.items() if name.startswith("data-")]
    assert len(blocks) == 7
    assert not [block for block in blocks if "<" in block]


def test_text_that_looks_like_a_missing_value_survives(tmp_path: Path) -> None:
    """BR-47: in the page, and in the rows beside its script, where a null is another thing."""
    given = every(*MISSING)
    given["runs"].append(row("runs", run_path="", status="graded"))
    read = Page(page(tmp_path, given))
    assert set(MISSING) <= set(read.text.split())
    assert set(read.cells("runs")["model"]) == {*MISSING, None}
    assert set(read.cells("runs")["eval_id"]) == {*MISSING, None}


def test_the_page_stands_alone(plain: str) -> None:
    """Nothing is loaded, its policy allows its own script and style by digest and nothing more."""
    read = Page(plain)
    assert not {"img", "link", "iframe", "object", "form"} & set(read.tags)
    assert not [n for _, n, _ in read.attributes if n.startswith("on") or n in ("src", "style")]
    policy = next(v for t, n, v in read.attributes if t == "meta" and v and "default-src" in v)
    for kind in ("script", "style"):
        digest = base64.b64encode(sha256(read.blocks[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    risky = r"(inner|outer)HTML|insertAdjacent|document\.write|\beval\b|Function\(|fetch\(|XMLHttp|import\("
    assert not re.search(risky, read.blocks["script"])
    assert not re.search(r"url\((?!#)|@import|@font-face", read.blocks["style"])


def test_every_link_leads_to_a_place_or_a_row(plain: str) -> None:
    read = Page(plain)
    assert len(read.ids) == len(set(read.ids))
    known = set(read.ids) | set(read.cells("figures")["id"])
    for grid in ("findings", "runs", "claims", "evals", "objects", "figures"):
        keys = zip(*(read.cells(grid)[name] for name in read.data(grid)["key"]), strict=True)
        known |= {":".join([grid, *key]) for key in keys}
    assert [link for link in read.links if link[1:] not in known] == []
    sections = (
        "verdicts wrong reconciliation data inside runs readings models numbers claims findings licences "
        "reproduce meanings figures"
    )
    assert set(sections.split()) <= set(read.ids)


def test_every_shown_figure_is_one_of_the_registry(plain: str, folder: Path) -> None:
    """Each number is a link to an id, and says what the figure of that id says."""
    found = figures(folder)
    shown = re.findall(r'<a class="f"(?: id="([^"]+)")? href="#([\w.-]+)">([^<]*)</a>', plain)
    assert len(shown) > 70
    for anchor, name, said in shown:
        value = found[name].value
        assert anchor in ("", name)
        percent = isinstance(value, float) and f"{100 * value:.2f}" == said
        assert percent or said in (str(value), "0.0 MB", "not known"), name
    assert {name for _, name, _ in shown} == {anchor for anchor, _, _ in shown if anchor}


def test_columns_and_words_lead_to_their_meaning(tmp_path: Path) -> None:
    run = row("runs", run_path="p", status="eval_missing", reason="no_grader")
    read = Page(page(tmp_path, {"runs": [run]}))
    assert "word:runs.edge" in read.ids
    assert COLUMNS["runs"]["edge"] in read.text
    assert "word:runs:eval_missing" in read.ids
    assert STATUSES["runs"]["eval_missing"] in read.text
    assert STATUSES["runs"]["graded"] not in read.text
    assert REASONS["no_grader"] in read.text
    assert REASONS["bad_url"] not in read.text


def test_nothing_known_is_shown_as_zero_or_none(tmp_path: Path) -> None:
    """Law 3"""
    pins = [pin(status="unknown", reason="timeout", commit_sha=None, committed_at=None)]
    text = page(tmp_path, {"pins": pins, "reconciliation": [not_read("demo/one", "timeout")]})
    read = Page(text)
    assert "INCOMPLETE. demo/one (timeout) stayed unknown" in read.text
    assert re.findall(r">None\b(?! values)[^.]", text) == []
    assert read.text.count("not known") >= 8
    assert read.text.count("at least 0") >= 8
    assert STATUSES["pins"]["unknown"] in read.text
    assert REASONS["timeout"] in read.text


def test_totals_are_sums_and_handles_are_distinct_over_the_family(tmp_path: Path) -> None:
    pairs = [("one", "x", "h"), ("one", "y", "h"), ("two", "x", "h"), ("two", "x", "i")]
    handles = [row("eval_handles", repo=f"demo/{r}", eval_id=e, handle=h) for r, e, h in pairs]
    found = {
        "pins": [pin(), pin("demo/two")],
        "reconciliation": [counted(rows=3), counted("demo/two")],
    }
    found["eval_handles"] = handles
    text = re.sub(r"</?a\b[^>]*>", "", page(tmp_path, found))
    foot = text[text.index("<tfoot>") : text.index("</tfoot>")]
    assert re.findall(r'<td class="n">(\d+)</td>', foot) == ["4", "2", "2", "0", "0", "0", "2"]


def test_a_report_without_findings_says_so(tmp_path: Path) -> None:
    read = Page(page(tmp_path)).text
    assert "nothing found" in read
    assert "Findings None." in read


def test_what_does_not_hold_comes_before_the_tables(tmp_path: Path) -> None:
    """A reader learns in the first screen what is wrong; twenty rows at most, then a link."""
    grave = filled("findings", "x", severity="critical")
    many = [{**grave, "finding_id": f"f{n:02}", "path": f"file{n:02}"} for n in range(23)]
    read = Page(page(tmp_path, {"findings": many})).text
    assert read.index("23 critical") < read.index("file19") < read.index("manifest rows")
    assert read.index("manifest rows") < read.index("file20")
    assert "And 3 more" in read


def test_the_notice_and_what_is_untested_are_said_first(tmp_path: Path) -> None:
    read = Page(page(tmp_path, notice="invented data")).text
    assert read.index("invented data") < read.index("Not tested:") < read.index("What was audited")


def test_the_same_tables_give_the_same_page(tmp_path: Path, plain: str) -> None:
    """Law 6"""
    words = [f"plain{n}" for n in range(len(HOSTILE))]
    assert page(tmp_path, every(*words), words[0]) == plain


def test_what_cannot_be_seen_is_spelt_out(tmp_path: Path) -> None:
    """A reader who prints the page to a terminal is not at its mercy, and no name reads backwards."""
    name = "latch://1\x1b[31m\x07\u202enode"
    at = {"checked_at": AT, "status": "ok"}
    given = {table: [row(table, handle=name, **at)] for table in ("handles", "files")}
    text = page(tmp_path, given)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)
    assert "latch://1\\x1b[31m\\x07\\u202enode" in Page(text).text


def test_the_first_rows_are_there_without_a_script(tmp_path: Path) -> None:
    runs = [
        row("runs", run_path=f"p{n:03}", eval_id=f"e{n:03}", status="graded") for n in range(60)
    ]
    read = Page(page(tmp_path, {"runs": runs}))
    assert "e019" in read.text
    assert "e020" not in read.text
    assert "the first 20 of 60 rows" in read.text
    assert len(read.cells("runs")["run_path"]) == 60


def test_two_thousand_findings_stay_below_the_limit(tmp_path: Path) -> None:
    """DESIGN: report.html at most 1.5 MB."""
    one = row("findings", severity="minor", message="m" * 120, remedy="r" * 60, rule="orphan")
    many = [one | {"finding_id": f"orphan.{n}", "path": f"evals/file{n}.json"} for n in range(2000)]
    assert len(page(tmp_path, {"findings": many}).encode()) < 1_500_000


def test_whole_numbers_that_a_browser_would_round_stay_exact(tmp_path: Path) -> None:
    """BR-43"""
    size = 2**53 + 1
    given = {"handles": [row("handles", handle="h", status="reachable")]}
    given["objects"] = [row("objects", handle="h", status="ok", size_bytes=size)]
    read = Page(page(tmp_path, given))
    assert read.cells("objects")["size_bytes"] == [str(size)]


def test_the_templates_are_part_of_the_code() -> None:
    assert {p.name for p in TEMPLATES.iterdir()} >= {"report.html.j2", "report.js", "report.css"}
