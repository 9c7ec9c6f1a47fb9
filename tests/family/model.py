"""What a synthetic family is: repositories, handles, planted findings, graded values and facts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Handle:
    """A data handle as signer and storage treat it.

    `status` is reachable or refused, `size` bytes, `container` one of the kinds of
    upstream.objects; `path` names a file that holds the content, else the content is made up by
    offset.
    """

    handle: str
    status: str
    size: int
    container: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was planted: which rule should find it, and where.

    The place of a `vault_only` finding must not leave the vault, only its count may.
    """

    rule: str
    repo: str
    path: str
    vault_only: bool = False


@dataclass(frozen=True, slots=True)
class GradedValue:
    """A value that must not leave the vault, as the text it has in JSON (without quotes).

    `kind` is truth, tolerance, canary, notes, answer, label, metric, reasoning or field_name.
    """

    kind: str
    repo: str
    eval_id: str
    text: str

    @property
    def distinctive(self) -> bool:
        """True when finding the text anywhere can't be a coincidence, not even inside a long
        digest.
        """
        return len(self.text.strip("-")) >= 8


@dataclass(frozen=True, slots=True)
class RepoInfo:
    """One repository on disk; `commits` are hex ids, oldest first, the last one is main."""

    name: str
    repo: str
    path: str
    evals: str
    runs: str
    commits: tuple[str, ...]
    variant: str = ""

    @property
    def commit(self) -> str:
        """The commit that main points to; raises IndexError for an empty repository."""
        return self.commits[-1]


@dataclass(frozen=True, slots=True)
class Family:
    """A family that was written to disk, with all that a test needs to know about it."""

    root: Path
    owner: str
    seed: int
    planted: bool
    small: bool
    repos: dict[str, RepoInfo]
    handles: dict[str, Handle]
    findings: tuple[Finding, ...]
    graded_values: tuple[GradedValue, ...]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> list[dict[str, str]]:
        """The `family` entry of an audit's configuration."""
        return [
            {"repo": info.repo, "ref": "main", "evals": info.evals, "runs": info.runs}
            for info in self.repos.values()
        ]

    def secrets(self) -> list[str]:
        """Return the distinct graded texts that are long enough to be searched for."""
        return sorted({value.text for value in self.graded_values if value.distinctive})

    def save(self, path: Path) -> None:
        """Write the description as JSON, so that another process can serve the family."""
        values = asdict(self) | {"root": str(self.root)}
        path.write_text(json.dumps(values, indent=1, sort_keys=True) + "\n")

    @classmethod
    def load(cls, path: Path) -> Family:
        """Read a description that `save` wrote."""
        raw = json.loads(path.read_text())
        repos = {
            name: RepoInfo(**(info | {"commits": tuple(info["commits"])}))
            for name, info in sorted(raw["repos"].items(), key=lambda item: _order(raw, item[0]))
        }
        return cls(
            root=Path(raw["root"]),
            owner=raw["owner"],
            seed=raw["seed"],
            planted=raw["planted"],
            small=raw["small"],
            repos=repos,
            handles={key: Handle(**value) for key, value in raw["handles"].items()},
            findings=tuple(Finding(**value) for value in raw["findings"]),
            graded_values=tuple(GradedValue(**value) for value in raw["graded_values"]),
            facts=raw["facts"],
        )


def _order(raw: dict[str, Any], name: str) -> int:
    """Return the place of a repository in the family; the JSON text itself is sorted by name."""
    order: list[str] = raw["facts"].get("order", [])
    return order.index(name) if name in order else len(order)
