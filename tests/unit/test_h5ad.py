"""The builder of .h5ad files: what it writes is read by AnnData, comes out the same each time, and fits."""

from __future__ import annotations

import struct
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import pytest

from h5ad import GENERATIONS, NULLABLE, OBS, Matrix, Spec, build, huge, many, wide
from h5ad.faulty import GOOD, HOSTILE, READABLE, append, cut, cuts, flip, punch

SHAPES = {
    "empty_dense": (0, 5),
    "empty_csr": (0, 5),
    "empty_no_x": (0, 5),
    "one_row": (1, 5),
    "duplicate_names": (4, 3),
    "empty_text": (200, 100),
    "no_columns": (200, 100),
}


@pytest.fixture
def anndata() -> Iterator[Any]:
    """AnnData; what it warns of (old layouts, names that occur twice) is the files' own purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import anndata

        yield anndata


def rich(generation: str) -> Spec:
    """Return a file with something in every place that the layout knows."""
    old = generation in ("0.6", "0.7")
    return Spec(
        generation,
        obs=OBS if old else OBS + NULLABLE,
        layers={} if generation == "0.6" else {"counts": Matrix(), "scaled": Matrix("dense")},
        raw=Matrix(),
        raw_vars=150,
    )


@pytest.mark.parametrize("generation", GENERATIONS)
def test_anndata_reads_every_layout(generation: str, tmp_path: Path, anndata: Any) -> None:
    """Shapes, columns with their kinds, and keys are those of the specification."""
    spec = build(tmp_path / "x.h5ad", rich(generation))
    found = anndata.read_h5ad(tmp_path / "x.h5ad")
    assert found.shape == (spec.n_obs, spec.n_vars)
    assert found.raw.shape == (spec.n_obs, spec.raw_vars)
    assert list(found.obs) == [column.name for column in spec.obs]
    assert list(found.var) == [column.name for column in spec.var]
    assert len(found.obs["cluster"].cat.categories) == 12
    assert found.obs["n_features"].dtype == "int32"
    assert found.obs_names[-1] == "cell_000199"
    assert set(found.layers) == set(spec.layers)
    assert set(found.obsm) == {"X_pca", "X_umap"}
    assert found.uns["neighbors"]["params"]["n_neighbors"] == 15
    assert found.X.nnz == 1_800


@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_forms_of_x(form: str, compression: str | None, tmp_path: Path, anndata: Any) -> None:
    """X comes back in its form, compressed or not."""
    matrix = Matrix(form, compression=compression)
    build(tmp_path / "x.h5ad", Spec(x=matrix))
    found = anndata.read_h5ad(tmp_path / "x.h5ad").X
    assert found.shape == (200, 100)
    assert getattr(found, "format", "dense") == form
    assert found.sum() > 0


@pytest.mark.parametrize("name", READABLE)
def test_readable_cases(name: str, tmp_path: Path, anndata: Any) -> None:
    """Few rows, no X, other formats of HDF5: AnnData reads them, with their shape."""
    path = tmp_path / "x.h5ad"
    READABLE[name](path)
    found = anndata.read_h5ad(path)
    assert found.shape == SHAPES.get(name, (GOOD.n_obs, GOOD.n_vars))
    if name == "duplicate_names":
        assert list(found.var_names) == ["A", "A", "B"]
    if name == "empty_text":
        assert found.uns["doi"] == ""


def test_unknown_encoding_stops_anndata(tmp_path: Path, anndata: Any) -> None:
    """One column of a later encoding makes the whole file unreadable."""
    HOSTILE["unknown_version"](tmp_path / "x.h5ad")
    with pytest.raises(Exception, match=r"9\.9\.9"):
        anndata.read_h5ad(tmp_path / "x.h5ad")


@pytest.mark.parametrize("generation", GENERATIONS)
def test_same_bytes_each_time(generation: str, tmp_path: Path) -> None:
    """A specification fixes every byte."""
    for name in ("a", "b"):
        build(tmp_path / name, rich(generation))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("name", sorted((READABLE | HOSTILE).keys() - {"huge_attribute"}))
def test_cases_have_the_same_bytes_each_time(name: str, tmp_path: Path) -> None:
    """So do the faulty and hostile files."""
    for path in (tmp_path / "a", tmp_path / "b"):
        (READABLE | HOSTILE)[name](path)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("size", "options"),
    [
        (2_000_000_000, {}),
        (2_000_000_003, {"generation": "0.6"}),
        (2_000_000_003, {"generation": "0.7", "columns": 5}),
        (6_000_000_001, {"generation": "0.13", "columns": 60}),
        (6_000_000_002, {"form": "csc", "raw": Matrix(), "raw_vars": 3_000}),
        (9_631_000_007, {"form": "dense", "n_obs": 30_000}),
        (300_000_005, {"uns": many(300), "columns": 40}),
    ],
    ids=lambda value: str(value),
)
def test_huge_files_fit_exactly(size: int, options: dict[str, Any], tmp_path: Path) -> None:
    """A file of any size has exactly that size, occupies almost nothing, and has metadata around X."""
    path = tmp_path / "x.h5ad"
    spec = huge(path, size=size, **options)
    facts = path.stat()
    assert facts.st_size == size
    assert facts.st_blocks * 512 < 40_000_000
    assert spec.padding < 4_000_000
    with h5py.File(path, "r") as file:
        x = file["X"] if "form" in options and options["form"] == "dense" else file["X/data"]
        length = spec.obs and (file["obs"].shape[0] if spec.generation == "0.6" else None)
        assert length in (None, spec.n_obs)
        assert x.nbytes > size / 3
        assert x.id.get_offset() < size / 10
        behind = size - x.id.get_offset() - x.nbytes
        assert behind > 500_000


def test_no_object_keeps_the_time(tmp_path: Path) -> None:
    """Nothing holds when it was made, the datasets that are never written included."""
    began = int(time.time())
    huge(tmp_path / "x.h5ad", size=20_000_000)
    data = (tmp_path / "x.h5ad").read_bytes()
    # A header's message of the time of change: version 1, three unused bytes, seconds since 1970.
    for second in range(began, int(time.time()) + 1):
        assert struct.pack("<B3xI", 1, second) not in data


def test_too_small_a_size_is_refused(tmp_path: Path) -> None:
    """What does not fit is said, not cut."""
    with pytest.raises(ValueError, match="too few"):
        huge(tmp_path / "x.h5ad", size=1_000_000)


def test_wide_tables_have_distinct_columns() -> None:
    """Any number of columns can be had, none twice."""
    for count in (1, 9, 10, 60):
        assert len({column.name for column in wide(count, nullable=True)}) == count


def test_damage(tmp_path: Path) -> None:
    """Cuts, additions, holes and flips change what they say and nothing else."""
    path = tmp_path / "x.h5ad"
    build(path, replace(Spec(), n_obs=20))
    good = path.read_bytes()
    assert cuts(1000) == (0, 7, 8, 100, 500, 999)
    punch(path, 1000, 50)
    assert path.read_bytes() == good[:1000] + bytes(50) + good[1050:]
    path.write_bytes(good)
    flip(path, 2000)
    assert [i for i, (a, b) in enumerate(zip(good, path.read_bytes(), strict=True)) if a != b] == [
        2000
    ]
    path.write_bytes(good)
    append(path, 3)
    assert path.read_bytes() == good + bytes(3)
    cut(path, 7)
    assert path.read_bytes() == good[:7]
