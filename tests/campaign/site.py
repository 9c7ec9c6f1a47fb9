"""One object behind one handle, served by the embedded upstream, and a vault to fetch it into."""

from __future__ import annotations

import hashlib
import random
import re
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchproof.http import Http
from benchproof.journal import Journal
from benchproof.storage.fetch import Record, Store, fetch, journal
from benchproof.storage.identity import Identity
from benchproof.storage.links import Links
from benchproof.storage.signer import Signer
from upstream import StoredObject, Upstream

HANDLE = "latch://4711.node"


class Site:
    """Storage, signer, client and store around one handle; a context manager.

    `silence_s` is the client's stall limit. `versions` holds the SHA-256 of each version that the
    object ever had, by ETag: nothing else may be found under a final name, but for what was
    `planted` there by hand (digests) and nobody has asked for since.
    """

    handle = HANDLE

    def __init__(self, folder: Path, *, silence_s: float = 5.0, **shared: Any) -> None:
        (folder / "repos").mkdir(parents=True, exist_ok=True)
        self.folder, self.store = folder, Store(folder / "snapshots")
        self.upstream = Upstream(folder / "repos")
        self.http = Http([self.upstream.url], timeout_s=silence_s, environ={})
        self.links = self.new_links()
        self.versions: dict[str, str] = {}
        self.planted: set[str] = set()
        self.share(**shared)

    def __enter__(self) -> Self:
        self.upstream.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.http.close()
        self.upstream.stop()

    def new_links(self) -> Links:
        """Return links that know no URL yet."""
        endpoint = f"{self.upstream.url}/sign"
        book = self.folder / f"links-{random.randrange(1 << 60):x}.jsonl"
        return Links(Signer(self.http, endpoint, [self.upstream.url]), Journal(book))

    def share(self, **shared: Any) -> Identity:
        """Put an object behind the handle and return its identity."""
        self._note(self.upstream.storage.share(HANDLE, **shared))
        return self.identity

    def replace(self, **changes: Any) -> Identity:
        """Put a newer version behind the handle and return its identity."""
        self._note(self.upstream.storage.replace_object(HANDLE, **changes))
        return self.identity

    @property
    def object(self) -> StoredObject:
        """What stands behind the handle now."""
        return self.upstream.storage.object_of(HANDLE)

    @property
    def identity(self) -> Identity:
        """The version that stands behind the handle now."""
        content = self.object.content()
        return Identity.of(200, {"ETag": content.etag, "Content-Length": str(content.size)})

    def _note(self, entry: StoredObject) -> None:
        self.versions[entry.content().etag.strip('"')] = entry.sha256()

    def fetch(self, identity: Identity | None = None, **options: Any) -> Record:
        """Fetch the object, as it is now or as an earlier probe saw it."""
        given = {"connections": 3, "chunk_bytes": 256 * 1024, "tries": 4} | options
        links = given.pop("links", self.links)
        return fetch(self.http, links, HANDLE, identity or self.identity, self.store, **given)

    def finals(self) -> list[Path]:
        """Return the files that have a final name."""
        found = (path for path in self.store.root.rglob("*") if path.is_file())
        return [
            path
            for path in found
            if path.suffix != ".json" and not path.parent.name.endswith(".part")
        ]

    def parts(self) -> list[Path]:
        """Return the unfinished files."""
        return sorted(self.store.root.glob("*/*.part"))

    def unsound(self) -> list[str]:
        """Return which files have a final name and are not a version of the object."""
        found = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in self.finals()}
        return [
            path.name
            for path, digest in found.items()
            if digest != self.versions.get(path.stem) and digest not in self.planted
        ]

    def holds(self, record: Record) -> bool:
        """True when a record and its file are of the version that the record names."""
        content = (self.store.root / record.path).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        return digest == record.sha256 == self.versions.get(record.etag or "")

    @property
    def served(self) -> int:
        """Bytes of objects that the storage has handed to sockets."""
        return self.upstream.counts()["storage"]["bytes_out"]

    def journalled_of(self, identity: Identity) -> set[int]:
        """Return the good blocks of unfinished files of one version that a run can build on."""
        good: set[int] = set()
        for path in self.parts():
            known = journal.read(path / "journal")
            data = path / "data"
            if known and known.identity.same_as(identity) and data.exists():
                held = data.read_bytes()
                if len(held) == identity.size:
                    pieces = {
                        n: held[n * known.block : (n + 1) * known.block] for n in known.blocks
                    }
                    good |= {n for n, b in pieces.items() if journal.digest(b) == known.blocks[n]}
        return good

    def journalled(self) -> set[int]:
        """Return the blocks that journals of unfinished files hold."""
        found = (journal.read(path / "journal") for path in self.parts())
        return {number for progress in found if progress for number in progress.blocks}

    def blocks_asked(self, since: int, block: int = 256 * 1024) -> set[int]:
        """Return the blocks that requests asked for, from the request number `since` on."""
        ends = [re.findall(r"\d+", text) for text in self.ranges()[since:]]
        spans = [(int(first), int(last)) for first, last in ends]
        return {n for first, last in spans for n in range(first // block, last // block + 1)}

    def ranges(self) -> list[str]:
        """Return the ranges that were asked for, in order."""
        return [record.range or "" for record in self.upstream.requests("storage")]
