"""Inspects a fetched .h5ad: is it whole, does it open, is it what the peek saw, can AnnData read it.

All parsing happens in the sandboxed child. The file is opened read-only and without locks, so that neither
a read-only folder, another process that has it open for writing, nor a file system without locks matters.
A bad file is a status and a reason, never an exception.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from benchproof.printable import printable
from benchproof.storage.checks import Ending, ending
from benchproof.storage.sandbox import ChildFailed, Sandbox

Status = Literal["ok", "truncated", "mismatch", "unsupported", "unknown"]
_TEXT = 200
_X = ("nnz", "x_encoding", "x_dtype")


@dataclass(frozen=True, slots=True)
class Inspected:
    """What an inspection found; `n_obs` and `n_vars` come from h5py whenever it opens the file.

    | status | reasons |
    |---|---|
    | ok | none, or bytes_after_end: HDF5 ignores what stands behind its end |
    | truncated | short_download: shorter than the server's object; at_source: so is that object |
    | mismatch | size, shape_differs_from_peek, x_differs_from_peek, shape_differs_inside |
    | unsupported | not_hdf5, not_anndata, damaged, refers_to_other_files, parser_<why>, |
    | | unreadable_by_anndata_<version> |
    | unknown | file_missing, file_unreadable |

    `reader` says in a few words what read the file, or which encoding stopped it.
    """

    status: Status
    reason: str | None = None
    n_obs: int | None = None
    n_vars: int | None = None
    reader: str | None = None


def inspect(
    sandbox: Sandbox,
    path: Path,
    *,
    expected_size: int,
    peeked: Mapping[str, Any] | None,
    seconds: float,
) -> Inspected:
    """Return what is wrong with a file, and its shape.

    `expected_size` is the object's at the server, in bytes; `peeked` the row of the contents table, if
    there is one; `seconds` bounds the work of the child.
    """
    try:
        end = ending(path)
    except FileNotFoundError:
        return Inspected("unknown", "file_missing")
    except OSError:
        return Inspected("unknown", "file_unreadable")
    failed = _by_size(end, expected_size)
    if failed is not None:
        return failed
    deadline = time.monotonic() + seconds
    found = _described(sandbox, path, seconds)
    if isinstance(found, Inspected):
        return found
    shape = Inspected("ok", None, _whole(found.get("n_obs")), _whole(found.get("n_vars")), "h5py")
    if end.size != expected_size:
        return replace(shape, status="mismatch", reason="size")
    difference = _difference(found, peeked or {})
    if difference is not None:
        return replace(shape, status="mismatch", reason=difference)
    read = _read(sandbox, path, shape, max(deadline - time.monotonic(), 1.0))
    if read.status == "ok" and end.verdict == "longer":
        return replace(read, reason="bytes_after_end")
    return read


def _by_size(end: Ending, expected: int) -> Inspected | None:
    """Judge what needs no parser."""
    if end.size < expected:
        return Inspected("truncated", "short_download")
    if end.verdict == "short" and end.size == expected:
        return Inspected("truncated", "at_source")
    if end.verdict == "short":
        return Inspected("mismatch", "size")
    if end.verdict == "not_hdf5":
        return Inspected("unsupported", "not_hdf5")
    return None


def _described(sandbox: Sandbox, path: Path, seconds: float) -> Mapping[str, Any] | Inspected:
    """Return the contents as h5py tells them, or why not."""
    argument = {"path": str(path.absolute())}
    try:
        answer = sandbox.call("storage.backed:look", argument, seconds=seconds)
    except ChildFailed as failure:
        return Inspected("unsupported", failure.code)
    if answer.get("failed") in ("not_anndata", "damaged"):
        return Inspected("unsupported", str(answer["failed"]))
    contents = answer.get("contents")
    return contents if isinstance(contents, dict) else Inspected("unsupported", "parser_crashed")


def _difference(found: Mapping[str, Any], peeked: Mapping[str, Any]) -> str | None:
    """Compare with what the peek saw; what it didn't see isn't compared."""
    for names, reason in ((("n_obs", "n_vars"), "shape"), (_X, "x")):
        for name in names:
            if peeked.get(name) is not None and peeked[name] != found.get(name):
                return f"{reason}_differs_from_peek"
    return None


def _read(sandbox: Sandbox, path: Path, shape: Inspected, seconds: float) -> Inspected:
    """Let AnnData read the file; its verdict never hides the shape."""
    try:
        argument = {"path": str(path.absolute())}
        answer = sandbox.call("storage.backed:read_backed", argument, seconds=seconds)
    except ChildFailed as failure:
        reader = f"anndata, in a child process: {failure.reason}"
        return replace(shape, status="unsupported", reason=failure.code, reader=reader)
    version, what = _clean(answer.get("version")), _clean(answer.get("what"))
    outcome = answer.get("outcome")
    reader = f"anndata {version}"
    if outcome in ("outside", "crowded"):
        why = "refers_to_other_files" if outcome == "outside" else "parser_crowded"
        return replace(shape, status="unsupported", reason=why)
    if outcome in ("encoding", "error"):
        why = f"{reader}: no reader for {what}" if outcome == "encoding" else f"{reader}: {what}"
        reason = f"unreadable_by_anndata_{version}"
        return replace(shape, status="unsupported", reason=reason, reader=why)
    if any(answer.get(key, both) != both for both in _both(shape) for key in ("shape", "x_shape")):
        reason = "shape_differs_inside"
        return replace(shape, status="mismatch", reason=reason, reader=reader)
    parts = {"backed": "", "tables": ", obs and var alone", "encodings": ", encodings alone"}
    if outcome not in parts:
        return replace(shape, status="unsupported", reason="parser_crashed")
    return replace(shape, reader=reader + parts[outcome])


def _both(shape: Inspected) -> list[list[int | None]]:
    return [] if None in (shape.n_obs, shape.n_vars) else [[shape.n_obs, shape.n_vars]]


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _clean(text: Any) -> str:
    """Return a child's text as one short printable line: names in it are upstream's."""
    return printable(str(text))[:_TEXT]
