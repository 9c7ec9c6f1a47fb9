"""report.html in Chromium: what a reader does with it, and what hostile data doesn't."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchproof.report import html
from benchproof.report.dictionary import COLUMNS, STATUSES
from benchproof.report.facts import Facts
from benchproof.tables import SPECS
from reports import counted, every, page, pin, sample

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., Any]
RUNS = "table[data-grid=runs]"
#: BR-55
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "&<>\"'",
    '=HYPERLINK("http://x")',
    '"><svg onload=alert(3)>',
    "javascript:alert(4)",
)


def column(page: Page, name: str, table: str = RUNS) -> list[str]:
    """The cells of a grid's column as they stand on the page."""
    at = page.locator(f"{table} thead th").evaluate_all(
        "(heads, name) => heads.findIndex((head) => head.dataset.name === name)", name
    )
    return page.locator(f"{table} tbody tr > :nth-child({at + 1})").all_inner_texts()


def sort(page: Page, name: str, table: str = RUNS) -> None:
    page.locator(f"{table} th[data-name={name}] button").click()


def controls(page: Page, table: str = "runs") -> Any:
    return page.locator(f"div.wide:has(table[data-grid={table}])").locator(
        "xpath=preceding-sibling::*[1]"
    )


def test_it_opens_from_a_file_without_a_request_or_a_complaint(view: Open, report: Path) -> None:
    shown, seen = view(report)
    assert seen.requests == [report.as_uri()]
    assert seen.complaints == []
    assert shown.locator("h2#verdicts").inner_text().startswith("57 of 58 recorded verdicts")


def test_a_table_is_sorted_both_ways_and_what_is_not_known_comes_last(
    view: Open, report: Path
) -> None:
    shown, _ = view(report)
    sort(shown, "replicate")
    sort(shown, "replicate")
    assert column(shown, "replicate")[:3] == ["59", "58", "57"]
    sort(shown, "model")
    assert column(shown, "model") == ["1E5"] * 12 + ["NA"] * 12 + ["null"]
    sort(shown, "derived_passed")
    sort(shown, "derived_passed")
    assert shown.locator(f"{RUNS} th[aria-sort]").get_attribute("aria-sort") == "descending"
    for _ in range(2):
        shown.locator("div.pager button", has_text="Next").locator("visible=true").nth(2).click()
    assert column(shown, "derived_passed")[-2:] == ["", ""]


def test_a_table_is_filtered_by_words_and_by_choice(view: Open, report: Path) -> None:
    shown, _ = view(report)
    box = controls(shown)
    box.locator("input").fill("NA demo_00")
    assert set(column(shown, "model")) == {"NA"}
    assert set(column(shown, "eval_id")) == {"demo_00"}
    box.locator("input").fill("")
    box.locator("label", has_text="edge").locator("select").select_option(label="on_bound")
    assert box.locator("output").inner_text() == "1–6 of 6, of 60 in all"
    box.locator("input").fill("no such thing")
    assert box.locator("output").inner_text() == "0–0 of 0, of 60 in all"
    assert column(shown, "model") == []


def test_a_table_is_paged(view: Open, report: Path) -> None:
    shown, _ = view(report)
    pager = shown.locator(f"div.wide:has({RUNS}) + div.pager")
    assert pager.locator("button").first.is_disabled()
    first = column(shown, "replicate")
    for _ in range(2):
        pager.locator("button").last.click()
    assert controls(shown).locator("output").inner_text() == "51–60 of 60"
    assert pager.locator("button").last.is_disabled()
    pager.locator("button").first.click()
    pager.locator("button").first.click()
    assert column(shown, "replicate") == first


def test_small_tables_are_sorted_by_the_same_script(view: Open, report: Path) -> None:
    shown, _ = view(report)
    table = shown.locator("#models ~ .wide table")
    table.locator("th.n button").first.click()
    table.locator("th.n button").first.click()
    assert table.locator("tbody th").all_inner_texts()[0] == "sage-2"
    assert table.locator("tbody svg").count() == 5


def test_a_number_leads_to_its_evidence_by_keyboard_alone(view: Open, report: Path) -> None:
    shown, _ = view(report)
    link = shown.locator("[id='family.runs.agree']")
    link.focus()
    shown.keyboard.press("Enter")
    panel = shown.locator("dialog#panel")
    assert panel.locator("h2").inner_text() == "family.runs.agree"
    assert "SELECT count(*) FROM runs" in panel.locator("pre").inner_text()
    assert "benchproof explain family.runs.agree" in panel.inner_text()
    assert "57" in panel.inner_text()
    shown.keyboard.press("Escape")
    assert not panel.is_visible()
    assert shown.evaluate("document.activeElement.id") == "family.runs.agree"
    assert shown.url.endswith("#family.runs.agree")


def test_a_link_to_a_figure_a_finding_or_a_run_opens_its_evidence(view: Open, report: Path) -> None:
    path = "trajectories/demo_07/demo/1E5/cli/r000007/result.json"
    for anchor, title in (
        ("one.runs.differ", "one.runs.differ"),
        ("orphan.0000000003", "orphan.0000000003"),
        (f"runs:demo/one:{path}", path),
    ):
        shown, _ = view(report, anchor)
        panel = shown.locator("dialog#panel")
        assert panel.locator("h2").inner_text() == title
        assert "demo/one@" + "c" * 40 in panel.inner_text()
        if title != "orphan.0000000003":
            assert path in panel.inner_text()


def test_what_a_word_means_is_said_on_focus_and_stands_in_the_dictionary(
    view: Open, report: Path
) -> None:
    shown, _ = view(report)
    word = shown.locator(f"{RUNS} tbody a.w").first
    word.focus()
    shown.wait_for_timeout(100)
    tip = shown.locator("[role=tooltip]")
    assert tip.inner_text() == STATUSES["runs"]["graded"]
    assert word.get_attribute("aria-describedby") == "tip"
    shown.keyboard.press("Escape")
    assert not tip.is_visible()
    shown.locator(f"{RUNS} th[data-name=edge] a").hover()
    assert tip.inner_text() == COLUMNS["runs"]["edge"]
    word.click()
    assert shown.locator("[id='word:runs:graded']").is_visible()


@pytest.mark.parametrize(("scheme", "width"), [("dark", 1280), ("light", 320)])
def test_axe_finds_nothing(view: Open, report: Path, scheme: str, width: int) -> None:
    """WCAG AA and best practices, with everything unfolded and evidence open."""
    from axe_playwright_python.sync_playwright import Axe

    shown, _ = view(report, "one.runs.differ", width, color_scheme=scheme)
    shown.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = Axe().run(shown).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_text_is_inert_in_every_table(view: Open, tmp_path: Path) -> None:
    """BR-55, after everything that a reader can do."""
    path = tmp_path / "report.html"
    path.write_text(page(tmp_path / "t", every(*HOSTILE), HOSTILE[0]), encoding="utf-8")
    shown, seen = view(path)
    shown.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    buttons = shown.locator("button.sort")
    for n in range(0, buttons.count(), 3):
        buttons.nth(n).click()
    for grid in ("findings", "runs", "claims", "evals", "objects"):
        shown.locator(f"table[data-grid={grid}] tbody th a").first.click()
        assert shown.locator("dialog#panel").is_visible(), grid
        text = shown.locator(f"table[data-grid={grid}]").inner_text()
        assert all(hostile in text for hostile in HOSTILE), grid
    shown.keyboard.press("Escape")
    assert shown.locator("img, iframe, object, embed, [onerror], [onload], [onclick]").count() == 0
    assert shown.locator("script").count() == 8
    assert (seen.dialogs, seen.complaints, seen.requests) == ([], [], [path.as_uri()])
    links = shown.locator("a").evaluate_all("(all) => all.map((a) => a.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)


def test_without_javascript_everything_essential_can_be_read(view: Open, report: Path) -> None:
    shown, _ = view(report, java_script_enabled=False)
    text = shown.locator("main").inner_text()
    for said in (
        "57 of 58",
        "Not tested:",
        "It is in no manifest.",
        "List it.",
        "the first 20 of 60 rows",
    ):
        assert said in text
    assert shown.locator(f"{RUNS} tbody tr").count() == 20
    assert shown.locator(".controls, .pager, button.sort").count() == 0
    shown.locator("[id='family.runs.agree']").click()
    assert shown.url.endswith("#family.runs.agree")


def test_print_shows_the_page_and_not_its_controls(view: Open, report: Path) -> None:
    shown, _ = view(report)
    shown.emulate_media(media="print")
    assert not shown.locator("nav").is_visible()
    assert shown.locator(".controls, .pager, button.sort").locator("visible=true").count() == 0
    assert shown.locator("h2#verdicts").is_visible()
    assert len(shown.pdf()) > 20_000


def test_a_hundred_thousand_rows_are_all_there(view: Open, tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {name: [] for name in SPECS}
    rows |= {"pins": [pin()], "reconciliation": [counted()]}
    rows["runs"] = sample(100_000)["runs"]
    facts = Facts("2026-01-15", None, 1, rows, None, None)
    path = tmp_path / "report.html"
    path.write_text(html.render(facts, {}), encoding="utf-8")
    shown, _ = view(path)
    box = controls(shown)
    assert box.locator("output").inner_text() == "1–25 of 100000"
    sort(shown, "replicate")
    sort(shown, "replicate")
    assert column(shown, "replicate")[:2] == ["99999", "99998"]
    box.locator("input").fill("r099998")
    assert column(shown, "replicate") == ["99998"]
