"""Fuzz for a while and print executions per parser: python -m fuzz [--seconds N] [--only NAME …]."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import resource
import sys
from pathlib import Path

from fuzz import chosen
from fuzz.engine import fuzz, keep

#: Address space of the whole process; pyarrow, h5py and DuckDB map half of it.
MEMORY = 4 << 30


def main() -> int:
    """Return 1 when anything undeclared happened."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10, help="of each parser (10)")
    parser.add_argument("--most", type=int, help="executions of each parser")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="a private folder")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        os.nice(15)
    # What is said of each hostile input would hide what is counted.
    logging.disable()
    failed = 0
    print(f"{'parser':24} {'executions':>10} {'a second':>9} {'slowest s':>9}  ends")
    for target in chosen(options.only):
        found = fuzz(target, seed=options.seed, seconds=options.seconds, most=options.most)
        rate = found.executions / max(found.seconds, 1e-9)
        ends = ", ".join(f"{name} {count}" for name, count in found.ends.most_common())
        print(
            f"{found.name:24} {found.executions:10} {rate:9.0f} {found.slowest:9.3f}  {ends}",
            flush=True,
        )
        for where, path in zip(found.failures, keep(found, options.keep), strict=True):
            failed += 1
            print(f"  {where}: {path}")
    print(
        "Mutation is blind to coverage. Nothing undeclared."
        if not failed
        else f"{failed} undeclared."
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
