"""What the rules lean on: templates, words, trial answers, what is read of a repository."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchproof.inventory.lint.contents import names_equal_labels
from benchproof.inventory.lint.subject import Evaluation, GraderAt, Recorded, Subject, subject_of
from benchproof.inventory.lint.template import prompt_decimals, template_of
from benchproof.inventory.lint.trial import leaves, numeric_fields, own_truth, passes, truths
from benchproof.inventory.lint.words import is_rare, named_in, objects, stands_in
from benchproof.inventory.repository import Repository
from benchproof.sources.base import RepoSpec
from defects.bench import Bench, choice, distribution, labels, markers, numeric, template
from unit.memory import Memory

SPEC = RepoSpec("demo/one", "main", "evals", "trajectories")


@pytest.mark.parametrize(
    ("prompt", "fields"),
    [
        ("", None),
        ("<EVAL_ANSWER></EVAL_ANSWER>", None),
        ('<EVAL_ANSWER>{"a": <int>}</EVAL_ANSWER>', ["a"]),
        ('<EVAL_ANSWER>{"a": {"x": 1}, "b": [{"y": 2}]}</EVAL_ANSWER>', ["a", "b"]),
        ('<EVAL_ANSWER>{"a": "<b: c>"}</EVAL_ANSWER>', ["a"]),
        (
            '<EVAL_ANSWER>{"old": 1}</EVAL_ANSWER> <EVAL_ANSWER>{"new": 1}</EVAL_ANSWER>',
            ["new"],
        ),
        ('Use {this} and answer {"a": 1, "b": {"c": 2}}.', ["a", "b"]),
        ("An unclosed { brace", None),
    ],
)
def test_fields_of_a_template(prompt: str, fields: list[str] | None) -> None:
    found = template_of(prompt)
    assert (list(found.fields) if found else None) == fields


@pytest.mark.parametrize(
    ("holder", "decimals", "fraction"),
    [
        ("<float, 2 decimals>", 2, False),
        ("<float rounded to three decimal places>", 3, False),
        ("<int>", 0, False),
        ("<integer count>", 0, False),
        ("<float between 0-1>", None, True),
        ("<fraction from 0 to 1, 3 decimals>", 3, True),
        ("<float between 0 and 100>", None, False),
        ("<1 or 2 decimals, or 3 decimals>", None, False),
    ],
)
def test_placeholders(holder: str, decimals: int | None, fraction: bool) -> None:
    found = template_of(template({"x": holder}))
    assert found is not None
    assert (found.decimals("x"), found.is_fraction("x")) == (decimals, fraction)


@pytest.mark.parametrize(
    ("prompt", "decimals"),
    [
        ("Round to 3 decimals.", 3),
        ("Round x to 2 decimals. Round y to 3 decimals.", None),
        ("Report four decimal places, rounded.", 4),
        ("Round to \u017fix decimals.", None),
        ("Use 3 rounds.", None),
        ("Round the corner. It takes 2 digits after noon.", None),
    ],
)
def test_rounding_of_a_prompt(prompt: str, decimals: int | None) -> None:
    assert prompt_decimals(prompt) == decimals


@pytest.mark.parametrize(
    ("value", "text", "stands"),
    [
        (7001, "about 7001.", True),
        (7001, "about 7,001 of them", True),
        (7001, "17001 or 7001.5 or 70010", False),
        (0.1234, "that is 12.34%", True),
        (71.25, "at 71.25, roughly", True),
        ("DEMO_A", "(DEMO_A)", True),
        ("DEMO_A", "DEMO_AB", False),
        ("", "anything", False),
    ],
)
def test_values_stand_in_texts_by_themselves(value: Any, text: str, stands: bool) -> None:
    assert stands_in(value, text) is stands


@pytest.mark.parametrize(
    ("value", "rare"),
    [(7001, True), (700, False), (0.5, False), (0.1234, True), (-1e-7, False), ("abcd", False)],
)
def test_rare_values(value: Any, rare: bool) -> None:
    assert is_rare(value) is rare


@pytest.mark.parametrize(
    ("label", "name", "named"),
    [
        ("Demo Alpha", "n_demo_alpha_cells", True),
        ("demo-alpha", "nDemoAlphaCells", True),
        ("demo alpha", "demo_alphabet", False),
        ("a b", "a_b_c", False),
    ],
)
def test_labels_spelled_in_names(label: str, name: str, named: bool) -> None:
    assert named_in(label, name) is named


def test_objects_of_a_document_are_closed_and_bounded() -> None:
    assert list(objects("x {a {b} c} {")) == ["{a {b} c}", "{b}"]
    assert list(objects("{" + "x" * 5_000 + "}")) == []
    assert len(list(objects("{}" * 5_000))) == 1_000


@pytest.mark.parametrize("hostile", ["<EVAL_ANSWER>" * 50_000, "{" * 400_000, '{"a":' * 50_000])
def test_hostile_texts_take_no_time(hostile: str) -> None:
    assert template_of(hostile) is None
    assert list(objects(hostile)) == []


def test_a_readme_may_hold_anything_between_braces() -> None:
    """Escapes that Python warns about, nesting that it refuses, keys that are no texts."""
    bench = Bench("scbench", 0)
    odd = ["{'a': '\\d'}", "{" + "[" * 3_000 + "}", "{1: 2}", "{'a': " + "9" * 3_900 + "}"]
    odd += ["{'cell_type_distribution': {1: 2}}", "{'labels': [{1, 2}]}", "{'a': b'x'}"]
    bench.add(distribution(one=62.5, two=37.5), {"cell_type_distribution": "{}"})
    order = {"ground_truth": ["DEMO1", "DEMO2"], "answer_field": "labels"}
    bench.add({"type": "longest_subsequence", "config": order}, {"labels": "[]"})
    bench.tree.put("README.md", "\n".join(odd))
    assert "readme_gives_answer" not in {rule for rule, _ in bench.lint()}


# --- trial answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grader", "answer"),
    [
        (numeric(n=(12, 1)), {"n": 12}),
        (choice("Q"), {"answer": "Q"}),
        ({"type": "multiple_choice", "config": {"correct_answers": ["R", "S"]}}, {"answer": "R"}),
        (labels("A", "B"), {"labels": ["A", "B"]}),
        (markers("G"), {"genes": ["G"]}),
        (
            {"type": "marker_gene_precision_recall", "config": {"canonical_markers": ["G"]}},
            {"top_marker_genes": ["G"]},
        ),
        (distribution(a=1.0), {"cell_type_distribution": {"a": 1.0}}),
        ({"type": "spatial_adjacency", "config": {}}, None),
        ({"type": "label_set_jaccard", "config": {"ground_truth_labels": [1]}}, None),
        ({"type": "numeric_tolerance", "config": {"ground_truth": {}}}, None),
    ],
)
def test_the_answer_that_a_truth_spells(grader: dict[str, Any], answer: Any) -> None:
    assert own_truth(GraderAt("/grader", True, grader)) == answer


def test_an_answer_is_tried_on_every_top_grader() -> None:
    """One that fails decides; children that want different values of one field can't be told."""

    def verdict(*graders: dict[str, Any]) -> bool | None:
        value = {"graders": list(graders)}
        return passes(Evaluation("evals/a.json", value, "evals"), own_truth)

    wrong = numeric(m=(12, {"type": "min", "value": 20}))
    assert verdict(numeric(n=(12, 1))) is True
    assert verdict(numeric(n=(12, 1)), wrong) is False
    assert verdict(numeric(n=(12, 1)), numeric(n=(13, 1))) is None
    assert verdict({"type": "list_match", "config": {}}) is None
    assert verdict() is None


def test_fields_are_tried_one_by_one() -> None:
    grader = GraderAt("/grader", True, numeric(n=(12, 1), m=(20, 2)))
    one, other = numeric_fields(grader)
    assert (one.pointer, other.pointer) == (
        "/grader/config/ground_truth/0",
        "/grader/config/ground_truth/1",
    )
    assert [one.passes(13), one.passes(14), other.passes(22)] == [True, False, True]


def test_graded_values_of_a_grader() -> None:
    shares = truths(GraderAt("/grader", True, distribution(kind=12.5)))
    assert sorted(map(str, shares)) == ["12.5", "kind"]
    assert truths(GraderAt("/grader", True, numeric(n=(12, 1)))) == [12]
    assert sorted(map(str, leaves({"a": [1, "x", True, None, {"b": 2}]}))) == ["1", "2", "x"]


# --- reading -----------------------------------------------------------------------------------------


def _repository(**files: Any) -> Repository:
    data = {
        name.replace("__", "/").replace("_json", ".json"): value
        if isinstance(value, bytes)
        else json.dumps(value).encode()
        for name, value in files.items()
    }
    return Repository(SPEC, "c" * 40, Memory(data))


def test_runs_are_read_where_a_rule_needs_them() -> None:
    """Timeouts of evaluations that declare one, answers of those without a rule; others stay closed."""
    record = {
        "eval_timeout_seconds": 600,
        "result": {
            "grader_result": {
                "agent_answer": {"state": "demo"},
                "field_scores": {"state": 1.0},
                "passed": True,
            }
        },
    }
    runs = {f"trajectories__{name}__p__m__h__r1__result_json": record for name in "abc"}
    repository = _repository(
        evals__a_json={"id": "a", "metadata": {"timeout_s": 3600}, "grader": numeric(n=(1, 1))},
        evals__b_json={"id": "b"},
        evals__c_json={"id": "c", "grader": numeric(n=(1, 1))},
        **runs,
    )
    found = {item.stem: item.recorded for item in subject_of(repository).evaluations}
    assert found["a"] == Recorded(frozenset({600}))
    assert found["b"] == Recorded(frozenset({600}), ({"state": "demo"},), frozenset({"state"}))
    assert found["c"] == Recorded()


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"result": 1}', b'{"result": {"grader_result": []}}']
)
def test_damaged_runs_are_survived(text: bytes) -> None:
    repository = _repository(
        evals__b_json={"id": "b"}, trajectories__b__p__m__h__r1__result_json=text
    )
    assert subject_of(repository).evaluations[0].recorded == Recorded()


def test_documents_are_what_is_neither_evaluation_nor_run() -> None:
    repository = _repository(
        **{
            "evals__a_json": {"id": "a"},
            "evals__manifest_json": [],
            "README.md": b"hello\xff",
            "results__x_json": b"{",
        }
    )
    found = {item.path: item for item in subject_of(repository).documents}
    assert set(found) == {"evals/manifest.json", "README.md", "results/x.json"}
    assert found["README.md"].is_readme
    assert found["README.md"].text == "hello\ufffd"
    assert found["results/x.json"].reason == "not_json"


def test_graders_carry_pointers() -> None:
    inner = {"type": "all_of", "config": {"children": [numeric(n=(1, 1))]}}
    value = {"graders": [choice("Q"), {"type": "all_of", "config": {"children": [inner]}}]}
    found = Evaluation("evals/a.json", value, "evals").graders
    assert [(g.pointer, g.top) for g in found] == [
        ("/graders/0", True),
        ("/graders/1", True),
        ("/graders/1/config/children/0", False),
        ("/graders/1/config/children/0/config/children/0", False),
    ]


# --- names inside the data ---------------------------------------------------------------------------


def _contents(**names: list[str]) -> dict[str, Any]:
    return {"handle": "latch://1.node", "obs_columns": None, "uns": [], **names}


@pytest.mark.parametrize(
    ("row", "prompt", "met"),
    [
        (_contents(obs_columns=["batch", "demo_alpha"]), "", True),
        (_contents(uns=["Demo Alpha"]), "", True),
        (_contents(var_columns=["demo_alpha_score"]), "", False),
        (_contents(obs_columns=["demo_alpha"]), "Choose from Demo Alpha.", False),
        ({**_contents(uns=["Demo Alpha"]), "handle": "latch://2.node"}, "", False),
    ],
)
def test_names_of_a_file_that_spell_a_label(row: dict[str, Any], prompt: str, met: bool) -> None:
    value = {"data_node": "latch://1.node", "task": prompt, "grader": labels("Demo Alpha", "x")}
    subject = Subject("demo/one", "evals", evaluations=[Evaluation("evals/a.json", value, "evals")])
    found = names_equal_labels(subject, [row])
    assert [(f.rule, f.path, f.pointer) for f in found] == (
        [("names_equal_labels", "evals/a.json", "/data_node/0")] if met else []
    )


def test_labels_without_words_equal_no_name() -> None:
    value = {"data_node": "latch://1.node", "grader": labels("\u03b1\u03b2\u03b3\u03b4\u03b5", "x")}
    subject = Subject("demo/one", "evals", evaluations=[Evaluation("evals/a.json", value, "evals")])
    assert names_equal_labels(subject, [_contents(obs_columns=["\u03b6", "_"])]) == []


def test_recorded_answers_stand_in_for_a_withheld_rule() -> None:
    recorded = Recorded(passing=({"state": "Demo Alpha"},))
    value = {"data_node": ["latch://1.node"]}
    evaluation = Evaluation("evals/a.json", value, "evals", recorded=recorded)
    subject = Subject("demo/one", "evals", evaluations=[evaluation])
    assert len(names_equal_labels(subject, [_contents(uns=["demo_alpha"])])) == 1
