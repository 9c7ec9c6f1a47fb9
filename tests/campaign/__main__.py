"""Run a campaign: python -m campaign [--seeds N] [--first N] [--kills N] (tests on the path)."""

from __future__ import annotations

import argparse
import sys
import time

from campaign.kills import Killing
from campaign.runs import describe, draw, run


def main() -> int:
    """Run seeds and kills, tell what broke; returns 1 when anything did."""
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument("--seeds", type=int, default=0, help="how many trials of faults")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--kills", type=int, default=0, help="how many SIGKILLs")
    parser.add_argument("--verbose", action="store_true", help="tell each trial before it runs")
    given = parser.parse_args()
    bad, began = 0, time.monotonic()
    for seed in range(given.first, given.first + given.seeds):
        trial = draw(seed)
        if given.verbose:
            print(describe(trial), flush=True)
        broken = run(trial)
        if broken:
            bad += 1
            print(describe(trial), *broken, sep="\n  ", flush=True)
    if given.seeds:
        print(f"{given.seeds} trials, {bad} broke a law, {time.monotonic() - began:.0f} s")
    if given.kills:
        told = Killing(seed=given.first).run(given.kills)
        bad += len(told.broken)
        print(told.summary(), *told.broken, sep="\n  ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
