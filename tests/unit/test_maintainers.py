"""The owner's list: worst first, evidence by commit and path, a remedy for each kind."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest

from benchproof import maintainers
from benchproof.accepted import Accepted, Entry
from benchproof.findings import Finding, counted, rows
from benchproof.maintainers import by_repository, code
from benchproof.rulebook import RULES

PINS: list[dict[str, Any]] = [
    {"repo": "demo/one", "commit_sha": "c" * 40},
    {"repo": "demo/two", "commit_sha": None},
]
FOUND = [
    Finding(
        "metadata_constant", "demo/one", "evals", "/metadata/kit", "c" * 40, detail="In 3 of 3."
    ),
    Finding("canary_missing", "demo/one", "evals/b.json", None, "c" * 40),
    Finding("canary_missing", "demo/one", "evals/a.json", None, "c" * 40),
    Finding("dangling", "demo/one", "evals/manifest.json", "/3", "c" * 40, detail="Row 3."),
    Finding("passes_on_zeros", "demo/one", "evals/secret.json", None, "c" * 40),
    Finding("repository_lost", "demo/two"),
]
ENTRY = Entry(FOUND[2].finding_id, "somebody", "comes next week", date(2026, 3, 1))
KNOWN = Accepted({ENTRY.id: ENTRY}, "2026-01-01")


def _lists(*, private: bool) -> dict[str, str]:
    shown = FOUND if private else counted(FOUND, RULES)
    return by_repository(PINS, rows(shown, RULES), RULES, KNOWN, private=private)


def test_each_repository_has_a_list_of_its_own() -> None:
    lists = _lists(private=False)
    assert list(lists) == ["demo+one.md", "demo+two.md"]
    assert "Commit not known: 1 critical, 0 major, 0 minor, 0 info." in lists["demo+two.md"]
    assert "canary" not in lists["demo+two.md"]


def test_issues_stand_worst_first_with_evidence_and_remedy() -> None:
    text = _lists(private=False)["demo+one.md"]
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads == [
        "## critical: dangling",
        "## major: passes_on_zeros",
        "## minor: canary_missing",
        "## info: metadata_constant",
    ]
    assert f"Commit {'c' * 40}: 1 critical, 1 major, 2 minor, 1 info." in text
    assert f"- `demo/one@{'c' * 12}:evals/manifest.json` `/3` Row 3. (id dangling." in text
    assert text.count("Remedy: ") == 4
    assert text.index("evals/a.json") < text.index("evals/b.json")


def test_places_of_what_is_withheld_stand_in_the_vaults_list_alone() -> None:
    public, private = (_lists(private=flag)["demo+one.md"] for flag in (False, True))
    assert "secret" not in public
    assert "Private" not in public
    assert "1 place in 1 file" in public
    assert f"`demo/one@{'c' * 12}:evals/secret.json`" in private
    assert "**Private.**" in private


def test_accepted_findings_are_shown_as_such() -> None:
    text = _lists(private=False)["demo+one.md"]
    line = next(line for line in text.splitlines() if "evals/a.json" in line)
    assert "Accepted by somebody until 2026-03-01: comes next week." in line
    assert text.count("Accepted by") == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a", "`a`"), ("a`b", "`` a`b ``"), ("a\nb", "`a?b`"), ("a\x1b[0m", "`a?[0m`")],
)
def test_any_path_stays_code(text: str, shown: str) -> None:
    assert code(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        *("``a`b```", "`" * 9, "[x](http://evil.test)", "![x](//evil)", "@everyone", "fixes #1"),
        *(
            "<img src=x onerror=y>",
            "www.evil.test",
            "a\n## forged",
            "a\u202eb",
            "**x** | y",
            "http://x",
        ),
    ],
)
def test_details_from_outside_are_plain_or_code(text: str) -> None:
    """Nothing in an issue text links, mentions, marks up or ends the code that it stands in."""
    said = maintainers._said(text)
    assert said.isprintable()
    fence = re.match("`+", said)
    assert fence is not None
    inner = said[len(fence[0]) : -len(fence[0])]
    assert said.endswith(fence[0])
    assert len(fence[0]) > max(map(len, re.findall("`+", inner)), default=0)
    assert (
        maintainers._said("Rows 1 and 2: 63.8, expected 64.") == "Rows 1 and 2: 63.8, expected 64."
    )
