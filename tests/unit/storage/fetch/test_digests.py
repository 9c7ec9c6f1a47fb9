"""ETags prove content where they can, and damn it only where they must."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from benchproof.storage.fetch.digests import Follower, digest_file, is_opaque, part_sizes
from benchproof.storage.identity import Identity

MB, MIB = 1_000_000, 1 << 20


def multipart(data: bytes, length: int) -> str:
    parts = [data[at : at + length] for at in range(0, len(data), length)]
    joined = b"".join(hashlib.md5(part).digest() for part in parts)
    return f"{hashlib.md5(joined).hexdigest()}-{len(parts)}"


@pytest.fixture(scope="module")
def content() -> bytes:
    return os.urandom(23 * MB + 17)


@pytest.fixture
def file(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "file"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("length", [5 * MIB, 8 * MIB, 10 * MB, 12 * MIB, 16 * MB])
def test_usual_parts_are_found(file: Path, content: bytes, length: int) -> None:
    identity = Identity(multipart(content, length), len(content), None)
    assert digest_file(file, identity).proof == "parts"


def test_a_single_part_of_a_multipart_upload(file: Path, content: bytes) -> None:
    identity = Identity(multipart(content, 64 * MIB), len(content), None)
    assert identity.parts == 1
    assert digest_file(file, identity).proof == "parts"


@pytest.mark.parametrize(
    "etag", [None, "opaque", "0" * 32 + "-3", "0" * 32 + "-9999", "g" * 32, "0" * 31]
)
def test_other_etags_prove_nothing(file: Path, content: bytes, etag: str | None) -> None:
    found = digest_file(file, Identity(etag, len(content), None))
    assert (found.proof, found.md5) == ("size", None)
    assert (found.sha256, found.length) == (hashlib.sha256(content).hexdigest(), len(content))


def test_an_md5_proves_or_damns(file: Path, content: bytes) -> None:
    etag = hashlib.md5(content).hexdigest()
    assert digest_file(file, Identity(etag, len(content), None)).proof == "md5"
    found = digest_file(file, Identity("0" * 32, len(content), None))
    assert (found.proof, found.md5) == ("mismatch", etag)


def test_one_part_size_fits_most_large_objects() -> None:
    for size in (300 * MB, 2_080 * MB, 9_600 * MB):
        for length in (8 * MIB, 16 * MIB, 5 * MIB):
            parts = -(-size // length)
            if parts >= 15:
                assert length in part_sizes(size, parts)
                assert len(part_sizes(size, parts)) <= 3


@pytest.mark.parametrize(
    ("headers", "opaque"),
    [
        ({}, False),
        ({"x-amz-server-side-encryption": "AES256"}, False),
        ({"x-amz-server-side-encryption": "aws:kms"}, True),
        ({"x-amz-server-side-encryption-customer-algorithm": "AES256"}, True),
    ],
)
def test_which_etags_are_no_md5(headers: dict[str, str], opaque: bool) -> None:
    assert is_opaque(headers) is opaque


def test_a_follower_keeps_behind_the_mark_and_starts_again(tmp_path: Path) -> None:
    data = os.urandom(3 * MIB)
    path = tmp_path / "file"
    path.write_bytes(bytes(3 * MIB))
    with path.open("r+b", buffering=0) as file:
        follower = Follower(file.fileno(), Identity(hashlib.md5(data).hexdigest(), 3 * MIB, None))
        follower.advance(2 * MIB)
        os.pwrite(file.fileno(), data[: 2 * MIB], 0)
        follower.restart()
        follower.advance(2 * MIB)
        os.pwrite(file.fileno(), data[2 * MIB :], 2 * MIB)
        follower.advance(3 * MIB)
        found = follower.finish()
        follower.stop()
    assert found.proof == "md5"
    assert found.sha256 == hashlib.sha256(data).hexdigest()


def test_a_file_that_is_shorter_tells_by_its_length(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    with (tmp_path / "file").open("rb") as file:
        follower = Follower(file.fileno(), Identity(None, 10, None))
        follower.advance(10)
        assert follower.finish().length == 3


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    with (tmp_path / "file").open("wb") as file:
        follower = Follower(file.fileno(), Identity(None, 10, None))
        follower.advance(10)
        with pytest.raises(OSError, match="Bad file"):
            follower.finish()
