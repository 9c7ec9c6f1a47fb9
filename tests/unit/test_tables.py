"""Tables: an allow-list of columns, one schema whatever the day, whole files or none."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof import tables
from benchproof.errors import TableError
from benchproof.outputs import TABLES
from benchproof.tables import SPECS

SCRIPTS = Path(tables.__file__).resolve().parents[1]
ABOUT = {"pins": {"demo/one": "c" * 40}, "notice": None}


def row(name: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(SPECS[name].schema.names), **values}


def tree_rows(*sizes: int | None) -> list[dict[str, Any]]:
    return [row("tree", repo="demo/one", path=f"f{n}", size=size) for n, size in enumerate(sizes)]


@pytest.mark.parametrize("name", SPECS)
def test_every_table_has_its_schema_on_an_empty_day(tmp_path: Path, name: str) -> None:
    """BR-44: the same names, types and order whatever the rows, and two days concatenate."""
    key = {
        column: "x" if SPECS[name].schema.field(column).type == pa.string() else 1
        for column in SPECS[name].key
    }
    tables.write(tmp_path / "empty.parquet", name, [], ABOUT)
    tables.write(tmp_path / "nulls.parquet", name, [row(name, **key)], ABOUT)
    days = [
        pq.read_table(tmp_path / day, partitioning=None)
        for day in ("empty.parquet", "nulls.parquet")
    ]
    assert days[0].schema.equals(SPECS[name].schema)
    assert days[0].schema.equals(days[1].schema)
    assert pa.concat_tables(days).num_rows == 1
    assert tables.read(tmp_path / "empty.parquet", name) == []


@pytest.mark.parametrize("name", SPECS)
def test_item_tables_have_status_and_reason(name: str) -> None:
    """DESIGN: key columns come first, every item table says what became of each item."""
    assert tuple(SPECS[name].schema.names[: len(SPECS[name].key)]) == SPECS[name].key
    aggregates = {
        *("runnable", "run_fields", "readings", "models", "findings", "data_findings", "traffic")
    }
    assert name in aggregates or {"status", "reason"} <= set(SPECS[name].schema.names)


@pytest.mark.parametrize(
    ("change", "odd"),
    [({"grader": "secret"}, "grader"), ({"path": ...}, "path"), ({"Path": "x"}, "Path")],
    ids=["extra", "missing", "another-spelling"],
)
def test_a_row_fits_its_columns_exactly(change: dict[str, Any], odd: str) -> None:
    values = {
        key: value for key, value in {**tree_rows(1)[0], **change}.items() if value is not ...
    }
    with pytest.raises(TableError, match=rf"^table tree: .*columns differ.*\b{odd}\b") as caught:
        tables.build("tree", [values], {})
    assert "secret" not in str(caught.value)


def test_rows_are_sorted_by_key_with_nulls_first() -> None:
    rows = [
        row("run_fields", repo=r, run_path=p, field=f)
        for r in ("b", "a")
        for p in ("2", "10")
        for f in ("z", None)
    ]
    found = tables.build("run_fields", rows, {}).to_pylist()
    keys = [(item["repo"], item["run_path"], item["field"]) for item in found]
    assert keys == [(r, p, f) for r in "ab" for p in ("10", "2") for f in (None, "z")]


def test_two_rows_of_one_key_are_refused() -> None:
    with pytest.raises(TableError, match="table tree: two rows share one key"):
        tables.build("tree", [*tree_rows(1, 2), *tree_rows(1)], {})


def test_whole_numbers_beside_nulls_stay_exact(tmp_path: Path) -> None:
    """BR-43"""
    tables.write(tmp_path / "t.parquet", "tree", tree_rows(2**53 + 1, None, 5, 2**63 - 1), {})
    assert [item["size"] for item in tables.read(tmp_path / "t.parquet", "tree")] == [
        2**53 + 1,
        None,
        5,
        2**63 - 1,
    ]


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [
        ("tree", "size", 2**63),
        ("tree", "size", 2**64),
        ("tree", "size", -(2**63) - 1),
        ("tree", "size", "5"),
        ("tree", "size", 1.5),
        ("tree", "size", True),
        ("tree", "mode", 5),
        ("tree", "mode", "\ud800"),
        ("tree", "mode", {"a": "b"}),
        ("evals", "has_canary", 1),
        ("evals", "fields", "abc"),
        ("evals", "fields", ["a", 1]),
        ("models", "accuracy", "0.5"),
        ("models", "accuracy", 10**400),
        ("pins", "committed_at", "2026-01-15"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_and_not_shown(
    name: str, column: str, value: Any
) -> None:
    with pytest.raises(TableError, match=rf"^table {name}: a value does not fit") as caught:
        tables.build(name, [row(name, **{column: value})], {})
    assert str(value) not in str(caught.value)


def test_keys_of_mixed_types_are_our_error_too() -> None:
    with pytest.raises(TableError, match=r"^table tree"):
        tables.build("tree", [row("tree", repo="a", path="x"), row("tree", repo="a", path=5)], {})


LABELS = ["NA", "NaN", "null", "None", "TP53", "1E5", "SEPT1", "", " ", "-0", "é", "a\nb", "\x00"]


def test_text_that_looks_like_a_missing_value_survives(tmp_path: Path) -> None:
    """BR-47"""
    rows = [
        row("run_fields", repo="demo/one", run_path="r", field=label, failure_mode=label)
        for label in LABELS
    ]
    tables.write(tmp_path / "t.parquet", "run_fields", [*rows, row("run_fields", repo="z")], {})
    found = tables.read(tmp_path / "t.parquet", "run_fields")
    assert {item["field"]: item["failure_mode"] for item in found} == {
        label: label for label in [*LABELS, None]
    }


def test_instants_read_back_as_the_same_utc(tmp_path: Path) -> None:
    """BR-54"""
    there = datetime(2026, 3, 29, 2, 30, 0, 123456, tzinfo=timezone(timedelta(hours=13)))
    tables.write(tmp_path / "t.parquet", "pins", [row("pins", repo="a", committed_at=there)], {})
    (found,) = tables.read(tmp_path / "t.parquet", "pins")
    assert found["committed_at"] == there
    assert found["committed_at"].utcoffset() == timedelta(0)
    assert (
        str(pq.read_schema(tmp_path / "t.parquet").field("committed_at").type)
        == "timestamp[us, tz=UTC]"
    )


sizes = st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=6)


@given(sizes, st.randoms())
@settings(max_examples=40)
def test_what_is_built_holds_what_was_given_in_any_order(
    found: list[int | None], random: Any
) -> None:
    rows = tree_rows(*found)
    shuffled = random.sample(rows, len(rows))
    assert tables.build("tree", shuffled, ABOUT).equals(tables.build("tree", rows, ABOUT))
    assert tables.build("tree", rows, ABOUT).to_pylist() == rows


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    """BR-48: other hash seeds, folders, time zones and locales; no clock, host or path inside."""
    code = (
        "import sys; from pathlib import Path; from benchproof import tables;"
        "rows = [dict.fromkeys(tables.SPECS['tree'].schema.names) | {'repo': r, 'path': p}"
        " for r, p in {(r, p) for r in 'abc' for p in 'xyz'}];"
        "tables.write(sys.argv[1], 'tree', rows, {'pins': {'b': 'x', 'a': 'y'}})"
    )
    digests = set()
    for seed, zone in (("0", "UTC"), ("1", "Pacific/Auckland")):
        path = tmp_path / seed / "t.parquet"
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SCRIPTS)}
        environment |= {
            "PYTHONHASHSEED": seed,
            "TZ": zone,
            "LC_ALL": "C" if seed == "1" else "C.UTF-8",
        }
        subprocess.run([sys.executable, "-c", code, str(path)], env=environment, check=True)
        digests.add(sha256(path.read_bytes()).hexdigest())
        assert str(tmp_path).encode() not in path.read_bytes()
    assert len(digests) == 1


def test_the_metadata_reads_back(tmp_path: Path) -> None:
    tables.write(tmp_path / "t.parquet", "tree", [], ABOUT)
    assert tables.about(tmp_path / "t.parquet") == ABOUT
    assert pq.ParquetFile(tmp_path / "t.parquet").metadata.num_rows == 0


def test_columns_are_compressed_with_zstd(tmp_path: Path) -> None:
    tables.write(tmp_path / "t.parquet", "tree", tree_rows(1), {})
    assert (
        pq.ParquetFile(tmp_path / "t.parquet").metadata.row_group(0).column(0).compression == "ZSTD"
    )


# --- whole or absent -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("umask", "mode"), [(0o027, 0o640), (0o002, 0o664), (0o022, 0o644)], ids=oct
)
def test_modes_follow_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    """BR-53: a group must be able to read results."""
    before = os.umask(umask)
    try:
        tables.write(tmp_path / "new" / "t.parquet", "tree", [], {})
    finally:
        os.umask(before)
    assert (tmp_path / "new" / "t.parquet").stat().st_mode & 0o777 == mode


def test_no_room_is_named_and_keeps_the_previous_file(tmp_path: Path) -> None:
    """BR-53"""
    path = tmp_path / "t.parquet"
    tables.write(path, "tree", tree_rows(1), {})
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        with pytest.raises(
            TableError, match=r"t\.parquet: cannot be written \(.*[Ff]ile too large"
        ) as caught:
            tables.write(path, "tree", tree_rows(*range(3000)), {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "None" not in str(caught.value)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["t.parquet"]


def test_a_failed_rename_keeps_the_previous_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    tables.write(path, "tree", tree_rows(1), {})
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(TableError, match="no space left on the device"):
        tables.write(path, "tree", tree_rows(2), {})
    assert (path.read_bytes(), os.listdir(tmp_path)) == (before, ["t.parquet"])


def test_a_refused_row_touches_no_file(tmp_path: Path) -> None:
    with pytest.raises(TableError):
        tables.write(tmp_path / "new" / "t.parquet", "tree", [{}], {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["missing", "text", "cut", "other-table", "other-type", "folder"])
def test_what_is_not_the_table_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.parquet"
    tables.write(path, "tree", tree_rows(1), {})
    data = path.read_bytes()
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "other-table":
        tables.write(path, "readings", [], {})
    elif kind == "other-type":
        pq.write_table(
            pa.table({name: pa.array([], pa.null()) for name in SPECS["tree"].schema.names}), path
        )
    elif kind != "missing":
        path.write_bytes(b"not a table" if kind == "text" else data[:-20])
    with pytest.raises(TableError, match=r"t\.parquet: not a"):
        tables.read(path, "tree")


def test_the_list_of_tables_is_that_of_the_schemas() -> None:
    assert tuple(SPECS) == TABLES


def test_tables_of_other_folders_are_none_of_a_report(tmp_path: Path) -> None:
    """They are written and read as all others, and no report has them."""
    assert not set(tables.OTHER) & set(SPECS)
    for name, spec in tables.OTHER.items():
        assert tuple(spec.schema.names[: len(spec.key)]) == spec.key
        tables.write(tmp_path / "empty.parquet", name, [], ABOUT)
        assert tables.read(tmp_path / "empty.parquet", name) == []


def test_some_columns_are_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    tables.write(path, "tree", tree_rows(1, 2), {})
    whole = tables.read(path, "tree")
    assert tables.read(path, "tree", ["path", "mode"]) == [
        {"path": row["path"], "mode": row["mode"]} for row in whole
    ]
    with pytest.raises(TableError, match="not a `runs` table"):
        tables.read(path, "runs", ["run_path"])
