"""Signer and storage: handles become signed URLs, and URLs made-up objects that are never held
whole.
"""

from __future__ import annotations

import calendar
import hashlib
import hmac
import json
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, unquote

from upstream.reply import Content, Reply, Request, json_reply, ranged_reply

BLOCK = 65_536
#: Makes any bytes text: letters, and here and there a line break.
_PRINTABLE = bytes(97 + n % 26 if n % 40 else 10 for n in range(256))
PART = 8 << 20
#: Up to here an ETag is the true MD5: more would make a family of hundreds of objects slow to serve.
ONE_PIECE = 1 << 20
SECRET = b"synthetic signing secret"
SECURITY_TOKEN = "SYNTHETIC-SECURITY-TOKEN"
MODIFIED_AT = 1_784_000_000.0
SUFFIX = {
    "hdf5": "h5ad",
    "gzip": "fastq.gz",
    "bgzf": "vcf.gz",
    "zip": "zip",
    "parquet": "parquet",
    "text": "csv",
    "bigwig": "bw",
    "tar": "tar",
}


class HandleLike(Protocol):
    """What a handle table holds; family.Handle is one."""

    @property
    def status(self) -> str:
        """reachable or refused."""
        ...

    @property
    def size(self) -> int:
        """Bytes."""
        ...

    @property
    def container(self) -> str:
        """A key of SUFFIX."""
        ...

    @property
    def path(self) -> str | None:
        """A file with the content, or None for made-up content."""
        ...


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object of the storage: made up from `version` by offset, or a file, or given bytes.

    `etag` and `modified_at` (seconds since 1970) replace what would be made up.
    """

    key: str
    size: int
    container: str = "hdf5"
    version: int = 1
    path: str | None = None
    data: bytes | None = None
    etag: str | None = None
    modified_at: float | None = None

    def content(self) -> Content:
        """Return the object as readable content."""
        if self.data is not None:
            held = self.data
            tag = self.etag or f'"{hashlib.md5(held, usedforsecurity=False).hexdigest()}"'
            return Content(len(held), lambda at, n: held[at : at + n], tag, modified=self.modified)
        if self.path is not None:
            file = Path(self.path)
            facts = file.stat()
            tag = self.etag or self._tag(f"{facts.st_size}:{facts.st_mtime_ns}", facts.st_size)
            return Content(
                facts.st_size, lambda at, n: _read(file, at, n), tag, modified=self.modified
            )
        tag = self.etag or self._tag("", self.size)
        return Content(self.size, self.synthetic, tag, modified=self.modified)

    @property
    def modified(self) -> float:
        """When the object was last changed; a later version is a later day unless set."""
        if self.modified_at is not None:
            return self.modified_at
        return MODIFIED_AT + 86_400.0 * self.version

    def synthetic(self, offset: int, count: int) -> bytes:
        """Return made-up bytes; each 64 KiB block begins with its number, so that no two are
        equal.
        """
        count = max(min(count, self.size - offset), 0)
        first, last = offset // BLOCK, (offset + count + BLOCK - 1) // BLOCK
        pad = _pad(self.key, self.version)
        if self.container == "text":
            pad = pad.translate(_PRINTABLE)
            blocks = b"".join(b"%08x" % number + pad for number in range(first, last))
        else:
            blocks = b"".join(struct.pack("<Q", number) + pad for number in range(first, last))
        head = _header(self.container, self.size)
        if first == 0:
            blocks = head[: len(blocks)] + blocks[len(head) :]
        start = offset - first * BLOCK
        return blocks[start : start + count]

    def sha256(self) -> str:
        """Return the digest of the whole content; takes about a second per GB."""
        content, digest = self.content(), hashlib.sha256()
        for offset in range(0, content.size, 1 << 20):
            digest.update(content.read(offset, min(1 << 20, content.size - offset)))
        return digest.hexdigest()

    def _tag(self, salt: str, size: int) -> str:
        """Return an entity tag like S3's: the content's MD5, or for large objects something with
        the number of parts behind a dash.
        """
        if size <= ONE_PIECE:
            return f'"{_md5(self, salt)}"'
        text = f"{self.key}:{self.version}:{size}:{salt}".encode()
        plain = hashlib.md5(text, usedforsecurity=False).hexdigest()
        return f'"{plain}-{-(-size // PART)}"'


@lru_cache(maxsize=4096)
def _md5(entry: StoredObject, salt: str) -> str:
    """Return the MD5 of an object that is small; `salt` tells what its file was like."""
    size = int(salt.partition(":")[0]) if salt else entry.size
    read = entry.synthetic if entry.path is None else partial(_read, Path(entry.path))
    return hashlib.md5(read(0, size), usedforsecurity=False).hexdigest()


@lru_cache(maxsize=64)
def _pad(key: str, version: int) -> bytes:
    """Return the part of a block that is the same in all blocks of an object."""
    return hashlib.shake_256(f"{key}:{version}".encode()).digest(BLOCK - 8)


def _header(container: str, size: int) -> bytes:
    """Return the first bytes of a container; HDF5 gets a superblock that states the size."""
    if container == "hdf5":
        none = b"\xff" * 8
        sizes = struct.pack("<8B", 0, 0, 0, 0, 0, 8, 8, 0) + struct.pack("<HHI", 4, 16, 0)
        return (
            b"\x89HDF\r\n\x1a\n"
            + sizes
            + struct.pack("<Q", 0)
            + none
            + struct.pack("<Q", size)
            + none
        )
    magic: dict[str, bytes] = {
        "gzip": b"\x1f\x8b\x08\x00\0\0\0\0\0\x03",
        "bgzf": b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0",
        "zip": b"PK\x03\x04\x14\0",
        "parquet": b"PAR1",
        "text": b"barcode,demo_value\n",
        "bigwig": b"\x26\xfc\x8f\x88",
        "tar": b"demo/".ljust(257, b"\0") + b"ustar\00000",
    }
    return magic[container]


def _read(file: Path, offset: int, count: int) -> bytes:
    """Return bytes of a file."""
    with file.open("rb") as opened:
        opened.seek(offset)
        return opened.read(count)


class Storage:
    """Signs handles and serves what they stand for.

    `url_lifetime_s` is how long a signed URL lives; `clock_offset_s` moves the storage's clock.
    """

    def __init__(self, handles: Mapping[str, HandleLike] | None = None) -> None:
        self.url_lifetime_s = 3600
        self.clock_offset_s = 0.0
        self.objects: dict[str, StoredObject] = {}
        self.refused: set[str] = set()
        self._keys: dict[str, str] = {}
        self._lock = threading.Lock()
        self._signed = 0
        self._dead = 0
        for handle, entry in (handles or {}).items():
            if entry.status == "reachable":
                self.share(handle, size=entry.size, container=entry.container, path=entry.path)
            else:
                self.refused.add(handle)

    def share(
        self,
        handle: str,
        *,
        size: int = 0,
        container: str = "hdf5",
        path: str | Path | None = None,
        data: bytes | None = None,
    ) -> StoredObject:
        """Make a handle reachable; its content is a file, given bytes, or made up. Return the
        object.
        """
        number = handle.removeprefix("latch://").removesuffix(".node")
        key = f"demo-bucket/{number}.{SUFFIX[container]}"
        file = None if path is None else str(path)
        entry = StoredObject(key, size, container, path=file, data=data)
        with self._lock:
            self.objects[key], self._keys[handle] = entry, key
            self.refused.discard(handle)
        return entry

    def refuse(self, handle: str) -> None:
        """Make a handle refused from now on."""
        with self._lock:
            self.refused.add(handle)
            self._keys.pop(handle, None)

    def object_of(self, handle: str) -> StoredObject:
        """Return the object behind a handle; raises KeyError for one that isn't shared."""
        return self.objects[self._keys[handle]]

    def replace_object(self, handle: str, **changes: Any) -> StoredObject:
        """Put a newer object in place of a handle's, of the same size unless `size` says
        otherwise.
        """
        with self._lock:
            old = self.objects[self._keys[handle]]
            values = {"version": old.version + 1, "etag": None} | changes
            self.objects[old.key] = replace(old, **values)
            return self.objects[old.key]

    def expire_urls(self) -> None:
        """Let every URL that was signed so far expire now."""
        with self._lock:
            self._dead = self._signed

    def sign(self, request: Request) -> Reply:
        """Answer POST {"path": handle}: 200 with a URL, 400 for what isn't shared or doesn't
        exist.
        """
        if request.method != "POST":
            return json_reply({"error": "Method Not Allowed"}, 405, Allow="POST")
        if "authorization" in request.headers:
            return json_reply({"error": "Unauthorized", "message": "invalid token"}, 401)
        try:
            handle = json.loads(request.body)["path"]
        except (ValueError, TypeError, KeyError):
            return json_reply({"error": "Bad Request", "message": "invalid request body"}, 400)
        key = self._keys.get(handle) if isinstance(handle, str) else None
        if key is None or handle in self.refused:
            text = "node does not exist or is not shared with you"
            return json_reply({"error": "Bad Request", "message": text}, 400)
        return json_reply({"data": {"url": self._url(request.base, key)}})

    def _url(self, base: str, key: str) -> str:
        """Return a signed URL in S3's form."""
        with self._lock:
            self._signed += 1
            number = self._signed
        now = time.time() + self.clock_offset_s
        date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
        signature = _signature(key, date, self.url_lifetime_s, number)
        fields = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": f"SYNTHETICKEY{number}/{date[:8]}/local/s3/aws4_request",
            "X-Amz-Date": date,
            "X-Amz-Expires": str(self.url_lifetime_s),
            "X-Amz-Security-Token": SECURITY_TOKEN,
            "X-Amz-SignedHeaders": "host",
            "X-Amz-Signature": signature,
        }
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in fields.items())
        return f"{base}/storage/{quote(key)}?{query}"

    def serve(self, request: Request) -> Reply:
        """Answer for /storage/<key>: as S3 does for a URL that was signed for GET."""
        key = unquote(request.path.removeprefix("/storage/"))
        for name in ("authorization", "cookie", "x-api-key"):
            if name in request.headers:
                text = "Only one auth mechanism allowed"
                return s3_error(400, "InvalidArgument", text)
        refusal = self._check(request, key)
        if refusal is not None:
            return refusal
        if "missing" in request.active or key not in self.objects:
            return s3_error(404, "NoSuchKey", "The specified key does not exist.")
        if (fault := request.active.get("replaced")) is not None:
            with self._lock:
                entry = self.objects[key]
                if entry.version == 1:
                    size = fault.get("size", None) or entry.size
                    self.objects[key] = replace(entry, version=2, etag=None, size=size)
        reply = ranged_reply(request, self.objects[key].content())
        if reply.status == 416:
            error = s3_error(416, "InvalidRange", "The requested range is not satisfiable")
            return Reply(416, reply.headers | error.headers, error.body)
        if reply.status == 412:
            text = "At least one of the pre-conditions you specified did not hold"
            return s3_error(412, "PreconditionFailed", text)
        return reply

    def _check(self, request: Request, key: str) -> Reply | None:
        """Return the refusal of a request that isn't properly signed, None when it is."""
        args = request.args()
        date, number = args.get("X-Amz-Date", ""), args.get("X-Amz-Credential", "")
        digits = number.removeprefix("SYNTHETICKEY").partition("/")[0]
        count = int(digits) if digits.isdigit() else 0
        life = int(args.get("X-Amz-Expires", "0") or 0)
        if "X-Amz-Signature" not in args or "denied" in request.active:
            return s3_error(403, "AccessDenied", "Access Denied")
        proper = hmac.compare_digest(args["X-Amz-Signature"], _signature(key, date, life, count))
        if request.method != "GET" or not proper:
            text = "The request signature we calculated does not match the signature you provided."
            return s3_error(403, "SignatureDoesNotMatch", text)
        issued = _epoch(date)
        late = time.time() + self.clock_offset_s > issued + life
        if late or count <= self._dead or "expired" in request.active:
            return s3_error(403, "AccessDenied", "Request has expired")
        return None


def _epoch(date: str) -> float:
    """Return the seconds of an X-Amz-Date."""
    return float(calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%SZ")))


def _signature(key: str, date: str, life: int, number: int) -> str:
    """Return the signature of a URL."""
    return hmac.new(SECRET, f"{key}:{date}:{life}:{number}".encode(), "sha256").hexdigest()


def s3_error(status: int, code: str, message: str) -> Reply:
    """Return an error in S3's XML."""
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Error><Code>{code}</Code><Message>{message}</Message>"
        "<RequestId>SYNTHETICREQUEST</RequestId><HostId>synthetic</HostId></Error>"
    )
    return Reply(status, {"Content-Type": "application/xml"}, body.encode())
