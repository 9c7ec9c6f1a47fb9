"""Which handles can be had, and what that makes of the evaluations."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from benchproof.journal import Journal
from benchproof.storage.opening import World, open_world
from benchproof.storage.probe import probe
from benchproof.storage.resolve import Patience, Resolved, handle_rows, resolve, runnable_rows
from benchproof.storage.signer import Signed
from unit.storage.conftest import NO_SECRET, NOW, Opener, Scripted, good, now
from upstream import Upstream

URL = "https://storage.example.test/x?X-Amz-Signature=SECRET1"
REFUSED = Signed("refused", "not_shared_or_unknown", 400)
SILENT = Signed("unknown", "timeout", None)


def named(*handles: str, eval_id: str = "e1", status: str = "ok") -> list[dict[str, Any]]:
    return [
        {"repo": "demo/one", "eval_id": eval_id, "handle": h, "status": status, "reason": None}
        for h in handles
    ]


def numbers(count: int) -> list[str]:
    return [f"latch://{n:03}.node" for n in range(count)]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "vault" / "resolve.jsonl")


def run(
    rows: Iterable[dict[str, Any]], world: World | None, journal: Journal
) -> dict[str, Resolved]:
    found = resolve(rows, world, journal, connections=4, now=now)
    assert [item.handle for item in found] == sorted({row["handle"] for row in rows})
    return {item.handle: item for item in found}


def scripted(world: World, *script: Any) -> tuple[World, Scripted]:
    signer = Scripted(*script)
    return World(signer, world.storage, world.links, world.traffics), signer


def test_each_handle_once(cloud: Upstream, world: World, journal: Journal) -> None:
    """A handle that many evaluations name is asked for once; a refusal is asked for once more."""
    for handle in numbers(20):
        cloud.storage.share(handle, data=b"x")
    rows = named(*numbers(22)) + named(*numbers(22), eval_id="e2")
    found = run(rows, world, journal)
    states = [item.status for item in found.values()]
    assert states == ["reachable"] * 20 + ["refused"] * 2
    assert len(cloud.requests("sign")) == 22 + 2
    assert not any(r.authorization or r.cookie for r in cloud.requests())
    table = {row["handle"]: row for row in handle_rows(found.values(), rows)}
    assert {row["n_evals"] for row in table.values()} == {2}
    assert set(table["latch://000.node"]) == set(tables.SPECS["handles"].schema.names)


def test_urls_are_handed_on(
    cloud: Upstream, world: World, open_cloud: Opener, journal: Journal, tmp_path: Path
) -> None:
    """Probe asks with the URLs that resolve was given: no second signing."""
    cloud.storage.share("latch://1.node", data=b"x")
    run(named("latch://1.node"), world, journal)
    other = open_cloud(tmp_path / "vault" / "links.jsonl")
    assert "X-Amz-Signature" in other.links.url("latch://1.node")
    assert len(cloud.requests("sign")) == 1


@pytest.mark.parametrize(
    ("script", "status", "asked"),
    [
        pytest.param([REFUSED, good(URL)], "reachable", 2, id="400-then-200"),
        pytest.param([REFUSED, REFUSED, good(URL)], "refused", 2, id="said-twice"),
        pytest.param([good(URL), REFUSED], "reachable", 1, id="200-is-believed"),
        pytest.param([REFUSED, SILENT], "unknown", 2, id="400-then-silence"),
        pytest.param([SILENT, REFUSED], "unknown", 1, id="silence-is-for-the-next-run"),
        pytest.param(
            [Signed("malformed", "no_url", 200), good(URL)], "reachable", 2, id="malformed"
        ),
        pytest.param([Signed("unauthorized", "http_403", 403)], "unauthorized", 2, id="403"),
    ],
)
def test_flapping(
    world: World, journal: Journal, script: list[Signed], status: str, asked: int
) -> None:
    """A refusal is believed when it is said twice."""
    other, signer = scripted(world, *script)
    found = run(named("latch://1.node"), other, journal)
    assert found["latch://1.node"].status == status
    assert len(signer.asked) == asked
    assert journal.read()["latch://1.node"]["status"] == status


def test_a_second_run_asks_for_what_is_open(world: World, journal: Journal) -> None:
    """What was learnt stays; unknown alone is asked again, and its date is the new one."""
    by_handle = dict(zip(numbers(3), (good(URL), REFUSED, SILENT), strict=True))
    first, _ = scripted(world, lambda handle: by_handle[handle])
    before = run(named(*numbers(3)), first, journal)
    second, signer = scripted(world, good(URL))
    found = resolve(
        named(*numbers(3)), second, journal, connections=4, now=lambda: NOW + timedelta(1)
    )
    assert signer.asked == ["latch://002.node"]
    assert [item.status for item in found] == ["reachable", "refused", "reachable"]
    assert [item.checked_at.day for item in found] == [28, 28, 29]
    assert before["latch://002.node"].status == "unknown"


def test_killed_between_two_rounds(world: World, journal: Journal) -> None:
    """A refusal that was said once isn't in the journal: the next run asks twice again."""
    kept: list[str] = []

    def ask(handle: str) -> Signed:
        kept.append(handle)
        if len(kept) == 3:
            raise KeyboardInterrupt
        return REFUSED

    other, _ = scripted(world, ask)
    with pytest.raises(KeyboardInterrupt):
        resolve(named("latch://1.node", "latch://2.node"), other, journal, connections=1, now=now)
    assert journal.read() == {}


def test_offline(world: World, journal: Journal, tmp_path: Path) -> None:
    """Offline, what is known stays known, and the rest says why it isn't."""
    other, _ = scripted(world, good(URL))
    run(named("latch://1.node"), other, journal)
    with open_world({"offline": True}, tmp_path / "none.jsonl") as nothing:
        found = run(named("latch://1.node", "latch://2.node"), nothing, journal)
    assert [(i.status, i.reason) for i in found.values()] == [
        ("reachable", None),
        ("unknown", "offline"),
    ]
    assert "latch://2.node" not in journal.read()


@pytest.mark.parametrize(
    "handle",
    ["", "1", "https://x.test/?X-Amz", "latch://a b", "latch://\u202ex", "\x1b[2J", "x" * 400],
)
def test_odd_handles_are_sent_to_nobody(world: World, journal: Journal, handle: str) -> None:
    """What is no handle is malformed without a request."""
    other, signer = scripted(world, good(URL))
    found = run(named(handle, status="malformed"), other, journal)
    assert (found[handle].status, found[handle].reason) == ("malformed", "handle_malformed")
    assert signer.asked == []


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"status": "reachable"},
        {"status": "reachable", "reason": None, "http_status": 200, "checked_at": "yesterday"},
        {"status": "reachable", "reason": None, "http_status": 200, "checked_at": None},
    ],
    ids=["empty", "older", "odd-date", "no-date"],
)
def test_a_foreign_record(world: World, journal: Journal, record: dict[str, Any]) -> None:
    """A record of another version is as if it weren't there: asked again, no crash."""
    journal.add("latch://1.node", record)
    other, signer = scripted(world, good(URL))
    assert run(named("latch://1.node"), other, journal)["latch://1.node"].status == "reachable"
    assert len(signer.asked) == 1


def test_without_a_network_it_ends_early(world: World, journal: Journal) -> None:
    """After a dozen of 4 x 3 silences the rest is unknown with the same cause, unasked."""
    other, signer = scripted(world, SILENT)
    found = run(named(*numbers(200)), other, journal)
    assert {(item.status, item.reason) for item in found.values()} == {("unknown", "timeout")}
    assert 12 <= len(signer.asked) <= 12 + 4
    third, signer = scripted(world, good(URL))
    assert {i.status for i in run(named(*numbers(200)), third, journal).values()} == {"reachable"}
    assert len(signer.asked) == 200


@pytest.mark.parametrize("reason", ["host_not_allowed", "too_large", "malformed", "http_404"])
def test_items_that_stay_open_do_not_hide_others(
    world: World, journal: Journal, reason: str
) -> None:
    """Many handles with a trouble of their own keep nobody from asking for those behind them."""
    bad = Signed("unknown", reason, None)
    other, _ = scripted(world, lambda handle: bad if handle < "latch://100" else good(URL))
    states = [item.status for item in run(named(*numbers(150)), other, journal).values()]
    assert states == ["unknown"] * 100 + ["reachable"] * 50


@pytest.mark.parametrize(
    ("causes", "over"),
    [
        (["reset"] * 2, None),
        (["reset"] * 3, "reset"),
        (["reset", "dns", "signing_no_network"], "signing_no_network"),
        (["reset", "reset", None, "reset", "reset"], None),
        (["reset", "reset", "no_such_key", "reset"], None),
        (["reset"] * 3 + [None], "reset"),
        (["error_page"] * 9, None),
    ],
)
def test_patience(causes: list[str | None], over: str | None) -> None:
    """Patience ends with so many outages in a row, and stays over."""
    patience = Patience(3)
    for cause in causes:
        patience.note(cause)
    assert patience.over == over


def test_progress_says_no_secret(
    world: World, journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither journal nor log holds a signed URL; the journal is one record a handle."""
    caplog.set_level(logging.DEBUG)
    other, _ = scripted(world, good(URL))
    run(named(*numbers(5)), other, journal)
    text = journal.path.read_text()
    assert not NO_SECRET.search(text)
    assert len(text.splitlines()) == 5


# Runnable

STATES = ("reachable", "refused", "unauthorized", "malformed", "unknown")


def definition(states: tuple[str, ...]) -> str:
    """Try every outcome that open handles could still have; `unknown` when they differ."""
    if not states:
        return "unknown"
    choices = [
        (True,) if s == "reachable" else (False,) if s == "refused" else (True, False)
        for s in states
    ]
    ends = {
        "all" if all(world) else "some" if any(world) else "none"
        for world in itertools.product(*choices)
    }
    return ends.pop() if len(ends) == 1 else "unknown"


def evaluation(eval_id: str | None, status: str = "ok", path: str = "a.json") -> dict[str, Any]:
    return {"repo": "demo/one", "eval_id": eval_id, "path": path, "status": status}


@pytest.mark.parametrize("count", range(5))
def test_runnable_is_its_definition(count: int) -> None:
    """Every combination of up to four handles: all, some, none, or unknown where it could change."""
    for states in itertools.product(STATES, repeat=count):
        known = [
            Resolved(f"h{n}", state, None, None, NOW + timedelta(n))
            for n, state in enumerate(states)
        ]
        rows = named(*(item.handle for item in known))
        (row,) = runnable_rows([evaluation("e1")], rows, known, NOW)
        assert row["runnable"] == definition(states), states
        assert row["n_handles"] == count
        assert row["n_reachable"] + row["n_refused"] + row["n_unknown"] == count
        assert row["n_reachable"] == states.count("reachable")
        assert row["n_refused"] == states.count("refused")
        assert row["checked_at"] == NOW + timedelta(max(count - 1, 0))
        assert set(row) == set(tables.SPECS["runnable"].schema.names)


def test_one_row_per_evaluation() -> None:
    """Files that share an id, or have none that counts, make no second row."""
    evals = [
        evaluation("e1"),
        evaluation("e1", "duplicate_id", "b.json"),
        evaluation("e1", path="c.json"),
        evaluation("e2", "invalid_id"),
        evaluation(None, "malformed"),
        {**evaluation("e1"), "repo": "demo/two"},
    ]
    known = [Resolved("h0", "reachable", None, 200, NOW)]
    rows = runnable_rows(evals, named("h0"), known, NOW)
    found = {(row["repo"], row["eval_id"]): row["runnable"] for row in rows}
    assert found == {("demo/one", "e1"): "all", ("demo/two", "e1"): "unknown"}
    assert len(rows) == 2


def test_each_client_has_its_own_hosts(cloud: Upstream, tmp_path: Path) -> None:
    """Signer and storage are each asked under their own endpoint alone."""
    settings = {
        "offline": False,
        "endpoints": {"signer": "http://127.0.0.1:9/sign", "storage": [cloud.url]},
        "http": {"connections": 2, "timeout_s": 1, "tries": 1, "max_wait_s": 0},
    }
    with open_world(settings, tmp_path / "links.jsonl") as world:
        assert world is not None
        assert world.signer.sign("latch://1.node").reason == "refused"
        world.links.keep("latch://1.node", "http://127.0.0.1:9/x")
        found = probe(world, "latch://1.node", now)
    assert (found.status, found.reason) == ("unknown", "host_not_allowed")
    assert cloud.requests() == []
