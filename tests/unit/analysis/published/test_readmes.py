"""Numbers of evaluations in a README's words: wrong ones are told, others are left alone."""

from __future__ import annotations

import pytest

from benchproof.analysis.published.readmes import wrong

SIZES = frozenset((195, 78, 22))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It has 196 verifiable problems.", [(196, 195)]),
        ("**1,195 evaluations** across:", [(1195, 195)]),
        ("7 evaluations are public.", [(7, 6)]),
        ("Of 195 evaluations, 7 are public; 6 public evaluations remain.", []),
        ("It has 195 evaluations, 78 evaluations of typing, and 6 evaluations are public.", []),
        ("Three of 5 evaluations use it.", []),
        ("See issue 400, 3.5 problems, 2026-08-28 evaluations, v400 evals.", []),
        ("400 models and 4,000 runs on 20,000 cells.", []),
    ],
)
def test_stated_numbers(text: str, found: list[tuple[int, int]]) -> None:
    assert list(wrong(text, 6, SIZES)) == found


def test_without_a_table_nobody_knows_the_whole() -> None:
    assert list(wrong("It has 500 evaluations.", 6, frozenset())) == []
