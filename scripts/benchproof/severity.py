"""How bad a finding is, and what every kind of finding says of itself."""

from __future__ import annotations

from dataclasses import dataclass

SEVERITIES = ("critical", "major", "minor", "info")


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of finding: how bad it is, what it means, and what its owner would do.

    Where a `withheld` one was met would tell what to submit or where an answer stands: results hold
    its number per repository, the maintainer's list in the vault holds its places.
    """

    severity: str
    message: str
    remedy: str
    withheld: bool = False
