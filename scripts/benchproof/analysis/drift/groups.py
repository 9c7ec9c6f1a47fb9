"""One upstream change in many rows is one group: what is about the same thing, for the same cause.

An id is made from what the group is about and from the commit, so that the same change has the same id
whichever two dates are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from benchproof.analysis.drift.changes import Diff
from benchproof.analysis.drift.severity import OURS, worst
from benchproof.jsontext import canonical
from benchproof.severity import SEVERITIES

_VERBS = {"added": "new", "removed": "gone", "changed": "changed", "renamed": "moved"}
_UNSEEN = "not_observed"
#: Subjects first of all that share a severity.
_FIRST = ("pin", "licence", "evals", "runs", "verdicts", "data", "claims", "published", "manifest")


_Place = tuple[str, str | None, str | None, str]


@dataclass(frozen=True)
class Group:
    """Differences that are one change; the rows are sorted, the worst first."""

    id: str
    subject: str
    cause: str
    repo: str | None
    commit: str | None
    diffs: Sequence[Diff]

    @cached_property
    def severity(self) -> str:
        """The worst severity of its rows."""
        return worst([s for diff in self.diffs for s in diff.severities.values()])

    @property
    def observed(self) -> bool:
        """False for what was not observed, which is no change."""
        return not self.subject.startswith(_UNSEEN)

    @property
    def why(self) -> str:
        """The worst kind of change in it, in words; for more than one kind the first of the rules."""
        told = ((d.severities[c], d.why[c]) for d in self.diffs for c in d.shown)
        counted = Counter(text for severity, text in told if severity == self.severity)
        return min(counted, key=lambda text: (-counted[text], text))

    @property
    def counts(self) -> list[tuple[str, str, int]]:
        """(table, change, rows), what the group is about first, then what is worst."""
        counted = Counter((d.table, d.change) for d in self.diffs).items()
        about = self.subject.split(" ")[0]
        return sorted(((t, c, n) for (t, c), n in counted), key=lambda item: item[0] != about)

    @property
    def first(self) -> str:
        """The row that shows it best: the worst one of what the group is about, without its repository."""
        about = self.subject.split(" ")[0]
        diff = next((d for d in self.diffs if d.table == about), self.diffs[0])
        return " ".join(str(value) for value in diff.key if value != self.repo)

    @property
    def sentence(self) -> str:
        """What changed, in one sentence without its full stop."""
        parts = [
            f"{n} {table} {_VERBS.get(change, 'not observed')}" for table, change, n in self.counts
        ]
        more = f", and {len(parts) - 4} kinds more" if len(parts) > 4 else ""
        return f"{', '.join(parts[:4])}{more}"


def grouped(diffs: Iterable[Diff]) -> list[Group]:
    """Return the groups, worst first, and write each one's id into its differences."""
    found: dict[_Place, list[Diff]] = {}
    for diff in diffs:
        found.setdefault(_place(diff), []).append(diff)
    groups = _with_their_pins([_group(*place, listed) for place, listed in found.items()])
    return sorted(groups, key=_order)


def _place(diff: Diff) -> _Place:
    """Return what the differences of one group share: cause, repository, commit, subject."""
    if diff.change == _UNSEEN:
        return diff.cause, diff.repo, None, _UNSEEN
    if diff.cause in OURS:
        return diff.cause, None, None, f"another {diff.cause}"
    return diff.cause, diff.repo, diff.commit, diff.subject


def _with_their_pins(groups: list[Group]) -> list[Group]:
    """Return the groups, a pin that moved by one commit with the worst that this commit did."""
    pins = [g for g in groups if g.subject == "pin" and g.commit and g.severity == "info"]
    for pin in pins:
        others = [
            group
            for group in groups
            if group is not pin and (group.repo, group.commit) == (pin.repo, pin.commit)
        ]
        if others:
            main = min(others, key=_order)
            whole = _group(
                main.cause, main.repo, main.commit, main.subject, [*main.diffs, *pin.diffs]
            )
            groups = [whole if group is main else group for group in groups if group is not pin]
    return groups


def _group(
    cause: str, repo: str | None, commit: str | None, subject: str, diffs: list[Diff]
) -> Group:
    digest = sha256(canonical([cause, repo, commit, subject]).encode()).hexdigest()
    name = subject.replace(" ", "_").replace(",", "").replace(":", "")
    known_by = f"{name}-{digest[:10]}"
    for diff in diffs:
        diff.group = known_by
    ranked = sorted(
        diffs,
        key=lambda d: (SEVERITIES.index(worst(list(d.severities.values()))), d.table, d.key_text),
    )
    return Group(known_by, subject, cause, repo, commit, ranked)


def _order(group: Group) -> tuple[bool, int, int, str, str, str]:
    first = next(
        (n for n, word in enumerate(_FIRST) if group.subject.startswith(word)), len(_FIRST)
    )
    return (
        not group.observed,
        SEVERITIES.index(group.severity),
        first,
        group.repo or "",
        group.subject,
        group.commit or "",
    )
