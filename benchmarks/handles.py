"""Resolve and probe every handle of the invented family against an upstream that answers late.

usage: handles.py [--latency-ms 50] [--connections 16] [--repeat 3] [--json FILE]

Measured at the server, from the first request of the signer to the end of the last one of the storage, so
that Snakemake's own time between the two jobs counts. The ideal is requests x latency / connections.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path[:0] = [
    str(Path(__file__).resolve().parents[1] / name) for name in ("", "tests", "scripts")
]

from benchmarks.content_audit import DAY, ROOT, SNAKEMAKE, Server  # noqa: E402

from family import Family, build_family  # noqa: E402


def measure(
    family: Family, server: Server, folder: Path, latency_s: float, connections: int
) -> dict[str, float]:
    """Run `snakemake handles sizes` in a new folder and return what the server saw; times in seconds."""
    limits = {"connections": connections, "timeout_s": 30, "tries": 4, "max_wait_s": 60}
    settings: dict[str, Any] = {"date": DAY, "family": family.config, "http": limits}
    settings["endpoints"] = server.endpoints
    path = folder / "settings.json"
    path.write_text(json.dumps(settings))
    command = [str(SNAKEMAKE), "-s", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["handles", "sizes", "--cores", "2", "--configfile", str(path)]
    server.reset()
    subprocess.run(command, check=True, capture_output=True)
    asked = {
        area: [record for record in server.requests() if record["area"] == area]
        for area in ("sign", "storage")
    }
    both = [*asked["sign"], *asked["storage"]]
    ends = [record["started"] + record["seconds"] for record in both]
    span = max(ends) - min(record["started"] for record in both)
    ideal = len(both) * latency_s / connections
    return {
        "signings": len(asked["sign"]),
        "probes": len(asked["storage"]),
        "span_s": span,
        "ideal_s": ideal,
        "span_over_ideal": span / ideal,
    }


def main() -> None:
    """Print medians with least and most over the rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary, "upstream")
        family = build_family(root)
        family.save(root / "family.json")
        server = Server(root, given.latency_ms, root / "family.json")
        rounds = []
        try:
            for number in range(given.repeat):
                folder = Path(temporary, f"round-{number}")
                folder.mkdir()
                latency_s = given.latency_ms / 1000
                rounds.append(measure(family, server, folder, latency_s, given.connections))
        finally:
            server.stop()
    for name in rounds[0]:
        values = [item[name] for item in rounds]
        middle = statistics.median(values)
        print(f"{name:16} {middle:8.2f}  ({min(values):.2f}-{max(values):.2f})")
    if given.json:
        given.json.write_text(json.dumps(rounds, indent=1))


if __name__ == "__main__":
    main()
