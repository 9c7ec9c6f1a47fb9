"""Journals: what was learnt, appended the moment it is known, so that a kill loses the item under way.

One JSON line per record; the last line of a key counts. A line that a kill tore is ignored, and so is one
that an older version wrote differently. Lines are appended by single writes, so that several processes may
share a journal without a lock.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from benchproof.errors import VaultError, why
from benchproof.jsontext import canonical
from benchproof.vault import private_folder

T = TypeVar("T")


class Journal:
    """Records by key in one private file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._followed = 0

    def read(self) -> dict[str, dict[str, Any]]:
        """Return the last record of each key, in the order in which keys first came."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise VaultError(f"{self.path}: cannot be read ({why(error)}).") from None
        return _records(lines)

    def follow(self) -> dict[str, dict[str, Any]]:
        """Return the records that came since the last call: what others add is seen without reading it all
        again. A line that isn't whole yet is left for the next call.
        """
        try:
            with self.path.open("rb") as file, self._lock:
                if os.fstat(file.fileno()).st_size < self._followed:
                    self._followed = 0  # another file by this name
                file.seek(self._followed)
                whole, end, _ = file.read().rpartition(b"\n")
                self._followed += len(whole) + len(end)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise VaultError(f"{self.path}: cannot be read ({why(error)}).") from None
        return _records(whole.split(b"\n"))

    def items(self, of: Callable[[str, dict[str, Any]], T]) -> dict[str, T]:
        """Return what `of` makes of each key and record; one that lacks what it needs counts as none."""
        made: dict[str, T] = {}
        for key, record in self.read().items():
            try:
                made[key] = of(key, record)
            except (ValueError, KeyError, TypeError):
                continue
        return made

    def add(self, key: str, record: Mapping[str, Any]) -> None:
        """Append a record. Raises VaultError when there is no room or no permission."""
        line = canonical({**record, "key": key}).encode() + b"\n"
        try:
            with self._lock:
                self._append(line)
        except OSError as error:
            raise VaultError(
                f"{self.path}: cannot be written ({why(error)}); free room or permissions there and "
                "run again."
            ) from None

    def _append(self, line: bytes) -> None:
        private_folder(self.path.parent)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                # Ends what a kill or a full disk tore, of this process or another. Where another is writing
                # just now, that leaves an empty line.
                line = b"\n" + line
            while line:  # a full disk takes a part, then raises; the torn line is ignored
                line = line[os.write(descriptor, line) :]
        finally:
            os.close(descriptor)


def _records(lines: Iterable[bytes]) -> dict[str, dict[str, Any]]:
    """Return the last record of each key; a line that a kill tore is as if its item was never asked for."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        try:
            record = json.loads(line)
            found[record.pop("key")] = record
        except (ValueError, KeyError, AttributeError, TypeError):
            continue
    return found
