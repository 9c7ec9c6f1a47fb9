"""Licence texts by words: class, named deviations with counts, and nothing said of data."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256

import pytest

from benchproof.inventory.apache import TEXT
from benchproof.inventory.licences import CANONICAL_SHA256, MAX_BYTES, Licence, check, classify
from benchproof.inventory.repository import Repository
from benchproof.sources.base import RepoSpec
from benchproof.tables import build
from conftest import ROOT
from unit.memory import Memory

SPEC = RepoSpec("demo/one", "main", "evals", "trajectories")


def _without(pattern: str, by: str = "") -> str:
    changed, number = re.subn(pattern, by, TEXT, count=1, flags=re.DOTALL)
    assert number == 1
    return changed


CASES: dict[str, tuple[Callable[[], str], str, list[str], bool]] = {
    "as it is": (lambda: TEXT, "verbatim", [], False),
    "other line ends": (lambda: TEXT.replace("\n", "\r\n"), "whitespace", [], False),
    "wrapped anew": (lambda: " ".join(TEXT.split()), "whitespace", [], False),
    "copyright line filled in": (
        lambda: _without(r"\[yyyy\] \[name of copyright owner\]", "2026 Nobody"),
        "altered_text",
        ["copyright line: 5 words deleted, 2 words added"],
        False,
    ),
    "copyright line on top": (
        lambda: "Copyright 2026 The Nobody Authors\n\n" + TEXT,
        "altered_text",
        ["copyright line: 5 words added"],
        False,
    ),
    "without appendix": (
        lambda: _without(r"   APPENDIX: How.*"),
        "altered_text",
        ["copyright line: 6 words deleted", "appendix: 164 words deleted"],
        False,
    ),
    "without the appendix's heading": (
        lambda: _without(r"APPENDIX: How to apply the Apache License to your work\."),
        "altered_text",
        ["appendix: 10 words deleted"],
        False,
    ),
    "without the patent qualifier": (
        lambda: _without(r"\(except as stated in this section\)"),
        "altered_text",
        ["patent qualifier: 6 words deleted"],
        True,
    ),
    "without a parenthesis in the litigation sentence": (
        lambda: _without(r"\(including a\s+cross-claim or counterclaim in a lawsuit\)"),
        "altered_text",
        ["litigation sentence: 8 words deleted"],
        True,
    ),
    "without a parenthesis elsewhere": (
        lambda: _without(r"\(an example is provided in the Appendix below\)"),
        "altered_text",
        ["other: 8 words deleted"],
        True,
    ),
    "with a sentence more": (
        lambda: _without(r"END OF TERMS", "Not for training. END OF TERMS"),
        "altered_text",
        ["other: 3 words added"],
        True,
    ),
    "other punctuation": (
        lambda: _without("Derivative Works; or", "Derivative Works, or"),
        "altered_text",
        ["punctuation"],
        False,
    ),
    "another licence": (
        lambda: "Permission is hereby granted, free of charge.",
        "other",
        [],
        False,
    ),
    "twice the text and more": (lambda: TEXT * 3, "other", [], False),
    "nothing": (lambda: "", "other", [], False),
}


@pytest.mark.parametrize("name", CASES)
def test_classes_and_deviations(name: str) -> None:
    make, kind, deviations, altered = CASES[name]
    found = classify(make().encode())
    assert (found.kind, found.deviations, found.altered) == (kind, deviations, altered)


def test_the_canonical_text_is_the_one_that_this_project_is_under() -> None:
    assert TEXT.encode() == (ROOT / "LICENSE").read_bytes()
    assert sha256(TEXT.encode()).hexdigest() == CANONICAL_SHA256


def test_bytes_that_are_no_text_are_another_licence() -> None:
    assert classify(b"\xff\xfe" * 5_000) == Licence("other")


def _checked(**files: str) -> tuple[list[dict[str, object]], list[tuple[str, str | None]]]:
    data = {name.replace("__", "/"): text.encode() for name, text in files.items()}
    rows, found = check(Repository(SPEC, "c" * 40, Memory(data)))
    build("licences", rows, {})
    return rows, [(item.rule, item.path) for item in found]


def test_each_licence_file_at_the_root_is_a_row() -> None:
    """Data terms are never read out of a licence for code."""
    altered = _without(r"\(except as stated in this section\)")
    rows, found = _checked(LICENSE=TEXT, COPYING=altered, evals__LICENSE="x", README="x")
    assert [(row["path"], row["class"]) for row in rows] == [
        ("COPYING", "altered_text"),
        ("LICENSE", "verbatim"),
    ]
    assert {row["data_terms"] for row in rows} == {"not stated"}
    assert found == [("licence_altered", "COPYING")]


def test_a_repository_without_one_says_so() -> None:
    rows, found = _checked(README="x")
    assert [(row["path"], row["class"], row["status"]) for row in rows] == [
        (None, "absent", "missing")
    ]
    assert found == [("licence_absent", None)]


def test_a_text_beyond_any_licence_is_another_one() -> None:
    """60 MB of words of one letter once took more than two gigabytes."""
    assert classify(TEXT.encode() + b"\n" * MAX_BYTES).kind == "other"
    assert classify(TEXT.encode() + b"\n" * 1000).kind == "whitespace"
