"""One pass over sources: where a secret stands, which sources can't be searched, and what was searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from benchproof.leaks import surfaces
from benchproof.leaks.needles import Needles
from benchproof.leaks.surfaces import Source, Unsearchable
from benchproof.leaks.views import TooMuch


@dataclass(slots=True)
class Scanned:
    """Hits as (source, kind, form), sources that can't be searched with their kind, and what was met.

    `counts` are the documents by kind of the sources that are sealed, by their place in the report: one
    that will be replaced counts as what replaces it. `met` are the kinds of all sources.
    `read` are the marks of the sealed files as they were searched: `mark`.
    """

    hits: list[tuple[Source, str, str]] = field(default_factory=list)
    unsearchable: list[tuple[Source, str]] = field(default_factory=list)
    counts: dict[Path, Counter[str]] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)

    @property
    def kinds(self) -> Counter[str]:
        """Documents by kind in what is sealed."""
        return sum(self.counts.values(), Counter())


def mark(name: str, digest: str) -> str:
    """Return what stands for a file of a report, by its relative path and the sha256 hex of its bytes."""
    return sha256(f"{digest} {name}".encode("utf-8", "surrogateescape")).hexdigest()


def scan(needles: Needles, sources: Iterable[Source]) -> Scanned:
    """Search every document of the sources."""
    made = Scanned()
    for source in sources:
        kind, met = "file name", Counter[str]()
        try:
            for kind, data in surfaces.documents(source):
                met[kind] += 1
                if source.counted and kind in surfaces.WHOLE:
                    made.read.add(mark(source.inside.as_posix(), sha256(data).hexdigest()))
                forms = {form for form, _ in needles.found(data)}
                made.hits += [(source, kind, form) for form in sorted(forms)]
        except Unsearchable as error:
            made.unsearchable.append((source, error.kind))
        except (TooMuch, OSError):
            made.unsearchable.append((source, kind))
        made.met.update(met)
        if source.counted:
            made.counts.setdefault(source.inside, met)
    return made
