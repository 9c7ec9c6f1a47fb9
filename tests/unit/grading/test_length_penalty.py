"""The length penalty of rubrics is arithmetic on a reward."""

from __future__ import annotations

from typing import Any

import pytest

from benchproof.grading import grade, rule_status
from benchproof.grading.length_penalty import penalised

KIND = "rubric_length_penalty"
CONFIG = {"allowed_chars": 100, "ramp_percent": 50, "max_penalty": 0.4}


@pytest.mark.parametrize(
    ("change", "length", "left"),
    [
        ({}, 100, 0.75),
        ({}, 101, 0.75 - 0.4 * 0.02),
        ({}, 125, 0.55),
        ({}, 150, 0.35),
        ({}, 9999, 0.35),
        ({"max_penalty": 1}, 150, 0.0),
        ({"curve": "power_0_5"}, 150, 0.35),
        ({"curve": "power_0_5"}, 116, 0.75 - 0.4 * (16 / 50) ** 0.5),
        ({"curve": "linear"}, 125, 0.55),
        ({"curve": "cubic"}, 125, None),
        ({"curve": ["cubic"]}, 125, None),
        ({"ramp_percent": 0}, 125, None),
        ({"allowed_chars": 0}, 125, None),
        ({"ramp_percent": -50}, 125, None),
    ],
)
def test_what_is_left(change: Any, length: int, left: float | None) -> None:
    """Nothing up to the allowed length, all of it past the ramp, never below zero."""
    verdict = grade(KIND, {**CONFIG, **change}, {"text": "x" * length, "reward": 0.75})
    assert verdict.score == (None if left is None else pytest.approx(left))
    assert verdict.status == ("rule_undetermined" if left is None else "arithmetic")
    assert verdict.passed is None


def test_other_values_count_as_python_writes_them() -> None:
    """A list or a number is as long as its text."""
    answer = {"text": ["x" * 121], "reward": 1}
    assert grade(KIND, CONFIG, answer).score == pytest.approx(0.8)
    assert grade(KIND, CONFIG, {"text": 10**5000, "reward": 1}).reason == "penalty_readings"
    assert penalised(None, 1, allowed=2, ramp=100, most=1) == 0.0


@pytest.mark.parametrize(
    ("limit", "passed", "reason"),
    [(0.5, True, None), (0.8, False, None), (0.75, None, "on_threshold"), ("x", None, None)],
)
def test_a_threshold(limit: Any, passed: bool | None, reason: str | None) -> None:
    """A reward that only just meets the threshold is open."""
    config = {**CONFIG, "passing_reward_threshold": limit}
    verdict = grade(KIND, config, {"text": "x", "reward": 0.75})
    assert (verdict.passed, verdict.reason, verdict.score) == (passed, reason, 0.75)


@pytest.mark.parametrize(
    ("config", "answer", "reason"),
    [
        (5, {"text": "x", "reward": 1}, "config_not_object"),
        ({"allowed_chars": 5}, {"text": "x", "reward": 1}, "penalty_number_missing"),
        ({**CONFIG, "max_penalty": True}, {"text": "x", "reward": 1}, "penalty_number_missing"),
        (CONFIG, {"text": "x"}, "reward_missing"),
        (CONFIG, {"reward": 1}, "reward_missing"),
        (CONFIG, {"text": "x", "reward": float("nan")}, "reward_missing"),
        (CONFIG, {"text": "x", "reward": True}, "reward_missing"),
        (CONFIG, [], "reward_missing"),
        (None, {"text": "x", "reward": 10**400}, "penalty_readings"),
        ({**CONFIG, "allowed_chars": 10**400}, {"text": "x", "reward": 1}, "penalty_readings"),
    ],
)
def test_without_arithmetic(config: Any, answer: Any, reason: str) -> None:
    """What is missing or out of range is said to be so."""
    assert grade(KIND, config, answer).reason == reason
    fault = reason in ("config_not_object", "penalty_number_missing")
    assert rule_status(KIND, config) == ("invalid_config" if fault else "published")


def test_no_penalty() -> None:
    """Without a configuration all of the reward is left, and never less than nothing."""
    assert grade(KIND, None, {"text": "x" * 999, "reward": 0.5}).score == 0.5
    assert grade(KIND, None, {"text": "x", "reward": -1}).score == 0.0
    assert grade(KIND, None, None).status == "no_submission"
