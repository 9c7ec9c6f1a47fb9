"""What a benchmark repository holds: JSON, manifests, evaluations, runs, published tables, licences."""

from __future__ import annotations

import json
from typing import Any

from benchproof import jsontext, tables
from benchproof.analysis import consistency
from benchproof.analysis.published.repository import Published, Recorded, check_repository
from benchproof.analysis.runs import Regraded, regrade_repository
from benchproof.errors import Unreadable
from benchproof.findings import as_json
from benchproof.grading import grade
from benchproof.grading.own import grade_own
from benchproof.inventory import licences
from benchproof.inventory.apache import TEXT
from benchproof.inventory.lint.every import lint
from benchproof.inventory.lint.subject import subject_of
from benchproof.inventory.repository import (
    Repository,
    list_tree,
    project_repository,
    reconcile_repository,
)
from benchproof.sources.base import RepoSpec
from fuzz.registry import target
from fuzz.targets import seeds
from unit.memory import Memory

_SPEC = RepoSpec("demo/bench", "main", "evals", "trajectories")
_RUN = "trajectories/e1/p/m/h/r1/result.json"
_EVAL = "evals/qc/e1.json"


def _repository(files: dict[str, bytes]) -> Repository:
    return Repository(_SPEC, "a" * 40, Memory(files))


def _built(**rows: list[dict[str, Any]]) -> None:
    """Rows fit their tables, whatever they were made of."""
    for name, listed in rows.items():
        tables.build(name, listed, {})


@target(
    "json",
    lambda: [*seeds.evaluations()[:20], b'{"a": [1, 2.5e3, "\\u00e9", null]}'],
    allowed=[Unreadable],
    kind="json",
)
def _json(data: bytes) -> None:
    parsed = jsontext.loads(data)
    jsontext.canonical(parsed.value).encode()


@target("manifest", seeds.manifests, kind="json")
def _manifest(data: bytes) -> None:
    out = reconcile_repository(_repository({"evals/manifest.json": data, _EVAL: b'{"id": "e1"}'}))
    _built(manifest=out.manifest, reconciliation=[out.summary])
    as_json(out.findings)


@target("evaluation", seeds.evaluations, kind="json")
def _evaluation(data: bytes) -> None:
    repository = _repository({_EVAL: data})
    out = project_repository(repository)
    _built(evals=out.evals, eval_handles=out.eval_handles, graders=out.graders)
    _built(tolerances=out.tolerances, tree=list_tree(repository)[0])
    as_json(out.findings)


@target("lint", seeds.evaluations, kind="json")
def _lint(data: bytes) -> None:
    run = seeds.records()[0] if seeds.records() else b"{}"
    as_json(lint(subject_of(_repository({_EVAL: data, _RUN: run, "README.md": data}))))


@target("vocabulary", lambda: [b'{"labels": ["a", "b"]}', b'["a"]'], kind="json")
def _vocabulary(data: bytes) -> None:
    files = {_EVAL: seeds.evaluations()[0], "evals/qc/vocabulary.json": data}
    as_json(lint(subject_of(_repository(files))))


@target("grade", seeds.graded, allowed=[Unreadable], kind="json")
def _grade(data: bytes) -> None:
    value = jsontext.loads(data).value
    if isinstance(value, dict):
        verdict = grade(value.get("type"), value.get("config"), value.get("answer"))
        assert verdict.passed is not True or verdict.status in ("graded", "arithmetic")
        assert verdict.score is None or verdict.score == verdict.score
        grade_own({"grader": value}, value.get("answer"))


@target("record", seeds.records, kind="json")
def _record(data: bytes) -> None:
    repository = _repository({_RUN: data, "evals/e1.json": _withheld(), "evals/qc/e2.json": data})
    out, records = Regraded(), consistency.Records()
    regrade_repository(repository, out)
    consistency.check_records(repository, records)
    _built(runs=out.runs, run_fields=out.run_fields, readings=out.reading_rows())


def _withheld() -> bytes:
    return seeds.evaluations()[0].replace(b'"id"', b'"id": "e1", "other"', 1)


@target(
    "published_csv",
    lambda: [*seeds.files(".csv"), b"model,harness,accuracy,n\na,b,50.0,10\n"],
    kind="lines",
)
def _csv(data: bytes) -> None:
    _publish("results/a.csv", data)


@target(
    "published_json",
    lambda: [
        *seeds.files(".json", inside="results/"),
        b'{"models": [{"model": "a", "accuracy": {"mean": 50.0, "ci_low": 1}}], "metadata": {"n_runs": 3}}',
    ],
    kind="json",
)
def _published_json(data: bytes) -> None:
    _publish("results/a.json", data)


@target(
    "published_markdown",
    lambda: [
        *seeds.files(".md"),
        b"| Model | Accuracy | 95% CI |\n|---|---|---|\n| a | 50.0 | (40, 60) |\n",
    ],
    kind="lines",
)
def _markdown(data: bytes) -> None:
    _publish("README.md", data)


def _publish(path: str, data: bytes) -> None:
    other = b"model,harness,accuracy,n,ci_low,ci_high\na,b,50.0,10,40,60\n"
    out = Published()
    check_repository(_repository({path: data, "results/z.csv": other}), Recorded([], [], []), out)
    _built(published=out.scores, published_checks=out.checks)
    as_json(out.findings)


@target("licence", lambda: [TEXT.encode(), TEXT[:3000].encode()], kind="lines")
def _licence(data: bytes) -> None:
    rows, found = licences.check(_repository({"LICENSE": data}))
    _built(licences=rows)
    as_json(found)


@target(
    "paths",
    lambda: [
        json.dumps([p.decode("utf-8", "replace") for p in tree[-1]][:40]).encode()
        for tree in seeds.drafted().trees.values()
    ],
    allowed=[Unreadable],
    kind="json",
)
def _paths(data: bytes) -> None:
    value = jsontext.loads(data).value
    names = [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
    repository = _repository({name: b"{}" for name in names[:60] if name})
    rows, found = list_tree(repository)
    _built(tree=rows)
    as_json([*found, *lint(subject_of(repository))])
    project_repository(repository)
