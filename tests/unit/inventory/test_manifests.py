"""Manifests in the five shapes that the family has had, and whatever else stands in their place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.inventory.manifests import Manifest, Row, parse


def test_shape_a_builds_the_path() -> None:
    given = [
        {"task": "qc", "kit": "k1", "eval_id": "one", "benchmark": False},
        {"task": "t", "eval_id": "two"},
    ]
    assert parse(given, "evals") == Manifest(
        "a",
        (
            Row(1, "one", "evals/qc/one.json", task="qc", kit="k1", benchmark=False),
            Row(2, "two", "evals/t/two.json", task="t"),
        ),
    )


def test_shape_b_states_the_path() -> None:
    given = {
        "version": 1,
        "evals": [{"id": "one", "path": "evals/x/one.json", "kit": "k", "benchmark": True}],
    }
    assert parse(given, "evals").rows == (
        Row(1, "one", "evals/x/one.json", kit="k", benchmark=True),
    )


def test_shape_c_has_a_useful_basename_alone() -> None:
    given = {
        "examples": [
            {
                "src": "/home/x/a.json",
                "dest": "/home/x/out/one_x.json",
                "id": "one",
                "task_cat": "t",
                "platform": "p",
            }
        ]
    }
    assert parse(given, "evals") == Manifest(
        "c", (Row(1, "one", stem="one_x", task="t", kit="p"),), local_paths=True
    )
    assert not parse({"examples": [{"dest": "out/one.json"}]}, "evals").local_paths
    assert parse({"examples": [{"dest": "~/one.json"}]}, "evals").local_paths


def test_shape_d_names_stems_and_counts() -> None:
    given = {
        "platforms": {
            "p": {"n_evals": 2, "evals": ["one", "two"]},
            "q": {"n_evals": 5, "evals": ["three"]},
            "r": {"evals": []},
        }
    }
    found = parse(given, "evals")
    assert (found.shape, found.wrong_counts) == ("d", ("/platforms/q",))
    assert [(row.row, row.stem, row.kit, row.path) for row in found.rows] == [
        (1, "one", "p", None),
        (2, "two", "p", None),
        (3, "three", "q", None),
    ]


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "evals",
        {},
        {"items": [{"id": "x"}]},
        {"evals": {"x": {"path": "y"}}},
        {"evals": "x"},
        {"evals": None},
        {"examples": {"x": 1}},
        {"platforms": ["x"]},
        {"platforms": {"p": ["x"]}},
        {"platforms": {"p": {"n_evals": 1}}},
        {"platforms": {"p": {"evals": {"x": 1}}}},
        {"evals": ["one", "two"]},
        [["one"], ["two"]],
        [1, 2],
        ["one", "two"],
        [{"name": "one"}, {"name": "two"}],
        {"evals": [{"name": "one", "file": "x.json"}]},
        {"examples": [{"name": "one"}]},
        {"platforms": {"p": {"evals": [{"id": "one"}]}}},
    ],
    ids=lambda value: json.dumps(value),
)
def test_any_other_shape_is_unknown(value: Any) -> None:
    """FACTS: never "0 evals", also where a list has rows and not one of them names an evaluation."""
    assert parse(value, "evals").shape == "unknown"


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        (
            [
                {"task": "t", "eval_id": "one"},
                {"task": "t"},
                {"eval_id": "two"},
                None,
                "x",
                {"task": 5, "eval_id": "y"},
            ],
            [2, 3, 4, 5, 6],
        ),
        ({"evals": [{"id": "one", "path": "p"}, {"id": "two"}, {"path": "p"}, []]}, [2, 3, 4]),
        (
            {"examples": [{"dest": "/x/one.json"}, {"dest": ""}, {"dest": "/x/"}, {"id": "x"}]},
            [2, 3, 4],
        ),
        ({"platforms": {"p": {"evals": ["one", 5, None]}}}, [2, 3]),
    ],
    ids="abcd",
)
def test_a_malformed_row_keeps_its_number(value: Any, problems: list[int]) -> None:
    found = parse(value, "evals")
    assert [row.row for row in found.rows if row.problem] == problems
    assert [row.row for row in found.rows] == list(range(1, len(found.rows) + 1))


@pytest.mark.parametrize(
    "value", [[], {"evals": []}, {"examples": []}, {"platforms": {}}], ids=json.dumps
)
def test_an_empty_list_is_a_known_shape(value: Any) -> None:
    found = parse(value, "evals")
    assert (found.shape in "abcd", found.rows) == (True, ())


names = st.sampled_from(
    ["evals", "examples", "platforms", "task", "eval_id", "id", "path", "dest", "kit", "n_evals"]
)
leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


@given(values)
@settings(max_examples=60)
def test_no_value_raises(value: Any) -> None:
    found = parse(value, "evals")
    assert found.shape in ("a", "b", "c", "d", "unknown")
    assert all(row.problem or row.path or row.stem is not None for row in found.rows)
