"""Write and use the report page: how long, how large, and how fast a table of many rows answers.

usage: report.py [--rows 100000] [--folder results/demo/latest] [--json FILE]

The first part takes a finished report and times what `write_report` does, in the order it does it. The
second opens a page of invented runs in Chromium (playwright, a system browser) and times, inside the page,
what a reader waits for: the page with its rows, a sort by words, a sort by numbers, a filter, a page on.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from benchproof.report import html  # noqa: E402
from benchproof.report.facts import Facts, gather  # noqa: E402
from benchproof.report.figures import figures  # noqa: E402
from benchproof.tables import SPECS  # noqa: E402
from reports import counted, pin, sample  # noqa: E402

#: Milliseconds from an action to the frame that shows it, in the page's own clock.
_TIMED = """([selector, event, value]) => new Promise((done) => {
  const target = document.querySelector(selector);
  const begun = performance.now();
  if (value !== null) target.value = value;
  target.dispatchEvent(new Event(event, { bubbles: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
})"""


def main() -> None:
    """Print the figures as lines, or write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=ROOT / "results/demo/latest")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {}
    if (options.folder / "pins.parquet").exists():
        found["write"] = written(options.folder.resolve())
    found["page"] = used(options.rows)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    for part, values in found.items():
        print(part, ", ".join(f"{name} {value:g}" for name, value in values.items()))


def written(folder: Path) -> dict[str, float]:
    """Return seconds of each part of writing a report, medians of five, and the page's bytes."""
    about = {"label": folder.name, "members": 1, "made_by": {"notice": None}}
    facts, gathered = timed(lambda: gather(folder, about, folder.parent))
    registry, measured = timed(lambda: figures(folder))
    page, rendered = timed(lambda: html.render(facts, registry))
    return {
        "tables_s": gathered,
        "figures": len(registry),
        "figures_s": measured,
        "render_s": rendered,
        "bytes": len(page.encode()),
    }


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what the work returns, and the median of its seconds over five rounds."""
    seconds = []
    for _ in range(5):
        begun = time.perf_counter()
        made = work()
        seconds.append(time.perf_counter() - begun)
    return made, round(statistics.median(seconds), 3)


def used(rows: int) -> dict[str, float]:
    """Return milliseconds of what a reader does on a page of many runs, medians of five."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in SPECS}
    tables |= {"pins": [pin()], "reconciliation": [counted()], "runs": sample(rows)["runs"]}
    text = html.render(Facts("2026-01-15", None, 1, tables, None, None), {})
    head, filters = "table[data-grid=runs] th[data-name={}] button", ".controls input"
    actions = {
        "sort_words_ms": (head.format("model"), "click", None),
        "sort_numbers_ms": (head.format("replicate"), "click", None),
        "filter_ms": (filters, "input", "sage-1 r0999"),
        "filter_off_ms": (filters, "input", ""),
        "page_ms": ("div.pager button:last-child", "click", None),
    }
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder, "report.html")
        path.write_text(text, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        found: dict[str, list[float]] = {"open_ms": [], **{name: [] for name in actions}}
        for _ in range(5):
            page = browser.new_page()
            page.goto(path.as_uri())
            found["open_ms"].append(
                page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
            )
            for name, action in actions.items():
                found[name].append(page.evaluate(_TIMED, list(action)))
            page.close()
        browser.close()
    medians = {name: round(statistics.median(values), 1) for name, values in found.items()}
    return {"rows": rows, "bytes": len(text.encode()), **medians}


if __name__ == "__main__":
    main()
