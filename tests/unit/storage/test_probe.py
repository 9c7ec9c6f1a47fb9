"""What one ranged GET says of an object, whatever comes back."""

from __future__ import annotations

import gzip
import threading
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from benchproof.journal import Journal
from benchproof.storage.opening import World
from benchproof.storage.probe import Probed, probe, probe_all
from benchproof.storage.walker.parse import SIGNATURE
from unit.http.conftest import Client, Step, answer, raw
from unit.storage.conftest import (
    HANDLE,
    NO_SECRET,
    NOW,
    SECRET,
    Desk,
    Opener,
    Scripted,
    good,
    now,
)
from upstream import Upstream

SIZE = 1_843_320
H5 = SIGNATURE + b"\0" * 4088
ROW = tuple[str, str | None, int | None, str]


def outcome(found: Probed) -> ROW:
    return found.status, found.reason, found.size, found.container


def test_one_get(cloud: Upstream, world: World) -> None:
    """Size, container, version and date come from one GET of 4 kB, with nothing that S3 refuses."""
    cloud.storage.share(HANDLE, size=SIZE)
    found = probe(world, HANDLE, now)
    (record,) = cloud.requests("storage")
    assert (record.method, record.range, record.accept_encoding) == (
        "GET",
        "bytes=0-4095",
        "identity",
    )
    assert not any((record.authorization, record.cookie, record.api_key))
    assert outcome(found) == ("ok", None, SIZE, "hdf5")
    assert f'"{found.identity.etag}"' == cloud.storage.object_of(HANDLE).content().etag
    assert found.row()["last_modified"] == datetime(2026, 7, 15, 3, 33, 20, tzinfo=UTC)
    assert set(found.row()) == set(tables.SPECS["objects"].schema.names)
    assert Probed.of(HANDLE, found.record()) == found


@pytest.mark.parametrize(
    "kind", ["hdf5", "gzip", "bgzf", "zip", "parquet", "bigwig", "tar", "text"]
)
@pytest.mark.parametrize("size", [300, 4095, 4096, 4097])
def test_containers(cloud: Upstream, world: World, kind: str, size: int) -> None:
    """Each container is told, also of an object smaller than what is asked for."""
    cloud.storage.share(HANDLE, size=size, container=kind)
    assert outcome(probe(world, HANDLE, now)) == ("ok", None, size, kind)


def test_an_empty_object(cloud: Upstream, world: World) -> None:
    """A 416 of nothing is an empty object."""
    cloud.storage.share(HANDLE, data=b"")
    assert outcome(probe(world, HANDLE, now)) == ("ok", None, 0, "empty")


@pytest.mark.parametrize(
    ("fault", "params", "expected"),
    [
        pytest.param("denied", {}, ("denied", "access_denied", None, "unknown"), id="br06-denied"),
        pytest.param("missing", {}, ("missing", "no_such_key", None, "unknown"), id="br06-missing"),
        pytest.param(
            "expired", {}, ("denied", "expired", None, "unknown"), id="br05-expired-twice"
        ),
        pytest.param("expired", {"times": 1}, ("ok", None, SIZE, "hdf5"), id="br05-expired-once"),
        pytest.param(
            "ignore_range", {}, ("ok", "range_ignored", SIZE, "hdf5"), id="br10-range-ignored"
        ),
        pytest.param("gzip", {}, ("ok", "compressed", None, "hdf5"), id="br09-compressed"),
        pytest.param("no_length", {}, ("ok", None, SIZE, "hdf5"), id="chunked-206"),
        pytest.param(
            "wrong_range", {}, ("unsupported", "wrong_range", None, "unknown"), id="wrong-range"
        ),
        pytest.param(
            "wrong_total",
            {"delta": -SIZE},
            ("unsupported", "wrong_range", None, "unknown"),
            id="total-0",
        ),
        pytest.param(
            "garbage", {}, ("unknown", "error_page", None, "error_page"), id="sign-in-page"
        ),
        pytest.param(
            "status", {"status": 500}, ("unknown", "server_error", None, "unknown"), id="500"
        ),
        pytest.param(
            "status",
            {"status": 503, "body": "SlowDown"},
            ("throttled", "throttled", None, "unknown"),
            id="slow-down",
        ),
        pytest.param(
            "status", {"status": 503, "times": 2}, ("ok", None, SIZE, "hdf5"), id="a-bad-moment"
        ),
        pytest.param("reset", {"bytes": -1}, ("unknown", "reset", None, "unknown"), id="reset"),
        pytest.param(
            "close_early", {"bytes": 9}, ("unknown", "reset", None, "unknown"), id="early-end"
        ),
        pytest.param(
            "redirect",
            {"location": f"https://evil.test/?X-Amz-Signature={SECRET}"},
            ("unknown", "host_not_allowed", None, "unknown"),
            id="another-host",
        ),
    ],
)
def test_faults(
    cloud: Upstream, world: World, fault: str, params: dict[str, Any], expected: ROW
) -> None:
    """Each fault is what it is, and never a wrong size."""
    cloud.storage.share(HANDLE, size=SIZE)
    cloud.add(fault, "/storage/", **params)
    assert outcome(probe(world, HANDLE, now)) == expected


def test_br06_no_head(cloud: Upstream, world: World, tmp_path: Path) -> None:
    """No HEAD is sent, whatever happens; a refused GET is denied, an absent key missing."""
    for handle in ("latch://1.node", "latch://2.node"):
        cloud.storage.share(handle, size=SIZE)
    cloud.add("denied", "/storage/.*/2")
    cloud.storage.share("latch://3.node", size=SIZE)
    cloud.add("missing", "/storage/.*/3")
    wanted = [f"latch://{n}.node" for n in (1, 2, 3)]
    found = probe_all(wanted, world, Journal(tmp_path / "j"), connections=2, now=now)
    assert [(item.status, item.size) for item in found] == [
        ("ok", SIZE),
        ("denied", None),
        ("missing", None),
    ]
    assert {record.method for record in cloud.requests("storage")} == {"GET"}


def test_br05_signed_again_once(cloud: Upstream, world: World) -> None:
    """A dead URL costs one signing more."""
    cloud.storage.share(HANDLE, size=SIZE)
    world.links.url(HANDLE)
    cloud.storage.expire_urls()
    assert probe(world, HANDLE, now).size == SIZE
    assert len(cloud.requests("sign")) == 2


def test_br05_refused_meanwhile(cloud: Upstream, world: World) -> None:
    """A handle that isn't shared any more is denied by the signer."""
    cloud.storage.share(HANDLE, size=SIZE)
    world.links.url(HANDLE)
    cloud.storage.expire_urls()
    cloud.storage.refuse(HANDLE)
    found = probe(world, HANDLE, now)
    assert (found.status, found.reason) == ("denied", "signing_not_shared_or_unknown")


def test_br10_a_probe_stays_small(cloud: Upstream, world: World) -> None:
    """Of a whole GB in answer to a range, the beginning is read and its length believed."""
    cloud.storage.share(HANDLE, size=1 << 30)
    cloud.add("ignore_range", "/storage/")
    assert outcome(probe(world, HANDLE, now)) == ("ok", "range_ignored", 1 << 30, "hdf5")
    assert cloud.counts()["storage"]["bytes_out"] < 4 << 20


def test_br09_a_compressed_text(cloud: Upstream, world: World) -> None:
    """A body of 1123 bytes that comes as 298 has no size that is 298."""
    cloud.storage.share(HANDLE, data=(b'{"a": 1}' * 141)[:1123], container="text")
    cloud.add("gzip", "/storage/")
    found = probe(world, HANDLE, now)
    assert outcome(found) == ("ok", "compressed", None, "text")


def reply(status: int, body: bytes, **headers: str) -> Step:
    return answer(status, body, **headers)


def ranged(body: bytes = H5, total: str = "99999", last: int | None = None, **headers: str) -> Step:
    end = len(body) - 1 if last is None else last
    return answer(206, body, Content_Range=f"bytes 0-{end}/{total}", ETag='"a"', **headers)


CHUNKED = (
    b'HTTP/1.1 200 OK\r\nETag: "a"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
)
CLOSED = b'HTTP/1.1 200 OK\r\nETag: "a"\r\nConnection: close\r\n\r\n'
NO_RANGE = b"<Error><Code>InvalidRange</Code><ActualObjectSize>%d</ActualObjectSize></Error>"
DEFLATED = zlib.compress(H5 * 40, 0)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        pytest.param(ranged(), ("ok", None, 99999, "hdf5"), id="plain"),
        pytest.param(ranged(total="*"), ("ok", "size_unknown", None, "hdf5"), id="unknown-total"),
        pytest.param(
            ranged(total="9223372036854775807"), ("ok", None, 2**63 - 1, "hdf5"), id="largest"
        ),
        pytest.param(
            ranged(total="9223372036854775808"),
            ("ok", "size_unknown", None, "hdf5"),
            id="too-large",
        ),
        pytest.param(
            ranged(total="9" * 40),
            ("unsupported", "wrong_range", None, "unknown"),
            id="forty-digits",
        ),
        pytest.param(
            reply(206, H5, ETag='"a"'),
            ("unsupported", "wrong_range", None, "unknown"),
            id="no-content-range",
        ),
        pytest.param(
            reply(206, H5, Content_Range="bytes */99999"),
            ("unsupported", "wrong_range", None, "unknown"),
            id="star",
        ),
        pytest.param(
            reply(206, H5, Content_Range="bytes 1-4096/99999"),
            ("unsupported", "wrong_range", None, "unknown"),
            id="not-the-start",
        ),
        pytest.param(
            reply(206, H5, Content_Type="multipart/byteranges; boundary=x"),
            ("unsupported", "wrong_range", None, "unknown"),
            id="several-ranges",
        ),
        pytest.param(
            ranged(H5[:100]), ("unsupported", "wrong_range", None, "unknown"), id="fewer-than-asked"
        ),
        pytest.param(
            ranged(H5[:100], last=4095),
            ("unknown", "short_answer", None, "unknown"),
            id="short-body",
        ),
        pytest.param(
            ranged(b"", last=4095), ("unknown", "short_answer", None, "unknown"), id="no-body"
        ),
        pytest.param(
            ranged(H5 * 2), ("unsupported", "wrong_range", None, "unknown"), id="more-than-asked"
        ),
        pytest.param(
            ranged(H5 + b"x", last=4095), ("ok", None, 99999, "hdf5"), id="a-byte-too-many"
        ),
        pytest.param(reply(200, H5, ETag='"a"'), ("ok", "range_ignored", 4096, "hdf5"), id="200"),
        pytest.param(reply(200, b""), ("ok", "range_ignored", 0, "empty"), id="200-empty"),
        pytest.param(raw(CHUNKED), ("ok", "size_unknown", None, "text"), id="200-chunked"),
        pytest.param(
            raw(CLOSED + b"abc"), ("ok", "size_unknown", None, "text"), id="200-until-closed"
        ),
        pytest.param(
            reply(200, gzip.compress(b"a,b\n"), Content_Encoding="gzip"),
            ("ok", "compressed", None, "text"),
            id="200-gzip",
        ),
        pytest.param(
            reply(200, gzip.compress(H5 * 99, 0), Content_Encoding="gzip"),
            ("ok", "compressed", None, "hdf5"),
            id="200-gzip-cut",
        ),
        pytest.param(
            reply(200, b"\x0b\x02\x80", Content_Encoding="br"),
            ("ok", "compressed", None, "unknown"),
            id="200-brotli",
        ),
        pytest.param(
            reply(200, DEFLATED, Content_Encoding="deflate"),
            ("ok", "compressed", None, "unknown"),
            id="200-deflate-cut",
        ),
        pytest.param(
            reply(200, b"", Content_Encoding="gzip"),
            ("ok", "compressed", None, "empty"),
            id="200-gzip-of-nothing",
        ),
        pytest.param(
            ranged(gzip.compress(H5), Content_Encoding="gzip"),
            ("ok", "compressed", None, "hdf5"),
            id="206-gzip",
        ),
        pytest.param(
            reply(200, b"<html>sign in</html>"),
            ("unknown", "error_page", None, "error_page"),
            id="html",
        ),
        pytest.param(
            reply(200, gzip.compress(b"<html>in</html>"), Content_Encoding="gzip"),
            ("unknown", "error_page", None, "error_page"),
            id="html-gzip",
        ),
        pytest.param(
            reply(200, b"<Error><Code>InternalError</Code></Error>"),
            ("unknown", "error_page", None, "error_page"),
            id="xml",
        ),
        pytest.param(ranged(b"<html>x</html>", "14"), ("ok", None, 14, "text"), id="html-object"),
        pytest.param(
            reply(200, b"<html>x</html>", ETag='"a"'),
            ("ok", "range_ignored", 14, "text"),
            id="html-object-200",
        ),
        pytest.param(reply(416, NO_RANGE % 0), ("ok", None, 0, "empty"), id="416-s3-empty"),
        pytest.param(
            reply(416, b"", Content_Range="bytes */0"), ("ok", None, 0, "empty"), id="416-empty"
        ),
        pytest.param(
            reply(416, b"", Content_Range="bytes */5"),
            ("unsupported", "range_refused", None, "unknown"),
            id="416-of-something",
        ),
        pytest.param(
            reply(416, NO_RANGE % 50),
            ("unsupported", "range_refused", None, "unknown"),
            id="416-s3-of-something",
        ),
        pytest.param(
            reply(416, b""),
            ("unsupported", "range_refused", None, "unknown"),
            id="416-says-nothing",
        ),
        pytest.param(reply(204, b""), ("unknown", "http_204", None, "unknown"), id="204"),
        pytest.param(reply(304, b""), ("unknown", "http_304", None, "unknown"), id="304"),
        pytest.param(reply(301, b""), ("unknown", "http_301", None, "unknown"), id="301-nowhere"),
        pytest.param(
            reply(403, b"<Error><Code>RequestTimeTooSkewed</Code></Error>"),
            ("unknown", "clock_skew", None, "unknown"),
            id="br52-skew",
        ),
        pytest.param(
            reply(302, b"", Location="http://10.0.0.1/x"),
            ("unknown", "host_not_allowed", None, "unknown"),
            id="private-address",
        ),
        pytest.param(
            reply(302, b"", Location="http://[bad"),
            ("unknown", "host_not_allowed", None, "unknown"),
            id="odd-location",
        ),
    ],
)
def test_odd_answers(desk: Desk, step: Step, expected: ROW) -> None:
    """Each answer is taken as what it is, and the row fits the table."""
    desk.server.script = [step]
    found = probe(desk.world, HANDLE, now)
    assert outcome(found) == expected
    assert not NO_SECRET.search(repr(found))
    tables.build("objects", [found.row()], {})


@pytest.mark.parametrize(
    ("headers", "etag", "date"),
    [
        ({"ETag": '"a-14"'}, "a-14", None),
        ({"ETag": 'W/"a"'}, None, None),
        ({"ETag": '"\xe9"'}, None, None),
        (
            {"Last_Modified": "Sat, 29 Aug 2026 12:00:00 GMT"},
            None,
            datetime(2026, 8, 29, 12, tzinfo=UTC),
        ),
        ({"Last_Modified": "Fri, 31 Dec 9999 23:59:59 -0500"}, None, None),
        ({"Last_Modified": "soon"}, None, None),
    ],
    ids=["multipart", "weak", "odd-etag", "br52-future", "last-year", "no-date"],
)
def test_versions(
    desk: Desk, headers: dict[str, str], etag: str | None, date: datetime | None
) -> None:
    """An ETag keeps its suffix, a date may lie in the future, garbage is none."""
    desk.server.script = [answer(206, b"abc", Content_Range="bytes 0-2/3", **headers)]
    row = probe(desk.world, HANDLE, now).row()
    assert (row["status"], row["etag"], row["last_modified"]) == ("ok", etag, date)


def test_private_addresses_behind_a_wildcard(desk: Desk) -> None:
    """A name under a wildcard that leads into a private network is not contacted."""
    inside: list[str] = ["10.0.0.7"]
    signer = Scripted(good(f"https://x.storage.test/k?X-Amz-Signature={SECRET}"))
    with Client("https://*.storage.test", resolve=lambda *_: inside) as client:
        world = World(signer, client, desk.links, (client.traffic, client.traffic))
        world.links.keep(HANDLE, f"https://x.storage.test/k?X-Amz-Signature={SECRET}")
        assert outcome(probe(world, HANDLE, now))[:2] == ("unknown", "host_not_allowed")
    assert desk.server.log == []


# Many


def test_a_second_run_asks_for_what_is_open(cloud: Upstream, world: World, tmp_path: Path) -> None:
    """What was learnt stays with its date; what was throttled is asked for again."""
    wanted = [f"latch://{n}.node" for n in (1, 2, 3)]
    for handle in wanted:
        cloud.storage.share(handle, size=SIZE)
    cloud.add("missing", "/storage/.*/2")
    fault = cloud.add("status", "/storage/.*/3", status=503, headers={"Retry-After": "900"})
    journal = Journal(tmp_path / "vault" / "probe.jsonl")
    first = probe_all(wanted, world, journal, connections=2, now=now)
    assert [item.status for item in first] == ["ok", "missing", "throttled"]
    fault.times = 0
    cloud.log.reset()
    second = probe_all(wanted, world, journal, connections=2, now=lambda: NOW + timedelta(1))
    assert [item.status for item in second] == ["ok", "missing", "ok"]
    assert [item.checked_at.day for item in second] == [28, 28, 29]
    assert len(cloud.requests("storage")) == 1
    assert not NO_SECRET.search(journal.path.read_text())


def test_a_foreign_record(cloud: Upstream, world: World, tmp_path: Path) -> None:
    """A record that an older version wrote is asked for again, and offline it is unknown."""
    cloud.storage.share(HANDLE, size=SIZE)
    journal = Journal(tmp_path / "probe.jsonl")
    journal.add(HANDLE, {"status": "ok", "size": 5})
    (found,) = probe_all([HANDLE], None, journal, connections=2, now=now)
    assert outcome(found) == ("unknown", "offline", None, "unknown")
    (found,) = probe_all([HANDLE], world, journal, connections=2, now=now)
    assert outcome(found) == ("ok", None, SIZE, "hdf5")


def test_offline_keeps_what_is_known(cloud: Upstream, world: World, tmp_path: Path) -> None:
    """Offline needs no request for what an earlier run learnt."""
    cloud.storage.share(HANDLE, size=SIZE)
    journal = Journal(tmp_path / "probe.jsonl")
    probe_all([HANDLE], world, journal, connections=2, now=now)
    cloud.log.reset()
    (found,) = probe_all([HANDLE], None, journal, connections=2, now=now)
    assert outcome(found) == ("ok", None, SIZE, "hdf5")
    assert cloud.requests() == []


def test_without_a_network_it_ends_early(desk: Desk, tmp_path: Path) -> None:
    """After so many silences in a row the rest is unknown with the same cause, unasked."""
    desk.server.script = [raw(b"")]
    wanted = [f"latch://{n}.node" for n in range(100)]
    found = probe_all(wanted, desk.world, Journal(tmp_path / "j"), connections=2, now=now)
    assert {(item.status, item.reason) for item in found} == {("unknown", "reset")}
    assert len(desk.signer.asked) <= 6 + 2


def test_a_signer_that_is_away_ends_it_early(
    cloud: Upstream, open_cloud: Opener, tmp_path: Path
) -> None:
    """Without URLs of an earlier run and without a signer, the rest isn't asked for one by one."""
    world = open_cloud(tmp_path / "links.jsonl", tries=1)
    cloud.add("status", "/sign", status=500)
    wanted = [f"latch://{n}.node" for n in range(100)]
    found = probe_all(wanted, world, Journal(tmp_path / "j"), connections=2, now=now)
    assert {(item.status, item.reason) for item in found} == {("unknown", "signing_server_error")}
    assert len(cloud.requests("sign")) <= 6 + 2


def test_pages_for_many_do_not_hide_others(desk: Desk, tmp_path: Path) -> None:
    """Objects behind a page of their own keep nobody from the objects behind them."""
    lock, seen = threading.Lock(), [0]

    def step(handler: Any) -> None:
        with lock:
            seen[0] += 1
            early = seen[0] <= 20
        (reply(200, b"<html>x</html>") if early else ranged())(handler)

    desk.server.script = [step]
    wanted = [f"latch://{n:02}.node" for n in range(30)]
    found = probe_all(wanted, desk.world, Journal(tmp_path / "j"), connections=1, now=now)
    assert [item.status for item in found] == ["unknown"] * 20 + ["ok"] * 10
