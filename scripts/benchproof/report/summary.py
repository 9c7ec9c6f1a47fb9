"""summary.md, which is also the last screen of a run: at most 24 lines of 80 columns, plain text."""

from __future__ import annotations

import textwrap
import unicodedata
from itertools import accumulate

from benchproof.printable import printable
from benchproof.report.facts import UNTESTED, Facts, RepoFacts, widest

LINES, COLUMNS = 24, 80
#: A longer name is cut, so that every repository keeps its verdict.
_PLACE = 32


def render(facts: Facts, folder: str) -> str:
    """Return the text; the newline at its end is the last character."""
    lines = [_headline(facts)]
    if facts.notice:
        lines += _wrapped(facts.notice, "", 1)
    tail = [
        *_wrong(facts),
        *_claims(facts),
        *_unchecked(facts),
        changed(facts),
        f"Next: open {folder}/report.html",
    ]
    room = LINES - len(lines) - len(tail) - 2
    lines += _verdicts(facts, room)
    lines += [UNTESTED, f"Data: {facts.data_line}", *tail]
    return "\n".join(_cut(line) for line in lines) + "\n"


def _headline(facts: Facts) -> str:
    audited = sum(r.commit is not None for r in facts.repositories)
    scope = f"{audited} of {facts.members} repositories"
    findings = f"{len(facts.tables['findings'])} findings"
    state = "" if facts.complete else "INCOMPLETE: "
    return f"{state}benchproof {facts.label}: {scope}, {len(facts.tables['runs'])} runs, {findings}"


def _verdicts(facts: Facts, room: int) -> list[str]:
    """One line per repository with its commit, two where they fit; what doesn't fit is counted."""
    width = min(_PLACE, widest([_place(r) for r in facts.repositories]))
    blocks = [_wrapped(r.verdict, f"{_place(r):{width}}  ", 2) for r in facts.repositories]
    if sum(map(len, blocks)) > room:
        blocks = [block[:1] for block in blocks]
    if len(blocks) > room:
        left = len(blocks) - room + 1
        blocks = [*blocks[: room - 1], [f"and {left} more repositories, see the report"]]
    return [line for block in blocks for line in block]


def _place(repository: RepoFacts) -> str:
    commit = f"@{repository.commit[:7]}" if repository.commit else ""
    return _fit(repository.name, _PLACE - len(commit)) + commit


def _wrong(facts: Facts) -> list[str]:
    """What doesn't hold: findings by severity and the first three."""
    counted = ", ".join(
        f"{number} {severity}" for severity, number in facts.by_severity.items() if number
    )
    damaged = [f"Damaged at the source: {len(facts.broken)} objects, see the report"]
    damaged = damaged if facts.broken else []
    if not counted:
        read = len(facts.repositories) - len(facts.unknown)
        limit = "" if facts.complete else f" in the {read} of {facts.members} repositories read"
        return [f"Nothing found that doesn't hold{limit}.", *damaged]
    lines = [f"Doesn't hold: {counted}", *damaged]
    for row in facts.worst[:3]:
        if row["severity"] in ("critical", "major"):
            lines.append(f"  {row['severity']}: {row['rule']} {row['repo']} {row['path'] or ''}")
    return lines


def _claims(facts: Facts) -> list[str]:
    """How many claims hold, and the first invariant that doesn't."""
    if not facts.claims.rows:
        return []
    lines = [f"Claims: {facts.claims.line}"]
    if broken := facts.claims.broken:
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        lines.append(f"  invariant fails: {broken[0]['claim_id']}{more}")
    return lines


def _unchecked(facts: Facts) -> list[str]:
    unknown = [f"{r.name} ({r.reconciliation['reason'] or r.reason})" for r in facts.unknown]
    unknown += facts.unlearnt
    lines = _advice(facts, unknown) if unknown else []
    withheld = sum(row["grader_form"] == "none" for row in facts.tables["evals"])
    runs = [row for row in facts.tables["runs"] if row["status"] == "rule_not_published"]
    if withheld:
        lines.append(
            f"Can't be checked: {withheld} of {len(facts.tables['evals'])} evals publish no rule "
            f"({len(runs)} runs)"
        )
    if facts.ungraded:
        lines.append(f"Runs without a derived verdict: {facts.ungraded}")
    return lines


def _advice(facts: Facts, unknown: list[str]) -> list[str]:
    again = "Run again to ask for these alone; `benchproof pending` lists them."
    causes = [r.reconciliation["reason"] or r.reason for r in facts.unknown]
    if all("offline" in text for text in [*map(str, causes), *facts.unlearnt]):
        again = "Run again without `offline` to ask for these; `benchproof pending` lists them."
    lines = [f"Unknown: {', '.join(unknown)}", again]
    if len(facts.unknown) == len(facts.repositories):
        lines.append("Without a network: make demo; git_mirrors to clones; or offline=true with a")
        lines.append("date that the vault has pins of.")
    return lines


def changed(facts: Facts) -> str:
    """Return what differs from the newest complete report before this one."""
    if facts.moved is None:
        return "Changed: no earlier complete report here to compare with"
    if not facts.moved:
        return f"Changed: no commit moved since {facts.previous_label}"
    return f"Changed since {facts.previous_label}: commits of {', '.join(facts.moved)}"


def _wrapped(text: str, lead: str, most: int) -> list[str]:
    lines = textwrap.wrap(text, COLUMNS, initial_indent=lead, subsequent_indent=" " * len(lead))
    return (
        lines[:most]
        if len(lines) <= most
        else [*lines[: most - 1], lines[most - 1][: COLUMNS - 1] + "…"]
    )


def _cut(line: str) -> str:
    return _fit(printable(line.rstrip()), COLUMNS)


def _fit(text: str, columns: int) -> str:
    """Cut a text to a number of terminal columns; East Asian wide characters take two."""
    widths = [2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text]
    if sum(widths) <= columns:
        return text
    kept = sum(total <= columns - 1 for total in accumulate(widths))
    return text[:kept] + "…"
