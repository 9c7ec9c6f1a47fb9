"""What an object is, by its first bytes: the container's magic number and what its header says of itself.

Sources of the magic numbers: the HDF5 file format (signature at 0, 512, 1024, …), RFC 1952 (gzip), the
SAM/BAM specification (BGZF, BAM), VCF 4, PKWARE's APPNOTE (zip), Apache Parquet, Kent et al. 2010 (bigWig),
POSIX ustar.
"""

from __future__ import annotations

import re
import struct
import zlib

from benchproof.printable import printable
from benchproof.storage.walker.parse import SIGNATURE

#: How many bytes of an object are asked for: an HDF5 signature behind a user block, a whole BGZF header.
HEAD_BYTES = 4096
_MAX_HEADER = 80


def container(head: bytes, size: int | None) -> str:
    """Return hdf5, bam, vcf, bgzf, gzip, zip, parquet, bigwig, tar, text, empty or unknown."""
    if size == 0 or (not head and size is None):
        return "empty"
    if any(head[at : at + 8] == SIGNATURE for at in (0, 512, 1024, 2048)):
        return "hdf5"
    if head[:2] == b"\x1f\x8b":
        return _gzipped(head)
    for magic, name in (
        (b"PK\x03\x04", "zip"),
        (b"PK\x05\x06", "zip"),
        (b"PAR1", "parquet"),
        (b"\x26\xfc\x8f\x88", "bigwig"),
        (b"\x88\x8f\xfc\x26", "bigwig"),
    ):
        if head.startswith(magic):
            return name
    if head[257:262] == b"ustar":
        return "tar"
    if head.startswith(b"##fileformat=VCF"):
        return "vcf"
    return "text" if _is_text(head) else "unknown"


def header(kind: str, head: bytes) -> str | None:
    """Return what a container's own header says, in a few words; None when it says nothing more."""
    if kind in ("gzip", "bgzf", "bam", "vcf"):
        return _gzip_header(kind, head)
    if kind == "zip" and len(head) >= 30 and head.startswith(b"PK\x03\x04"):
        length = struct.unpack_from("<H", head, 26)[0]
        return _clean(b"first member " + head[30 : 30 + length])
    if kind == "bigwig" and len(head) >= 8:
        order = "<" if head.startswith(b"\x26\xfc\x8f\x88") else ">"
        version, zooms = struct.unpack_from(f"{order}HH", head, 4)
        return f"version {version}, {zooms} zoom levels"
    if kind == "tar":
        return _clean(b"first member " + head[:100].partition(b"\0")[0])
    return None


def _gzipped(head: bytes) -> str:
    """Tell BGZF from gzip by its extra field, then BAM and VCF by what the first block holds."""
    if not _is_bgzf(head):
        return "gzip"
    start = inflated(head)
    if start.startswith(b"BAM\x01"):
        return "bam"
    return "vcf" if start.startswith(b"##fileformat=VCF") else "bgzf"


def _is_bgzf(head: bytes) -> bool:
    """True when the extra field has the subfield BC that BGZF is known by."""
    if len(head) < 16 or not head[3] & 4:
        return False
    extra = head[12 : 12 + struct.unpack_from("<H", head, 10)[0]]
    while len(extra) >= 4:
        name, length = extra[:2], struct.unpack_from("<H", extra, 2)[0]
        if name == b"BC" and length == 2:
            return True
        extra = extra[4 + length :]
    return False


def inflated(head: bytes, most: int = 65536) -> bytes:
    """Return the beginning of what a gzip stream holds, at most `most` bytes; empty when it is damaged."""
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, most)
    except zlib.error:
        return b""


def _gzip_header(kind: str, head: bytes) -> str | None:
    start = head if kind == "vcf" and not head.startswith(b"\x1f\x8b") else inflated(head)
    if kind == "vcf":
        return _clean(start.partition(b"\n")[0].removeprefix(b"##fileformat="))
    if kind == "bam" and len(start) >= 8:
        text = start[8 : 8 + max(struct.unpack_from("<i", start, 4)[0], 0)]
        order = re.search(rb"\tSO:([a-z]{1,20})", text)
        return f"sorted by {order.group(1).decode()}" if order else None
    if kind == "gzip" and head[3:4] and head[3] & 8 and not head[3] & 4:
        return _clean(b"named " + head[10:].partition(b"\0")[0])
    return None


def _clean(text: bytes) -> str | None:
    """Return upstream bytes as one short printable line."""
    shown = printable(text.decode("utf-8", "replace"))
    return shown[:_MAX_HEADER].strip() or None


def _is_text(head: bytes) -> bool:
    """True for UTF-8 (a character may be cut off at the end) without control characters."""
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:
            return False
        text = head[: error.start].decode("utf-8")
    return bool(text) and not re.search(r"[\x00-\x08\x0e-\x1f\x7f]", text)
