"""Published results of a whole repository: rows that fit their tables, and one finding per place and kind."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from benchproof import tables
from benchproof.analysis.published.repository import Published, Recorded, check_repository
from benchproof.findings import rows
from benchproof.inventory.repository import Repository
from benchproof.rulebook import RULES
from benchproof.sources.base import RepoSpec
from family import RepoTree
from family.published import FullSet, Results, contradict_total, write_tables
from unit.memory import Memory

SPEC = RepoSpec("demo/one", "main", "evals", "trajectories")
NAMES = ("NA", "NaN", "null", "None", "TP53", "1E5", "SEPT1")
FULL = FullSet({"a": 4, "b": 6}, {"p": 3, "q": 7})


def results() -> Results:
    made = Results(FULL)
    categories, platforms = "aaaabbbbbb", "pqpqpqqqqq"
    for number, model in enumerate(("opus", "sage")):
        passed = [(n + number) % 4 for n in range(10)]
        made.outcomes[("lab", model, "mini")] = list(
            zip(categories, platforms, passed, strict=True)
        )
    return made


def consistent() -> RepoTree:
    tree = RepoTree()
    tree.put("README.md", "# One\n")
    write_tables(tree, results())
    return tree


def checked(tree: RepoTree, recorded: Recorded | None = None) -> Published:
    out = Published()
    repository = Repository(
        SPEC, "c" * 40, Memory({path.decode(): data for path, (_, data) in tree.items()})
    )
    check_repository(repository, recorded or Recorded([], [], []), out)
    tables.build("published", out.scores, {})
    tables.build("published_checks", out.checks, {})
    rows(out.findings, RULES)
    return out


def counted(out: Published) -> Counter[tuple[str, str]]:
    return Counter((row["check"], row["status"]) for row in out.checks)


def test_consistent_tables_hold_everywhere() -> None:
    out = checked(consistent())
    assert out.findings == []
    assert {row["status"] for row in out.scores} == {"ok"}
    found = counted(out)
    assert {status for _, status in found} == {"holds", "not_checked"}
    assert found[("total", "holds")] == 4
    assert found[("tables", "holds")] == 2
    assert found[("sizes", "holds")] == 2


def test_the_planted_contradiction_is_one_finding_at_its_row() -> None:
    """One run too many in CSV and README: both axes say so, and the README agrees with its file."""
    tree = consistent()
    place = contradict_total(tree)
    out = checked(tree)
    (found,) = out.findings
    assert (found.rule, found.path, found.pointer) == (
        "published_total_differs",
        "results/model_results.csv",
        place,
    )
    assert found.detail.count("of 30, the sum over") == 2
    wrong = [row for row in out.scores if row["status"] != "ok"]
    assert [(row["place"], row["status"], row["reason"]) for row in wrong] == [
        ("row 1", "contradicted", "fails_total")
    ]


def test_a_readme_that_was_not_updated_is_found() -> None:
    tree = consistent()
    text = tree.text("README.md").decode()
    line = next(line for line in text.splitlines() if line.startswith("| opus"))
    tree.put("README.md", text.replace(line, "| opus | mini | 12.34 |"))
    assert [(f.rule, f.path) for f in checked(tree).findings] == [
        ("published_tables_disagree", "README.md")
    ]


def test_seven_distinct_names_survive_into_the_table() -> None:
    """BR-47; each would be a missing value, a number or a date to a reader that guesses."""
    tree = RepoTree()
    lines = ["model,harness,Accuracy (%),N", *(f"{name},h,50.00,2" for name in NAMES)]
    tree.put("results/a.csv", "\ufeff" + "\r\n".join(lines) + "\r\n")
    out = checked(tree)
    table = tables.build("published", out.scores, {})
    assert set(table.column("model").to_pylist()) == set(NAMES)


def test_what_cannot_be_read_is_one_finding_a_file() -> None:
    tree = consistent()
    tree.put("results/bad.json", "{")
    tree.put("results/odd.json", '{"schema": 99}')
    tree.put("results/latin.csv", b"model,accuracy\ncaf\xe9,1\n")
    tree.put("results/nan.json", '{"models": [{"id": "m", "accuracy": NaN}]}')
    found = {(f.rule, f.path) for f in checked(tree).findings}
    assert found == {
        ("published_unreadable", "results/bad.json"),
        ("published_shape_unknown", "results/odd.json"),
        ("published_unreadable", "results/latin.csv"),
        ("published_not_a_number", "results/nan.json"),
    }


@pytest.mark.parametrize("odd", [10**400, -(10**400), 10**30, -5, 1e-300, True, "x", None, [], {}])
@pytest.mark.parametrize("key", ["n_evals", "accuracy", "ci_low", "n_runs"])
def test_any_number_in_a_published_file_is_survived(key: str, odd: Any) -> None:
    model = {"id": "m", "n_evals": 10, "accuracy": 50.0, "ci_low": 40, "ci_high": 60}
    about = {"n_runs": 3}
    (about if key == "n_runs" else model)[key] = odd
    tree = RepoTree()
    tree.put("results/a.json", json.dumps({"metadata": about, "models": [model]}))
    checked(tree)


def test_no_two_places_are_one() -> None:
    cell = {"passed": 50.0}
    tasks = {"a/b": {"model": {"c": cell}}, "a": {"model": {"b/c": cell}}}
    tree = RepoTree()
    tree.put("results/a.json", json.dumps({"tasks": tasks}))
    assert [row["place"] for row in checked(tree).scores] == ["/tasks/a~1b/c", "/tasks/a/b~1c"]


def test_a_table_of_thousands_of_rows_is_no_table_of_results() -> None:
    tree = RepoTree()
    tree.put("results/a.csv", "model,accuracy\n" + "m,50\n" * 2_001)
    out = checked(tree)
    assert out.scores == []
    assert [finding.rule for finding in out.findings] == ["published_shape_unknown"]


def test_names_from_files_are_printable_in_messages() -> None:
    tree = RepoTree()
    tree.put("results/a.csv", 'model,accuracy\n"a\x1b[2J\nb",none\n')
    (finding,) = checked(tree).findings
    assert finding.detail.isprintable()


def test_a_repository_without_results_has_no_rows() -> None:
    tree = RepoTree()
    tree.put("README.md", "# One\n")
    out = checked(tree)
    assert (out.scores, out.checks, out.findings) == ([], [], [])


def recorded(passed: bool, *, extra: bool = False) -> Recorded:
    """Twelve public runs of one evaluation, all passed or all failed; `extra` is outside the benchmark."""
    runs = [
        {
            "eval_id": "e",
            "model": "opus",
            "harness": "mini",
            "status": "graded",
            "recorded_passed": passed,
        }
        for _ in range(29)
    ]
    evals = [{"eval_id": "e", "task": "a", "kit": "p", "status": "ok"}]
    return Recorded([*runs], [*evals], [{"eval_id": "e", "benchmark": not extra}])


@pytest.mark.parametrize("passed", [True, False])
def test_public_runs_that_do_not_fit_are_found(passed: bool) -> None:
    out = checked(consistent(), recorded(passed))
    assert "published_public_runs_exceed" in {found.rule for found in out.findings}
    assert not checked(consistent(), recorded(passed, extra=True)).findings


def test_replicates_come_from_the_files_before_the_runs() -> None:
    tree = consistent()
    for name in ("category", "platform"):
        value: Any = tree.json(f"results/{name}_results.json")
        del value["metadata"]["n_runs"]
        tree.put(f"results/{name}_results.json", json.dumps(value))
    out = checked(tree)
    assert {row["replicates"] for row in out.scores} == {None}
    assert ("granularity", "holds") not in counted(out)
