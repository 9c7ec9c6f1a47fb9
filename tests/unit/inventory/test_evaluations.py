"""Evaluation files projected: an allow-list, and never a word of what carries answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.findings import as_json, rows
from benchproof.inventory.evaluations import Projected, graders, project, unreadable
from benchproof.tables import build

PATH, SHA = "evals/t/one.json", "b" * 40
TABLES = ("evals", "eval_handles", "graders", "tolerances")
NUMERIC = {
    "type": "numeric_tolerance",
    "config": {"ground_truth": {"n": 12}, "tolerances": {"n": {"type": "absolute", "value": 2}}},
}


def value(**changes: Any) -> dict[str, Any]:
    base = {
        "id": "one",
        "task": "Count the cells.",
        "metadata": {"task": "qc", "kit": "k", "time_horizon": "short", "eval_type": "scientific"},
        "data_node": "latch://1.node",
    }
    return {key: item for key, item in {**base, **changes}.items() if item is not ...}


def run(item: Any, flags: tuple[str, ...] = (), taken: dict[str, str] | None = None) -> Projected:
    out = project("demo/one", PATH, SHA, item, flags, {"one": PATH} if taken is None else taken)
    for name in TABLES:
        build(name, getattr(out, name), {})
    rows(out.findings)
    return out


def met(out: Projected) -> list[tuple[str, str | None]]:
    return [(finding.rule, finding.pointer) for finding in out.findings]


def test_a_plain_evaluation_is_one_row() -> None:
    out = run(value(grader=NUMERIC, canary="c", extra=1))
    assert out.evals == [
        {
            "repo": "demo/one",
            "path": PATH,
            "eval_id": "one",
            "blob_sha": SHA,
            "task": "qc",
            "kit": "k",
            "time_horizon": "short",
            "eval_type": "scientific",
            "metadata_keys": ["eval_type", "kit", "task", "time_horizon"],
            "fields": ["canary", "data_node", "extra", "grader", "id", "metadata", "task"],
            "prompt_chars": 16,
            "has_canary": True,
            "has_notes": False,
            "grader_form": "grader",
            "n_graders": 1,
            "n_handles": 1,
            "status": "ok",
            "reason": None,
        }
    ]
    assert [row["handle"] for row in out.eval_handles] == ["latch://1.node"]
    assert [(row["position"], row["type"], row["rule_status"]) for row in out.graders] == [
        ("0", "numeric_tolerance", "published")
    ]
    assert [
        (row["field"], row["declared_type"], row["keys"], row["mode"]) for row in out.tolerances
    ] == [("n", "absolute", ["type", "value"], "symmetric")]
    assert out.findings == []


# --- nothing that carries answers ----------------------------------------------------------------

secrets = st.text("ABCDEFGHJKLMNPQRSTUVWXYZ", min_size=8, max_size=12).map("Zq".__add__)
planted = st.recursive(
    secrets,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(secrets, inner, max_size=3),
    max_leaves=6,
)
kinds = st.sampled_from(
    ["numeric_tolerance", "all_of", "multiple_choice", "label_set_jaccard", "list_match", "new"]
)


@st.composite
def grader(draw: st.DrawFn, depth: int = 2) -> Any:
    if not draw(st.integers(0, 9)):
        return draw(planted)
    config: dict[str, Any] = draw(st.dictionaries(secrets, planted, max_size=2))
    config["ground_truth"] = draw(planted | st.dictionaries(st.just("n"), planted))
    config["tolerances"] = {
        "n": {"type": "absolute", "value": draw(planted), "lower": draw(planted)}
    }
    if depth and draw(st.booleans()):
        config["children"] = draw(st.lists(grader(depth - 1), max_size=2))
    return {"type": draw(kinds), "config": config, "notes": draw(planted)}


@given(st.data())
@settings(max_examples=40)
def test_nothing_planted_in_what_carries_answers_reaches_a_row(data: st.DataObject) -> None:
    """Law 2, for grader, graders, canary and notes of any shape."""
    places = {
        "grader": grader(),
        "graders": st.lists(grader(), max_size=3) | planted,
        "canary": planted,
        "notes": planted,
    }
    chosen = data.draw(st.sets(st.sampled_from(sorted(places)), min_size=1))
    item = value(**{name: data.draw(places[name]) for name in sorted(chosen)})
    out = run(item, data.draw(st.sampled_from([(), ("bom", "duplicate_key")])))
    said = json.dumps(
        [*(getattr(out, name) for name in TABLES), as_json(out.findings), rows(out.findings)]
    )
    assert "Zq" not in said


def test_a_prompt_and_unknown_metadata_stay_behind() -> None:
    out = run(
        value(
            task="SECRET",
            metadata={"kit": "k", "answer": "SECRET"},
            data_node=["latch://1.node", {"x": "SECRET"}],
        )
    )
    assert "SECRET" not in json.dumps([out.evals, out.eval_handles, as_json(out.findings)])


# --- graders -------------------------------------------------------------------------------------


def nest(*children: Any) -> dict[str, Any]:
    return {"type": "all_of", "config": {"children": list(children)}}


@pytest.mark.parametrize(
    ("item", "form", "positions"),
    [
        ({}, "none", []),
        ({"grader": NUMERIC}, "grader", ["0"]),
        ({"graders": [NUMERIC, NUMERIC]}, "graders", ["0", "1"]),
        (
            {"grader": nest(NUMERIC, nest(NUMERIC, NUMERIC), NUMERIC)},
            "grader",
            ["0", "0.0", "0.1", "0.1.0", "0.1.1", "0.2"],
        ),
        ({"graders": [NUMERIC, nest(NUMERIC)]}, "graders", ["0", "1", "1.0"]),
        ({"graders": []}, "graders", []),
        ({"grader": None}, "grader", ["0"]),
        ({"grader": nest(*[NUMERIC] * 11)}, "grader", ["0", *(f"0.{n}" for n in range(11))]),
    ],
)
def test_graders_have_positions(item: dict[str, Any], form: str, positions: list[str]) -> None:
    out = run(value(**item))
    assert (out.evals[0]["grader_form"], out.evals[0]["n_graders"]) == (form, len(positions))
    assert [row["position"] for row in out.graders] == positions
    assert [found.position for found in graders(item)] == positions


def test_a_deep_nest_is_walked_without_recursion() -> None:
    item = NUMERIC
    for _ in range(3000):
        item = nest(item)
    assert sum(1 for _ in graders({"grader": item})) == 3001


@pytest.mark.parametrize(
    ("grader", "status", "rule"),
    [
        (NUMERIC, "published", None),
        ({"type": "multiple_choice", "config": {}}, "undetermined", None),
        ({"type": "multiple_choice", "config": {"correct_answer": "Q"}}, "published", None),
        ({"type": "all_of", "config": {"children": []}}, "invalid_config", "grader_config_invalid"),
        ({"role": "gate"}, "unknown_type", "grader_type_unknown"),
        ({"type": "list_match", "config": {}}, "undetermined", None),
        ({"type": "brand_new", "config": {}}, "unknown_type", "grader_type_unknown"),
        ({"type": 5}, "unknown_type", "grader_type_unknown"),
        ("text", "unknown_type", "grader_type_unknown"),
        ({"type": "numeric_tolerance"}, "invalid_config", "grader_config_invalid"),
    ],
)
def test_each_grader_has_a_rule_status(grader: Any, status: str, rule: str | None) -> None:
    out = run(value(grader=grader))
    assert out.graders[0]["rule_status"] == status
    assert met(out) == ([(rule, "0")] if rule else [])


@pytest.mark.parametrize(
    ("entry", "mode"),
    [
        ({"type": "absolute", "value": 1}, "symmetric"),
        ({"value": 1}, "symmetric"),
        ({"type": "absolute", "lower": 1, "upper": 2}, "offsets"),
        ({"type": "absolute", "lower": 1}, "undetermined"),
        ({"type": "absolute", "lower": 1, "upper": 2, "value": 3}, "undetermined"),
        ({"type": "relative", "value": 1}, "relative"),
        ({"type": "min"}, "min"),
        ({"type": "max"}, "max"),
        ({"type": "relative", "lower": 1, "upper": 2}, "undetermined"),
        ({"type": "new"}, "undetermined"),
        ({}, "exact"),
        (5, None),
    ],
)
def test_tolerances_are_keys_and_a_mode_and_no_value(entry: Any, mode: str | None) -> None:
    config = {"ground_truth": {"n": 1}, "tolerances": {"n": entry}}
    (row,) = run(value(grader={"type": "numeric_tolerance", "config": config})).tolerances
    assert row["mode"] == mode
    assert row["keys"] == (sorted(entry) if isinstance(entry, dict) else [])
    assert row["status"] == ("ok" if mode else "malformed")


# --- ids, handles, shapes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "status", "findings"),
    [
        ({"id": ...}, "malformed", [("eval_malformed", "/id")]),
        ({"id": 5}, "malformed", []),
        ({"id": "../x"}, "invalid_id", [("id_invalid", "/id")]),
        ({"id": ""}, "invalid_id", [("id_invalid", "/id")]),
        ({"id": "other"}, "ok", [("id_differs_from_stem", "/id")]),
        ({"id": "dup"}, "duplicate_id", [("id_duplicated", "/id")]),
        ({"task": ...}, "ok", [("eval_malformed", "/task")]),
        ({"grader": NUMERIC, "graders": [NUMERIC]}, "ok", [("grader_and_graders", None)]),
    ],
)
def test_one_bad_file_is_one_row(
    changes: dict[str, Any], status: str, findings: list[tuple[str, str | None]]
) -> None:
    """Law 5; rows that are keyed by an id need a good one."""
    out = run(value(**changes), taken={"dup": "evals/first.json"})
    assert [row["status"] for row in out.evals] == [status]
    assert met(out) == findings
    assert bool(out.eval_handles) == (status == "ok")


@pytest.mark.parametrize("item", [None, [], 5, "text", [{"id": "one"}]], ids=repr)
def test_a_file_that_is_no_object_is_malformed(item: Any) -> None:
    out = run(item)
    assert [(row["status"], row["reason"], row["fields"]) for row in out.evals] == [
        ("malformed", "not_an_object", None)
    ]
    assert met(out) == [("eval_malformed", None)]


def test_an_unreadable_file_is_there_and_no_more() -> None:
    out = unreadable("demo/one", PATH, SHA, "too_deep")
    build("evals", out.evals, {})
    (row,) = out.evals
    assert (row["status"], row["reason"], row["eval_id"], row["has_canary"]) == (
        "unreadable",
        "too_deep",
        None,
        None,
    )
    assert met(out) == [("eval_unreadable", None)]


def test_flags_of_the_text_are_findings() -> None:
    out = run(value(), ("bom", "duplicate_key", "nonfinite_literal"))
    assert {rule for rule, _ in met(out)} == {"json_bom", "json_nonfinite"}


@pytest.mark.parametrize(
    ("node", "handles", "malformed"),
    [
        ("latch://1.node", ["latch://1.node"], 0),
        (
            ["latch://2.node", "latch://1.node", "latch://2.node"],
            ["latch://1.node", "latch://2.node"],
            0,
        ),
        ([], [], 0),
        ("s3://bucket/key", ["s3://bucket/key"], 1),
        ("latch://", ["latch://"], 1),
        ("latch://1.node\n", ["latch://1.node\n"], 1),
        (None, [], 1),
        (["latch://1.node", 5], ["latch://1.node"], 1),
    ],
)
def test_handles_are_distinct_and_checked(node: Any, handles: list[str], malformed: int) -> None:
    out = run(value(data_node=node))
    assert [row["handle"] for row in out.eval_handles] == handles
    assert met(out) == [("handle_malformed", "/data_node")] * malformed
    assert out.evals[0]["n_handles"] == len(handles)


@pytest.mark.parametrize("length", [301, 400, 5000])
def test_an_overlong_handle_is_not_cut_into_a_good_one(length: int) -> None:
    """Cut to size it would be another handle, and two of them would become one."""
    nodes = ["latch://" + "1" * length + end for end in ("a", "b")]
    out = run(value(data_node=nodes))
    assert [row["status"] for row in out.eval_handles] == ["malformed", "malformed"]
    assert out.evals[0]["n_handles"] == 2


def test_no_signed_url_reaches_a_row() -> None:
    """Law 8: an author who pastes one must not have it spread by us."""
    out = run(value(data_node="https://bucket.s3.amazonaws.com/key?X-Amz-Signature=SECRET"))
    assert "SECRET" not in json.dumps([out.eval_handles, as_json(out.findings)])
    assert out.eval_handles[0]["status"] == "malformed"


def test_a_predicate_child_is_no_unknown_type() -> None:
    """A gate inside a composite has no type by its format; its syntax is not published."""
    out = run(value(grader=nest(NUMERIC, {"role": "gate"}, {"role": "new"})))
    assert [(row["type"], row["rule_status"]) for row in out.graders] == [
        ("all_of", "undetermined"),
        ("numeric_tolerance", "published"),
        (None, "undetermined"),
        (None, "unknown_type"),
    ]
    assert met(out) == [("grader_type_unknown", "0.2")]
