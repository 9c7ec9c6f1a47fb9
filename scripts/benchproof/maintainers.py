"""findings/<repo>.md: what the owner of a repository would want to know, worst first, as issue texts.

The same list is written twice: beside the tables, where withheld findings are numbers, and into the
vault, where they have their places.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from benchproof.accepted import Accepted
from benchproof.printable import printable
from benchproof.severity import SEVERITIES, Rule
from benchproof.vault import slug

Row = Mapping[str, Any]


def by_repository(
    pins: Iterable[Row],
    rows: Iterable[Row],
    rules: Mapping[str, Rule],
    accepted: Accepted,
    *,
    private: bool,
) -> dict[str, str]:
    """Return the lists of all pinned repositories by the name of their file."""
    listed = list(rows)
    return {
        f"{slug(pin['repo'])}.md": render(
            pin["repo"],
            pin["commit_sha"],
            [row for row in listed if row["repo"] == pin["repo"]],
            rules,
            accepted,
            private=private,
        )
        for pin in pins
    }


def render(
    repo: str,
    commit: str | None,
    rows: Iterable[Row],
    rules: Mapping[str, Rule],
    accepted: Accepted,
    *,
    private: bool,
) -> str:
    """Return the list of one repository as Markdown: one issue text for each rule, worst first."""
    by_rule: dict[str, list[Row]] = {}
    for row in rows:
        by_rule.setdefault(row["rule"], []).append(row)
    ranked = sorted(by_rule, key=lambda name: (SEVERITIES.index(rules[name].severity), name))
    head = [f"# Findings in {repo}", "", _summary(repo, commit, by_rule, rules)]
    if private:
        head += [
            "",
            "**Private.** Places named here tell where answers stand; this list stays in the vault.",
        ]
    parts = [_issue(name, rules[name], by_rule[name], commit, accepted) for name in ranked]
    return "\n".join([*head, *(line for part in parts for line in part), ""])


def _summary(
    repo: str, commit: str | None, by_rule: Mapping[str, list[Row]], rules: Mapping[str, Rule]
) -> str:
    counts: Counter[str] = Counter()
    for name, met in by_rule.items():
        counts[rules[name].severity] += len(met)
    said = ", ".join(f"{counts[severity]} {severity}" for severity in SEVERITIES)
    return f"Commit {commit or 'not known'}: {said}."


def _issue(
    name: str, rule: Rule, met: list[Row], commit: str | None, accepted: Accepted
) -> list[str]:
    """One issue text: what is wrong, the evidence place by place, what would help."""
    lines = ["", f"## {rule.severity}: {name}", "", rule.message, "", "Evidence:", ""]
    lines += [f"- {_evidence(row, rule, commit, accepted)}" for row in sorted(met, key=_order)]
    return [*lines, "", f"Remedy: {rule.remedy}"]


def _order(row: Row) -> tuple[str, str]:
    return row["path"] or "", row["pointer"] or ""


def _evidence(row: Row, rule: Rule, commit: str | None, accepted: Accepted) -> str:
    at = f"{row['repo']}@{(row['commit_sha'] or commit or 'unknown')[:12]}"
    where = code(f"{at}:{row['path']}" if row["path"] else at)
    pointer = f" {code(row['pointer'])}" if row["pointer"] else ""
    detail = _said(row["message"].removeprefix(rule.message).strip())
    entry = accepted.of(row["finding_id"])
    until = (
        _said(f"Accepted by {entry.owner} until {entry.expires}: {entry.reason}.") if entry else ""
    )
    until = f" {until}" if until else ""
    return f"{where}{pointer} {detail}{until} (id {row['finding_id']})".replace("  ", " ")


#: Words, numbers and punctuation that Markdown and GitHub make nothing of: no link, mention or element.
_TAME: Final = re.compile(r"(?:(?!://|www\.)[\w\s.,:;()'\"%/+=…–-])*")


def _said(text: str) -> str:
    """Return a text as it stands when it is plain words; what could link, mention or mark up becomes code."""
    return text if text.isprintable() and _TAME.fullmatch(text) else code(text)


def code(text: str) -> str:
    """Return a text as Markdown code, whatever it holds."""
    shown = printable(text)
    # Longer than any run of backticks inside, which would end it.
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"
