"""Re-grading the runs of a repository: each run is one row, each contradiction a finding."""

from __future__ import annotations

import copy
import gc
import json
from collections.abc import Callable
from typing import Any

import pytest

from benchproof.analysis.runs import Regraded, regrade_repository
from benchproof.findings import as_json, rows
from benchproof.inventory.repository import Repository
from benchproof.sources.base import RepoSpec
from benchproof.tables import build
from unit.memory import Memory

PLACE = "trajectories/one/openai/gpt-x/mini/r1/result.json"
CONFIG = {
    "ground_truth": {"n": 100, "m": 7},
    "tolerances": {"n": {"value": 5}, "m": {"lower": 1, "upper": 2}},
}
EVALS: dict[str, Any] = {
    "one": {"grader": {"type": "numeric_tolerance", "config": CONFIG}},
    "withheld": {},
    "choice": {"grader": {"type": "list_match", "config": {}}},
    "unknown": {"grader": {"type": "new_type", "config": {}}},
    "many": {"graders": [{"type": "numeric_tolerance", "config": CONFIG}]},
}


def record(
    n: Any = 101,
    m: Any = 7,
    *,
    passed: bool = True,
    scores: tuple[int, int] = (1, 1),
    eval_id: str = "one",
) -> dict[str, Any]:
    answer = {"n": n, "m": m}
    graded = {
        "agent_answer": answer,
        "field_scores": {"n": scores[0], "m": scores[1]},
        "metrics": {},
        "passed": passed,
        "reasoning": "r",
        "score": sum(scores) / 2,
    }
    result = {
        "agent_answer": copy.deepcopy(answer),
        "grader_result": graded,
        "metadata": {},
        "passed": passed,
        "test_id": eval_id,
    }
    return {
        "harness": "mini",
        "model_name": "openai/gpt-x",
        "latch_eval_tools_version": "0.3.7",
        "result": result,
        "task": eval_id,
    }


def regraded(files: dict[str, Any]) -> Regraded:
    evals = {
        f"evals/t/{name}.json": {"id": name, "task": "x", "metadata": {}, "data_node": [], **more}
        for name, more in EVALS.items()
    }
    raw = {
        path: v if isinstance(v, bytes) else json.dumps(v).encode()
        for path, v in {**evals, **files}.items()
    }
    out = Regraded()
    spec = RepoSpec("demo/one", "main", "evals", "trajectories")
    regrade_repository(Repository(spec, "c" * 40, Memory(raw)), out)
    for name, found in (
        ("runs", out.runs),
        ("run_fields", out.run_fields),
        ("readings", out.reading_rows()),
    ):
        build(name, found, {})
    rows(out.findings)
    return out


def met(out: Regraded) -> list[str]:
    return sorted(finding.rule for finding in out.findings)


def test_a_run_that_follows_from_its_rule() -> None:
    out = regraded({PLACE: record()})
    assert out.runs == [
        {
            "repo": "demo/one",
            "run_path": PLACE,
            "blob_sha": out.runs[0]["blob_sha"],
            "eval_id": "one",
            "provider": "openai",
            "model": "gpt-x",
            "harness": "mini",
            "replicate": 1,
            "grader_version": "0.3.7",
            "grader_type": "numeric_tolerance",
            "status": "graded",
            "reason": None,
            "recorded_passed": True,
            "derived_passed": True,
            "recorded_score": 1.0,
            "derived_score": 1.0,
            "passed_agrees": True,
            "score_agrees": True,
            "fields_agree": True,
            "failure_mode": None,
            "edge": out.runs[0]["edge"],
            "tier": out.runs[0]["tier"],
            "contested": False,
        }
    ]
    assert [
        (row["field"], row["recorded_pass"], row["derived_pass"]) for row in out.run_fields
    ] == [("m", True, True), ("n", True, True)]
    assert out.findings == []
    assert {row["runs"] for row in out.reading_rows()} == {1}


def alter(**changes: Any) -> Callable[[dict[str, Any]], None]:
    def change(value: dict[str, Any]) -> None:
        for key, item in changes.items():
            *parents, last = key.split("__")
            place = value
            for name in parents:
                place = place[name]
            place[last] = item

    return change


GRADED = "result__grader_result__"


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (alter(result__passed=False, **{GRADED + "passed": False}), ["verdict_differs"]),
        (alter(result__passed=False), ["record_contradicts_itself", "verdict_differs"]),
        (alter(**{GRADED + "score": 0.5}), ["score_differs"]),
        (alter(**{GRADED + "field_scores": {"n": 1, "m": 0}}), ["field_differs"]),
        (alter(**{GRADED + "agent_answer": {"n": 100, "m": 7}}), ["answer_differs"]),
        (alter(result__passed=None, **{GRADED + "passed": None}), ["verdict_missing"]),
        (alter(**{GRADED + "score": float("nan")}), ["json_nonfinite", "result_nonfinite"]),
        (alter(model_name="gpt-x"), []),
        (alter(model_name="openai/gpt-y"), ["model_differs"]),
        (alter(harness="maxi", model_name="a/b"), ["model_differs", "model_differs"]),
        (alter(trial_index=9, n_trials=0), []),
    ],
)
def test_what_a_record_gets_wrong_is_a_finding(
    change: Callable[[dict[str, Any]], None], rules: list[str]
) -> None:
    value = record()
    change(value)
    assert met(regraded({PLACE: value})) == rules


def test_a_score_beyond_every_number_is_a_finding_too() -> None:
    raw = json.dumps(record()).replace('"score": 1.0', '"score": 1e999').encode()
    out = regraded({PLACE: raw})
    assert out.runs[0]["recorded_score"] is None
    assert met(out) == ["result_nonfinite"]


@pytest.mark.parametrize(
    ("eval_id", "status", "grader_type", "fields"),
    [
        ("withheld", "rule_not_published", None, 0),
        ("choice", "rule_undetermined", "list_match", 2),
        ("unknown", "rule_undetermined", "new_type", 2),
        ("gone", "eval_missing", None, 0),
    ],
)
def test_runs_that_cannot_be_graded_say_why(
    eval_id: str, status: str, grader_type: str | None, fields: int
) -> None:
    out = regraded({PLACE.replace("/one/", f"/{eval_id}/"): record(eval_id=eval_id)})
    (row,) = out.runs
    assert (row["status"], row["grader_type"], row["recorded_passed"], row["derived_passed"]) == (
        status,
        grader_type,
        True,
        None,
    )
    assert len(out.run_fields) <= fields
    assert met(out) == (["run_eval_missing"] if eval_id == "gone" else [])


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_left_as_it_was(on: bool) -> None:
    """Grading keeps the cyclic collector off, and puts it back also when reading fails."""
    was_on = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        regraded({PLACE: record()})
        assert gc.isenabled() is on
        memory = Memory({PLACE: json.dumps(record()).encode()})
        repository = Repository(RepoSpec("o/n", "main", "evals", "trajectories"), "c", memory)
        memory.read = lambda sha: [][0]  # type: ignore[method-assign]
        with pytest.raises(IndexError):
            regrade_repository(repository, Regraded())
        assert gc.isenabled() is on
    finally:
        (gc.enable if was_on else gc.disable)()


def test_a_list_of_graders_is_graded_as_one() -> None:
    """Several graders that agree give a verdict; their fields are named after their place."""
    out = regraded({PLACE.replace("/one/", "/many/"): record(eval_id="many")})
    (row,) = out.runs
    assert (row["status"], row["grader_type"], row["derived_passed"], row["tier"]) == (
        "graded",
        "graders[]",
        True,
        "C",
    )
    derived = {item["field"]: item["derived_pass"] for item in out.run_fields}
    assert derived == {"0.m": True, "0.n": True, "m": None, "n": None}
    assert met(out) == []


def test_nothing_of_a_withheld_rule_leaves() -> None:
    """Law 2: where the grader is withheld, field names spell the answer."""
    value = record()
    graded = value["result"]["grader_result"]
    graded["field_scores"] = {"SECRETfield": 1}
    graded["reasoning"] = graded["metrics"] = "SECRET"
    value["result"]["agent_answer"] = graded["agent_answer"] = {"SECRETfield": "SECRET"}
    for eval_id in ("withheld", "one", "gone", "choice"):
        out = regraded({PLACE.replace("/one/", f"/{eval_id}/"): value})
        said = json.dumps(
            [
                out.runs,
                as_json(out.findings),
                [] if eval_id in ("one", "choice") else out.run_fields,
            ]
        )
        assert "SECRET" not in said


def test_no_submission_is_a_status_of_its_own() -> None:
    value = record()
    value["result"] |= {"agent_answer": None, "grader_result": None, "passed": None}
    out = regraded({PLACE: value})
    assert (out.runs[0]["status"], out.runs[0]["recorded_passed"], out.run_fields, met(out)) == (
        "no_submission",
        None,
        [],
        [],
    )


UNREADABLE = {
    "empty": b"",
    "cut": b'{"result": {',
    "deep": b"[" * 100_000,
    "digits": b'{"result": ' + b"9" * 4400 + b"}",
    "utf16": "{}".encode("utf-16"),
    "surrogate": rb'{"result": {"agent_answer": "\ud800"}}',
    "list": b"[]",
    "null": b"null",
    "shape": b'{"result": 5}',
}


def test_each_unreadable_run_is_one_row_and_the_others_go_on() -> None:
    """BR-28, BR-35"""
    files: dict[str, Any] = {
        PLACE.replace("/r1/", f"/r{n}/"): raw for n, raw in enumerate(UNREADABLE.values(), 2)
    }
    out = regraded({PLACE: record(), **files})
    assert [row["status"] for row in sorted(out.runs, key=lambda row: row["replicate"])] == [
        "graded"
    ] + ["unreadable"] * len(files)
    assert all(row["reason"] for row in out.runs if row["status"] == "unreadable")
    assert met(out) == ["run_unreadable"] * len(files)


@pytest.mark.parametrize(
    ("prefix", "rule"),
    [(b"\xef\xbb\xbf", "json_bom"), (b"", "json_duplicate_key")],
)
def test_odd_text_is_read_as_the_grader_reads_it_and_flagged(prefix: bytes, rule: str) -> None:
    """BR-27: the last answer counts."""
    raw = json.dumps(record()).encode()
    if rule == "json_duplicate_key":
        raw = raw.replace(
            b'"result": {"agent_answer"', b'"result": {"agent_answer": {"n": 1}, "agent_answer"'
        )
    out = regraded({PLACE: prefix + raw})
    assert (out.runs[0]["status"], out.runs[0]["passed_agrees"], met(out)) == (
        "graded",
        True,
        [rule],
    )


def test_a_run_in_another_place_takes_its_eval_from_the_record() -> None:
    out = regraded({"trajectories/odd/result.json": record()})
    (row,) = out.runs
    assert (row["eval_id"], row["model"], row["status"]) == ("one", None, "graded")
    assert met(out) == ["run_path_unknown"]


def test_huge_integers_in_an_answer_crash_nothing() -> None:
    """BR-28, BR-43"""
    for number in (2**63, 2**64, 10**400):
        out = regraded({PLACE: record(number, passed=False, scores=(0, 1))})
        assert (out.runs[0]["status"], out.runs[0]["passed_agrees"]) == ("graded", True)


def test_the_trap_readings_are_counted_over_all_repositories() -> None:
    out = Regraded()
    for repo in ("demo/one", "demo/two"):
        evals = {"evals/t/one.json": {"id": "one", **EVALS["one"]}}
        files = {
            path: json.dumps(value).encode() for path, value in {**evals, PLACE: record()}.items()
        }
        regrade_repository(
            Repository(RepoSpec(repo, "main", "evals", "trajectories"), "c" * 40, Memory(files)),
            out,
        )
    counted = {
        row["reading"]: (row["runs"], row["verdicts_changed"], row["fields_changed"])
        for row in out.reading_rows()
    }
    assert counted["bounds"] == (2, 2, 2)
    assert counted["strict"] == (2, 0, 0)
