"""Serve repositories and handles: python -m upstream --root DIR --port N --family family.json."""

from __future__ import annotations

import argparse
import json
import os
import signal
import threading
from pathlib import Path
from types import FrameType

from upstream.server import TOKEN, Upstream


def main() -> int:
    """Serve until SIGINT or SIGTERM; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m upstream", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="holds <owner>/<name>.git")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--family", type=Path, help="family.json with the handle table")
    parser.add_argument("--latency-ms", type=float, default=0.0, help="wait before every answer")
    parser.add_argument("--anonymous-limit", type=int, default=100_000, help="REST calls an hour")
    parser.add_argument("--token", action="append", help=f"a known token; {TOKEN} by default")
    parser.add_argument("--control", action="store_true", help="serve /_control to other processes")
    parser.add_argument("--with-parent", action="store_true", help="end when the starter has ended")
    parser.add_argument(
        "--print-config", action="store_true", help="print the endpoints as one line of JSON"
    )
    given = parser.parse_args()
    done, parent = threading.Event(), os.getppid()

    def end(_number: int, _frame: FrameType | None) -> None:
        done.set()

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    family = None
    if given.family is not None:
        from family import Family

        family = Family.load(given.family)
    try:
        upstream = Upstream(
            given.root,
            family,
            port=given.port,
            latency_s=given.latency_ms / 1000,
            tokens=given.token or [TOKEN],
            anonymous_limit=given.anonymous_limit,
            control=given.control,
        )
    except OSError as error:
        parser.error(f"port {given.port}: {error.strerror}; choose another, or 0 for a free one")
    with upstream:
        if given.print_config:
            config = {"url": upstream.url, "port": upstream.port, "endpoints": upstream.endpoints()}
            print(json.dumps(config), flush=True)
        while not done.wait(0.5 if given.with_parent else None):
            if os.getppid() != parent:
                break
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
