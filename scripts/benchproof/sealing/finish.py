"""The last act of an audit: publish what was rendered and searched, seal the folder, sign the seal."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from benchproof import provenance
from benchproof.errors import LeakError
from benchproof.leaks.scan import mark
from benchproof.printable import printable
from benchproof.sealing import commits, form, seal, signature
from benchproof.sealing.enclosed import PUBLISHED


def finish(
    staged: Path,
    folder: Path,
    audit: Mapping[str, Any],
    *,
    complete: bool,
    scan: Mapping[str, Any],
    read: Container[str],
    key: str | None,
) -> None:
    """Publish the staged files and write seal.json over the folder, with a signature when there is a key.

    `audit` is what every script is told of the audit, `read` holds the marks of the files as the search
    read them. Raises LeakError for a file that is another one now, SealError when the key can't sign; the
    report is not sealed then.
    """
    _as_searched({name: seal.digest(staged / name) for name in PUBLISHED}, read)
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
    _as_searched({name: file.sha256 for name, file in form.parse(text).files.items()}, read)
    signed = None if key is None else signature.sign(text, Path(key).expanduser())
    seal.write_seal(folder, text, signed)
    if complete and not audit["as_of"]:
        seal.point_latest(folder.parent, audit["label"])


def _as_searched(digests: Mapping[str, str], read: Container[str]) -> None:
    """Raise LeakError unless each file is, by its sha256 hex, one that was searched."""
    other = [name for name, digest in digests.items() if mark(name, digest) not in read]
    if other:
        raise LeakError(
            f"{len(other)} files were changed or put there after the search for graded values (first: "
            f"{printable(min(other))}). The report was not sealed; end what writes there and run again."
        )
