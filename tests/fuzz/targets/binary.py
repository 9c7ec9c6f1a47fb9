"""Snapshots and what is kept about them: HDF5, containers, journals, frames of the sandbox, Parquet."""

from __future__ import annotations

import gzip
import io
import json
import socket
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchproof.errors import BenchproofError
from benchproof.journal import Journal
from benchproof.recorded import rows
from benchproof.report import folders
from benchproof.storage.blocks import HEAD, Blocks
from benchproof.storage.containers import container, header
from benchproof.storage.describe import Limits
from benchproof.storage.fetch import journal
from benchproof.storage.frames import BadFrame, receive
from benchproof.storage.walker import Unparsable, prefetch, superblock
from fuzz.registry import target
from h5ad import GENERATIONS, Matrix, Spec, build

_LIMITS = Limits()


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz-"))


@cache
def _snapshots() -> list[bytes]:
    found = []
    for generation in GENERATIONS:
        path = _folder() / f"{generation}.h5ad"
        build(path, Spec(generation=generation, n_obs=6, raw=Matrix()))
        found.append(path.read_bytes())
    return found


@target("hdf5_walker", _snapshots, allowed=[Unparsable])
def _walker(data: bytes) -> None:
    def read(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        return [data[offset : offset + length] for offset, length in ranges]

    blocks = Blocks(read, len(data), max_bytes=1 << 23, max_requests=1000)
    blocks.fetch([(0, HEAD)])
    block = superblock(blocks.get(0, HEAD))
    if block is not None:
        prefetch(blocks, block, typed=_LIMITS.typed, members=_LIMITS.members, links=_LIMITS.links)


@target(
    "container",
    lambda: [
        *(data[:4096] for data in _snapshots()),
        gzip.compress(b"##fileformat=VCF"),
        b"PK\x03\x04" + bytes(40),
        b"\x26\xfc\x8f\x88" + bytes(40),
        b"PAR1",
        bytes(257) + b"ustar",
    ],
)
def _container(data: bytes) -> None:
    head = data[:4096]
    for size in (None, len(data)):
        kind = container(head, size)
        said = header(kind, head)
        assert said is None or (said.isprintable() and len(said) <= 200)


@target(
    "fetch_journal",
    lambda: [
        json.dumps(
            {"version": 1, "block": 65536, "etag": "a", "size": 200000, "last_modified": None}
        ).encode()
        + b"\n0 0badcafe\n1 0badcafe\n"
    ],
    kind="lines",
)
def _fetched(data: bytes) -> None:
    path = _folder() / "x.journal"
    path.write_bytes(data)
    found = journal.read(path)
    assert found is None or 0 <= found.bytes_held <= (found.identity.size or 0)


@target(
    "journal",
    lambda: [b'{"key": "latch://1.node", "status": "ok"}\n{"key": "b", "x": [1]}\n'],
    kind="lines",
)
def _journal(data: bytes) -> None:
    path = _folder() / "x.jsonl"
    path.write_bytes(data)
    Journal(path).items(lambda _, record: record["status"])
    Journal(path).follow()


@target(
    "sandbox_frame",
    lambda: [b"\0\0\0\x0f" + bytes(7) + b"\2" + b'{"op": "done" }' + b"ab"],
    allowed=[BadFrame, EOFError, TimeoutError],
)
def _frame(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data[:60_000])
        theirs.close()
        receive(ours, time.monotonic() + 2)


@cache
def _parquet() -> bytes:
    file = io.BytesIO()
    table = pa.table({"repo": ["a/b", None], "commit_sha": ["c" * 40, "d"], "n": [1, 2]})
    pq.write_table(table.replace_schema_metadata({"benchproof": "{}"}), file, compression="zstd")
    return file.getvalue()


@target("parquet", lambda: [_parquet()], allowed=[BenchproofError])
def _table(data: bytes) -> None:
    folder = _folder() / "2026-01-01"
    folder.mkdir(exist_ok=True)
    (folder / "pins.parquet").write_bytes(data)
    for frame in folders.load(folder).frames.values():
        frame.all()
    rows(folder, "pins")
