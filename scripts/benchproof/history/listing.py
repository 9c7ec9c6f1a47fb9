"""Which commits of the past are audited: all that a pin reaches, or those that `as_of` lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from benchproof.errors import Absent, AllowanceTooSmall, ConfigError, Unreachable
from benchproof.pinning import reason_of
from benchproof.sources.base import History, Pin, RepoSpec


@dataclass(frozen=True, slots=True)
class Past:
    """A commit of a series as a pin of its own; parents and changed paths where they were asked for."""

    pin: Pin
    parents: tuple[str, ...] | None
    changed_paths: int | None


@dataclass(frozen=True, slots=True)
class Listed:
    """The commits of one repository, oldest first, or the status and reason why there are none.

    `tip` is the pin's commit, which belongs to its series whatever it touches; None for a chosen list.
    """

    status: str
    reason: str | None
    tip: str | None
    commits: tuple[Past, ...]


def reached(source: History, spec: RepoSpec, pin: Pin) -> Listed:
    """Return all commits that a pin reaches; a repository that cannot be asked is unknown."""
    if pin.commit_sha is None:
        return Listed(pin.status, pin.reason, None, ())
    try:
        found = source.commits(spec, pin.commit_sha)
    except (Absent, Unreachable, AllowanceTooSmall) as error:
        return Listed("unknown", reason_of(error), pin.commit_sha, ())
    past = (
        Past(
            replace(
                pin,
                ref=commit.sha,
                commit_sha=commit.sha,
                tree_sha=commit.tree_sha,
                committed_at=commit.committed_at,
            ),
            commit.parents,
            len(commit.paths),
        )
        for commit in reversed(found)
    )
    return Listed("ok", None, pin.commit_sha, tuple(past))


def chosen(
    source: History, family: Sequence[RepoSpec], asked: Iterable[Mapping[str, Any]]
) -> dict[str, Listed]:
    """Return the listed commits of each repository, by time.

    `asked` are items with `text`, `digits` and `repos`. Raises ConfigError for a commit that no audited
    repository has or that several have, Unreachable when one that may have it cannot be asked.
    """
    specs = {spec.repo: spec for spec in family}
    wanted: dict[str, set[str]] = {spec.repo: set() for spec in family}
    for item in asked:
        repo, sha = _found(source, item["text"], item["digits"], [specs[r] for r in item["repos"]])
        wanted[repo].add(sha)
    return {repo: _pinned(source, specs[repo], shas) for repo, shas in wanted.items()}


def _found(source: History, text: str, digits: str, specs: Sequence[RepoSpec]) -> tuple[str, str]:
    """Return the one repository and commit that an item names."""
    hits: list[tuple[str, str]] = []
    silent: Unreachable | None = None
    for spec in specs:
        try:
            hits += [(spec.repo, sha) for sha in source.find(spec, digits)]
        except Absent:
            continue
        except Unreachable as error:
            silent = error
    if len(hits) > 1:
        shown = ", ".join(f"{repo}@{sha[:12]}" for repo, sha in sorted(hits)[:3])
        raise ConfigError(
            f"config: `as_of` lists {text}, which fits {len(hits)} commits ({shown}); write more digits, "
            "or <name>@ before it."
        )
    if not hits and silent is not None:
        raise silent
    if not hits:
        where = specs[0].repo if len(specs) == 1 else "any audited repository"
        raise ConfigError(
            f"config: `as_of` lists {text}, which is no commit of {where}; compare it with `git log`, "
            "and quote it if it has digits alone."
        )
    return hits[0]


def _pinned(source: History, spec: RepoSpec, shas: set[str]) -> Listed:
    pins = [source.pin(replace(spec, ref=sha)) for sha in sorted(shas)]
    for pin in pins:
        if pin.commit_sha is None:
            return Listed(pin.status, pin.reason, None, ())
    dated = sorted(pins, key=lambda pin: (_instant(pin), str(pin.commit_sha)))
    return Listed("ok", None, None, tuple(Past(pin, None, None) for pin in dated))


def _instant(pin: Pin) -> datetime:
    assert pin.committed_at is not None
    return pin.committed_at


def as_json(listed: Mapping[str, Listed]) -> dict[str, Any]:
    """Return lists of commits as plain values."""
    return {repo: _plain(item) for repo, item in listed.items()}


def _plain(item: Listed) -> dict[str, Any]:
    value = asdict(item)
    for commit in value["commits"]:
        commit["pin"]["committed_at"] = commit["pin"]["committed_at"].isoformat()
    return value


def from_json(value: Mapping[str, Any]) -> Listed:
    """Return the commits of one repository that `as_json` wrote."""
    commits = [
        Past(
            Pin(
                **{
                    **item["pin"],
                    "committed_at": datetime.fromisoformat(item["pin"]["committed_at"]),
                }
            ),
            None if item["parents"] is None else tuple(item["parents"]),
            item["changed_paths"],
        )
        for item in value["commits"]
    ]
    return Listed(value["status"], value["reason"], value["tip"], tuple(commits))
