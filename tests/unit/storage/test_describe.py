"""A description says what AnnData itself reads, in any layout, and follows nothing out of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from benchproof.storage.describe import Limits, NotAnnData, describe
from benchproof.storage.inside import no_more_files
from h5ad import GENERATIONS, NULLABLE, OBS, Column, Matrix, Spec, build, many

TEXT = h5py.string_dtype()


def described(path: Path, limits: Limits | None = None) -> dict[str, Any]:
    """Describe a file while no other can be opened."""
    with h5py.File(path, "r") as file, no_more_files():
        found = describe(file, limits)
    assert json.loads(json.dumps(found)) == found
    return found


def changed(path: Path, change: Callable[[h5py.File], None], spec: Spec | None = None) -> Path:
    """Build a file and change it."""
    build(path, spec)
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def shown(column: Column) -> str:
    """How a column of the builder is told."""
    kind = {
        "categorical": f"categorical[{column.categories}]",
        "ordered": f"categorical[{column.categories}]",
        "string": "string-array",
        "nullable-integer": "nullable-integer int64",
    }.get(column.kind, column.kind)
    return f"{column.name}: {kind}"


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_layout_is_told_alike(tmp_path: Path, generation: str) -> None:
    """Shapes, encodings, dtypes, columns and keys; what differs is the version of the encoding."""
    nullable = NULLABLE if generation in ("0.12", "0.13") else ()
    spec = Spec(
        generation=generation,
        n_obs=300,
        n_vars=100,
        x=Matrix("csr", per_line=9),
        obs=(*OBS, *nullable),
        raw=Matrix("csr"),
        raw_vars=150,
    )
    build(tmp_path / "a.h5ad", spec)
    found = described(tmp_path / "a.h5ad")
    assert (found["n_obs"], found["n_vars"], found["nnz"]) == (300, 100, 2700)
    assert (found["x_encoding"], found["x_dtype"]) == ("csr_matrix", "float32")
    old = generation == "0.6"
    if not old:
        texts = {"string-array", "nullable-string-array"}
        for told, column in zip(found["obs_columns"], spec.obs, strict=True):
            if column.kind == "string":
                assert told.partition(": ")[2] in texts
            else:
                assert told == shown(column)
        assert "PCs: array float64 (100, 10)" in [t.replace("32", "64") for t in found["varm"]]
    assert [name.partition(":")[0] for name in found["obs_columns"]] == [c.name for c in spec.obs]
    assert found["raw"] == "csr_matrix float32 (300, 150)"
    assert "neighbors" in found["uns"]
    modern = generation not in ("0.6", "0.7")
    assert found["encoding_version"] == ("0.1.0" if modern else None)


@pytest.mark.parametrize(
    ("x", "encoding", "dtype", "nnz"),
    [
        (Matrix("dense"), "array", "float32", None),
        (Matrix("csc", per_line=4), "csc_matrix", "float32", 400),
        (Matrix("csr", dtype="float64"), "csr_matrix", "float64", 1800),
        (Matrix("absent"), "absent", None, None),
        (Matrix("null"), "null", None, None),
    ],
    ids=lambda value: value.form if isinstance(value, Matrix) else None,
)
def test_every_form_of_x(
    tmp_path: Path, x: Matrix, encoding: str, dtype: str | None, nnz: int | None
) -> None:
    """The shape is known without X, too."""
    build(tmp_path / "a.h5ad", Spec(generation="0.13", x=x))
    found = described(tmp_path / "a.h5ad")
    assert (found["n_obs"], found["n_vars"]) == (200, 100)
    assert (found["x_encoding"], found["x_dtype"], found["nnz"]) == (encoding, dtype, nnz)


@pytest.mark.parametrize("form", ["dense", "csr", "absent"])
@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_and_one_row_keep_their_shape(tmp_path: Path, form: str, rows: int) -> None:
    """Zero is a number, not a lack of one."""
    spec = Spec(n_obs=rows, n_vars=5, x=Matrix(form), obs=(), obsm={}, varm={}, obsp=())
    build(tmp_path / "a.h5ad", spec)
    found = described(tmp_path / "a.h5ad")
    assert (found["n_obs"], found["n_vars"], found["obs_columns"]) == (rows, 5, [])


def test_unknown_encodings_are_named_and_keep_the_shape(tmp_path: Path) -> None:
    """A newer writer's column, index and matrix are told by their own words."""

    def change(file: h5py.File) -> None:
        file["obs/sample"].attrs["encoding-type"] = "categorical-next"
        file["obs/sample"].attrs["encoding-version"] = "9.9.9"
        file["X"].attrs["encoding-type"] = "blocked_matrix"

    found = described(changed(tmp_path / "a.h5ad", change))
    assert (found["n_obs"], found["n_vars"]) == (200, 100)
    assert found["x_encoding"] == "blocked_matrix"
    assert "sample: categorical-next" in found["obs_columns"]


def test_without_an_index_the_shape_comes_from_x(tmp_path: Path) -> None:
    """Never 0 x 0."""

    def change(file: h5py.File) -> None:
        del file["obs"], file["var"]
        file.create_group("obs")
        file.create_group("var").attrs["_index"] = "absent"

    found = described(changed(tmp_path / "a.h5ad", change))
    assert (found["n_obs"], found["n_vars"]) == (200, 100)


def test_elements_of_all_kinds(tmp_path: Path) -> None:
    """Data frames, empty places, unknown groups and ragged arrays beside plain ones."""

    def change(file: h5py.File) -> None:
        obsm = file["obsm"]
        file.copy("obs", obsm, "frame")
        ragged = obsm.create_group("ragged")
        ragged.attrs["encoding-type"], ragged.attrs["length"] = "awkward-array", 200
        obsm.create_group("bare")
        obsm.create_dataset("none", data=h5py.Empty("f4")).attrs["encoding-type"] = "null"
        obsm.create_dataset("records", data=np.zeros(200, [("a", "i4"), ("b", "f8")]))
        obsm["type"] = np.dtype("i4")

    spec = Spec(obsm={"X_pca": 10}, layers={"counts": Matrix("csc")})
    found = described(changed(tmp_path / "a.h5ad", change, spec))
    assert found["layers"] == ["counts: csc_matrix float32 (200, 100)"]
    assert [text.replace("64", "32") for text in found["obsm"]] == [
        "X_pca: array float32 (200, 10)",
        "bare: group",
        f"frame: dataframe (200, {len(OBS)})",
        "none: null",
        "ragged: awkward-array (200, *)",
        "records: dataframe compound (200)",
        "type: absent",
    ]


def test_raw_without_x_and_of_other_kinds(tmp_path: Path) -> None:
    """What raw has is told."""

    def only_var(file: h5py.File) -> None:
        file.create_group("raw")
        file.copy("var", file["raw"])

    assert described(changed(tmp_path / "a.h5ad", only_var))["raw"] == "no X (*, 100)"
    build(tmp_path / "b.h5ad")
    assert described(tmp_path / "b.h5ad")["raw"] is None


@pytest.mark.parametrize("count", [100, 101, 1000, 1200])
def test_keys_are_bounded(tmp_path: Path, count: int) -> None:
    """The first hundred by name, and how many there are as far as anyone looked."""
    build(tmp_path / "a.h5ad", Spec(uns=many(count)))
    keys = described(tmp_path / "a.h5ad")["uns"]
    assert keys[:100] == [f"key_{n:05}" for n in range(min(count, 100))]
    more = {101: ["… 1 more"], 1000: ["… 900 more"]}
    assert keys[100:] == more.get(count, ["… more than 900 more"] if count > 1000 else [])


def test_columns_are_bounded_in_number_and_length(tmp_path: Path) -> None:
    """Names come from the file; so many long ones do not fill a table."""

    def change(file: h5py.File) -> None:
        names = [f"c{n}" for n in range(2000)] + ["x" * 5000]
        file["obs"].attrs["column-order"] = np.array(names[-10:] + names, dtype=TEXT)
        file["uns"].create_group("y" * 5000)

    path = changed(tmp_path / "a.h5ad", change, Spec(uns={}))
    found = described(path, Limits(columns=20, typed=12))
    columns = found["obs_columns"]
    assert columns[9] == "x" * 200 + "…: absent"
    assert columns[11:13] == ["c1: absent", "c2"]
    assert columns[20:] == ["… 1991 more"]
    assert found["uns"] == ["y" * 200 + "…"]


def test_names_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    """A table can hold what comes out."""

    def change(file: h5py.File) -> None:
        h5py.h5g.create(file["uns"].id, b"caf\xe9")
        file["obs"].attrs["column-order"] = np.array([b"\xff", "é".encode()], dtype=TEXT)

    found = described(changed(tmp_path / "a.h5ad", change, Spec(uns={})))
    assert found["uns"] == ["caf\ufffd"]
    assert found["obs_columns"] == ["\ufffd: absent", "é: absent"]


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A good file of another shape that others refer to."""
    build(tmp_path / "canary.h5ad", Spec(n_obs=77, n_vars=33, x=Matrix("dense")))
    return tmp_path / "canary.h5ad"


def test_links_out_of_the_file_are_not_followed(tmp_path: Path, canary: Path) -> None:
    """By link, by a path through a link, or by a soft link onto one."""

    def change(file: h5py.File) -> None:
        file["outside"] = h5py.ExternalLink(str(canary), "/")
        file["layers/direct"] = h5py.ExternalLink(str(canary), "/X")
        file["layers/soft"] = h5py.SoftLink("/outside/X")
        file["obs/out"] = h5py.ExternalLink(str(canary), "/obs")
        order = ["out", "out/sample", "/outside/obs/sample", "../outside/obs/sample"]
        file["obs"].attrs["column-order"] = np.array(order, dtype=TEXT)
        del file["var"], file["uns"]
        file["var"] = h5py.ExternalLink(str(canary), "/var")
        file["uns"] = h5py.ExternalLink(str(canary), "/uns")

    found = described(changed(tmp_path / "a.h5ad", change))
    assert found["layers"] == ["direct: external link", "soft: external link"]
    assert found["obs_columns"] == [
        "out: external link",
        "out/sample: external link",
        "/outside/obs/sample: absent",
        "../outside/obs/sample: absent",
    ]
    assert (found["n_obs"], found["n_vars"]) == (200, 100)
    assert (found["var_columns"], found["uns"]) == ([], ["external link"])


def test_soft_links_inside_the_file_are_followed_a_while(tmp_path: Path) -> None:
    """Dangling ones and rings are named."""

    def change(file: h5py.File) -> None:
        layers = file["layers"]
        layers["good"] = h5py.SoftLink("/X")
        layers["relative"] = h5py.SoftLink("good")
        layers["dangling"] = h5py.SoftLink("/nowhere")
        layers["ring"] = h5py.SoftLink("/layers/ring")
        layers["a"], layers["b"] = h5py.SoftLink("b"), h5py.SoftLink("a")

    found = described(changed(tmp_path / "a.h5ad", change))
    matrix = "csr_matrix float32 (200, 100)"
    assert found["layers"] == [
        "a: soft link",
        "b: soft link",
        "dangling: soft link",
        f"good: {matrix}",
        f"relative: {matrix}",
        "ring: soft link",
    ]


def test_groups_in_themselves_end(tmp_path: Path) -> None:
    """Hard links make rings, too."""

    def change(file: h5py.File) -> None:
        file["layers/root"], file["layers/self"] = file["/"], file["layers"]
        file["uns/uns"] = file["uns"]
        file["obs/obs"] = file["obs"]
        file["obs"].attrs["column-order"] = np.array(["obs"], dtype=TEXT)
        file["obs"].attrs["_index"] = "obs"

    found = described(changed(tmp_path / "a.h5ad", change))
    assert found["layers"] == ["root: anndata", "self: dict"]
    assert found["obs_columns"] == ["obs: dataframe"]
    assert found["n_obs"] == 200


def test_data_in_other_files_is_not_read(tmp_path: Path, canary: Path) -> None:
    """External storage and virtual datasets keep the shape they have here."""

    def change(file: h5py.File) -> None:
        unlimited = h5py.h5f.UNLIMITED
        file["layers"].create_dataset(
            "stored", (200, 100), "f4", external=[("/etc/hostname", 0, unlimited)]
        )
        with h5py.File(canary, "r+") as other:
            other.create_dataset("long", (5000, 100), "f4", maxshape=(None, 100), chunks=(64, 100))
        layout = h5py.VirtualLayout((200, 100), "f4", maxshape=(None, 100))
        source = h5py.VirtualSource(str(canary), "long", (5000, 100), maxshape=(None, 100))
        layout[: h5py.h5s.UNLIMITED] = source[: h5py.h5s.UNLIMITED]
        file["layers"].create_virtual_dataset("virtual", layout)

    path = changed(tmp_path / "a.h5ad", change)
    with h5py.File(path) as file:
        assert file["layers/virtual"].shape == (5000, 100)
    layers = described(path)["layers"]
    assert layers[0] == "stored: array float32 (200, 100)"
    assert layers[1].startswith("virtual: array float32 (")
    assert "5000" not in layers[1]


def test_huge_numbers_are_only_numbers(tmp_path: Path) -> None:
    """A declared shape costs nothing."""

    def change(file: h5py.File) -> None:
        del file["X"]
        file.create_dataset("X", (1 << 61, 1 << 40), "f4", chunks=(1, 1))
        file["obs"].attrs["column-order"] = np.zeros(2000, "i4")
        del file["obs/_index"]
        file["obs"].create_dataset("_index", (1 << 61,), TEXT, chunks=(1,))

    found = described(changed(tmp_path / "a.h5ad", change))
    assert (found["n_obs"], found["n_vars"]) == (1 << 61, 100)


@pytest.mark.parametrize("kind", [None, "MuData", ""])
def test_other_hdf5_is_not_anndata(tmp_path: Path, kind: str | None) -> None:
    """Without obs and var, or with another name of its own."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["matrix"] = np.zeros(3)
        if kind is not None:
            file.attrs["encoding-type"] = kind
            file.create_group("obs"), file.create_group("var")
    with pytest.raises(NotAnnData):
        described(tmp_path / "a.h5")


def test_what_anndata_wrote_is_what_is_told(tmp_path: Path) -> None:
    """The installed AnnData writes, and reads back what the description says."""
    import anndata
    import pandas as pd
    import scipy.sparse

    rows, columns = 40, 12
    data = anndata.AnnData(
        scipy.sparse.random(rows, columns, 0.3, format="csr", dtype=np.float32, random_state=1),
        obs=pd.DataFrame(
            {
                "cluster": pd.Categorical(list("abcd") * 10),
                "reads": np.arange(rows, dtype="int32"),
                "age": pd.array([1, None] * 20, dtype="Int64"),
            },
            index=[f"cell {n}" for n in range(rows)],
        ),
        var=pd.DataFrame(index=[f"gene {n}" for n in range(columns)]),
    )
    data.obsm["X_pca"] = np.zeros((rows, 5))
    data.layers["counts"] = data.X.copy()
    data.uns["title"] = "x"
    data.raw = data
    data.write_h5ad(tmp_path / "a.h5ad")
    back = anndata.read_h5ad(tmp_path / "a.h5ad")
    found = described(tmp_path / "a.h5ad")
    assert (found["n_obs"], found["n_vars"]) == back.shape
    assert found["nnz"] == back.X.nnz
    assert found["x_dtype"] == str(back.X.dtype)
    assert found["obs_columns"] == [
        f"cluster: categorical[{len(back.obs['cluster'].cat.categories)}]",
        f"reads: {back.obs['reads'].dtype}",
        "age: nullable-integer int64",
    ]
    assert found["obsm"] == ["X_pca: array float64 (40, 5)"]
    assert found["layers"] == ["counts: csr_matrix float32 (40, 12)"]
    assert (found["uns"], found["var_columns"]) == (list(back.uns), list(back.var.columns))
    assert found["raw"] == f"csr_matrix float32 {back.raw.shape}"
