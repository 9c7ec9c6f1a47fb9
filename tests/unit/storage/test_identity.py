"""What an answer says of the version that it comes from, and when two say the same."""

from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchproof import tables
from benchproof.storage.identity import ContentRange, Identity

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"
MD5 = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("bytes 0-4095/1843320", (0, 4095, 1843320), id="plain"),
        pytest.param(" bytes  5-5/6 ", (5, 5, 6), id="spaces"),
        pytest.param("bytes 0-4095/*", (0, 4095, None), id="unknown-total"),
        pytest.param("bytes */0", (None, None, 0), id="empty-object"),
        pytest.param("bytes */*", (None, None, None), id="nothing-known"),
        pytest.param("bytes 0-0/9999999999999999999", (0, 0, None), id="total-above-int64"),
        pytest.param("bytes 0-9999999999999999999/*", None, id="last-above-int64"),
        pytest.param("bytes 0-0/99999999999999999999", None, id="twenty-digits"),
        pytest.param("bytes 0--1/0", None, id="negative-last"),
        pytest.param("bytes 0-0/0", None, id="byte-of-nothing"),
        pytest.param("bytes 5-4/10", None, id="backwards"),
        pytest.param("bytes 0-10/10", None, id="past-the-end"),
        pytest.param("bytes 0-9/10, 20-29/30", None, id="several"),
        pytest.param("items 0-9/10", None, id="other-unit"),
        pytest.param("bytes 0-9/10\n", (0, 9, 10), id="line-end"),
        pytest.param("", None, id="absent"),
    ],
)
def test_content_range(text: str, expected: tuple[int | None, ...] | None) -> None:
    """A Content-Range is what HTTP allows, or nothing."""
    found = ContentRange.of({"Content-Range": text})
    assert (found and (found.first, found.last, found.total)) == expected


@pytest.mark.parametrize(
    ("status", "headers", "size"),
    [
        pytest.param(206, {"Content-Range": "bytes 0-9/77", "Content-Length": "10"}, 77, id="206"),
        pytest.param(206, {"Content-Length": "10"}, None, id="206-says-no-total"),
        pytest.param(206, {"Content-Range": "bytes 0-9/*"}, None, id="206-unknown-total"),
        pytest.param(416, {"Content-Range": "bytes */0", "Content-Length": "300"}, 0, id="416"),
        pytest.param(200, {"Content-Length": "1123"}, 1123, id="200"),
        pytest.param(200, {"Content-Length": "0"}, 0, id="200-empty"),
        pytest.param(200, {}, None, id="200-chunked"),
        pytest.param(200, {"Content-Length": "-1"}, None, id="200-negative"),
        pytest.param(200, {"Content-Length": "12, 12"}, None, id="200-twice"),
        pytest.param(200, {"Content-Length": "9223372036854775807"}, 2**63 - 1, id="200-int64"),
        pytest.param(200, {"Content-Length": "9223372036854775808"}, None, id="200-above-int64"),
        pytest.param(403, {"Content-Length": "300"}, None, id="an-error-has-no-object"),
        pytest.param(204, {"Content-Length": "0"}, None, id="204"),
    ],
)
def test_size(status: int, headers: dict[str, str], size: int | None) -> None:
    """A size is the whole object's, and unknown is null."""
    assert Identity.of(status, headers).size == size


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", " br ", "deflate", "gzip, identity"])
@pytest.mark.parametrize("status", [200, 206])
def test_br09_no_size_from_a_compressed_answer(status: int, encoding: str) -> None:
    """The length of a compressed body is never a size."""
    lengths = {"Content-Length": "298", "Content-Range": "bytes 0-297/298"}
    assert Identity.of(status, {**lengths, "Content-Encoding": encoding}).size is None
    assert Identity.of(status, {**lengths, "Content-Encoding": "identity"}).size == 298


@pytest.mark.parametrize(
    ("text", "etag"),
    [
        (f'"{MD5}"', MD5),
        (f'"{MD5}-14"', f"{MD5}-14"),
        ('"!#~"', "!#~"),
        ('W/"abc"', None),
        ("abc", None),
        ('""', None),
        ('"a"b"', None),
        ('"a b"', None),
        ('"a\xe9"', None),
        ('"' + "a" * 257 + '"', None),
        ("", None),
    ],
)
def test_etag(text: str, etag: str | None) -> None:
    """Only a strong, well-formed entity tag names a version."""
    assert Identity.of(200, {"ETag": text}).etag == etag


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(DATE, DATE, id="as-it-is"),
        pytest.param("Wed, 21 Oct 2026 09:28:00 +0200", DATE, id="to-utc"),
        pytest.param("Wed, 21 Oct 2026 07:28:00 -0000", DATE, id="no-zone-is-utc"),
        pytest.param("Wednesday, 21-Oct-26 07:28:00 GMT", DATE, id="rfc850"),
        pytest.param("Sun, 30 Aug 2099 00:00:00 GMT", "Sun, 30 Aug 2099 00:00:00 GMT", id="future"),
        pytest.param("Fri, 31 Dec 9999 23:59:59 -0500", None, id="behind-the-last-year"),
        pytest.param("Wed, 21 Oct 2026 07:28:00 +9999", None, id="no-such-zone"),
        pytest.param("yesterday", None, id="garbage"),
        pytest.param("", None, id="absent"),
    ],
)
def test_br52_last_modified(text: str, expected: str | None) -> None:
    """A date is kept as one text per instant; what is no date is no error."""
    found = Identity.of(200, {"Last-Modified": text})
    assert found.last_modified == expected
    assert (found.modified_at is None) == (expected is None)


@given(
    st.lists(st.text(st.characters(max_codepoint=255)), min_size=5, max_size=5),
    st.sampled_from((200, 206, 416)),
)
def test_any_headers(texts: list[str], status: int) -> None:
    """Whatever the headers hold, an answer has an identity, and its name is safe."""
    names = ("ETag", "Last-Modified", "Content-Range", "Content-Length", "Content-Encoding")
    found = Identity.of(status, dict(zip(names, texts, strict=True)))
    assert re.fullmatch(r"[0-9a-z-]{1,90}", found.key())
    assert not re.search(r"[\r\n]", "".join(found.condition().values()))


def test_conditions() -> None:
    """A version is asked for by its ETag, else by its date, else not at all."""
    assert Identity("a-2", 5, DATE).condition() == {"If-Match": '"a-2"'}
    assert Identity(None, 5, DATE).condition() == {"If-Unmodified-Since": DATE}
    assert Identity(None, 5, None).condition() == {}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param(("a", 5, DATE), ("a", 5, None), True, id="same-etag"),
        pytest.param(("a", None, None), ("a", 5, DATE), True, id="size-not-known"),
        pytest.param(("a", 5, DATE), ("b", 5, DATE), False, id="br03-other-etag-same-size"),
        pytest.param(("a", 5, None), ("a", 6, None), False, id="same-etag-other-size"),
        pytest.param(("a", 5, DATE), (None, 5, DATE), False, id="etag-lost"),
        pytest.param((None, 5, DATE), (None, 5, DATE), True, id="by-date"),
        pytest.param((None, 5, DATE), (None, 5, None), False, id="date-lost"),
        pytest.param((None, 5, DATE), (None, 6, DATE), False, id="by-size"),
    ],
)
def test_same_version(
    one: tuple[str | None, int | None, str | None],
    other: tuple[str | None, int | None, str | None],
    same: bool,
) -> None:
    """Two identities are one version only when nothing speaks against it."""
    assert Identity(*one).same_as(Identity(*other)) is same
    assert Identity(*other).same_as(Identity(*one)) is same


def test_names_differ() -> None:
    """Different versions have different names, also where case doesn't count."""
    tags = ("abc", "ABC", "abc-2", "a/b", "..", "a" * 200, None)
    found = [Identity(*it).key() for it in itertools.product(tags, (None, 5, 6), (None, DATE))]
    assert Identity("abc", 5, DATE).key() == "abc"
    by_etag = {Identity(tag, 5, None).key().lower() for tag in tags}
    assert len(by_etag) == len(tags)
    assert (
        len({Identity(None, *it).key() for it in itertools.product((None, 5), (None, DATE))}) == 4
    )
    assert all(re.fullmatch(r"[0-9a-z-]+", name) for name in found)


@pytest.mark.parametrize(
    ("etag", "md5", "parts"),
    [
        (MD5, MD5, None),
        (f"{MD5}-14", None, 14),
        (MD5.upper(), None, None),
        ("abc", None, None),
        (None, None, None),
    ],
)
def test_br03_multipart_etag_is_no_md5(
    etag: str | None, md5: str | None, parts: int | None
) -> None:
    """An ETag of parts keeps its suffix and is no MD5."""
    found = Identity(etag, 5, None)
    assert (found.md5, found.parts, found.etag) == (md5, parts, etag)


def test_from_a_table(tmp_path: Path) -> None:
    """A version that went through the objects table is the version that was probed."""
    probed = Identity.of(
        206, {"ETag": '"a"', "Content-Range": "bytes 0-9/77", "Last-Modified": DATE}
    )
    row = dict.fromkeys(tables.SPECS["objects"].schema.names) | {
        "handle": "latch://1.node",
        "etag": probed.etag,
        "size_bytes": probed.size,
        "last_modified": probed.modified_at,
        "checked_at": datetime(2026, 1, 2, tzinfo=UTC),
    }
    tables.write(tmp_path / "objects.parquet", "objects", [row], {})
    (read,) = tables.read(tmp_path / "objects.parquet", "objects")
    assert Identity.of_row(read) == Identity.of_row(row) == probed
