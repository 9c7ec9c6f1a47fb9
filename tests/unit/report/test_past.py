"""What sources and the vault tell of the time between two reports, and what they don't."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchproof.errors import Absent, AllowanceTooSmall, BenchproofError, Unreachable, VaultError
from benchproof.report import past
from benchproof.sources import content, objects
from benchproof.sources.base import Commit, Entry, RepoSpec
from benchproof.vault import Vault
from unit.analysis.drift.reports import NEW, OLD, REPO, edited, published, report

PATH = "evals/e1.json"


class Told:
    """A source that answers about ranges from what it was given."""

    def __init__(self, ancestor: bool = True, error: BenchproofError | None = None) -> None:
        self.ancestor, self.error = ancestor, error
        self.asked: list[tuple[str, str | None]] = []

    def is_ancestor(self, spec: RepoSpec, old: str, new: str) -> bool:
        if self.error is not None:
            raise self.error
        assert (spec.repo, old, new) == (REPO, OLD, NEW)
        return self.ancestor

    def commits(self, spec: RepoSpec, until: str, since: str | None = None) -> list[Commit]:
        self.asked.append((until, since))
        return [Commit(until, "t" * 40, (), datetime(2026, 1, 1, tzinfo=UTC), frozenset())]


def ranges(source: Any, old: str = OLD, new: str = NEW) -> Any:
    return past.ranges(source, report("1", published(old)), report("2", published(new)))


def test_a_repository_that_moved_has_a_range() -> None:
    source = Told()
    found, unknown = ranges(source)
    assert (found[REPO].ancestor, [c.sha for c in found[REPO].commits], unknown) == (
        True,
        [NEW],
        {},
    )
    assert source.asked == [(NEW, OLD)]


def test_where_history_was_rewritten_both_sides_are_asked() -> None:
    source = Told(ancestor=False)
    found, _ = ranges(source)
    assert [c.sha for c in found[REPO].left] == [OLD]
    assert source.asked == [(NEW, OLD), (OLD, NEW)]


def test_a_repository_that_stayed_is_asked_of_nobody() -> None:
    assert ranges(Told(error=Absent("missing", REPO)), new=OLD) == ({}, {})


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (Unreachable("offline", REPO), "offline"),
        (Absent("missing", REPO), "missing"),
        (AllowanceTooSmall(9, 1, None), "allowance"),
        (VaultError("x"), "vault damaged"),
    ],
)
def test_a_source_that_fails_costs_the_cause_and_nothing_else(
    error: BenchproofError, why: str
) -> None:
    assert ranges(Told(error=error)) == ({}, {REPO: why})
    assert ranges(None) == ({}, {REPO: "no vault or no git here"})


def saved(vault: Vault, commit: str, value: Any) -> str:
    """Put one version of an evaluation into the vault and return its blob id."""
    data = json.dumps(value).encode()
    sha = objects.object_id("blob", data)
    content.save(vault.content(REPO, commit), [Entry(PATH.encode(), "100644", sha)], [(sha, data)])
    return sha


def compared(vault: Vault | None, blobs: Sequence[str]) -> Any:
    sides = [
        report(commit, edited(published(commit), "evals", {"path": PATH}, blob_sha=sha))
        for commit, sha in zip((OLD, NEW), blobs, strict=True)
    ]
    return past.graders(vault, sides[0], sides[1], ())


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ({"grader": {"a": 1}}, {"grader": {"a": 2}}, True),
        ({"grader": {"a": 1}, "task": "x"}, {"task": "y", "grader": {"a": 1}}, False),
        ({"grader": {"a": 1, "b": 2}}, {"grader": {"b": 2, "a": 1}, "id": "z"}, False),
        ({"grader": {"a": 1}}, {"graders": [{"a": 1}]}, True),
        ({"grader": {"a": 1}}, {}, True),
        ({}, {"id": "x"}, False),
        ([], {"id": "x"}, False),
    ],
)
def test_graders_are_compared_and_forgotten(
    tmp_path: Path, old: Any, new: Any, changed: bool
) -> None:
    """Only whether they differ leaves the vault."""
    vault = Vault(tmp_path)
    blobs = [saved(vault, commit, value) for commit, value in ((OLD, old), (NEW, new))]
    assert compared(vault, blobs) == ({(REPO, PATH): changed}, 0)


@pytest.mark.parametrize(("value", "changed"), [({"a": 2}, True), ({"a": 1}, False)])
def test_an_evaluation_that_was_edited_and_moved_is_known_by_its_id(
    tmp_path: Path, value: Any, changed: bool
) -> None:
    vault = Vault(tmp_path)
    old = saved(vault, OLD, {"grader": {"a": 1}})
    new = saved(vault, NEW, {"grader": value, "task": "x"})
    sides = [
        report(c, edited(published(c), "evals", {"path": PATH}, blob_sha=sha, path=path))
        for c, sha, path in ((OLD, old, PATH), (NEW, new, "evals/elsewhere.json"))
    ]
    assert past.graders(vault, sides[0], sides[1], ()) == (
        {(REPO, "evals/elsewhere.json"): changed},
        0,
    )


def test_what_the_vault_lacks_is_counted(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    blobs = [saved(vault, OLD, {"grader": 1}), "9" * 40]
    assert compared(vault, blobs) == ({}, 1)
    assert compared(None, blobs) == ({}, 1)
    content.save(vault.content(REPO, NEW), [], [])
    assert compared(vault, blobs) == ({}, 1)


def test_unchanged_evaluations_are_not_opened() -> None:
    assert compared(None, ["9" * 40, "9" * 40]) == ({}, 0)
