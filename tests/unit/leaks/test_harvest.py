"""What is searched for: all that carries answers, nothing that anybody can read, common values by context."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchproof import findings, tables
from benchproof.inventory.repository import Repository
from benchproof.journal import Journal
from benchproof.leaks.harvest import Gathered, harvest, of_links
from benchproof.leaks.secrets import Secret
from benchproof.report.dictionary import REASONS, STATUSES
from benchproof.sources.base import RepoSpec
from unit.memory import Memory


def repository(files: dict[str, bytes]) -> Repository:
    spec = RepoSpec("demo/one", "main", "evals", "trajectories")
    return Repository(spec, "c" * 40, Memory(files))


def secrets(
    evaluation: dict[str, Any] | None = None, result: dict[str, Any] | None = None
) -> set[Secret]:
    base = {"id": "one", "task": "Report the count.", "metadata": {}, "data_node": "latch://1.node"}
    files = {"evals/t/one.json": json.dumps({**base, **(evaluation or {})}).encode()}
    if result is not None:
        files["trajectories/one/p/m/h/r1/result.json"] = json.dumps({"result": result}).encode()
    return harvest(repository(files))


def harvested(*given: dict[str, Any] | None) -> set[str]:
    """Return the values that are searched for by themselves."""
    return {item.value for item in secrets(*given) if item.kind not in ("beside", "list")}


def grader(**config: Any) -> dict[str, Any]:
    return {"grader": {"type": "numeric_tolerance", "config": config}}


def result(answer: Any, **graded: Any) -> dict[str, Any]:
    return {"agent_answer": answer, "grader_result": {"agent_answer": answer, **graded}}


LONG = "The planted sentence is long enough to be told from others."


@pytest.mark.parametrize(
    ("evaluation", "recorded", "needle"),
    [
        (grader(ground_truth={"n": 8461937}), None, "8461937"),
        (grader(ground_truth={"n": 0.73519}), None, "0.73519"),
        (grader(ground_truth={"n": ["Zq label"]}), None, "Zq label"),
        (
            {"graders": [{"type": "all_of", "config": {"children": [{"x": "Zq nested"}]}}]},
            None,
            "Zq nested",
        ),
        (
            {"canary": "0a1b2c3d-0000-4000-8000-123456789abc"},
            None,
            "0a1b2c3d-0000-4000-8000-123456789abc",
        ),
        ({"canary": "ZQ-CANARY-73519"}, None, "ZQ-CANARY-73519"),
        ({"notes": f"Short. {LONG}"}, None, LONG),
        ({"notes": {"a": [LONG]}}, None, LONG),
        ({}, result({"n": 8461937}), "8461937"),
        ({}, result(["Zq label"]), "Zq label"),
        ({}, result(None, metrics={"n_truth": 73519.5123}), "73519.5123"),
        ({}, result(None, reasoning=LONG), LONG),
        ({}, result({}, field_scores={"zq_field_that_spells_it": 1}), "zq_field_that_spells_it"),
        ({}, result({"zq_key_that_spells_it": 1}), "zq_key_that_spells_it"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_graded_values_are_harvested(
    evaluation: dict[str, Any], recorded: dict[str, Any] | None, needle: str
) -> None:
    """Law 2 names the places; field names count where the grader is withheld."""
    assert needle in harvested(evaluation, recorded)


def test_field_names_of_a_published_rule_are_public() -> None:
    """The tolerances and run_fields tables hold them by contract."""
    found = harvested(
        grader(ground_truth={"zq_field": 8461937}),
        result({"zq_field": 8461938}, field_scores={"zq_field": 0}),
    )
    assert found == {"8461937", "8461938"}


@pytest.mark.parametrize(
    "common",
    [
        0,
        1,
        12,
        123456,
        0.5,
        0.25,
        1 / 3,
        2 / 7,
        0.875,
        100.0,
        3.14,
        True,
        None,
        "",
        "B",
        "T cell"[:5],
        float("nan"),
        float("inf"),
    ],
    ids=repr,
)
def test_common_values_raise_no_alarm(common: Any) -> None:
    assert harvested(grader(ground_truth=common), result(common, metrics={"x": common})) == set()


def test_what_is_public_anyway_is_no_needle() -> None:
    evaluation = {
        "task": 'Answer "Zq naïve cell" or 8461937.',
        **grader(ground_truth=["Zq naïve cell", 8461937, "evals/t/one.json"]),
    }
    assert harvested(evaluation) == set()


def test_a_value_that_is_only_part_of_public_text_stays_a_needle() -> None:
    """8461937 is not public because a handle holds 184619370."""
    evaluation = {"data_node": "latch://184619370.node", **grader(ground_truth=8461937)}
    assert harvested(evaluation) == {"8461937"}


def test_words_of_our_own_as_answers_stop_no_report() -> None:
    """Agents answer `unknown`, and every report may say it: an alarm there would block it for good."""
    words = {
        *(word for texts in STATUSES.values() for word in texts),
        *(word for word in REASONS if "<" not in word),
        *findings.RULES,
        *findings.SEVERITIES,
        "timeout",
        "on_bound",
        "passed",
        "report",
    }
    specs = (tables.SPECS | tables.OTHER).values()
    words |= {name for spec in specs for name in (spec.name, *spec.schema.names)}
    assert harvested({}, result(sorted(words))) == set()


def test_words_of_the_engine_as_answers_stop_no_report() -> None:
    """Its log says "Finished jobid" and "Select jobs to execute" in every run."""
    assert harvested({}, result(["Finished", "Select", "execute", "scheduler"])) == set()


def test_what_a_run_says_whatever_the_answers_are_is_no_needle() -> None:
    """Its configuration and its pins: an answer that stands there proves nothing."""
    files = {
        "trajectories/one/p/m/h/r1/result.json": json.dumps(
            {"result": result("Zq configured")}
        ).encode()
    }
    assert {item.value for item in harvest(repository(files))} == {"Zq configured"}
    assert harvest(repository(files), ['{"notice": "Zq configured"}']) == set()


def test_an_answer_nested_as_deep_as_json_may_be_stops_nothing() -> None:
    deep, public = "Zq label", "Zq public"
    levels: list[Any] = [deep, public]
    for _ in range(150):
        levels = [[item] for item in levels]
    assert harvested({"task": public}, result(levels)) == {"Zq label"}


@pytest.mark.parametrize(
    ("answer", "beside"),
    [
        ({"zq_field": 42}, ("zq_field", "42")),
        ({"zq_field": 42.0}, ("zq_field", "42")),
        ({"zq_field": {"value": 0.5}}, ("zq_field value", "0.5")),
        ({"zq_field": ["B"]}, ("zq_field", "B")),
        (42, ("agent_answer", "42")),
    ],
)
def test_a_common_value_is_searched_for_beside_its_key(
    answer: Any, beside: tuple[str, str]
) -> None:
    found = {(item.key, item.value) for item in secrets(None, result(answer)) if item.key}
    assert beside in found


def test_words_of_ours_are_no_keys() -> None:
    """Every log says `runs: 12`."""
    found = {item.key for item in secrets(None, result({"runs": 12, "score": 1, "zq": 3}))}
    assert found <= {"agent_answer runs", "agent_answer score", "agent_answer zq"}


def test_yes_and_no_are_never_searched_for() -> None:
    assert secrets(grader(ground_truth={"zq_field": True}), result({"zq_field": None})) == set()


def test_a_list_of_short_words_is_searched_for_as_a_whole() -> None:
    found = secrets(None, result({"zq_genes": ["CD3E", "CD19", "MS4A1"]}))
    assert Secret("list", "CD3E\nCD19\nMS4A1") in found


def test_the_secret_parts_of_signed_urls_are_searched_for(tmp_path: Path) -> None:
    """Law 8: signatures, tokens and credentials; what is public in a URL is none."""
    book = Journal(tmp_path / "links.jsonl")
    query = "X-Amz-Date=20260115T000000Z&X-Amz-Signature=abcdef0123&X-Amz-Security-Token=TOKENTOKEN"
    book.add("latch://1.node", {"url": f"https://storage.test/bucket/key.h5ad?{query}"})
    found = {item.value for item in of_links([book.path, tmp_path / "none"])}
    assert found == {"abcdef0123", "TOKENTOKEN"}


@pytest.mark.parametrize(
    "evaluation",
    [
        {"solution": "Zq hidden"},
        {"rubric": [{"points": "Zq hidden"}]},
        {"answer": {"zq_field": "Zq hidden"}},
        {"metadata": {"task": "qc", "ground_truth": "Zq hidden"}},
        {"metadata": {"kit": {"truth": "Zq hidden"}}},
        {"metadata": ["Zq hidden"]},
        {"data_node": {"truth": "Zq hidden"}},
        {"task": ["Zq hidden"]},
        {"id": {"truth": "Zq hidden"}},
    ],
    ids=repr,
)
def test_what_is_not_projected_is_secret_whatever_it_is_called(evaluation: dict[str, Any]) -> None:
    """An upstream may rename its answers; only a known place of a known shape is public."""
    assert "Zq hidden" in harvested(evaluation)
    assert "Zq hidden" in harvested(evaluation, result("Zq hidden"))


def test_a_solution_is_searched_for_sentence_by_sentence() -> None:
    assert LONG in harvested({"solution": f"First do this. {LONG} Then the other thing."})


def test_what_tables_project_is_no_secret() -> None:
    about = {"task": "zq_task", "kit": "zq_kit", "time_horizon": "zq_long", "eval_type": "zq_type"}
    evaluation = {"metadata": about, **grader(ground_truth=[*about.values(), "latch://1.node"])}
    assert harvested(evaluation) == set()


def gathered(first: dict[str, Any], second: dict[str, Any]) -> set[str]:
    """Return what is searched for by itself over two repositories of one evaluation each."""
    found = Gathered()
    for number, evaluation in enumerate((first, second)):
        data = json.dumps({"id": f"n{number}", "metadata": {}, **evaluation}).encode()
        found.add(repository({f"evals/t/n{number}.json": data}))
    return {item.value for item in found.needles().left() if item.kind == "text"}


def test_a_prompt_makes_nothing_of_another_repository_public() -> None:
    """Tables hold no prompt, so that no honest row says its text."""
    asked, secret = {"task": "Is it Zq label?"}, grader(ground_truth=["Zq label"])
    assert gathered(asked, secret) == gathered(secret, asked) == {"Zq label"}
    assert gathered({**asked, **secret}, {"task": "x"}) == set()


@pytest.mark.parametrize(
    "shown",
    [
        {"metadata": {"kit": "zq_label"}},
        {"task": 'Say <EVAL_ANSWER>{"zq_label": 1}</EVAL_ANSWER>.'},
        grader(tolerances={"zq_label": {"value": 1}}),
    ],
    ids=repr,
)
def test_what_rows_of_one_repository_say_is_no_secret_of_another(shown: dict[str, Any]) -> None:
    """The tables of both lie in one folder: an alarm there would stop honest reports for good."""
    assert gathered(shown, grader(ground_truth=["zq_label"])) == set()
