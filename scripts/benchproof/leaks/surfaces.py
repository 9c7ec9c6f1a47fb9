"""Everything that leaves, as documents: each file's name and bytes, and what its format says in other words.

A file of a report that can't be decoded is a failure with its name: what was not searched isn't clean.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from benchproof.leaks import pages
from benchproof.leaks.text import encoded

#: Whose a folder is: the report's own, made beside it (drift, history), or Snakemake's.
Origin = Literal["report", "beside", "engine"]

#: By the last part of a name; whatever else stands in a report is searched as bytes.
_SUFFIXES: Final = {
    ".html": "page source",
    ".json": "JSON",
    ".sarif": "JSON",
    ".md": "markdown",
    ".log": "log",
    ".tsv": "benchmark",
    ".txt": "log",
    ".parquet": "table bytes",
}
#: The kinds that are a file's own bytes, whole.
WHOLE: Final = frozenset({*_SUFFIXES.values(), "other file"})
#: Every kind of surface; each is planted on in every run.
KINDS: Final = (
    "file name",
    "folder name",
    "link target",
    "extended attribute",
    "table bytes",
    "table rows",
    "table columns",
    "table statistics",
    "table names and metadata",
    "page source",
    "page text",
    "page attributes",
    "page data",
    "JSON",
    "JSON values",
    "markdown",
    "log",
    "benchmark",
    "engine record",
    "engine record's values",
    "engine record's name",
    "other file",
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file, folder or link that leaves; `top` is the folder whose content is searched.

    `closed` marks a folder that can't be listed, so that nobody knows what stands in it.
    """

    path: Path
    top: Path
    origin: Origin
    closed: bool = False

    @property
    def counted(self) -> bool:
        """True for what is sealed: the rest differs from run to run."""
        return (
            self.origin == "report"
            and self.inside.parts[:1] not in (("logs",), ("seal.json",))
            and self.path.suffix != ".part"
            and not self.path.name.startswith(".nfs")
        )

    @property
    def inside(self) -> Path:
        """The path from the folder on."""
        return self.path.relative_to(self.top)


class Unsearchable(Exception):
    """A file can't be decoded, so that it can't be said to be clean. `kind` says as what it was read."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def sources(folders: Iterable[tuple[Path, Origin]]) -> list[Source]:
    """Return what stands below folders, each folder itself first, in the order of names; and files."""
    found = []
    for top, origin in folders:
        try:
            mode = top.stat().st_mode
        except FileNotFoundError:
            mode = stat.S_IFREG if top.is_symlink() else 0
        except OSError:
            found.append(Source(top, top.parent, origin, closed=True))
            continue
        if stat.S_ISDIR(mode):
            found += _below(top, origin)
        elif mode:
            found.append(Source(top, top.parent, origin))
    return found


def _below(top: Path, origin: Origin) -> list[Source]:
    """Return a folder and what stands below it; links aren't followed, what can't be listed is marked."""
    closed: set[Path] = set()

    def unlisted(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            closed.add(Path(os.fsdecode(error.filename or top)))

    walked = os.walk(top, onerror=unlisted)
    paths = sorted(Path(at, name) for at, folders, files in walked for name in (*folders, *files))
    return [Source(path, top, origin, path in closed) for path in (top, *paths)]


def closed(folder: Path) -> bool:
    """True for a folder that is there and can't be listed: a pattern finds nothing in it."""
    try:
        os.scandir(folder).close()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return False


def documents(source: Source) -> Iterator[tuple[str, bytes]]:
    """Yield (kind, bytes) of a source; raises Unsearchable. One that is gone meanwhile leaves nothing."""
    path = source.path
    if source.closed:
        raise Unsearchable("folder name")
    name = os.fsencode(path.relative_to(source.top) if path != source.top else path.name)
    if path.is_symlink():
        yield "file name", name
        yield "link target", os.fsencode(os.readlink(path))
        return
    yield "folder name" if path.is_dir() else "file name", name
    yield from _attributes(path)
    if not path.is_file():
        return
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    if source.origin == "engine":
        yield from _of_engine(name, data)
    else:
        yield from _of_report(path, data)


def _attributes(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the extended attributes that a user may set and a copy keeps; some file systems have none."""
    with suppress(OSError, AttributeError):
        for name in os.listxattr(path, follow_symlinks=False):
            if name.startswith("user."):
                value = os.getxattr(path, name, follow_symlinks=False)
                yield "extended attribute", os.fsencode(name) + b"\n" + value


def _of_engine(name: bytes, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what Snakemake keeps: records are named by the base64 of a path, cut where it is long."""
    yield "engine record's name", re.sub(rb"/@|[@/]", b"", name)
    yield "engine record", data
    with suppress(
        ValueError, RecursionError
    ):  # logs, and records that a kill tore: bytes say the same
        yield "engine record's values", pages.said(json.loads(data))


def _of_report(path: Path, data: bytes) -> Iterator[tuple[str, bytes]]:
    kind = _SUFFIXES.get(path.suffix, "other file")
    yield kind, data
    if kind == "table bytes":
        from benchproof.leaks import tables

        try:
            yield from tables.documents(data)
        except ValueError:
            raise Unsearchable(kind) from None
    elif kind != "other file":
        yield from _of_text(kind, data)


def _of_text(kind: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        text = data.decode("utf-8")
        if kind == "page source":
            yield from pages.documents(text)
        elif kind == "JSON":
            yield "JSON values", pages.said(json.loads(text))
    except (ValueError, RecursionError):
        raise Unsearchable(kind) from None


def shown(source: Source) -> str:
    """Return the place of a source as a message names it."""
    return encoded(str(source.path)).decode("utf-8", "replace")
