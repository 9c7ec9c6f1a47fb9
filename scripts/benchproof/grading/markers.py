"""marker_gene_precision_recall over one list of genes: enough of it right, enough of them found.

Configuration: `canonical_markers` (list), `scoring.pass_thresholds.{precision_at_k, recall_at_k}`
(0.60 and 0.50, each defaulted alone), optionally `answer_field` (else `top_marker_genes`) and
`expected_count`. Both shares are over sets of lowercased names (paper); the older public grader
divides by the length of the list, so duplicates cost there and such verdicts are contested. The
list is not cut: K is its own length. With an object of markers per cell type another rule holds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from benchproof.grading import markers_by_type, thresholds
from benchproof.grading.counts import ExpectedCount
from benchproof.grading.numeric_config import ConfigFaultError
from benchproof.grading.outcomes import (
    MISSING,
    agree,
    as_text,
    checked,
    format_error,
    single,
    undetermined,
    unusable,
)
from benchproof.grading.thresholds import Thresholds
from benchproof.grading.verdict import (
    FieldVerdict,
    RuleStatus,
    Verdict,
    closest_edge,
    without_grading,
)

KEY: Final = "top_marker_genes"
NAMES: Final = {"precision_at_k": 0.60, "recall_at_k": 0.50}
_NOTHING: Final = Thresholds((), (None, None))


@dataclass(frozen=True, slots=True, eq=False)
class MarkerRule:
    """A compiled configuration; `genes` are lowercased, `named` says that it names the key."""

    genes: frozenset[str] = field(default=frozenset(), repr=False)
    limits: Thresholds = field(default=_NOTHING, repr=False)
    count: ExpectedCount = field(default=ExpectedCount(), repr=False)
    key: str = KEY
    named: bool = False
    fault: str | None = None
    unsettled: str | None = None
    cased: frozenset[str] = field(default=frozenset(), repr=False)

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
            return self._bare(answer)
        if not isinstance(answer, dict):
            return format_error()
        if self.unsettled is not None:
            return undetermined(self.unsettled)
        older = older_verdict(self.genes, self.limits, answer)
        value = answer.get(self.key, MISSING)
        if not isinstance(value, list):
            return single(checked(self.key, False, mode=unusable(value), older=older), older=older)
        return single(self._judged(value, older=older), older=older)

    def _bare(self, answer: list[Any]) -> Verdict:
        """Return the verdict on a list instead of an object; which key it stands for is open."""
        if self.unsettled is not None:
            return undetermined(self.unsettled)
        failed = self._judged(answer, older=False).passed is False
        return format_error() if failed else undetermined("answer_not_object")

    def _judged(self, value: list[Any], *, older: bool) -> FieldVerdict:
        names = texts(value)
        if names is None:
            return checked(self.key, False, mode="type_error", older=older)
        given = frozenset(name.lower() for name in names)
        shares = shares_of(given, self.genes)
        enough = agree(thresholds.outcomes(self.limits, *shares))
        counted = agree(self.count.readings(value, distinct(value, names)))
        passed = False if False in (enough, counted) else True if enough and counted else None
        precision = thresholds.edge((limits[0] for limits in self.limits.readings), shares[0])
        recall = thresholds.edge((limits[1] for limits in self.limits.readings), shares[1])
        reason = self.limits.reason if enough is None else self._count_reason()
        return checked(
            self.key,
            passed,
            edge=closest_edge({precision, recall}),
            older=older,
            reason=reason,
        )

    def _count_reason(self) -> str:
        return "expected_count_case" if self.count.settled else "expected_count_not_integer"

    def misread(self, answer: object) -> Iterator[tuple[str, bool]]:
        """Yield each trap reading that applies, with the verdict that it gives."""
        value = answer.get(self.key) if isinstance(answer, dict) else None
        names = texts(value) if isinstance(value, list) else None
        if names is None or not isinstance(value, list) or self.rule_status != "published":
            return
        counted = agree(self.count.readings(value, distinct(value, names))) is not False
        limits = self.limits.readings[0]
        given = frozenset(name.lower() for name in names)
        shares = shares_of(given, self.genes)
        strictly = (
            limit is not None and (share > limit or limit <= 0)
            for limit, share in zip(limits, shares, strict=True)
        )
        yield "strict", counted and all(strictly)
        right = len(given & self.genes)
        repeated = (right / len(names) if names else 0.0, shares[1])
        yield "duplicates_count", counted and _reached(limits, repeated)
        cased = shares_of(frozenset(names), self.cased)
        yield "genes_as_written", counted and _reached(limits, cased)


def _reached(limits: Sequence[thresholds.Limit], shares: Sequence[float]) -> bool:
    return all(thresholds.met(limit, share) for limit, share in zip(limits, shares, strict=True))


def shares_of(given: frozenset[str], genes: frozenset[str]) -> tuple[float, float]:
    """Return precision and recall, each 0 to 1, and 0 where there is nothing to divide by."""
    right = len(given & genes)
    return right / len(given) if given else 0.0, right / len(genes) if genes else 0.0


def texts(items: Sequence[Any]) -> list[str] | None:
    """Return every entry as text, None where one cannot be written out."""
    found = [item if isinstance(item, str) else as_text(item) for item in items]
    known = [item for item in found if item is not None]
    return known if len(known) == len(found) else None


def distinct(items: Sequence[Any], names: Sequence[str]) -> set[int]:
    """Return how many distinct entries there are: as given, as text, and up to case."""
    found = {len(set(names)), len({name.lower() for name in names})}
    with contextlib.suppress(TypeError):
        found.add(len(set(items)))
    return found


def older_verdict(genes: frozenset[str], limits: Thresholds, answer: Mapping[str, object]) -> bool:
    """Return what the older public grader gives: precision over the list, no count, one key."""
    value = answer.get(KEY)
    names = texts(value) if isinstance(value, list) else None
    if names is None or len(limits.older) != len(NAMES):
        return False
    right = len(genes & {name.lower() for name in names})
    precision = right / len(names) if names else 0.0
    recall = right / len(genes) if genes else 0.0
    return _reached(limits.older, (precision, recall))


def compile_config(config: object) -> MarkerRule | markers_by_type.TypeRule:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return MarkerRule(fault="config_not_object")
    given = config.get("canonical_markers", MISSING)
    key = config.get("answer_field", MISSING)
    if not isinstance(key, str) and key is not MISSING:
        return MarkerRule(unsettled="answer_field_not_text")
    count = ExpectedCount(config.get("expected_count", MISSING))
    named, field_name = isinstance(key, str), key if isinstance(key, str) else KEY
    try:
        if isinstance(given, dict):
            return markers_by_type.compile_types(given, config, count, field_name, named=named)
        if not isinstance(given, list):
            missing = given is MISSING
            return MarkerRule(unsettled="markers_missing" if missing else "markers_not_list")
        limits = thresholds.read(config, NAMES)
    except ConfigFaultError as fault:
        return MarkerRule(fault=fault.reason)
    names = texts(given)
    if names is None:
        return MarkerRule(fault="marker_not_text")
    genes = frozenset(name.lower() for name in names)
    return MarkerRule(genes, limits, count, field_name, named, cased=frozenset(names))
