"""The sixteen snapshots of scbench and spatialbench as .h5ad files: real structure around holes.

Each has exactly the size that its handle states and occupies a few megabytes at most. Shapes are invented,
do not depend on the seed, and stand in SNAPSHOTS.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from family.model import Handle
from family.shape import SIZES_MB
from family.tree import FIRST_COMMIT_AT
from h5ad import Column, Matrix, Spec, exactly, many, wide

_CELLS = (
    Column("donor", "categorical", 6),
    Column("batch", "categorical", 3),
    Column("leiden", "categorical", 17),
    Column("phase", "ordered", 3),
    Column("total_counts", "float32"),
    Column("n_features_by_counts", "int32"),
    Column("pct_counts_top", "float64"),
    Column("doublet_score", "float32"),
    Column("is_doublet", "bool"),
)
_SPOTS = (
    Column("section", "categorical", 4),
    Column("region", "categorical", 9),
    Column("in_tissue", "int64"),
    Column("array_row", "int64"),
    Column("array_col", "int64"),
    Column("total_counts", "float32"),
    Column("spot_id", "string"),
)
_PLAIN = _SPOTS[:-1]
_MISSING = (Column("age_months", "nullable-integer"), Column("treated", "nullable-boolean"))
_CSR, _CSC, _DENSE = (Matrix(form, hole=True) for form in ("csr", "csc", "dense"))
_COUNTS = Matrix("csr", hole=True, stored=2_000_000)
_GENES = (Column("highly_variable", "bool"), Column("means", "float64"))
_SPACE = {"spatial": 2, "X_pca": 30}
_EMBEDDED = {"X_pca": 50, "X_umap": 2}

#: What the snapshots hold, in the order of shape.SIZES_MB: layout, cells, features, X, obs, var and more.
SNAPSHOTS: dict[str, tuple[Spec, ...]] = {
    "scbench": (
        Spec("0.8", 4_811, 8_211, _CSR, _CELLS, obsm=_EMBEDDED),
        Spec("0.7", 1_204, 4_977, _CSR, _CELLS[:6], obsm=_EMBEDDED),
        Spec("0.12", 1_502, 4_003, _DENSE, _CELLS, _GENES, raw=_CSR, raw_vars=6_020),
        Spec("0.12", 5_307, 9_113, _CSR, _CELLS + _MISSING, layers={"counts": _COUNTS}),
        Spec("0.13", 4_245, 7_057, _CSR, _CELLS + _MISSING, _GENES, obsm=_EMBEDDED),
        Spec("0.12", 14_802, 21_053, _CSR, wide(24), _GENES, raw=_COUNTS, raw_vars=25_601),
    ),
    "spatialbench": (
        Spec("0.6", 987, 3_411, _CSR, _SPOTS, obsm=_SPACE, obsp=()),
        Spec("0.12", 3_119, 8_192, _CSC, _SPOTS, _GENES, obsm=_SPACE),
        Spec("0.8", 4_992, 4_808, _DENSE, _SPOTS, _GENES, obsm=_SPACE, raw=_CSR, raw_vars=5_943),
        Spec("0.12", 3_639, 9_070, replace(_CSR, dtype="float64"), _SPOTS, obsm=_SPACE),
        Spec("0.13", 5_551, 8_090, Matrix("null"), _SPOTS, _GENES, raw=_CSR, raw_vars=8_090),
        Spec("0.12", 9_014, 13_538, _CSR, wide(60, nullable=True), _GENES, uns=many(200)),
        Spec("0.12", 12_480, 20_007, _DENSE, _PLAIN, (), obsm=_SPACE, raw=_CSR, raw_vars=20_007),
        Spec("0.12", 26_306, 18_285, _CSR, _PLAIN, _GENES, layers={"counts": _COUNTS}),
        Spec("0.13", 38_077, 26_601, _CSR, _PLAIN + _MISSING, (), raw=_COUNTS, raw_vars=26_601),
        Spec("0.12", 60_138, 36_009, _DENSE, _PLAIN, (), obsm=_SPACE, raw=_CSR, raw_vars=36_009),
    ),
}
assert {name: len(specs) for name, specs in SNAPSHOTS.items()} == {
    name: len(sizes) for name, sizes in SIZES_MB.items()
}

_made: dict[tuple[str, int, int], Path] = {}


def write_snapshot(folder: Path, name: str, place: int, handle: Handle) -> Handle:
    """Write the snapshot that a repository's handle stands for and return the handle with its path.

    Its time of change is fixed too, so that the storage gives it the same entity tag each time.
    """
    path = folder / f"{handle.handle.removeprefix('latch://').removesuffix('.node')}.h5ad"
    key = (name, place, handle.size)
    if not _copied(_made.get(key), path, handle.size):
        exactly(path, SNAPSHOTS[name][place], handle.size)
    os.utime(path, (FIRST_COMMIT_AT, FIRST_COMMIT_AT))
    _made[key] = path
    return replace(handle, path=str(path))


def _copied(made: Path | None, path: Path, size: int) -> bool:
    """Copy what an unchanged file made earlier by this process occupies; False without such a file."""
    if made is None or made == path or not made.exists():
        return False
    facts = made.stat()
    if (facts.st_size, facts.st_mtime) != (size, FIRST_COMMIT_AT) or facts.st_blocks > 1 << 17:
        return False
    with made.open("rb") as source, path.open("wb") as target:
        target.truncate(size)
        end = 0
        while end < size:
            try:
                start = os.lseek(source.fileno(), end, os.SEEK_DATA)
            except OSError:  # Nothing but a hole is left.
                break
            end = os.lseek(source.fileno(), start, os.SEEK_HOLE)
            os.pwrite(target.fileno(), os.pread(source.fileno(), end - start, start), start)
    return True
