"""Published results of the invented benchmarks: tables over a full set of which the public runs are a
sample, in the shapes that the real ones have, and consistent to the last run.
"""

from __future__ import annotations

import csv
import io
import math
import random
from dataclasses import dataclass, field

from family import shape
from family.draft import Draft
from family.tree import RepoTree

Pair = tuple[str, str, str]
Row = tuple[str, str, float, float, float, int]


@dataclass(frozen=True, slots=True)
class FullSet:
    """How large the withheld benchmark is said to be: its parts by category and platform."""

    categories: dict[str, int]
    platforms: dict[str, int]

    @property
    def size(self) -> int:
        """How many evaluations it has."""
        return sum(self.categories.values())


FULL: dict[str, FullSet] = {
    "scbench": FullSet(
        {
            "cell_typing": 78,
            "clustering": 22,
            "differential_expression": 56,
            "dimensionality_reduction": 10,
            "normalization": 6,
            "qc": 23,
        },
        {"kit_a": 40, "kit_b": 30, "kit_c": 20, "kit_d": 45, "kit_e": 35, "kit_f": 25},
    ),
    "spatialbench": FullSet(
        {
            "cell_counts": 24,
            "cell_typing": 35,
            "clustering": 21,
            "differential_expression": 20,
            "normalization": 14,
            "qc": 15,
            "spatial_analysis": 30,
        },
        {
            "platform_a": 43,
            "platform_b": 32,
            "platform_c": 25,
            "platform_d": 34,
            "platform_e": 25,
        },
    ),
}
#: Categories of public evaluations that the published tables call something else.
_CALLED = {"motif": "spatial_analysis"}


@dataclass(slots=True)
class Results:
    """Passed replicates of each evaluation of a full set, as (category, platform, passed), by pair."""

    full: FullSet
    outcomes: dict[Pair, list[tuple[str, str, int]]] = field(default_factory=dict)


def draft_published(draft: Draft) -> None:
    """Add results tables and a README table to the benchmarks that publish some."""
    for name, full in FULL.items():
        if name in draft.trees:
            results = _results(draft, name, full)
            write_tables(draft.tree(name), results)
            draft.facts.setdefault("published", {})[name] = {
                "n_evals": full.size,
                "pairs": len(results.outcomes),
            }


def _results(draft: Draft, name: str, full: FullSet) -> Results:
    """Invent the withheld evaluations around the public ones."""
    results = Results(full)
    items = {item.eval_id: item for item in draft.evals[name]}
    for pair in sorted({run.pair for run in draft.runs[name]}):
        rng = draft.rng(name, "published", *pair)
        skill = rng.uniform(0.25, 0.6)
        passed: dict[str, int] = dict.fromkeys(items, 0)
        seen: dict[str, int] = dict.fromkeys(items, 0)
        for run in draft.runs[name]:
            if run.pair == pair:
                record = run.result["result"]["grader_result"]
                passed[run.eval_id] += record is not None and record["passed"]
                seen[run.eval_id] += 1
        rows = []
        for eval_id, item in items.items():
            unseen = shape.REPLICATES - seen[eval_id]
            more = sum(rng.random() < skill for _ in range(unseen))
            rows.append((_CALLED.get(item.task, item.task), item.kit, passed[eval_id] + more))
        results.outcomes[pair] = rows + _withheld(rng, full, rows, skill)
    return results


def _withheld(
    rng: random.Random, full: FullSet, public: list[tuple[str, str, int]], skill: float
) -> list[tuple[str, str, int]]:
    """Fill every category and platform up to its size."""
    left: list[list[str]] = []
    for sizes, place in ((full.categories, 0), (full.platforms, 1)):
        names = [name for name, size in sizes.items() for _ in range(size)]
        for row in public:
            names.remove(row[place])  # type: ignore[arg-type]
        rng.shuffle(names)
        left.append(names)
    return [
        (category, platform, sum(rng.random() < skill for _ in range(shape.REPLICATES)))
        for category, platform in zip(*left, strict=True)
    ]


def estimate(passed: list[int]) -> tuple[float, float, float]:
    """Return mean and t bounds in percent, rounded to two places, never clipped."""
    from scipy.special import stdtrit

    shares = [count / shape.REPLICATES for count in passed]
    n, mean = len(shares), math.fsum(shares) / len(shares)
    spread = math.sqrt(math.fsum((share - mean) ** 2 for share in shares) / (n - 1))
    half = float(stdtrit(n - 1, 0.975)) * spread / math.sqrt(n)
    low, middle, high = (round(100 * value, 2) for value in (mean - half, mean, mean + half))
    return middle, low, high


def write_tables(tree: RepoTree, results: Results) -> None:
    """Write results/*.csv (CRLF), results/*.json and the table of the README."""
    rows: list[Row] = []
    for (_, model, harness), outcomes in results.outcomes.items():
        middle, low, high = estimate([passed for _, _, passed in outcomes])
        rows.append((model, harness, middle, low, high, len(outcomes)))
    rows.sort(key=lambda row: (-row[2], row[0], row[1]))
    tree.put("results/model_results.csv", _csv(rows))
    for place, (word, file) in enumerate(
        (("tasks", "category_results"), ("platforms", "platform_results"))
    ):
        sizes = (results.full.categories, results.full.platforms)[place]
        parts = {name: _part(results, place, name, size) for name, size in sorted(sizes.items())}
        about = {
            "ci_method": "t-distribution, computed over per-evaluation means",
            "n_runs": shape.REPLICATES,
        }
        tree.put_json(f"results/{file}.json", {"metadata": about, word: parts})
    readme = tree.text("README.md").decode()
    tree.put("README.md", readme + _markdown(rows, results.full.size))


def _part(results: Results, place: int, name: str, size: int) -> dict[str, object]:
    models = {}
    for (_, model, harness), outcomes in results.outcomes.items():
        middle, low, high = estimate([row[2] for row in outcomes if row[place] == name])
        models[f"{model}-{harness}"] = {"ci_high": high, "ci_low": low, "passed": middle}
    return {"model": models, "n_evals": size}


def _csv(rows: list[Row]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["model_name", "harness", "Accuracy (%)", "ci_lower", "ci_upper", "N"])
    writer.writerows(rows)
    return out.getvalue()


def _markdown(rows: list[Row], size: int) -> str:
    lines = [f"| {row[0]} | {row[1]} | {row[2]:.2f} |" for row in rows]
    head = "| model_name | harness | Accuracy (%) |\n|---|---|---:|\n"
    return f"\n## Results over {size} invented evaluations\n\n{head}" + "\n".join(lines) + "\n"


def contradict_total(tree: RepoTree) -> str:
    """Raise one model's total by one run in the CSV and the README, and leave its parts; return the row.

    So that it falls out of the sum over either axis alone, as in the one real case that is known.
    """
    text = tree.text("results/model_results.csv").decode()
    lines = text.split("\r\n")
    model, harness, mean, low, high, size = lines[1].split(",")
    runs = int(size) * shape.REPLICATES
    passed = round(float(mean) / 100 * runs) + 1
    shift = 100 * passed / runs - float(mean)
    told = [f"{float(value) + shift:.2f}" for value in (mean, low, high)]
    lines[1] = ",".join([model, harness, *told, size])
    tree.put("results/model_results.csv", "\r\n".join(lines))
    readme = tree.text("README.md").decode()
    old, new = (f"| {model} | {harness} | {float(value):.2f} |" for value in (mean, told[0]))
    assert old in readme
    tree.put("README.md", readme.replace(old, new))
    return "row 1"
