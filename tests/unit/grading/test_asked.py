"""An answer of one's own: found by id, told pass or fail, and never an expected value."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchproof.errors import BenchproofError, ConfigError
from benchproof.grading import asked
from benchproof.grading.own import OwnField, OwnVerdict
from benchproof.sources import content, objects
from benchproof.sources.base import Entry, RepoSpec
from benchproof.vault import Vault, write_json

DAY, TRUTH = "2026-01-15", 48151.62342
RULE = {
    "type": "numeric_tolerance",
    "config": {"ground_truth": {"n": TRUTH}, "tolerances": {"n": {"type": "absolute", "value": 2}}},
}


def evaluation(eval_id: str, **more: Any) -> bytes:
    value = {"id": eval_id, "task": "t", "metadata": {}, "data_node": "latch://1.node", **more}
    return json.dumps(value).encode()


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """Two repositories: both have `both`, one has `only`, the other `withheld`."""
    made = Vault(tmp_path / "vault")
    files = {
        "demo/one": {"evals/both.json": evaluation("both", grader=RULE),
                     "evals/only.json": evaluation("only", grader=RULE)},
        "demo/two": {"evals/both.json": evaluation("both", grader=RULE),
                     "evals/withheld.json": evaluation("withheld")},
    }  # fmt: skip
    for repo, tree in files.items():
        commit = objects.blob_id(repo.encode())
        blobs = [(objects.blob_id(data), data) for data in tree.values()]
        entries = [Entry(p.encode(), "100644", objects.blob_id(d), len(d)) for p, d in tree.items()]
        content.save(made.content(repo, commit), entries, blobs)
        pin = {
            "repo": repo, "ref": "main", "status": "ok", "reason": None, "commit_sha": commit,
            "tree_sha": "0" * 40, "committed_at": datetime(2026, 1, 1, tzinfo=UTC).isoformat(),
            "resolved_repo": repo, "repo_id": None, "source": "git",
        }  # fmt: skip
        write_json(made.pin_record(DAY, repo, "main"), pin)
    return made


def audit(label: str = DAY) -> Any:
    family = [RepoSpec(repo, "main", "evals", "trajectories") for repo in ("demo/one", "demo/two")]
    return SimpleNamespace(label=label, family=family)


def ask(vault: Vault, tmp_path: Path, name: str, answer: Any, label: str = DAY) -> OwnVerdict:
    path = tmp_path / "answer.json"
    path.write_text(answer if isinstance(answer, str) else json.dumps(answer))
    return asked.grade_answer(vault, audit(label), name, str(path))


@pytest.mark.parametrize("name", ["only", "one/only", "demo/one/only", "two/both"])
def test_an_evaluation_is_found_by_its_names(vault: Vault, tmp_path: Path, name: str) -> None:
    assert ask(vault, tmp_path, name, {"n": TRUTH + 1}).passed is True
    assert ask(vault, tmp_path, name, {"n": TRUTH + 3}).passed is False


def test_the_newest_pins_serve_where_the_day_has_none(vault: Vault, tmp_path: Path) -> None:
    assert ask(vault, tmp_path, "only", {"n": TRUTH}, label="2030-01-01").passed is True


def test_a_withheld_rule_gives_no_verdict(vault: Vault, tmp_path: Path) -> None:
    found = ask(vault, tmp_path, "withheld", {"n": 1})
    assert asked.told(found) == ["verdict: rule_not_published", "reason: no_grader"]


def test_standard_input(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    given = SimpleNamespace(buffer=io.BytesIO(json.dumps({"n": TRUTH}).encode()))
    monkeypatch.setattr(sys, "stdin", given)
    assert asked.grade_answer(vault, audit(), "only", "-").passed is True


@pytest.mark.parametrize(
    ("name", "answer", "error", "said"),
    [
        ("both", {}, ConfigError, "one/both or two/both"),
        ("onyl", {}, BenchproofError, "Did you mean only?"),
        ("two/only", {}, BenchproofError, "no such evaluation"),
        ("three/only", {}, BenchproofError, "no such evaluation"),
        ("only", "{", ConfigError, "not_json"),
    ],
)
def test_what_is_wrong_is_said(
    vault: Vault, tmp_path: Path, name: str, answer: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        ask(vault, tmp_path, name, answer)


def test_an_empty_vault_and_a_missing_file_say_so(vault: Vault, tmp_path: Path) -> None:
    with pytest.raises(BenchproofError, match="run snakemake"):
        ask(Vault(tmp_path / "none"), tmp_path, "only", {})
    with pytest.raises(BenchproofError, match="cannot be read"):
        asked.grade_answer(vault, audit(), "only", str(tmp_path / "missing.json"))


def test_nothing_told_gives_the_key_away(vault: Vault, tmp_path: Path) -> None:
    answers: list[Any] = [{"n": TRUTH + 3}, {"n": "x"}, {}, [], None, {"n": TRUTH}]
    for answer in answers:
        text = "\n".join(asked.told(ask(vault, tmp_path, "only", answer)))
        assert "48151" not in text
        assert "62342" not in text


def test_fields_are_told_by_pass_and_fail() -> None:
    fields = (
        OwnField("a", True, None),
        OwnField("b", False, "missing_field"),
        OwnField("c", None, None),
    )
    told = asked.told(
        OwnVerdict("graded", "numeric_tolerance", False, "missing_field", None, fields)
    )
    assert told == [
        "verdict: fail",
        "rule: numeric_tolerance",
        "failure: missing_field",
        "  a: pass",
        "  b: fail (missing_field)",
        "  c: undetermined",
    ]
