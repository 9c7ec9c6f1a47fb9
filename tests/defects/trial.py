"""One repository through the whole pipeline, as lines of text: every cell of every table, and who is accused.

A line is `<table> <key> <column>=<value>`, for findings `findings <rule> <path>`; keys leave out the
repository, since a trial has one.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from benchproof import tables
from benchproof.analysis import claims
from benchproof.analysis.query import Tables, tables_named
from benchproof.history.derive import PINS, STEPS, Terms, derive
from benchproof.inventory import layout
from benchproof.sources import content, objects
from benchproof.sources.base import SMALL_BYTES, Entry, Pin, RepoSpec
from benchproof.vault import Vault
from family.tree import SUBMODULE, RepoTree

Lines = Counter[str]
ROOT: Final = Path(__file__).resolve().parents[2]
COMMIT: Final = "c" * 40
_CODES: Final = dict.fromkeys([PINS, *(step.rule for step in STEPS)], "trial")
_TERMS: Final = Terms(_CODES, None, "places", str(ROOT / "config" / "accepted.yaml"), "2026-08-28")
#: A finding has a line of its own; these hold nothing but what others hold.
_LEFT_OUT: Final = {"pins", "findings"}
#: Statuses that say that something is as it should be, or that nobody is to blame for.
_FINE: Final = {
    "ok",
    "reachable",
    "graded",
    "no_submission",
    *("rule_undetermined", "rule_not_published"),
    "holds",
    "published",
    "withheld",
    "small_n",
    "not_checked",
}
_OWN: Final = {"estimates", "strata", "comparisons", "published"}


@dataclass(frozen=True)
class Seen:
    """What an audit says: `lines` is all of it, `checked` how many statements could be checked."""

    lines: Lines

    def new(self, before: Seen) -> Lines:
        """Return the lines that an earlier audit had not."""
        return self.lines - before.lines


def digest(tree: RepoTree) -> str:
    """Return a digest of a tree: the same tree need not be audited twice."""
    made = sha256()
    for path in sorted(tree):
        mode, leaf = tree[path]
        made.update(b"%s\0%s\0%d\0" % (path, mode.encode(), len(leaf)) + leaf)
    return made.hexdigest()


class Auditor:
    """Audits trees in a folder of its own, and remembers those it has seen."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[tuple[str, str, str], Seen] = {}

    def audit(self, tree: RepoTree, spec: RepoSpec, claimed: str = "") -> Seen:
        """Return what an audit of this tree says; `claimed` is the text of a file of claims to check."""
        key = digest(tree), repr(spec), claimed
        if key not in self._known:
            self._known[key] = self._audit(tree, spec, claimed)
        return self._known[key]

    def _audit(self, tree: RepoTree, spec: RepoSpec, claimed: str) -> Seen:
        work = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            vault = Vault(work / "vault")
            vault.create()
            out = _derived(vault, tree, spec, work / "work")
            lines = Counter(_lines(out))
            if claimed:
                (work / "claims.yaml").write_text(claimed)
                lines += Counter(_claims(work / "claims.yaml", out))
            return Seen(lines)
        finally:
            shutil.rmtree(work)


@contextmanager
def auditor() -> Iterator[Auditor]:
    """Open an auditor whose folder is gone afterwards; the scripts' own lines are not shown."""
    log = logging.getLogger("benchproof")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Auditor(Path(folder))
    finally:
        log.setLevel(level)


def entries_of(tree: RepoTree) -> tuple[list[Entry], dict[str, bytes]]:
    """Return the listing of a tree, and its blobs by id."""
    entries, blobs = [], {}
    for path in sorted(tree):
        mode, leaf = tree[path]
        sha = leaf.decode() if mode == SUBMODULE else objects.blob_id(leaf)
        size = len(leaf) if len(leaf) < SMALL_BYTES and mode != SUBMODULE else None
        entries.append(Entry(path, mode, sha, size))
        blobs[sha] = leaf
    return entries, blobs


def _derived(vault: Vault, tree: RepoTree, spec: RepoSpec, work: Path) -> Path:
    entries, blobs = entries_of(tree)
    wanted = layout.needed(entries, spec)
    content.save(vault.content(spec.repo, COMMIT), entries, ((sha, blobs[sha]) for sha in wanted))
    moment = datetime(2026, 8, 1, tzinfo=UTC)
    pin = Pin(spec.repo, "main", "ok", None, COMMIT, "d" * 40, moment, None, None, "git")
    return derive(vault, spec, pin, work, _TERMS)


def _lines(folder: Path) -> Iterator[str]:
    for name, spec in tables.SPECS.items():
        path = folder / f"{name}.parquet"
        if name not in _LEFT_OUT and path.exists():
            key = [column for column in spec.key if column != "repo"]
            for row in tables.read(path, name):
                named = "/".join(str(row[column]) for column in key)
                yield from (
                    f"{name} {named} {column}={value}"
                    for column, value in row.items()
                    if column not in key and column not in ("repo", "blob_sha")
                )
    for row in tables.read(folder / "findings.parquet", "findings"):
        yield f"findings {row['rule']} {row['path']}"


def _claims(path: Path, folder: Path) -> Iterator[str]:
    listed = claims.load(path)
    asked = claims.tables_of(listed, tables_named)
    made = {file.stem for file in folder.glob("*.parquet")}
    pins = tables.read(folder / "pins.parquet", "pins")
    scope = claims.Scope({row["repo"]: row["commit_sha"] for row in pins}, frozenset(), {})
    for row in claims.check(listed, Tables(folder, sorted(asked & made)), scope, lambda *_: None):
        yield from (f"claims {row['claim_id']} {name}={row[name]}" for name in ("status", "reason"))


def accuses(line: str) -> bool:
    """True when a line says that something is wrong."""
    table, _, rest = line.partition(" ")
    said, _, value = rest.rpartition("=")
    column = said.rpartition(" ")[2]
    if table == "findings":
        return True
    if table in _OWN:
        return False
    if column in ("passed_agrees", "score_agrees", "fields_agree"):
        return value == "False"
    if column in ("n_fails", "orphans", "dangling", "duplicates"):
        return value not in ("0", "None")
    if table == "licences" and column == "class":
        return value in ("altered_text", "absent")
    if table == "graders" and column == "rule_status":
        return value not in _FINE
    return column == "status" and value not in _FINE


def of_items(line: str) -> bool:
    """True when a line accuses something smaller than a repository."""
    return not line.startswith(("record_checks ", "reconciliation "))


def matches(line: str, patterns: Sequence[str]) -> bool:
    """True when a line fits one of the patterns; each may list others, divided by `|`."""
    return any(_fits(line, one) for pattern in patterns for one in pattern.split("|"))


@lru_cache(maxsize=4096)
def _fits(line: str, pattern: str) -> bool:
    return fnmatchcase(line, pattern)


def literal(text: str) -> str:
    """Return a pattern that fits this text alone."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)


def touched(before: RepoTree, after: RepoTree) -> list[str]:
    """Return the paths that differ between two trees, each as a part of a line."""
    paths = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return [path.decode("utf-8", "replace") for path in sorted(paths)]
