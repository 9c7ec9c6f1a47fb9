"""Every object is looked into once per version, and one that fails is a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import pytest

from benchproof import tables
from benchproof.errors import ObjectFailed
from benchproof.journal import Journal
from benchproof.storage import contents
from benchproof.storage.contents import INSIDE, Peeked, Peeks, peek_all
from benchproof.storage.identity import Identity
from benchproof.storage.opening import World
from benchproof.storage.peek import Contents
from benchproof.storage.probe import probe
from h5ad import Spec, build
from unit.storage.conftest import HANDLE, NO_SECRET, NOW, now
from upstream import Upstream

SIZE = 9000
LISTS = ("obs_columns", "var_columns", "layers", "obsm", "obsp", "varm", "uns")


class Idle:
    """Stands in for the child process where no file is parsed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""


@pytest.fixture
def peeks(tmp_path: Path) -> Peeks:
    return Peeks(tmp_path / "vault" / "peeks", "1")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "vault" / "peek.jsonl")


Step = Callable[[Callable[[Sequence[tuple[int, int]]], list[bytes]], int], int | None]


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let a peek read 10 bytes at 8000 and take a number from them; returns the sizes it was given."""
    seen: list[int] = []

    def fake(_: object, read: Any, size: int, **__: Any) -> Contents:
        seen.append(size)
        (piece,) = read([(8000, 10)])
        values: dict[str, Any] = dict.fromkeys(INSIDE) | {name: [] for name in LISTS}
        values |= {"n_obs": piece[0], "x_encoding": "array"}
        return Contents(**values, requests=1, bytes_read=10, rounds=1, late=0)

    monkeypatch.setattr(contents, "peek", fake)
    monkeypatch.setattr(contents, "Sandbox", Idle)
    return seen


def objects(world: World, *handles: str) -> list[dict[str, Any]]:
    return [probe(world, handle, now).row() for handle in handles]


def run(
    rows: list[dict[str, Any]], world: World | None, peeks: Peeks, journal: Journal, day: int = 0
) -> list[Peeked]:
    moment = NOW + timedelta(day)
    found = peek_all(rows, world, peeks, journal, connections=4, now=lambda: moment)
    tables.build("contents", [item.row() for item in found], {})
    return found


def states(found: list[Peeked]) -> list[tuple[str, str | None]]:
    return [(item.status, item.reason) for item in found]


def test_a_real_file(
    cloud: Upstream, world: World, peeks: Peeks, journal: Journal, tmp_path: Path
) -> None:
    """From the signed URL to the row: what is inside a small .h5ad, with its cost."""
    build(tmp_path / "a.h5ad", Spec())
    cloud.storage.share(HANDLE, path=tmp_path / "a.h5ad")
    rows = objects(world, HANDLE)
    cloud.log.reset()
    (found,) = run(rows, world, peeks, journal)
    row = found.row()
    assert (row["status"], row["reason"], row["container"]) == ("ok", None, "hdf5")
    assert row["n_obs"] == Spec().n_obs
    assert row["requests"] == len(cloud.requests("storage")) > 0
    assert row["bytes_read"] == cloud.counts()["storage"]["bytes_out"]


def test_once_per_version(
    cloud: Upstream, world: World, peeks: Peeks, journal: Journal, look: list[int], tmp_path: Path
) -> None:
    """A version that was looked into costs no request on a later date; a new one is looked into."""
    cloud.storage.share(HANDLE, size=SIZE)
    rows = objects(world, HANDLE)
    (first,) = run(rows, world, peeks, journal)
    cloud.log.reset()
    later = Journal(tmp_path / "vault" / "later.jsonl")
    (again,) = run(rows, world, peeks, later, day=1)
    assert again == first
    assert again.checked_at == NOW
    assert cloud.requests() == []
    cloud.storage.replace_object(HANDLE)
    (new,) = run(objects(world, HANDLE), world, peeks, later, day=1)
    assert (new.checked_at, len(look)) == (NOW + timedelta(1), 2)
    assert (
        run(rows, world, Peeks(tmp_path / "vault" / "peeks", "2"), Journal(tmp_path / "j"))[0]
        != first
    )


def test_br03_replaced_while_it_is_read(
    cloud: Upstream, world: World, peeks: Peeks, journal: Journal, look: list[int]
) -> None:
    """An object that was replaced is looked at afresh, in its new size; it never mixes two versions."""
    cloud.storage.share(HANDLE, size=SIZE)
    rows = objects(world, HANDLE)
    cloud.storage.replace_object(HANDLE, size=SIZE + 50)
    (found,) = run(rows, world, peeks, journal)
    assert (found.status, look) == ("ok", [SIZE, SIZE + 50])
    content = cloud.storage.object_of(HANDLE).content()
    assert found.inside["n_obs"] == content.read(8000, 1)[0]
    assert run(rows, world, peeks, Journal(journal.path.with_name("x")))[0].status == "ok"
    assert look == [SIZE, SIZE + 50, SIZE, SIZE + 50]


def test_br03_replaced_again_and_again(
    cloud: Upstream, world: World, peeks: Peeks, journal: Journal, look: list[int]
) -> None:
    """An object that doesn't keep still is changed, after two looks."""
    cloud.storage.share(HANDLE, size=SIZE)
    rows = objects(world, HANDLE)
    cloud.add("call", "/storage/", action=lambda _: cloud.storage.replace_object(HANDLE))
    assert states(run(rows, world, peeks, journal)) == [("changed", "replaced")]
    assert len(look) == 2
    assert len(cloud.requests("sign")) == 1


def test_one_bad_object_is_one_row(
    cloud: Upstream, world: World, peeks: Peeks, journal: Journal, look: list[int]
) -> None:
    """What fails is a row, what doesn't is another, and what is no HDF5 isn't read at all."""
    for number, kind in enumerate(("hdf5", "hdf5", "gzip", "text", "hdf5")):
        cloud.storage.share(f"latch://{number}.node", size=SIZE, container=kind)
    cloud.storage.share("latch://5.node", data=b"")
    cloud.add("missing", "/storage/.*/0")
    rows = objects(world, *(f"latch://{n}.node" for n in range(6)))
    rows[4] |= {"reason": "range_ignored"}
    rows.append({**rows[1], "handle": "latch://6.node", "size_bytes": None, "reason": None})
    cloud.add("denied", "/storage/.*/1")
    cloud.log.reset()
    assert states(run(rows, world, peeks, journal)) == [
        ("missing", "no_such_key"),
        ("denied", "access_denied"),
        ("unsupported", "not_hdf5"),
        ("unsupported", "not_hdf5"),
        ("unsupported", "range_ignored"),
        ("unsupported", "not_hdf5"),
        ("unsupported", "size_unknown"),
    ]
    assert len(cloud.requests("storage")) == 1


def test_a_second_run_asks_for_what_is_open(
    cloud: Upstream, world: World, peeks: Peeks, journal: Journal, look: list[int]
) -> None:
    """Denied stays denied on that date; throttled is asked for again."""
    for number in (1, 2):
        cloud.storage.share(f"latch://{number}.node", size=SIZE)
    rows = objects(world, "latch://1.node", "latch://2.node")
    cloud.add("denied", "/storage/.*/1")
    fault = cloud.add("status", "/storage/.*/2", status=503, headers={"Retry-After": "9999"})
    assert [s for s, _ in states(run(rows, world, peeks, journal))] == ["denied", "throttled"]
    fault.times = 0
    cloud.log.reset()
    assert [s for s, _ in states(run(rows, world, peeks, journal))] == ["denied", "ok"]
    assert len(cloud.requests("storage")) == 1
    assert not NO_SECRET.search(journal.path.read_text())


def test_offline(
    cloud: Upstream, world: World, peeks: Peeks, journal: Journal, look: list[int]
) -> None:
    """Offline, versions that were looked into are known, others say why not."""
    for number in (1, 2):
        cloud.storage.share(f"latch://{number}.node", size=SIZE)
    rows = objects(world, "latch://1.node", "latch://2.node")
    run(rows[:1], world, peeks, journal)
    assert states(run(rows, None, peeks, Journal(journal.path.with_name("x")))) == [
        ("ok", None),
        ("unknown", "offline"),
    ]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b'{"handle": "x"}', b"\xff"])
def test_a_damaged_record(
    cloud: Upstream,
    world: World,
    peeks: Peeks,
    journal: Journal,
    look: list[int],
    tmp_path: Path,
    damage: bytes,
) -> None:
    """A description that can't be read is made again."""
    cloud.storage.share(HANDLE, size=SIZE)
    rows = objects(world, HANDLE)
    run(rows, world, peeks, journal)
    (path,) = (tmp_path / "vault" / "peeks").rglob("*.json")
    path.write_bytes(damage)
    (found,) = run(rows, world, peeks, Journal(tmp_path / "j"))
    assert (found.status, len(look)) == ("ok", 2)


def test_a_version_that_nothing_names_is_not_kept(
    peeks: Peeks, look: list[int], tmp_path: Path
) -> None:
    """Without ETag and date two versions can't be told apart: none is kept for later."""
    unnamed = Identity(None, SIZE, None)
    peeks.put(unnamed, Peeked(HANDLE, "ok", None, "hdf5", datetime(2026, 1, 2, tzinfo=UTC)))
    assert peeks.get(HANDLE, unnamed) is None
    assert list(tmp_path.rglob("*.json")) == []


def test_failures_tell_no_url(
    cloud: Upstream,
    world: World,
    peeks: Peeks,
    journal: Journal,
    monkeypatch: pytest.MonkeyPatch,
    look: list[int],
) -> None:
    """A child that fails is a reason; neither row nor journal holds a signed URL."""

    def fails(*_: object, **__: object) -> Contents:
        raise ObjectFailed("unsupported", "crashed", HANDLE)

    monkeypatch.setattr(contents, "peek", fails)
    cloud.storage.share(HANDLE, size=SIZE)
    (found,) = run(objects(world, HANDLE), world, peeks, journal)
    assert (found.status, found.reason) == ("unsupported", "crashed")
    assert not NO_SECRET.search(repr(found) + journal.path.read_text())


def test_replaced_and_then_no_answer(
    cloud: Upstream, world: World, peeks: Peeks, journal: Journal, look: list[int]
) -> None:
    """When the new version can't be asked for, nothing is settled: the next run asks again."""
    cloud.storage.share(HANDLE, size=SIZE)
    rows = objects(world, HANDLE)
    cloud.storage.replace_object(HANDLE)
    fault = cloud.add("status", "/storage/", after=1, status=503, headers={"Retry-After": "9999"})
    assert states(run(rows, world, peeks, journal)) == [("throttled", "throttled")]
    fault.times = 0
    assert states(run(rows, world, peeks, journal)) == [("ok", "newer_than_probe")]


def test_a_foreign_journal(
    cloud: Upstream, world: World, peeks: Peeks, journal: Journal, look: list[int]
) -> None:
    """A record that another version wrote is asked for again."""
    cloud.storage.share(HANDLE, size=SIZE)
    journal.add(HANDLE, {"status": "ok", "n_obs": 5})
    assert states(run(objects(world, HANDLE), world, peeks, journal)) == [("ok", None)]
    assert look == [SIZE]
