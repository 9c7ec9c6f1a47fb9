"""The folder of one past commit in the results: whole, and made from what would make it now, or not."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from benchproof import tables
from benchproof.errors import TableError, unwritten
from benchproof.history.derive import RULE_OF, Terms
from benchproof.sources.base import RepoSpec

#: The end of the names of folders that are not there yet, or not any more.
PART = ".part"


def is_finished(folder: Path, spec: RepoSpec, terms: Terms) -> bool:
    """True when every table is there with the commit, code, configuration and versions of today."""
    return all(_about(folder / f"{table}.parquet") == terms.about(table, spec) for table in RULE_OF)


def _about(path: Path) -> object:
    try:
        return tables.about(path) if path.exists() else None
    except (TableError, ValueError, KeyError, TypeError, OSError):
        return None


def publish(staged: Path, folder: Path) -> None:
    """Copy tables to where they belong: under the final name at once, or not at all."""
    new, old = (folder.with_name(f"{folder.name}.{uuid.uuid4().hex}{PART}") for _ in range(2))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        new.mkdir()
        for path in sorted(staged.glob("*.parquet")):
            shutil.copyfile(path, new / path.name)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except OSError as error:
        raise TableError(unwritten(error, folder)) from None
    finally:
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Delete what killed runs left of commits; only the holder of the lease may."""
    for path in folder.glob(f"*{PART}"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
