"""What an invented .h5ad file holds: shape, columns, matrices and the layout that wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Layouts by the AnnData release that wrote them; 0.8 to 0.12 write the same one.
GENERATIONS = ("0.6", "0.7", "0.8", "0.12", "0.13")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of obs or var.

    `kind` is categorical, ordered, string, nullable-string, nullable-integer, nullable-boolean, or
    the name of a numpy dtype; `categories` counts those of a categorical.
    """

    name: str
    kind: str
    categories: int = 8


@dataclass(frozen=True, slots=True)
class Matrix:
    """X, a layer or raw: `form` is csr, csc, dense, null or absent.

    `per_line` is how many values a row (csr) or column (csc) holds. With `hole` the values get
    space in the file and are never written; `stored` is then how many there are of a sparse one.
    """

    form: str = "csr"
    dtype: str = "float32"
    per_line: int = 9
    compression: str | None = None
    hole: bool = False
    stored: int = 0

    @property
    def sparse(self) -> bool:
        """True for csr and csc."""
        return self.form in ("csr", "csc")


OBS = (
    Column("sample", "categorical", 4),
    Column("cluster", "categorical", 12),
    Column("stage", "ordered", 3),
    Column("barcode", "string"),
    Column("n_reads", "int64"),
    Column("n_features", "int32"),
    Column("fraction", "float64"),
    Column("score", "float32"),
    Column("kept", "bool"),
)
NULLABLE = (Column("age", "nullable-integer"), Column("treated", "nullable-boolean"))
VAR = (Column("symbol", "string"), Column("variable", "bool"), Column("mean", "float64"))
UNS: Mapping[str, Any] = {
    "title": "an invented study",
    "version": 3,
    "threshold": 0.25,
    "neighbors": {"params": {"method": "demo", "n_neighbors": 15}},
    "colors": ["#112233", "#445566", "#778899", "#aabbcc"],
}


@dataclass(frozen=True, slots=True)
class Spec:
    """A whole file. `obsm` and `varm` map names to widths, `raw` adds raw counts of `raw_vars`."""

    generation: str = "0.12"
    n_obs: int = 200
    n_vars: int = 100
    x: Matrix = field(default_factory=Matrix)
    obs: tuple[Column, ...] = OBS
    var: tuple[Column, ...] = VAR
    obs_index: str = "_index"
    var_index: str = "_index"
    layers: Mapping[str, Matrix] = field(default_factory=dict)
    obsm: Mapping[str, int] = field(default_factory=lambda: {"X_pca": 10, "X_umap": 2})
    varm: Mapping[str, int] = field(default_factory=lambda: {"PCs": 10})
    obsp: tuple[str, ...] = ("connectivities",)
    uns: Mapping[str, Any] = field(default_factory=lambda: UNS)
    raw: Matrix | None = None
    raw_vars: int = 0
    var_names: tuple[str, ...] = ()
    padding: int = 0


def wide(count: int, *, nullable: bool = False) -> tuple[Column, ...]:
    """Return `count` columns of mixed kinds, with distinct names; nullable ones only if wanted."""
    base = OBS + (NULLABLE if nullable else ())
    return tuple(
        Column(
            column.name if turn == 0 else f"{column.name}_{turn}", column.kind, column.categories
        )
        for turn in range(count // len(base) + 1)
        for column in base
    )[:count]


def many(count: int) -> dict[str, int]:
    """Return `count` scalars for uns."""
    return {f"key_{number:05}": number for number in range(count)}
