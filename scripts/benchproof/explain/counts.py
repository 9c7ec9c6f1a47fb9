"""Explaining a claim or a number: the query, the tables it asks, what these rest on, and how to recount."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from benchproof.analysis import claims as claiming
from benchproof.errors import ConfigError, TableError
from benchproof.explain import refute
from benchproof.explain.reports import Report, Row
from benchproof.explain.text import Page, many, word
from benchproof.provenance import CLAIMS
from benchproof.report import dictionary
from benchproof.report.figures import RULES as MADE_BY
from benchproof.report.figures import Figure

#: Tables whose rows the recount finds in a commit.
_COUNTED: Final = frozenset("tree manifest evals eval_handles graders tolerances runs".split())
#: A query that is about what was derived, not about what was recorded.
_DERIVING: Final = re.compile(r"agree|derived|'graded'|edge|contested")
_OF_RUNS: Final = (
    "computed from the recorded runs; `benchproof explain <run path>` derives each of them again"
)
#: Tables that are computed from those alone, and how.
_DERIVED: Final = {
    "reconciliation": "its rows and evals are the manifest and the evaluations that the script counts",
    **dict.fromkeys(
        ("run_fields", "readings", "models", "estimates", "strata", "comparisons", "record_checks"),
        _OF_RUNS,
    ),
}
_OBSERVED: Final = frozenset(
    "handles runnable objects contents files data_findings traffic".split()
)
#: What to open where counting needs more than twenty lines.
_OPEN: Final = {
    "pins": "`git ls-remote` of the repository says where the ref stands now; the commit itself is above",
    "licences": "the licence file at the commit, against the text at apache.org/licenses/LICENSE-2.0.txt",
    "published": "the files in results/ and the README at the commit hold the published numbers",
    "published_checks": "the files in results/ and the README at the commit hold the published numbers",
    "findings": "each finding has an explanation of its own: `benchproof explain <finding id>`",
    "claims": "each claim has an explanation of its own: `benchproof explain <claim id>`",
}


def claim(report: Report, row: Row) -> Page:
    """Return the explanation of a row of the claims table."""
    page = Page(f"claim {row['claim_id']}")
    page.section("What it says", _said(row))
    found, problem = _definition(row["claim_id"])
    if found is None:
        page.section("Rule", [problem])
        return page
    page.section(
        "Rule",
        _rule(report, "claims", "check_claims asks it; config/claims.yaml holds the query"),
    )
    used = _asked(page, report, found.query, row["observed"], open=row["status"] == "not_checked")
    repos = _repositories(report, row["repos"])
    page.section("What it rests on", _evidence(report, used, repos))
    _refutation(page, report, found.query, used, repos)
    return page


def number(report: Report, figure: Figure) -> Page:
    """Return the explanation of a number of the report."""
    page = Page(f"number {figure.id}")
    page.section("What it says", [f"{word(figure.value)}: {figure.meaning}"])
    page.section(
        "Rule", _rule(report, figure.tables[0], f"{figure.rule} made the first of its tables")
    )
    shown = None if figure.value is None else claiming.shown(figure.value)
    used = _asked(page, report, figure.query, shown)
    repos = [figure.repo] if figure.repo else list(report.pins)
    page.section("What it rests on", [*_evidence(report, used, repos), *map(_path, figure.paths)])
    _refutation(page, report, figure.query, used, repos)
    return page


def _path(path: str) -> str:
    return f"in particular {path}"


def _said(row: Row) -> Iterator[str]:
    yield f"{row['source']}, {row['as_of']}: {row['says']}"
    yield f"kind: {row['kind']}; expected {row['expected']}, observed {word(row['observed'])}"
    meaning = dictionary.STATUSES["claims"].get(row["status"], "a status of another version")
    yield f"status: {row['status']}: {meaning}"
    if row["reason"]:
        yield f"reason: {row['reason']}: {dictionary.reason(row['reason']) or 'a code of another version'}"


def _definition(claim_id: str) -> tuple[claiming.Claim | None, str]:
    try:
        found = _definitions().get(claim_id)
    except ConfigError as error:
        return None, str(error)
    return found, "config/claims.yaml of this version has no such claim; the report's own had."


@cache
def _definitions() -> dict[str, claiming.Claim]:
    return {item.id: item for item in claiming.load(CLAIMS)}


def _rule(report: Report, table: str, told: str) -> Iterator[str]:
    yield f"workflow: {told}; code {str(report.made(table).get('code', 'not known'))[:12]}"


def _asked(
    page: Page, report: Report, query: str, before: str | None, *, open: bool = False
) -> set[str]:
    """Add the query and what it gives just now; return the tables that it names.

    What an open claim's query gives is not counted, and not said: it would pass for an observation.
    """
    told = "it is not counted, for the reason above" if open else _again(report, query, before)
    page.section("Arithmetic", [f"the value of this query over the report's tables; {told}"])
    page.script([f"    {line}" for line in query.strip().splitlines()])
    return _used(query)


def _again(report: Report, query: str, before: str | None) -> str:
    """Say what a query gives just now, and whether the report says so."""
    from benchproof.analysis.query import RefusedQueryError

    try:
        value = report.asked(_used(query)).value(query)
    except (RefusedQueryError, TableError) as error:
        return f"it could not be asked again: {error}"
    again = None if value is None else claiming.shown(value)
    same = "as in the report" if again == before else f"the report says {word(before)}"
    return f"asked again just now it gives {word(again)}, {same}"


def _used(query: str) -> set[str]:
    """Return the tables that a query names; none for one that is refused."""
    from benchproof.analysis.query import RefusedQueryError, tables_named

    try:
        return tables_named(query)
    except RefusedQueryError:
        return set()


def _repositories(report: Report, named: Sequence[str]) -> list[str]:
    """Return the audited repositories that a claim names, by owner/name or by name."""
    return [repo for repo in report.pins if repo in named or repo.split("/", 1)[1] in named]


def _evidence(report: Report, used: set[str], repos: Sequence[str]) -> Iterator[str]:
    for repo in repos:
        commit = report.pins[repo]["commit_sha"]
        yield f"{repo} at commit {commit or 'not known'}, {_folders(report, repo)}"
    for name in sorted(used):
        if not report.has(name):
            yield f"{name}: not in this report"
            continue
        by_repo = "repo" in _columns(name)
        rows = sum(report.count(name, repo) for repo in repos) if by_repo else report.count(name)
        yield f"{name}: {many(rows, 'row')}{' of these' if by_repo else ''}, made by {MADE_BY[name]}"
    if altered := report.altered(tuple(sorted(used))):
        yield f"NOT what the seal says: {', '.join(altered)}"


def _columns(name: str) -> list[str]:
    from benchproof import tables

    names: list[str] = tables.SPECS[name].schema.names
    return names


def _folders(report: Report, repo: str) -> str:
    evals, runs = _places(report, repo)
    return f"{evals}/ and {runs}/"


def _places(report: Report, repo: str) -> tuple[str, str]:
    """Return the folders of evaluations, as it was found, and of runs."""
    member = report.member(repo)
    found = [row["folder"] for row in report.rows("reconciliation", repo=repo)]
    return next((folder for folder in found if folder), member["evals"]), member["runs"]


def _refutation(
    page: Page, report: Report, query: str, used: set[str], repos: Sequence[str]
) -> None:
    read = [repo for repo in repos if report.pins[repo]["commit_sha"]]
    counted = bool(used & (_COUNTED | _DERIVED.keys())) and bool(read)
    again = (
        "runs" in used and bool(_DERIVING.search(query)) and all(_numeric(report, r) for r in read)
    )
    page.section("How to refute it", _told(used, counted=counted, again=again))
    if not counted:
        return
    scripts = [_script(report, repo, again=again) for repo in read]
    page.script(scripts[0])
    if len(scripts) > 1:
        page.section(
            "For the other repositories these two lines take the place of the first two", [" "]
        )
        for lines in scripts[1:]:
            page.script(lines[:2])


def _script(report: Report, repo: str, *, again: bool) -> list[str]:
    where = report.remote(repo), report.pins[repo]["commit_sha"], *_places(report, repo)
    if again:
        modes = {row["mode"] for row in report.rows("tolerances", repo=repo)}
        return refute.regraded(*where, modes)
    return refute.recount(*where)


def _numeric(report: Report, repo: str) -> bool:
    """True when one script derives all verdicts of a repository: they are of numbers, and can be read."""
    rows = report.rows("runs", repo=repo)
    wanted = ("graded", "no_submission", "rule_not_published", "eval_missing")
    rules = {row["rule_status"] for row in report.rows("graders", repo=repo)}
    return (
        bool(rows)
        and rules == {"published"}
        and all(
            row["status"] in wanted and row["grader_type"] in (None, "numeric_tolerance")
            for row in rows
        )
    )


def _told(used: set[str], *, counted: bool, again: bool) -> Iterator[str]:
    if counted:
        yield "Paste into a shell; it needs git and Python and fetches the commit itself."
    if again:
        yield "It derives every verdict again from answers and rules: the counts must be those above."
    elif rows := sorted(used & _COUNTED):
        yield f"It counts again {', '.join(rows)}: these must be the rows above."
    if "runs" in used and not again:
        yield f"runs: what is derived in it is {_OF_RUNS}."
    for name in sorted(used & _DERIVED.keys()):
        yield f"{name}: {_DERIVED[name]}."
    for name in sorted(used & _OBSERVED):
        yield (
            f"{name}: rests on what servers answered at the rows' checked_at, which no commit holds and "
            "nothing can replay; ask again on another date: `snakemake handles sizes --config date=…`."
        )
    for name in sorted(used & _OPEN.keys()):
        yield f"{name}: not counted in twenty lines; {_OPEN[name]}."
