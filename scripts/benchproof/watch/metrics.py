"""A status as a text file for Prometheus' node exporter (its textfile collector).

The text exposition format, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

from benchproof.outputs import replacing
from benchproof.severity import SEVERITIES
from benchproof.watch.status import RUNNING, Status

_ABOUT: Final = {
    "running": "1 while a watched run goes on, or never ended.",
    "started_timestamp_seconds": "When the last run began.",
    "ended_timestamp_seconds": "When a run last ended.",
    "succeeded_timestamp_seconds": "When a run last ended with a complete report.",
    "exit_code": "Exit code of the last run that ended.",
    "unended_runs": "Runs that began and never ended since one last did.",
    "unknown": "What the last report could not learn.",
    "findings": "Findings of the last report.",
    "drift_groups": "Changes of the last report against the one before.",
}

Sample = tuple[dict[str, str], float]


def text(status: Status, results: str) -> str:
    """Return the metrics of a status; `results` tells schedules of one host apart."""
    label = {"results": results}
    samples: dict[str, list[Sample]] = {
        "running": [(label, float(status.state == RUNNING))],
        "started_timestamp_seconds": _time(label, status.started_at),
        "ended_timestamp_seconds": _time(label, status.ended_at),
        "succeeded_timestamp_seconds": _time(label, status.succeeded_at),
        "exit_code": [] if status.exit_code is None else [(label, float(status.exit_code))],
        "unended_runs": [(label, float(status.unended))],
        "unknown": [(label, float(status.unknown))],
        "findings": [
            ({**label, "severity": name}, float(status.findings.get(name, 0)))
            for name in SEVERITIES
        ],
        "drift_groups": [
            ({**label, "severity": name}, float(status.drift.get(name, 0))) for name in SEVERITIES
        ],
    }
    return "".join(line for name, found in samples.items() for line in _lines(name, found))


def write(path: Path, status: Status, results: str) -> None:
    """Write the metrics whole or not at all: the collector reads at any time."""
    with replacing(path) as part:
        part.write_text(text(status, results), encoding="utf-8")


def _time(label: dict[str, str], instant: str | None) -> list[Sample]:
    return [] if instant is None else [(label, datetime.fromisoformat(instant).timestamp())]


def _lines(name: str, samples: list[Sample]) -> Iterable[str]:
    full = f"benchproof_watch_{name}"
    if samples:
        yield f"# HELP {full} {_ABOUT[name]}\n# TYPE {full} gauge\n"
    for labels, value in samples:
        told = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{full}{{{told}}} {value:.0f}\n"


def _escaped(text: str) -> str:
    # The format knows three escapes; some collectors also end a line at what else breaks one.
    text = "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
