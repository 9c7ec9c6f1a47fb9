"""longest_subsequence: how much of the true sequence the answered one keeps, in order.

Configuration: `answer_field`, `ground_truth` (list), `scoring.pass_threshold`. The score is the
length of the longest common subsequence over max(both lengths, 1) (README of the grader library).
Not published: the default threshold, a score equal to it, and whether case and padding of texts
count; where a score depends on that, it is open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from benchproof.grading import thresholds
from benchproof.grading.comparisons import Number
from benchproof.grading.outcomes import (
    MISSING,
    agree,
    checked,
    format_error,
    single,
    undetermined,
    unusable,
)
from benchproof.grading.verdict import RuleStatus, Verdict, without_grading

Fold = Callable[[str], str]
#: What may be done to texts before they are compared.
FOLDS: Final[tuple[Fold, ...]] = (
    lambda text: text,
    lambda text: text.lower(),
    lambda text: text.strip(),
    lambda text: text.strip().lower(),
)


#: Items of the shorter of two lists that are compared: memory grows with its square, work with the product.
MAX_ITEMS: Final = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class SubsequenceRule:
    """A compiled configuration; `threshold` None is one that no source gives."""

    key: str = ""
    truth: Sequence[Any] = field(default=(), repr=False)
    threshold: Number | None = field(default=None, repr=False)
    fault: str | None = None
    unsettled: str | None = None

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, invalid_config, or undetermined where something needed is missing."""
        if self.fault is not None:
            return "invalid_config"
        return (
            "published"
            if self.unsettled is None and self.threshold is not None
            else ("undetermined")
        )

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        early = without_grading(answer, self.fault)
        if early is not None:
            return early
        if not isinstance(answer, dict):
            return format_error()
        if self.unsettled is not None:
            return undetermined(self.unsettled)
        value = answer.get(self.key, MISSING)
        if not isinstance(value, list):
            return single(checked(self.key, False, mode=unusable(value), tier="A"), score=0.0)
        if min(len(value), len(self.truth)) > MAX_ITEMS:
            return Verdict("not_supported", reason="list_too_long")
        return self._scored(value)

    def _scored(self, value: list[Any]) -> Verdict:
        scores = {similarity(self.truth, value, fold) for fold in FOLDS}
        if len(scores) > 1:
            return undetermined("text_folding")
        score = scores.pop()
        if self.threshold is None:
            return undetermined("threshold_not_published", score)
        passed = agree((score >= self.threshold, score > self.threshold))
        edge = thresholds.edge((self.threshold,), score)
        item = checked(self.key, passed, tier="A", edge=edge, reason="on_threshold")
        return single(item, score=score)


def compile_config(config: object) -> SubsequenceRule:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return SubsequenceRule(fault="config_not_object")
    key, truth = config.get("answer_field", MISSING), config.get("ground_truth", MISSING)
    if not isinstance(key, str):
        return SubsequenceRule(unsettled="answer_field_missing")
    if not isinstance(truth, list):
        return SubsequenceRule(unsettled="ground_truth_not_list")
    scoring = config.get("scoring")
    limit = scoring.get("pass_threshold") if isinstance(scoring, dict) else None
    if isinstance(limit, float) and math.isnan(limit):
        return SubsequenceRule(fault="threshold_nan")
    known = isinstance(limit, int | float) and not isinstance(limit, bool)
    return SubsequenceRule(key, tuple(truth), limit if known else None)


def similarity(truth: Sequence[Any], answer: Sequence[Any], fold: Fold = FOLDS[0]) -> float:
    """Return common length over max(both lengths, 1): 0 to 1, and 0 when both are empty."""
    longest = max(len(truth), len(answer), 1)
    return (
        common_length(
            [canonical(item, fold) for item in truth], [canonical(item, fold) for item in answer]
        )
        / longest
    )


def common_length(one: Sequence[Any], two: Sequence[Any]) -> int:
    """Return the length of the longest common subsequence of hashable items, whichever list is given first.

    Bit-parallel: a row of the usual table is one integer, so long lists stay fast.
    """
    if len(one) > len(two):
        one, two = two, one
    places: dict[Any, int] = {}
    for place, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << place
    full = (1 << len(one)) - 1
    row = full
    for item in two:
        matches = row & places.get(item, 0)
        row = (row + matches | row - matches) & full
    return len(one) - row.bit_count()


def canonical(value: object, fold: Fold = FOLDS[0]) -> tuple[Any, ...]:
    """Return a flat hashable form: equal forms are equal JSON values, as Python compares them."""
    return tuple(_pieces(value, fold))


def _pieces(value: object, fold: Fold) -> Iterator[Any]:
    """Yield a value in a fixed order, without recursion; NaN equals nothing, not even itself."""
    waiting: list[object] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            yield ("list", len(item))
            waiting.extend(reversed(item))
        elif isinstance(item, dict):
            yield ("object", *sorted(item))
            waiting.extend(item[name] for name in sorted(item, reverse=True))
        elif isinstance(item, str):
            yield ("text", fold(item))
        elif isinstance(item, float) and math.isnan(item):
            yield ("nan", object())
        else:
            yield ("other", item)
