"""Every rule finds its defect, stays silent on what merely looks like it, and gives nothing away."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from benchproof.findings import Finding, counted, rows
from benchproof.inventory.lint.every import RULES, THEMES, lint
from benchproof.inventory.lint.registry import LINT, Registry
from benchproof.inventory.lint.subject import Evaluation, Recorded, Subject, subject_of
from benchproof.inventory.repository import Repository
from benchproof.severity import SEVERITIES
from defects.bench import (
    Bench,
    TreeContent,
    choice,
    distribution,
    labels,
    markers,
    numeric,
    template,
)
from defects.measure import measure, try_one
from defects.seeds import LIST, NAMES, SEEDS, Seed
from family import draft_family, shape


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name)
def test_a_defect_is_found_where_it_is_and_nothing_else_is(seed: Seed) -> None:
    """The repository is clean of it before; afterwards nothing but the defect's own rules is new."""
    outcome = try_one(seed)
    assert outcome.clean
    assert outcome.found
    assert not outcome.false


def test_every_rule_has_a_defect() -> None:
    assert {seed.rule for seed in SEEDS} == set(RULES)
    assert len({seed.name for seed in SEEDS}) == len(SEEDS) >= 60
    assert len(RULES) >= 40


def test_recall_and_false_alarms_are_counted_per_rule() -> None:
    """A rule that misses its defect, or answers another's, shows in the table."""
    seeds = [seed for seed in SEEDS if seed.rule == "canary_missing"]
    blind = [Seed("canary_shared", seed.repo, seed.plant) for seed in seeds]
    scores = measure(range(2), [*seeds, *blind])
    missing, shared = scores["canary_missing"], scores["canary_shared"]
    assert (missing.planted, missing.found, missing.false) == (4, 4, 4)
    assert (shared.planted, shared.found, shared.false) == (4, 0, 0)


# --- what only looks like a defect -------------------------------------------------------------------

Change = Callable[[dict[str, Any]], object]
NUMBER = numeric(n=(7001, 3))


def _set(**changes: Any) -> Change:
    return lambda data: data.update(changes)


NEAR: dict[str, tuple[str, dict[str, Any] | None, dict[str, str], Change]] = {
    "data_node as a list of one": (
        "handle_repeated",
        NUMBER,
        {"n": "<int>"},
        _set(data_node=["latch://10000.node"]),
    ),
    "a canary in capitals": (
        "canary_without_guid",
        NUMBER,
        {"n": "<int>"},
        _set(canary="GUID 0F0F0F0F-AAAA-BBBB-CCCC-0123456789AB"),
    ),
    "a template without its tags": (
        "template_missing",
        NUMBER,
        {"n": "<int>"},
        _set(task='Answer with {"n": <int>} alone.'),
    ),
    "nested keys are no fields": (
        "template_field_ungraded",
        distribution(one=62.5, two=37.5),
        {},
        _set(task=template({"cell_type_distribution": '{"one": <float>, "two": <float>}'})),
    ),
    "a label set without its field's name": (
        "template_differs_from_rule",
        {"type": "label_set_jaccard", "config": {"ground_truth_labels": list(NAMES)}},
        {"labels": LIST},
        _set(),
    ),
    "a gene name is no accession": (
        "accession_in_text",
        NUMBER,
        {"n": "<int>"},
        _set(task="Count GSE1 and GSDMD positive cells, 10.5 of 12.\n" + template({"n": "<int>"})),
    ),
    "a sandbox has a home too": (
        "local_path_in_text",
        NUMBER,
        {"n": "<int>"},
        _set(task="Write /home/agent/files/out.csv.\n" + template({"n": "<int>"})),
    ),
    "a tolerance of 0 on a whole number": (
        "exact_match_on_fraction",
        numeric(n=(7001, 0)),
        {"n": "<int>"},
        _set(),
    ),
    "a bound that is the truth": (
        "bound_differs_from_truth",
        numeric(n=(7001, {"type": "max"})),
        {"n": "<int>"},
        _set(),
    ),
    "a described tolerance": (
        "tolerance_key_unknown",
        numeric(n=(7001, {"type": "absolute", "value": 3, "description": "narrow"})),
        {"n": "<int>"},
        _set(),
    ),
    "an absolute pair": (
        "tolerance_offsets_unsettled",
        numeric(n=(7001, {"lower": 3, "upper": 4})),
        {"n": "<int>"},
        _set(),
    ),
    "rounding that the tolerance allows": (
        "tolerance_below_rounding",
        numeric(x=(71.25, 0.005)),
        {"x": "<float, 2 decimals>"},
        _set(),
    ),
    "rounding of another kind": (
        "rounded_truth_fails",
        numeric(x=(71.3756, 0.001)),
        {"x": "<float>"},
        _set(task="Round 2 of 3 was run; use four decimals.\n" + template({"x": "<float>"})),
    ),
    "zero that is right": (
        "window_contains_zero",
        numeric(n=(0, 3)),
        {"n": "<int>"},
        _set(),
    ),
    "one number that passes on one": (
        "passes_on_constant",
        numeric(x=(1.25, 0.5)),
        {"x": "<float>"},
        _set(),
    ),
    "a window of less than the range": (
        "window_covers_range",
        numeric(x=(0.5, 0.25)),
        {"x": "<float between 0 and 1>"},
        _set(),
    ),
    "a choice by its letter": (
        "choice_not_among_options",
        choice("B", options=["first", "second"]),
        {"answer": '"<letter>"'},
        _set(),
    ),
    "a choice at the head of its option": (
        "choice_not_among_options",
        choice("q", options=["Q) first", "R) second"]),
        {"answer": '"<letter>"'},
        _set(),
    ),
    "shares of one": (
        "distribution_sum_off",
        distribution(one=0.625, two=0.375),
        {"cell_type_distribution": "{...}"},
        _set(),
    ),
    "more canonical genes than are asked for": (
        "expected_count_differs",
        markers("DEMO1", "DEMO2", "DEMO3", expected_count=2),
        {"genes": LIST},
        _set(),
    ),
    "labels that differ by case": (
        "label_repeated",
        labels("DEMO_A", "demo_a", "DEMO_B"),
        {"labels": LIST},
        _set(),
    ),
    "a number of few digits in the prompt": (
        "prompt_gives_answer",
        numeric(n=(120, 3)),
        {"n": "<int>"},
        _set(task="There are 120 wells.\n" + template({"n": "<int>"})),
    ),
    "a longer number in the prompt": (
        "prompt_gives_answer",
        NUMBER,
        {"n": "<int>"},
        _set(task="There are 17001 wells, 7001.5 each.\n" + template({"n": "<int>"})),
    ),
    "notes without a value": (
        "notes_give_answer",
        NUMBER,
        {"n": "<int>"},
        _set(notes="Filtered by 3 and 70010."),
    ),
    "a word that begins like a label": (
        "field_name_gives_answer",
        labels(*NAMES),
        {"labels": LIST, "demo_alphabet": "<int>"},
        _set(),
    ),
    "a null timeout is no text": (
        "timeout_not_honoured",
        NUMBER,
        {"n": "<int>"},
        _set(),
    ),
    "a predicate has no type": (
        "grader_object_malformed",
        {
            "type": "all_of",
            "config": {"pass_rule": "all", "children": [NUMBER, {"role": "gate"}]},
        },
        {"n": "<int>"},
        _set(),
    ),
}


@pytest.mark.parametrize("name", NEAR)
def test_a_near_miss_is_silent(name: str) -> None:
    rule, grader, asked, change = NEAR[name]
    bench = Bench("scbench", 0)
    item = bench.add(grader, asked)
    change(item.data)
    assert (rule, item.path) not in bench.lint()


def test_a_choice_in_a_readme_counts_only_beside_its_evaluation() -> None:
    """One letter of four passes by chance; where the evaluation is named it is no chance."""
    bench = Bench("scbench", 0)
    item = bench.add(choice("Q"), {"answer": '"<letter>"'})
    text = bench.tree.text("README.md").decode() + '\n    {"answer": "Q"}\n'
    bench.tree.put("README.md", text)
    assert ("readme_gives_answer", "README.md") not in bench.lint()
    bench.tree.put("README.md", f"{text}for {item.data['id']}\n")
    assert ("readme_gives_answer", "README.md") in bench.lint()


def test_a_repository_whose_folders_follow_nothing_is_left_alone() -> None:
    """Where most folders are named like neither task nor kit, that is the layout."""
    bench = Bench("scbench", 0)
    for item in bench.all():
        item.data["metadata"]["task"] = "imaging"
    assert "task_differs_from_folder" not in {rule for rule, _ in bench.lint()}


# --- hostile values ----------------------------------------------------------------------------------

ODD: list[Any] = [None, 0, -1.5, "x", "", [], [1, None], {}, {"a": {}}, True, float("nan"), 10**400]


@pytest.mark.parametrize(
    "field", ["id", "task", "data_node", "grader", "graders", "canary", "notes"]
)
@pytest.mark.parametrize("odd", ODD, ids=lambda value: repr(value)[:12])
def test_any_value_in_any_field_is_survived(field: str, odd: Any) -> None:
    bench = Bench("scbench", 0)
    item = bench.add(NUMBER, {"n": "<int>"})
    item.data[field] = odd
    bench.lint()


@pytest.mark.parametrize("odd", ODD, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(
    "grader", [NUMBER, labels(*NAMES), markers("DEMO1"), choice("Q"), distribution(one=1.0)]
)
def test_any_value_in_any_part_of_a_grader_is_survived(grader: dict[str, Any], odd: Any) -> None:
    for key in [*grader["config"], "options", "expected_count", "children"]:
        bench = Bench("epibench", 0)
        bench.add({**grader, "config": {**grader["config"], key: odd}}, {"n": "<int>"})
        inner = grader["config"].get(key)
        if isinstance(inner, dict):
            config = {**grader["config"], key: dict.fromkeys(inner, odd)}
            bench.add({**grader, "config": config}, {"n": "<int>"})
        bench.lint()


@pytest.mark.parametrize("odd", ODD, ids=lambda value: repr(value)[:12])
def test_any_metadata_and_vocabulary_are_survived(odd: Any) -> None:
    bench = Bench("scbench-long", 0)
    item = bench.pick()
    item.data["metadata"] = {**item.data["metadata"], "kit": odd, "timeout_s": odd}
    bench.tree.put_json(item.path.replace("eval.json", "vocabulary.json"), odd)
    bench.lint()


def test_a_share_larger_than_any_float_is_survived() -> None:
    bench = Bench("epibench", 0)
    item = bench.add(distribution(one=0.5, two=10**400), {"cell_type_distribution": "{}"})
    assert ("distribution_sum_off", item.path) in bench.lint()


@pytest.mark.parametrize("odd", ODD, ids=lambda value: repr(value)[:12])
def test_any_timeout_is_survived_beside_recorded_ones(odd: Any) -> None:
    recorded = Recorded(timeouts=frozenset([600]))
    value = {"metadata": {"timeout_s": odd}}
    evaluation = Evaluation("evals/a.json", value, "evals", recorded=recorded)
    found = [f.rule for f in lint(Subject("demo/one", "evals", evaluations=[evaluation]))]
    assert ("timeout_not_honoured" in found) is (odd is not None)


def test_more_options_than_letters_are_survived() -> None:
    config = {"options": ["x"] * 1_200_000, "correct_answer": "none of them"}
    value = {"grader": {"type": "multiple_choice", "config": config}}
    check = LINT.checks["choice_not_among_options"].of_evaluation
    assert check is not None
    assert len(list(check(Evaluation("evals/a.json", value, "evals")))) == 1


# --- nothing graded is said --------------------------------------------------------------------------


def _found(name: str, *, planted: bool) -> tuple[list[Finding], set[str]]:
    draft = draft_family(seed=7, small=True, planted=planted)
    plan = shape.REPOS[name]
    bench = Bench(name, 0)
    archive = TreeContent(draft.tree(name), bench.spec)
    found = lint(subject_of(Repository(bench.spec, "c" * 40, archive)))
    secret = {value.text for value in draft.graded if len(value.text.strip("-")) >= 6}
    assert plan.name == name
    return found, secret


@pytest.mark.parametrize("name", shape.REPOS)
def test_no_finding_quotes_a_graded_value(name: str) -> None:
    """Law 2: neither places nor messages hold a truth, a tolerance, a label, a note or a canary."""
    found, secret = _found(name, planted=True)
    said = json.dumps([(f.path, f.pointer, f.detail) for f in found])
    assert [len(value) for value in secret if value in said] == []


def test_pointers_name_no_member_of_what_is_graded() -> None:
    """Below truths and tolerances a pointer counts; it never repeats a field's name."""
    for seed in SEEDS:
        bench = Bench(seed.repo, 0)
        list(seed.plant(bench))
        bench.lint()
        subject = subject_of(Repository(bench.spec, "c" * 40, TreeContent(bench.tree, bench.spec)))
        for item in lint(subject):
            inner = re.search(r"/(?:ground_truth|tolerances)/([^/]+)$", item.pointer or "")
            assert inner is None or inner.group(1).isdigit()


def test_withheld_rules_are_numbers_in_results() -> None:
    """One row for each rule and repository, without a place, whose id doesn't depend on the number."""
    found = [
        Finding("passes_on_zeros", "demo/one", f"evals/{n}.json", blob_sha="b" * 40) for n in "abc"
    ]
    found.append(Finding("canary_missing", "demo/one", "evals/a.json"))
    shown = rows(counted(found, RULES), RULES)
    (number,) = (row for row in shown if row["rule"] == "passes_on_zeros")
    assert (number["path"], number["pointer"], number["blob_sha"]) == (None, None, None)
    assert "3 places in 3 files" in number["message"]
    (fewer,) = rows(counted(found[:1], RULES), RULES)
    assert fewer["finding_id"] == number["finding_id"]
    assert "1 place in 1 file;" in fewer["message"]
    assert [row["path"] for row in shown if row["rule"] == "canary_missing"] == ["evals/a.json"]


def test_what_tells_an_answer_is_withheld() -> None:
    telling = {
        name for name in RULES if re.match("passes_|window_|.*_gives?_answer|.*equals", name)
    }
    assert telling == {name for name, rule in RULES.items() if rule.withheld}


# --- the registry ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_how_bad_what_and_what_to_do(name: str) -> None:
    rule = RULES[name]
    assert rule.severity in SEVERITIES
    assert rule.message.endswith(".")
    assert rule.remedy.endswith(".")
    check = LINT.checks[name]
    assert (check.of_evaluation is None) != (check.of_repository is None)
    function = check.of_evaluation or check.of_repository
    assert function is not None
    assert function.__name__ == name
    assert function.__doc__
    assert function.__module__ in {theme.__name__ for theme in THEMES}


def test_an_id_cannot_be_registered_twice() -> None:
    registry = Registry()
    add = registry.evaluation("one_rule", "minor", "Wrong.", "Right it.")
    add(lambda evaluation: ())
    with pytest.raises(ValueError, match="twice"):
        add(lambda evaluation: ())
    with pytest.raises(ValueError, match="severity"):
        registry.repository("other_rule", "grave", "Wrong.", "Right it.")(lambda subject: ())


def test_rules_need_nothing_but_values() -> None:
    """An evaluation and a repository without anything in them meet no rule that looks at content."""
    empty = Subject("demo/one", "evals", evaluations=[Evaluation("evals/a/b.json", {}, "evals")])
    assert {found.rule for found in lint(empty)} == {"canary_missing", "metadata_field_missing"}
