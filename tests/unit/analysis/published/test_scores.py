"""Published results in every shape that the family's history has become one form."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from benchproof.analysis.published.scores import File, Score, number, parse, plain, with_harness

CSV = (
    "model_name,harness,Accuracy (%),ci_lower,ci_upper,Cost ($),N\r\n"
    "m-1,mini,57.95,51.56,64.34,1.1136,195\r\nm-2,mini,63.8,57.0,70.6,0.8,195\r\n"
)
OLD = {
    "metadata": {"n_evaluations": 146, "n_runs_per_model": 3, "harness": "mini"},
    "models": [
        {"id": "m-1", "accuracy": {"mean": 48.1, "ci_lower": 40.8, "ci_upper": 55.3}},
        {"id": "m-2", "harness": "cc", "accuracy": {"mean": 50.0}, "n_evals": 140},
    ],
}
PARTS = {
    "metadata": {"n_runs": 3},
    "tasks": {
        "qc": {"n_evals": 23, "model": {"m-1-mini": {"passed": 50.0, "ci_low": 1, "ci_high": 99}}}
    },
}


def read(path: str, value: Any) -> File:
    data = value if isinstance(value, str) else json.dumps(value)
    return parse(path, data.encode())


def test_a_csv() -> None:
    """63.8 beside 57.95 was rounded to two places."""
    first, second = read("results/a.csv", CSV).scores
    assert (first.model, first.harness, first.mean, first.n_evals) == (
        "m-1",
        "mini",
        Decimal("57.95"),
        195,
    )
    assert (first.low, first.high) == (Decimal("51.56"), Decimal("64.34"))
    assert first.others == {"cost": Decimal("1.1136")}
    assert second.decimals == 2


def test_a_list_of_models_in_json() -> None:
    file = read("results/b.json", OLD)
    assert (file.replicates, file.stated) == (3, 146)
    assert [(s.model, s.harness, s.n_evals, s.place) for s in file.scores] == [
        ("m-1", "mini", 146, "/models/0"),
        ("m-2", "cc", 140, "/models/1"),
    ]


@pytest.mark.parametrize("word", ["model", "models"])
@pytest.mark.parametrize(
    ("top", "axis"), [("tasks", "category"), ("categories", "category"), ("platforms", "platform")]
)
def test_parts_in_json(word: str, top: str, axis: str) -> None:
    cell = {"mean": 50.0, "ci_lower": 40.0, "ci_upper": 60.0}
    (score,) = read("results/c.json", {top: {"qc": {"n_evals": 23, word: {"m-1": cell}}}}).scores
    assert (score.axis, score.stratum, score.n_evals, score.high) == (
        axis,
        "qc",
        23,
        Decimal("60.0"),
    )
    assert score.place == f"/{top}/qc/m-1"


def test_a_readme_table_with_counts() -> None:
    text = "| Model | Harness | Runs | Passed | Pass Rate |\n|-|-|-|-|-|\n| m | pi | 72 | 8 | 11.11% |\n"
    (score,) = read("README.md", text).scores
    assert (score.runs, score.passed, score.mean, score.place) == (
        72,
        8,
        Decimal("11.11"),
        "table 1 row 1",
    )


def test_a_readme_table_with_bounds_in_one_cell() -> None:
    text = "| Model | Accuracy | 95% CI |\n|-|-|-|\n| M 1 | 52.8% | (48.3, 57.2) |\n"
    (score,) = read("README.md", text).scores
    assert (score.low, score.high) == (Decimal("48.3"), Decimal("57.2"))


def test_other_tables_are_kept_for_what_they_share() -> None:
    """Bounds of a table without accuracies belong to something else."""
    text = "model_name,harness,Steps (mean),ci_lower,ci_upper,Cost ($)\nm-1,mini,10.4,9.6,11.2,1.1136\n"
    file = read("results/steps.csv", text)
    assert not file.scores
    assert not file.odd
    assert (file.extras[0].low, file.extras[0].others["cost"]) == (None, Decimal("1.1136"))


@pytest.mark.parametrize(
    "value",
    [[], {}, 3, {"models": {}}, {"tasks": []}, {"tasks": {"a": 1}}, {"models": [1, {"mean": 1.0}]}],
    ids=str,
)
def test_what_is_not_understood_is_odd_and_no_crash(value: Any) -> None:
    file = read("results/d.json", value)
    assert file.odd
    assert not file.scores


def test_nan_is_no_number() -> None:
    (score,) = read("results/e.json", '{"models": [{"id": "m", "accuracy": NaN}]}').scores
    assert score.mean is None
    (score,) = read("results/e.csv", "model,accuracy\nNA,NaN\n").scores
    assert (score.model, score.mean) == ("NA", None)


@pytest.mark.parametrize(
    ("text", "value"),
    [("57.95", "57.95"), ("11.11%", "11.11"), ("$0.14", "0.14"), ("-2", "-2"), ("1E5", None),
     ("1,5", None), ("", None), (None, None), ("124s", None), ("٣", None)],
)  # fmt: skip
def test_numbers_as_people_write_them(text: str | None, value: str | None) -> None:
    assert number(text) == (None if value is None else Decimal(value))


def test_names_of_one_model_are_one() -> None:
    assert plain("GPT-5.2") == plain("gpt-5-2") == plain("gpt 5.2")


def test_model_and_harness_in_one_name_are_told_apart() -> None:
    known = read("results/a.csv", CSV).scores
    (score,) = with_harness(read("results/c.json", PARTS).scores, known)
    assert (score.model, score.harness) == ("m-1", "mini")
    (other,) = with_harness([Score("p", "x", "category", "qc", "m-9-mini", None, None)], known)
    assert (other.model, other.harness) == ("m-9-mini", None)


@pytest.mark.parametrize("blank", ["\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u3000"])
def test_a_count_is_read_between_whatever_unicode_calls_blank(blank: str) -> None:
    """str.strip takes away more than int() does."""
    (score,) = read("results/d.csv", f'model,accuracy,N\nm,50,"{blank}12{blank}"\n').scores
    assert score.n_evals == 12
