"""The first screen on a terminal: the same words, and colour where a person looks."""

from __future__ import annotations

import io
import re

import pytest

from benchproof.report.terminal import screen, show

TEXT = """INCOMPLETE: benchproof 2026-01-15: 5 of 6 repositories, 9 runs, 3 findings
scbench@5642505    271 of 273 recorded verdicts follow from the published rule
Not tested: that the answer keys are right, that the agents gave these answers.
Doesn't hold: 1 critical, 2 major
  critical: verdict_differs demo/scbench trajectories/a/b/c/result.json
Next: open results/2026-01-15/report.html
"""


class Window(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_the_text_as_it_is() -> None:
    pipe = io.StringIO()
    show(TEXT, pipe, {})
    assert pipe.getvalue() == TEXT


def test_colour_changes_no_word() -> None:
    coloured = screen(TEXT, 100, True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == TEXT
    assert coloured.count("\x1b[0m") == len(re.findall(r"\x1b\[[1-9]", coloured))


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
    ],
)
def test_colour_is_for_a_terminal_that_wants_it(
    environment: dict[str, str], coloured: bool
) -> None:
    window = Window()
    show(TEXT, window, environment)
    assert ("\x1b[" in window.getvalue()) is coloured


@pytest.mark.parametrize("columns", [20, 40, 79])
def test_a_narrow_window_loses_nothing(columns: int) -> None:
    lines = screen(TEXT, columns, False).splitlines()
    assert max(map(len, lines)) <= columns or columns == 20
    assert "".join("".join(lines).split()) == "".join(TEXT.split())
