"""What a report measures: ids, meanings and queries of its figures; report/figures.py gives their values.

An id is made of a repository's name or `family`, and of what is measured: scbench.runs.agree. Letters that
an id must not hold become hyphens, and a few digits of a digest keep two such names apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from benchproof.outputs import OPEN
from benchproof.report.dictionary import COLUMNS, STATUSES
from benchproof.severity import SEVERITIES

if TYPE_CHECKING:
    from benchproof.analysis.query import Tables

#: The tables that figures are measured over.
USED: Final = (
    "pins reconciliation evals eval_handles licences handles runnable objects contents files runs readings "
    "models comparisons record_checks published_checks claims findings data_findings traffic"
).split()
#: Pairs of model and harness that get figures of their own; beyond, their table alone is shown.
MOST_MODELS: Final = 300
#: Paths that a figure names at most.
MOST_PATHS: Final = 20
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_OPEN = ", ".join(f"'{word}'" for word in OPEN)
_READ = "(SELECT status FROM reconciliation WHERE repo = {repo}) <> 'not_read'"
_MODEL_COLUMNS = "n_evals n_runs n_passed n_missing accuracy accuracy_all ci_low ci_high".split()
_READING_COLUMNS = "runs applies verdicts_changed fields_changed".split()


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure before it has a value; `places` is a query that lists the paths it rests on."""

    id: str
    meaning: str
    query: str
    tables: tuple[str, ...]
    repo: str | None = None
    places: str | None = None


#: id, meaning, tables, query, places; {repo} stands for the repository.
_FOLDER = "SELECT folder FROM reconciliation WHERE repo = {repo} AND folder IS NOT NULL"
_RECORDS = "SELECT DISTINCT split_part(run_path, '/', 1) FROM runs WHERE repo = {repo}"
_LICENCES = "SELECT path FROM licences WHERE repo = {repo} AND path IS NOT NULL"
_OF_A_REPOSITORY: Final = (
    *(
        (
            name,
            COLUMNS["reconciliation"][name],
            "reconciliation",
            f"SELECT {name} FROM reconciliation WHERE repo = {{repo}}",
            _FOLDER,
        )
        for name in ("rows", "evals", "files", "orphans", "dangling", "duplicates")
    ),
    (
        "graders",
        "evaluations that publish a grading rule; null when the repository was not read",
        "evals reconciliation",
        f"SELECT CASE WHEN {_READ} THEN count(*) FILTER (WHERE grader_form IN ('grader', 'graders')) END "
        "FROM evals WHERE repo = {repo}",
        _FOLDER,
    ),
    (
        "handles",
        "distinct data handles that its evaluations name; null when the repository was not read",
        "eval_handles reconciliation",
        f"SELECT CASE WHEN {_READ} THEN count(DISTINCT handle) END FROM eval_handles "
        "WHERE repo = {repo}",
        _FOLDER,
    ),
    *(
        (
            f"handles.{status}",
            f"those of its handles that are {status}",
            "handles eval_handles",
            f"SELECT count(*) FROM handles WHERE status = '{status}' "
            "AND handle IN (SELECT handle FROM eval_handles WHERE repo = {repo})",
            _FOLDER,
        )
        for status in ("reachable", "refused")
    ),
    (
        "runnable",
        "evaluations all of whose data can be had",
        "runnable",
        "SELECT count(*) FROM runnable WHERE repo = {repo} AND runnable = 'all'",
        _FOLDER,
    ),
    (
        "runnable.evals",
        "evaluations whose data was asked for",
        "runnable",
        "SELECT count(*) FROM runnable WHERE repo = {repo}",
        _FOLDER,
    ),
    (
        "licence",
        COLUMNS["licences"]["class"],
        "licences",
        "SELECT string_agg(DISTINCT class, ', ' ORDER BY class) FROM licences WHERE repo = {repo}",
        _LICENCES,
    ),
    (
        "runs.evals",
        "evaluations with a graded run: how far the verdicts reach",
        "runs",
        "SELECT count(DISTINCT eval_id) FROM runs WHERE repo = {repo} AND status = 'graded'",
        _RECORDS,
    ),
)
#: id, meaning, condition: runs that are counted, of a repository and of the family.
_RUNS: Final = (
    ("runs", "recorded runs", "true"),
    (
        "runs.agree",
        "graded runs whose recorded verdict is that of the published rule",
        "status = 'graded' AND passed_agrees",
    ),
    (
        "runs.differ",
        "graded runs whose recorded verdict is not that of the published rule",
        "status = 'graded' AND NOT passed_agrees",
    ),
    (
        "runs.incomparable",
        "graded runs that lack one of the two verdicts",
        "status = 'graded' AND passed_agrees IS NULL",
    ),
    ("runs.score_differs", "runs whose recorded score is another", "NOT score_agrees"),
    ("runs.fields_differ", "runs of which a field's score is another", "NOT fields_agree"),
    ("runs.on_bound", "runs with a graded value exactly on a bound", "edge = 'on_bound'"),
    (
        "runs.within_ulp",
        "runs with a graded value within one floating-point step of a bound",
        "edge = 'within_ulp'",
    ),
    ("runs.contested", COLUMNS["runs"]["contested"], "contested"),
    *(
        (f"runs.{status}", f"recorded runs: {text}", f"status = '{status}'")
        for status, text in STATUSES["runs"].items()
    ),
)
#: What is named run by run.
_FEW: Final = frozenset(
    f"runs.{name}"
    for name in "differ score_differs fields_differ on_bound within_ulp contested".split()
)
_SNAPSHOTS = "FROM objects WHERE container = 'hdf5' AND size_bytes IS NOT NULL"
#: id, meaning, tables, query.
_OF_THE_FAMILY: Final = (
    (
        "repositories",
        "repositories whose commit is known",
        "pins",
        "SELECT count(*) FROM pins WHERE commit_sha IS NOT NULL",
    ),
    *(
        (
            name,
            f"{COLUMNS['reconciliation'][name]}; the sum of what is known",
            "reconciliation",
            f"SELECT coalesce(sum({name}), 0) FROM reconciliation",
        )
        for name in ("rows", "evals", "files", "orphans", "dangling")
    ),
    (
        "graders",
        "evaluations that publish a grading rule",
        "evals",
        "SELECT count(*) FROM evals WHERE grader_form IN ('grader', 'graders')",
    ),
    (
        "withheld",
        "evaluation files that publish no grading rule",
        "evals",
        "SELECT count(*) FROM evals WHERE grader_form = 'none'",
    ),
    (
        "handles",
        "distinct data handles that evaluations name",
        "eval_handles",
        "SELECT count(DISTINCT handle) FROM eval_handles",
    ),
    (
        "handles.asked",
        "distinct handles that were asked for",
        "handles",
        "SELECT count(*) FROM handles",
    ),
    (
        "handles.reachable",
        "handles that anybody gets a link for",
        "handles",
        "SELECT count(*) FROM handles WHERE status = 'reachable'",
    ),
    (
        "handles.refused",
        "handles that the signer refuses",
        "handles",
        "SELECT count(*) FROM handles WHERE status = 'refused'",
    ),
    (
        "runnable",
        "evaluations all of whose data can be had",
        "runnable",
        "SELECT count(*) FROM runnable WHERE runnable = 'all'",
    ),
    (
        "runnable.evals",
        "evaluations whose data was asked for",
        "runnable",
        "SELECT count(*) FROM runnable",
    ),
    (
        "runnable.unknown",
        "evaluations of which it is not known whether they can be run",
        "runnable",
        "SELECT count(*) FROM runnable WHERE runnable = 'unknown'",
    ),
    (
        "runs.evals",
        "evaluations with a graded run: how far the verdicts reach",
        "runs",
        "SELECT count(DISTINCT (repo, eval_id)) FROM runs WHERE status = 'graded'",
    ),
    ("snapshots", ".h5ad objects of a known size", "objects", f"SELECT count(*) {_SNAPSHOTS}"),
    (
        "snapshots.bytes",
        "what the .h5ad objects weigh together, in bytes",
        "objects",
        f"SELECT coalesce(sum(size_bytes), 0) {_SNAPSHOTS}",
    ),
    (
        "snapshots.looked_into",
        "objects that were looked into",
        "contents",
        "SELECT count(*) FROM contents WHERE status = 'ok'",
    ),
    (
        "snapshots.fetched",
        "chosen snapshots that were brought and proven",
        "files",
        "SELECT count(*) FROM files WHERE status = 'ok'",
    ),
    ("claims", "claims of sources about the family", "claims", "SELECT count(*) FROM claims"),
    *(
        (
            f"claims.{status}",
            f"claims: {text}",
            "claims",
            f"SELECT count(*) FROM claims WHERE status = '{status}'",
        )
        for status, text in STATUSES["claims"].items()
    ),
    (
        "requests",
        "requests that this audit made",
        "traffic",
        "SELECT coalesce(sum(requests), 0) FROM traffic",
    ),
    (
        "requests.bytes",
        "bytes that arrived for this audit",
        "traffic",
        "SELECT coalesce(sum(bytes_in), 0) FROM traffic",
    ),
)


def measures(tables: Tables) -> list[Measure]:
    """Return what can be measured of a report's tables, in the order of the page."""
    names = short_names(repo for (repo,) in tables.listed("SELECT repo FROM pins ORDER BY repo"))
    found = [
        *_family(),
        *(one for repo, name in names.items() for one in _repository(repo, name)),
        *_readings(tables),
        *_builds(tables),
        *_unasked(tables),
        *_models(tables, names),
        *_checks(tables, names),
    ]
    return _distinct(found)


def short_names(repos: Iterable[str]) -> dict[str, str]:
    """Return the name of each repository in ids: without its owner where that is clear."""
    listed = list(repos)
    alone = [repo.split("/", 1)[-1] for repo in listed]
    return {
        repo: part(name if alone.count(name) == 1 and name != "family" else repo.replace("/", "."))
        for repo, name in zip(listed, alone, strict=True)
    }


def part(text: str) -> str:
    """Return a text as a part of an id: of letters, digits, dots, underscores and hyphens."""
    plain = _ODD.sub("-", text).strip("-.") or "x"
    return plain if plain == text else f"{plain[:40]}-{_digest(text)}"


def literal(text: str | None) -> str:
    """Return a text as SQL compares with it, the comparison included."""
    return "IS NULL" if text is None else "= '" + text.replace("'", "''") + "'"


def _family() -> Iterator[Measure]:
    for key, meaning, tables, query in _OF_THE_FAMILY:
        yield Measure(f"family.{key}", meaning, query, tuple(tables.split()))
    yield from _runs("family", None)
    yield from _findings("family", None)
    seen = ""
    stages = ("handles", "objects", "contents", "files")
    for table in stages:
        query = f"SELECT count(DISTINCT handle) FROM {table} WHERE status IN ({_OPEN}){seen}"
        meaning = (
            f"{table} about which something stayed unknown, and of which no earlier stage says so"
        )
        earlier = stages[: stages.index(table)]
        yield Measure(f"family.{table}.unknown", meaning, query, (table, *earlier))
        seen += f" AND handle NOT IN (SELECT handle FROM {table} WHERE status IN ({_OPEN}))"


def _repository(repo: str, name: str) -> Iterator[Measure]:
    quoted = literal(repo).removeprefix("= ")
    for key, meaning, tables, query, places in _OF_A_REPOSITORY:
        used = tuple(tables.split())
        text, where = query.replace("{repo}", quoted), places.replace("{repo}", quoted)
        yield Measure(f"{name}.{key}", meaning, text, used, repo, where)
    yield from _runs(name, repo)
    yield from _findings(name, repo)
    yield from _comparisons(name, repo)


def _runs(name: str, repo: str | None) -> Iterator[Measure]:
    scope = f" AND repo {literal(repo)}" if repo else ""
    for key, meaning, condition in _RUNS:
        tail = f"FROM runs WHERE {condition}{scope}"
        places = None
        if repo and key in _FEW:
            places = f"SELECT run_path {tail} ORDER BY run_path LIMIT {MOST_PATHS}"
        elif repo:
            places = _RECORDS.replace("{repo}", literal(repo).removeprefix("= "))
        yield Measure(f"{name}.{key}", meaning, f"SELECT count(*) {tail}", ("runs",), repo, places)


def _findings(name: str, repo: str | None) -> Iterator[Measure]:
    for table, head in (("findings", "findings"), ("data_findings", "data_findings")):
        for severity in ("", *SEVERITIES):
            terms = [f"severity = '{severity}'"] if severity else []
            terms += [f"repo {literal(repo)}"] if repo else []
            tail = f"FROM {table}" + (f" WHERE {' AND '.join(terms)}" if terms else "")
            key = f"{name}.{head}.{severity}" if severity else f"{name}.{head}"
            meaning = "what is wrong in the " + ("publication" if table == "findings" else "data")
            meaning += f", {severity} findings" if severity else ", all findings"
            places = None
            if repo:
                places = f"SELECT DISTINCT path {tail} AND path IS NOT NULL ORDER BY path"
                places += f" LIMIT {MOST_PATHS}"
            yield Measure(key, meaning, f"SELECT count(*) {tail}", (table,), repo, places)


def _comparisons(name: str, repo: str) -> Iterator[Measure]:
    tail = f"FROM comparisons WHERE repo {literal(repo)}"
    for key, meaning, query in (
        (
            "pairs",
            "pairs of models, compared by the evaluations both have",
            f"SELECT count(*) {tail}",
        ),
        (
            "apart",
            "pairs that differ at 5 % after Holm's correction for all of them",
            f"SELECT count(*) {tail} AND p_holm <= 0.05",
        ),
        (
            "evals",
            "evaluations of the pair that has most",
            f"SELECT coalesce(max(n_evals), 0) {tail}",
        ),
    ):
        places = _RECORDS.replace("{repo}", literal(repo).removeprefix("= "))
        yield Measure(f"{name}.comparisons.{key}", meaning, query, ("comparisons",), repo, places)


def _readings(tables: Tables) -> Iterator[Measure]:
    for (reading,) in _keys(tables, "readings", "reading"):
        for column in _READING_COLUMNS:
            query = f"SELECT {column} FROM readings WHERE reading {literal(reading)}"
            meaning = COLUMNS["readings"][column]
            yield Measure(
                f"family.readings.{part(reading)}.{column}", meaning, query, ("readings",)
            )


def _builds(tables: Tables) -> Iterator[Measure]:
    for (build,) in _keys(tables, "runs", "DISTINCT grader_version", "status = 'graded'"):
        tail = f"FROM runs WHERE status = 'graded' AND grader_version {literal(build)}"
        key = f"family.builds.{part(build or 'not_recorded')}"
        said = f"the grader's build {build}" if build else "a grader whose build is not recorded"
        yield Measure(
            f"{key}.graded", f"graded runs of {said}", f"SELECT count(*) {tail}", ("runs",)
        )
        yield Measure(
            f"{key}.agree",
            f"graded runs of {said} whose recorded verdict follows",
            f"SELECT count(*) {tail} AND passed_agrees",
            ("runs",),
        )


def _unasked(tables: Tables) -> Iterator[Measure]:
    for (reason,) in _keys(tables, "claims", "DISTINCT reason", "status = 'not_checked'"):
        query = (
            f"SELECT count(*) FROM claims WHERE status = 'not_checked' AND reason {literal(reason)}"
        )
        meaning = f"claims that could not be checked: {reason}"
        key = f"family.claims.not_checked.{part(str(reason))}"
        yield Measure(key, meaning, query, ("claims",))


def _models(tables: Tables, names: dict[str, str]) -> Iterator[Measure]:
    pairs = _keys(tables, "models", "repo, model, harness")
    for repo, model, harness in pairs[:MOST_MODELS]:
        pair = f"repo {literal(repo)} AND model {literal(model)} AND harness {literal(harness)}"
        folder = "SELECT DISTINCT regexp_replace(run_path, '(/[^/]+){2}$', '') AS folder"
        places = f"{folder} FROM runs WHERE {pair} ORDER BY folder LIMIT {MOST_PATHS}"
        key = f"{names.get(repo, part(repo))}.models.{part(model or 'null')}.{part(harness or 'null')}"
        for column in _MODEL_COLUMNS:
            query = f"SELECT {column} FROM models WHERE {pair}"
            meaning = f"{model}, driven by {harness}: {COLUMNS['models'][column]}"
            yield Measure(f"{key}.{column}", meaning, query, ("models",), repo, places)


def _checks(tables: Tables, names: dict[str, str]) -> Iterator[Measure]:
    statuses = ("holds", "fails", "not_checked")
    for repo, check in _keys(tables, "published_checks", 'DISTINCT repo, "check"'):
        for status in statuses:
            tail = f'FROM published_checks WHERE repo {literal(repo)} AND "check" {literal(check)}'
            tail += f" AND status = '{status}'"
            yield Measure(
                f"{names.get(repo, part(repo))}.published.{part(check)}.{status}",
                f"published numbers, {check}: {STATUSES['published_checks'][status]}",
                f"SELECT count(*) {tail}",
                ("published_checks",),
                repo,
                f"SELECT DISTINCT path {tail} AND path IS NOT NULL ORDER BY path LIMIT {MOST_PATHS}",
            )
    for repo, check in _keys(tables, "record_checks", 'repo, "check"'):
        for status in statuses:
            query = f"SELECT n_{status} FROM record_checks WHERE repo {literal(repo)}"
            yield Measure(
                f"{names.get(repo, part(repo))}.records.{part(check)}.{status}",
                f"recorded runs against themselves, {check}: {COLUMNS['record_checks'][f'n_{status}']}",
                f'{query} AND "check" {literal(check)}',
                ("record_checks",),
                repo,
                _RECORDS.replace("{repo}", literal(repo).removeprefix("= ")),
            )


def _keys(
    tables: Tables, table: str, columns: str, condition: str = "true"
) -> list[tuple[str, ...]]:
    if table not in tables.names:
        return []
    order = ", ".join(str(n + 1) for n in range(columns.count(",") + 1))
    query = f'SELECT {columns} FROM "{table}" WHERE {condition} ORDER BY {order} NULLS FIRST'
    return tables.listed(query)


def _distinct(found: list[Measure]) -> list[Measure]:
    """Return the measures with ids of their own: two names may come to one where they hold dots."""
    seen: set[str] = set()
    kept = []
    for one in found:
        key = one.id if one.id not in seen else f"{one.id}-{_digest(one.query)}"
        seen.add(key)
        kept.append(Measure(key, one.meaning, one.query, one.tables, one.repo, one.places))
    return kept


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
