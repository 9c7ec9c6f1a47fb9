"""What is inside a remote .h5ad, for less than a megabyte, however large it is.

A child process with limits reads it: it asks for many pieces at once (`walker`), then lets HDF5's own
library describe the file from them (`describe`). A bad file is a status and a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from benchproof.errors import ObjectFailed
from benchproof.storage.blocks import HEAD, SMALL, BlockFile, Blocks, OverBudget
from benchproof.storage.frames import Read, ReadRefused
from benchproof.storage.sandbox import ChildFailed, Sandbox
from benchproof.storage.walker import CutShort, Superblock, Unparsable, prefetch, superblock
from benchproof.storage.walker.parse import SIGNATURE

MAX_BYTES = 8 * 1024 * 1024
MAX_REQUESTS = 1000
SECONDS = 30.0
_LIST_ITEMS = 1200
_TEXT = 1000


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents table's columns of one file; `requests` and `bytes_read` are what the peek asked for.

    `rounds` is how often it waited for an answer; `late` how many of the requests were one by one,
    because the walk had not foreseen them.
    """

    n_obs: int | None
    n_vars: int | None
    x_encoding: str
    x_dtype: str | None
    nnz: int | None
    obs_columns: list[str]
    var_columns: list[str]
    layers: list[str]
    obsm: list[str]
    obsp: list[str]
    varm: list[str]
    uns: list[str]
    raw: str | None
    encoding_version: str | None
    requests: int
    bytes_read: int
    rounds: int
    late: int


def peek(
    sandbox: Sandbox,
    read: Read,
    size: int,
    *,
    max_bytes: int = MAX_BYTES,
    max_requests: int = MAX_REQUESTS,
    seconds: float = SECONDS,
) -> Contents:
    """Return what an object of `size` bytes holds.

    Raises ObjectFailed: unsupported when it is not HDF5, not AnnData, damaged, over the budget, or too
    much for the parser; truncated when it is shorter than its superblock says; and what `read` raised.
    """
    counted = _Counted(read, max_bytes, max_requests)
    argument = {"size": size, "max_bytes": max_bytes, "max_requests": max_requests}
    try:
        answer = sandbox.call("storage.peek:look", argument, read=counted, seconds=seconds)
    except ChildFailed as failure:
        raise ObjectFailed("unsupported", failure.code) from failure
    if (failed := _FAILURES.get(str(answer.get("failed")))) is not None:
        raise ObjectFailed(*failed)
    try:
        return _contents(answer, counted)
    except (KeyError, TypeError, ValueError):
        raise ObjectFailed("unsupported", "parser_crashed") from None


_FAILURES: Mapping[str, tuple[Any, str]] = {
    "empty": ("truncated", "empty"),
    "short": ("truncated", "shorter_than_superblock"),
    "not_hdf5": ("unsupported", "not_hdf5"),
    "not_anndata": ("unsupported", "not_anndata"),
    "damaged": ("unsupported", "damaged"),
    "budget": ("unsupported", "budget"),
}


class _Counted:
    """Holds the budget on this side too: the child has read what a stranger wrote."""

    def __init__(self, read: Read, max_bytes: int, max_requests: int) -> None:
        self._read, self._bytes, self._requests = read, max_bytes, max_requests
        self.requests = self.bytes_read = self.rounds = 0

    def __call__(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        self.rounds += 1
        self.requests += len(ranges)
        self.bytes_read += sum(length for _, length in ranges)
        if self.requests > self._requests or self.bytes_read > self._bytes:
            raise ObjectFailed("unsupported", "budget")
        return self._read(ranges)


def _contents(answer: Mapping[str, Any], counted: _Counted) -> Contents:
    """Check the child's answer against the columns; ValueError when it does not fit."""
    found = dict(answer["contents"])
    counts = {name: getattr(counted, name) for name in ("requests", "bytes_read", "rounds")}
    found |= counts | {"late": answer["late"]}
    for item in fields(Contents):
        if not _fits(found[item.name], str(item.type)):
            raise ValueError(item.name)
    return Contents(**found)


def _fits(value: Any, kind: str) -> bool:
    if value is None:
        return "None" in kind
    if kind.startswith("list"):
        return (
            isinstance(value, list)
            and len(value) <= _LIST_ITEMS
            and all(_fits(item, "str") for item in value)
        )
    if kind.startswith("int"):
        return type(value) is int and 0 <= value < 1 << 63
    return isinstance(value, str) and len(value) <= _TEXT


# In the child.


def look(argument: Mapping[str, Any], read: Read) -> dict[str, Any]:
    """Describe an object through `read`; returns {"contents", "late"} or {"failed": code}."""
    # Imported first: opening files is over after that.
    import h5py

    from benchproof.storage.describe import Limits, NotAnnData, describe
    from benchproof.storage.inside import no_more_files

    size = argument["size"]
    blocks = Blocks(
        read, size, max_bytes=argument["max_bytes"], max_requests=argument["max_requests"]
    )
    limits = Limits()
    try:
        blocks.fetch([(0, size if size <= SMALL else HEAD)])
        block = _start(blocks.get(0, HEAD), size)
        if isinstance(block, str):
            return {"failed": block}
        prefetch(blocks, block, typed=limits.typed, members=limits.members, links=limits.links)
        before = blocks.requests
        with no_more_files(), h5py.File(BlockFile(blocks), "r") as file:
            contents = describe(file, limits)
        return {"contents": contents, "late": blocks.requests - before}
    except NotAnnData:
        return {"failed": "not_anndata"}
    except (OverBudget, ReadRefused):
        return {"failed": "budget"}
    except (OSError, KeyError, ValueError, RuntimeError, TypeError, SystemError):
        # What h5py makes of damaged bytes, or of a read that BlockFile could not do.
        return {"failed": "budget" if blocks.problem else "damaged"}


def _start(head: bytes, size: int) -> Superblock | str:
    """Return the superblock at an object's start, or what is wrong with it."""
    if not size:
        return "empty"
    if size < len(SIGNATURE) and SIGNATURE.startswith(head):
        return "short"
    try:
        block = superblock(head)
    except CutShort:
        return "short"
    except Unparsable:
        return "damaged"
    if block is None:
        return "not_hdf5"
    return "short" if block.end > size else block
