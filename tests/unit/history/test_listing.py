"""Which commits are audited: those a pin reaches, or those that are listed, each in one repository."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from benchproof.errors import Absent, AllowanceTooSmall, BenchproofError, ConfigError, Unreachable
from benchproof.history import listing
from benchproof.history.listing import Listed
from benchproof.sources.base import Commit, Pin, RepoSpec

DAY = datetime(2026, 8, 1, tzinfo=UTC)
ONE, TWO = (RepoSpec(f"demo/{name}", "main", "evals", "runs") for name in ("one", "two"))
A, B, C = "a" * 40, "b" * 40, "ab" + "c" * 38


def pinned(sha: str, day: int = 0, repo: str = "demo/one") -> Pin:
    at = DAY + timedelta(days=day)
    return Pin(repo, sha, "ok", None, sha, "e" * 40, at, repo, 7, "git")


class Scripted:
    """Knows commits by repository, with the day of each."""

    def __init__(self, **known: dict[str, int]) -> None:
        self.known = {f"demo/{name}": shas for name, shas in known.items()}
        self.fail: dict[str, BenchproofError] = {}

    def find(self, spec: RepoSpec, digits: str) -> list[str]:
        if spec.repo in self.fail:
            raise self.fail[spec.repo]
        return [sha for sha in self.known.get(spec.repo, {}) if sha.startswith(digits)]

    def pin(self, spec: RepoSpec, as_of: object = None) -> Pin:
        return pinned(spec.ref, self.known[spec.repo][spec.ref], spec.repo)

    def commits(self, spec: RepoSpec, until: str, since: str | None = None) -> list[Commit]:
        if spec.repo in self.fail:
            raise self.fail[spec.repo]
        day = timedelta(days=1)
        return [
            Commit(B, "2" * 40, (A,), DAY + day, frozenset({b"x", b"y"})),
            Commit(A, "1" * 40, (), DAY, frozenset({b"x"})),
        ]


def asked(text: str, *specs: RepoSpec) -> dict[str, Any]:
    return {"text": text, "digits": text, "repos": [spec.repo for spec in specs or (ONE, TWO)]}


def chosen(source: Any, *items: dict[str, Any]) -> dict[str, Listed]:
    return listing.chosen(source, [ONE, TWO], items)


def test_listed_commits_come_by_time_and_once() -> None:
    source = Scripted(one={A: 2, B: 1}, two={C: 5})
    found = chosen(source, asked("aaaaaaa"), asked("bbbbbbb"), asked("abcccccc"), asked(A, ONE))
    assert [past.pin.commit_sha for past in found["demo/one"].commits] == [B, A]
    assert [past.pin.ref for past in found["demo/two"].commits] == [C]
    assert {item.tip for item in found.values()} == {None}


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (asked("ddddddd"), "lists ddddddd, which is no commit of any audited repository"),
        (asked("ddddddd", TWO), "lists ddddddd, which is no commit of demo/two"),
        (asked("a"), "fits 2 commits (demo/one@aaaaaaaaaaaa, demo/two@abcccccccccc)"),
    ],
    ids=["unknown", "unknown-there", "ambiguous"],
)
def test_a_commit_of_none_or_several_is_refused(item: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as met:
        chosen(Scripted(one={A: 1}, two={C: 1}), item)
    assert str(met.value).startswith("config: `as_of` lists ")
    assert words in str(met.value)


def test_a_repository_that_cannot_be_asked_is_no_repository_without_it() -> None:
    """Law 3: only an answer says that a commit is not there."""
    source = Scripted(one={A: 1})
    source.fail = {"demo/two": Unreachable("timeout", "demo/two")}
    assert [p.pin.commit_sha for p in chosen(source, asked("aaaaaaa"))["demo/one"].commits] == [A]
    with pytest.raises(Unreachable):
        chosen(source, asked("ddddddd"))
    source.fail = {"demo/two": Absent("missing", "demo/two")}
    with pytest.raises(ConfigError):
        chosen(source, asked("ddddddd"))


def test_a_pin_reaches_its_past_oldest_first() -> None:
    """Each commit is a pin of its own: another id, tree and time, and what the pin says of the repository."""
    source: Any = Scripted()
    found = listing.reached(source, ONE, pinned(B))
    assert [(p.pin.ref, p.pin.tree_sha, p.parents, p.changed_paths) for p in found.commits] == [
        (A, "1" * 40, (), 1),
        (B, "2" * 40, (A,), 2),
    ]
    assert {p.pin.repo_id for p in found.commits} == {7}
    assert (found.status, found.tip) == ("ok", B)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Unreachable("timeout", "x"), "timeout"),
        (Absent("missing", "x"), "missing"),
        (AllowanceTooSmall(9, 1, None), "allowance"),
    ],
    ids=["unreachable", "absent", "allowance"],
)
def test_a_past_that_cannot_be_had_is_unknown(error: BenchproofError, reason: str) -> None:
    source: Any = Scripted()
    source.fail = {"demo/one": error}
    assert listing.reached(source, ONE, pinned(B)) == Listed("unknown", reason, B, ())


def test_what_was_not_pinned_has_its_status() -> None:
    source: Any = Scripted()
    gone = Pin("demo/one", "main", "missing", "missing", None, None, None, None, None, "git")
    assert listing.reached(source, ONE, gone) == Listed("missing", "missing", None, ())


def test_a_list_survives_the_hand_over() -> None:
    source: Any = Scripted(one={A: 2})
    for found in (
        {"demo/one": listing.reached(source, ONE, pinned(B))},
        chosen(source, asked("aaaaaaa")),
    ):
        kept = json.loads(json.dumps(listing.as_json(found)))
        assert {repo: listing.from_json(value) for repo, value in kept.items()} == found
