"""Kill watched runs at every stage, then let the schedule go on: python -m campaign.watch [--kills N].

Each kill is on a date of its own; what the next run leaves must be a complete report whose content tables
are the bytes of an undisturbed run.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from campaign.schedule import Schedule
from conftest import content, settings
from family import build_family
from upstream import Upstream

FIRST: Final = date(2026, 1, 1)
Moment = Callable[[Schedule], bool]


def _table(name: str) -> Moment:
    return lambda schedule: (schedule.out / f"{name}.parquet").exists()


def _handed(name: str) -> Moment:
    return lambda schedule: (schedule.work / name).exists()


def _sealed(schedule: Schedule) -> bool:
    return (schedule.out / "seal.json").exists()


#: Where a run is killed, in the order in which it gets there.
MOMENTS: Final[dict[str, Moment]] = {
    "before snakemake": lambda s: s.status.get("date") == s.out.name,
    "snakemake begins": _handed("settings.json"),
    "pinned": _table("pins"),
    "mirrored": _handed("mirror.json"),
    "projected": _table("evals"),
    "signed": _table("handles"),
    "peeked": _table("contents"),
    "regraded": _table("runs"),
    "claims checked": _table("claims"),
    "rendered": _handed("staging/report.html"),
    "sealed": _sealed,
    "judged": lambda s: s.status.get("date") == s.out.name and s.status.get("step") != "audit",
}


def trials(seed: int, kills: int) -> Iterator[tuple[str, bool, float]]:
    """Yield (moment, the main process alone, seconds after the moment): all moments in turn from the
    seed's on, then all of them the other way.
    """
    rng, names = random.Random(f"watch {seed}"), list(MOMENTS)
    for number in range(kills):
        alone = (number + number // len(names)) % 2 == 0
        yield names[(seed + number) % len(names)], alone, rng.choice((0.0, rng.uniform(0.0, 0.4)))


def killed(schedule: Schedule, name: str, alone: bool, after_s: float = 0.0) -> bool:
    """Start a run and kill it at a moment; False when it was over before."""
    process = schedule.start()
    reached = schedule.wait_until(lambda: MOMENTS[name](schedule), process)
    if reached:
        time.sleep(after_s)
    if not reached or process.poll() is not None:
        process.wait()
        return False
    schedule.kill(process, alone=alone)
    return True


def main() -> int:
    """Run the campaign and tell what broke; returns 1 when anything did."""
    parser = argparse.ArgumentParser(prog="python -m campaign.watch", description=__doc__)
    parser.add_argument("--kills", type=int, default=2 * len(MOMENTS))
    parser.add_argument("--first", type=int, default=0, help="the seed")
    given = parser.parse_args()
    bad, over, began = 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="watch ") as name:
        family = build_family(Path(name) / "up", small=True)
        with Upstream(family.root, family=family) as upstream:
            schedule = Schedule(Path(name), settings(family, upstream)).on(FIRST.isoformat())
            schedule.run()
            whole = content(schedule.out)
            for number, (moment, alone, after_s) in enumerate(trials(given.first, given.kills), 1):
                schedule.on((FIRST + timedelta(days=7 * number)).isoformat())
                done = killed(schedule, moment, alone, after_s)
                over += not done
                next_run = schedule.run()
                broken = schedule.faults()
                if next_run.returncode != 0 or next_run.stdout:
                    broken.append(
                        f"the next run ended with {next_run.returncode}: {next_run.stdout}"
                    )
                if content(schedule.out) != whole:
                    broken.append("content tables differ from those of an undisturbed run")
                bad += bool(broken)
                who = "main process" if alone else "all processes"
                state = "killed" if done else "over before"
                print(f"{moment} +{after_s:.2f} s, {who}: {state}", *broken, sep="\n  ", flush=True)
    print(
        f"{given.kills - over} kills, {over} too late, {bad} broke a law, "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
