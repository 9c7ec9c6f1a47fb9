"""The report folder as a Workflow Run RO-Crate, for those who read such.

Profile Workflow Run Crate 0.5 with RO-Crate 1.1 and Workflow RO-Crate 1.0: 0.6 is two months old and no
validator knows it. What isn't known from the report isn't said: who ran it, where, and when it began.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import quote

from benchproof.sealing import swhid

CRATE: Final = "ro-crate-metadata.json"
WORKFLOW: Final = "workflow/Snakefile"
CONFIG: Final = "config.json"
_PROFILES: Final = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
_FORMATS: Final = {
    ".parquet": "application/vnd.apache.parquet",
    ".html": "text/html",
    ".md": "text/markdown",
    ".json": "application/json",
    ".sarif": "application/sarif+json",
}
_SNAKEMAKE: Final = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
_HOMES: Final = {
    "python": "https://www.python.org/",
    "pyarrow": "https://arrow.apache.org/",
    "snakemake": "https://snakemake.github.io/",
}

Entity = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a crate is made from. `files` are sizes and sha256 hex by relative path; `ended` is an instant in
    ISO 8601, or None where nothing that was observed has a time.
    """

    label: str
    day: str
    notice: str | None
    complete: bool
    pins: list[Mapping[str, Any]]
    origins: Mapping[str, str | None]
    files: Mapping[str, tuple[int, str]]
    versions: Mapping[str, str]
    code: str
    config: str
    ended: str | None


def text(facts: Facts) -> str:
    """Return the bytes of ro-crate-metadata.json; the same facts give the same."""
    context = [
        "https://w3id.org/ro/crate/1.1/context",
        "https://w3id.org/ro/terms/workflow-run/context",
    ]
    graph = [
        _descriptor(),
        _root(facts),
        *_profiles(),
        _licence(),
        *_workflow(facts),
        _action(facts),
    ]
    graph += [*_repositories(facts), *_files(facts)]
    return json.dumps({"@context": context, "@graph": graph}, indent=1) + "\n"


def listed(data: Mapping[str, Any]) -> dict[str, tuple[int | None, str]]:
    """Return sizes and digests by @id of the files that a crate lists; raises ValueError for none."""
    graph = data.get("@graph")
    if not isinstance(graph, list):
        raise ValueError("no @graph")
    return {
        str(item.get("@id")): (int(item.get("contentSize", -1)), str(item.get("sha256")))
        for item in graph
        if isinstance(item, dict) and "File" in _types(item)
    }


def file_id(name: str) -> str:
    """Return a file's @id: its relative path as a URI."""
    return quote(name, safe="/+@~")


def _types(item: Mapping[str, Any]) -> list[Any]:
    found = item.get("@type")
    return found if isinstance(found, list) else [found]


def _ref(*ids: str) -> list[dict[str, str]]:
    return [{"@id": item} for item in ids]


def _descriptor() -> Entity:
    return {
        "@id": CRATE,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": _ref(
            "https://w3id.org/ro/crate/1.1", "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
        ),
    }


def _root(facts: Facts) -> Entity:
    repos = ", ".join(pin["repo"] for pin in facts.pins)
    whole = "" if facts.complete else " It is incomplete: something could not be asked."
    notice = f" {facts.notice}" if facts.notice else ""
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"benchproof report {facts.label}",
        "description": f"An audit from the outside of {repos}.{whole}{notice} What is in each file says "
        "report.html; logs are no part of the crate.",
        "datePublished": facts.day,
        "license": {"@id": "#licence"},
        "conformsTo": _ref(*_PROFILES),
        "mainEntity": {"@id": WORKFLOW},
        "mentions": {"@id": "#audit"},
        "hasPart": _ref(*map(file_id, sorted(facts.files))),
    }


def _profiles() -> list[Entity]:
    return [
        {"@id": uri, "@type": "CreativeWork", "name": name, "version": version}
        for uri, (name, version) in _PROFILES.items()
    ]


def _licence() -> Entity:
    return {
        "@id": "#licence",
        "@type": "CreativeWork",
        "name": "No licence is stated",
        "description": "Whoever publishes this report says on what terms. The audited repositories and the "
        "data behind their handles have terms of their own.",
    }


def _workflow(facts: Facts) -> list[Entity]:
    size, digest = facts.files[WORKFLOW]
    uses = {name: version for name, version in facts.versions.items() if name != "benchproof"}
    main = {
        "@id": WORKFLOW,
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "benchproof",
        "description": "The workflow's table of contents. Its rules and scripts are those of benchproof "
        f"{facts.versions['benchproof']} with the code digest {facts.code}.",
        "version": facts.versions["benchproof"],
        "identifier": f"sha256:{facts.code}",
        "url": _HOMES["snakemake"],
        "programmingLanguage": {"@id": _SNAKEMAKE},
        "softwareRequirements": _ref(*(_HOMES[name] for name in sorted(uses))),
        "encodingFormat": "text/plain",
        "contentSize": str(size),
        "sha256": digest,
    }
    language = {
        "@id": _SNAKEMAKE,
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "identifier": {"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
        "url": {"@id": _HOMES["snakemake"]},
    }
    tools = [
        {
            "@id": _HOMES[name],
            "@type": "SoftwareApplication",
            "name": name,
            "url": _HOMES[name],
            "softwareVersion": version,
        }
        for name, version in sorted(uses.items())
    ]
    return [main, language, *tools]


def _action(facts: Facts) -> Entity:
    results = sorted(name for name in facts.files if name not in (WORKFLOW, CONFIG))
    ended = {"endTime": facts.ended} if facts.ended else {}
    return {
        "@id": "#audit",
        "@type": "CreateAction",
        "name": f"Audit {facts.label}",
        "description": "snakemake, by the configuration in config.json; digest of the keys that content "
        f"tables depend on: {facts.config}",
        "instrument": {"@id": WORKFLOW},
        "object": _ref(CONFIG, *(swhid.core("rev", pin["commit_sha"]) for pin in _pinned(facts))),
        "result": _ref(*map(file_id, results)),
        **ended,
    }


def _pinned(facts: Facts) -> list[Mapping[str, Any]]:
    return [pin for pin in facts.pins if pin["commit_sha"]]


def _repositories(facts: Facts) -> list[Entity]:
    found = {}
    for pin in _pinned(facts):
        revision = swhid.core("rev", pin["commit_sha"])
        origin = facts.origins.get(pin["repo"])
        found[revision] = {
            "@id": revision,
            "@type": "CreativeWork",
            "name": f"{pin['repo']} at {pin['commit_sha']}",
            "version": pin["commit_sha"],
            "dateModified": pin["committed_at"].isoformat(),
            "identifier": [revision, swhid.core("dir", pin["tree_sha"])],
            **({"url": f"{origin}/tree/{pin['commit_sha']}"} if origin else {}),
        }
    return list(found.values())


def _files(facts: Facts) -> list[Entity]:
    return [
        {
            "@id": file_id(name),
            "@type": "File",
            "name": name,
            "encodingFormat": _FORMATS.get(PurePosixPath(name).suffix, "text/plain"),
            "contentSize": str(size),
            "sha256": digest,
        }
        for name, (size, digest) in sorted(facts.files.items())
        if name != WORKFLOW
    ]
