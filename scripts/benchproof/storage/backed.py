"""What h5py and AnnData make of a local file; runs in the sandboxed child and only there.

AnnData's backed mode leaves X where it is and reads everything else, which may be more than memory allows:
then obs and var alone are read, or no more than every element's encoding is looked up. A file that refers
to other files is not given to AnnData at all.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import h5py
from h5py import h5l

#: Decoded bytes that AnnData may be asked to read; they come on top of 0.2 GB for its own code.
MOST_BYTES = 48 * 1024 * 1024
_MOST_OBJECTS, _MOST_STEPS = 100_000, 100
#: A string in memory, the object and its text.
_STRING = 90
_LEFT_ON_DISK = ("X", "raw/X", "raw.X")


def look(argument: Mapping[str, Any], read: object) -> dict[str, Any]:
    """Describe the file at `path` with h5py; returns {"contents"} or {"failed": code}."""
    from benchproof.storage.describe import NotAnnData, describe
    from benchproof.storage.inside import no_more_files

    try:
        with h5py.File(argument["path"], "r", locking=False) as file, no_more_files():
            return {"contents": describe(file)}
    except NotAnnData:
        return {"failed": "not_anndata"}
    except (OSError, KeyError, ValueError, RuntimeError, TypeError, SystemError):
        # What h5py makes of damaged bytes.
        return {"failed": "damaged"}


def read_backed(argument: Mapping[str, Any], read: object) -> dict[str, Any]:
    """Let AnnData read the file at `path`; returns {"version", "outcome"} and what belongs to it.

    `outcome` is backed, tables or encodings (how much was read), outside (the file refers to others),
    crowded (too many objects, or too deep), encoding (AnnData knows no reader, `what` names it) or error
    (`what` is its kind). `shape` is AnnData's, `x_shape` that of X.
    """
    warnings.simplefilter("ignore")
    import anndata

    answer: dict[str, Any] = {"version": anndata.__version__}
    with h5py.File(argument["path"], "r", locking=False) as file:
        survey = Survey.of(file)
        if survey.outside or survey.crowded:
            return answer | {"outcome": "outside" if survey.outside else "crowded"}
        unknown = _unknown_encoding(file, survey)
        if unknown is not None:
            return answer | {"outcome": "encoding", "what": unknown}
    try:
        return answer | _read(argument["path"], survey)
    except MemoryError:
        raise
    except Exception as error:
        # Whatever AnnData raises over a stranger's file is the answer, and its text may quote the file.
        return answer | {"outcome": "error", "what": type(error).__name__}


@dataclass(slots=True)
class Survey:
    """All objects of a file, each once: their paths, and the bytes that reading them would take."""

    paths: list[str] = field(default_factory=list)
    bytes: dict[str, int] = field(default_factory=dict)
    outside: bool = False
    crowded: bool = False

    @classmethod
    def of(cls, file: h5py.File) -> Survey:
        """Walk a file along its hard links; cycles end, nothing is read, no link is followed out of it."""
        survey, seen, waiting = cls(), set(), [("", file["/"])]
        while waiting and not survey.crowded:
            path, group = waiting.pop()
            for name, kind in _links(group):
                survey.outside |= kind == h5l.TYPE_EXTERNAL
                if kind != h5l.TYPE_HARD:
                    continue
                node, below = group[name], f"{path}/{_shown(name)}"
                address = h5py.h5o.get_info(node.id).addr
                if address in seen:
                    continue
                seen.add(address)
                if len(seen) > _MOST_OBJECTS or below.count("/") > _MOST_STEPS:
                    survey.crowded = True
                    break
                survey.paths.append(below)
                if isinstance(node, h5py.Group):
                    waiting.append((below, node))
                elif isinstance(node, h5py.Dataset):
                    survey._add(below, node)
        return survey

    def _add(self, path: str, dataset: h5py.Dataset) -> None:
        plist = dataset.id.get_create_plist()
        self.outside |= plist.get_external_count() > 0 or dataset.is_virtual
        if not _is_in(path, _LEFT_ON_DISK):
            kind = dataset.id.get_type()
            self.bytes[path] = (dataset.size or 0) * (_STRING if _varies(kind) else kind.get_size())

    def total(self, *parts: str) -> int:
        """Return the bytes of what lies below some of the root's members, of everything without any."""
        return sum(n for path, n in self.bytes.items() if not parts or _is_in(path, parts))


def _is_in(path: str, parts: tuple[str, ...]) -> bool:
    """True for one of the root's members and for what lies below it."""
    return f"{path}/".startswith(tuple(f"/{part}/" for part in parts))


def _links(group: h5py.Group) -> Iterator[tuple[bytes, int]]:
    names: list[bytes] = []
    group.id.links.iterate(names.append)
    for name in names:
        yield name, group.id.links.get_info(name).type


def _varies(kind: Any) -> bool:
    """True for strings of any length, and for records with one inside."""
    if isinstance(kind, h5py.h5t.TypeCompoundID):
        return any(_varies(kind.get_member_type(n)) for n in range(kind.get_nmembers()))
    return bool(kind.detect_class(h5py.h5t.VLEN)) or (
        isinstance(kind, h5py.h5t.TypeStringID) and bool(kind.is_variable_str())
    )


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _unknown_encoding(file: h5py.File, survey: Survey) -> str | None:
    """Return the first element, by path, that AnnData has no reader for: "type version at path"."""
    from anndata.experimental import read_dispatched

    for path in ["/", *sorted(survey.paths)]:
        node = file[path]
        if not isinstance(node, h5py.Group | h5py.Dataset):
            continue
        try:
            read_dispatched(node, lambda *_, **__: None)
        except Exception:
            # The registry is asked before anything is read.
            named = (node.attrs.get(f"encoding-{part}") for part in ("type", "version"))
            return f"{' '.join(str(text) for text in named)} at {path}"
    return None


def _read(path: str, survey: Survey) -> dict[str, Any]:
    """Read as much as memory allows."""
    import anndata

    if survey.total() <= MOST_BYTES:
        data = anndata.read_h5ad(path, backed="r")
        try:
            x = data.X if "/X" in survey.paths else None
            shape = getattr(x, "shape", None)
            return {"outcome": "backed", "shape": list(data.shape)} | (
                {"x_shape": [int(n) for n in shape]} if shape else {}
            )
        finally:
            data.file.close()
    if survey.total("obs", "var") > MOST_BYTES:
        return {"outcome": "encodings"}
    with h5py.File(path, "r", locking=False) as file:
        tables = [anndata.io.read_elem(file[name]) for name in ("obs", "var")]
    return {"outcome": "tables", "shape": [len(table) for table in tables]}
