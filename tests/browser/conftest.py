"""A real Chromium that opens pages from files: where there is none these tests are skipped, but not in CI."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reports import page as make
from reports import sample

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium; none is downloaded."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None and not os.environ.get("CI"):
        pytest.skip("no chromium on this machine: apt-get install chromium")
    assert program, "CI must have chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@dataclass
class Seen:
    """What a page asked for and complained of while it was open."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


Open = Callable[..., tuple["Page", Seen]]


@pytest.fixture
def view(chromium: Browser) -> Iterator[Open]:
    """Open a file in a window of its own, and return it with what it asked for."""
    contexts: list[BrowserContext] = []

    def view(path: Path, anchor: str = "", width: int = 1280, **options: Any) -> tuple[Page, Seen]:
        context = chromium.new_context(viewport={"width": width, "height": 800}, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page, seen = context.new_page(), Seen()
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("dialog", lambda dialog: seen.dialogs.append(dialog.message))
        page.goto(path.as_uri() + (f"#{anchor}" if anchor else ""))
        return page, seen

    yield view
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a small invented repository."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(make(path.parent / "tables", sample(), "Invented data."), encoding="utf-8")
    return path
