"""The content archive: any path survives, any damage is seen and named."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.errors import BenchproofError, ProofError, VaultError
from benchproof.sources import content, objects
from benchproof.sources.base import Entry

DATA = (b'{"a": 1}\n' * 30, b"", b"\x00\xff" * 20)
BLOBS = {objects.blob_id(data): data for data in DATA}
ENTRIES = [Entry(b"evals/%d.json" % n, "100644", sha, n or None) for n, sha in enumerate(BLOBS)]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "content" / "demo+one" / "c.zip"
    content.save(path, ENTRIES, BLOBS.items())
    return path


def test_what_was_saved_is_read(archive: Path) -> None:
    with content.opened(archive) as found:
        assert found.entries == ENTRIES
        assert {sha: found.read(sha) for sha in BLOBS} == BLOBS
        assert not found.has("0" * 40)
    assert content.blob_ids(archive) == set(BLOBS)
    assert archive.stat().st_mode & 0o777 == 0o600


paths = st.binary(min_size=1, max_size=40).map(lambda data: data.replace(b"\0", b" "))
entries = st.builds(
    Entry,
    paths,
    st.sampled_from(["100644", "100755", "120000", "160000"]),
    st.just("0" * 40),
    st.none() | st.integers(0, 1023),
)


@given(st.lists(entries, max_size=5))
@settings(max_examples=60)
def test_any_bytes_in_a_path_survive(listing: list[Entry]) -> None:
    assert list(content.parse_listing(content.listing(listing))) == listing


def test_a_blob_that_is_not_what_its_name_says_is_a_proof_error(tmp_path: Path) -> None:
    sha = objects.blob_id(b"right")
    content.save(tmp_path / "c.zip", [], [(sha, b"wrong")])
    with content.opened(tmp_path / "c.zip") as found, pytest.raises(ProofError, match=sha):
        found.read(sha)


def test_a_missing_blob_or_archive_is_a_vault_error(archive: Path) -> None:
    with content.opened(archive) as found, pytest.raises(VaultError, match="mirror stage"):
        found.read("0" * 40)
    with pytest.raises(VaultError, match="missing"), content.opened(archive.with_name("x.zip")):
        pass
    assert content.blob_ids(archive.with_name("x.zip")) == set()


def damaged(raw: bytes) -> Iterator[bytes]:
    for at in range(len(raw)):
        for flip in (1, 128):
            yield raw[:at] + bytes([raw[at] ^ flip]) + raw[at + 1 :]
    yield from (raw[:size] for size in range(0, len(raw), 7))


def test_every_damaged_byte_is_harmless_or_our_own_error(archive: Path) -> None:
    """A flipped or missing byte anywhere never leaves as an exception of zipfile's or zlib's."""
    raw, seen = archive.read_bytes(), set()
    for number, data in enumerate(damaged(raw)):
        path = archive.with_name(f"{number}.zip")
        path.write_bytes(data)
        try:
            assert isinstance(content.blob_ids(path), set)
            with content.opened(path) as found:
                for sha in BLOBS:
                    assert found.read(sha) == BLOBS[sha]
        except BenchproofError:
            continue
        except Exception as error:
            seen.add(type(error).__name__)
        finally:
            path.unlink()
    assert seen == set()


def test_a_failed_source_leaves_the_old_archive(archive: Path) -> None:
    before = archive.read_bytes()

    def cut() -> Iterator[tuple[str, bytes]]:
        yield next(iter(BLOBS.items()))
        raise ProofError("blob", "a", "b", "x")

    with pytest.raises(ProofError):
        content.save(archive, ENTRIES, cut())
    assert archive.read_bytes() == before
    assert [path.name for path in archive.parent.iterdir()] == ["c.zip"]


def test_a_callers_own_error_is_not_blamed_on_the_archive(archive: Path) -> None:
    with pytest.raises(KeyError, match="mine"), content.opened(archive):
        raise KeyError("mine")


def test_the_archive_holds_the_listing_and_the_blobs_alone(archive: Path) -> None:
    assert set(zipfile.ZipFile(archive).namelist()) == {"tree", *(f"blobs/{sha}" for sha in BLOBS)}
