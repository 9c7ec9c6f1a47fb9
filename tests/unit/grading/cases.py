"""Short forms for tables of cases: what came out, in one comparable value."""

from __future__ import annotations

from typing import Any

from benchproof.grading import Verdict, grade


def outcome(verdict: Verdict) -> Any:
    """Return passed and failure mode of a graded verdict, else the reason."""
    if verdict.status != "graded":
        return verdict.reason
    return True if verdict.passed else verdict.failure_mode


def graded(kind: str, config: Any, answer: Any) -> tuple[Any, str | None, bool]:
    """Return outcome, tier and contested of one answer."""
    verdict = grade(kind, config, answer)
    return outcome(verdict), verdict.tier, verdict.contested
