"""The last act of an audit: publish what was rendered and searched, seal the folder, sign the seal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchproof import provenance
from benchproof.sealing import commits, seal, signature
from benchproof.sealing.enclosed import PUBLISHED


def finish(
    staged: Path,
    folder: Path,
    audit: Mapping[str, Any],
    *,
    complete: bool,
    scan: Mapping[str, Any],
    key: str | None,
) -> None:
    """Publish the staged files and write seal.json over the folder, with a signature when there is a key.

    `audit` is what every script is told of the audit. Raises SealError when the key can't sign; the report
    is not sealed then.
    """
    seal.publish(staged, folder, PUBLISHED)
    before = None if audit["as_of"] else seal.previous_report(folder.parent, audit["label"])
    text = seal.seal_text(
        folder,
        {
            "kind": "report",
            "label": audit["label"],
            "complete": complete,
            "notice": audit["made_by"]["notice"],
            "made_by": {
                "config": audit["made_by"]["config"],
                "code": provenance.library_digest(),
                "versions": provenance.versions(),
            },
            "pins": {row["repo"]: row["commit_sha"] for row in commits.pins(folder)},
            "previous": seal.named(before),
            "scan": scan,
        },
    )
    signed = None if key is None else signature.sign(text, Path(key).expanduser())
    seal.write_seal(folder, text, signed)
    if complete and not audit["as_of"]:
        seal.point_latest(folder.parent, audit["label"])
