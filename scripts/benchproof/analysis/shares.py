"""Recorded runs shared out among jobs: what each grades, hands over, and how the parts become one.

A share is a range of the runs as the runs table sorts them, so that the tables of all shares one after the
other are the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchproof import findings
from benchproof.analysis.consistency import Said
from benchproof.analysis.runs import Streamed, regrade_repository
from benchproof.inventory.repository import Repository


def ranges(counts: Mapping[str, int], share: int, shares: int) -> dict[str, tuple[int, int]]:
    """Return which runs of each repository a share has, from and to; shares differ by one run at most.

    `counts` are runs by repository, in the order of the table; `share` counts from 0.
    """
    total = sum(counts.values())
    first, end = share * total // shares, (share + 1) * total // shares
    found = {}
    for repo, number in counts.items():
        found[repo] = max(0, min(first, number)), max(0, min(end, number))
        first, end = first - number, end - number
    return found


@dataclass
class Share:
    """What one job found besides the rows of its tables."""

    said: list[Said] = field(default_factory=list)
    commits: dict[str, str] = field(default_factory=dict)

    def grade(self, repository: Repository, out: Streamed, start: int, stop: int) -> None:
        """Grade some runs of a repository again, and hear what they say of themselves."""
        said = Said(repository.spec.repo)
        regrade_repository(
            repository, out, start, stop, lambda run, record: said.hear(repository, run, record)
        )
        self.said.append(said)
        self.commits[repository.spec.repo] = repository.commit_sha

    def record(self, out: Streamed) -> dict[str, Any]:
        """Return it as the job hands it over."""
        return {
            "commits": self.commits,
            "findings": findings.as_json(out.findings),
            "readings": out.readings.record(),
            "said": [said.record() for said in self.said],
        }


def collect(records: Iterable[Mapping[str, Any]], out: Streamed) -> dict[str, str]:
    """Add the findings and readings of all shares to `out`; return the commits they were met at."""
    commits: dict[str, str] = {}
    for record in records:
        out.findings += findings.from_json(record["findings"])
        out.readings.add_record(record["readings"])
        commits |= record["commits"]
    return commits
