"""Which snapshots are fetched, and when that is more than was allowed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from benchproof.errors import ConfigError
from benchproof.storage.choose import JOBS, Selection, choose, suffix

Row = dict[str, Any]
EVERYTHING = 10**18


def thing(number: int | str, size: int | None = 100, **changes: Any) -> Row:
    usual = {
        "status": "ok",
        "reason": None,
        "container": "hdf5",
        "etag": "a",
        "last_modified": None,
    }
    return {"handle": f"latch://{number}.node", "size_bytes": size, **usual, **changes}


def users(*pairs: tuple[str, int | str], repo: str = "demo/one") -> list[Row]:
    return [{"repo": repo, "eval_id": name, "handle": f"latch://{n}.node"} for name, n in pairs]


def select(
    objects: list[Row],
    wish: str | list[str] = "all",
    handles: list[Row] | None = None,
    *,
    most: int = EVERYTHING,
    shards: int = 1,
    held: dict[str, int] | None = None,
) -> Selection:
    have = held or {}
    found = choose(
        objects,
        handles or [],
        wish,
        max_total_bytes=most,
        shards=shards,
        held=lambda row: have.get(row["handle"], 0),
    )
    json.dumps(found.record())
    return found


def chosen(found: Selection) -> list[str]:
    return sorted(entry["handle"] for part in found.parts.values() for entry in part)


FOUR = [thing(1, 300), thing(2, 100), thing(3, 100), thing(4, 50, container="gzip")]


@pytest.mark.parametrize(
    ("wish", "numbers"),
    [
        pytest.param("smallest", [2], id="smallest-first-by-name"),
        pytest.param("all", [1, 2, 3], id="all-snapshots"),
        pytest.param("none", [], id="none"),
        pytest.param([], [], id="empty-list"),
        pytest.param(["latch://4.node"], [4], id="by-handle-any-kind"),
        pytest.param(["e1"], [1, 2], id="by-evaluation"),
        pytest.param(["demo/one/e2"], [2], id="by-repository-and-evaluation"),
        pytest.param(["e1", "e2", "latch://1.node", "e1"], [1, 2], id="said-twice"),
    ],
)
def test_wishes(wish: str | list[str], numbers: list[int]) -> None:
    """Each wish stands for its snapshots, each of them once."""
    handles = users(("e1", 1), ("e1", 2), ("e2", 2), ("e3", 4))
    found = select(FOUR, wish, handles)
    assert chosen(found) == [f"latch://{n}.node" for n in numbers]
    assert found.total == found.to_move == sum(FOUR[n - 1]["size_bytes"] for n in numbers)
    assert (found.rows, found.refused) == ([], None)


def test_one_id_in_two_repositories() -> None:
    """An id that two repositories use means both; with its repository it means one."""
    handles = users(("e1", 1)) + users(("e1", 2), repo="demo/two")
    assert len(chosen(select(FOUR, ["e1"], handles))) == 2
    assert chosen(select(FOUR, ["demo/two/e1"], handles)) == ["latch://2.node"]


@pytest.mark.parametrize("name", ["scbench_01x", "", "*", "latch://9.node", "demo/one", "x" * 500])
def test_unknown_names(name: str) -> None:
    """A name that is nothing here is an error that names it, with a close one as a hint."""
    with pytest.raises(ConfigError) as caught:
        select(FOUR, ["scbench_01", name], users(("scbench_01", 1)))
    assert repr(name[:80]) in str(caught.value)
    assert ("Did you mean scbench_01?" in str(caught.value)) == (name == "scbench_01x")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("row", "status", "reason"),
    [
        pytest.param(
            thing(5, None, status="denied", reason="access_denied"),
            "denied",
            "access_denied",
            id="denied",
        ),
        pytest.param(
            thing(5, None, status="unknown", reason="timeout"), "unknown", "timeout", id="unknown"
        ),
        pytest.param(
            thing(5, None, reason="size_unknown"), "unsupported", "size_unknown", id="no-size"
        ),
        pytest.param(None, "unresolved", "not_reachable", id="not-in-the-table"),
    ],
)
def test_chosen_but_not_fetched(row: Row | None, status: str, reason: str) -> None:
    """What was named and can't be fetched is a row that says why; the others are fetched."""
    objects = [*FOUR, *([row] if row else [])]
    found = select(objects, ["e1"], users(("e1", 1), ("e1", 5)))
    assert chosen(found) == ["latch://1.node"]
    (left,) = found.rows
    assert (left["handle"], left["status"], left["reason"]) == ("latch://5.node", status, reason)


def test_an_unsized_snapshot_is_not_the_smallest() -> None:
    """A size that isn't known is no zero."""
    found = select([thing(1, None, reason="size_unknown"), thing(2, 70)], "smallest")
    assert chosen(found) == ["latch://2.node"]
    assert chosen(select([thing(1, None, reason="size_unknown")], "smallest")) == []
    assert chosen(select([], "smallest")) == []


@pytest.mark.parametrize(
    ("most", "held", "refused"),
    [
        pytest.param(500, {}, False, id="exactly"),
        pytest.param(499, {}, True, id="a-byte-less"),
        pytest.param(200, {"latch://1.node": 300}, False, id="what-is-here-does-not-count"),
        pytest.param(199, {"latch://1.node": 300}, True, id="nor-less"),
        pytest.param(199, {"latch://1.node": 999}, True, id="too-much-here-helps-no-other"),
        pytest.param(0, {f"latch://{n}.node": 400 for n in (1, 2, 3)}, False, id="nothing-to-move"),
        pytest.param(0, {}, True, id="zero"),
    ],
)
def test_the_limit(most: int, held: dict[str, int], refused: bool) -> None:
    """More than allowed moves nothing at all, and the refusal says the number to set."""
    found = select(FOUR, "all", most=most, held=held)
    assert found.total == 500
    assert bool(found.refused) == refused
    if refused:
        assert f"set it to {found.to_move} or more" in str(found.refused)
        assert found.parts == {}
        assert {(r["status"], r["reason"]) for r in found.rows} == {
            ("too_large", "max_total_bytes")
        }
        assert select(FOUR, "all", most=found.to_move, held=held).refused is None
    else:
        assert len(chosen(found)) == 3


def test_nothing_to_fetch_is_no_refusal() -> None:
    """No snapshot, no bytes, no refusal, whatever is allowed."""
    assert select([], "all", most=0) == Selection()


@pytest.mark.parametrize(
    ("count", "shards", "parts"),
    [
        (1, 1, 1),
        (60, 1, 60),
        (60, 9, 60),
        (61, 1, 1),
        (61, 4, 4),
        (61, 10_000, 61),
        (200, 7, 7),
    ],
)
def test_jobs(count: int, shards: int, parts: int) -> None:
    """Up to 60 snapshots get a job each; more are spread over `shards` jobs of like weight."""
    objects = [thing(n, 1000 + n) for n in range(count)]
    found = select(objects, "all", shards=shards)
    assert len(found.parts) == parts
    assert chosen(found) == sorted(row["handle"] for row in objects)
    weights = [sum(entry["size_bytes"] for entry in part) for part in found.parts.values()]
    assert sum(weights) == found.total
    if count > JOBS:
        assert max(weights) - min(weights) <= max(row["size_bytes"] for row in objects)


def test_a_large_snapshot_has_a_job_to_itself() -> None:
    """Weight is bytes, not files."""
    found = select([thing(0, 1000), *(thing(n, 10) for n in range(1, 61))], "all", shards=2)
    assert sorted(sum(e["size_bytes"] for e in part) for part in found.parts.values()) == [
        600,
        1000,
    ]


def test_jobs_do_not_depend_on_the_order() -> None:
    """The same snapshots in another order make the same jobs."""
    objects = [thing(n, 1000 + n % 7) for n in range(80)]
    forward, back = select(objects, shards=3), select(objects[::-1], shards=3)
    assert forward.parts == back.parts


def test_what_a_job_is_told() -> None:
    """A job's entry names one version, as JSON."""
    moment = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)
    found = select([thing(1, 5, etag="a-2", last_modified=moment)])
    assert found.parts == {
        "1": [
            {
                "handle": "latch://1.node",
                "size_bytes": 5,
                "etag": "a-2",
                "last_modified": "Wed, 21 Oct 2026 07:28:00 GMT",
                "suffix": "h5ad",
            }
        ]
    }


def test_handles_that_look_alike_have_jobs_of_their_own() -> None:
    handles = [f"latch://{name}.node" for name in ("1", "01", "a", "A")]
    objects = [{**thing(1), "handle": handle} for handle in handles]
    assert chosen(select(objects)) == sorted(handles)
    assert "1" in select(objects).parts


def test_suffixes() -> None:
    """A fetched file's name ends as its kind does; what has no name for it is bin."""
    assert [suffix(kind) for kind in ("hdf5", "bam", "unknown", "empty")] == [
        "h5ad",
        "bam",
        "bin",
        "bin",
    ]
