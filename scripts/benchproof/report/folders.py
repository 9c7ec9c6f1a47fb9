"""Folders of reports as drift reads them: of any version, whole or damaged, wherever they lie."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchproof import jsontext
from benchproof.analysis.drift.frames import Frame
from benchproof.analysis.drift.views import Report
from benchproof.errors import ConfigError, TableError, Unreadable
from benchproof.outputs import DATED, TABLES, folder_label
from benchproof.sealing.seal import SEAL, is_complete
from benchproof.tables import METADATA_KEY

#: Files below this are read at once.
_SMALL_BYTES = 1 << 21


def find(named: str, results: Path) -> Path:
    """Return the folder of a report: a date or another name below the results folder, or any folder.

    Raises ConfigError when there is no such folder, or when it holds no table of a report.
    """
    for folder in (results / named, Path(named)):
        if folder.is_dir():
            if any((folder / f"{name}.parquet").exists() for name in TABLES):
                return folder.resolve() if folder.is_symlink() else folder
            raise ConfigError(
                f"{folder}: not a report: it holds none of its tables; name another folder."
            )
    known = ", ".join(sorted(p.name for p in results.glob("*") if DATED.fullmatch(p.name))[-5:])
    there = f"Reports here: {known}." if known else "There is no report here yet; run snakemake."
    raise ConfigError(f"{results / named}: no such report. {there}")


def load(folder: Path) -> Report:
    """Return a report; what cannot be read is named in its notes, and the rest is there."""
    import pyarrow as pa

    frames: dict[str, Frame] = {}
    about: dict[str, Mapping[str, Any]] = {}
    notes = []
    for name in TABLES:
        path = folder / f"{name}.parquet"
        if not path.exists():
            continue
        try:
            frames[name], about[name] = _frame(path)
        except (pa.ArrowException, OSError, ValueError):
            notes.append(f"{name}.parquet cannot be read, and is not compared")
    return Report(folder_label(folder), frames, about, _complete(folder), tuple(notes))


def equal_tables(old: Path, new: Path) -> set[str]:
    """Return the names of tables that are the same bytes in both folders."""
    return {
        name
        for name in TABLES
        for mine, theirs in ((old / f"{name}.parquet", new / f"{name}.parquet"),)
        if mine.exists() and theirs.exists() and filecmp.cmp(mine, theirs, shallow=False)
    }


class Older(Sequence[Report]):
    """The dated reports before one, newest first, each read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        same_kind = folder.parent.glob("[0-9]*-[0-9]*-[0-9]*")
        named = DATED.fullmatch(folder.name) and not folder.name.startswith("asof-")
        self._folders = (
            sorted(
                (
                    p
                    for p in same_kind
                    if DATED.fullmatch(p.name) and p.name < folder.name and p.is_dir()
                ),
                reverse=True,
            )
            if named
            else []
        )
        self._read: dict[int, Report] = {}

    def __len__(self) -> int:
        return len(self._folders)

    def __getitem__(self, place: Any) -> Any:
        """Return a report by its place; a slice gives a list."""
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        if place >= len(self) or place < 0:
            raise IndexError(place)
        if place not in self._read:
            self._read[place] = load(self._folders[place])
        return self._read[place]

    def __iter__(self) -> Iterator[Report]:
        return (self[place] for place in range(len(self)))


def _complete(folder: Path) -> bool | None:
    """Return what the seal says; a dated folder without one is an audit that did not end."""
    if (folder / SEAL).exists():
        return is_complete(folder)
    return False if DATED.fullmatch(folder.name) else None


def _frame(path: Path) -> tuple[Frame, Mapping[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    # A small table is read at once, so that damage inside it is met here.
    whole = file.read(use_threads=False) if path.stat().st_size < _SMALL_BYTES else None
    if whole is not None:
        whole.validate(full=True)
    try:
        told = jsontext.loads((schema.metadata or {}).get(METADATA_KEY, b"{}")).value
    except Unreadable:
        told = {}

    def column(name: str) -> Any:
        try:
            table = file.read(columns=[name], use_threads=False)
            table.validate(full=True)
            return table.column(0)
        except (pa.ArrowException, OSError, ValueError):
            raise TableError(
                f"{path}: column {name} is damaged; bring the file back or audit again."
            ) from None

    if whole is not None:
        return Frame.of(whole), told if isinstance(told, dict) else {}
    frame = Frame(schema, file.metadata.num_rows, column)
    return frame, told if isinstance(told, dict) else {}
