"""Fetched objects in the vault, one folder a handle; a final name means verified bytes.

```
<root>/<handle>/<version>.<suffix>         the object, mode 0600
<root>/<handle>/<version>.<suffix>.json    its record: what was checked, and how
<root>/<handle>/<version>.<owner>.part/    an unfinished one, see part.py
```
A record is written before its file gets its name, so that a kill between the two leaves no file
without a record. A file that has none is proven by its ETag, or else fetched again.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from benchproof.storage.fetch.digests import Digests, Proof, digest_file
from benchproof.storage.fetch.journal import read
from benchproof.storage.fetch.part import Part, is_dead, open_part, parts_in, storage_error
from benchproof.storage.identity import Identity
from benchproof.storage.names import folder_name
from benchproof.vault import write_json

_SUFFIX = re.compile(r"[a-z0-9]{1,12}(\.[a-z0-9]{1,12})?")
_NOT_FINAL = ("json", "part", "new")


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a fetched object.

    `path` is relative to the store; `size` in bytes. `md5` is of the content where the ETag called
    for it. `proof` says what stands behind the bytes, see digests.py: md5, parts or size.
    `bytes_fetched` counts what the storage sent to this call, 0 when the file was there already.
    `checked_at` is the UTC time at which the file was last read and compared.
    """

    handle: str
    path: str
    size: int
    sha256: str
    etag: str | None
    last_modified: str | None
    md5: str | None
    proof: Proof
    bytes_fetched: int
    checked_at: str

    @property
    def identity(self) -> Identity:
        """The version that the file is of."""
        return Identity(self.etag, self.size, self.last_modified)


class Store:
    """The snapshots of a vault. `root` is their folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, handle: str) -> Path:
        """Return the folder of a handle's versions."""
        return self.root / folder_name(handle)

    def path(self, handle: str, identity: Identity, suffix: str) -> Path:
        """Return the final name of a version. Raises ValueError for a suffix that can't be one."""
        if not _SUFFIX.fullmatch(suffix) or suffix.rpartition(".")[2] in _NOT_FINAL:
            raise ValueError("a suffix is like h5ad or fastq.gz")
        return self.folder(handle) / f"{identity.key()}.{suffix}"

    def find(self, handle: str, identity: Identity, suffix: str, now: str) -> Record | None:
        """Return the record of a version that is here, after reading its file; None when it isn't.

        A file that isn't what its record says is deleted, and so is one without a record whose
        bytes its ETag doesn't prove, and one of a version that can't be told from others.
        """
        path = self.path(handle, identity, suffix)
        try:
            if path.is_symlink() or not path.is_file():
                return None
            if path.stat().st_size == identity.size and identity.recognisable:
                record = self._vouched(path, handle, identity, now)
                if record is not None:
                    self._tidy(handle)
                    return record
            path.unlink(missing_ok=True)
        except OSError as error:
            raise storage_error(path.parent, error) from None
        return None

    def _vouched(self, path: Path, handle: str, identity: Identity, now: str) -> Record | None:
        """Return the record of a file, when its digest or else its ETag says what it is."""
        known = _read_record(_record_path(path))
        if known is not None and known.handle == handle and known.identity.same_as(identity):
            if digest_file(path, identity, tag=False).sha256 != known.sha256:
                return None
            seen = {"last_modified": identity.last_modified, "checked_at": now, "bytes_fetched": 0}
            return _changed(known, path=self._relative(path), **seen)
        digests = digest_file(path, identity)
        if digests.proof not in ("md5", "parts"):
            return None
        record = self._record(path, handle, identity, digests, 0, now)
        write_json(_record_path(path), asdict(record))
        return record

    def held(self, handle: str, identity: Identity, suffix: str) -> int:
        """Return how many bytes of a version are here, whole or in parts, without reading them."""
        path = self.path(handle, identity, suffix)
        if not identity.recognisable:
            return 0
        if path.is_file() and path.stat().st_size == identity.size:
            return path.stat().st_size
        found = [read(part / "journal") for part in parts_in(self.folder(handle))]
        return max((p.bytes_held for p in found if p and p.identity.same_as(identity)), default=0)

    def open(self, handle: str, identity: Identity, block: int, *, fresh: bool = False) -> Part:
        """Return the unfinished file of a version, with what earlier runs left of it or `fresh`."""
        try:
            return open_part(self.folder(handle), identity, block, fresh=fresh)
        except OSError as error:
            raise storage_error(self.folder(handle), error) from None

    def publish(
        self, part: Part, handle: str, suffix: str, digests: Digests, fetched: int, now: str
    ) -> Record:
        """Give a verified file its final name and return its record."""
        path = self.path(handle, part.identity, suffix)
        record = self._record(path, handle, part.identity, digests, fetched, now)
        write_json(_record_path(path), asdict(record))
        part.rename_to(path)
        self._tidy(handle)
        return record

    def _record(
        self,
        path: Path,
        handle: str,
        identity: Identity,
        digests: Digests,
        fetched: int,
        now: str,
    ) -> Record:
        return Record(
            handle=handle,
            path=self._relative(path),
            size=digests.length,
            sha256=digests.sha256,
            etag=identity.etag,
            last_modified=identity.last_modified,
            md5=digests.md5,
            proof=digests.proof,
            bytes_fetched=fetched,
            checked_at=now,
        )

    def _relative(self, path: Path) -> str:
        return str(path.relative_to(self.root))

    def _tidy(self, handle: str) -> None:
        """Delete what dead processes left of this handle: one whole version is here now."""
        for path in parts_in(self.folder(handle)):
            if is_dead(path):
                shutil.rmtree(path, ignore_errors=True)


def _record_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _read_record(path: Path) -> Record | None:
    """Return a record; None when it is missing or was not written by this version."""
    try:
        value = json.loads(path.read_bytes())
        if set(value) != {field.name for field in fields(Record)}:
            return None
        return Record(**value)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError):
        return None


def _changed(record: Record, **changes: Any) -> Record:
    values: Mapping[str, Any] = asdict(record) | changes
    return Record(**values)
