"""findings.sarif (SARIF 2.1.0) and findings.json: the findings table for other tools.

Both are made from rows that may leave the vault; what is withheld comes as a number, without a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

from benchproof import __version__
from benchproof.accepted import Accepted, Entry
from benchproof.severity import Rule

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVEL: Final = {"critical": "error", "major": "error", "minor": "warning", "info": "note"}
_HOST: Final = "https://github.com"

Row = Mapping[str, Any]


def as_sarif(
    rows: Iterable[Row],
    rules: Mapping[str, Rule],
    accepted: Accepted,
    pins: Mapping[str, str | None],
) -> dict[str, Any]:
    """Return a SARIF log with one run; `pins` maps audited repositories to commits."""
    listed = list(rows)
    named = sorted({row["rule"] for row in listed})
    place = {name: number for number, name in enumerate(named)}
    bases = {repo: _base(repo) for repo in sorted(pins)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "benchproof",
                        "version": __version__,
                        "rules": [_rule(name, rules[name]) for name in named],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {
                    base: {"uri": f"{_HOST}/{repo}/blob/{pins[repo] or 'HEAD'}/"}
                    for repo, base in bases.items()
                },
                "versionControlProvenance": [
                    {
                        "repositoryUri": f"{_HOST}/{repo}",
                        "revisionId": pins[repo],
                        "mappedTo": {"uriBaseId": base},
                    }
                    for repo, base in bases.items()
                    if pins[repo]
                ],
                "results": [_result(row, place, accepted) for row in listed],
            }
        ],
    }


def as_json(rows: Iterable[Row], accepted: Accepted) -> dict[str, Any]:
    """Return the findings as plain JSON, each with its acceptance or null, and acceptances to look at."""
    listed = [{**row, "accepted": _acceptance(accepted.of(row["finding_id"]))} for row in rows]
    ids = [row["finding_id"] for row in listed]
    return {
        "version": 1,
        "findings": listed,
        "accepted": {
            "holding": sum(row["accepted"] is not None for row in listed),
            "expired": [entry.id for entry in accepted.expired(ids)],
        },
    }


def _acceptance(entry: Entry | None) -> dict[str, str] | None:
    if entry is None:
        return None
    return {"owner": entry.owner, "reason": entry.reason, "expires": entry.expires.isoformat()}


def _rule(name: str, rule: Rule) -> dict[str, Any]:
    return {
        "id": name,
        "shortDescription": {"text": rule.message},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": _LEVEL[rule.severity]},
        "properties": {"severity": rule.severity, "withheld": rule.withheld},
    }


def _result(row: Row, place: Mapping[str, int], accepted: Accepted) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": row["rule"],
        "ruleIndex": place[row["rule"]],
        "level": _LEVEL[row["severity"]],
        "message": {"text": row["message"]},
        "locations": _locations(row),
        "partialFingerprints": {"findingId/v1": row["finding_id"]},
        "properties": {"repository": row["repo"], "severity": row["severity"]},
    }
    entry = accepted.of(row["finding_id"])
    if entry is not None:
        said = f"{entry.owner}: {entry.reason} (until {entry.expires.isoformat()})"
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": said}]
    return result


def _locations(row: Row) -> list[dict[str, Any]]:
    """The file, as a URI relative to its repository, and the pointer into it as a logical place."""
    if row["path"] is None:
        return []
    uri = {"uri": quote(row["path"]), "uriBaseId": _base(row["repo"])}
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": uri}}
    if row["pointer"]:
        location["logicalLocations"] = [{"fullyQualifiedName": row["pointer"]}]
    return [location]


def _base(repo: str) -> str:
    """The name that SARIF refers to a repository by; SARIF's own rule for such names is letters and _."""
    return "REPO_" + "".join(char if char.isalnum() else "_" for char in repo.upper())
