"""What mutation starts from: files of the synthetic family, and small ones of every form."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from family import Draft, draft_family

_CASES = Path(__file__).resolve().parents[2] / "unit" / "grading" / "data"


@cache
def drafted() -> Draft:
    """Return a small family in memory, with its planted faults."""
    return draft_family(small=True, planted=True)


def files(*endings: str, inside: str = "", most: int = 40) -> list[bytes]:
    """Return contents of the family's files, the smaller ones first."""
    found = {
        data
        for commits in drafted().trees.values()
        for path, (_, data) in commits[-1].items()
        if path.decode("utf-8", "replace").endswith(endings)
        and inside in path.decode("utf-8", "replace")
    }
    ordered = sorted(found, key=lambda data: (len(data), data))
    return ordered[:: max(1, len(ordered) // most)]


@cache
def evaluations() -> list[bytes]:
    return [data for data in files(".json", inside="/") if b'"grader' in data or b'"task"' in data]


@cache
def records() -> list[bytes]:
    return files("result.json")


@cache
def manifests() -> list[bytes]:
    shapes: list[Any] = [
        [{"task": "qc", "kit": "k", "eval_id": "a"}],
        {"evals": [{"id": "a", "path": "evals/a.json", "task": "qc"}]},
        {"examples": [{"src": "/Users/x/a", "dest": "/Users/x/evals/a.json", "id": "a"}]},
        {"platforms": {"p": {"n_evals": 1, "evals": ["a"]}}},
    ]
    return [*files("manifest.json"), *(json.dumps(shape).encode() for shape in shapes)]


@cache
def graded() -> list[bytes]:
    """Return hand-made cases of all grader families: type, config and answer."""
    rows = []
    for path in sorted(_CASES.glob("*.jsonl")):
        rows += [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    cases = [
        {
            "type": row.get("type", "numeric_tolerance"),
            "config": row["config"],
            "answer": row["answer"],
        }
        for row in rows
        if "config" in row and "answer" in row
    ]
    cases += [
        {"type": "longest_subsequence", "config": {}, "answer": {}},
        {"type": "all_of", "config": {"children": cases[:2]}, "answer": {}},
    ]
    return [json.dumps(case).encode() for case in cases]
