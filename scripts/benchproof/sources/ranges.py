"""What a range of commits is, as values: who can be reached, in which order, and what each one changes.

Both sources end here, so that a range is the same whichever way it was read.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from benchproof.errors import Unreachable
from benchproof.sources import objects
from benchproof.sources.base import Entry

#: Bytes of all paths that one commit may change: trees that hold each other name 10**10 files.
MAX_CHANGED = 1 << 29
#: Commits of one range: a hundred times what any benchmark has, in 200 MB of memory.
MAX_COMMITS = 200_000

Rows = list[tuple[str, bytes, str]]


def reachable(
    start: str, read: Callable[[str], objects.Commit], stop: str | None = None
) -> dict[str, objects.Commit]:
    """Return `start` and all its ancestors by id; the walk ends early once `stop` is met."""
    found: dict[str, objects.Commit] = {}
    waiting = [start]
    while waiting and stop not in found:
        sha = waiting.pop()
        if sha not in found:
            found[sha] = read(sha)
            if len(found) > MAX_COMMITS:
                what = f"the history of {start[:12]}"
                raise Unreachable("too_large", what, f"It has more than {MAX_COMMITS} commits.")
            waiting += found[sha].parents
    return found


def newest_first(commits: Mapping[str, objects.Commit]) -> list[str]:
    """Return ids in topological order: no commit before its children, later ones first, ties by id."""
    children = dict.fromkeys(commits, 0)
    for commit in commits.values():
        for parent in set(commit.parents) & children.keys():
            children[parent] += 1
    ready = [(-commits[sha].committed_at.timestamp(), sha) for sha, n in children.items() if not n]
    heapq.heapify(ready)
    ordered: list[str] = []
    while ready:
        _, sha = heapq.heappop(ready)
        ordered.append(sha)
        for parent in set(commits[sha].parents) & children.keys():
            children[parent] -= 1
            if not children[parent]:
                heapq.heappush(ready, (-commits[parent].committed_at.timestamp(), parent))
    return ordered


def own_changes(against: Iterable[frozenset[bytes]]) -> frozenset[bytes]:
    """Return what differs from all parents, given what differs from each; a merge adds what is left."""
    first, *others = against
    return first.intersection(*others)


def changed_in_trees(
    old: str | None, new: str, read: Callable[[str], Rows], where: str
) -> frozenset[bytes]:
    """Return paths of leaves that two trees don't share; equal folders are not entered.

    `read` gives the rows of a tree by its id, `old` is None for no tree at all.
    """
    found: set[bytes] = set()
    size = 0
    waiting: list[tuple[bytes, str | None, str | None]] = [(b"", old, new)]
    while waiting:
        prefix, before, after = waiting.pop()
        mine, theirs = (_by_name(read(sha)) if sha else {} for sha in (before, after))
        for name in mine.keys() | theirs.keys():
            sides = mine.get(name), theirs.get(name)
            if sides[0] == sides[1]:
                continue
            path = prefix + name
            size += len(path)
            if size > MAX_CHANGED:
                raise Unreachable("too_large", where, "What it changes is no tree to audit.")
            folders = [s[1] if s is not None and objects.is_folder(s[0]) else None for s in sides]
            if any(s is not None and f is None for s, f in zip(sides, folders, strict=True)):
                found.add(path)
            if any(folders):
                waiting.append((path + b"/", folders[0], folders[1]))
    return frozenset(found)


def changes_of(
    needed: Sequence[Sequence[str]], trees: Iterator[tuple[str, list[Entry]]]
) -> Iterator[frozenset[bytes]]:
    """Yield what each commit changes, from whole listings that arrive in the order of need.

    `needed` names each commit's tree and those of its parents; a listing is dropped after its last use.
    """
    uses = Counter(sha for row in needed for sha in set(row))
    held: dict[str, frozenset[tuple[bytes, str, str]]] = {}
    for own, *parents in needed:
        while not held.keys() >= {own, *parents}:
            sha, entries = next(trees)
            held[sha] = frozenset((e.path, e.mode, e.sha) for e in entries)
        olds = [held[sha] for sha in parents] or [frozenset()]
        yield own_changes(frozenset(row[0] for row in held[own] ^ old) for old in olds)
        for sha in {own, *parents}:
            uses[sha] -= 1
            if not uses[sha]:
                del held[sha]


def _by_name(rows: Rows) -> dict[bytes, tuple[str, str]]:
    return {name: (mode, sha) for mode, name, sha in rows}
