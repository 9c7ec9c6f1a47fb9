"""CPU time and memory of hostile files, each in a process of its own, held to what they may cost.

usage: python -m fuzz.limits [--cheap] [NAME …]
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from fuzz.engine import place
from fuzz.hostile import BY_NAME, HOSTILE, Hostile
from fuzz.registry import chosen

#: Seconds beyond what a file may take, for making it on a busy machine.
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


def measured(name: str) -> Measured:
    """Measure one file in a process of its own, forked once libraries are loaded; being killed is an end."""
    item = BY_NAME[name]
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=lambda: theirs.send(one(item)))
    child.start()
    theirs.close()
    patience = item.seconds * 6 + _START_S
    try:
        if not ours.poll(patience):
            return Measured(name, patience, 0, "never ended")
        found: Measured = ours.recv()
    except EOFError:
        child.join()
        return Measured(name, 0, 0, f"died with {child.exitcode}")
    else:
        return found
    finally:
        child.kill()
        child.join()


def one(item: Hostile) -> Measured:
    """Meet one hostile file here."""
    (target,) = chosen([item.target])
    data = item.make()
    # More than any file may take, so that one beyond its limit shows by how much.
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
    options = parser.parse_args()
    wanted = options.names or [item.name for item in HOSTILE if item.cheap or not options.cheap]
    for target in chosen(sorted({BY_NAME[name].target for name in wanted})):
        target.try_one(target.corpus[0])  # what is imported or made once doesn't count
    broken = 0
    print(f"{'hostile file':34} {'parser':20} {'s':>8} {'of':>4} {'MB':>7} {'of':>5}  end")
    for name in wanted:
        found = measured(name)
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
