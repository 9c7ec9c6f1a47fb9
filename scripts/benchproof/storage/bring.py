"""Bring: the objects of one fetch job, one after another, each with a record of what became of it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from benchproof.errors import ObjectFailed
from benchproof.progress import Progress, megabytes
from benchproof.storage.fetch import Record, Store, fetch
from benchproof.storage.identity import Identity
from benchproof.storage.opening import World
from benchproof.vault import Vault, read_json

log = logging.getLogger("benchproof")


def bring(
    objects: Iterable[Mapping[str, Any]],
    world: World | None,
    store: Store,
    settings: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Return a record per object: status, reason, and what the store knows of a file that is there.

    Without a world (offline) an object counts as `unknown` unless the store has it. Raises VaultError
    when there is no room: nothing of the row is known then.
    """
    return [_brought(item, world, store, settings) for item in objects]


def _brought(
    item: Mapping[str, Any], world: World | None, store: Store, settings: Mapping[str, Any]
) -> dict[str, Any]:
    handle, suffix = item["handle"], item["suffix"]
    identity = Identity(item["etag"], item["size_bytes"], item["last_modified"])
    began, moment = time.monotonic(), datetime.now(UTC)
    try:
        if world is None:
            found = store.find(handle, identity, suffix, moment.isoformat())
            if found is None:
                raise ObjectFailed("unknown", "offline", handle)
        else:
            found = _fetched(handle, identity, suffix, world, store, settings)
    except ObjectFailed as error:
        log.warning("%s", error)
        failed = {"status": error.status, "reason": error.reason, "size": identity.size}
        return {"handle": handle, "checked_at": moment.isoformat(), **failed}
    seconds = time.monotonic() - began
    moved = (
        f"{megabytes(found.bytes_fetched)} in {seconds:.0f} s" if found.bytes_fetched else "here"
    )
    log.info("%s: %s, %s, verified by %s", handle, megabytes(found.size), moved, found.proof)
    return {"status": "ok", "reason": None, "seconds": seconds, **asdict(found)}


def _fetched(
    handle: str,
    identity: Identity,
    suffix: str,
    world: World,
    store: Store,
    settings: Mapping[str, Any],
) -> Record:
    limits, wanted = settings["http"], settings["fetch"]
    progress = Progress(f"fetch {handle}", identity.size or 0, show=megabytes)
    return fetch(
        world.storage,
        world.links,
        handle,
        identity,
        store,
        suffix=suffix,
        connections=wanted["connections"],
        chunk_bytes=wanted["chunk_bytes"],
        tries=limits["tries"],
        max_wait_s=limits["max_wait_s"],
        max_bytes=wanted["max_total_bytes"],
        progress=progress.reach,
    )


def measured_rate(vault: Vault) -> float | None:
    """Return bytes per second of the fetches that reports of this vault remember; None before any."""
    paths = vault.root.glob("handover/*/*/fetched/*.json")
    records = [record for path in paths for record in read_json(path) if record["status"] == "ok"]
    moved = [record for record in records if record["bytes_fetched"]]
    seconds = sum(record["seconds"] for record in moved)
    return sum(record["bytes_fetched"] for record in moved) / seconds if seconds else None
