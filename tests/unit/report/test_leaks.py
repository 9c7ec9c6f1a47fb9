"""The leak scan: every form on every surface, no alarm without a leak, and never a word of what it found."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof import findings, tables
from benchproof.errors import LeakError
from benchproof.inventory.repository import Repository
from benchproof.journal import Journal
from benchproof.report import leaks
from benchproof.report.dictionary import REASONS, STATUSES
from benchproof.report.leaks import Needles, harvest, scan, self_test
from benchproof.report.visible import embedded, visible
from benchproof.sources.base import RepoSpec
from benchproof.vault import private_folder
from unit.memory import Memory

VALUES = (
    "73519.2468",
    "Zq planted text",
    'Zq "quoted" & <b>',
    "Zq naïve ‑ 漢字",
    "Zq it's",
    "Zq \u202elaid\x07 <out>",
    "8461937",
    "-8461937.25",
)
FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda v: v,
    "json": lambda v: json.dumps(v)[1:-1],
    "json-utf8": lambda v: json.dumps(v, ensure_ascii=False)[1:-1],
    "html": html.escape,
    "page": lambda v: embedded(v)[1:-1],
    "shown": visible,
    "shown-page": lambda v: embedded(visible(v))[1:-1],
    "shown-html": lambda v: html.escape(visible(v)),
    "jinja": lambda v: jinja2.Environment(autoescape=True).from_string("{{ v }}").render(v=v),
    "base64": lambda v: base64.b64encode(v.encode()).decode(),
    "base64-inside": lambda v: base64.b64encode(b"before " + v.encode() + b" after!").decode(),
    "base64-json": lambda v: base64.b64encode(json.dumps({"a": v}).encode()).decode(),
    "base64-url": lambda v: base64.urlsafe_b64encode(b"~~~" + v.encode() + b"~~~").decode(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", VALUES)
def test_every_form_is_found(form: str, value: str) -> None:
    data = f"x {FORMS[form](value)} y".encode()
    assert Needles([value]).hits("place", data)


@given(
    st.text(min_size=8, max_size=30).filter(lambda t: t.strip() == t),
    st.binary(max_size=4),
    st.binary(max_size=4),
)
@settings(max_examples=80)
def test_base64_is_found_at_any_alignment(value: str, before: bytes, after: bytes) -> None:
    data = base64.b64encode(before + value.encode() + after)
    assert Needles([value]).hits("place", data)


@pytest.mark.parametrize(
    "data",
    [
        "18461937",
        "84619375",
        "8461937x",
        "x8461937",
        "0.8461937",
        "8461937.5",
        "1.8461937e5",
        "_8461937",
        "8461937.25",
    ],
)
def test_a_number_inside_a_longer_one_is_no_hit(data: str) -> None:
    """Digests, sizes and times are full of digits."""
    assert Needles(["8461937"]).hits("place", data.encode()) == []


@pytest.mark.parametrize(
    "data",
    ["8461937", "-8461937", "=8461937.", "8461937,", "[8461937]", "8461937.0", "a 8461937\n"],
)
def test_a_number_by_itself_is_a_hit(data: str) -> None:
    assert Needles(["8461937"]).hits("place", data.encode())


def surfaces(tmp_path: Path, value: str) -> dict[str, Path]:
    """Write a value to one file of each kind, each in a folder of its own."""
    table = pa.table({"a": pa.array([None, value]), "b": pa.array([["x", value], []])})
    block = embedded({"a": [f"b\n{value}\nc"]})
    listed: dict[str, Callable[[Path], object]] = {
        "html": lambda p: p.with_suffix(".html").write_text(html.escape(value)),
        "block": lambda p: p.with_suffix(".html").write_text(
            f'<script type="application/json" id="a">{block}</script>'
        ),
        "log": lambda p: p.with_suffix(".log").write_text(f"12:00:00 {value}\n"),
        "hidden": lambda p: (p.parent / ".x").write_text(json.dumps({"a": value})),
        "deep": lambda p: private_folder(p / "y").joinpath("z").write_text(value),
        "column": lambda p: pq.write_table(
            table.select(["a"]), p.with_suffix(".parquet"), compression="zstd"
        ),
        "list": lambda p: pq.write_table(
            table.select(["b"]), p.with_suffix(".parquet"), compression="zstd"
        ),
        "metadata": lambda p: pq.write_table(
            pa.table({}).replace_schema_metadata({"k": value}), p.with_suffix(".parquet")
        ),
        "name": lambda p: (p.parent / f"{value}.txt").touch(),
        "folder": lambda p: private_folder(p.parent / value).joinpath("x").touch(),
    }
    for name, write in listed.items():
        (tmp_path / name).mkdir()
        write(tmp_path / name / "x")
    return {name: tmp_path / name for name in listed}


def test_every_surface_is_searched_and_the_value_never_said(tmp_path: Path) -> None:
    value = "Zq-planted-73519"
    needles = Needles([value, "unrelated text"])
    for name, folder in surfaces(tmp_path, value).items():
        hits, searched = scan(needles, [folder])
        assert hits, name
        assert searched >= 2
        assert value not in repr(hits), name
    assert value not in repr(needles)


@pytest.mark.parametrize(
    ("column", "needle"),
    [
        (pa.array([8461937], pa.int64()), "8461937"),
        (pa.array([73519.2468], pa.float64()), "73519.2468"),
        (pa.array([None, 8461937.0], pa.float64()), "8461937"),
    ],
)
def test_numbers_are_found_in_columns_of_numbers(tmp_path: Path, column: Any, needle: str) -> None:
    pq.write_table(pa.table({"a": column}), tmp_path / "x.parquet")
    assert scan(Needles([needle]), [tmp_path])[0]


def test_no_needles_find_nothing(tmp_path: Path) -> None:
    """A family without graders or runs has no graded value."""
    (tmp_path / "x").write_text("anything")
    assert scan(Needles([]), [tmp_path, tmp_path / "nowhere"]) == ([], 2)


# --- what is searched for ------------------------------------------------------------------------


def harvested(
    evaluation: dict[str, Any] | None = None, result: dict[str, Any] | None = None
) -> set[str]:
    base = {"id": "one", "task": "Report the count.", "metadata": {}, "data_node": "latch://1.node"}
    files = {"evals/t/one.json": json.dumps({**base, **(evaluation or {})}).encode()}
    if result is not None:
        files["trajectories/one/p/m/h/r1/result.json"] = json.dumps({"result": result}).encode()
    spec = RepoSpec("demo/one", "main", "evals", "trajectories")
    return harvest(Repository(spec, "c" * 40, Memory(files)))


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
    spec = RepoSpec("demo/one", "main", "evals", "trajectories")
    files = {
        "trajectories/one/p/m/h/r1/result.json": json.dumps(
            {"result": result("Zq configured")}
        ).encode()
    }
    repository = Repository(spec, "c" * 40, Memory(files))
    assert harvest(repository) == {"Zq configured"}
    assert harvest(repository, ['{"notice": "Zq configured"}']) == set()


def test_an_answer_nested_as_deep_as_json_may_be_stops_nothing() -> None:
    deep, public = "Zq label", "Zq public"
    levels: list[Any] = [deep, public]
    for _ in range(150):
        levels = [[item] for item in levels]
    assert harvested({"extra": levels[1]}, result(levels)) == {"Zq label"}


# --- the scan's own test -------------------------------------------------------------------------


def planted(folder: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = folder / "planted.parquet"
        row = dict.fromkeys(tables.SPECS["readings"].schema.names) | {"reading": text}
        tables.write(path, "readings", [row], {})
        return path

    return write


def test_the_self_test_passes_and_cleans_up(tmp_path: Path) -> None:
    self_test(planted(tmp_path), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("blind", ["hits", "decoded", "surfaces"])
def test_the_self_test_sees_a_blind_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blind: str
) -> None:
    if blind == "hits":
        monkeypatch.setattr(Needles, "hits", lambda *_: [])
    else:
        monkeypatch.setattr(leaks, blind, lambda *_: iter(()))
    with pytest.raises(LeakError, match=r"missed a (planted )?value"):
        self_test(planted(tmp_path), tmp_path)


def test_the_secret_parts_of_signed_urls_are_needles(tmp_path: Path) -> None:
    """Law 8: signatures, tokens and credentials; what is public in a URL is none."""
    book = Journal(tmp_path / "links.jsonl")
    query = "X-Amz-Date=20260115T000000Z&X-Amz-Signature=abcdef0123&X-Amz-Security-Token=TOKENTOKEN"
    book.add("latch://1.node", {"url": f"https://storage.test/bucket/key.h5ad?{query}"})
    found = leaks.link_secrets(book.path)
    assert found == {"abcdef0123", "TOKENTOKEN"}
    out = tmp_path / "out"
    out.mkdir()
    (out / "x.log").write_text("GET https://storage.test/?X-Amz-Signature=abcdef0123")
    hits, _ = leaks.scan(leaks.Needles(found), [out])
    assert [hit.form for hit in hits] == ["plain"]


def test_without_a_book_there_are_no_links(tmp_path: Path) -> None:
    assert leaks.link_secrets(tmp_path / "links.jsonl") == set()
