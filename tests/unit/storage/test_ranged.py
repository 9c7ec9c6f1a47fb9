"""Ranged reads bring the bytes of one version, or say why not."""

from __future__ import annotations

import gzip
import threading
from typing import Any

import pytest

from benchproof.errors import ObjectFailed
from benchproof.storage.identity import Identity
from benchproof.storage.opening import World
from benchproof.storage.probe import probe
from benchproof.storage.ranged import RangedObject
from unit.http.conftest import Step, answer, raw
from unit.storage.conftest import HANDLE, Desk, now, told
from upstream import Upstream

SIZE = 300_000
RANGES = [(0, 10), (65_530, 12), (SIZE - 1, 1), (100, 70_000)]
DATE = "Wed, 21 Oct 2026 07:28:00 GMT"
BYTES = bytes(range(100))


@pytest.fixture
def shared(cloud: Upstream, world: World) -> RangedObject:
    """An object of the embedded upstream, probed, with nothing in the log."""
    cloud.storage.share(HANDLE, size=SIZE)
    found = probe(world, HANDLE, now)
    cloud.log.reset()
    return RangedObject(world.storage, world.links, HANDLE, found.identity, 4)


def expected(cloud: Upstream) -> list[bytes]:
    content = cloud.storage.object_of(HANDLE).content()
    return [content.read(*wanted) for wanted in RANGES]


def failed(source: RangedObject, ranges: list[tuple[int, int]] = RANGES) -> tuple[str, str]:
    with pytest.raises(ObjectFailed) as caught:
        source.read(ranges)
    told(caught.value)
    return caught.value.status, caught.value.reason


def test_ranges_in_order(cloud: Upstream, shared: RangedObject) -> None:
    """The bytes of each range come in order, each by one conditional GET; nothing costs nothing."""
    assert shared.read(RANGES) == expected(cloud)
    assert shared.read([]) == []
    assert shared.read([(5, 0)]) == [b""]
    records = cloud.requests("storage")
    assert {(r.method, r.if_match) for r in records} == {("GET", f'"{shared.identity.etag}"')}
    assert sorted(str(r.range) for r in records) == sorted(
        f"bytes={a}-{a + n - 1}" for a, n in RANGES
    )
    assert (shared.requests, shared.bytes_read) == (len(RANGES), sum(n for _, n in RANGES))
    assert {r.accept_encoding for r in records} == {"identity"}
    assert not any(r.authorization or r.cookie or r.api_key for r in records)


def test_br03_replaced_midway(cloud: Upstream, shared: RangedObject) -> None:
    """Bytes of two versions never meet: a replaced object of the same size fails as changed."""
    assert shared.read(RANGES[:1]) == expected(cloud)[:1]
    cloud.storage.replace_object(HANDLE)
    assert failed(shared) == ("changed", "replaced")


def test_br05_expired_midway(cloud: Upstream, shared: RangedObject) -> None:
    """Expiry costs one more signing for all connections, and no range is lost."""
    cloud.storage.expire_urls()
    assert shared.read(RANGES * 4) == expected(cloud) * 4
    assert len(cloud.requests("sign")) == 1


def test_br05_clock_off(cloud: Upstream, shared: RangedObject) -> None:
    """Expiry is judged by the storage's answer: its clock may be hours ahead of ours."""
    cloud.storage.clock_offset_s = 7200
    assert shared.read(RANGES) == expected(cloud)
    assert len(cloud.requests("sign")) == 1
    cloud.storage.clock_offset_s = 0


def test_br05_second_url_is_dead_too(cloud: Upstream, shared: RangedObject) -> None:
    """A new URL that is refused at once is denied after one more signing."""
    cloud.add("expired", "/storage/")
    assert failed(shared, RANGES[:1]) == ("denied", "expired")
    assert len(cloud.requests("sign")) == 1
    assert len(cloud.requests("storage")) == 2


def test_br05_not_shared_any_more(cloud: Upstream, shared: RangedObject) -> None:
    """When the signer refuses, which it says twice, the row says so: two signings for all connections."""
    barrier = threading.Barrier(4)
    cloud.add("call", "/storage/", times=4, action=lambda _: barrier.wait(5))
    cloud.add("expired", "/storage/")
    cloud.add("latency", "/sign", seconds=0.2)
    cloud.storage.refuse(HANDLE)
    assert failed(shared) == ("denied", "signing_not_shared_or_unknown")
    assert len(cloud.requests("sign")) == 2


@pytest.mark.parametrize(
    ("fault", "params", "outcome"),
    [
        ("denied", {}, ("denied", "access_denied")),
        ("missing", {}, ("missing", "no_such_key")),
        ("ignore_range", {}, ("unsupported", "range_ignored")),
        ("wrong_range", {}, ("unsupported", "wrong_range")),
        ("wrong_total", {}, ("changed", "replaced")),
        ("gzip", {}, ("unsupported", "compressed")),
        ("replaced", {}, ("changed", "replaced")),
        ("garbage", {}, ("unknown", "error_page")),
        ("status", {"status": 500}, ("unknown", "server_error")),
        (
            "status",
            {"status": 503, "body": "<Error><Code>SlowDown</Code></Error>"},
            ("throttled", "throttled"),
        ),
        (
            "status",
            {"status": 503, "headers": {"Retry-After": "90000"}},
            ("throttled", "throttled"),
        ),
        ("reset", {"bytes": -1}, ("unknown", "reset")),
        ("close_early", {"bytes": 3}, ("unknown", "reset")),
        (
            "redirect",
            {"location": "https://evil.test/?X-Amz-Signature=SECRET1"},
            ("unknown", "host_not_allowed"),
        ),
    ],
)
def test_faults(
    cloud: Upstream,
    shared: RangedObject,
    fault: str,
    params: dict[str, Any],
    outcome: tuple[str, str],
) -> None:
    """What outlasts the retries is a status and a reason."""
    cloud.add(fault, "/storage/", **params)
    assert failed(shared) == outcome


@pytest.mark.parametrize("fault", ["reset", "close_early", "status"])
def test_a_bad_moment_passes(cloud: Upstream, shared: RangedObject, fault: str) -> None:
    """One reset, one early end and one 503 are tried again."""
    cloud.add(fault, "/storage/", times=2)
    assert shared.read(RANGES) == expected(cloud)


def test_br10_no_whole_object_for_a_range(cloud: Upstream, world: World) -> None:
    """A server that ignores Range hands out no wrong byte, and isn't let send a whole GB."""
    cloud.storage.share(HANDLE, size=1 << 30)
    identity = probe(world, HANDLE, now).identity
    cloud.log.reset()
    cloud.add("ignore_range", "/storage/")
    source = RangedObject(world.storage, world.links, HANDLE, identity)
    assert failed(source, [(512 << 20, 1000)]) == ("unsupported", "range_ignored")
    assert cloud.counts()["storage"]["bytes_out"] < 8 << 20


def scripted(desk: Desk, step: Step, identity: Identity) -> RangedObject:
    desk.server.script = [step]
    return RangedObject(desk.client, desk.links, HANDLE, identity)


def part(status: int = 206, body: bytes = BYTES[10:20], **headers: str) -> Step:
    usual = {"Content_Range": "bytes 10-19/100", "ETag": '"a"'}
    sent = {name: text for name, text in (usual | headers).items() if text}
    return answer(status, body, **sent)


NAMED = Identity("a", 100, None)
UNNAMED = Identity(None, 100, DATE)


@pytest.mark.parametrize(
    ("step", "identity", "outcome"),
    [
        pytest.param(
            part(Content_Range=""), NAMED, ("unsupported", "wrong_range"), id="no-content-range"
        ),
        pytest.param(
            part(Content_Range="bytes */100"), NAMED, ("unsupported", "wrong_range"), id="star"
        ),
        pytest.param(
            part(Content_Range="bytes 0-9/100"),
            NAMED,
            ("unsupported", "wrong_range"),
            id="other-range",
        ),
        pytest.param(
            part(Content_Range="bytes 10-19/101"), NAMED, ("changed", "replaced"), id="other-total"
        ),
        pytest.param(part(body=BYTES[10:15]), NAMED, ("unknown", "short_answer"), id="short"),
        pytest.param(part(body=b""), NAMED, ("unknown", "short_answer"), id="empty"),
        pytest.param(part(body=BYTES[10:40]), NAMED, ("unsupported", "wrong_range"), id="longer"),
        pytest.param(part(ETag=""), NAMED, ("changed", "replaced"), id="etag-lost"),
        pytest.param(part(ETag='W/"a"'), NAMED, ("changed", "replaced"), id="etag-weak"),
        pytest.param(part(ETag='"b"'), NAMED, ("changed", "replaced"), id="br03-other-etag"),
        pytest.param(
            part(ETag="", Last_Modified="Thu, 22 Oct 2026 07:28:00 GMT"),
            UNNAMED,
            ("changed", "replaced"),
            id="other-date",
        ),
        pytest.param(part(ETag=""), UNNAMED, ("changed", "replaced"), id="date-lost"),
        pytest.param(
            part(Content_Encoding="br"), NAMED, ("unsupported", "compressed"), id="br09-compressed"
        ),
        pytest.param(part(200, BYTES), NAMED, ("unsupported", "range_ignored"), id="br10-whole"),
        pytest.param(
            part(200, b"<html>in</html>", ETag=""), NAMED, ("unknown", "error_page"), id="html"
        ),
        pytest.param(part(204, b""), NAMED, ("unknown", "http_204"), id="204"),
        pytest.param(part(304, b""), NAMED, ("unknown", "http_304"), id="304"),
        pytest.param(part(412, b""), NAMED, ("changed", "replaced"), id="412"),
        pytest.param(
            part(416, b"", Content_Range="bytes */5"),
            NAMED,
            ("changed", "replaced"),
            id="416-shrunk",
        ),
        pytest.param(
            part(416, b"", Content_Range="bytes */100"),
            NAMED,
            ("unsupported", "range_refused"),
            id="416",
        ),
        pytest.param(
            part(416, b"", Content_Range=""),
            NAMED,
            ("unsupported", "range_refused"),
            id="416-no-total",
        ),
        pytest.param(
            part(Content_Range="", Content_Type="multipart/byteranges; boundary=x"),
            NAMED,
            ("unsupported", "wrong_range"),
            id="several-ranges",
        ),
        pytest.param(
            raw(b"HTTP/1.1 206 X\r\nContent-Length: 10\r\n\r\nabc"),
            NAMED,
            ("unknown", "reset"),
            id="cut-off",
        ),
        pytest.param(raw(b"junk"), NAMED, ("unknown", "malformed"), id="no-http"),
    ],
)
def test_odd_answers(desk: Desk, step: Step, identity: Identity, outcome: tuple[str, str]) -> None:
    """An answer that isn't exactly what was asked for gives no byte."""
    assert failed(scripted(desk, step, identity), [(10, 10)]) == outcome


@pytest.mark.parametrize(
    ("step", "identity", "condition"),
    [
        pytest.param(part(), NAMED, ("If-Match", '"a"'), id="etag"),
        pytest.param(
            part(ETag="", Last_Modified=DATE), UNNAMED, ("If-Unmodified-Since", DATE), id="date"
        ),
        pytest.param(
            part(Content_Range="bytes 10-19/*"), NAMED, ("If-Match", '"a"'), id="unknown-total"
        ),
        pytest.param(part(Content_Encoding="identity"), NAMED, ("If-Match", '"a"'), id="identity"),
    ],
)
def test_good_answers(
    desk: Desk, step: Step, identity: Identity, condition: tuple[str, str]
) -> None:
    """An exact answer is taken; the version is in the request."""
    assert scripted(desk, step, identity).read([(10, 10)]) == [BYTES[10:20]]
    assert desk.sent(condition[0]) == [condition[1]]


@pytest.mark.parametrize("text", [b"<html><body>", b"<Error><Code>AccessDenied</Code></Error>"])
def test_a_part_may_hold_any_text(desk: Desk, text: bytes) -> None:
    """Bytes of an object that read like a page are bytes of the object."""
    step = answer(206, text, Content_Range=f"bytes 0-{len(text) - 1}/100", ETag='"a"')
    assert scripted(desk, step, NAMED).read([(0, len(text))]) == [text]


def test_br09_gzip_is_not_undone(desk: Desk) -> None:
    """A compressed answer is refused though its bytes might fit."""
    body = gzip.compress(BYTES)[:10]
    assert failed(scripted(desk, part(body=body, Content_Encoding="gzip"), NAMED), [(10, 10)]) == (
        "unsupported",
        "compressed",
    )


def test_stalled(cloud: Upstream, world: World, shared: RangedObject) -> None:
    """A body that stops is stalled, not missing."""
    cloud.add("stall", "/storage/", bytes=5)
    world.storage.timeout_s, world.storage.tries = 0.2, 1
    assert failed(shared, RANGES[:1]) == ("stalled", "stalled")
