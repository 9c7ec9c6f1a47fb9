"""One object, brought through everything that a server, a network and earlier runs do to it."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from benchproof.errors import ObjectFailed
from benchproof.storage.identity import Identity
from campaign.site import HANDLE, Site
from unit.storage.fetch.conftest import MIB, SIZE

STORAGE = "GET /storage/"


def fails(site: Site, status: str, reason: str, **options: Any) -> None:
    """Assert how a fetch fails, that nothing gets a final name, and that no signature is told."""
    with pytest.raises(ObjectFailed) as caught:
        site.fetch(**options)
    assert (caught.value.status, caught.value.reason) == (status, reason)
    assert site.finals() == []
    assert "X-Amz" not in repr(caught.value) + str(caught.value.__context__)


# --- the usual case ------------------------------------------------------------------------------


@pytest.mark.parametrize("connections", [1, 3, 16])
def test_an_object_is_brought_once(site: Site, connections: int) -> None:
    record = site.fetch(connections=connections)
    assert record.sha256 == site.object.sha256()
    assert (record.handle, record.size, record.bytes_fetched) == (HANDLE, SIZE, SIZE)
    assert record.identity.etag == site.identity.etag
    assert site.served == SIZE
    assert [path.name for path in site.finals()] == [f"{record.etag}.h5ad"]
    assert site.store.root / record.path == site.finals()[0]
    assert site.parts() == []


def test_the_second_time_nothing_is_asked(site: Site) -> None:
    first = site.fetch()
    asked = len(site.upstream.requests())
    second = site.fetch()
    assert len(site.upstream.requests()) == asked
    assert (second.sha256, second.bytes_fetched) == (first.sha256, 0)


def test_files_and_folders_are_private(site: Site) -> None:
    old = os.umask(0)
    try:
        record = site.fetch()
    finally:
        os.umask(old)
    path = site.store.root / record.path
    modes = [stat.S_IMODE(p.stat().st_mode) for p in (path, Path(f"{path}.json"), path.parent)]
    assert modes == [0o600, 0o600, 0o700]


def test_requests_say_what_they_want(site: Site) -> None:
    """BR-12, BR-09: no credentials, no compression, and the version by name."""
    site.fetch()
    for request in site.upstream.requests("storage"):
        assert request.if_match == f'"{site.identity.etag}"'
        assert request.accept_encoding == "identity"
        assert not any((request.authorization, request.cookie, request.api_key))


def test_progress_is_told(site: Site) -> None:
    told: list[int] = []
    site.fetch(progress=told.append)
    assert max(told) == SIZE
    assert len(told) == -(-SIZE // (256 * 1024))


def test_a_single_part_etag_proves_the_content(site: Site) -> None:
    site.share(data=os.urandom(700_000))
    record = site.fetch()
    assert (record.proof, record.md5) == ("md5", site.identity.etag)


def test_a_multipart_etag_proves_the_content(site: Site) -> None:
    """BR-03 (b)."""
    data = os.urandom(11 * MIB)
    parts = [hashlib.md5(data[at : at + 8 * MIB]).digest() for at in (0, 8 * MIB)]
    etag = hashlib.md5(b"".join(parts)).hexdigest() + "-2"
    site.share(data=data)
    site.replace(etag=f'"{etag}"', data=data)
    record = site.fetch()
    assert (record.proof, record.etag, record.md5) == ("parts", etag, None)


def test_a_multipart_etag_that_fits_no_usual_size_is_no_damage(site: Site) -> None:
    """BR-03 (b)."""
    site.replace(etag='"0123456789abcdef0123456789abcdef-14"')
    record = site.fetch()
    assert (record.proof, record.etag) == ("size", "0123456789abcdef0123456789abcdef-14")


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 256 * 1024])
def test_any_size(site: Site, size: int) -> None:
    data = os.urandom(size)
    site.share(data=data)
    record = site.fetch(chunk_bytes=65_536)
    assert record.sha256 == hashlib.sha256(data).hexdigest()
    assert (record.size, record.proof) == (size, "md5")


def test_an_object_whose_size_nobody_knows(site: Site) -> None:
    record = site.fetch(Identity(None, None, None))
    assert record.sha256 == site.object.sha256()
    assert record.etag == site.identity.etag


def test_an_object_without_etag(site: Site) -> None:
    """The date stands in for it."""
    modified = "Mon, 13 Jul 2026 00:00:00 GMT"
    site.upstream.add("headers", STORAGE, headers={"ETag": "", "Last-Modified": modified})
    record = site.fetch(Identity(None, SIZE, modified))
    assert (record.etag, record.proof) == (None, "size")
    assert record.sha256 == site.object.sha256()
    assert record.path.startswith("4711/none-")
    site.finals()[0].unlink()  # the site knows versions by their ETag alone


# --- breaks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["reset", "close_early", "stall"])
@pytest.mark.parametrize("at", [-1, 0, 1, 70_000])
def test_a_break_costs_what_is_on_the_wire(site: Site, kind: str, at: int) -> None:
    """BR-15 (b), BR-50 (b): what was received is never asked for again."""
    site.upstream.add(kind, STORAGE, times=2, after=2, bytes=at)
    record = site.fetch(connections=2)
    assert record.sha256 == site.object.sha256()
    assert record.bytes_fetched == SIZE
    assert site.served == SIZE


def test_breaks_without_end_that_bring_something(site: Site) -> None:
    site.upstream.add("reset", STORAGE, bytes=20_000, spread=60_000)
    record = site.fetch(tries=2)
    assert record.sha256 == site.object.sha256()
    assert site.served <= 1.1 * SIZE


@pytest.mark.parametrize(
    ("kind", "parameters", "status", "reason"),
    [
        ("reset", {"bytes": 0}, "unknown", "reset"),
        ("reset", {"bytes": 5}, "unknown", "reset"),
        ("close_early", {"bytes": 0}, "unknown", "reset"),
        ("stall", {"bytes": 100}, "stalled", "stalled"),
        ("stall", {"bytes": -1}, "stalled", "timeout"),
        ("drip", {"chunk": 1, "interval": 0.05}, "stalled", "stalled"),
        ("status", {"status": 500}, "unknown", "server_error"),
        (
            "status",
            {"status": 503, "body": "<Error><Code>SlowDown</Code></Error>"},
            *["throttled"] * 2,
        ),
        ("status", {"status": 404}, "missing", "http_404"),
        ("missing", {}, "missing", "no_such_key"),
        ("denied", {}, "denied", "access_denied"),
        ("garbage", {}, "unknown", "error_page"),
        ("gzip", {}, "unknown", "compressed"),
        ("wrong_range", {}, "unknown", "wrong_range"),
        ("wrong_total", {}, "unknown", "wrong_total"),
        ("headers", {"headers": {"ETag": ""}}, "unknown", "no_etag"),
    ],
)
def test_what_stays_broken_is_told(
    site: Site, kind: str, parameters: dict[str, Any], status: str, reason: str
) -> None:
    site.upstream.add(kind, STORAGE, after=3, **parameters)
    fails(site, status, reason, tries=2, connections=2)
    # What has arrived stays, and the next run asks for nothing of it.
    kept = site.journalled()
    assert kept
    site.upstream.faults.clear()
    asked = len(site.ranges())
    record = site.fetch()
    assert record.sha256 == site.object.sha256()
    assert not kept & site.blocks_asked(asked)
    assert site.parts() == []


def test_a_slow_connection_that_goes_on_is_left_alone(site: Site) -> None:
    """BR-15 (c)."""
    site.share(size=400_000)
    site.upstream.add("pace", STORAGE, rate=200_000)
    assert site.fetch(connections=1).size == 400_000
    assert len(site.ranges()) == 2


# --- URLs ----------------------------------------------------------------------------------------


def test_an_expired_url_is_renewed_once_for_all(site: Site) -> None:
    """BR-05: not counted as a try, on one more signing, and nothing is brought twice."""
    site.upstream.add("call", STORAGE, times=1, after=4, action=lambda _: expire(site))
    record = site.fetch(connections=3, tries=1)
    assert record.sha256 == site.object.sha256()
    assert site.served - SIZE < 3 * 1000  # the refusals' bodies
    assert len(site.upstream.requests("sign")) == 2


def expire(site: Site) -> None:
    site.upstream.storage.expire_urls()


def test_a_url_that_dies_at_birth_is_denied(site: Site) -> None:
    site.upstream.add("expired", STORAGE, after=4)
    fails(site, "denied", "expired")
    assert len(site.upstream.requests("sign")) <= 2
    assert len(site.parts()) == 1


def test_a_clock_that_is_off_does_not_matter(site: Site) -> None:
    site.upstream.storage.clock_offset_s = 3600.0
    assert site.fetch().size == SIZE
    assert len(site.upstream.requests("sign")) == 1


def test_a_handle_that_the_signer_refuses(site: Site) -> None:
    site.upstream.storage.refuse(HANDLE)
    identity = Identity("0" * 32, 5, None)
    fails(site, "denied", "signing_not_shared_or_unknown", identity=identity)


# --- another version -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [None, SIZE + 70_000, SIZE - 70_000])
def test_a_replaced_object_is_brought_anew(site: Site, size: int | None) -> None:
    """BR-03 (a): never a mixture, and the record is of the bytes that are kept."""
    old = site.identity
    changes = {} if size is None else {"size": size}
    site.upstream.add("call", STORAGE, times=1, after=4, action=lambda _: site.replace(**changes))
    record = site.fetch(old)
    assert record.etag == site.identity.etag != old.etag
    assert record.sha256 == site.object.sha256()
    assert len(site.finals()) == 1
    assert site.parts() == []


def test_replaced_before_the_fetch(site: Site) -> None:
    old = site.identity
    site.replace(size=900_000)
    record = site.fetch(old)
    assert (record.size, record.sha256) == (900_000, site.object.sha256())


def test_an_object_that_changes_all_the_time(site: Site) -> None:
    site.upstream.add("call", STORAGE, action=lambda _: site.replace())
    fails(site, "changed", "replaced")


def test_a_new_version_may_be_too_large(site: Site) -> None:
    old = site.identity
    site.replace(size=2 * SIZE)
    fails(site, "changed", "too_large", identity=old, max_bytes=SIZE)
    assert site.served < 10_000


def test_a_version_that_came_while_nobody_looked(site: Site) -> None:
    """Resume asks for the version of the journal."""
    old = site.identity
    site.upstream.add("reset", STORAGE, after=4, bytes=0)
    fails(site, "unknown", "reset", tries=2)
    site.upstream.faults.clear()
    site.replace()
    record = site.fetch(old)
    assert record.sha256 == site.object.sha256()
    assert site.parts() == []


# --- servers without ranges ----------------------------------------------------------------------


def test_a_server_that_ignores_ranges(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """BR-01."""
    site.upstream.add("ignore_range", STORAGE)
    record = site.fetch()
    assert record.sha256 == site.object.sha256()
    assert site.served == SIZE
    assert caplog.text.count("server ignored Range, restarted") == 1


@pytest.mark.parametrize("etag", [True, False])
def test_a_resume_that_is_answered_in_full(
    site: Site, etag: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """BR-01: N bytes, a drop, 200 with everything, again a drop, again 200."""
    modified = "Mon, 13 Jul 2026 00:00:00 GMT"
    identity = site.identity if etag else Identity(None, SIZE, modified)
    if not etag:
        site.upstream.add("headers", STORAGE, headers={"ETag": "", "Last-Modified": modified})
    site.upstream.add("reset", STORAGE, times=2, after=1, bytes=200_000)
    site.upstream.add("ignore_range", STORAGE, after=1)
    record = site.fetch(identity, connections=1)
    assert record.sha256 == site.object.sha256()
    assert record.size == SIZE
    assert caplog.text.count("server ignored Range, restarted") == 1
    if not etag:
        site.finals()[0].unlink()


def test_one_connection_meets_a_cache_that_ignores_ranges(site: Site) -> None:
    site.upstream.add("ignore_range", STORAGE, times=1, after=3)
    record = site.fetch()
    assert record.sha256 == site.object.sha256()


def test_whole_answers_that_never_end_well(site: Site) -> None:
    site.upstream.add("ignore_range", STORAGE)
    site.upstream.add("reset", STORAGE, bytes=1_000_000)
    fails(site, "unsupported", "range_ignored", tries=9)
    assert len(site.ranges()) == 4


# --- damage --------------------------------------------------------------------------------------


def test_wrong_bytes_are_never_kept(site: Site) -> None:
    """BR-18: run 1 says mismatch and keeps nothing, run 2 brings it afresh."""
    site.share(data=os.urandom(2 * MIB))
    site.upstream.add("wrong_bytes", STORAGE, times=1)
    fails(site, "mismatch", "md5")
    assert site.parts() == []
    served = site.served
    assert site.fetch().proof == "md5"
    assert site.served == served + 2 * MIB
    site.finals()[0].unlink()
    site.upstream.add("wrong_bytes", STORAGE)
    for _ in range(2):
        fails(site, "mismatch", "md5")


@pytest.mark.parametrize("method", ["aws:kms", "aws:kms:dsse"])
def test_the_etag_of_an_encrypted_object_is_no_md5(site: Site, method: str) -> None:
    site.upstream.add("headers", STORAGE, headers={"x-amz-server-side-encryption": method})
    site.replace(etag=f'"{"0" * 32}"')
    record = site.fetch()
    assert (record.proof, record.sha256) == ("size", site.object.sha256())


def test_the_etag_of_a_managed_key_is_an_md5(site: Site) -> None:
    site.upstream.add("headers", STORAGE, headers={"x-amz-server-side-encryption": "AES256"})
    site.replace(etag=f'"{"0" * 32}"')
    fails(site, "mismatch", "md5")


# --- waits ---------------------------------------------------------------------------------------


class Clock:
    """A clock that only waits move."""

    def __init__(self) -> None:
        self.time, self.waits = 0.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds

    def __call__(self) -> float:
        return self.time


def test_a_wait_that_was_asked_for_is_kept(site: Site) -> None:
    clock = Clock()
    site.upstream.add(
        "status", STORAGE, times=1, after=2, status=503, headers={"Retry-After": "40"}
    )
    site.fetch(connections=1, sleep=clock.sleep, clock=clock)
    assert 40 <= sum(clock.waits) <= 44


def test_a_wait_beyond_the_budget_ends_it(site: Site) -> None:
    """BR-11 (c)."""
    clock = Clock()
    site.upstream.add("status", STORAGE, after=2, status=503, headers={"Retry-After": "86400"})
    options = {"connections": 1, "sleep": clock.sleep, "clock": clock, "max_wait_s": 60}
    fails(site, "throttled", "throttled", **options)
    assert clock.waits == []


def test_refusals_are_asked_at_most_three_times_a_second(site: Site) -> None:
    site.upstream.add("status", STORAGE, after=2, times=5, status=503)
    clock = Clock()
    site.fetch(connections=1, tries=9, sleep=clock.sleep, clock=clock)
    assert len(clock.waits) == 5
    assert min(clock.waits) > 1 / 3
