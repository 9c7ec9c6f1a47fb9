"""marker_gene_separation: the reported mean AUROC and the share of well separated genes.

Answer: `per_gene_stats` (list of {gene, auroc}) and `mean_auroc`. Configuration:
`scoring.pass_thresholds.{mean_auroc 0.85, fraction_high 0.70, per_gene_cutoff 0.80}`. The rule is
the older public grader's, its only source: the reported mean is never recomputed, the last row of a
gene decides whether the gene is high, and every row counts in the denominator.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from benchproof.grading import thresholds
from benchproof.grading.comparisons import Number
from benchproof.grading.label_sets import sortable
from benchproof.grading.numeric_config import ConfigFaultError
from benchproof.grading.outcomes import (
    MISSING,
    agree,
    checked,
    format_error,
    verdict_of,
)
from benchproof.grading.thresholds import Limit, Thresholds
from benchproof.grading.verdict import (
    FailureMode,
    FieldVerdict,
    RuleStatus,
    Verdict,
    without_grading,
)

ROWS: Final = "per_gene_stats"
MEAN: Final = "mean_auroc"
NAMES: Final[dict[str, Number]] = {MEAN: 0.85, "fraction_high": 0.70, "per_gene_cutoff": 0.80}
_NOTHING: Final = Thresholds((), (None, None, None))


@dataclass(frozen=True, slots=True)
class _Failed:
    mode: FailureMode


@dataclass(frozen=True, slots=True, eq=False)
class SeparationRule:
    """A compiled configuration."""

    limits: Thresholds = field(default=_NOTHING, repr=False)
    fault: str | None = None

    @property
    def rule_status(self) -> RuleStatus:
        """Return published, invalid_config, or undetermined where thresholds may differ."""
        if self.fault is not None:
            return "invalid_config"
        return "published" if self.limits.settled else "undetermined"

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        early = without_grading(answer, self.fault)
        if early is not None:
            return early
        if not isinstance(answer, dict):
            return format_error()
        missing = [name for name in (ROWS, MEAN) if name not in answer]
        if missing:
            fields = tuple(checked(name, False, mode="missing_field") for name in missing)
            return verdict_of(fields, False, tier="B", reason="")
        genes = _genes(answer[ROWS])
        mean = _mean(answer[MEAN])
        if isinstance(genes, _Failed) or isinstance(mean, _Failed):
            failed = [
                checked(name, False, mode=part.mode)
                for name, part in ((ROWS, genes), (MEAN, mean))
                if isinstance(part, _Failed)
            ]
            return verdict_of(tuple(failed), False, tier="B", reason="")
        return self._judged(genes, len(answer[ROWS]), mean)

    def _judged(self, genes: Mapping[Hashable, Number], rows: int, mean: Number) -> Verdict:
        """Return the verdict on well-formed values, over all readings of the thresholds."""
        found = [_outcome(limits, genes, rows, mean) for limits in self.limits.readings]
        passed = agree(one and two for one, two in found)
        reason = self.limits.reason
        if passed is not False and not _sorts(genes, self.limits.readings):
            passed, reason = None, "genes_of_mixed_types"
        shares = [_high(limits[2], genes) / rows for limits in self.limits.readings]
        fields = (
            self._field(ROWS, agree(two for _, two in found), shares, 1, passed, reason),
            self._field(MEAN, agree(one for one, _ in found), [mean], 0, passed, reason),
        )
        return verdict_of(fields, passed, tier="B", reason=reason)

    def _field(
        self,
        name: str,
        outcome: bool | None,
        scores: Sequence[Number],
        place: int,
        passed: bool | None,
        reason: str,
    ) -> FieldVerdict:
        limits = [limits[place] for limits in self.limits.readings]
        edge = thresholds.edge(limits, scores[0]) if len(set(scores)) == 1 else None
        shown = None if passed is None and name == ROWS and outcome else outcome
        return checked(name, shown, edge=edge, reason=reason)

    def misread(self, answer: object) -> Iterator[tuple[str, bool]]:
        """Yield each trap reading that applies, with the verdict that it gives."""
        if not isinstance(answer, dict) or not self.limits.settled:
            return
        genes, mean = _genes(answer.get(ROWS)), _mean(answer.get(MEAN))
        if isinstance(genes, _Failed) or isinstance(mean, _Failed):
            return
        limits = self.limits.readings[0]
        computed = sum(genes.values()) / len(genes)
        yield "mean_recomputed", all(_outcome(limits, genes, len(answer[ROWS]), computed))


def _outcome(
    limits: Sequence[Limit], genes: Mapping[Hashable, Number], rows: int, mean: Number
) -> tuple[bool, bool]:
    """Return whether the mean and the share of high genes reach their limits."""
    if None in limits:
        return False, False
    return thresholds.met(limits[0], mean), thresholds.met(
        limits[1], _high(limits[2], genes) / rows
    )


def _high(cutoff: Limit, genes: Mapping[Hashable, Number]) -> int:
    return sum(thresholds.met(cutoff, auroc) for auroc in genes.values())


def _sorts(genes: Mapping[Hashable, Number], readings: Sequence[Sequence[Limit]]) -> bool:
    """Return whether the older grader, which sorts high and low genes, ends without an error."""
    for limits in readings:
        cutoff = limits[2]
        high = [gene for gene, auroc in genes.items() if thresholds.met(cutoff, auroc)]
        low = [gene for gene, auroc in genes.items() if cutoff is not None and auroc < cutoff]
        if not sortable(high) or not sortable(low):
            return False
    return True


def _genes(value: object) -> dict[Hashable, Number] | _Failed:
    """Return AUROC by gene, or how the rows fail."""
    if not isinstance(value, list):
        return _Failed("type_error")
    if not value:
        return _Failed("wrong_value")
    genes: dict[Hashable, Number] = {}
    modes: set[FailureMode] = set()
    for row in value:
        mode = _row(row, genes)
        modes |= {mode} if mode else set()
    if modes:
        return _Failed("missing_field" if "missing_field" in modes else "type_error")
    try:
        sum(genes.values()) / len(genes)
    except OverflowError:
        return _Failed("type_error")
    return genes


def _row(row: Any, genes: dict[Hashable, Number]) -> FailureMode | None:
    """Add a row's gene; return how the row fails, None when it does not."""
    if not isinstance(row, dict):
        return "type_error"
    gene, auroc = row.get("gene", MISSING), row.get("auroc", MISSING)
    if gene is MISSING or auroc is MISSING:
        return "missing_field"
    if isinstance(gene, list | dict) or not isinstance(auroc, int | float):
        return "type_error"
    genes[gene] = auroc
    return None


def _mean(value: object) -> Number | _Failed:
    return value if isinstance(value, int | float) else _Failed("type_error")


def compile_config(config: object) -> SeparationRule:
    """Return the compiled rule of a `config` value; that of a bad one says so."""
    if not isinstance(config, dict):
        return SeparationRule(fault="config_not_object")
    try:
        return SeparationRule(thresholds.read(config, NAMES))
    except ConfigFaultError as fault:
        return SeparationRule(fault=fault.reason)
