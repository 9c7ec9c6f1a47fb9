"""What can go wrong behind the handles: all defects stand on one server, each behind a handle of its own."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np

from benchproof.inventory.evaluations import Projected, _handles
from benchproof.journal import Journal
from benchproof.storage.bring import bring
from benchproof.storage.contents import Peeks, peek_all
from benchproof.storage.fetch import Store
from benchproof.storage.files import file_rows
from benchproof.storage.identity import Identity
from benchproof.storage.links import Links
from benchproof.storage.opening import World
from benchproof.storage.probe import probe_all
from benchproof.storage.resolve import handle_rows, resolve
from benchproof.storage.signer import Signer
from defects.cases import CASES, Case, Outcome
from defects.trial import Auditor, accuses, matches
from h5ad import build
from h5ad.faulty import GOOD, HOSTILE, append, cut, flip, punch
from unit.http.conftest import Client
from upstream import Upstream

Stage = Literal["sign", "probe", "peek", "fetch"]
Arrange = Callable[[Upstream, str, str], object]
STAGES: tuple[Stage, ...] = ("sign", "probe", "peek", "fetch")
SOUND = tuple(f"latch://9{number}.node" for number in range(3))
SIZE = 1_843_320


@dataclass(frozen=True)
class Behind:
    """A defect behind a handle: what stands there, and what happens from a stage on."""

    name: str
    says: str
    handle: str
    seen: tuple[str, ...]
    file: Callable[[Path], object] | None
    when: Stage
    arrange: Arrange | None


BEHIND: list[Behind] = []


def _behind(
    name: str,
    says: str,
    *seen: str,
    file: Callable[[Path], object] | None = None,
    when: Stage = "sign",
    arrange: Arrange | None = None,
    handle: str = "",
) -> None:
    """Enter a defect; `{h}` in what is seen is its handle."""
    made = handle or f"latch://{5000 + len(BEHIND)}.node"
    BEHIND.append(
        Behind(
            name, says, made, tuple(one.replace("{h}", made) for one in seen), file, when, arrange
        )
    )
    case = len(BEHIND) - 1

    def run(_: Auditor, seed: int) -> Outcome:
        lines = observed()
        mine = BEHIND[case]
        missing = tuple(p for p in mine.seen if not any(matches(line, (p,)) for line in lines))
        neighbours = [line for line in lines if accuses(line) and any(s in line for s in SOUND)]
        return Outcome(missing, tuple(neighbours) if case == 0 else ())

    CASES.append(Case("storage", name, says, run, tuple(seen)))


def _fault(kind: str, method: str = "GET", **given: Any) -> Arrange:
    """Return an arrangement of a fault of the upstream for one object."""
    return lambda cloud, key, _: cloud.add(kind, f"{method} /storage/{key}", **given)


def _signer(kind: str, **given: Any) -> Arrange:
    """Return an arrangement of an answer of the signer about one handle."""

    def arrange(cloud: Upstream, _: str, handle: str) -> None:
        SIGNED[handle] = (kind, given)

    return arrange


SIGNED: dict[str, tuple[str, dict[str, Any]]] = {}


# --- the signer --------------------------------------------------------------------------------------

_behind(
    "handle_refused",
    "A handle is not shared any more",
    "handles {h} status=refused",
    arrange=lambda cloud, _, handle: cloud.storage.refuse(handle),
)
for _name, _says, _status, _seen in (
    ("signer_forbids", "The signer wants credentials", 401, "handles {h} status=unauthorized"),
    ("signer_fails", "The signer fails", 500, "handles {h} status=unknown"),
    ("signer_busy", "The signer is busy without end", 503, "handles {h} status=unknown"),
    ("signer_missing", "The signer knows no such address", 404, "handles {h} status=unknown"),
):
    _behind(_name, _says, _seen, arrange=_signer("status", status=_status))
_behind(
    "signer_no_json",
    "The signer answers with a web page",
    "handles {h} status=unknown|handles {h} status=malformed",
    arrange=_signer("body", body=b"<html>welcome</html>"),
)
_behind(
    "signer_no_url",
    "The signer's answer holds no link",
    "handles {h} status=malformed",
    arrange=_signer("body", body=b'{"data": {}}'),
)
_behind(
    "signer_other_host",
    "The signer's link leads to a host that is not configured",
    "handles {h} status=malformed|handles {h} reason=host_not_allowed|objects {h} reason=host_not_allowed",
    arrange=_signer("body", body=b'{"data": {"url": "https://evil.example.invalid/x"}}'),
)
_behind(
    "signer_file",
    "The signer's link is a local file",
    "handles {h} status=malformed",
    arrange=_signer("body", body=b'{"data": {"url": "file:///etc/passwd"}}'),
)
for _name, _says, _handle in (
    ("handle_spelt", "A handle has one slash", "latch:/4242.node"),
    ("handle_empty", "A handle is empty", "latch://"),
    ("handle_other", "A handle is an address", "https://example.invalid/1.node"),
    ("handle_lines", "A handle holds a line break", "latch://42\n43.node"),
):
    _behind(_name, _says, "handles {h} status=malformed", handle=_handle)

# --- the probe ---------------------------------------------------------------------------------------

_PROBES: tuple[tuple[str, str, str, dict[str, Any], str], ...] = (
    ("object_gone", "The object is gone", "missing", {}, "objects {h} status=missing"),
    ("object_denied", "The object is denied", "denied", {}, "objects {h} status=denied"),
    ("object_expired", "Each link is dead at once", "expired", {}, "objects {h} status=denied"),
    (
        "object_busy",
        "Storage is busy without end",
        "status",
        {"status": 503, "body": "SlowDown"},
        "objects {h} status=throttled",
    ),
    ("object_fails", "Storage fails", "status", {"status": 500}, "objects {h} status=unknown"),
    (
        "object_resets",
        "The connection breaks each time",
        "reset",
        {"bytes": -1},
        "objects {h} status=unknown",
    ),
    (
        "object_range",
        "Another range comes than was asked for",
        "wrong_range",
        {},
        "objects {h} status=unsupported",
    ),
    (
        "object_gzip",
        "The answer is compressed on its way",
        "gzip",
        {},
        "objects {h} reason=compressed",
    ),
    (
        "object_page",
        "A web page comes in place of the object",
        "garbage",
        {},
        "objects {h} reason=error_page",
    ),
    (
        "object_whole",
        "The whole object comes where a part was asked for",
        "ignore_range",
        {},
        "objects {h} reason=range_ignored",
    ),
    (
        "object_elsewhere",
        "Storage leads to a host that is not configured",
        "redirect",
        {"location": "https://evil.example.invalid/x"},
        "objects {h} status=unsupported|objects {h} reason=host_not_allowed|objects {h} status=unknown",
    ),
    (
        "object_416",
        "A range inside the object is refused",
        "status",
        {"status": 416, "body": ""},
        "objects {h} status=unsupported|objects {h} reason=range_refused|objects {h} status=unknown",
    ),
)
for _name, _says, _kind, _given, _seen in _PROBES:
    _behind(_name, _says, _seen, when="probe", arrange=_fault(_kind, **_given))
_behind(
    "object_empty",
    "The object has no bytes",
    "objects {h} container=empty",
    "contents {h} status=unsupported|contents {h} status=truncated",
    file=lambda path: path.write_bytes(b""),
)
_behind(
    "object_text",
    "The object is a text, named .h5ad",
    "objects {h} container=text",
    "contents {h} reason=not_hdf5",
    file=lambda path: path.write_bytes(b"barcode,n\n" * 500),
)
_behind(
    "object_pointer",
    "The object is a Git LFS pointer",
    "contents {h} status=unsupported",
    file=lambda path: path.write_text("version https://git-lfs.github.com/spec/v1\nsize 12\n"),
)


# --- what is inside ----------------------------------------------------------------------------------


def _damaged(change: Callable[..., object], *arguments: int) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        build(path, GOOD)
        change(path, *arguments)

    return write


def _cut_half(path: Path) -> None:
    cut(path, path.stat().st_size // 2)


def _cut_last(path: Path) -> None:
    cut(path, path.stat().st_size - 1)


def _late_zeros(path: Path) -> None:
    size = path.stat().st_size
    punch(path, size // 3, size // 3)


_behind(
    "cut_in_half",
    "The object ends in the middle",
    "contents {h} status=truncated",
    file=_damaged(_cut_half),
)
_behind(
    "cut_by_one",
    "The object lacks its last byte",
    "contents {h} status=truncated",
    file=_damaged(_cut_last),
)
_behind(
    "cut_to_header",
    "Eight bytes of the object are there",
    "contents {h} status=truncated",
    file=_damaged(cut, 8),
)
_behind(
    "zeros_inside",
    "A third of the object is zeros",
    "contents {h} status=unsupported|files {h} status=mismatch|files {h} status=unsupported",
    file=_damaged(_late_zeros),
)
_behind(
    "signature_flipped",
    "A bit of the signature is another",
    "contents {h} status=unsupported",
    file=_damaged(flip, 1),
)
for _name, _says, _seen in (
    ("other_hdf5", "HDF5 that is no AnnData", "contents {h} reason=not_anndata"),
    ("lengths_differ", "obs has fewer rows than X", "files {h} reason=shape_differs_inside"),
    ("external_link", "A link leads into another file", "files {h} reason=refers_to_other_files"),
    ("external_storage", "X lies in another file", "files {h} reason=refers_to_other_files"),
    ("unknown_version", "An encoding that no reader knows", "files {h} status=unsupported"),
    ("dangling_link", "A link inside leads nowhere", "files {h} status=unsupported"),
    ("cycle", "A group holds itself", "files {h} status=unsupported"),
):
    _behind(f"file_{_name}", _says, _seen, file=HOSTILE[_name])


def _values_nan(path: Path) -> None:
    build(path, GOOD)
    with h5py.File(path, "r+") as file:
        file["X/data"][...] = np.nan


def _codes_out(path: Path) -> None:
    build(path, GOOD)
    with h5py.File(path, "r+") as file:
        codes = file["obs/ct/codes"]
        codes[...] = np.full(codes.shape, 99, codes.dtype)


def _column_short(path: Path) -> None:
    build(path, GOOD)
    with h5py.File(path, "r+") as file:
        name = "n_reads"
        values = file[f"obs/{name}"][:-5]
        attributes = dict(file[f"obs/{name}"].attrs)
        del file[f"obs/{name}"]
        file[f"obs/{name}"] = values
        file[f"obs/{name}"].attrs.update(attributes)


_behind(
    "file_column_short",
    "A column of obs is five rows too short",
    "files {h} status=mismatch|files {h} status=unsupported",
    file=_column_short,
)
_behind(
    "file_codes_out",
    "Categories have codes that no category has",
    "files {h} status=mismatch|files {h} status=unsupported",
    file=_codes_out,
)
_behind(
    "file_of_nan",
    "Every value of X is NaN",
    "files {h} status=mismatch|files {h} status=unsupported",
    file=_values_nan,
)

# --- changes between the stages ----------------------------------------------------------------------


def _replace(cloud: Upstream, _: str, handle: str) -> None:
    cloud.storage.replace_object(
        handle, path=None, data=b"\x89HDF\r\n\x1a\n" + b"\0" * 4096, size=4104
    )


def _other(cloud: Upstream, _: str, handle: str) -> None:
    with tempfile.NamedTemporaryFile(suffix=".h5ad", delete=False) as file:
        build(Path(file.name))
    data = Path(file.name).read_bytes()
    Path(file.name).unlink()
    cloud.storage.replace_object(handle, path=None, data=data, size=len(data))


def _lying(cloud: Upstream, _: str, handle: str) -> None:
    entry = cloud.storage.object_of(handle)
    data = Path(str(entry.path)).read_bytes()
    wrong = data[:-100] + bytes(100)
    etag = f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'
    cloud.storage.replace_object(
        handle,
        path=None,
        data=wrong,
        size=len(wrong),
        etag=etag,
        version=entry.version,
        modified_at=entry.modified,
    )


_behind(
    "replaced_before_peek",
    "The object is replaced by a damaged one after it was sized",
    "contents {h} status=*",
    "contents {h} reason=*",
    when="peek",
    arrange=_replace,
)
_behind(
    "replaced_before_fetch",
    "The object is replaced by another one after it was looked into",
    "files {h} reason=newer_than_probe",
    when="fetch",
    arrange=_other,
)
_behind(
    "gone_before_fetch",
    "The object is gone when it is fetched",
    "files {h} status=missing",
    when="fetch",
    arrange=_fault("missing"),
)
_behind(
    "denied_before_fetch",
    "The object is denied when it is fetched",
    "files {h} status=denied",
    when="fetch",
    arrange=_fault("denied"),
)
_behind(
    "bytes_before_fetch",
    "A byte of the object is another on its way",
    "files {h} status=mismatch",
    when="fetch",
    arrange=_fault("wrong_bytes"),
)
_behind(
    "content_before_fetch",
    "The content is another under the same version",
    "files {h} status=mismatch",
    when="fetch",
    arrange=_lying,
)
_behind(
    "size_before_fetch",
    "Storage states another size than before",
    "files {h} status=mismatch|files {h} status=changed|files {h} reason=wrong_total",
    when="fetch",
    arrange=_fault("wrong_total"),
)
_behind(
    "gzip_before_fetch",
    "The fetched answer is compressed on its way",
    "files {h} reason=compressed",
    when="fetch",
    arrange=_fault("gzip"),
)
_behind(
    "trailing_byte",
    "A byte stands behind the end of the object",
    "files {h} reason=bytes_after_end",
    file=_damaged(append),
)


@cache
def observed() -> tuple[str, ...]:
    """Return what resolve, probe, peek, fetch and inspection say of all these handles, as lines."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cloud = stack.enter_context(Upstream(folder / "none"))
        keys = _share(cloud, folder)
        cloud.add("call", "POST /sign", action=lambda request: None)
        _answers(cloud)
        clients = [
            stack.enter_context(Client(cloud.url, tries=2, max_wait_s=60, timeout_s=2))
            for _ in range(2)
        ]
        signer = Signer(clients[0], f"{cloud.url}/sign", [cloud.url])
        links = Links(signer, Journal(folder / "links.jsonl"))
        world = World(signer, clients[1], links, (clients[0].traffic, clients[1].traffic))
        return tuple(_stages(cloud, world, folder, keys))


def _share(cloud: Upstream, folder: Path) -> dict[str, str]:
    keys = {}
    build(folder / "good.h5ad", GOOD)
    for handle in (*SOUND, *(one.handle for one in BEHIND)):
        mine = next((one for one in BEHIND if one.handle == handle), None)
        path = folder / "good.h5ad"
        if mine is not None and (mine.file or mine.when in ("peek", "fetch")):
            path = folder / f"{mine.name}.h5ad"
            (mine.file or (lambda where: build(where, GOOD)))(path)
        keys[handle] = cloud.storage.share(handle, path=path, size=path.stat().st_size).key
    return keys


def _answers(cloud: Upstream) -> None:
    """Let the signer answer about some handles as their defects say."""
    usual = cloud.storage.sign

    def sign(request: Any) -> Any:
        from upstream.reply import Reply

        asked = json.loads(request.body).get("path")
        kind, given = SIGNED.get(asked, ("", {}))
        if kind == "status":
            return Reply(given["status"], {}, b"{}")
        if kind == "body":
            return Reply(200, {"Content-Type": "application/json"}, given["body"])
        return usual(request)

    cloud.storage.sign = sign  # type: ignore[method-assign]


def _stages(cloud: Upstream, world: World, folder: Path, keys: dict[str, str]) -> Iterable[str]:
    def begin(stage: Stage) -> None:
        for one in BEHIND:
            if one.when == stage and one.arrange:
                one.arrange(cloud, keys[one.handle], one.handle)

    def now() -> datetime:
        return datetime(2026, 8, 28, 12, 0, tzinfo=UTC)

    def journal(name: str) -> Journal:
        return Journal(folder / f"{name}.jsonl")

    out = Projected()
    _handles(out, "demo/one", "e", list(keys), lambda *_: None)
    rows = out.eval_handles
    begin("sign")
    resolved = resolve(rows, world, journal("resolve"), connections=4, now=now)
    yield from _told("handles", handle_rows(resolved, rows))
    begin("probe")
    reachable = [one.handle for one in resolved if one.status == "reachable"]
    objects = [
        one.row() for one in probe_all(reachable, world, journal("probe"), connections=4, now=now)
    ]
    yield from _told("objects", objects)
    begin("peek")
    peeks = Peeks(folder / "peeks", "1")
    contents = [
        one.row()
        for one in peek_all(objects, world, peeks, journal("peek"), connections=4, now=now)
    ]
    yield from _told("contents", contents)
    begin("fetch")
    chosen = [
        {
            "handle": row["handle"],
            "suffix": "h5ad",
            "etag": row["etag"],
            "size_bytes": row["size_bytes"],
            "last_modified": Identity.of_row(row).last_modified,
        }
        for row in objects
        if row["status"] == "ok" and row["container"] == "hdf5" and row["reason"] is None
    ]
    settings = {
        "http": {"tries": 2, "max_wait_s": 60},
        "fetch": {"connections": 2, "chunk_bytes": 65_536, "max_total_bytes": 10**9},
    }
    records = bring(chosen, world, Store(folder / "snapshots"), settings)
    yield from _told(
        "files",
        file_rows(
            records, {"parts": {"0": chosen}, "rows": []}, contents, folder / "snapshots", now()
        ),
    )


def _told(table: str, rows: Iterable[dict[str, Any]]) -> Iterable[str]:
    for row in rows:
        yield from (f"{table} {row['handle']} {column}={value}" for column, value in row.items())
