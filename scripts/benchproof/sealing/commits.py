"""What a report says of its commits: one set of pins everywhere, and listings that hash to their trees.

A git tree's id is a hash over names, modes and ids of what it holds, so the tree table alone proves that its
rows are all of the pinned tree and nothing else. That the tree is the commit's takes the commit object, which
a report does not hold (it has its author's address): a vault's mirror or any clone has it.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchproof.errors import BenchproofError
from benchproof.outputs import TABLES
from benchproof.sealing import swhid
from benchproof.sealing.files import plain
from benchproof.sealing.outcome import Check, failed, ok, unchecked
from benchproof.sources import objects
from benchproof.sources.base import Entry

SWHIDS: Final = "swhids.txt"
#: Uncompressed bytes of a table that is read: a family of a million runs has less.
_MOST_BYTES: Final = 1 << 32
_AT_ONCE: Final = 1 << 16
#: A commit object is a page of text.
_MOST_COMMIT: Final = 1 << 20
_WAIT_S: Final = 60.0


class UnreadableTable(Exception):
    """A table of a report can't be read; the text says which and why."""


def rows(folder: Path, name: str, columns: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield some columns of a table's rows; raises UnreadableTable for whatever is no such table.

    A column of another type than benchproof writes is none of its: no caller meets a list for a text.
    """
    import pyarrow as pa

    from benchproof.tables import SPECS

    try:
        with _opened(folder, name) as file:
            wanted = list(columns)
            if lacking := sorted({*wanted} - {*file.schema_arrow.names}):
                raise UnreadableTable(f"{name}.parquet lacks the column {lacking[0]}")
            told, known = file.schema_arrow, SPECS[name].schema
            if odd := [c for c in wanted if told.field(c).type != known.field(c).type]:
                raise UnreadableTable(f"{name}.parquet has another type in the column {odd[0]}")
            for batch in file.iter_batches(_AT_ONCE, columns=wanted, use_threads=False):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        raise UnreadableTable(f"{name}.parquet can't be read ({type(error).__name__})") from None


def about(folder: Path, name: str) -> dict[str, Any]:
    """Return what a table's metadata says of its making; raises UnreadableTable."""
    import pyarrow as pa

    try:
        with _opened(folder, name) as file:
            told = json.loads((file.schema_arrow.metadata or {}).get(b"benchproof", b"{}"))
    except (pa.ArrowException, OSError, ValueError, MemoryError, RecursionError) as error:
        raise UnreadableTable(f"{name}.parquet can't be read ({type(error).__name__})") from None
    return told if isinstance(told, dict) else {}


@contextmanager
def _opened(folder: Path, name: str) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with plain(folder / f"{name}.parquet") as data, pq.ParquetFile(data) as file:
        groups = (file.metadata.row_group(n) for n in range(file.metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > _MOST_BYTES:
            raise OSError("too large")
        yield file


def pins(folder: Path) -> list[dict[str, Any]]:
    """Return the pins of a report, sorted by repository; raises UnreadableTable."""
    found = list(rows(folder, "pins", ("repo", "status", "commit_sha", "tree_sha")))
    for row in found:
        if not all(
            row[name] is None or objects.is_id(row[name]) for name in ("commit_sha", "tree_sha")
        ):
            raise UnreadableTable("pins.parquet holds ids that are none")
    return sorted(found, key=lambda row: str(row["repo"]))


def check_pins(
    folder: Path, pinned: list[dict[str, Any]], sealed: Mapping[str, Any] | None
) -> Check:
    """Return whether all tables, the seal and the list of SWHIDs name the commits that pins does."""
    commits = {row["repo"]: row["commit_sha"] for row in pinned}
    there = [name for name in TABLES if (folder / f"{name}.parquet").exists()]
    faults = []
    if sealed is not None and sealed != commits:
        faults.append("the seal names other commits than pins")
    for name in there:
        try:
            if about(folder, name).get("pins") != commits:
                faults.append(f"{name}.parquet was made from other commits than pins names")
        except UnreadableTable as error:
            faults.append(str(error))
    if faults:
        return failed("commits", faults)
    named = ", ".join(f"{repo}@{sha[:12]}" for repo, sha in commits.items() if sha)
    return ok("commits", f"{len(there)} tables were made from {named or 'no commit'}")


def check_trees(folder: Path, pinned: list[dict[str, Any]]) -> Check:
    """Return whether the rows of each repository in the tree table hash to its pinned root tree."""
    trees = {row["repo"]: row["tree_sha"] for row in pinned if row["tree_sha"]}
    listed: dict[str, list[Entry]] = {repo: [] for repo in trees}
    faults = []
    missing: list[str] = []
    try:
        reasons = unread(folder)
        for row in rows(folder, "tree", ("repo", "path", "mode", "blob_sha")):
            if row["repo"] in listed:
                path = objects.unquote_path(row["path"])
                listed[row["repo"]].append(Entry(path, row["mode"], row["blob_sha"]))
            else:
                faults.append(f"tree.parquet lists a repository without a pin: {row['repo']}")
        for repo, entries in listed.items():
            if (entries or repo not in reasons) and objects.tree_id(entries) != trees[repo]:
                faults.append(f"the {len(entries)} entries of {repo} are not those of its tree")
        missing = [repo for repo in reasons if repo in listed and not listed[repo]]
    except UnreadableTable as error:
        faults.append(str(error))
    except (BenchproofError, ValueError, AttributeError, TypeError) as error:
        faults.append(f"tree.parquet: {error}")
    if faults:
        return failed("trees", faults)
    proven = [f"{len(entries):,} entries of {repo}" for repo, entries in listed.items() if entries]
    lines = [f"{', '.join(proven) or 'no entries'} hash to the pinned root trees"]
    if missing:
        lines.append(f"not read when the report was made, so without entries: {', '.join(missing)}")
    return ok("trees", *lines)


def unread(folder: Path) -> dict[str, str]:
    """Return why repositories have no rows, by repository; raises UnreadableTable."""
    listed = rows(folder, "reconciliation", ("repo", "status", "reason"))
    return {row["repo"]: str(row["reason"]) for row in listed if row["status"] == "not_read"}


def check_swhids(text: bytes, expected: str) -> Check:
    """Return whether the list of SWHIDs is the one that pins and tree give."""
    if text == expected.encode():
        return ok("swhids", f"{expected.count(chr(10))} identifiers are those of pins and tree")
    at = next(
        (n for n, (a, b) in enumerate(zip(text, expected.encode(), strict=False)) if a != b),
        min(len(text), len(expected)),
    )
    return failed("swhids", [f"{SWHIDS} is not what pins and tree give, from byte {at:,} on"])


def check_clones(pinned: list[dict[str, Any]], clones: list[Path], *, asked: bool) -> Check:
    """Return whether clones hold the commits, and these the trees, that pins names.

    Each commit object is hashed here: a clone is as little trusted as a report.
    """
    wanted = [row for row in pinned if row["commit_sha"]]
    if not clones:
        return unchecked(
            "history", "no clone or vault at hand; say --git DIR to find the commits in"
        )
    faults, missing = [], []
    for row in wanted:
        data = next(filter(None, (_commit(clone, row["commit_sha"]) for clone in clones)), None)
        if data is None:
            missing.append(f"{row['repo']}@{row['commit_sha'][:12]}")
            continue
        try:
            tree = objects.parse_commit(data).tree_sha
        except BenchproofError:
            tree = "unreadable"
        if tree != row["tree_sha"]:
            faults.append(f"{row['repo']}: the commit has another tree than pins says")
    if faults:
        return failed("history", faults)
    if missing:
        where = "these clones lack" if asked else "the vault lacks"
        return unchecked("history", f"{where} {', '.join(missing)}", asked=asked)
    return ok("history", f"{len(wanted)} commit objects are there and have the pinned trees")


def _commit(clone: Path, sha: str) -> bytes | None:
    """Return a commit object that hashes to its id, from a clone that runs nothing of its own."""
    inner = clone / ".git"
    command = ["git", f"--git-dir={inner if inner.exists() else clone}", "cat-file", "commit", sha]
    alone = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            command,
            env={
                "PATH": os.environ.get("PATH", os.defpath),
                "HOME": "/nonexistent",
                "LC_ALL": "C",
                **alone,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_WAIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    data = done.stdout
    right = done.returncode == 0 and len(data) <= _MOST_COMMIT
    return data if right and objects.object_id("commit", data) == sha else None


def listing(folder: Path, pinned: list[dict[str, Any]], merged: Mapping[str, Any]) -> str:
    """Return the list of SWHIDs of a report by its pins, tree table and configuration."""
    tree = rows(folder, "tree", ("repo", "path", "blob_sha", "size"))
    folders = {member["repo"]: member["runs"] for member in merged["family"]}
    return swhid.listing(pinned, tree, swhid.origins(merged), folders)
