"""The data behind the handles, by real runs: asked for once, brought whole, no secret left behind."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Bench, kill_group
from upstream import Upstream
from upstream.objects import SECURITY_TOKEN

pytestmark = pytest.mark.workflow

CHUNK = 65_536


@pytest.fixture
def wanting(bench: Bench) -> Bench:
    """A bench that fetches the smallest snapshot, in small pieces."""
    bench.settings["fetch"] = {"select": "smallest", "chunk_bytes": CHUNK, "connections": 2}
    return bench


@pytest.fixture
def peeked(wanting: Bench, audited: Callable[..., Path]) -> Bench:
    """The same, with everything before the fetch done, through another upstream."""
    wanting.go_on_from(audited("peek"))
    return wanting


def smallest(bench: Bench) -> dict[str, object]:
    rows = [r for r in bench.rows("objects") if r["container"] == "hdf5"]
    return min(rows, key=lambda row: (row["size_bytes"], row["handle"]))


def test_a_second_run_signs_the_unknown_alone(bench: Bench, upstream: Upstream) -> None:
    """Law 5: what was learnt is journalled; an unanswered handle counts as nothing else."""
    fault = upstream.add("reset", "POST /sign", after=3, bytes=-1)
    bench.audit("handles")
    handles = {row["handle"]: row for row in bench.rows("handles")}
    unknown = [row for row in handles.values() if row["status"] == "unknown"]
    assert {row["reason"] for row in unknown} == {"reset"}
    assert 0 < len(unknown) < len(handles)
    assert {row["runnable"] for row in bench.rows("runnable")} <= {"all", "unknown"}
    assert bench.cli("pending").stdout.count("resolve:") == len(unknown)
    upstream.faults.remove(fault)
    upstream.log.reset()
    bench.audit("handles")
    refused = [row for row in bench.rows("handles") if row["status"] == "refused"]
    assert {row["status"] for row in bench.rows("handles")} == {"reachable", "refused"}
    # A refusal is asked for twice before it is believed.
    assert len(upstream.requests("sign")) == len(unknown) + len(refused)
    upstream.log.reset()
    bench.audit("sizes")
    probed = [row["handle"] for row in bench.rows("objects")]
    assert len(upstream.requests("storage")) == len(probed)


def test_an_object_that_stalls_is_probed_again_alone(bench: Bench, upstream: Upstream) -> None:
    bench.audit("handles")
    handle = next(r["handle"] for r in bench.rows("handles") if r["status"] == "reachable")
    key = upstream.storage.object_of(handle).key
    fault = upstream.add("status", f"GET /storage/{key}", status=503)
    assert bench.audit("sizes").count("not sized: 1 unknown (server_error)") == 1
    upstream.faults.remove(fault)
    upstream.log.reset()
    bench.audit("sizes")
    assert [record.path for record in upstream.requests("storage")] == [f"/storage/{key}"]
    assert {row["status"] for row in bench.rows("objects")} == {"ok"}
    assert not any("HEAD" in record.method for record in upstream.requests())


def test_a_killed_fetch_goes_on_where_it_was(peeked: Bench, upstream: Upstream) -> None:
    """SIGKILL costs a chunk per connection; what the journal holds is never asked for again."""
    row = smallest(peeked)
    handle, size = str(row["handle"]), int(str(row["size_bytes"]))
    fault = upstream.add("drip", "GET /storage", chunk=16_384, interval=0.02)
    process = peeked.start("fetch")
    deadline = time.monotonic() + 60
    while sum(r.bytes_out for r in upstream.requests("storage")) < size // 4:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    kill_group(process)
    upstream.faults.remove(fault)
    peeked.audit("fetch")
    found = peeked.rows("files")
    assert [(r["handle"], r["status"], r["size_bytes"]) for r in found] == [(handle, "ok", size)]
    assert found[0]["sha256"] == upstream.storage.object_of(handle).sha256()
    path = peeked.vault / str(found[0]["path"])
    assert hashlib.sha256(path.read_bytes()).hexdigest() == found[0]["sha256"]
    # What the server handed to a socket just before the kill counts as sent.
    sockets = 2 * (1 << 20)
    served = sum(r.bytes_out for r in upstream.requests("storage"))
    assert served <= size + 2 * CHUNK + sockets


def test_a_fetch_that_failed_is_made_again_and_so_is_a_file_that_was_deleted(
    peeked: Bench, upstream: Upstream
) -> None:
    """What stayed unknown, or was lost since, is asked for by the next run of the date, and only then."""
    row = smallest(peeked)
    key = upstream.storage.object_of(str(row["handle"])).key
    fault = upstream.add("reset", f"GET /storage/{key}", bytes=-1)
    peeked.audit("fetch")
    assert [(r["status"], r["reason"]) for r in peeked.rows("files")] == [("unknown", "reset")]
    upstream.faults.remove(fault)
    peeked.audit("fetch")
    (found,) = peeked.rows("files")
    assert (found["status"], found["size_bytes"]) == ("ok", row["size_bytes"])
    path = peeked.vault / found["path"]
    upstream.log.reset()
    peeked.audit("fetch")
    assert not upstream.requests()
    path.unlink()
    assert "file_missing" in peeked.cli("pending").stdout
    peeked.audit("fetch")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == found["sha256"]
    # What is here already needs no allowance, and what was deleted does.
    peeked.settings |= {
        "date": "2026-01-16",
        "fetch": peeked.settings["fetch"] | {"max_total_bytes": 1000},
    }
    peeked.audit("fetch")
    path.unlink()
    done = peeked.run("fetch")
    assert f"set it to {row['size_bytes']} or more" in done.stdout.splitlines()[-1]
    assert not path.exists()


def test_an_object_that_is_replaced_before_its_fetch_has_not_changed_its_shape(
    peeked: Bench, upstream: Upstream
) -> None:
    """BR-03: the peek saw another version, which says nothing of this one."""
    rows = [r for r in peeked.rows("objects") if r["container"] == "hdf5"]
    first, second = sorted(rows, key=lambda r: (r["size_bytes"], r["handle"]))[:2]
    other = upstream.storage.object_of(second["handle"])
    upstream.storage.replace_object(first["handle"], path=other.path, size=other.size)
    peeked.audit("fetch")
    (found,) = peeked.rows("files")
    assert (found["status"], found["reason"]) == ("ok", "newer_than_probe")
    assert found["sha256"] == other.sha256()


def test_more_than_was_allowed_is_refused_before_the_first_byte(
    peeked: Bench, upstream: Upstream
) -> None:
    """The refusal says what to set; the tables are written, and the report with them."""
    peeked.settings["fetch"] = {"select": "all", "max_total_bytes": 1_000_000}
    asked = len(upstream.requests())
    done = peeked.run("fetch")
    total = sum(r["size_bytes"] for r in peeked.rows("objects") if r["container"] == "hdf5")
    assert done.returncode == 1
    assert f"set it to {total} or more" in done.stdout.splitlines()[-1]
    assert {(r["status"], r["reason"]) for r in peeked.rows("files")} == {
        ("too_large", "max_total_bytes")
    }
    assert len(upstream.requests()) == asked


def test_a_later_date_asks_one_signing_and_one_probe(peeked: Bench, upstream: Upstream) -> None:
    """An unchanged object is neither looked into nor fetched again."""
    peeked.audit("fetch")
    before = {name: peeked.rows(name) for name in ("contents", "files")}
    peeked.settings["date"] = "2026-01-16"
    upstream.log.reset()
    peeked.audit("fetch")
    signed, stored = upstream.requests("sign"), upstream.requests("storage")
    reachable = [r for r in peeked.rows("handles") if r["status"] == "reachable"]
    refused = [r for r in peeked.rows("handles") if r["status"] == "refused"]
    assert len(signed) == len(reachable) + 2 * len(refused)
    assert len(stored) == len(reachable)
    assert all(record.bytes_out <= 4096 for record in stored)
    after = {name: peeked.rows(name) for name in ("contents", "files")}
    kept = [r for r in before["contents"] if r["container"] == "hdf5"]
    assert kept == [r for r in after["contents"] if r["container"] == "hdf5"]
    assert [r["sha256"] for r in before["files"]] == [r["sha256"] for r in after["files"]]


def test_no_part_of_a_signed_url_is_left_behind(wanting: Bench, upstream: Upstream) -> None:
    """BR-13: whatever fails, hosts and paths may be told, signatures and tokens never."""
    wanting.audit("handles")
    good = [r["handle"] for r in wanting.rows("handles") if r["status"] == "reachable"]
    keys = [upstream.storage.object_of(handle).key for handle in good]
    upstream.add("denied", keys[0])
    upstream.add("reset", keys[1], bytes=-1)
    upstream.add("garbage", keys[2])
    upstream.add("redirect", keys[3], location="http://127.0.0.1:9/else?X-Amz-Signature=SECRET1")
    queries: list[str] = []
    upstream.add("call", "GET /storage", action=lambda request: queries.append(request.query))
    output = wanting.audit("sizes", "fetch", "--verbose")
    names = ("X-Amz-Signature=", "X-Amz-Credential=")
    parts = {part for query in queries for part in query.split("&") if part.startswith(names)}
    signatures = {part.partition("=")[2] for part in parts}
    secrets = [SECURITY_TOKEN, "SECRET1", *signatures]
    assert len(signatures) > 4
    left = [path for path in wanting.folder.rglob("*") if path.is_file()]
    assert not [p for p in left if p.name == "links.jsonl"]
    for path in left:
        data = path.read_bytes()
        assert not [secret for secret in secrets if secret.encode() in data], path
    assert not [secret for secret in secrets if secret in output]
    statuses = {row["handle"]: (row["status"], row["reason"]) for row in wanting.rows("objects")}
    assert statuses[good[0]] == ("denied", "access_denied")
    assert statuses[good[1]] == ("unknown", "reset")
    assert statuses[good[2]] == ("unknown", "error_page")
    assert statuses[good[3]] == ("unknown", "host_not_allowed")


def test_what_was_asked_is_in_the_traffic_table(peeked: Bench) -> None:
    """Jobs of one stage that run side by side are added up."""
    peeked.audit(f"{Path(peeked.settings['results'])}/{peeked.settings['date']}/traffic.parquet")
    rows = {row["stage"]: row for row in peeked.rows("traffic")}
    assert {"pin", "resolve", "probe", "peek", "fetch"} <= set(rows)
    assert rows["fetch"]["bytes_in"] >= int(str(smallest(peeked)["size_bytes"]))
