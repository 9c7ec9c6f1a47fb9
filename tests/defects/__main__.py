"""Print recall and false alarms per rule: PYTHONPATH=scripts:tests .venv/bin/python -m defects [rounds]."""

from __future__ import annotations

import sys

from defects.measure import measure


def main() -> None:
    """Plant every defect in some rounds, each time elsewhere."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    scores = measure(range(rounds))
    print(f"{'rule':32} {'planted':>7} {'found':>6} {'false':>6}")
    for name, score in scores.items():
        print(f"{name:32} {score.planted:7} {score.found:6} {score.false:6}")
    planted = sum(score.planted for score in scores.values())
    found = sum(score.found for score in scores.values())
    false = sum(score.false for score in scores.values())
    print(f"{'all':32} {planted:7} {found:6} {false:6}")


if __name__ == "__main__":
    main()
