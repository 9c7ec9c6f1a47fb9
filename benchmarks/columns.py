"""Grade many answers by both implementations, one by one and as columns, beside `json.loads`.

usage: columns.py [--runs 1000000] [--batch 8192] [--json FILE]

The records have the length and form of the real ones. They are made in batches before the clock
runs and dropped afterwards, so the memory that is reported is what grading itself needs. For each
family three things are timed over the same batches: `json.loads` of the records, the scalar
implementation and the columns; the sums of both implementations must agree.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from benchproof.grading import compile_rule  # noqa: E402
from benchproof.grading.columns import grade_columns  # noqa: E402
from benchproof.grading.registry import Compiled  # noqa: E402
from family import draft_family  # noqa: E402

_WORDS = [f"INVENTED_{number:03d}" for number in range(12)]
FAMILIES: dict[str, tuple[str, dict[str, Any], Callable[[random.Random], dict[str, Any]]]] = {
    "numeric": (
        "numeric_tolerance",
        {
            "ground_truth": {"a": 100, "b": 0.5, "c": 7},
            "tolerances": {
                "a": {"type": "absolute", "value": 5},
                "b": {"type": "absolute", "value": 0.125},
                "c": {"type": "absolute", "lower": 1, "upper": 2},
            },
        },
        lambda rng: {
            "a": rng.randrange(85, 115),
            "b": rng.random(),
            "c": rng.uniform(4, 11),
        },
    ),
    "labels": (
        "label_set_jaccard",
        {"ground_truth_labels": _WORDS[:6], "scoring": {"pass_threshold": 0.5}},
        lambda rng: {"cell_types_predicted": rng.sample(_WORDS, rng.randrange(3, 9))},
    ),
    "markers": (
        "marker_gene_precision_recall",
        {"canonical_markers": _WORDS[:6]},
        lambda rng: {"top_marker_genes": rng.sample(_WORDS, rng.randrange(3, 9))},
    ),
}


@dataclass
class Figures:
    """CPU seconds over all batches of one family, and what they were spent on."""

    runs: int = 0
    megabytes: float = 0.0
    loads: float = 0.0
    scalar: float = 0.0
    columns: float = 0.0
    one_by_one: int = 0
    passed: int = 0


def _template() -> str:
    """Return an invented record with a place for the answer."""
    run = draft_family(repos=["scbench"]).runs["scbench"][0]
    result = {**run.result["result"], "agent_answer": "@", "grader_result": None}
    return json.dumps({**run.result, "result": result})


def _spent(work: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    found = work()
    return time.process_time() - before, found


def _batch(figures: Figures, rule: Compiled, records: Sequence[bytes]) -> None:
    """Time one batch of records."""
    spent, parsed = _spent(lambda: [json.loads(record) for record in records])
    figures.loads += spent
    answers = [item["result"]["agent_answer"] for item in parsed]
    spent, one = _spent(lambda: sum(rule.grade(answer).passed is True for answer in answers))
    figures.scalar += spent
    spent, found = _spent(lambda: grade_columns(rule, answers))
    figures.columns += spent
    many = int((found.passed == 1).sum())
    if one != many:
        raise SystemExit(f"the implementations disagree: {one} and {many} passed")
    figures.runs += len(records)
    figures.megabytes += sum(map(len, records)) / 1e6
    figures.one_by_one += int(found.scalar.sum())
    figures.passed += one


def measure(name: str, runs: int, batch: int) -> Figures:
    """Measure one family."""
    kind, config, answer = FAMILIES[name]
    rule, rng = compile_rule(kind, config), random.Random(name)
    before, after = _template().split('"@"')
    figures = Figures()
    while figures.runs < runs:
        size = min(batch, runs - figures.runs)
        made = [(before + json.dumps(answer(rng)) + after).encode() for _ in range(size)]
        _batch(figures, rule, made)
    return figures


def report(name: str, found: Figures) -> str:
    """Return one family's figures as text."""
    lines = [f"{name}: {found.runs} runs, {found.megabytes:.0f} MB of JSON, {found.passed} passed"]
    for shown, spent in (
        ("json.loads", found.loads),
        ("scalar", found.scalar),
        ("columns", found.columns),
    ):
        rate, ratio = found.runs / spent, spent / found.loads
        lines.append(
            f"  {shown:<12} {spent:8.2f} cpu s {rate:12,.0f} runs/s  {ratio:6.3f} of loads"
        )
    lines.append(f"  left to the scalar implementation: {found.one_by_one} runs")
    return "\n".join(lines)


def main() -> int:
    """Measure, print, and write the figures as JSON when asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    found = {name: measure(name, given.runs, given.batch) for name in FAMILIES}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print("\n".join(report(name, figures) for name, figures in found.items()))
    print(f"memory: {peak:.0f} MB at the peak, {start:.0f} MB before the first batch")
    if given.json:
        figures = {name: asdict(item) for name, item in found.items()}
        given.json.write_text(json.dumps({**figures, "peak_mb": peak}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
