"""A content archive in memory, for tests of what reads one."""

from __future__ import annotations

from benchproof.sources import content, objects
from benchproof.sources.base import Entry


class Memory(content.Content):
    """Files in memory."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._data = {objects.blob_id(data): data for data in files.values()}
        self.entries = [
            Entry(path.encode(), "100644", objects.blob_id(files[path])) for path in sorted(files)
        ]

    def has(self, sha: str) -> bool:
        return sha in self._data

    def read(self, sha: str) -> bytes:
        return self._data[sha]
