"""Shares of the recorded runs: whole, even, in order; joined they say what one job says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchproof.analysis.consistency import Records, check_records, judge_shares
from benchproof.analysis.runs import Regraded, regrade_repository
from benchproof.analysis.shares import Share, collect, ranges
from benchproof.findings import rows
from benchproof.inventory.repository import Repository
from benchproof.rulebook import RULES
from benchproof.sources.base import RepoSpec
from benchproof.vault import read_json, write_json
from unit.memory import Memory


@given(
    st.lists(st.integers(0, 30), max_size=5).map(
        lambda counts: {f"a/{n}": count for n, count in enumerate(counts)}
    ),
    st.integers(1, 40),
)
def test_shares_are_whole_even_and_in_order(counts: dict[str, int], shares: int) -> None:
    found = [ranges(counts, share, shares) for share in range(shares)]
    for repo, count in counts.items():
        runs = [run for mine in found for run in range(*mine[repo])]
        assert runs == list(range(count))
    sizes = [sum(stop - start for start, stop in mine.values()) for mine in found]
    assert max(sizes) - min(sizes) <= 1
    for (
        mine
    ) in found:  # a share is one stretch: what lies between its first and last run is its own
        touched = [repo for repo, (start, stop) in mine.items() if start < stop]
        assert all(mine[repo][1] == counts[repo] for repo in touched[:-1])
        assert all(mine[repo][0] == 0 for repo in touched[1:])


def record(number: int, eval_id: str) -> dict[str, Any]:
    passed = number % 3 == 0
    scores = {"n": 1.0, "m": float(passed)}
    answer = {"n": 100 + number % 7, "m": 7}
    told = {"hard_fail_triggered": [], "scoring_count": 2, "scoring_passed": 1 + passed}
    graded = {
        "agent_answer": answer,
        "field_scores": scores,
        "metrics": told,
        "passed": passed,
        "score": number % 5 / 4,
    }
    return {
        "harness": "mini",
        "model_name": "other/model" if number % 11 == 0 else "openai/gpt-x",
        "result": {"agent_answer": answer, "grader_result": graded, "passed": passed},
        "task": eval_id,
    }


def repository(repo: str, number: int) -> Repository:
    config = {"ground_truth": {"n": 100, "m": 7}, "tolerances": {"n": {"value": 5}, "m": {}}}
    grader = {"grader": {"type": "numeric_tolerance", "config": config}}
    files: dict[str, Any] = {
        f"evals/{name}.json": {"id": name, "task": "x", **more}
        for name, more in {"one": grader, "held": {}}.items()
    }
    for count in range(number):
        eval_id = ("one", "held")[count % 2]
        # Quotes make a path stand elsewhere among texts than among bytes.
        harness = "mini" if count % 5 else 'mi"ni'
        folder = f"trajectories/{eval_id}/openai/gpt-x/{harness}/r{count}"
        said = record(count, eval_id)
        files[f"{folder}/result.json"] = said
        if count % 2:
            files[f"{folder}/eval_answer.json"] = said["result"]["agent_answer"]
    files["trajectories/one/openai/gpt-x/mini/r4/result.json"] = b"{"
    raw = {
        path: value if isinstance(value, bytes) else json.dumps(value, indent=2).encode()
        for path, value in files.items()
    }
    return Repository(RepoSpec(repo, "main", "evals", "trajectories"), "c" * 40, Memory(raw))


REPOSITORIES = [repository("a/empty", 0), repository("b/few", 3), repository("c/many", 40)]


@pytest.mark.parametrize("shares", [1, 2, 3, 7, 60])
def test_joined_they_are_what_one_job_finds(tmp_path: Path, shares: int) -> None:
    whole, checked = Regraded(), Records()
    for item in REPOSITORIES:
        regrade_repository(item, whole)
        check_records(item, checked)
    counts = {item.spec.repo: item.n_runs for item in REPOSITORIES}
    joined, handed = Regraded(), []
    for share in range(shares):
        part, found = Regraded(), Share()
        for item in REPOSITORIES:
            found.grade(item, part, *ranges(counts, share, shares)[item.spec.repo])
        joined.runs += part.runs
        joined.run_fields += part.run_fields
        write_json(tmp_path / "x.json", found.record(part))
        handed.append(read_json(tmp_path / "x.json"))
    heard = Records()
    assert collect(handed, joined) == judge_shares(handed, heard) == dict.fromkeys(counts, "c" * 40)
    keys = [(run["repo"], run["run_path"]) for run in joined.runs]
    assert keys == sorted(keys)
    assert joined.runs == whole.runs
    assert joined.run_fields == whole.run_fields
    assert joined.reading_rows() == whole.reading_rows()
    assert rows(joined.findings, RULES) == rows(whole.findings, RULES)
    assert key(heard) == key(checked)
    assert rows(heard.findings, RULES) == rows(checked.findings, RULES)
    assert {run["status"] for run in whole.runs} >= {"graded", "unreadable", "rule_not_published"}
    assert checked.findings


def key(found: Records) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row.values())) for row in found.rows())
