"""The length penalty of rubrics: arithmetic on a reward, not a grader of answers.

n = len(str(text)); p = clamp((n - allowed) / (allowed * ramp / 100), 0, 1); the deduction is
max_penalty * p, or * sqrt(p) for the curve `power_0_5`; what is left is max(0, reward - deduction)
(README of the grader library). A ramp without width, other curves and a reward that equals
`passing_reward_threshold` are open.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeGuard

from benchproof.grading.comparisons import Number
from benchproof.grading.outcomes import as_text, undetermined
from benchproof.grading.verdict import RuleStatus, Verdict, without_grading

NAME: Final = "rubric_length_penalty"
_NUMBERS: Final = ("allowed_chars", "ramp_percent", "max_penalty")


def penalised(
    text: object,
    reward: Number,
    *,
    allowed: Number,
    ramp: Number,
    most: Number,
    curve: object = None,
) -> float | None:
    """Return the reward that is left, at least 0; None where no public source settles it."""
    written = as_text(text)
    width = allowed * ramp / 100
    if written is None or not width > 0 or curve not in (None, "linear", "power_0_5"):
        return None
    share = min(max((len(written) - allowed) / width, 0.0), 1.0)
    deduction = most * (math.sqrt(share) if curve == "power_0_5" else share)
    return float(max(0, reward - deduction))


@dataclass(frozen=True, slots=True, eq=False)
class LengthPenalty:
    """The penalty as a rule over {text, reward}: its verdicts are arithmetic, with a score alone."""

    config: Mapping[str, object] | None = None
    fault: str | None = None

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, or invalid_config."""
        return "published" if self.fault is None else "invalid_config"

    def grade(self, answer: object) -> Verdict:
        """Return the reward that is left as the score. Never raises."""
        early = without_grading(answer, self.fault)
        if early is not None:
            return early
        reward = answer.get("reward") if isinstance(answer, dict) else None
        if not isinstance(answer, dict) or not _is_number(reward) or "text" not in answer:
            return undetermined("reward_missing")
        score = self._left(answer["text"], reward)
        return undetermined("penalty_readings") if score is None else self._verdict(score)

    def _left(self, text: object, reward: Number) -> float | None:
        """Return the reward that is left; without a configuration all of it."""
        try:
            if self.config is None:
                return float(max(0, reward))
            allowed, ramp, most = (self.config[name] for name in _NUMBERS)
            return penalised(
                text,
                reward,
                allowed=allowed,  # type: ignore[arg-type]
                ramp=ramp,  # type: ignore[arg-type]
                most=most,  # type: ignore[arg-type]
                curve=self.config.get("curve"),
            )
        except OverflowError:
            return None

    def _verdict(self, score: float) -> Verdict:
        """Return the arithmetic, and whether it reaches a threshold that is not just met."""
        limit = None if self.config is None else self.config.get("passing_reward_threshold")
        if not _is_number(limit):
            return Verdict("arithmetic", None, score, tier="A")
        if score == limit:
            return undetermined("on_threshold", score)
        return Verdict("arithmetic", score > limit, score, tier="A")


def _is_number(value: object) -> TypeGuard[Number]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def compile_config(config: object) -> LengthPenalty:
    """Return the compiled rule of a `config` value; None is no penalty."""
    if config is None:
        return LengthPenalty()
    if not isinstance(config, dict):
        return LengthPenalty(fault="config_not_object")
    if not all(_is_number(config.get(name)) for name in _NUMBERS):
        return LengthPenalty(fault="penalty_number_missing")
    return LengthPenalty(config)
