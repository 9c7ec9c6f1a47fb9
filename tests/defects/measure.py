"""Recall and false alarms of the linter over the seeded defects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from benchproof.inventory.lint.every import RULES
from defects.bench import Bench, Met
from defects.seeds import SEEDS, Seed


@dataclass
class Score:
    """One rule over all seeds: planted, found, and how often it was met where nothing of its kind was."""

    planted: int = 0
    found: int = 0
    false: int = 0


@dataclass(frozen=True)
class Outcome:
    """What one seed brought: whether it was found, and what was met beside it, as (rule, path)."""

    found: bool
    clean: bool
    false: Met


def try_one(seed: Seed, number: int = 0) -> Outcome:
    """Plant one defect and lint before and after."""
    bench = Bench(seed.repo, number)
    planting = seed.plant(bench)
    path = next(planting)
    before = bench.lint()
    next(planting, None)
    new = bench.lint() - before
    meant = {seed.rule, *seed.also}
    elsewhere = Counter({at: n for at, n in new.items() if at[0] not in meant})
    # Findings about a whole folder share its path; other fields may have met the rule before.
    clean = before[(seed.rule, path)] == 0 or path == bench.folder
    return Outcome(new[(seed.rule, path)] > 0, clean, elsewhere)


def measure(rounds: Iterable[int], seeds: Iterable[Seed] = SEEDS) -> dict[str, Score]:
    """Return the scores of every rule, by id; each round plants every defect elsewhere."""
    scores = {name: Score() for name in sorted(RULES)}
    listed = list(seeds)
    for number in rounds:
        for seed in listed:
            outcome = try_one(seed, number)
            scores[seed.rule].planted += 1
            scores[seed.rule].found += outcome.found
            for (rule, _), times in outcome.false.items():
                scores[rule].false += times
    return scores
