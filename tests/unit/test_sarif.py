"""SARIF and JSON beside the table: what SARIF 2.1.0 requires, acceptances, and no withheld place."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Any

from benchproof.accepted import Accepted, Entry
from benchproof.findings import Finding, counted, rows
from benchproof.rulebook import RULES
from benchproof.sarif import as_json, as_sarif

PINS = {"demo/one": "c" * 40, "demo/two.x": None}
FOUND = [
    Finding("dangling", "demo/one", "evals/manifest.json", "/3", "c" * 40, detail="Row 3."),
    Finding("canary_missing", "demo/one", "evals/a b#%.json", None, "c" * 40, "b" * 40),
    Finding("metadata_constant", "demo/one", "evals", "/metadata/kit", "c" * 40),
    Finding("passes_on_zeros", "demo/one", "evals/secret.json", "/grader", "c" * 40),
    Finding("repository_lost", "demo/two.x"),
]
ROWS = rows(counted(FOUND, RULES), RULES)
DANGLING = FOUND[0].finding_id


def _accepted(day: str = "2026-01-01") -> Accepted:
    entry = Entry(DANGLING, "somebody", "comes next week", date(2026, 3, 1))
    return Accepted({DANGLING: entry}, day)


def _run(day: str = "2026-01-01") -> dict[str, Any]:
    log = json.loads(json.dumps(as_sarif(ROWS, RULES, _accepted(day), PINS)))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_a_log_has_what_sarif_requires() -> None:
    """Sections 3.13, 3.14, 3.19, 3.27, 3.49 and 3.50 of the standard: required properties and their types."""
    run = _run()
    driver = run["tool"]["driver"]
    assert driver["name"] == "benchproof"
    assert [rule["id"] for rule in driver["rules"]] == sorted({row["rule"] for row in ROWS})
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    assert len(run["results"]) == len(ROWS)
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert re.fullmatch(r"\w+\.[0-9a-f]{10}", result["partialFingerprints"]["findingId/v1"])
        for location in result["locations"]:
            place = location["physicalLocation"]["artifactLocation"]
            assert re.fullmatch(r"[!-~]+", place["uri"])
            assert place["uriBaseId"] in run["originalUriBaseIds"]
    for base in run["originalUriBaseIds"].values():
        assert base["uri"].endswith("/")
    for source in run["versionControlProvenance"]:
        assert source["repositoryUri"].startswith("https://github.com/demo/")
        assert source["mappedTo"]["uriBaseId"] in run["originalUriBaseIds"]


def _results(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {result["ruleId"]: result for result in run["results"]}


def test_places_are_uris_and_pointers_logical_places() -> None:
    found = _results(_run())
    (location,) = found["canary_missing"]["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "evals/a%20b%23%25.json"
    assert "logicalLocations" not in location
    (location,) = found["dangling"]["locations"]
    assert location["logicalLocations"] == [{"fullyQualifiedName": "/3"}]
    assert found["repository_lost"]["locations"] == []


def test_severities_become_levels() -> None:
    levels = {name: result["level"] for name, result in _results(_run()).items()}
    assert levels == {
        "dangling": "error",
        "canary_missing": "warning",
        "metadata_constant": "note",
        "passes_on_zeros": "error",
        "repository_lost": "error",
    }


def test_what_is_withheld_has_a_number_and_no_place() -> None:
    found = _results(_run())["passes_on_zeros"]
    assert found["locations"] == []
    assert "1 place in 1 file" in found["message"]["text"]
    said = json.dumps([as_sarif(ROWS, RULES, _accepted(), PINS), as_json(ROWS, _accepted())])
    assert "secret" not in said


def test_accepted_findings_are_suppressed_until_they_expire() -> None:
    (suppression,) = _results(_run())["dangling"]["suppressions"]
    assert suppression["kind"] == "external"
    assert suppression["status"] == "accepted"
    assert "somebody" in suppression["justification"]
    assert "suppressions" not in _results(_run("2026-03-02"))["dangling"]
    assert "suppressions" not in _results(_run())["canary_missing"]


def test_json_repeats_the_table_with_acceptances() -> None:
    found = as_json(ROWS, _accepted())
    assert [{k: v for k, v in row.items() if k != "accepted"} for row in found["findings"]] == ROWS
    by_id = {row["finding_id"]: row["accepted"] for row in found["findings"]}
    assert by_id.pop(DANGLING) == {
        "owner": "somebody",
        "reason": "comes next week",
        "expires": "2026-03-01",
    }
    assert set(by_id.values()) == {None}
    assert found["accepted"] == {"holding": 1, "expired": []}
    late = as_json(ROWS, _accepted("2026-03-02"))
    assert late["accepted"] == {"holding": 0, "expired": [DANGLING]}
