"""Clean rooms: vaults with the pins of one date and the content of its commits, to derive it again in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from benchproof.errors import BenchproofError
from benchproof.pinning import keep_absence, keep_pin
from benchproof.sources import content
from benchproof.sources.base import Pin, RepoSpec
from benchproof.vault import Vault, private_folder


def furnish(
    inner: Vault,
    label: str,
    family: Iterable[RepoSpec],
    pins: Mapping[str, Pin],
    absences: Mapping[str, str],
    archive: Callable[[RepoSpec, str], Path],
) -> list[tuple[RepoSpec, Path]]:
    """Put into an empty vault what a date had pinned, and the archives of its commits; return those that
    are not at hand.

    `absences` says why a pinned repository could not be read, by its name: it is not read again either.
    Raises BenchproofError when a pin is missing.
    """
    inner.create()
    missing = []
    for spec in family:
        pin = pins.get(spec.repo)
        if pin is None:
            raise BenchproofError(f"the pins of {label} lack {spec.repo}.")
        keep_pin(inner, label, spec, pin)
        if pin.commit_sha is None:
            continue
        if spec.repo in absences:
            keep_absence(inner, label, spec, pin.commit_sha, absences[spec.repo])
            continue
        kept = archive(spec, pin.commit_sha)
        if content.blob_ids(kept):
            _share(kept, inner.content(spec.repo, pin.commit_sha))
        else:
            missing.append((spec, kept))
    return missing


def _share(archive: Path, to: Path) -> None:
    """Give the room an archive: it is proven at each read, so a link is as good as a copy."""
    private_folder(to.parent)
    with suppress(OSError):
        os.link(archive, to)
        return
    shutil.copyfile(archive, to)
    to.chmod(0o600)
