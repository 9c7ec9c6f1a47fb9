"""The same for Prometheus: the text exposition format, 0.0.4, line by line."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchproof.watch import metrics
from benchproof.watch.status import Status

#: prometheus.io/docs/instrumenting/exposition_formats: a name, labels with \\, \" and \n escaped, a number.
SAMPLE = re.compile(
    r'([a-z_:][a-z0-9_:]*)\{((?:[a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)*)\} (-?\d+(?:\.\d+)?)'
)
NOW = datetime(2026, 1, 15, 3, 0, tzinfo=UTC)


def parsed(text: str) -> dict[tuple[str, str], float]:
    """Return the samples; fails on whatever the format does not know."""
    assert text.endswith("\n")
    found: dict[tuple[str, str], float] = {}
    declared: dict[str, set[str]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            kind, name = line.split()[1:3]
            assert kind in ("HELP", "TYPE")
            assert kind not in declared.setdefault(name, set()), "declared twice"
            assert kind != "TYPE" or line.split()[3] == "gauge"
            declared[name].add(kind)
            continue
        match = SAMPLE.fullmatch(line)
        assert match is not None, line
        assert declared[match[1]] == {"HELP", "TYPE"}
        assert (match[1], match[2]) not in found, "the same sample twice"
        found[match[1], match[2]] = float(match[3])
    return found


def test_a_run_that_ended() -> None:
    ended = Status(findings={"critical": 2}, drift={"major": 1}, unknown=3).begun(
        "2026-01-15", NOW, "a.log"
    )
    found = parsed(metrics.text(ended.ended(10, NOW, complete=True), "results"))
    one = 'results="results"'
    assert found["benchproof_watch_running", one] == 0
    assert found["benchproof_watch_exit_code", one] == 10
    assert found["benchproof_watch_unknown", one] == 3
    for name in ("started", "ended", "succeeded"):
        assert found[f"benchproof_watch_{name}_timestamp_seconds", one] == NOW.timestamp()
    assert found["benchproof_watch_findings", f'{one},severity="critical"'] == 2
    assert found["benchproof_watch_findings", f'{one},severity="info"'] == 0
    assert found["benchproof_watch_drift_groups", f'{one},severity="major"'] == 1


def test_what_is_not_known_yet_has_no_sample() -> None:
    found = parsed(metrics.text(Status().begun("2026-01-15", NOW, "a.log"), "r"))
    names = {name for name, _ in found}
    assert found["benchproof_watch_running", 'results="r"'] == 1
    assert not names & {"benchproof_watch_exit_code", "benchproof_watch_ended_timestamp_seconds"}


@pytest.mark.parametrize("results", ['a"b', "a\\b", "a b/é", "a,b}c"])
def test_any_folder_makes_a_label(results: str) -> None:
    assert parsed(metrics.text(Status(), results))


def test_the_collector_never_reads_half_a_file(tmp_path: Path) -> None:
    """It reads *.prom; what is being written has another ending."""
    metrics.write(tmp_path / "benchproof.prom", Status(), "results")
    assert [path.name for path in tmp_path.iterdir()] == ["benchproof.prom"]
