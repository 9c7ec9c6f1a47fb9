"""The two stages that read repositories: pin them once per date, mirror what an audit needs of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from benchproof.errors import Absent, AllowanceTooSmall, BenchproofError, Unreachable, VaultError
from benchproof.inventory import layout
from benchproof.sources import content
from benchproof.sources.base import Pin, RepoSpec, Source
from benchproof.sources.gitcmd import Moved
from benchproof.sources.objects import MalformedObjectError
from benchproof.vault import Vault, read_json, write_json

log = logging.getLogger("benchproof")


def recorded_pin(vault: Vault, label: str, spec: RepoSpec) -> Pin | None:
    """Return what this repository was pinned to under this label, or None."""
    path = vault.pin_record(label, spec.repo, spec.ref)
    if not path.exists():
        return None
    values = read_json(path)
    moment = values["committed_at"]
    return Pin(**{**values, "committed_at": datetime.fromisoformat(moment) if moment else None})


def pin_once(
    source: Source | None, vault: Vault, label: str, spec: RepoSpec, as_of: datetime | None
) -> Pin:
    """Return the recorded pin, or ask the source and record its answer; `unknown` is never recorded.

    Without a source (offline) an unrecorded pin is unknown, with the reason `offline`.
    """
    known = recorded_pin(vault, label, spec)
    if known is not None:
        log.info("%s: %s (recorded)", spec.repo, _shown(known))
        return known
    if source is None:
        return Pin(spec.repo, spec.ref, "unknown", "offline", None, None, None, None, None, "none")
    pin = source.pin(spec, as_of)
    if pin.status != "unknown":
        keep_pin(vault, label, spec, pin)
    log.info("%s: %s", spec.repo, _shown(pin))
    return pin


def keep_pin(vault: Vault, label: str, spec: RepoSpec, pin: Pin) -> None:
    """Record what a repository is pinned to under a label."""
    moment = pin.committed_at.isoformat() if pin.committed_at else None
    path = vault.pin_record(label, spec.repo, spec.ref)
    write_json(path, {**asdict(pin), "committed_at": moment})


def keep_absence(vault: Vault, label: str, spec: RepoSpec, commit: str, reason: str) -> None:
    """Record that a report of this label could not read a commit: a reproduction doesn't read it either."""
    record = {"status": "unknown", "reason": reason, "commit_sha": commit, "blobs": 0}
    write_json(_absence(vault, label, spec), record)


def _absence(vault: Vault, label: str, spec: RepoSpec) -> Path:
    return vault.pin_record(label, spec.repo, spec.ref).with_suffix(".unread")


def _shown(pin: Pin) -> str:
    return (
        f"{pin.commit_sha[:10]} {pin.status}" if pin.commit_sha else f"{pin.status} ({pin.reason})"
    )


def mirror(
    source: Source | None, vault: Vault, spec: RepoSpec, pin: Pin, label: str = ""
) -> dict[str, Any]:
    """Bring what an audit needs of one pinned commit into the vault and return the record of it.

    With a label, what a reproduced report of it could not read is left alone (`keep_absence`).

    Raises ProofError for bytes that are not what their id says; a source that can't be reached, or an
    allowance that is too small, becomes the record's status `unknown` with its cause.
    """
    commit = pin.commit_sha
    if commit is None:
        return {"status": pin.status, "reason": pin.reason, "commit_sha": None, "blobs": 0}
    if label and (absence := _absence(vault, label, spec)).exists():
        left_out: dict[str, Any] = read_json(absence)
        return left_out
    path = vault.content(spec.repo, commit)
    here = content.blob_ids(path)
    try:
        if here and _holds(path, spec, here):
            return _record(commit, len(here))
        if source is None:
            return {"status": "unknown", "reason": "offline", "commit_sha": commit, "blobs": 0}
        return _record(commit, _bring(source, pin, spec, path))
    except (Unreachable, MalformedObjectError, Absent, Moved, AllowanceTooSmall) as error:
        # What left after it was pinned keeps its pin; the others go on.
        log.warning("%s: %s", spec.repo, error)
        return {"status": "unknown", "reason": reason_of(error), "commit_sha": commit, "blobs": 0}


def reason_of(error: BenchproofError) -> str:
    """The fixed code of what kept content away, for the tables."""
    if isinstance(error, Unreachable):
        return error.cause
    if isinstance(error, Absent):
        return error.status
    codes = {Moved: "redirected", AllowanceTooSmall: "allowance", MalformedObjectError: "malformed"}
    return codes[type(error)]


def _bring(source: Source, pin: Pin, spec: RepoSpec, path: Path) -> int:
    entries = source.tree(pin)
    wanted = layout.needed(entries, spec)
    log.info("%s: %d files, %d of them needed", spec.repo, len(entries), len(wanted))
    number = content.save(path, entries, source.blobs(pin, wanted))
    log.info("%s: %d blobs proven", spec.repo, number)
    return number


def _holds(path: Path, spec: RepoSpec, here: set[str]) -> bool:
    """True when an archive has all that is needed; one that is damaged has nothing and is made again."""
    try:
        with content.opened(path) as archive:
            return layout.needed(archive.entries, spec).keys() <= here
    except VaultError:
        return False


def _record(commit: str, blobs: int) -> dict[str, Any]:
    return {"status": "ok", "reason": None, "commit_sha": commit, "blobs": blobs}


def raise_all(errors: list[BenchproofError]) -> None:
    """Raise what repositories met, as one error that tells of each; nothing when there is none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise BenchproofError(" | ".join(map(str, errors)))


def each(
    work: Callable[[RepoSpec], Any], family: list[RepoSpec], connections: int
) -> tuple[dict[str, Any], list[BenchproofError]]:
    """Run `work` for every repository concurrently; return results by repo and the errors met.

    One repository's error doesn't keep the others from finishing.
    """
    from benchproof.concurrency import map_concurrently

    def guarded(spec: RepoSpec) -> Any:
        try:
            return work(spec)
        except BenchproofError as error:
            return error

    results = dict(
        zip((s.repo for s in family), map_concurrently(guarded, family, connections), strict=True)
    )
    errors = [item for item in results.values() if isinstance(item, BenchproofError)]
    return {repo: item for repo, item in results.items() if item not in errors}, errors
