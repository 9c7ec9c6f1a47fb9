"""Graders that nobody can apply, or that decide nothing: no truth, no rule, labels by accident."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from benchproof.grading import grade, rule_status
from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation, GraderAt
from benchproof.inventory.lint.trial import (
    CHOICE,
    DISTRIBUTION,
    LABELS,
    MARKERS,
    NUMERIC,
    labels,
    numeric_fields,
    own_truth,
)

#: Where each type keeps its truth.
_TRUTH: Final = {
    **dict.fromkeys((*NUMERIC, "longest_subsequence"), ("ground_truth",)),
    **dict.fromkeys(LABELS, ("ground_truth_labels",)),
    MARKERS: ("canonical_markers",),
    DISTRIBUTION: ("ground_truth", "cell_type_distribution"),
    "finished_file": ("expected",),
}
#: What is undecided for a reason that another rule names, or that is the type's own.
_TOLD: Final = {
    *("unknown_tolerance_type", "one_sided_offset", "offsets_beside_value", "offsets_beside_type"),
    *("single_tolerance", "spelled_out_type", "threshold_place", "tolerance_not_object"),
    *("named_without_rule", "unknown_type", "child_undecided", "predicate_not_published"),
}
_DATE: Final = re.compile(
    r"\d{1,2}-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE
)


def _truth(grader: GraderAt) -> Any:
    found: Any = grader.config
    for key in _TRUTH.get(grader.type or "", ()):
        found = found.get(key) if isinstance(found, dict) else None
    return found


@LINT.evaluation(
    "truth_empty",
    "critical",
    "A grader has an empty truth: nothing is graded, or nothing can pass.",
    "State the truth.",
)
def truth_empty(evaluation: Evaluation) -> Places:
    """An empty object, list or text where the type keeps its truth."""
    for grader in evaluation.graders:
        if grader.type in _TRUTH and _truth(grader) in ({}, [], ""):
            yield Place(pointer=f"{grader.pointer}/config")


@LINT.evaluation(
    "grader_undecided",
    "major",
    "A grader's configuration lacks or garbles what its rule needs; no public source says how it is applied.",
    "State every key of the type, in the type that the rule reads.",
)
def grader_undecided(evaluation: Evaluation) -> Places:
    """The rule is undetermined, by the configuration and not by its type; an empty truth is told as that."""
    for grader in evaluation.graders:
        reasons = _reasons(grader)
        empty = grader.type in _TRUTH and _truth(grader) in ({}, [], "")
        if reasons and not reasons & _TOLD and not empty:
            named = sorted(reasons - {"undetermined"})
            yield Place(
                pointer=f"{grader.pointer}/config",
                detail=f"Reason: {named[0]}." if named else "",
            )


def _reasons(grader: GraderAt) -> set[str]:
    """Return why trial answers stay undecided; empty where the rule is determined."""
    if not grader.config or rule_status(grader.type, grader.config) != "undetermined":
        return set()
    trials: tuple[dict[str, Any] | None, ...] = (
        own_truth(grader),
        {},
        dict.fromkeys(grader.section("ground_truth"), 1),
    )
    verdicts = [grade(grader.type, grader.config, trial) for trial in trials if trial is not None]
    named = {str(one.reason).split(":")[0] for one in verdicts if one.status == "rule_undetermined"}
    # Where these are undetermined for some answers alone, rules of their own say by what.
    vague = grader.type not in ("numeric_tolerance", *LABELS, MARKERS, DISTRIBUTION)
    return named or ({"undetermined"} if vague else set())


@LINT.evaluation(
    "label_odd",
    "major",
    "A graded label has spaces around it, differs from another one by case alone, or is a date that a "
    "spreadsheet made of a gene; who answers what is meant fails.",
    "Write labels as they are to be answered.",
)
def label_odd(evaluation: Evaluation) -> Places:
    """Labels and the names of shares; marker names are read without case, so there it is a repetition."""
    for grader in evaluation.graders:
        listed = labels(grader)
        shares = _truth(grader) if grader.type == DISTRIBUTION else None
        listed = listed + [str(name) for name in shares] if isinstance(shares, dict) else listed
        exact = set(listed)
        folded = Counter(name.casefold() for name in exact)
        twice = grader.type != MARKERS and max(folded.values(), default=0) > 1
        odd = any(name != name.strip() or _DATE.fullmatch(name) for name in exact)
        if twice or odd:
            yield Place(pointer=f"{grader.pointer}/config")


@LINT.evaluation(
    "share_impossible",
    "major",
    "A share of a graded distribution lies below 0 or above 100.",
    "Correct the shares.",
)
def share_impossible(evaluation: Evaluation) -> Places:
    """A number that is no percentage."""
    for grader in evaluation.graders:
        shares = _truth(grader) if grader.type == DISTRIBUTION else None
        numbers = shares.values() if isinstance(shares, dict) else ()
        if any(isinstance(share, int | float) and not 0 <= share <= 100 for share in numbers):
            yield Place(pointer=f"{grader.pointer}/config/ground_truth")


@LINT.evaluation(
    "passes_on_any_shares",
    "critical",
    "A graded distribution passes whatever shares are answered.",
    "Give it a tolerance that is narrower than the shares.",
    withheld=True,
)
def passes_on_any_shares(evaluation: Evaluation) -> Places:
    """All zeros pass, and all hundreds."""
    for grader in evaluation.graders:
        shares = _truth(grader) if grader.type == DISTRIBUTION else None
        if isinstance(shares, dict) and shares:
            ends = [{"cell_type_distribution": dict.fromkeys(shares, share)} for share in (0, 100)]
            if all(grade(grader.type, grader.config, end).passed is True for end in ends):
                yield Place(pointer=f"{grader.pointer}/config/tolerances")


@LINT.evaluation(
    "passes_on_any_choice",
    "critical",
    "Every option of a multiple choice passes.",
    "List the right ones alone.",
    withheld=True,
)
def passes_on_any_choice(evaluation: Evaluation) -> Places:
    """Each option, answered as it stands, passes."""
    for grader in evaluation.graders:
        options = grader.config.get("options") if grader.type == CHOICE else None
        listed = list(options) if isinstance(options, list | dict) else []
        verdicts = [grade(CHOICE, grader.config, {"answer": option}).passed for option in listed]
        if len(listed) > 1 and all(verdict is True for verdict in verdicts):
            yield Place(pointer=f"{grader.pointer}/config/options")


@LINT.evaluation(
    "choice_repeated",
    "minor",
    "A multiple choice offers one option twice.",
    "Delete the repetition.",
)
def choice_repeated(evaluation: Evaluation) -> Places:
    """Equal options, read as answers are."""
    for grader in evaluation.graders:
        options = grader.config.get("options") if grader.type == CHOICE else None
        listed = options if isinstance(options, list) else []
        names = [str(option).strip().upper() for option in listed]
        if len(set(names)) < len(names):
            yield Place(pointer=f"{grader.pointer}/config/options")


@LINT.evaluation(
    "children_contradict",
    "critical",
    "Two graders that must both pass ask for different values of one field; nothing passes both.",
    "Keep one of them.",
)
def children_contradict(evaluation: Evaluation) -> Places:
    """Neither truth of a field passes the other's rule, inside one composite of all."""
    for parent in evaluation.graders:
        if parent.type not in ("all_of", "composite"):
            continue
        inside = f"{parent.pointer}/config/children/"
        fields = [
            field
            for child in evaluation.graders
            if child.pointer.startswith(inside) and child.pointer.removeprefix(inside).isdigit()
            for field in numeric_fields(child)
        ]
        for number, one in enumerate(fields):
            rivals = [other for other in fields[:number] if other.name == one.name]
            if any(not (a.passes(one.truth) or one.passes(a.truth)) for a in rivals):
                yield Place(pointer=one.pointer)


@LINT.evaluation(
    "offsets_look_like_bounds",
    "major",
    "`lower` and `upper` of a tolerance are offsets from the truth, and look like bounds around it.",
    "State how far an answer may lie below and above the truth.",
)
def offsets_look_like_bounds(evaluation: Evaluation) -> Places:
    """The truth lies between them, and they are closer to it than to zero: as offsets they let half of
    everything through.
    """
    for grader in evaluation.graders:
        entries = grader.section("tolerances") if grader.type == "numeric_tolerance" else {}
        for field in numeric_fields(grader) if entries else ():
            entry = entries.get(field.name)
            ends = [entry.get(key) for key in ("lower", "upper")] if isinstance(entry, dict) else []
            if _around(field.truth, ends):
                yield Place(pointer=field.pointer)


def _around(truth: Any, ends: list[Any]) -> bool:
    numbers = [v for v in (truth, *ends) if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) != 3 or not truth:
        return False
    low, high = numbers[1:]
    return bool(low <= truth <= high and high - low < 0.5 * abs(truth))
