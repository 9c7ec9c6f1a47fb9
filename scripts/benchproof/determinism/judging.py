"""The files that derivations left, compared: which differ, where first, and what they follow."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchproof import tables
from benchproof.analysis import reproduction
from benchproof.determinism.compare import Disagreement, Product, suspects
from benchproof.recorded import rows

Folders = Mapping[str, Path]


def products(folders: Folders) -> list[Product]:
    """Return every file that any derivation made, by name, with its digests."""
    names = {
        path.relative_to(folder).as_posix()
        for folder in folders.values()
        for path in folder.rglob("*")
        if path.is_file()
    }
    return [
        Product(name, {one: _digest(folder / name) for one, folder in folders.items()})
        for name in sorted(names)
    ]


def _digest(path: Path) -> str | None:
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def disagreement(
    product: Product, folders: Folders, given: Mapping[str, Mapping[str, str]]
) -> Disagreement:
    """Return what is to be said of a file that differs."""
    groups = product.groups
    one, other = (folders[group[0]] / product.name for group in groups[:2])
    return Disagreement(
        product.name, tuple(groups), first_difference(one, other), suspects(product.digests, given)
    )


def first_difference(one: Path, other: Path) -> str:
    """Return where two makings of a file first differ, without what stands there."""
    if not (one.is_file() and other.is_file()):
        return "not made by all"
    if one.suffix == ".parquet":
        return _in_table(one, other)
    left, right = one.read_bytes().split(b"\n"), other.read_bytes().split(b"\n")
    pairs = enumerate(zip(left, right, strict=False), start=1)
    line = next((number for number, (a, b) in pairs if a != b), min(len(left), len(right)) + 1)
    return f"line {line}"


def _in_table(one: Path, other: Path) -> str:
    name = one.stem
    left, right = rows(one.parent, name), rows(other.parent, name)
    key = tables.spec_of(name).key
    if found := reproduction.compare(name, key, left, right):
        first = found[0]
        place = " ".join(f"{column}={reproduction.shown(value)}" for column, value in first.key)
        return f"row {place}, {f'column {first.column}' if first.column else 'only in some'}"
    for number, (a, b) in enumerate(zip(left, right, strict=True)):
        if any(a[column] != b[column] for column in key):
            return f"the order of rows, from row {number}"
    about = (tables.about(one), tables.about(other))
    keys = [key for key in sorted({*about[0], *about[1]}) if about[0].get(key) != about[1].get(key)]
    return f"metadata: {', '.join(keys)}" if keys else "how it is packed; its rows are the same"


def against_report(report: Path, made: Path, names: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the content tables of the report that are the same as these, and of the others, why.

    A table that other code, keys or versions made is not compared; "" says that it differs.
    """
    same, others = [], {}
    for name in names:
        theirs, ours = report / f"{name}.parquet", made / f"{name}.parquet"
        if not theirs.is_file():
            others[name] = "not there yet"
        elif theirs.read_bytes() == ours.read_bytes():
            same.append(name)
        else:
            others[name] = reproduction.makers(_about(theirs), _about(ours))
    return same, others


def _about(path: Path) -> Mapping[str, Any]:
    try:
        return tables.about(path)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
