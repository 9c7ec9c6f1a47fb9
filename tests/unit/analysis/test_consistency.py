"""Records against themselves: each contradiction is found, and nothing is read into what is not told."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from benchproof import tables
from benchproof.analysis import consistency
from benchproof.analysis.consistency import Records, check_records, composite
from benchproof.inventory.repository import Repository
from benchproof.sources.base import RepoSpec
from benchproof.sources.objects import blob_id
from family import RepoTree
from unit.memory import Memory

SPEC = RepoSpec("demo/one", "main", "evals", "trajectories")


def record(
    scores: list[float], passed: bool, rule: str = "min_passing", vetoes: int = 0, **metrics: Any
) -> dict[str, Any]:
    told = {
        "hard_fail_triggered": ["x"] * vetoes,
        "pass_rule": rule,
        "scoring_count": len(scores),
        "scoring_passed": sum(score == 1 for score in scores),
        "scoring_total_score": float(sum(scores)),
    }
    graded = {
        "agent_answer": {"a": "é"},
        "field_scores": {f"field_{n}": score for n, score in enumerate(scores)},
        "metrics": told | metrics,
        "passed": passed,
        "score": float(sum(scores)),
    }
    return {"result": {"agent_answer": {"a": "é"}, "grader_result": graded}}


def outcomes(value: Any) -> dict[str, str]:
    said = composite(value)
    assert said is not None
    return dict(consistency.alone(said))


def test_a_consistent_composite_holds() -> None:
    assert outcomes(record([1, 0, 1], True, "all", vetoes=0) | {}) == {
        "score_is_sum": "holds",
        "counts": "holds",
        "veto": "not_checked",
        "all_pass": "fails",
    }
    assert outcomes(record([1, 1], True, "all"))["all_pass"] == "holds"
    assert outcomes(record([1, 1], False, "all", vetoes=1)) == {
        "score_is_sum": "holds",
        "counts": "holds",
        "veto": "holds",
        "all_pass": "holds",
    }


@pytest.mark.parametrize(
    ("value", "check"),
    [
        (record([1, 0.5], True, scoring_total_score=1.0), "score_is_sum"),
        (record([1, 0.5], True, scoring_count=3), "counts"),
        (record([1, 0.5], True, scoring_passed=0), "counts"),
        (record([1, 0.5], True, scoring_passed=3), "counts"),
        (record([1, 1], True, vetoes=1), "veto"),
        (record([1, 1], False, "all"), "all_pass"),
        (record([1, 0], True, "all"), "all_pass"),
    ],
    ids=["total", "count", "too-few-passed", "too-many-passed", "veto", "all-fails", "all-passes"],
)
def test_each_contradiction_is_found(value: Any, check: str) -> None:
    assert outcomes(value)[check] == "fails"


def test_a_partial_field_may_count_as_passed() -> None:
    """Which share of a field passes is not published."""
    assert outcomes(record([1, 0.5], True, scoring_passed=2))["counts"] == "holds"


def test_a_mean_is_no_contradiction_where_no_count_is_told() -> None:
    """A record of another kind of grader, whose score is the mean."""
    value = record([1, 0], False)
    value["result"]["grader_result"] |= {"metrics": {}, "score": 0.5}
    assert outcomes(value)["score_is_sum"] == "holds"
    value["result"]["grader_result"]["score"] = 0.75
    assert outcomes(value)["score_is_sum"] == "fails"


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"result": None},
        {"result": {"grader_result": None}},
        {"result": {"grader_result": {}}},
    ],
)
def test_what_is_no_composite_is_left_alone(value: Any) -> None:
    assert composite(value) is None


@pytest.mark.parametrize("bad", [None, "1", True, [], float("nan"), 10**400])
def test_odd_numbers_are_no_crash(bad: Any) -> None:
    value = record([1], True, scoring_count=bad, scoring_passed=bad, scoring_total_score=bad)
    value["result"]["grader_result"]["score"] = bad
    assert set(outcomes(value).values()) <= {"holds", "not_checked", "fails"}
    value["result"]["grader_result"]["field_scores"]["field_0"] = bad
    composite(value)


def monotone(*values: Any) -> list[str]:
    runs = {
        str(n): said for n, value in enumerate(values) if (said := composite(value)) is not None
    }
    return list(consistency.contradicted(runs).values())


def test_no_run_fails_with_as_much_as_one_that_passes() -> None:
    more: list[float] = [1, 1, 0]
    less: list[float] = [1, 0, 0]
    assert (
        monotone(record(less, True), record(more, True), record([0, 0, 0], False)) == ["holds"] * 3
    )
    assert monotone(record(less, True), record(more, False)) == ["holds", "fails"]
    assert monotone(record(less, False), record(more, True)) == ["holds", "holds"]
    assert monotone(record(less, True), record(more, False, vetoes=1)) == ["holds", "not_checked"]
    assert monotone(record(more, False), record(less, False)) == ["not_checked", "not_checked"]


ANSWER = {"b": 1.5, "a": ["é", None]}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ANSWER, indent=2),
        json.dumps(ANSWER, indent=1) + "\n",
        json.dumps(ANSWER),
        json.dumps(ANSWER, indent=4, sort_keys=True, ensure_ascii=False) + "\n",
    ],
    ids=["indent-2", "indent-1", "one-line", "sorted"],
)
def test_an_answers_file_is_known_by_its_id(text: str) -> None:
    assert consistency.is_written_as(ANSWER, blob_id(text.encode()))
    assert not consistency.is_written_as({**ANSWER, "b": 2}, blob_id(text.encode()))


def test_an_answer_that_has_no_text_is_not_told() -> None:
    assert not consistency.is_written_as({"a": "\ud800"}, "0" * 40)


def repository(*, withheld: bool = True) -> tuple[RepoTree, list[str]]:
    tree = RepoTree()
    grader = {} if withheld else {"grader": {"type": "x"}}
    tree.put_json("evals/t/one.json", {"id": "one", "task": "", "metadata": {}, **grader})
    paths = []
    for k, value in enumerate((record([1, 1], True, "all"), record([1, 1], False, "all")), 1):
        folder = f"trajectories/one/lab/m/h/r{k}"
        tree.put_json(f"{folder}/result.json", value)
        answer = value["result"]["agent_answer"]
        tree.put(f"{folder}/eval_answer.json", json.dumps(answer if k == 1 else {}, indent=2))
        paths.append(f"{folder}/result.json")
    return tree, paths


def checked(tree: RepoTree) -> Records:
    out = Records()
    check_records(
        Repository(
            SPEC, "c" * 40, Memory({path.decode(): data for path, (_, data) in tree.items()})
        ),
        out,
    )
    tables.build("record_checks", out.rows(), {})
    return out


def test_a_repository_is_counted_and_places_are_findings() -> None:
    tree, paths = repository()
    out = checked(tree)
    rows = {row["check"]: row for row in out.rows()}
    assert (rows["answer_file"]["n_holds"], rows["answer_file"]["n_not_checked"]) == (1, 1)
    assert (rows["all_pass"]["n_holds"], rows["all_pass"]["n_fails"]) == (1, 1)
    assert {(f.rule, f.path, f.pointer) for f in out.findings} == {
        ("composite_contradicts_itself", paths[1], "all_pass"),
        ("composite_contradicts_itself", paths[1], "monotone"),
    }
    assert all("field_" not in found.detail for found in out.findings)


def test_what_can_be_graded_again_is_left_to_that() -> None:
    tree, _ = repository(withheld=False)
    out = checked(tree)
    assert {row["check"] for row in out.rows()} == {"answer_file"}
    assert out.findings == []


def test_an_unreadable_run_is_left_out() -> None:
    tree, paths = repository()
    tree.put(paths[1], "{")
    assert {row["n_holds"] + row["n_not_checked"] for row in checked(tree).rows()} == {1}
    assert copy.deepcopy(checked(tree).findings) == []


def test_counts_larger_than_any_float_are_survived() -> None:
    said = composite(record([1, 0], True, scoring_passed=10**400))
    assert said is not None
    assert consistency.contradicted({"a": said}) == {"a": "holds"}
