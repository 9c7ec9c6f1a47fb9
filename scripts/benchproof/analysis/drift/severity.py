"""How bad each kind of change is. The first line of RULES that fits a column or a row says it.

docs/drift.md shows this table, and a test holds it to that. What no line names is info. So is whatever
our own version or configuration changed, and whatever was not observed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from benchproof.analysis.drift.causes import Range
from benchproof.analysis.drift.changes import Diff
from benchproof.severity import SEVERITIES

#: What wakes nobody, whatever it changed.
OURS: Final = ("benchproof", "config")
Ranges = Mapping[str, Range]


@dataclass(frozen=True)
class Kind:
    """One line of the table: which differences it is about, how bad they are, and in words."""

    severity: str
    table: str
    text: str
    changes: Collection[str] = ("changed",)
    columns: Collection[str] = ()
    test: Callable[[Diff, Ranges], bool] | None = None

    def fits(self, diff: Diff, column: str | None, ranges: Ranges) -> bool:
        """True when a column of a difference, or None for its row, is of this kind."""
        if diff.table != self.table or diff.change not in self.changes:
            return False
        if self.columns and column not in self.columns:
            return False
        return self.test is None or self.test(diff, ranges)


_GONE = ("removed",)
_NEW = ("added",)
_MISSING = ("missing", "private", "empty", "ref_missing")
_BROKEN = ("unreadable", "malformed", "invalid_id", "duplicate_id")
_RUNNABLE = ("all", "some", "none")
#: How findings say the number of places that they don't name.
_PLACES = re.compile(r"\b(\d{1,9}) places? in \d+ files?\b")


def _not_descended(diff: Diff, ranges: Ranges) -> bool:
    return ranges.get(diff.row["repo"], Range()).ancestor is False


def _eval_is_kept(diff: Diff, _: Ranges) -> bool:
    return diff.subject not in ("evals added", "evals renamed", "evals removed")


def _fell(diff: Diff, _: Ranges) -> bool:
    old, new = diff.was("runnable"), diff.now("runnable")
    return old in _RUNNABLE and new in _RUNNABLE and _RUNNABLE.index(new) > _RUNNABLE.index(old)


def _to(column: str, *values: object) -> Callable[[Diff, Ranges], bool]:
    """Return a test: the column has one of these values now."""
    return lambda diff, _: diff.now(column) in values


def _from(column: str, *values: object) -> Callable[[Diff, Ranges], bool]:
    """Return a test: the column had one of these values."""
    return lambda diff, _: diff.was(column) in values


def _turned(*columns: str) -> Callable[[Diff, Ranges], bool]:
    """Return a test: one of these truth values became the other."""
    return lambda diff, _: any(
        {diff.was(c), diff.now(c)} == {True, False} for c in columns if c in diff.columns
    )


def _grew(column: str) -> Callable[[Diff, Ranges], bool]:
    return lambda diff, _: (diff.now(column) or 0) > (diff.was(column) or 0)


def _invariant(diff: Diff, _: Ranges) -> bool:
    return (diff.now("kind"), diff.now("status")) == ("invariant", "fails")


def _of(severity: str) -> Callable[[Diff, Ranges], bool]:
    """Return a test: the finding itself is that bad."""
    return lambda diff, _: diff.row.get("severity") == severity


def _more(severity: str) -> Callable[[Diff, Ranges], bool]:
    """Return a test: a finding that bad, whose places results withhold, was met in more of them."""

    def test(diff: Diff, _: Ranges) -> bool:
        met = [_PLACES.search(str(text)) for text in (diff.was("message"), diff.now("message"))]
        grew = met[0] is not None and met[1] is not None and int(met[1][1]) > int(met[0][1])
        return grew and diff.now("severity") == severity

    return test


def _findings(table: str) -> list[Kind]:
    kinds = []
    for name in SEVERITIES:
        kinds += [
            Kind(name, table, f"a new finding that is {name}", _NEW, test=_of(name)),
            Kind(
                name,
                table,
                f"a finding that is {name} in more places",
                columns=("message",),
                test=_more(name),
            ),
        ]
    return [*kinds, Kind("info", table, "a finding that is gone", _GONE)]


RULES: Final[tuple[Kind, ...]] = (
    # repositories
    Kind(
        "critical",
        "pins",
        "a repository is gone, private or without its ref",
        columns=("status",),
        test=_to("status", *_MISSING),
    ),
    Kind(
        "critical",
        "pins",
        "the earlier commit is not an ancestor of the later one",
        columns=("commit_sha",),
        test=_not_descended,
    ),
    Kind("critical", "pins", "another repository has the name", columns=("repo_id",)),
    Kind("major", "pins", "a repository has another name", columns=("resolved_repo",)),
    Kind("minor", "pins", "a repository's status changed", columns=("status", "reason")),
    Kind("info", "pins", "a repository moved on"),
    # licences
    Kind("critical", "licences", "a licence changed", ("changed", "removed")),
    Kind("major", "licences", "a licence is new or elsewhere", ("added", "renamed")),
    # rules
    Kind("critical", "graders", "a rule is lost", _GONE),
    Kind(
        "minor",
        "graders",
        "a rule is published now",
        columns=("rule_status",),
        test=_to("rule_status", "published"),
    ),
    Kind("critical", "graders", "a rule changed"),
    Kind("critical", "graders", "a rule was added to an evaluation", _NEW, test=_eval_is_kept),
    Kind("critical", "tolerances", "a tolerance changed"),
    Kind(
        "critical",
        "tolerances",
        "a tolerance was added or lost",
        ("added", "removed"),
        test=_eval_is_kept,
    ),
    # evaluations
    Kind(
        "critical",
        "evals",
        "an evaluation's grader changed",
        ("changed", "added"),
        columns=("grader",),
    ),
    Kind("major", "evals", "an evaluation is gone", _GONE),
    Kind("minor", "evals", "an evaluation is new", _NEW),
    Kind("minor", "evals", "an evaluation's file moved", ("renamed",)),
    Kind(
        "critical",
        "evals",
        "an evaluation lost its rule",
        columns=("grader_form",),
        test=_to("grader_form", "none"),
    ),
    Kind(
        "major",
        "evals",
        "an evaluation's rule is published now",
        columns=("grader_form", "n_graders"),
        test=_from("grader_form", "none"),
    ),
    Kind(
        "critical",
        "evals",
        "an evaluation's rule has another form",
        columns=("grader_form", "n_graders"),
    ),
    Kind(
        "critical",
        "evals",
        "an evaluation cannot be used any more",
        columns=("status", "reason"),
        test=_to("status", *_BROKEN),
    ),
    Kind(
        "major",
        "evals",
        "an evaluation's canary is gone",
        columns=("has_canary",),
        test=_to("has_canary", False),
    ),
    Kind("major", "evals", "an evaluation's content changed", columns=("blob_sha",)),
    Kind("minor", "evals", "an evaluation is described otherwise"),
    Kind(
        "major",
        "eval_handles",
        "an evaluation uses other data",
        ("added", "removed", "changed"),
        test=_eval_is_kept,
    ),
    # manifest
    Kind("major", "reconciliation", "a manifest has another shape", columns=("shape",)),
    Kind("major", "reconciliation", "a manifest is read otherwise", columns=("status", "reason")),
    Kind(
        "major",
        "reconciliation",
        "more evaluations are orphans",
        columns=("orphans",),
        test=_grew("orphans"),
    ),
    Kind(
        "major",
        "reconciliation",
        "more manifest rows lead nowhere",
        columns=("dangling",),
        test=_grew("dangling"),
    ),
    Kind("minor", "reconciliation", "a manifest's counts changed"),
    Kind("minor", "manifest", "a manifest row changed", ("added", "removed", "changed", "renamed")),
    # data
    Kind(
        "critical",
        "runnable",
        "an evaluation fell from runnable",
        columns=("runnable",),
        test=_fell,
    ),
    Kind("minor", "runnable", "an evaluation can be run better", columns=("runnable",)),
    Kind(
        "major",
        "handles",
        "a handle is not reachable any more",
        columns=("status",),
        test=_from("status", "reachable"),
    ),
    Kind("minor", "handles", "a handle is answered otherwise", columns=("status", "reason")),
    Kind(
        "critical",
        "objects",
        "an object's bytes changed behind its handle",
        columns=("etag", "size_bytes"),
    ),
    Kind(
        "critical",
        "objects",
        "an object cannot be had any more",
        columns=("status",),
        test=_from("status", "ok"),
    ),
    Kind("minor", "objects", "an object is described otherwise"),
    Kind(
        "critical",
        "contents",
        "an object is damaged now",
        columns=("status",),
        test=_to("status", "truncated"),
    ),
    Kind("major", "contents", "what is inside an object changed"),
    Kind(
        "critical",
        "files",
        "a file's bytes changed behind its handle",
        columns=("sha256", "etag", "size_bytes"),
    ),
    Kind(
        "major",
        "files",
        "a file cannot be used any more",
        columns=("status",),
        test=_from("status", "ok"),
    ),
    Kind("minor", "files", "a file is described otherwise"),
    # runs
    Kind(
        "critical",
        "runs",
        "a verdict flipped",
        columns=("recorded_passed", "derived_passed"),
        test=_turned("recorded_passed", "derived_passed"),
    ),
    Kind(
        "critical",
        "runs",
        "a recorded verdict does not follow from the rule any more",
        columns=("passed_agrees",),
        test=_to("passed_agrees", False),
    ),
    Kind(
        "major",
        "runs",
        "a score or a field does not follow from the rule any more",
        columns=("score_agrees", "fields_agree"),
        test=lambda d, _: False in (d.now("score_agrees"), d.now("fields_agree")),
    ),
    Kind(
        "major",
        "runs",
        "a run has no verdict any more, or one that it lacked",
        columns=("status", "recorded_passed", "derived_passed"),
    ),
    Kind("major", "runs", "a recorded run is gone", _GONE),
    Kind("minor", "runs", "a recorded run is new or elsewhere", ("added", "renamed")),
    Kind("minor", "runs", "a record changed"),
    Kind(
        "major",
        "run_fields",
        "a field's outcome flipped",
        columns=("recorded_pass", "derived_pass"),
        test=_turned("recorded_pass", "derived_pass"),
    ),
    # figures
    Kind("major", "models", "an accuracy changed", columns=("accuracy", "accuracy_all")),
    Kind("major", "models", "a model is gone", _GONE),
    Kind("minor", "models", "a model is new", _NEW),
    Kind("minor", "estimates", "a model's rank changed", columns=("rank",)),
    Kind(
        "major",
        "record_checks",
        "more records contradict themselves",
        columns=("n_fails",),
        test=_grew("n_fails"),
    ),
    Kind("major", "published", "a published number changed", columns=("accuracy",)),
    Kind(
        "major",
        "published",
        "a published number is gone or contradicted",
        ("removed", "changed"),
        columns=(),
        test=lambda d, _: d.change == "removed" or d.turns("status", "ok", "contradicted"),
    ),
    Kind(
        "minor",
        "published",
        "a published number is new or described otherwise",
        ("added", "changed", "renamed"),
    ),
    Kind(
        "major",
        "published_checks",
        "a check of published numbers fails now",
        ("added", "changed"),
        test=lambda d, _: d.now("status") == "fails" and d.was("status") != "fails",
    ),
    # claims and findings
    Kind(
        "critical",
        "claims",
        "an invariant does not hold any more",
        columns=("status",),
        test=_invariant,
    ),
    Kind(
        "major",
        "claims",
        "a claim does not hold any more",
        columns=("status",),
        test=_to("status", "fails"),
    ),
    Kind("minor", "claims", "a claim drifted, or holds again", columns=("status",)),
    Kind("minor", "claims", "a claim's value changed", columns=("observed",)),
    *_findings("findings"),
    *_findings("data_findings"),
    # files
    Kind(
        "minor",
        "tree",
        "a README changed",
        ("added", "removed", "changed", "renamed"),
        test=lambda d, _: (d.path or "").rsplit("/", 1)[-1].upper().startswith("README"),
    ),
    Kind("minor", "tree", "a file became something else", columns=("kind",)),
)
#: What is said of a change that no line names.
_ELSE = Kind("info", "", "something else changed")


def assign(diff: Diff, ranges: Ranges) -> None:
    """Say how bad a difference is, column by column, and in which words."""
    for column in diff.shown:
        kind = next((kind for kind in RULES if kind.fits(diff, column, ranges)), _ELSE)
        quiet = diff.cause in OURS or diff.change == "not_observed"
        diff.severities[column] = "info" if quiet else kind.severity
        diff.why[column] = kind.text


def worst(severities: Collection[str]) -> str:
    """Return the worst of some severities; info for none."""
    return min(severities, key=SEVERITIES.index, default="info")
