"""Pinning once per date and mirroring what is needed, over a scripted source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchproof.errors import (
    Absent,
    AllowanceTooSmall,
    BenchproofError,
    ConfigError,
    ProofError,
    Unreachable,
)
from benchproof.pinning import each, mirror, pin_once, recorded_pin
from benchproof.sources import content, objects
from benchproof.sources.base import Entry, Pin, RepoSpec
from benchproof.sources.gitcmd import Moved
from benchproof.vault import Vault

SPEC = RepoSpec("demo/one", "main", "evals", "trajectories")
COMMIT = "c" * 40
NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
FILES = {
    b"evals/manifest.json": b"[]",
    b"evals/t/a.json": b"{}",
    b"trajectories/x/trajectory.json": b"no",
}


def pinned(status: str = "ok", reason: str | None = None) -> Pin:
    usable = status in ("ok", "renamed")
    commit, tree, at = (COMMIT, "a" * 40, NOW) if usable else (None, None, None)
    return Pin("demo/one", "main", status, reason, commit, tree, at, "demo/one", 7, "git")


class Scripted:
    """A source that answers from memory and keeps what it was asked."""

    name = "git"

    def __init__(self, *pins: Pin) -> None:
        self.pins, self.asked = list(pins), list[str]()
        self.files = dict(FILES)
        self.fail: BenchproofError | None = None

    def pin(self, spec: RepoSpec, as_of: datetime | None = None) -> Pin:
        self.asked.append(f"pin {spec.ref} {as_of}")
        return self.pins.pop(0)

    def tree(self, pin: Pin) -> list[Entry]:
        self.asked.append("tree")
        return [
            Entry(path, "100644", objects.blob_id(data))
            for path, data in sorted(self.files.items())
        ]

    def blobs(self, pin: Pin, wanted: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
        self.asked.append("blobs " + " ".join(sorted(path.decode() for path in wanted.values())))
        for number, (sha, path) in enumerate(wanted.items()):
            if number and self.fail is not None:
                raise self.fail
            yield sha, self.files[path]


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "vault")


def once(
    source: Scripted | None, vault: Vault, label: str = "2026-01-15", ref: str = "main"
) -> Pin:
    return pin_once(source, vault, label, RepoSpec("demo/one", ref, "evals", "trajectories"), None)


# --- pin -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["ok", "renamed", "missing", "private", "empty", "ref_missing"])
def test_what_was_recorded_is_never_asked_again(vault: Vault, status: str) -> None:
    """Law 9: also when upstream moved, or came back, meanwhile."""
    first = pinned(status, None if status == "ok" else status)
    source = Scripted(first, pinned("ok"))
    assert once(source, vault) == once(source, vault) == once(None, vault) == first
    assert len(source.asked) == 1


def test_unknown_is_never_recorded(vault: Vault) -> None:
    source = Scripted(pinned("unknown", "timeout"), pinned())
    assert once(source, vault).status == "unknown"
    assert recorded_pin(vault, "2026-01-15", SPEC) is None
    assert once(source, vault) == pinned()


def test_another_date_or_ref_is_asked_for_itself(vault: Vault) -> None:
    source = Scripted(pinned(), pinned(), pinned())
    once(source, vault)
    once(source, vault, label="2026-01-16")
    once(source, vault, ref="v1")
    assert len(source.asked) == 3


def test_offline_without_a_record_is_unknown(vault: Vault) -> None:
    pin = once(None, vault)
    assert (pin.status, pin.reason, pin.commit_sha) == ("unknown", "offline", None)


# --- mirror --------------------------------------------------------------------------------------


def bring(
    source: Scripted | None, vault: Vault, pin: Pin | None = None, spec: RepoSpec = SPEC
) -> dict[str, Any]:
    return mirror(source, vault, spec, pinned() if pin is None else pin)


def test_what_is_needed_arrives_once(vault: Vault) -> None:
    source = Scripted()
    good = {"status": "ok", "reason": None, "commit_sha": COMMIT, "blobs": 2}
    assert bring(source, vault) == good
    assert source.asked == ["tree", "blobs evals/manifest.json evals/t/a.json"]
    assert bring(source, vault) == bring(None, vault) == good
    assert len(source.asked) == 2


def test_a_pin_without_a_commit_asks_nothing(vault: Vault) -> None:
    record = bring(None, vault, pinned("empty", "empty"))
    assert record == {"status": "empty", "reason": "empty", "commit_sha": None, "blobs": 0}


def test_the_archive_is_written_again_when_more_blobs_are_needed(vault: Vault) -> None:
    """An edit of the configuration or of the choice of blobs finds its blobs."""
    source = Scripted()
    source.files[b"examples/b.json"] = b"[1]"
    bring(source, vault)
    other = RepoSpec("demo/one", "main", "examples", "trajectories")
    assert bring(source, vault, spec=other)["status"] == "ok"
    with content.opened(vault.content("demo/one", COMMIT)) as found:
        assert found.read(objects.blob_id(b"[1]")) == b"[1]"


def test_offline_without_content_is_unknown(vault: Vault) -> None:
    assert bring(None, vault)["reason"] == "offline"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Unreachable("stalled", "demo/one"), "stalled"),
        (AllowanceTooSmall(9, 3, NOW), "allowance"),
    ],
)
def test_what_could_not_be_had_is_unknown_and_leaves_no_archive(
    vault: Vault, error: BenchproofError, reason: str
) -> None:
    source = Scripted()
    source.fail = error
    record = bring(source, vault)
    assert (record["status"], record["reason"], record["commit_sha"]) == ("unknown", reason, COMMIT)
    assert not vault.content("demo/one", COMMIT).exists()
    source.fail = None
    assert bring(source, vault)["status"] == "ok"


@pytest.mark.parametrize(
    "error",
    [Absent("missing", "demo/one"), Absent("private", "demo/one"), Moved("demo/one: redirected.")],
    ids=["deleted", "private", "renamed"],
)
def test_a_repository_that_left_after_its_pin_is_a_record_too(
    vault: Vault, error: BenchproofError
) -> None:
    """Law 5: it must not fail the job, today and on each later run of this date."""
    source = Scripted()
    source.fail = error
    record = bring(source, vault)
    assert record["status"] != "ok"
    assert record["reason"]


def test_wrong_bytes_stop_the_job(vault: Vault) -> None:
    source = Scripted()
    source.fail = ProofError("blob", "a" * 40, "b" * 40, "demo/one")
    with pytest.raises(ProofError):
        bring(source, vault)


@pytest.mark.parametrize("what", ["emptied", "cut", "listing"])
def test_a_damaged_archive_is_brought_again(vault: Vault, what: str) -> None:
    """Law 7: the next run goes on without a hand."""
    source = Scripted()
    bring(source, vault)
    path = vault.content("demo/one", COMMIT)
    raw = path.read_bytes()
    at = raw.index(b"tree") + 8
    harmed = {"emptied": b"", "cut": raw[:-30], "listing": raw[:at] + b"\xff\xff" + raw[at + 2 :]}
    path.write_bytes(harmed[what])
    assert bring(source, vault)["status"] == "ok"
    with content.opened(path) as found:
        assert len(found.entries) == len(FILES)


# --- each ----------------------------------------------------------------------------------------


def test_one_failure_does_not_keep_the_others_from_finishing() -> None:
    family = [RepoSpec(f"demo/{name}", "main", "e", "r") for name in "abcd"]
    done = []

    def work(spec: RepoSpec) -> str:
        if spec.repo in ("demo/a", "demo/c"):
            raise ConfigError(spec.repo)
        done.append(spec.repo)
        return spec.repo

    results, errors = each(work, family, 2)
    assert results == {"demo/b": "demo/b", "demo/d": "demo/d"}
    assert [str(error) for error in errors] == ["demo/a", "demo/c"]
    assert sorted(done) == ["demo/b", "demo/d"]


def test_a_record_is_plain_json_in_the_vault(vault: Vault) -> None:
    once(Scripted(pinned()), vault)
    path = vault.pin_record("2026-01-15", "demo/one", "main")
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_bytes())["committed_at"] == "2026-01-15T12:00:00+00:00"
