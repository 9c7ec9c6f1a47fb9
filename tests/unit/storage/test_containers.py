"""What an object is, by its first bytes."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchproof.storage.containers import HEAD_BYTES, container, header, inflated
from benchproof.storage.walker.parse import SIGNATURE

KINDS = set("hdf5 bam vcf bgzf gzip zip parquet bigwig tar text empty unknown".split())
VCF = b"##fileformat=VCFv4.2\n##source=demo\n"


def bgzf(data: bytes, extra: bytes = b"BC\x02\0\0\0") -> bytes:
    squeezer = zlib.compressobj(wbits=-15)
    body = squeezer.compress(data) + squeezer.flush()
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + struct.pack("<H", len(extra)) + extra
    return head + body + struct.pack("<II", zlib.crc32(data), len(data))


def named_gzip(name: str) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(name, "wb", fileobj=out, mtime=0) as file:
        file.write(b"data")
    return out.getvalue()


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(name, "data")
    return out.getvalue()


def tarred(name: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as file:
        file.addfile(tarfile.TarInfo(name))
    return out.getvalue()


def bam(text: bytes) -> bytes:
    return bgzf(b"BAM\x01" + struct.pack("<i", len(text)) + text + struct.pack("<i", 0))


@pytest.mark.parametrize(
    ("head", "kind", "said"),
    [
        pytest.param(SIGNATURE + b"\0" * 90, "hdf5", None, id="hdf5"),
        *(
            pytest.param(b"u" * at + SIGNATURE, "hdf5", None, id=f"hdf5-behind-{at}")
            for at in (512, 1024, 2048)
        ),
        pytest.param(b"u" * 513 + SIGNATURE, "unknown", None, id="hdf5-at-an-odd-place"),
        pytest.param(SIGNATURE[:7], "unknown", None, id="hdf5-cut-off"),
        pytest.param(SIGNATURE.replace(b"\r\n", b"\n"), "unknown", None, id="hdf5-as-text"),
        pytest.param(gzip.compress(b"data"), "gzip", None, id="gzip"),
        pytest.param(named_gzip("reads.fastq"), "gzip", "named reads.fastq", id="gzip-named"),
        pytest.param(b"\x1f\x8b", "gzip", None, id="gzip-cut-off"),
        pytest.param(bgzf(b"data"), "bgzf", None, id="bgzf"),
        pytest.param(
            bgzf(b"data", b"XX\x01\0a" + b"BC\x02\0\0\0"), "bgzf", None, id="bgzf-second-field"
        ),
        pytest.param(bgzf(b"data", b"XX\x02\0\0\0"), "gzip", None, id="gzip-other-field"),
        pytest.param(bgzf(b"data", b"BC\x04\0abcd"), "gzip", None, id="gzip-odd-field"),
        pytest.param(bgzf(b"data", b"XX\xff\xff\0\0"), "gzip", None, id="gzip-field-too-long"),
        pytest.param(bgzf(VCF), "vcf", "VCFv4.2", id="vcf-bgzf"),
        pytest.param(VCF, "vcf", "VCFv4.2", id="vcf-text"),
        pytest.param(bam(b"@HD\tVN:1.6\tSO:coordinate\n"), "bam", "sorted by coordinate", id="bam"),
        pytest.param(bam(b"@HD\tVN:1.6\n"), "bam", None, id="bam-unsorted"),
        pytest.param(
            bgzf(b"BAM\x01" + struct.pack("<i", -9) + b"\tSO:queryname" + b"\0" * 9),
            "bam",
            None,
            id="bam-negative-length",
        ),
        pytest.param(bgzf(b"BAM\x01"), "bam", None, id="bam-cut-off"),
        pytest.param(zipped("a/b.csv"), "zip", "first member a/b.csv", id="zip"),
        pytest.param(b"PK\x05\x06" + b"\0" * 18, "zip", None, id="zip-empty"),
        pytest.param(b"PK\x03\x04", "zip", None, id="zip-cut-off"),
        pytest.param(b"PAR1\x15\0", "parquet", None, id="parquet"),
        pytest.param(
            struct.pack("<IHH", 0x888FFC26, 4, 7), "bigwig", "version 4, 7 zoom levels", id="bigwig"
        ),
        pytest.param(
            struct.pack(">IHH", 0x888FFC26, 4, 7),
            "bigwig",
            "version 4, 7 zoom levels",
            id="bigwig-big",
        ),
        pytest.param(b"\x26\xfc\x8f\x88", "bigwig", None, id="bigwig-cut-off"),
        pytest.param(tarred("demo/a"), "tar", "first member demo/a", id="tar"),
        pytest.param(
            b"demo\0junk".ljust(257, b"\0") + b"ustar\00000",
            "tar",
            "first member demo",
            id="tar-field-ends",
        ),
        pytest.param(b"barcode,value\n1,2\n", "text", None, id="csv"),
        pytest.param(b"\xef\xbb\xbfbarcode", "text", None, id="bom"),
        pytest.param("naïve ".encode() * 9 + b"\xc3", "text", None, id="text-cut-in-a-character"),
        pytest.param(b"<html>x</html>", "text", None, id="html"),
        pytest.param(b"caf\xe9 au lait", "unknown", None, id="latin-1"),
        pytest.param("a,b\n".encode("utf-16"), "unknown", None, id="utf-16"),
        pytest.param(b"a\0b", "unknown", None, id="zero"),
        pytest.param(b"\x1b[2Jtext", "unknown", None, id="escapes"),
        pytest.param(b"\xff", "unknown", None, id="one-odd-byte"),
    ],
)
def test_kinds(head: bytes, kind: str, said: str | None) -> None:
    """The magic number decides; the header says a few words more."""
    assert container(head, 10_000) == kind
    assert header(kind, head) == said


@pytest.mark.parametrize(
    ("head", "size", "kind"),
    [(b"", 0, "empty"), (b"", None, "empty"), (b"a", None, "text"), (b"", 5, "unknown")],
)
def test_empty(head: bytes, size: int | None, kind: str) -> None:
    """An object without bytes is empty; one whose bytes didn't come is not."""
    assert container(head, size) == kind


def test_a_damaged_stream() -> None:
    """A gzip stream that breaks gives what came before; a bomb gives no more than asked for."""
    data = gzip.compress(bytes(range(256)) * 100, 0)
    assert inflated(data[:500]) == (bytes(range(256)) * 2)[: len(inflated(data[:500]))] != b""
    assert inflated(b"\x1f\x8b\x08nonsense here") == b""
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(inflated(bomb)) == 65_536


@pytest.mark.parametrize(
    "name",
    [
        "\x1b[2Jx",
        "a\r\nb",
        "\u202eevil",
        "n" * 60_000,
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
)
def test_hostile_names(name: str) -> None:
    """A name from a header is one short printable line."""
    for head, kind in (
        (zipped(name), "zip"),
        (named_gzip("x").replace(b"x", name.encode()[:200]), "gzip"),
    ):
        said = header(kind, head[:HEAD_BYTES])
        assert said is None or (said.isprintable() and len(said) <= 80)


@given(
    st.binary(max_size=300),
    st.sampled_from(
        [b"", b"\x1f\x8b\x08\x04", b"PK\x03\x04", b"\x26\xfc\x8f\x88", b"##fileformat=VCF"]
    ),
)
def test_any_bytes(tail: bytes, magic: bytes) -> None:
    """Whatever bytes come, there is a kind, and its header is a short line or nothing."""
    kind = container(magic + tail, None)
    said = header(kind, magic + tail)
    assert kind in KINDS
    assert said is None or (said.isprintable() and 0 < len(said) <= 80)
