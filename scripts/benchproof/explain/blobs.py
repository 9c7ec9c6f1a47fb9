"""The bytes that an explanation rests on: from the vault's archives, else from the source, two or three at
a time, into a private folder that is gone afterwards. Proven against their ids either way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from benchproof.errors import BenchproofError, VaultError
from benchproof.explain.reports import Report
from benchproof.explain.text import many
from benchproof.sources import content
from benchproof.sources.base import Pin
from benchproof.sources.objects import unquote_path
from benchproof.vault import Vault


@dataclass(frozen=True, slots=True)
class Blobs:
    """Proven bytes by id, None where they could not be had; `how` says where from, or why not."""

    found: Mapping[str, bytes] | None
    how: str


def blobs(report: Report, repo: str, wanted: Mapping[str, str]) -> Blobs:
    """Return the blobs of a repository that `wanted` maps to their paths.

    Raises ProofError for bytes that are not what their id says.
    """
    pin = report.pins[repo]
    path = Vault(report.audit.resources).content(repo, pin["commit_sha"])
    if wanted.keys() <= content.blob_ids(path):
        try:
            with content.opened(path) as archive:
                return Blobs({sha: archive.read(sha) for sha in wanted}, "from the vault")
        except VaultError:
            pass  # damaged: the source has them
    if report.audit.offline:
        needs = f"commit {pin['commit_sha'][:12]}, its trees and {many(len(wanted), 'blob')}"
        return Blobs(None, f"offline, and the vault lacks {needs} of {repo}")
    try:
        known: dict[str, Any] = {field.name: pin[field.name] for field in fields(Pin)}
        return _fetched(report, Pin(**known), wanted)
    except BenchproofError as error:
        return Blobs(None, f"the blobs could not be had: {error}")


def _fetched(report: Report, pin: Pin, wanted: Mapping[str, str]) -> Blobs:
    """Ask the configured source for one commit, its trees and these blobs."""
    from benchproof.sources.opening import open_http, open_source

    with tempfile.TemporaryDirectory(prefix="benchproof-") as private:
        settings = report.audit.merged
        with open_http(settings) as http:
            source = open_source(settings, Vault(Path(private, "vault")), http)
            paths = {sha: unquote_path(path) for sha, path in wanted.items()}
            found = dict(source.blobs(pin, paths))
            requests = sum(int(row["requests"]) for row in http.traffic.rows("explain"))
    asked = f"{many(len(wanted), 'blob')}, {many(requests, 'request')}"
    return Blobs(found, f"fetched for this explanation ({asked})")
