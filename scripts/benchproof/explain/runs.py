"""Explaining a recorded run: its blobs, the rule, how the verdict follows, and a script against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchproof import jsontext
from benchproof.errors import Unreadable
from benchproof.explain import refute
from benchproof.explain.blobs import blobs
from benchproof.explain.reports import Report, Row
from benchproof.explain.rules import EDGES, GRADERS, MODES, TIERS
from benchproof.explain.text import Page, word
from benchproof.grading.record import RunResult, published_rule, regrade
from benchproof.report import dictionary

RESTS_ON = "Blobs it rests on (their content is not shown)"
#: Types whose verdict is that of their parts.
_OF_PARTS = ("all_of", "composite", "graders[]")
_COMPARED = (
    "status",
    "recorded_passed",
    "derived_passed",
    "recorded_score",
    "derived_score",
    "passed_agrees",
    "score_agrees",
    "fields_agree",
    "failure_mode",
)


def explain(report: Report, row: Row) -> Page:
    """Return the explanation of a row of the runs table."""
    page = Page(f"run {row['repo']}:{row['run_path']}")
    fill(page, report, row)
    return page


def fill(page: Page, report: Report, row: Row) -> None:
    """Add what explains a run to a page."""
    evaluation = _evaluation(report, row)
    at = _ids(report, row, evaluation)
    page.section("What it says", _said(row))
    page.section(RESTS_ON, _rests_on(report, row, at), wrapped=False)
    page.section("Rule", _rule(report, row))
    page.section("Arithmetic", _arithmetic(report, row))
    page.section("Derived again", [_again(report, row, at, evaluation)])
    _refutation(page, report, row, at, evaluation)


def _said(row: Row) -> Iterator[str]:
    meaning = dictionary.STATUSES["runs"].get(row["status"], "a status of another version")
    yield f"status: {row['status']}: {meaning}"
    if row["reason"]:
        yield f"reason: {row['reason']}: {dictionary.reason(row['reason']) or 'a code of another version'}"
    yield f"recorded: passed {word(row['recorded_passed'])}, score {word(row['recorded_score'])}"
    yield f"derived: passed {word(row['derived_passed'])}, score {word(row['derived_score'])}"
    for name, what in (("passed", "verdicts"), ("score", "scores"), ("fields", "field scores")):
        agrees = row[f"{name}_agree{'' if name == 'fields' else 's'}"]
        if agrees is not None:
            yield f"{what}: {'agree' if agrees else 'DIFFER'}"


def _evaluation(report: Report, row: Row) -> Row | None:
    """Return the first evaluation file that states the run's id, as the rule takes it."""
    found = [e for e in report.rows("evals", repo=row["repo"]) if e["eval_id"] == row["eval_id"]]
    return min(found, key=lambda e: str(e["path"]), default=None) if row["eval_id"] else None


def _ids(report: Report, row: Row, evaluation: Row | None) -> dict[str, str]:
    """Return the blobs of a run, id to path: the evaluation's first where there is one."""
    sha = row.get("blob_sha")
    if sha is None:
        listed = report.rows("tree", path=row["run_path"])
        sha = next((item["blob_sha"] for item in listed if item["repo"] == row["repo"]), None)
    pairs = [(evaluation["blob_sha"], evaluation["path"])] if evaluation else []
    return dict([*pairs, *([(sha, row["run_path"])] if sha else [])])


def _rests_on(report: Report, row: Row, at: Mapping[str, str]) -> Iterator[str]:
    pin = report.pins[row["repo"]]
    yield f"{pin['commit_sha']}  commit of {row['repo']}"
    yield f"{pin['tree_sha']}  its tree"
    for sha, path in at.items():
        yield f"{sha}  {path}"


def _rule(report: Report, row: Row) -> Iterator[str]:
    code = str(report.made("runs").get("code", "not known"))[:12]
    yield f"workflow: regrade_runs (scripts/regrade_runs.py, code {code}) made this row"
    kind = row["grader_type"]
    if kind in GRADERS:
        text, source = GRADERS[kind]
        yield f"grader: {kind}: {text}. Source: {source}."
    elif kind is not None:
        yield f"grader: {kind}: no public source says how it grades."
    elif row["status"] == "rule_not_published":
        yield "grader: the evaluation file publishes none, so nobody outside can derive a verdict."
    if row["tier"] in TIERS:
        yield f"weakest source that the verdict needs: {row['tier']}, {TIERS[row['tier']]}"


def _arithmetic(report: Report, row: Row) -> Iterator[str]:
    fields = [
        item
        for item in report.rows("run_fields", run_path=row["run_path"])
        if item["repo"] == row["repo"]
    ]
    modes = _modes(report, row)
    for item in fields:
        how = f" ({item['failure_mode']})" if item["failure_mode"] else ""
        asked = MODES.get(modes.get(item["field"], ""))
        yield (
            f"{item['field']}: recorded {_outcome(item['recorded_pass'])}, derived "
            f"{_outcome(item['derived_pass'])}{how}{f'; asked: {asked}' if asked else ''}"
        )
    yield from _verdict(row, fields)
    if row["edge"] in EDGES:
        yield f"edge: {row['edge']}: {EDGES[row['edge']]}"
    if row["contested"] is not None:
        older = "the opposite verdict" if row["contested"] else "the same verdict"
        yield f"contested: {word(row['contested'])}: the older public grader gives {older}"


def _verdict(row: Row, fields: list[Row]) -> Iterator[str]:
    """How the verdict and the score follow from the fields, in one line each."""
    if row["status"] == "no_submission":
        yield "verdict = none: nothing was submitted; a recorded null counts 0 in the accuracy"
        return
    if row["status"] != "graded":
        yield "verdict = none derived; the reason above says why"
        return
    passed, known = sum(item["derived_pass"] is True for item in fields), len(fields)
    if not fields:
        yield f"verdict = {row['failure_mode'] or 'no field to look at'} -> {word(row['derived_passed'])}"
    else:
        what = "parts" if row["grader_type"] in _OF_PARTS else "fields"
        yield f"verdict = all {what} pass: {passed} of {known} -> {word(row['derived_passed'])}"
    if row["derived_score"] is None:
        yield "score: not published for this type"
    elif row["grader_type"] == "numeric_tolerance" and known:
        yield f"score = mean of the fields: {passed}/{known} = {word(row['derived_score'])}"
    else:
        yield f"score = {word(row['derived_score'])}, by the rule above"


def _outcome(passed: bool | None) -> str:
    return {True: "pass", False: "fail", None: "not said"}[passed]


def _modes(report: Report, row: Row) -> dict[str, str]:
    """Return how each field's tolerance is read, by the name that run_fields has for it."""
    found = {}
    for item in _of_eval(report, "tolerances", row):
        child = item["position"].partition(".")[2]
        found[f"{child}.{item['field']}" if child else item["field"]] = item["mode"]
    return found


def _of_eval(report: Report, table: str, row: Row) -> list[Row]:
    if row["eval_id"] is None:
        return []
    return [r for r in report.rows(table, eval_id=row["eval_id"]) if r["repo"] == row["repo"]]


# -- derived again ---------------------------------------------------------------------------------------


def _again(report: Report, row: Row, at: Mapping[str, str], evaluation: Row | None) -> str:
    """Say whether this version derives from the blobs what the table says."""
    if row["run_path"] not in at.values():
        return "no: the report's tree does not list the record"
    had = blobs(report, row["repo"], at)
    if had.found is None:
        return f"no: {had.how}"
    values = {path: _parsed(had.found[sha]) for sha, path in at.items()}
    record, problem = values[row["run_path"]]
    if problem is not None:
        result = RunResult("unreadable", problem)
    elif evaluation is None:
        result = regrade(None, record)
    else:
        value, _ = values[evaluation["path"]]
        result = regrade(published_rule(value if isinstance(value, dict) else {})[1], record)
    differing = [name for name in _COMPARED if getattr(result, name) != row[name]]
    said = (
        "this version derives what the table says"
        if not differing
        else f"this version derives ANOTHER {', '.join(differing)} than the table says"
    )
    return f"yes, {had.how}: {said}"


def _parsed(data: bytes) -> tuple[Any, str | None]:
    try:
        return jsontext.loads(data).value, None
    except Unreadable as error:
        return None, error.reason


# -- the script ------------------------------------------------------------------------------------------


def _refutation(
    page: Page, report: Report, row: Row, at: Mapping[str, str], evaluation: Row | None
) -> None:
    listed = _bodies(report, row, at, evaluation)
    told = "Paste into a shell; it needs git and Python, fetches the commit itself, and prints no answer."
    if any("grade(" in line for line in listed[0]):
        told += " The blobs must be those of the report, and `derived` what stands above."
    if len(listed) > 1:
        told += (
            f" {len(listed)} scripts, one for each kind of part; it passes when all of them say so."
        )
    page.section("How to refute it", [told])
    for body in listed:
        remote, commit = report.remote(row["repo"]), report.pins[row["repo"]]["commit_sha"]
        page.script(refute.fetched(remote, commit, body))


def _bodies(
    report: Report, row: Row, at: Mapping[str, str], evaluation: Row | None
) -> list[list[str]]:
    """Return what the scripts of a run do once the commit is there."""
    if row["run_path"] not in at.values():
        return [refute.listed(row["run_path"])]
    if row["status"] == "unreadable":
        sha = next(sha for sha, path in at.items() if path == row["run_path"])
        return [refute.python(refute.unreadable(sha), row["run_path"])]
    if evaluation is None:
        folder = report.member(row["repo"])["evals"]
        return [refute.python(refute.stating(folder, row["eval_id"] or ""))]
    bodies = _derivations(report, row, list(at)) or [refute.record(list(at))]
    return [refute.python(body, evaluation["path"], row["run_path"]) for body in bodies]


def _derivations(report: Report, row: Row, ids: list[str]) -> list[list[str]]:
    """Return one derivation for each family of graders; none where a part's rule is not settled."""
    rows = _of_eval(report, "graders", row)
    tops = [item for item in rows if "." not in item["position"]]
    parts, where = tops, '[e["grader"]]'
    if row["grader_type"] == "graders[]":
        where = 'e["graders"]'
    elif row["grader_type"] in ("all_of", "composite"):
        parts, where = (
            [item for item in rows if "." in item["position"]],
            'e["grader"]["config"]["children"]',
        )
    derivable = row["status"] in ("graded", "no_submission", "rule_undetermined") and all(
        item["rule_status"] == "published"
        and refute.family(item["type"])
        and item["position"].count(".") <= 1
        for item in parts
    )
    if not derivable:
        return []
    modes = {item["mode"] for item in _of_eval(report, "tolerances", row)}
    families = sorted({name for item in parts if (name := refute.family(item["type"]))})
    return [refute.graders(name, modes, where, ids) for name in families]
