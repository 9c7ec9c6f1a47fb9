"""A figure is an id, a value and the one query that gives it: they cannot part."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchproof.analysis.query import Tables
from benchproof.inventory.repository import not_read
from benchproof.report.figures import RULES, figures
from benchproof.report.measures import MOST_MODELS, MOST_PATHS, USED, short_names
from benchproof.tables import SPECS
from conftest import ROOT
from reports import COMMIT, alike, counted, filled, pin, read, row, write

WRITES = re.compile(
    r"^rule (\w+):((?:\n(?!rule ).*)*?\n    output:(?:\n        .*)+)", re.MULTILINE
)
OUTPUT = re.compile(r'AUDIT\.result\("(\w+)"\)')


def run(number: int, **values: Any) -> dict[str, Any]:
    path = f"trajectories/e{number % 3}/p/m/h/r{number}/result.json"
    given = {"run_path": path, "eval_id": f"e{number % 3}", "status": "graded", "model": "m"}
    return row("runs", **{**given, "harness": "h", "passed_agrees": True, **values})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A report of two repositories, one of which could not be read."""
    nothing = {"status": "no_submission", "passed_agrees": None}
    published = {"path": "r.csv", "place": "1", "check": "thirds", "against": "", "subject": ""}
    published |= {"status": "fails"}
    return write(
        tmp_path,
        pins=[pin(), pin("demo/two", status="unknown", reason="dns", commit_sha=None)],
        reconciliation=[counted(evals=3, orphans=1), not_read("demo/two", "dns")],
        evals=[row("evals", path=f"{form}.json", grader_form=form) for form in ("grader", "none")],
        eval_handles=[row("eval_handles", eval_id=e, handle=h) for e, h in ("ax", "bx", "by")],
        handles=[row("handles", handle=h, status=s) for h, s in (("x", "reachable"), ("y", "unknown"))],
        objects=[row("objects", handle=h, status=s) for h, s in (("x", "throttled"), ("y", "unknown"))],
        runs=[run(0), run(1, passed_agrees=False), run(2, edge="on_bound"), run(3, **nothing)],
        models=[row("models", model="m", harness="h", n_evals=3, n_runs=4, accuracy=0.1)],
        readings=[row("readings", reading="bounds", runs=3, applies=1, verdicts_changed=0, fields_changed=2)],
        findings=[row("findings", finding_id="a.1", severity="major", path="README.md")],
        published_checks=[row("published_checks", **published)],
        record_checks=[row("record_checks", check="composite", n_holds=5, n_fails=1, n_not_checked=0)],
        claims=[row("claims", claim_id="c", status="drifted", kind="observation")],
    )  # fmt: skip


def test_every_value_is_what_its_query_gives(folder: Path) -> None:
    """Asked again one by one, and looked through as a claim's query is."""
    found = figures(folder)
    asked = Tables(folder, SPECS)
    assert len(found) > 150
    for one in found.values():
        assert asked.value(one.query) == one.value, one
        assert asked.used(one.query) == set(one.tables), one


def test_ids_are_of_the_alphabet_and_say_where_they_belong(folder: Path) -> None:
    found = figures(folder)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", key) for key in found)
    assert all(one.id == key and one.meaning for key, one in found.items())
    assert {key.split(".")[0] for key in found} == {"family", "one", "two"}


def test_a_figure_names_what_it_rests_on(folder: Path) -> None:
    found = figures(folder)
    differ = found["one.runs.differ"]
    assert (differ.value, differ.paths) == (1, ("trajectories/e1/p/m/h/r1/result.json",))
    assert (differ.repo, differ.commit, differ.rule) == ("demo/one", COMMIT, "regrade_runs")
    assert found["one.models.m.h.accuracy"].value == 0.1
    assert found["one.models.m.h.accuracy"].paths == tuple(
        f"trajectories/e{n}/p/m/h" for n in range(3)
    )
    assert found["one.findings.major"].paths == ("README.md",)
    assert found["one.evals"].paths == ("evals",)
    assert (found["family.runs"].repo, found["family.runs"].commit) == (None, None)
    assert found["two.runs"].commit is None


def test_what_is_not_known_is_null_and_no_zero(folder: Path) -> None:
    """Law 3"""
    found = figures(folder)
    for name in ("rows", "evals", "files", "orphans", "dangling", "graders", "handles"):
        assert found[f"two.{name}"].value is None, name
    assert (found["family.evals"].value, found["one.models.m.h.ci_low"].value) == (3, None)


def test_texts_and_figures_count_alike(folder: Path) -> None:
    alike(read(folder), figures(folder))


def test_names_that_queries_and_ids_could_choke_on(tmp_path: Path) -> None:
    """A model may be called random(), hold a quote or a dot; two such names never share an id."""
    names = ["random()", "o'now", "a.b", "a b", "a/b", "--", "NA", "null", "", 'say "now"']
    pairs = [(name, "h") for name in names] + [("a", "b.h")]
    models = [row("models", model=m, harness=h, n_evals=n) for n, (m, h) in enumerate(pairs)]
    runs = [
        run(n, run_path=f"t/{n}/r/result.json", model=m, harness=h, grader_version=m)
        for n, (m, h) in enumerate(pairs)
    ]
    found = figures(write(tmp_path, models=models, runs=runs))
    of_models = [one for key, one in found.items() if ".models." in key and ".n_evals" in key]
    assert sorted(one.value for one in of_models if isinstance(one.value, int)) == list(
        range(len(pairs))
    )
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", key) for key in found)
    assert found["one.models.NA.h.n_evals"].value == names.index("NA")


def test_a_report_of_one_stage_has_the_figures_of_its_tables(tmp_path: Path) -> None:
    write(tmp_path)
    for name in set(SPECS) - {"pins", "reconciliation"}:
        (tmp_path / f"{name}.parquet").unlink()
    found = figures(tmp_path)
    assert found["one.evals"].value == 1
    assert {table for one in found.values() for table in one.tables} == {"pins", "reconciliation"}


def test_ids_keep_repositories_of_one_name_apart() -> None:
    found = short_names(["a/one", "b/one", "a/two", "a/family"])
    assert found == {"a/one": "a.one", "b/one": "b.one", "a/two": "two", "a/family": "a.family"}


def test_there_is_an_end_to_what_a_repository_can_make_figures_of(tmp_path: Path) -> None:
    many = [row("models", model=f"m{n:04}", harness="h") for n in range(MOST_MODELS + 50)]
    runs = [run(n, passed_agrees=False) for n in range(MOST_PATHS + 5)]
    found = figures(write(tmp_path, models=many, runs=runs))
    assert sum(key.endswith(".accuracy") for key in found) == MOST_MODELS
    assert len(found["one.runs.differ"].paths) == MOST_PATHS


def test_every_table_has_the_rule_that_writes_it() -> None:
    text = "\n".join(path.read_text() for path in sorted((ROOT / "rules").glob("*.smk")))
    made = {
        name: rule
        for rule, body in WRITES.findall(text)
        for name in OUTPUT.findall(body.split("output:")[-1])
        if name in SPECS
    }
    assert made == dict(RULES)
    assert set(USED) <= set(RULES)


def test_rows_of_every_table_give_figures(tmp_path: Path) -> None:
    """Whatever stands in them: nothing that upstream wrote stops a report."""
    rows = {name: [filled(name, "<b>'x'</b> random()")] for name in SPECS}
    found = figures(write(tmp_path, **{**rows, "pins": [pin()]}))
    assert any(".models." in key for key in found)
