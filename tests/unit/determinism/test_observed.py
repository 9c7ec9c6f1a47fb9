"""What jobs saw becomes one value for each condition, and contradictions are told."""

from __future__ import annotations

from typing import Any

from benchproof.determinism.conditions import DESIGN
from benchproof.determinism.observed import observed

ABOUT = {"cpus": 2, "omp": "3", "umask": "022", "cwd": "/r", "hash": [7, 8], "locale": "C"}


def seen(rule: str, began: float, ended: float, **changes: Any) -> dict[str, Any]:
    base = {
        **ABOUT,
        "arrow": None,
        "zone": "+0000 UTC",
        "orders": [["a", "b"]],
        "archives": {"x.zip": 1},
        "tables": [],
    }
    return {**base, "rule": rule, "began": began, "ended": ended, **changes}


def test_every_condition_has_a_value() -> None:
    jobs = [
        seen("regrade_runs", 5, 6, arrow=3),
        seen("grade_share", 1, 4),
        seen("grade_share", 2, 5),
        seen("pin_commits", 0, 1, tables=["pins.parquet", "claims.parquet"]),
    ]
    values, problems = observed(jobs, ["pin_commits", "regrade_runs"], {1: "git"}, ["pins", "tree"])
    assert set(values) == set(DESIGN)
    assert not problems
    assert values["jobs at once"] == "2"
    assert values["job order"] == "pico reru"
    assert values["shares of runs"] == "2"
    assert values["threads"] == "2 CPU, OMP 3, Arrow 3"
    assert values["source"] == "1 git"
    assert values["on top of another"] == "1 content tables stood there"
    assert values["hash seed"] == "0007 0008"


def test_one_job_after_another_is_one_at_once() -> None:
    jobs = [seen("a", 0, 1), seen("b", 1, 2)]
    assert observed(jobs, [], {1: "git"}, [])[0]["jobs at once"] == "1"


def test_silent_jobs_and_jobs_that_disagree_are_problems() -> None:
    jobs = [seen("a", 0, 1), seen("b", 2, 3, locale="tr_TR.UTF-8")]
    values, problems = observed(jobs, ["a", "c"], {}, [])
    assert problems == [
        "no witness of c",
        "jobs of one derivation saw different values of locale: C / tr_TR.UTF-8",
    ]
    assert values["source"] == "1 unknown"


def test_ways_of_listing_that_disagree_show() -> None:
    jobs = [seen("a", 0, 1, orders=[["a", "b"], ["b", "a"]])]
    assert observed(jobs, [], {}, [])[0]["folder order"] == "ab ba"


def test_no_witness_at_all_is_a_problem() -> None:
    assert observed([], ["a"], {}, [])[1] == ["no witness of a"]
