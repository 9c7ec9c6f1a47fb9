"""Findings: one wording per rule, ids that outlive dates, one row per place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchproof import findings
from benchproof.findings import RULES, SEVERITIES, Finding, as_json, from_json, rows
from benchproof.tables import SPECS, build

LIBRARY = Path(findings.__file__).parent


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_how_bad_what_and_what_to_do(name: str) -> None:
    rule = RULES[name]
    assert rule.severity in SEVERITIES
    assert rule.message.endswith(".")
    assert rule.remedy.endswith(".")
    assert re.fullmatch("[a-z0-9_]+", name)


def test_every_rule_can_be_met() -> None:
    """A rule that is named nowhere but in its definition would never be reported."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in LIBRARY.rglob("*.py"))
    assert [name for name in RULES if text.count(f'"{name}"') < 2] == []


def test_pins_without_a_commit_or_under_another_name_are_findings() -> None:
    statuses = ("ok", "renamed", "missing", "private", "empty", "ref_missing", "unknown")
    pins = [
        {"repo": f"demo/{status}", "status": status, "reason": status, "commit_sha": None}
        for status in statuses
    ]
    found = {item.repo.removeprefix("demo/"): item.rule for item in findings.of_pins(pins)}
    lost = dict.fromkeys(statuses[2:6], "repository_lost")
    assert found == {"renamed": "repository_renamed", **lost}
    begun_later = {**pins[5], "reason": "no_commit_yet"}
    assert findings.of_pins([begun_later]) == []


def test_an_id_depends_on_the_place_alone() -> None:
    place = {"rule": "orphan", "repo": "demo/one", "path": "a", "pointer": "/id"}
    one = Finding(**place, commit_sha="c", blob_sha="b", stage="s", detail="d")
    assert one.finding_id == Finding(**place).finding_id
    others = [Finding(**{**place, key: "dangling" if key == "rule" else "z"}) for key in place]
    assert len({one.finding_id, *(item.finding_id for item in others)}) == 5


def test_parts_of_a_place_cannot_be_confused() -> None:
    assert Finding("orphan", "a", "b", "c").finding_id != Finding("orphan", "a", "bc").finding_id


def test_a_place_is_one_row_whichever_stage_met_it_first() -> None:
    """Law 6: findings that differ in stage or blob alone must not depend on the order of a set."""
    kept = set()
    for number in range(40):
        place = ("orphan", "demo/one", f"{number}")
        (row,) = rows(
            Finding(*place, stage=stage, blob_sha=blob) for stage in "cab" for blob in "yx"
        )
        kept.add((row["stage"], row["blob_sha"]))
    assert len(kept) == 1


def test_rows_fit_their_table() -> None:
    found = [Finding("orphan", "demo/one", "a", detail="Row 1."), Finding("json_bom", "demo/one")]
    table = build("findings", rows(found), {})
    assert table.num_rows == 2
    assert table.column_names == SPECS["findings"].schema.names
    assert rows(found[:1])[0]["message"] == f"{RULES['orphan'].message} Row 1."


def test_the_hand_over_reads_back() -> None:
    found = [
        Finding("orphan", "demo/one", "ä\n", "/1", "c", "b", "s", "d"),
        Finding("json_bom", "x/y"),
    ]
    assert from_json(as_json(found)) == found
