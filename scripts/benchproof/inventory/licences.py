"""Licence files against the canonical text of the Apache License 2.0, word by word.

The canonical text is apache.org's (apache.py). A licence file says nothing of data: the terms of the data
behind the handles are not stated by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Any, Final

from benchproof.findings import Finding
from benchproof.inventory import layout
from benchproof.inventory.apache import TEXT
from benchproof.inventory.repository import Repository

CANONICAL_SHA256: Final = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
DATA_TERMS: Final = "not stated"
#: Shares of the canonical words that a text must have in order to be a version of it.
_ENOUGH: Final = 0.8
_WORD: Final = re.compile(r"\w+(?:[-'.]\w+)*")
#: Bytes of a licence; the canonical text has 11 kB, and words of two letters take thirty times their bytes.
MAX_BYTES: Final = 1024 * 1024
_NAMES: Final = ("license", "licence", "copying")
#: The parts of the text that are told apart, each by its first and last words; all the rest is `other`.
_PARTS: Final = (
    ("appendix", "APPENDIX: How to apply", "limitations under the License."),
    ("copyright line", "Copyright [yyyy]", "copyright owner]"),
    ("patent qualifier", "(except as stated", "in this section)"),
    ("litigation sentence", "If You institute patent litigation", "litigation is filed."),
)
_ORDER: Final = ("copyright line", "appendix", "patent qualifier", "litigation sentence", "other")
#: Deviations that a licence is meant to have when it is applied.
HARMLESS: Final = ("copyright line", "appendix")


@dataclass(frozen=True, slots=True)
class Licence:
    """How a text relates to the canonical one; `changed` counts (deleted, added) words by part."""

    kind: str
    changed: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def deviations(self) -> list[str]:
        """The parts that differ, each with its counts."""
        said = [f"{name}: {_counts(*self.changed[name])}" for name in self.changed]
        return said or (["punctuation"] if self.kind == "altered_text" else [])

    @property
    def altered(self) -> bool:
        """True when words differ outside the parts that are filled in or left out when it is applied."""
        return not set(self.changed).issubset(HARMLESS)


def _counts(deleted: int, added: int) -> str:
    said = [(deleted, "deleted"), (added, "added")]
    return ", ".join(f"{n} word{'s' * (n != 1)} {what}" for n, what in said if n)


#: How far into a text its title may stand, in characters.
_TITLE = 400


def classify(data: bytes) -> Licence:
    """Return the class of a licence text: verbatim, whitespace, altered_text or other."""
    if sha256(data).hexdigest() == CANONICAL_SHA256:
        return Licence("verbatim")
    if len(data) > MAX_BYTES:
        return Licence("other")
    text = data.decode("utf-8", "replace")
    if TEXT.split() == text.split():
        return Licence("whitespace")
    ours, theirs = _words(TEXT), _words(text)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    named = "Apache License" in text[:_TITLE] and "2.0" in text[:_TITLE]
    if len(theirs) > 2 * len(ours) or (not named and shared < _ENOUGH * len(ours)):
        return Licence("other")
    return Licence("altered_text", _changed(ours, theirs))


def _words(text: str) -> list[str]:
    """Return the words of a text, without the punctuation around them."""
    return _WORD.findall(text)


def _changed(ours: Sequence[str], theirs: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the numbers of deleted and added words by part of the canonical text."""
    parts = _parts(ours)
    deleted: Counter[str] = Counter()
    added: Counter[str] = Counter()
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for action, first, last, start, end in matcher.get_opcodes():
        if action != "equal":
            deleted.update(parts[first:last])
            near = parts[first] if action == "replace" else parts[max(first - 1, 0)]
            notice = re.match(r"copyright|©|\(c\)", " ".join(theirs[start:end]), re.IGNORECASE)
            added[("copyright line" if notice and end - start <= 15 else near)] += end - start
    names = {name for name in _ORDER if deleted[name] or added[name]}
    return {name: (deleted[name], added[name]) for name in _ORDER if name in names}


def _parts(words: Sequence[str]) -> list[str]:
    """Return the name of the part that each canonical word belongs to."""
    found = ["other"] * len(words)
    for name, first, last in _PARTS:
        start = _find(words, _words(first), 0)
        end = _find(words, _words(last), start) + len(_words(last))
        found[start:end] = [name] * (end - start)
    return found


def _find(words: Sequence[str], wanted: Sequence[str], start: int) -> int:
    places = range(start, len(words) - len(wanted) + 1)
    return next(n for n in places if list(words[n : n + len(wanted)]) == list(wanted))


def check(repository: Repository) -> tuple[list[dict[str, Any]], list[Finding]]:
    """Return the licence rows of a repository, one per licence file at its root, and what is wrong."""
    repo = repository.spec.repo
    rows, found = [], []
    for entry in repository.entries:
        path = layout.text_path(entry)
        if entry.is_file and "/" not in path and path.lower().startswith(_NAMES):
            text = repository.content.read(entry.sha)
            licence = classify(text)
            rows.append(_row(repo, path, entry.sha, licence))
            if not text.strip():
                found.append(Finding("licence_absent", repo, path, blob_sha=entry.sha))
            if licence.altered:
                said = "; ".join(licence.deviations)
                found.append(
                    Finding("licence_altered", repo, path, blob_sha=entry.sha, detail=f"{said}.")
                )
    if not rows:
        rows.append(_row(repo, None, None, Licence("absent")))
        found.append(Finding("licence_absent", repo))
    return rows, found


def _row(repo: str, path: str | None, sha: str | None, licence: Licence) -> dict[str, Any]:
    return {
        "repo": repo,
        "path": path,
        "blob_sha": sha,
        "class": licence.kind,
        "deviations": licence.deviations,
        "data_terms": DATA_TERMS,
        "status": "ok" if path else "missing",
        "reason": None if path else "no_licence_file",
    }
