"""multiple_choice: trimmed, uppercased text against one right text or several."""

from __future__ import annotations

from typing import Any

import pytest

from benchproof.grading import grade, rule_status
from unit.grading.cases import graded

Q = {"correct_answer": " q "}
QW = {"correct_answers": ["q", "W"]}


@pytest.mark.parametrize(
    ("config", "value", "expected"),
    [
        (Q, "Q", (True, "A", False)),
        (Q, "\u2003q\n", (True, "A", False)),
        (Q, "Q)", ("wrong_value", "A", False)),
        (Q, "", ("wrong_value", "A", False)),
        (Q, 5, ("wrong_value", "B", False)),
        (Q, None, ("wrong_value", "B", False)),
        (Q, ["Q"], ("wrong_value", "B", False)),
        ({"correct_answer": "None"}, None, (True, "B", False)),
        ({"correct_answer": "1.0"}, 1.0, (True, "B", False)),
        ({"correct_answer": "false"}, False, (True, "B", False)),
        ({"correct_answer": "['q']"}, ["Q"], (True, "B", False)),
        ({"correct_answer": "STRASSE"}, "straße", (True, "A", False)),
        (QW, "Q", (True, "A", True)),
        (QW, "w ", (True, "A", True)),
        (QW, "QW", ("wrong_value", "A", False)),
        (QW, "", ("wrong_value", "A", True)),
        (QW, 3, ("wrong_value", "B", False)),
        ({"correct_answers": ["Q "]}, "Q", ("correct_answer_padded", None, False)),
        ({"correct_answers": ["Q ", "Q"]}, "Q", (True, "A", True)),
        ({"correct_answers": ["Q "]}, "Z", ("wrong_value", "A", False)),
        ({"correct_answers": [3]}, "3", ("correct_answer_padded", None, False)),
        ({"correct_answers": [3]}, "4", ("wrong_value", "A", False)),
        ({"correct_answer": 3}, "3", ("choice_readings", None, False)),
        ({"correct_answer": 3}, "4", ("wrong_value", "A", False)),
        ({**Q, **QW}, "Q", (True, "A", False)),
        ({**Q, **QW}, "W", ("correct_answers_conflict", None, False)),
        ({**Q, **QW}, "Z", ("wrong_value", "A", False)),
        ({**Q, "correct_answers": ["Q"]}, "Q", (True, "A", False)),
        ({**Q, "options": {"Z": "q"}}, "Z", ("wrong_value", "A", False)),
    ],
)
def test_values(config: Any, value: Any, expected: tuple[Any, Any, bool]) -> None:
    """Outcome, tier and whether the older grader reverses it."""
    kind, reason = "multiple_choice", "correct_answer_padded"
    found = graded(kind, config, {"answer": value})
    if expected[0] == "choice_readings":
        expected = (reason, *expected[1:])
    assert found == expected
    score = grade(kind, config, {"answer": value}).score
    assert score == {True: 1.0, "wrong_value": 0.0}.get(expected[0])


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({}, "correct_answer_missing"),
        ({"correct_answer": ""}, "correct_answer_empty"),
        ({"correct_answer": " \t"}, "correct_answer_empty"),
        ({"correct_answer": None}, "correct_answer_empty"),
        ({"correct_answers": []}, "correct_answer_empty"),
        ({"correct_answers": ["Q", " "]}, "correct_answer_empty"),
        ({"correct_answers": "Q"}, "correct_answer_empty"),
        ({**Q, "correct_answers": []}, "correct_answer_empty"),
    ],
)
def test_no_right_answer(config: Any, reason: str) -> None:
    """No or empty keys leave every answer open, but for one that is not there."""
    for value in ("Q", "", None):
        assert graded("multiple_choice", config, {"answer": value}) == (reason, None, False)
    assert graded("multiple_choice", config, {"x": "Q"})[0] == "missing_field"
    assert rule_status("multiple_choice", config) == "undetermined"


def test_answers_without_the_key() -> None:
    """A missing key fails with a score, another container without one."""
    verdict = grade("multiple_choice", Q, {"Answer": "Q"})
    assert (verdict.failure_mode, verdict.score, verdict.tier) == ("missing_field", 0.0, "A")
    for answer in (["Q"], "Q", 5):
        assert graded("multiple_choice", Q, answer) == ("format_error", "C", False)
    assert grade("multiple_choice", [], {"answer": "Q"}).reason == "config_not_object"


@pytest.mark.parametrize(
    ("config", "status"),
    [
        (Q, "published"),
        (QW, "published"),
        ({"correct_answers": [" Q"]}, "undetermined"),
        ({"correct_answer": 3}, "undetermined"),
        ({**Q, **QW}, "undetermined"),
        ({**Q, "correct_answers": ["Q"]}, "published"),
        ("Q", "invalid_config"),
    ],
)
def test_rule_status(config: Any, status: str) -> None:
    """Published where there is one reading."""
    assert rule_status("multiple_choice", config) == status


def test_texts_that_cannot_be_written() -> None:
    """An integer of more digits than Python writes fails, as an exception does upstream."""
    assert graded("multiple_choice", Q, {"answer": 10**5000}) == ("wrong_value", "B", False)
    config = {"correct_answer": 10**5000}
    assert graded("multiple_choice", config, {"answer": "Q"})[0] == "correct_answer_empty"
