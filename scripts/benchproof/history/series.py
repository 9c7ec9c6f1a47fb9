"""Which commits of a past touch what is audited: a pure choice over listings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchproof.sources.base import Entry

#: What an audit reads of a commit: path, mode and blob of each entry.
Audited = frozenset[tuple[bytes, str, str]]


def identity(entries: Iterable[Entry]) -> Audited:
    """Return what makes audited entries the same. A file that moves is another one: its place is audited."""
    return frozenset((e.path, e.mode, e.sha) for e in entries)


def touching(
    parents: Mapping[str, Iterable[str]], read: Mapping[str, Audited], tip: str | None
) -> list[str]:
    """Return those commits whose audited entries differ from those of every parent, in the given order.

    `read` lacks commits whose listing could not be had: nobody knows what they touch, so that they and
    their children are kept. The tip is always kept; a root commit is, unless nothing in it is audited.
    """

    def kept(sha: str, above: Iterable[str]) -> bool:
        if sha == tip or sha not in read:
            return True
        olds = [read.get(parent) for parent in above] or [frozenset()]
        return all(old != read[sha] for old in olds)

    return [sha for sha, above in parents.items() if kept(sha, above)]
