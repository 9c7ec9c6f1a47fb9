"""Re-grading every recorded run of a repository: rows for three tables, findings, trap readings."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from benchproof import jsontext
from benchproof.analysis import records
from benchproof.errors import Unreadable
from benchproof.findings import JSON_FLAGS, Finding, repeated_keys
from benchproof.grading.readings import Accumulator
from benchproof.grading.record import WITHHELD, Rule, RunResult, published_rule, regrade
from benchproof.inventory.evaluations import stated_id
from benchproof.inventory.layout import Run, RunPlace, run_place
from benchproof.inventory.repository import EvalFile, Repository

_COMPARED = (
    "recorded_passed",
    "derived_passed",
    "recorded_score",
    "derived_score",
    "passed_agrees",
    "score_agrees",
    "fields_agree",
    "failure_mode",
    "edge",
    "tier",
    "contested",
)
#: Flags of a record that are findings of their own.
_NOTED = {
    "record_contradicts_itself": "record_contradicts_itself",
    "verdict_missing": "verdict_missing",
    "verdict_without_answer": "verdict_without_answer",
    "answer_differs": "answer_differs",
    "score_not_finite": "result_nonfinite",
    "score_not_number": "record_incomplete",
    "field_scores_missing": "record_incomplete",
    **JSON_FLAGS,
}


class Rows(Protocol):
    """What takes rows one by one: a list, or a table that is being written."""

    def append(self, row: dict[str, Any], /) -> None:
        """Take a row."""


@dataclass
class Streamed:
    """Where the rows of the runs and run_fields tables go, in the order of their keys; findings, and the
    readings counted so far.
    """

    runs: Rows
    run_fields: Rows
    findings: list[Finding] = field(default_factory=list)
    readings: Accumulator = field(default_factory=Accumulator)

    def reading_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the readings table."""
        return reading_rows(self.readings)


@dataclass
class Regraded(Streamed):
    """The same with all rows at hand."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    run_fields: list[dict[str, Any]] = field(default_factory=list)


def reading_rows(readings: Accumulator) -> list[dict[str, Any]]:
    """Return the rows of the readings table."""
    return [
        {
            "reading": name,
            "runs": counts.runs,
            "applies": counts.applies,
            "verdicts_changed": counts.verdicts_changed,
            "fields_changed": counts.fields_changed,
        }
        for name, counts in readings.counts().items()
    ]


@dataclass(frozen=True, slots=True)
class _Published:
    """What an evaluation publishes to grade with: the type shown in tables, and the compiled rule."""

    grader_type: str | None
    rule: Rule
    prompt: str
    truths: Mapping[str, Any]


def regrade_repository(
    repository: Repository,
    out: Streamed,
    start: int = 0,
    stop: int | None = None,
    seen: Callable[[Run, Any], None] | None = None,
) -> None:
    """Grade recorded runs again, in the order of their paths, and add their rows; one bad run is one row.

    `start` and `stop` count runs. `seen` is told each run that could be read, with its parsed record.
    """
    rules = {eval_id: _published(item) for eval_id, item in repository.by_id.items()}
    stated = Counter(stated_id(item.value) for item in repository.evaluations)
    ambiguous = {eval_id for eval_id, files in stated.items() if eval_id and files > 1}
    # Which of two files a run was graded by can't be known, so that nobody is blamed for the verdict.
    rules |= {eval_id: replace(rules[eval_id], rule=WITHHELD, truths={}) for eval_id in ambiguous}
    with _uncollected():
        for run in repository.recorded(start, stop):
            place = run_place(run.path, repository.folders)
            parsed, reason = _parsed(repository.content.read(run.entry.sha))
            _add_run(out, repository.spec.repo, run, place, parsed, reason, rules, ambiguous)
            if seen is not None and reason is None:
                seen(run, parsed.value)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the cyclic collector from walking all rows again and again: runs make no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _published(item: EvalFile) -> _Published:
    """Return the rule an evaluation publishes; a list of graders is a rule of its own kind."""
    grader_type, rule = published_rule(item.value)
    grader = item.value.get("grader") if isinstance(item.value, dict) else None
    config = grader.get("config") if isinstance(grader, dict) else None
    numeric = grader_type in ("numeric_tolerance", "numeric_range") and isinstance(config, dict)
    truths = config.get("ground_truth") if numeric and isinstance(config, dict) else None
    prompt = "" if rule is WITHHELD else item.prompt
    return _Published(grader_type, rule, prompt, truths if isinstance(truths, dict) else {})


def _add_run(
    out: Streamed,
    repo: str,
    run: Run,
    place: RunPlace,
    parsed: jsontext.Parsed,
    reason: str | None,
    rules: Mapping[str, _Published],
    ambiguous: Set[str] = frozenset(),
) -> None:
    record, path, sha = parsed.value, run.path, run.entry.sha
    eval_id = place.eval_id or _text(record, "task")
    published = rules.get(eval_id) if eval_id else None
    if reason is not None:
        result = RunResult("unreadable", reason)
    else:
        result = regrade(published.rule if published else None, record, out.readings)
        if eval_id in ambiguous and result.status == "rule_not_published":
            result = replace(result, status="rule_undetermined", reason="id_duplicated")
    grader_type = published.grader_type if published else None
    out.runs.append(_run_row(repo, path, sha, eval_id, place, grader_type, result))
    for item in result.fields:
        out.run_fields.append(
            {
                "repo": repo,
                "run_path": path,
                "field": item.field,
                "recorded_pass": item.recorded_pass,
                "derived_pass": item.derived_pass,
                "failure_mode": item.failure_mode,
            }
        )
    noted = _rules_met(place, record, result, parsed.flags)
    if result.status != "unreadable":
        odd = records.odd(record, place, published.truths if published else {})
        noted = list(dict.fromkeys((*noted, *odd)))
    if parsed.repeated:
        prompt = published.prompt if published else ""
        out.findings += repeated_keys(repo, path, sha, parsed.repeated, prompt)
    out.findings += [Finding(rule, repo, path, pointer, blob_sha=sha) for rule, pointer in noted]


def _parsed(data: bytes) -> tuple[jsontext.Parsed, str | None]:
    try:
        return jsontext.loads(data), None
    except Unreadable as error:
        return jsontext.Parsed(None), error.reason


def _run_row(
    repo: str,
    path: str,
    sha: str,
    eval_id: str | None,
    place: RunPlace,
    grader_type: str | None,
    result: RunResult,
) -> dict[str, Any]:
    return {
        "repo": repo,
        "run_path": path,
        "blob_sha": sha,
        "eval_id": eval_id,
        "provider": place.provider,
        "model": place.model,
        "harness": place.harness,
        "replicate": place.replicate,
        "grader_version": result.grader_version,
        "grader_type": grader_type,
        "status": result.status,
        "reason": result.reason,
        **{name: getattr(result, name) for name in _COMPARED},
    }


def _rules_met(
    place: RunPlace, record: Any, result: RunResult, flags: tuple[str, ...]
) -> list[tuple[str, str | None]]:
    """Return (rule, pointer) of each finding that a run gives rise to."""
    met: list[tuple[str, str | None]] = []
    if place.eval_id is None:
        met.append(("run_path_unknown", None))
    if result.status == "unreadable":
        return [*met, ("run_unreadable", result.reason)]
    if result.status == "eval_missing":
        met.append(("run_eval_missing", None))
    met += [(_NOTED[flag], None) for flag in (*flags, *result.flags) if flag in _NOTED]
    if result.passed_agrees is False:
        met.append(("verdict_differs", None))
    if result.score_agrees is False:
        met.append(("score_differs", None))
    if result.fields_agree is False:
        met.append(("field_differs", None))
    return met + _misnamed(place, record)


def _misnamed(place: RunPlace, record: Any) -> list[tuple[str, str | None]]:
    """A record's model is provider/model, or bare for one harness; its folder says the same."""
    model, harness = _text(record, "model_name"), _text(record, "harness")
    wrong = []
    *head, name = (model or "").rsplit("/", 1)
    elsewhere = head and place.provider and head[0].rsplit("/", 1)[-1] != place.provider
    if model and place.model and (name != place.model or elsewhere):
        wrong.append(("model_differs", "/model_name"))
    if harness and place.harness and harness != place.harness:
        wrong.append(("model_differs", "/harness"))
    return [*wrong]


def _text(record: Any, name: str) -> str | None:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, str) else None
