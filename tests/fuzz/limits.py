"""CPU time and memory of hostile files, each in a process of its own, held to what they may cost.

usage: python -m fuzz.limits [--cheap] [NAME …]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fuzz.hostile import BY_NAME, HOSTILE, Hostile

_TESTS = Path(__file__).resolve().parents[1]
#: Beyond what a file may take, waiting included: starting Python with its libraries, and making the file.
_START_S = 60


@dataclass(frozen=True)
class Measured:
    """What one hostile file cost: seconds of CPU, megabytes above the idle process, and how it ended."""

    name: str
    seconds: float
    megabytes: float
    end: str

    def kept(self) -> bool:
        """True when it ended as declared, within its limits."""
        limit = BY_NAME[self.name]
        ended = self.end == "ok" or self.end.startswith("declared ")
        return ended and self.seconds <= limit.seconds and self.megabytes <= limit.megabytes


def measured(names: Iterable[str]) -> list[Measured]:
    """Measure files in a process of their own, one after the other; what kills it is an end, too."""
    found = []
    for name in names:
        command = [sys.executable, "-m", "fuzz.limits", "--one", name]
        try:
            done = subprocess.run(
                command,
                env={
                    "PYTHONPATH": f"{_TESTS}:{_TESTS.parent / 'scripts'}",
                    "PATH": "/usr/bin:/bin",
                },
                capture_output=True,
                text=True,
                timeout=BY_NAME[name].seconds * 6 + _START_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            found.append(Measured(name, BY_NAME[name].seconds * 6, 0, "never ended"))
            continue
        try:
            found.append(Measured(**json.loads(done.stdout.splitlines()[-1])))
        except (IndexError, ValueError, TypeError):
            found.append(Measured(name, 0, 0, f"died with {done.returncode}"))
    return found


def one(item: Hostile) -> Measured:
    """Meet one hostile file here."""
    from fuzz.engine import place
    from fuzz.registry import chosen

    (target,) = chosen([item.target])
    target.try_one(target.corpus[0])  # what is imported or made once doesn't count
    data = item.make()
    # Twice what is documented, so that a file beyond it shows by how much.
    most = 4 << 30
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    Path("/proc/self/clear_refs").write_text("5")
    before, began = _peak(), time.process_time()
    try:
        ended = target.try_one(data)
        end = ended if ended == "ok" else f"declared {ended}"
    except Exception as error:
        end = f"undeclared {place(error)}"
    return Measured(
        item.name, round(time.process_time() - began, 3), round(_peak() - before, 1), end
    )


def _peak() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def main() -> int:
    """Print a table; 1 when a limit is not kept."""
    parser = argparse.ArgumentParser(prog="fuzz.limits", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--cheap", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(vars(one(BY_NAME[options.one]))))
        return 0
    wanted = options.names or [item.name for item in HOSTILE if item.cheap or not options.cheap]
    broken = 0
    print(f"{'hostile file':34} {'parser':20} {'s':>8} {'of':>4} {'MB':>7} {'of':>5}  end")
    for name in wanted:
        (found,) = measured([name])
        limit = BY_NAME[name]
        mark = "" if found.kept() else "  <-- beyond its limit"
        broken += not found.kept()
        print(
            f"{name:34} {limit.target:20} {found.seconds:8.2f} {limit.seconds:4.0f} {found.megabytes:7.1f}"
            f" {limit.megabytes:5}  {found.end}{mark}",
            flush=True,
        )
    print("All within their limits." if not broken else f"{broken} beyond their limits.")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
