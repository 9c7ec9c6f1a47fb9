"""A second implementation of the numeric and set families: many answers to one rule, as columns.

Answers that are plain numbers, or lists of plain texts, are graded in numpy arrays over all runs;
everything else (odd values, large integers, numbers within rounding of a bound, open rules) goes
to the scalar implementation one by one. A property test holds the two together, so each checks the
other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from benchproof.grading import label_sets, markers
from benchproof.grading.comparisons import (
    EXACT_LIMIT,
    TINY,
    ULPS,
    AtLeast,
    AtMost,
    Comparison,
    Near,
    Number,
    Offsets,
    Ratio,
    Window,
    is_large,
)
from benchproof.grading.label_sets import LabelRule
from benchproof.grading.markers import MarkerRule
from benchproof.grading.numeric import NumericRule
from benchproof.grading.numeric_config import FieldRule
from benchproof.grading.registry import Compiled
from benchproof.grading.verdict import EDGES, FAILURE_MODES, Verdict, VerdictStatus

Floats = NDArray[np.float64]
Codes = NDArray[np.int8]
Flags = NDArray[np.bool_]
STATUSES: Final[tuple[VerdictStatus, ...]] = get_args(VerdictStatus)
NONE: Final = -1
_WRONG: Final = FAILURE_MODES.index("wrong_value")
_ON_BOUND: Final = EDGES.index("on_bound")
_CLEAR: Final = EDGES.index("clear")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Columns:
    """Verdicts as columns, one row per answer; -1 stands for None, NaN for a score of None.

    `status`, `mode` and `edge` are positions in `STATUSES`, `FAILURE_MODES` and `EDGES`; `passed`
    and the columns of `fields` (in the rule's order, none for rules of other families; -1 also where
    no field was looked at) are 1 or 0. `scalar` marks the rows that the scalar implementation graded.
    """

    status: Codes
    passed: Codes
    score: Floats
    mode: Codes
    edge: Codes
    contested: Flags
    fields: Codes
    scalar: Flags

    def __len__(self) -> int:
        return len(self.passed)


@dataclass(slots=True)
class _Part:
    """The rows that columns can tell, and what they are."""

    told: Flags
    passed: Flags
    older: Flags
    edge: Codes
    fields: Flags


def supports(rule: Compiled) -> bool:
    """Return whether a rule has rows that columns can tell."""
    return _told(rule) is not None


def grade_columns(rule: Compiled, answers: Sequence[object]) -> Columns:
    """Return the verdicts of a compiled rule on parsed JSON answers. Never raises."""
    teller = _told(rule)
    size = len(answers)
    width = len(rule.fields) if isinstance(rule, NumericRule) else int(teller is not None)
    part = teller(answers) if teller else _nothing(size, width)
    told, passed = part.told, part.passed
    scored = part.fields.mean(axis=1) if isinstance(rule, NumericRule) and width else math.nan
    out = Columns(
        np.zeros(size, np.int8),
        np.where(told, passed, NONE).astype(np.int8),
        np.where(told, scored, math.nan),
        np.where(told & ~passed, _WRONG, NONE).astype(np.int8),
        part.edge,
        told & (part.older != passed),
        np.where(told[:, None], part.fields, NONE).astype(np.int8),
        ~told,
    )
    for row in np.flatnonzero(~told).tolist():
        _write(out, row, rule.grade(answers[row]))
    return out


def _write(out: Columns, row: int, verdict: Verdict) -> None:
    """Write one verdict of the scalar implementation."""
    out.status[row] = STATUSES.index(verdict.status)
    out.passed[row] = _code(verdict.passed)
    out.score[row] = math.nan if verdict.score is None else verdict.score
    mode, edge = verdict.failure_mode, verdict.edge
    out.mode[row] = NONE if mode is None else FAILURE_MODES.index(mode)
    out.edge[row] = NONE if edge is None else EDGES.index(edge)
    out.contested[row] = verdict.contested
    for place, item in enumerate(verdict.fields[: out.fields.shape[1]]):
        out.fields[row, place] = _code(item.passed)


def _code(passed: bool | None) -> int:
    return NONE if passed is None else int(passed)


def _nothing(size: int, width: int) -> _Part:
    """Return a part in which no row is told."""
    none = np.zeros(size, np.bool_)
    return _Part(none, none, none, np.full(size, NONE, np.int8), np.zeros((size, width), np.bool_))


def _told(rule: Compiled) -> Callable[[Sequence[object]], _Part] | None:
    """Return what tells the rows of a rule, None where columns cannot tell any."""
    if isinstance(rule, NumericRule):
        plain = rule.rule_status == "published" and bool(rule.fields)
        known = plain and all(map(_is_plain, rule.fields))
        return (lambda answers: _numbers(rule, answers)) if known else None
    if isinstance(rule, LabelRule):
        texts = all(isinstance(label, str) for label in rule.labels)
        known = texts and rule.rule_status == "published" and _finite(rule.limits.readings[0])
        return (lambda answers: _labels(rule, answers)) if known else None
    if isinstance(rule, MarkerRule):
        known = rule.rule_status == "published" and _finite(rule.limits.readings[0])
        return (lambda answers: _markers(rule, answers)) if known else None
    return None


def _finite(limits: Sequence[Number | None]) -> bool:
    return all(limit is not None and abs(limit) <= EXACT_LIMIT for limit in limits)


# --- numbers -------------------------------------------------------------------------------------


def _is_plain(rule: FieldRule) -> bool:
    """Return whether float64 gives what Python gives, for every small operand."""
    operands = (*rule.tests[0].operands(), *rule.older.operands())
    known = isinstance(rule.tests[0], Near | Window | Ratio | AtLeast | AtMost)
    zero = any(isinstance(test, Ratio) and test.truth == 0 for test in (rule.tests[0], rule.older))
    return known and not zero and all(not is_large(x) and math.isfinite(x) for x in operands)


def _numbers(rule: NumericRule, answers: Sequence[object]) -> _Part:
    """Return the outcomes of all fields of a numeric rule."""
    size = len(answers)
    told, passed, older = (np.ones(size, np.bool_) for _ in range(3))
    edge = np.full(size, _CLEAR, np.int8)
    fields = np.zeros((size, len(rule.fields)), np.bool_)
    with np.errstate(all="ignore"):
        for place, item in enumerate(rule.fields):
            x = _column(answers, item.name)
            slack, scale = _gap(item.tests[0], x)
            on_bound = slack == 0
            clear = slack > ULPS * scale + TINY
            fields[:, place] = _holds(item.tests[0], x)
            agreed = [_holds(test, x) == fields[:, place] for test in item.tests[1:]]
            sure = clear | (on_bound & np.all(agreed, axis=0))
            told &= sure & np.isfinite(x) & np.isfinite(slack)
            older &= _holds(item.older, x)
            passed &= fields[:, place]
            edge[on_bound] = _ON_BOUND
    edge[~told] = NONE
    return _Part(told, passed, older, edge, fields)


def _column(answers: Sequence[object], name: str) -> Floats:
    """Return one field of all answers; NaN where it is no plain number."""
    values = (item.get(name) if type(item) is dict else None for item in answers)
    return np.fromiter(
        (
            value
            if type(value) is float or (type(value) is int and -EXACT_LIMIT <= value <= EXACT_LIMIT)
            else math.nan
            for value in values
        ),
        np.float64,
        len(answers),
    )


def _holds(test: Comparison, x: Floats) -> Flags:
    """Return where a comparison holds."""
    match test:
        case Near(truth, value):
            return np.abs(x - truth) <= value
        case Ratio(truth, value):
            return np.abs(x - truth) / abs(truth) <= value
        case Window(truth, lower, upper):
            return (truth - lower <= x) & (x <= truth + upper)
        case Offsets(truth, lower, upper):
            return (truth - x <= lower) & (x - truth <= upper)
        case AtLeast(bound):
            return x >= bound
        case AtMost(bound):
            return x <= bound
    raise TypeError(f"no columns for {type(test).__name__}")


def _gap(test: Comparison, x: Floats) -> tuple[Floats, Floats]:
    """Return the distance from the nearest bound and the scale of roundings."""
    match test:
        case Near(truth, value):
            size = np.abs(x) + abs(truth) + abs(value)
            return np.abs(np.abs(x - truth) - value), size
        case Ratio(truth, value):
            share = np.abs(x) / abs(truth)
            return np.abs(np.abs(x - truth) / abs(truth) - value), share + 1 + abs(value)
        case Window(truth, lower, upper):
            size = np.abs(x) + abs(truth) + abs(lower) + abs(upper)
            return np.minimum(np.abs(x - (truth - lower)), np.abs(x - (truth + upper))), size
        case AtLeast(bound) | AtMost(bound):
            return np.abs(x - bound), np.abs(x) + abs(bound)
    raise TypeError(f"no columns for {type(test).__name__}")


# --- sets ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Sets:
    """Lists of texts as columns: per row how long it is, how many are distinct, how many right."""

    told: Flags
    length: NDArray[np.int64]
    distinct: NDArray[np.int64]
    right: NDArray[np.int64]


def _sets(
    answers: Sequence[object],
    key: str,
    truth: frozenset[Any],
    fold: Callable[[str], str] | None,
    *,
    refused: str | None,
) -> _Sets:
    """Return the lists under a key; rows with the `refused` key too are not told."""
    size = len(answers)
    lists: list[list[str]] = []
    told = np.zeros(size, np.bool_)
    for row, answer in enumerate(answers):
        value = answer.get(key) if type(answer) is dict else None
        plain = type(value) is list and set(map(type, value)) <= {str}
        told[row] = plain and (refused is None or refused not in answer)  # type: ignore[operator]
        lists.append(value if plain else [])  # type: ignore[arg-type]
    length = np.fromiter(map(len, lists), np.int64, size)
    names = dict.fromkeys(chain.from_iterable(lists))
    folded: dict[str, int] = {}
    code = {name: folded.setdefault(fold(name) if fold else name, len(folded)) for name in names}
    codes = np.fromiter(
        map(code.__getitem__, chain.from_iterable(lists)), np.int64, int(length.sum())
    )
    member = np.fromiter((name in truth for name in folded), np.bool_, len(folded))
    rows = np.repeat(np.arange(size), length)
    pairs = np.unique(rows * max(len(folded), 1) + codes)
    rows, codes = np.divmod(pairs, max(len(folded), 1))
    distinct = np.bincount(rows, minlength=size)
    right = np.bincount(rows[member[codes]], minlength=size) if len(folded) else distinct * 0
    return _Sets(told, length, distinct, right)


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> Floats:
    """Return part over whole, 0 where there is no whole."""
    return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)


def _counted(rule: LabelRule | MarkerRule, *numbers: NDArray[np.int64]) -> Flags:
    """Return where the expected count is met, everywhere if there is none."""
    met = np.ones(len(numbers[0]), np.bool_)
    if isinstance(rule.count.value, int):
        for number in numbers:
            met &= number == min(rule.count.value, EXACT_LIMIT)
    return met


def _edges(limits: Sequence[Number | None], scores: Sequence[Floats]) -> tuple[Codes, Flags]:
    """Return the edge of the closest score, and where none is within rounding of its limit."""
    size = len(scores[0])
    edge, sure = np.full(size, _CLEAR, np.int8), np.ones(size, np.bool_)
    for limit, score in zip(limits, scores, strict=True):
        bound = limit or 0
        slack = np.abs(score - bound)
        edge[slack == 0] = _ON_BOUND
        sure &= (slack == 0) | (slack > ULPS * (np.abs(score) + abs(bound)) + TINY)
    return edge, sure


def _labels(rule: LabelRule, answers: Sequence[object]) -> _Part:
    """Return the outcomes of a label set rule."""
    named = rule.key != label_sets.KEY
    refused = label_sets.KEY if named else None
    found = _sets(answers, rule.key, rule.labels, None, refused=refused)
    index = _share(found.right, found.distinct + len(rule.labels) - found.right)
    limits = rule.limits.readings[0]
    edge, sure = _edges(limits, (index,))
    enough = index >= (limits[0] or 0)
    passed = enough & _counted(rule, found.length, found.distinct)
    older = np.zeros(len(answers), np.bool_) if named else enough
    return _part(found.told & sure, passed, older, edge)


def _markers(rule: MarkerRule, answers: Sequence[object]) -> _Part:
    """Return the outcomes of a marker rule over one list."""
    named = rule.key != markers.KEY
    refused = markers.KEY if named else None
    found = _sets(answers, rule.key, rule.genes, str.lower, refused=refused)
    limits = rule.limits.readings[0]
    precision = _share(found.right, found.distinct)
    recall = _share(found.right, np.full(len(answers), len(rule.genes), np.int64))
    edge, sure = _edges(limits, (precision, recall))
    recalled = recall >= (limits[1] or 0)
    passed = (precision >= (limits[0] or 0)) & recalled
    told = found.told & sure
    if isinstance(rule.count.value, int):
        passed &= _counted(rule, found.length, found.distinct)
        told &= (found.distinct == found.length) | ~_counted(rule, found.length)
    older = (_share(found.right, found.length) >= (limits[0] or 0)) & recalled & (not named)
    return _part(told, passed, older, edge)


def _part(told: Flags, passed: Flags, older: Flags, edge: Codes) -> _Part:
    edge[~told] = NONE
    return _Part(told, passed, older, edge, passed[:, None])
