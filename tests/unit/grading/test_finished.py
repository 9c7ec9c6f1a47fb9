"""finished_file: stripped contents against the expected word."""

from __future__ import annotations

from typing import Any

import pytest

from benchproof.grading import grade, rule_status
from unit.grading.cases import graded


@pytest.mark.parametrize(
    ("config", "contents", "expected"),
    [
        ({}, " finished\n", (True, "A", False)),
        ({}, "FINISHED", ("wrong_value", "A", False)),
        ({}, "", ("wrong_value", "A", False)),
        ({}, None, ("type_error", "C", False)),
        ({}, ["finished"], ("type_error", "C", False)),
        ({"expected": "done"}, "done ", (True, "A", False)),
        ({"expected": "done"}, "finished", ("wrong_value", "A", False)),
        ({"expected": " done"}, "done", ("expected_readings", None, False)),
        ({"expected": " done"}, "dons", ("wrong_value", "A", False)),
        ({"expected": ""}, " ", (True, "A", False)),
        ({"expected": 5}, "5", ("expected_readings", None, False)),
        ({"expected": None}, "finished", ("expected_readings", None, False)),
        ({"expected": None}, "x", ("wrong_value", "A", False)),
    ],
)
def test_contents(config: Any, contents: Any, expected: Any) -> None:
    """Outcome and tier; the score is 1 or 0, and open where the verdict is."""
    answer = {"finished_file_contents": contents}
    assert graded("finished_file", config, answer) == expected
    score = grade("finished_file", config, answer).score
    assert score == (None if expected[1] is None else float(expected[0] is True))


def test_containers_and_status() -> None:
    """The key must be there; the configuration must be an object."""
    assert graded("finished_file", {}, {"contents": "finished"})[0] == "missing_field"
    assert graded("finished_file", {}, "finished") == ("format_error", "C", False)
    assert grade("finished_file", [], {}).reason == "config_not_object"
    statuses = [rule_status("finished_file", given) for given in ({}, {"expected": "a "}, 5)]
    assert statuses == ["published", "undetermined", "invalid_config"]
