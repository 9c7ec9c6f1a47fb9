"""Builder of invented .h5ad files: every layout, faulty and hostile ones, huge ones that occupy nothing."""

from h5ad.huge import exactly, huge
from h5ad.spec import GENERATIONS, NULLABLE, OBS, VAR, Column, Matrix, Spec, many, wide
from h5ad.write import build

__all__ = [
    "GENERATIONS",
    "NULLABLE",
    "OBS",
    "VAR",
    "Column",
    "Matrix",
    "Spec",
    "build",
    "exactly",
    "huge",
    "many",
    "wide",
]
