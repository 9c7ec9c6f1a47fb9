"""What a search found, as it passes from the process that holds the secrets to one that doesn't.

The message is checked word by word: kinds and forms are of fixed lists, places are ones that the reader of
the message sees itself, the rest are numbers.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from benchproof.errors import LeakError
from benchproof.leaks.forms import FORMS
from benchproof.leaks.needles import JUDGED
from benchproof.leaks.surfaces import KINDS
from benchproof.leaks.views import DECODERS

#: Places that a message names; the others are counted.
MOST: Final = 100
#: What stands for a place whose own name holds a secret.
MASKED: Final = "a place whose name holds one too"
_FAILED: Final = re.compile(r"[A-Za-z]{1,60} at [\w.-]{1,80}:\d{1,6}")
_MARK: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Words:
    """What the caller of a search says when it is not clean.

    `leaves` is what was searched, `means` what became of it, and the others what to do with files that
    can't be decoded (`undecoded`) or hold a graded value (`found`).
    """

    leaves: str
    means: str
    undecoded: str
    found: str


#: Of a run's own files, before anybody has seen the report.
PUBLISHING: Final = Words(
    "would leave",
    "The report was not written",
    "delete them and run again",
    "delete the files named here before anyone copies them, and report this as a defect",
)
#: Of files that may be somebody else's, and that were out before.
VERIFYING: Final = Words(
    "was searched",
    "Nothing was changed",
    "compare them with the report's source, or ask who made it for another copy",
    "pass the files named here on to nobody, and tell who made the report",
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret at a place that leaves: the surface, and the kind and form it was found in."""

    surface: str
    form: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search found: places with kind and form, what was searched for and where, and its proof.

    `hits` and `unsearchable` name at most `MOST` places, `n_hits` and `n_unsearchable` count all.
    `surfaces` counts documents by kind in what is sealed; `met` are the kinds of all that was searched.
    `read` holds a mark of each file of the report as it was searched.
    """

    hits: tuple[Hit, ...]
    unsearchable: tuple[Hit, ...]
    n_hits: int
    n_unsearchable: int
    needles: int
    surfaces: Mapping[str, int]
    met: frozenset[str]
    planted: frozenset[tuple[str, str]]
    missed: frozenset[tuple[str, str]]
    read: frozenset[str]
    forms: int = field(default=len(FORMS))

    def check(self, words: Words) -> None:
        """Raise LeakError unless every form was proven on every kind that was met, all was searched, and
        nothing found. `words` are its caller's.
        """
        if self.missed:
            kind, form = min(self.missed)
            raise LeakError(
                f"the leak scan missed {len(self.missed)} of {len(self.planted)} planted values, such as "
                f"{form} on {kind}. {words.means}; report this as a defect."
            )
        whole = {(kind, form) for kind in self.met | _ALWAYS for form in FORMS}
        if whole - self.planted:
            kind, form = min(whole - self.planted)
            raise LeakError(
                f"the leak scan is unexercised on {len(whole - self.planted)} forms, such as {form} on "
                f"{kind}. {words.means}; a vault on a file system that the results could lie on may help."
            )
        if self.n_unsearchable:
            raise LeakError(
                f"{self.n_unsearchable} files can't be decoded and so not searched: "
                f"{_places(self.unsearchable)}. {words.means}; {words.undecoded}."
            )
        if self.n_hits:
            raise LeakError(
                f"{self.n_hits} graded values stand in what {words.leaves}: {_places(self.hits)}. "
                f"{words.means}; {words.found}."
            )

    def sealed(self) -> dict[str, Any]:
        """Return what seal.json says of the search; the same for the same report."""
        return {
            "surfaces": dict(sorted(self.surfaces.items())),
            "forms": self.forms,
            "needles": self.needles,
            "planted": len(self.planted),
            "found": len(self.planted - self.missed),
            "hits": self.n_hits,
        }


#: Extended attributes can be planted only where the file system has some.
_ALWAYS: Final = frozenset(KINDS) - {"extended attribute"}


def _places(hits: tuple[Hit, ...]) -> str:
    return "; ".join(sorted({f"{hit.surface} ({hit.form})" for hit in hits})[:5])


def parsed(message: Mapping[str, Any], places: Container[str]) -> Outcome:
    """Return the outcome that a message states. Raises LeakError for one that says anything else."""
    failed = message.get("failed")
    if isinstance(failed, str) and _FAILED.fullmatch(failed):
        raise LeakError(f"the search for graded values failed: {failed}. Report this as a defect.")
    try:
        return Outcome(
            tuple(_hit(item, places, form=True) for item in message["hits"][:MOST]),
            tuple(_hit(item, places, form=False) for item in message["unsearchable"][:MOST]),
            _count(message["n_hits"]),
            _count(message["n_unsearchable"]),
            _count(message["needles"]),
            {_of(kind, KINDS): _count(n) for kind, n in message["surfaces"].items()},
            frozenset(_of(kind, KINDS) for kind in message["met"]),
            _pairs(message["planted"]),
            _pairs(message["missed"]),
            frozenset(map(_mark, message["read"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise LeakError(
            "the search for graded values gave no answer that can be read. Report this as a defect."
        ) from None


def _pairs(items: Any) -> frozenset[tuple[str, str]]:
    return frozenset((_of(kind, KINDS), _of(form, FORMS)) for kind, form in items)


def _hit(item: Any, places: Container[str], *, form: bool) -> Hit:
    place, kind, said = item
    where = place if place is not None and place in places else MASKED
    if form and not all(part in JUDGED or part in DECODERS for part in said.split("+")):
        raise ValueError
    return Hit(where, f"{_of(kind, KINDS)}, {said}" if form else _of(kind, KINDS))


def _of(word: Any, words: Container[str]) -> str:
    if not isinstance(word, str) or word not in words:
        raise ValueError
    return word


def _mark(said: Any) -> str:
    if not isinstance(said, str) or not _MARK.fullmatch(said):
        raise ValueError
    return said


def _count(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError
    return number
