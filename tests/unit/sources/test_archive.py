"""Zip archives are read as zipfile reads them, beyond 65,535 members and 4 GiB too; bombs cost nothing."""

from __future__ import annotations

import io
import zipfile
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.sources import archive
from benchproof.sources.archive import Archive, DamagedError


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return file


names = st.text("abcdef0123456789/.é", min_size=1, max_size=50)


@given(
    st.dictionaries(names, st.binary(max_size=300), max_size=8),
    st.sampled_from([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED]),
)
@settings(max_examples=80, deadline=None)
def test_every_member_is_what_zipfile_wrote(members: dict[str, bytes], method: int) -> None:
    file = zipped(members, method)
    held = Archive(file)
    assert len(held) == len(members)
    assert {name: held.read(name.encode()) for name in members} == members
    assert {name.decode() for name in archive.names(file)} == set(members)
    assert b"absent" not in held
    with pytest.raises(KeyError):
        held.read(b"absent")


def test_more_members_than_sixteen_bits_count() -> None:
    members = {sha256(b"%d" % n).hexdigest(): b"%d" % n for n in range(66_000)}
    held = Archive(zipped(members, zipfile.ZIP_STORED))
    assert len(held) == 66_000
    assert all(held.read(name.encode()) == members[name] for name in list(members)[::4000])


def test_places_beyond_four_gibibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """zipfile writes them in 64 bits above its limit; a lower limit makes it do so for small ones."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    members = {f"blobs/{n}": bytes([n]) * 90 for n in range(20)}
    file = zipped(members, zipfile.ZIP_STORED)
    assert b"PK\6\6" in file.getvalue()
    held = Archive(file)
    assert {name: held.read(name.encode()) for name in members} == members


class Counted(io.BytesIO):
    """A file that remembers the most it was asked for."""

    most = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.most = max(self.most, size or 0)
        return super().read(size)


def test_sizes_that_cannot_be_cost_nothing() -> None:
    raw = bytearray(zipped({"a": b"x" * 1000}).getvalue())
    at = raw.index(b"PK\1\2")
    raw[at + 20 : at + 24] = b"\xfe\xff\xff\xff"  # packed to 4 GB
    file = Counted(bytes(raw))
    with pytest.raises(DamagedError):
        Archive(file).read(b"a")
    assert file.most < 1000


def test_a_bomb_is_not_unpacked() -> None:
    raw = bytearray(zipped({"a": b"\0" * 50_000_000}).getvalue())
    at = raw.index(b"PK\1\2")
    raw[at + 24 : at + 28] = (10).to_bytes(4, "little")  # says that ten bytes come out
    with pytest.raises(DamagedError):
        Archive(io.BytesIO(bytes(raw))).read(b"a")


@pytest.mark.parametrize(
    "cut",
    [lambda raw: b"", lambda raw: raw[:-1], lambda raw: raw + b"x"],
    ids=["nothing", "cut", "longer"],
)
def test_another_end_is_damage(cut: Any) -> None:
    with pytest.raises(DamagedError):
        Archive(io.BytesIO(cut(zipped({"a": b"x"}).getvalue())))
