"""label_set_jaccard, alias jaccard_label_set: two sets of labels must overlap enough.

Configuration: `ground_truth_labels`, `scoring.pass_threshold` (0.90), optionally `answer_field` and
`expected_count`. The index is |A & B| / |A | B| over labels as they stand: case and padding count,
duplicates do not (paper, older public grader). The key is fixed in the older grader; two published
evaluations prompt for another one, so a list elsewhere in the answer leaves a passing verdict open.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from benchproof.grading import thresholds
from benchproof.grading.counts import ExpectedCount
from benchproof.grading.numeric_config import ConfigFaultError
from benchproof.grading.outcomes import (
    MISSING,
    agree,
    checked,
    format_error,
    single,
    undetermined,
)
from benchproof.grading.thresholds import Thresholds
from benchproof.grading.verdict import (
    FieldVerdict,
    RuleStatus,
    Tier,
    Verdict,
    without_grading,
)

KEY: Final = "cell_types_predicted"
#: Names under `scoring.method` for the one index that the type's name promises.
METHODS: Final = ("jaccard_index", "jaccard")
_LEGACY: Final = ("ground_truth", "ground_truth_marker_sets")
_NOTHING: Final = Thresholds((), (None,))


@dataclass(frozen=True, slots=True, eq=False)
class LabelRule:
    """A compiled configuration; `named` says that it names the key itself."""

    labels: frozenset[Hashable] = field(default=frozenset(), repr=False)
    limits: Thresholds = field(default=_NOTHING, repr=False)
    count: ExpectedCount = field(default=ExpectedCount(), repr=False)
    key: str = KEY
    named: bool = False
    fault: str | None = None
    unsettled: str | None = None

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, invalid_config, or undetermined where readings may differ."""
        if self.fault is not None:
            return "invalid_config"
        settled = self.unsettled is None and self.limits.settled and self.count.settled
        return "published" if settled else "undetermined"

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        early = without_grading(answer, self.fault)
        if early is not None:
            return early
        if isinstance(answer, list) and not self.named:
            return self._elsewhere([answer], format_error())
        if not isinstance(answer, dict):
            return format_error()
        if self.unsettled is not None:
            return undetermined(self.unsettled)
        older = self._older(answer)
        value = answer.get(self.key, MISSING)
        if value is MISSING:
            return self._absent(answer, older=older)
        tier: Tier = "B" if self.key == KEY else "C"
        if not isinstance(value, list):
            item = checked(self.key, False, mode="type_error", tier=tier, older=older)
            return single(item, older=older)
        return single(self._judged(value, tier, older=older), older=older)

    def _judged(self, value: list[Any], tier: Tier, *, older: bool) -> FieldVerdict:
        labels = _set_of(value)
        if labels is None:
            return checked(self.key, False, mode="type_error", tier=tier, older=older)
        index = jaccard(self.labels, labels)
        enough = agree(thresholds.outcomes(self.limits, index))
        counted = agree(self.count.readings(value, (len(labels),)))
        passed = False if False in (enough, counted) else True if enough and counted else None
        edge = thresholds.edge((limits[0] for limits in self.limits.readings), index)
        reason = self.limits.reason if enough is None else "expected_count_not_integer"
        return checked(self.key, passed, tier=tier, edge=edge, older=older, reason=reason)

    def _absent(self, answer: Mapping[str, object], *, older: bool) -> Verdict:
        """Return the verdict where the key is absent; without a named key another may be read."""
        item = checked(
            self.key, False, mode="missing_field", tier="C" if self.named else "B", older=older
        )
        lists = [] if self.named else [item for item in answer.values() if isinstance(item, list)]
        if not lists:
            return single(item, older=older)
        return self._elsewhere(lists, single(checked(self.key, False, tier="C", older=older)))

    def _elsewhere(self, lists: Sequence[list[Any]], failed: Verdict) -> Verdict:
        """Return the failure, unless one of some lists under an unknown key could pass."""
        if self.unsettled is not None:
            return undetermined(self.unsettled)
        found = (self._judged(value, "C", older=False).passed for value in lists)
        return failed if set(found) == {False} else undetermined("answer_field_not_published")

    def _older(self, answer: Mapping[str, object]) -> bool:
        """Return what the older public grader gives: any iterable, and an error while sorting."""
        value = answer.get(KEY, MISSING)
        labels = _set_of(value) if isinstance(value, list | str | dict) else None
        if labels is None or not self.limits.older:
            return False
        parts = (labels & self.labels, labels - self.labels, self.labels - labels)
        return all(map(sortable, parts)) and thresholds.met(
            self.limits.older[0], jaccard(self.labels, labels)
        )

    def misread(self, answer: object) -> Iterator[tuple[str, bool]]:
        """Yield each trap reading that applies, with the verdict that it gives."""
        value = answer.get(self.key) if isinstance(answer, dict) else None
        labels = _set_of(value) if isinstance(value, list) else None
        if labels is None or not isinstance(value, list) or self.rule_status != "published":
            return
        limit = self.limits.readings[0][0]
        counted = agree(self.count.readings(value, (len(labels),))) is True
        index = jaccard(self.labels, labels)
        yield "strict", counted and limit is not None and index > limit
        folded = jaccard(_folded(self.labels), _folded(labels))
        yield "labels_folded", counted and thresholds.met(limit, folded)
        common = len(self.labels & labels)
        whole = len(value) + len(self.labels) - common
        yield (
            "duplicates_count",
            counted and thresholds.met(limit, common / whole if whole else 0.0),
        )


def jaccard(one: frozenset[Hashable], two: frozenset[Hashable]) -> float:
    """Return the share of common labels, 0 to 1; 0 for two empty sets."""
    common = len(one & two)
    whole = len(one) + len(two) - common
    return common / whole if whole else 0.0


def sortable(items: Iterable[Any]) -> bool:
    """Return whether sorting ends without an error, as it does not for text beside numbers."""
    try:
        sorted(items)
    except TypeError:
        return False
    return True


def _set_of(items: Iterable[Any]) -> frozenset[Hashable] | None:
    """Return a set of JSON values, None when a list or an object is among them."""
    try:
        return frozenset(items)
    except TypeError:
        return None


def _folded(labels: Iterable[Hashable]) -> frozenset[Hashable]:
    return frozenset(item.strip().lower() if isinstance(item, str) else item for item in labels)


def compile_config(config: object) -> LabelRule:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return LabelRule(fault="config_not_object")
    given = config.get("ground_truth_labels", MISSING)
    if given is MISSING:
        legacy = any(name in config for name in _LEGACY)
        return LabelRule(unsettled="legacy_labels" if legacy else "labels_missing")
    if not isinstance(given, list):
        return LabelRule(unsettled="labels_not_list")
    labels = _set_of(given)
    if labels is None:
        return LabelRule(fault="label_not_scalar")
    key = config.get("answer_field", MISSING)
    if not isinstance(key, str) and key is not MISSING:
        return LabelRule(unsettled="answer_field_not_text")
    try:
        limits = thresholds.read_single(config, "pass_threshold", 0.90, ("threshold",))
    except ConfigFaultError as fault:
        return LabelRule(fault=fault.reason)
    if any(name in config for name in _LEGACY):
        limits = Thresholds((), limits.older, "legacy_labels")
    scoring = config.get("scoring", {})
    if isinstance(scoring, dict) and scoring.get("method", METHODS[0]) not in METHODS:
        limits = Thresholds((), limits.older, "unknown_method")
    count = ExpectedCount(config.get("expected_count", MISSING))
    named = isinstance(key, str)
    return LabelRule(labels, limits, count, key if isinstance(key, str) else KEY, named)
