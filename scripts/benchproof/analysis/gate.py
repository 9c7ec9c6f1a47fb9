"""The gate: what fails in a report that did not fail in the last complete one before it.

Standing failures wake nobody, accepted ones neither, until their acceptance expires. Findings count from
the severity that `drift.fail_on` names; an invariant counts whatever it says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchproof.accepted import Accepted
from benchproof.printable import printable
from benchproof.severity import SEVERITIES

OK, FAILED, NEW, INVARIANT, INCOMPLETE = 0, 1, 10, 11, 20
#: How bad a claim is that no longer holds; an invariant that fails has an exit code of its own.
_CLAIMS: Final = {"fails": "major", "drifted": "minor"}
#: More than these are counted, not listed.
_LISTED = 20

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """Something that fails: its id, how bad it is, and a line that says what and what to do."""

    id: str
    severity: str
    invariant: bool
    line: str


@dataclass(frozen=True)
class Report:
    """What a gate needs of a report: its label, findings and claims, and whether all was learnt."""

    label: str
    findings: Sequence[Row]
    claims: Sequence[Row]
    complete: bool = True


@dataclass(frozen=True)
class Outcome:
    """An exit code, lines for people, the worst first, and what they say is new."""

    code: int
    lines: tuple[str, ...]
    new: tuple[Item, ...] = ()


def threshold(fail_on: Collection[str]) -> frozenset[str]:
    """Return the severities at or above the lowest one that is named; none for none."""
    ranks = [SEVERITIES.index(name) for name in fail_on]
    return frozenset(SEVERITIES[: max(ranks) + 1]) if ranks else frozenset()


def failing(report: Report, fail_on: Collection[str], accepted: Accepted) -> dict[str, Item]:
    """Return by id what fails in a report and is not accepted on its day."""
    wanted = threshold(fail_on)
    items = [*map(_finding, report.findings), *_claims(report.claims)]
    return {
        item.id: item
        for item in items
        if (item.invariant or item.severity in wanted) and accepted.of(item.id) is None
    }


def judge(
    now: Report,
    before: Report | None,
    fail_on: Collection[str],
    accepted_now: Accepted,
    accepted_before: Accepted,
) -> Outcome:
    """Return what a report's gate says, against the last complete report before it if there is one."""
    fails = failing(now, fail_on, accepted_now)
    stood = failing(before, fail_on, accepted_before) if before is not None else {}
    new = [item for item in fails.values() if item.id not in stood]
    invariants = [item for item in new if item.invariant]
    others = [item for item in new if not item.invariant]
    code = INVARIANT if invariants else NEW if others else OK if now.complete else INCOMPLETE
    against = (
        f"since {before.label}" if before else "and no earlier complete report to compare with"
    )
    lines = [
        *_told(f"{len(invariants)} invariants newly fail", invariants),
        *_told(f"{len(others)} new at or above {_named(fail_on)}", others),
    ]
    if not now.complete:
        lines.append(
            f"{now.label} is incomplete: something stayed unknown or out of scope. "
            "Run again on this date to ask for it; `benchproof pending` lists it."
        )
    standing = len(fails) - len(new)
    rest = f"{standing} standing, {_accepted(now, accepted_now)} accepted"
    state = "nothing new" if not new else f"{len(new)} new"
    lines.append(f"gate {now.label}: {state} {against}; {rest}. Exit code {code}.")
    return Outcome(code, tuple(map(printable, lines)), (*_ranked(invariants), *_ranked(others)))


def _finding(row: Row) -> Item:
    at = f"{row['repo']}@{(row['commit_sha'] or 'unknown')[:10]}"
    place = ":".join(part for part in (at, row["path"]) if part)
    pointer = f" {row['pointer']}" if row["pointer"] else ""
    line = f"{row['severity']} {row['finding_id']} at {place}{pointer}: {row['message']} {row['remedy']}"
    return Item(row["finding_id"], row["severity"], False, line)


def _claims(rows: Iterable[Row]) -> Iterable[Item]:
    for row in rows:
        if row["status"] in _CLAIMS:
            invariant = row["kind"] == "invariant" and row["status"] == "fails"
            line = (
                f"{row['kind']} {row['claim_id']} {row['status']}: {row['says']} (expected "
                f"{row['expected']}, got {row['observed']}; {row['source']}, {row['as_of']}). "
                "Look into the tables it asks, then correct the source, the claim, or accept it."
            )
            yield Item(row["claim_id"], _CLAIMS[row["status"]], invariant, line)


def _told(heading: str, items: Sequence[Item]) -> list[str]:
    if not items:
        return []
    more = len(items) - _LISTED
    rest = [f"  and {more} more, see findings.json and the claims table"] if more > 0 else []
    return [f"{heading}:", *(f"  {item.line}" for item in _ranked(items)[:_LISTED]), *rest]


def _ranked(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=lambda item: (SEVERITIES.index(item.severity), item.id))


def _accepted(report: Report, accepted: Accepted) -> int:
    items = (*map(_finding, report.findings), *_claims(report.claims))
    return sum(accepted.of(item.id) is not None for item in items)


def _named(fail_on: Collection[str]) -> str:
    return min(fail_on, key=lambda name: -SEVERITIES.index(name), default="no severity")
