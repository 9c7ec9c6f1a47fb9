"""marker_gene_precision_recall with markers per cell type: enough types with enough recall.

Configuration: `canonical_markers` {type: genes} and, under `scoring.pass_thresholds`,
`min_recall_per_celltype` and `min_celltypes_passing`; precision is not used (paper). The place of
those keys, the answer's key, how type names compare and all defaults are not published, so every
verdict is inferred and stands only if each reading gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from benchproof.grading import thresholds
from benchproof.grading.comparisons import Number
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
    Edge,
    FailureMode,
    RuleStatus,
    Verdict,
    closest_edge,
    no_submission,
)

NAMES: Final[dict[str, Number]] = {"min_recall_per_celltype": 0, "min_celltypes_passing": 0}
_OLDER_KEY: Final = "top_marker_genes"
_OLDER_NAMES: Final[dict[str, Number]] = {"precision_at_k": 0.60, "recall_at_k": 0.50}
Fold = Callable[[str], str]
_FOLDS: Final[tuple[Fold, ...]] = (
    lambda name: name,
    lambda name: name.lower(),
    lambda name: name.strip().lower(),
)


@dataclass(frozen=True, slots=True, eq=False)
class TypeRule:
    """A compiled configuration; `types` maps names to lowercased genes."""

    types: Mapping[str, frozenset[str]] = field(repr=False)
    limits: Thresholds = field(repr=False)
    older_limits: Thresholds = field(repr=False)
    count: ExpectedCount = field(repr=False)
    key: str
    named: bool

    @property
    def rule_status(self) -> RuleStatus:
        """Return undetermined: the place of the thresholds itself is not published."""
        return "undetermined"

    def grade(self, answer: object) -> Verdict:
        """Return the verdict on a parsed JSON answer, `NO_ANSWER` or None. Never raises."""
        nothing = no_submission(answer)
        if nothing is not None:
            return nothing
        if not isinstance(answer, dict):
            return format_error()
        older = self._older(answer)
        value = answer.get(self.key, MISSING)
        if not self.named:
            return self._unnamed(answer, value, older=older)
        if not isinstance(value, dict):
            return single(
                checked(self.key, False, mode=unusable(value), tier="C", older=older), older=older
            )
        passed, edge = self._judged(value)
        reason = "type_readings" if self.limits.settled else self.limits.reason
        item = checked(self.key, passed, tier="C", edge=edge, older=older, reason=reason)
        return single(item, older=older)

    def _unnamed(self, answer: dict[str, Any], value: object, *, older: bool) -> Verdict:
        """Return the verdict without a named key: open if any object in the answer could pass."""
        objects = [answer, *(item for item in answer.values() if isinstance(item, dict))]
        if any(self._judged(item)[0] is not False for item in objects):
            return undetermined("answer_field_not_published")
        wrong: FailureMode = "wrong_value" if isinstance(value, dict) else unusable(value)
        return single(checked(self.key, False, mode=wrong, tier="C", older=older), older=older)

    def _judged(self, value: Mapping[str, Any]) -> tuple[bool | None, Edge | None]:
        """Return whether an object of lists passes under every reading, and its closest edge."""
        if not self.limits.readings:
            return None, None
        found: set[bool] = set()
        edges: set[Edge | None] = set()
        for fold in _FOLDS:
            lists = _lists_of(self.types, value, fold)
            for recall, needed in self.limits.readings:
                found |= self._outcomes(lists, recall, needed)
            if fold is _FOLDS[0]:
                limits = [limits[0] for limits in self.limits.readings]
                edges |= {
                    thresholds.edge(limits, share)
                    for name, given in lists.items()
                    for item in given
                    for share in _recalls(self.types[name], item)
                }
        return agree(found), closest_edge(edges)

    def _outcomes(
        self, lists: Mapping[str, Sequence[object]], limit: Number | None, needed: Number | None
    ) -> set[bool]:
        """Return the verdicts under one pair of thresholds: at worst, at best, and if strict."""
        sure = possible = 0
        clean = True
        for name, given in lists.items():
            states = [self._type_outcomes(self.types[name], item, limit) for item in given]
            every = set().union(*states) if states else {False}
            sure += every == {True}
            possible += True in every
            counts = [self._counted(item) for item in given]
            clean = clean and all(item == {True} for item in counts) and (bool(given) or self._free)
        said = {thresholds.met(needed, sure), thresholds.met(needed, possible)}
        return said if clean else {*said, False}

    @property
    def _free(self) -> bool:
        """True when no count is asked for, so that a missing type is just one that fails."""
        return self.count.value is MISSING

    def _type_outcomes(
        self, genes: frozenset[str], value: object, limit: Number | None
    ) -> set[bool]:
        counted = self._counted(value)
        shares = list(_recalls(genes, value))
        enough = {thresholds.met(limit, share) for share in shares} or {False}
        return {one and two for one in counted for two in enough}

    def _counted(self, value: object) -> set[bool]:
        """Return what readings say of one list's form: a list of texts, as long as asked for."""
        if not isinstance(value, list):
            return {False}
        names = [as_text(item) for item in value]
        if None in names:
            return {False}
        known = [name for name in names if name is not None]
        return self.count.readings(value, {len(set(known)), len({n.lower() for n in known})})

    def _older(self, answer: Mapping[str, Any]) -> bool:
        """Return what the older public grader gives, which takes the type names for genes."""
        value = answer.get(_OLDER_KEY)
        names = [as_text(item) for item in value] if isinstance(value, list) else [None]
        limits = self.older_limits.older
        if None in names or len(limits) != len(_OLDER_NAMES):
            return False
        genes = {name.lower() for name in self.types}
        right = len(genes & {name.lower() for name in names if name is not None})
        shares = (right / len(names) if names else 0.0, right / len(genes) if genes else 0.0)
        return all(
            thresholds.met(limit, share) for limit, share in zip(limits, shares, strict=True)
        )

    def misread(self, answer: object) -> Iterator[tuple[str, bool]]:
        """Yield no trap reading: the rule itself is inferred."""
        yield from ()


def _lists_of(
    types: Mapping[str, object], value: Mapping[str, object], fold: Fold
) -> dict[str, list[object]]:
    """Return what is answered for each type; two names that fold alike give two candidates."""
    folded: dict[str, list[object]] = {}
    for name, item in value.items():
        folded.setdefault(fold(name), []).append(item)
    return {name: folded.get(fold(name), []) for name in types}


def _recalls(genes: frozenset[str], value: object) -> Iterable[float]:
    """Return the recall of a list; for a type without genes it may be nothing or all."""
    names = [as_text(item) for item in value] if isinstance(value, list) else [None]
    if None in names:
        return ()
    if not genes:
        return (0.0, 1.0)
    given = {name.lower() for name in names if name is not None}
    return (len(genes & given) / len(genes),)


def compile_types(
    given: Mapping[str, object],
    config: Mapping[str, object],
    count: ExpectedCount,
    key: str,
    *,
    named: bool,
) -> TypeRule:
    """Return the compiled rule of markers per cell type.

    Raises ConfigFaultError with threshold_nan, type_markers_not_list or marker_not_text.
    """
    types: dict[str, frozenset[str]] = {}
    for name, genes in given.items():
        if not isinstance(genes, list):
            raise ConfigFaultError("type_markers_not_list")
        names = [as_text(item) for item in genes]
        if None in names:
            raise ConfigFaultError("marker_not_text")
        types[name] = frozenset(item.lower() for item in names if item is not None)
    limits = thresholds.read(config, NAMES)
    scoring = config.get("scoring")
    inner = scoring.get("pass_thresholds") if isinstance(scoring, dict) else None
    if not isinstance(inner, dict) or not NAMES.keys() <= inner.keys():
        limits = Thresholds((), limits.older, "defaults_not_published")
    return TypeRule(types, limits, thresholds.read(config, _OLDER_NAMES), count, key, named)
