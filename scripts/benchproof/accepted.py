"""Findings and claims that their owners have accepted: config/accepted.yaml.

An accepted finding is shown and counted like any other and fails nothing, until its entry expires.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from benchproof import yamltext
from benchproof.config import AS_OF
from benchproof.errors import ConfigError, Unreadable

_TEXTS: Final = ("id", "owner", "reason")
_KEYS: Final = (*_TEXTS, "expires")


@dataclass(frozen=True, slots=True)
class Entry:
    """One acceptance; it holds through the UTC day `expires`."""

    id: str
    owner: str
    reason: str
    expires: date

    def holds(self, day: str) -> bool:
        """True on and before the day of expiry; `day` is YYYY-MM-DD."""
        return date.fromisoformat(day) <= self.expires


@dataclass(frozen=True)
class Accepted:
    """The acceptances of a file as they stand on a day."""

    entries: Mapping[str, Entry]
    day: str

    def of(self, id: str) -> Entry | None:
        """Return the acceptance of a finding or claim; None without one, and when it has expired."""
        entry = self.entries.get(id)
        return entry if entry is not None and entry.holds(self.day) else None

    def _sorted(self) -> list[Entry]:
        return sorted(self.entries.values(), key=lambda entry: entry.id)

    def expired(self, ids: Iterable[str]) -> list[Entry]:
        """Return the entries of these ids that have expired, by id: what they covered fails again."""
        known = set(ids)
        return [e for e in self._sorted() if e.id in known and not e.holds(self.day)]

    def unused(self, ids: Iterable[str]) -> list[Entry]:
        """Return the entries that none of these ids needs, by id: they can be deleted."""
        known = set(ids)
        return [entry for entry in self._sorted() if entry.id not in known]


def day_of(label: str) -> str:
    """Return the day on which a report's acceptances are read: the one that its label names."""
    return label.removeprefix(AS_OF)


def load(path: str | Path, day: str) -> Accepted:
    """Return the acceptances of a file as they stand on `day` (YYYY-MM-DD).

    Raises ConfigError with one line that names the entry, what is wrong and what to write.
    """
    try:
        value = yamltext.load(Path(path))
    except FileNotFoundError:
        raise ConfigError(f"{path}: missing; write `accepted: []` into it.") from None
    except Unreadable:
        raise ConfigError(
            f"{path}: not readable as YAML; correct its syntax, days included."
        ) from None
    listed = value.get("accepted") if isinstance(value, dict) else None
    if listed is None and isinstance(value, dict) and set(value) == {"accepted"}:
        listed = []
    if not isinstance(listed, list) or set(value) != {"accepted"}:
        raise ConfigError(f"{path}: it takes one key, `accepted`, with a list of entries.")
    entries: dict[str, Entry] = {}
    for number, item in enumerate(listed, 1):
        entry = _entry(f"{path}: entry {number}", item)
        if entry.id in entries:
            raise ConfigError(f"{path}: entry {number} repeats the id {entry.id}; keep one.")
        entries[entry.id] = entry
    return Accepted(entries, day)


def _entry(where: str, item: Any) -> Entry:
    if not isinstance(item, dict):
        raise ConfigError(f"{where} takes id, owner, reason and expires.")
    for key in sorted(set(map(str, item)) ^ set(_KEYS)):
        said = "is missing" if key in _KEYS else "is not a key"
        raise ConfigError(f"{where}: `{key}` {said}; it takes id, owner, reason and expires.")
    for key in _TEXTS:
        if not isinstance(item[key], str) or not item[key].strip() or "\n" in item[key].strip():
            raise ConfigError(f"{where}: `{key}` takes one line of text.")
    texts = {key: item[key].strip() for key in _TEXTS}
    return Entry(**texts, expires=_day(where, item["expires"]))


def _day(where: str, value: Any) -> date:
    """A day, which YAML reads as a date when it stands there unquoted."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        return date.fromisoformat(value if isinstance(value, str) and len(value) == 10 else "")
    except ValueError:
        raise ConfigError(f"{where}: `expires` takes a UTC day written YYYY-MM-DD.") from None
