"""Faulty and hostile files: cut, changed, of unknown layout, or made to trap a reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from h5ad.spec import OBS, Column, Matrix, Spec
from h5ad.write import build

#: The file of the cases below: small, and never square.
GOOD = Spec(n_obs=2_000, n_vars=100, obs=(*OBS, Column("ct", "categorical", 5)))


def cuts(size: int) -> tuple[int, ...]:
    """Return the lengths to cut a file of `size` bytes to."""
    return 0, 7, 8, 100, size // 2, size - 1


def cut(path: Path, length: int) -> None:
    """Keep the first `length` bytes."""
    path.write_bytes(path.read_bytes()[:length])


def append(path: Path, count: int = 1) -> None:
    """Add bytes behind the end."""
    path.write_bytes(path.read_bytes() + b"\0" * count)


def punch(path: Path, start: int, length: int) -> None:
    """Put zeros in place of `length` bytes, as a fetch that lost a range does."""
    data = bytearray(path.read_bytes())
    data[start : start + length] = bytes(len(data[start : start + length]))
    path.write_bytes(data)


def flip(path: Path, offset: int, bit: int = 0) -> None:
    """Change one bit."""
    data = bytearray(path.read_bytes())
    data[offset] ^= 1 << bit
    path.write_bytes(data)


def changed(path: Path, change: Callable[[Any], None], spec: Spec = GOOD) -> None:
    """Write `spec` and let `change` alter the open file."""
    build(path, spec)
    with h5py.File(path, "r+") as file:
        change(file)


def unknown_version(path: Path) -> None:
    """obs/ct says that a later writer encoded it."""
    changed(path, lambda file: file["obs/ct"].attrs.__setitem__("encoding-version", "9.9.9"))


def unknown_matrix(path: Path) -> None:
    """X says that it is something which nobody knows."""
    changed(path, lambda file: file["X"].attrs.__setitem__("encoding-type", "demo_matrix"))


def no_x(path: Path) -> None:
    """There is no X."""
    build(path, replace(GOOD, x=Matrix("absent")))


def null_x(path: Path) -> None:
    """X is written as nothing."""
    build(path, replace(GOOD, x=Matrix("null")))


def nullable_index(path: Path) -> None:
    """The names of cells and features may be missing."""
    build(path, replace(GOOD, generation="0.13"))


def of_shape(form: str, n_obs: int, n_vars: int = 5) -> Callable[[Path], None]:
    """Return a writer of a file with few or no rows."""

    def write(path: Path) -> None:
        build(path, Spec(n_obs=n_obs, n_vars=n_vars, x=Matrix(form), obsp=()))

    return write


def duplicate_names(path: Path) -> None:
    """Three features, two of them with the same name."""
    build(path, Spec(n_obs=4, n_vars=3, var_names=("A", "A", "B")))


def empty_text(path: Path) -> None:
    """A text in uns is empty."""
    build(path, Spec(uns={"doi": ""}))


def no_columns(path: Path) -> None:
    """obs has an index alone."""
    build(path, Spec(obs=()))


def external_link(path: Path) -> None:
    """A layer is a link into another file."""
    changed(
        path, lambda file: file["layers"].__setitem__("l", h5py.ExternalLink("/etc/hosts", "/"))
    )


def external_storage(path: Path) -> None:
    """X lies in another file: reading it would bring that file's bytes into a report."""

    def change(file: Any) -> None:
        outside = [("/etc/hosts", 0, h5py.h5f.UNLIMITED)]
        file["layers"].create_dataset("l", (2_000, 100), "uint8", external=outside)
        file["layers/l"].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})

    changed(path, change)


def dangling_link(path: Path) -> None:
    """A soft link leads nowhere."""
    changed(path, lambda file: file["obsm"].__setitem__("gone", h5py.SoftLink("/nowhere")))


def cyclic_link(path: Path) -> None:
    """A soft link leads to itself."""
    changed(path, lambda file: file["uns"].__setitem__("loop", h5py.SoftLink("/uns/loop")))


def cycle(path: Path) -> None:
    """A group holds itself."""
    changed(path, lambda file: file["uns"].__setitem__("self", file["uns"]))


def huge_attribute(path: Path) -> None:
    """An attribute of 32 MB, in a file of the newest format."""
    latest(path)
    with h5py.File(path, "r+", libver="latest") as file:
        file.attrs["notes"] = np.zeros(32_000_000, "uint8")


def many_attributes(path: Path) -> None:
    """200 attributes of 30 KB on one group."""

    def change(file: Any) -> None:
        for number in range(200):
            file["uns"].attrs[f"a{number}"] = np.zeros(30_000, "uint8")

    changed(path, change)


def deep(path: Path) -> None:
    """1,000 groups, each in the one before."""

    def change(file: Any) -> None:
        group = file["uns"]
        for _ in range(1_000):
            group = group.create_group("d")
            group.attrs["encoding-type"], group.attrs["encoding-version"] = "dict", "0.1.0"

    changed(path, change)


def declared_huge(path: Path) -> None:
    """obs has a column of 2**40 rows that were never written, in a file of normal size."""

    def change(file: Any) -> None:
        column = file["obs"].create_dataset("n", (1 << 40,), "int64", chunks=(1 << 20,))
        column.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        file["obs"].attrs["column-order"] = ["n"]

    changed(path, change)


def lengths_differ(path: Path) -> None:
    """obs has fewer rows than X."""
    build(path, GOOD)
    with h5py.File(path, "r+") as file:
        file["X"].attrs["shape"] = np.array([2_001, 100])


def other_hdf5(path: Path) -> None:
    """HDF5 that is no AnnData."""
    with h5py.File(path, "w") as file:
        file["matrix/barcodes"] = np.arange(5)


def latest(path: Path) -> None:
    """The same content in HDF5's newest format: superblock 3, other headers and links."""
    plain = path.with_suffix(".plain")
    build(plain, GOOD)
    with h5py.File(plain, "r") as source, h5py.File(path, "w", libver="latest") as file:
        file.attrs.update(source.attrs)
        for name in source:
            source.copy(name, file)
    plain.unlink()


def user_block(path: Path) -> None:
    """HDF5 begins 512 bytes into the file."""
    plain = path.with_suffix(".plain")
    build(plain, GOOD)
    with h5py.File(plain, "r") as source, h5py.File(path, "w", userblock_size=512) as file:
        file.attrs.update(source.attrs)
        for name in source:
            source.copy(name, file)
    plain.unlink()


#: Name -> writer of files that AnnData 0.12.19 reads.
READABLE: dict[str, Callable[[Path], None]] = {
    "no_x": no_x,
    "null_x": null_x,
    "nullable_index": nullable_index,
    "empty_dense": of_shape("dense", 0),
    "empty_csr": of_shape("csr", 0),
    "empty_no_x": of_shape("absent", 0),
    "one_row": of_shape("dense", 1),
    "duplicate_names": duplicate_names,
    "empty_text": empty_text,
    "no_columns": no_columns,
    "many_attributes": many_attributes,
    "latest": latest,
    "user_block": user_block,
}
#: Name -> writer of files that are HDF5 and trap or stop a reader.
HOSTILE: dict[str, Callable[[Path], None]] = {
    "unknown_version": unknown_version,
    "unknown_matrix": unknown_matrix,
    "external_link": external_link,
    "external_storage": external_storage,
    "dangling_link": dangling_link,
    "cyclic_link": cyclic_link,
    "cycle": cycle,
    "huge_attribute": huge_attribute,
    "deep": deep,
    "declared_huge": declared_huge,
    "lengths_differ": lengths_differ,
    "other_hdf5": other_hdf5,
}
