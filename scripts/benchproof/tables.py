"""The tables: explicit Arrow schemas, sorted unique keys, zstd, provenance in the metadata, atomic.

A schema is an allow-list: a row with a key that its table doesn't name is refused, so nothing that the
vault holds can slip into a table by being in the same dictionary. An empty table has the same schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchproof.errors import TableError
from benchproof.jsontext import canonical
from benchproof.outputs import replacing

TEXT, WHOLE, REAL, YES_NO = pa.string(), pa.int64(), pa.float64(), pa.bool_()
TEXTS = pa.list_(pa.string())
INSTANT = pa.timestamp("us", tz="UTC")
METADATA_KEY = b"benchproof"


@dataclass(frozen=True, slots=True)
class Spec:
    """One table: its key columns, by which rows are sorted and unique, and its Arrow schema."""

    name: str
    key: tuple[str, ...]
    schema: pa.Schema


def _spec(name: str, key: str, columns: Mapping[str, pa.DataType]) -> Spec:
    return Spec(name, tuple(key.split()), pa.schema(list(columns.items())))


_STATUS = {"status": TEXT, "reason": TEXT}
_FINDING = dict.fromkeys(
    "finding_id repo path commit_sha blob_sha pointer rule severity message remedy stage".split(),
    TEXT,
)
SPECS: dict[str, Spec] = {
    spec.name: spec
    for spec in (
        _spec(
            "pins",
            "repo",
            {
                "repo": TEXT,
                "ref": TEXT,
                "commit_sha": TEXT,
                "tree_sha": TEXT,
                "committed_at": INSTANT,
                **_STATUS,
                "resolved_repo": TEXT,
                "repo_id": WHOLE,
                "source": TEXT,
            },
        ),
        _spec(
            "tree",
            "repo path",
            {
                "repo": TEXT,
                "path": TEXT,
                "mode": TEXT,
                "kind": TEXT,
                "blob_sha": TEXT,
                "size": WHOLE,
                "lfs_size": WHOLE,
                **_STATUS,
            },
        ),
        _spec(
            "manifest",
            "repo row",
            {
                "repo": TEXT,
                "row": WHOLE,
                "eval_id": TEXT,
                "path": TEXT,
                "task": TEXT,
                "kit": TEXT,
                "benchmark": YES_NO,
                "duplicate_of": WHOLE,
                **_STATUS,
            },
        ),
        _spec(
            "reconciliation",
            "repo",
            {
                "repo": TEXT,
                "rows": WHOLE,
                "evals": WHOLE,
                "files": WHOLE,
                "orphans": WHOLE,
                "dangling": WHOLE,
                "duplicates": WHOLE,
                "shape": TEXT,
                "folder": TEXT,
                **_STATUS,
            },
        ),
        _spec(
            "evals",
            "repo path",
            {
                "repo": TEXT,
                "path": TEXT,
                "eval_id": TEXT,
                "blob_sha": TEXT,
                "task": TEXT,
                "kit": TEXT,
                "time_horizon": TEXT,
                "eval_type": TEXT,
                "metadata_keys": TEXTS,
                "fields": TEXTS,
                "prompt_chars": WHOLE,
                "has_canary": YES_NO,
                "has_notes": YES_NO,
                "grader_form": TEXT,
                "n_graders": WHOLE,
                "n_handles": WHOLE,
                **_STATUS,
            },
        ),
        _spec(
            "eval_handles",
            "repo eval_id handle",
            {"repo": TEXT, "eval_id": TEXT, "handle": TEXT, **_STATUS},
        ),
        _spec(
            "graders",
            "repo eval_id position",
            {
                "repo": TEXT,
                "eval_id": TEXT,
                "position": TEXT,
                "type": TEXT,
                "rule_status": TEXT,
                **_STATUS,
            },
        ),
        _spec(
            "tolerances",
            "repo eval_id position field",
            {
                "repo": TEXT,
                "eval_id": TEXT,
                "position": TEXT,
                "field": TEXT,
                "declared_type": TEXT,
                "keys": TEXTS,
                "mode": TEXT,
                **_STATUS,
            },
        ),
        _spec(
            "licences",
            "repo path",
            {
                "repo": TEXT,
                "path": TEXT,
                "blob_sha": TEXT,
                "class": TEXT,
                "deviations": TEXTS,
                "data_terms": TEXT,
                **_STATUS,
            },
        ),
        _spec(
            "handles",
            "handle",
            {
                "handle": TEXT,
                **_STATUS,
                "http_status": WHOLE,
                "n_evals": WHOLE,
                "checked_at": INSTANT,
            },
        ),
        _spec(
            "runnable",
            "repo eval_id",
            {
                "repo": TEXT,
                "eval_id": TEXT,
                "n_handles": WHOLE,
                "n_reachable": WHOLE,
                "n_refused": WHOLE,
                "n_unknown": WHOLE,
                "runnable": TEXT,
                "checked_at": INSTANT,
            },
        ),
        _spec(
            "objects",
            "handle",
            {
                "handle": TEXT,
                **_STATUS,
                "size_bytes": WHOLE,
                "container": TEXT,
                "header": TEXT,
                "etag": TEXT,
                "last_modified": INSTANT,
                "checked_at": INSTANT,
            },
        ),
        _spec(
            "contents",
            "handle",
            {
                "handle": TEXT,
                **_STATUS,
                "container": TEXT,
                "n_obs": WHOLE,
                "n_vars": WHOLE,
                "x_encoding": TEXT,
                "x_dtype": TEXT,
                "nnz": WHOLE,
                "obs_columns": TEXTS,
                "var_columns": TEXTS,
                "layers": TEXTS,
                "obsm": TEXTS,
                "obsp": TEXTS,
                "varm": TEXTS,
                "uns": TEXTS,
                "raw": TEXT,
                "encoding_version": TEXT,
                "bytes_read": WHOLE,
                "requests": WHOLE,
                "checked_at": INSTANT,
            },
        ),
        _spec(
            "files",
            "handle",
            {
                "handle": TEXT,
                **_STATUS,
                "size_bytes": WHOLE,
                "sha256": TEXT,
                "etag": TEXT,
                "verified_by": TEXT,
                "n_obs": WHOLE,
                "n_vars": WHOLE,
                "reader": TEXT,
                "path": TEXT,
                "bytes_fetched": WHOLE,
                "checked_at": INSTANT,
            },
        ),
        _spec(
            "runs",
            "repo run_path",
            {
                "repo": TEXT,
                "run_path": TEXT,
                "blob_sha": TEXT,
                "eval_id": TEXT,
                "provider": TEXT,
                "model": TEXT,
                "harness": TEXT,
                "replicate": WHOLE,
                "grader_version": TEXT,
                "grader_type": TEXT,
                **_STATUS,
                "recorded_passed": YES_NO,
                "derived_passed": YES_NO,
                "recorded_score": REAL,
                "derived_score": REAL,
                "passed_agrees": YES_NO,
                "score_agrees": YES_NO,
                "fields_agree": YES_NO,
                "failure_mode": TEXT,
                "edge": TEXT,
                "tier": TEXT,
                "contested": YES_NO,
            },
        ),
        _spec(
            "run_fields",
            "repo run_path field",
            {
                "repo": TEXT,
                "run_path": TEXT,
                "field": TEXT,
                "recorded_pass": YES_NO,
                "derived_pass": YES_NO,
                "failure_mode": TEXT,
            },
        ),
        _spec(
            "readings",
            "reading",
            {
                "reading": TEXT,
                "runs": WHOLE,
                "applies": WHOLE,
                "verdicts_changed": WHOLE,
                "fields_changed": WHOLE,
            },
        ),
        _spec(
            "models",
            "repo model harness",
            {
                "repo": TEXT,
                "model": TEXT,
                "harness": TEXT,
                "n_evals": WHOLE,
                "n_runs": WHOLE,
                "n_passed": WHOLE,
                "n_no_submission": WHOLE,
                "n_unreadable": WHOLE,
                "n_missing": WHOLE,
                "accuracy": REAL,
                "accuracy_all": REAL,
                "ci_low": REAL,
                "ci_high": REAL,
                "complete": YES_NO,
            },
        ),
        _spec(
            "estimates",
            "repo model harness verdicts method",
            {
                "repo": TEXT,
                "model": TEXT,
                "harness": TEXT,
                "verdicts": TEXT,
                "method": TEXT,
                "n_evals": WHOLE,
                "n_runs": WHOLE,
                "n_passed": WHOLE,
                "n_missing": WHOLE,
                "estimate": REAL,
                "low": REAL,
                "high": REAL,
                "rank": WHOLE,
                "tied": WHOLE,
                **_STATUS,
            },
        ),
        _spec(
            "strata",
            "repo axis stratum model harness",
            {
                "repo": TEXT,
                "axis": TEXT,
                "stratum": TEXT,
                "model": TEXT,
                "harness": TEXT,
                "n_evals": WHOLE,
                "n_runs": WHOLE,
                "n_passed": WHOLE,
                "n_no_submission": WHOLE,
                "n_unreadable": WHOLE,
                "accuracy": REAL,
                "ci_low": REAL,
                "ci_high": REAL,
                **_STATUS,
            },
        ),
        _spec(
            "comparisons",
            "repo model harness other_model other_harness",
            {
                "repo": TEXT,
                "model": TEXT,
                "harness": TEXT,
                "other_model": TEXT,
                "other_harness": TEXT,
                "n_evals": WHOLE,
                "n_ahead": WHOLE,
                "n_behind": WHOLE,
                "n_tied": WHOLE,
                "difference": REAL,
                "ci_low": REAL,
                "ci_high": REAL,
                "p": REAL,
                "p_holm": REAL,
                "n_comparisons": WHOLE,
                **_STATUS,
            },
        ),
        _spec(
            "record_checks",
            "repo check",
            {
                "repo": TEXT,
                "check": TEXT,
                "statement": TEXT,
                "n_holds": WHOLE,
                "n_fails": WHOLE,
                "n_not_checked": WHOLE,
                **_STATUS,
            },
        ),
        _spec(
            "published",
            "repo path place",
            {
                "repo": TEXT,
                "path": TEXT,
                "place": TEXT,
                "axis": TEXT,
                "stratum": TEXT,
                "model": TEXT,
                "harness": TEXT,
                "n_evals": WHOLE,
                "replicates": WHOLE,
                "accuracy": REAL,
                "ci_low": REAL,
                "ci_high": REAL,
                "passes_least": WHOLE,
                "passes_most": WHOLE,
                **_STATUS,
            },
        ),
        _spec(
            "published_checks",
            "repo path place check against subject",
            {
                "repo": TEXT,
                "path": TEXT,
                "place": TEXT,
                "check": TEXT,
                "against": TEXT,
                "subject": TEXT,
                "expected": TEXT,
                "observed": TEXT,
                **_STATUS,
            },
        ),
        _spec(
            "claims",
            "claim_id",
            {
                "claim_id": TEXT,
                "kind": TEXT,
                "as_of": TEXT,
                "source": TEXT,
                "topic": TEXT,
                "says": TEXT,
                "repos": TEXTS,
                "expected": TEXT,
                "observed": TEXT,
                **_STATUS,
            },
        ),
        _spec("findings", "finding_id", _FINDING),
        _spec("data_findings", "finding_id", {**_FINDING, "checked_at": INSTANT}),
        _spec(
            "traffic",
            "stage host",
            {
                "stage": TEXT,
                "host": TEXT,
                "requests": WHOLE,
                "bytes_in": WHOLE,
                "retries": WHOLE,
                "throttled": WHOLE,
                "waited_s": REAL,
            },
        ),
    )
}

#: Tables of other folders than a report's: what is made of several reports, or of many commits.
OTHER: dict[str, Spec] = {
    spec.name: spec
    for spec in (
        _spec(
            "timeline",
            "repo position",
            {
                "repo": TEXT,
                "position": WHOLE,
                "commit_sha": TEXT,
                "committed_at": INSTANT,
                "parents": WHOLE,
                "changed_paths": WHOLE,
                "shape": TEXT,
                **dict.fromkeys(
                    (
                        *("rows", "evals", "files", "orphans", "dangling", "graders", "handles"),
                        *("runs", "graded", "agreeing", "critical", "major", "minor", "info"),
                    ),
                    WHOLE,
                ),
                **_STATUS,
            },
        ),
        _spec(
            "drift",
            "table key change column",
            dict.fromkeys(
                (
                    *("table", "key", "change", "column", "old", "new", "severity", "cause"),
                    *("group_id", "renamed_from", "commit_sha"),
                ),
                TEXT,
            ),
        ),
    )
}


def spec_of(name: str) -> Spec:
    """Return the key and schema of a table, of a report or of another folder."""
    return SPECS[name] if name in SPECS else OTHER[name]


def build(name: str, rows: Iterable[Mapping[str, Any]], about: Mapping[str, Any]) -> pa.Table:
    """Return the Arrow table of some rows, sorted by key, with `about` in its metadata.

    Raises TableError when a row lacks a column or has one too many, a value doesn't fit its type, or two
    rows share a key.
    """
    spec = spec_of(name)
    columns = spec.schema.names
    listed = list(rows)
    for row in listed:
        if set(row) != set(columns):
            odd = sorted(set(row) ^ set(columns))
            raise TableError(
                f"table {name}: a row's columns differ from the schema: {', '.join(odd)}."
            )
    try:
        listed.sort(key=lambda row: tuple(_order(row[column]) for column in spec.key))
    except TypeError:
        raise _misfit(name) from None
    _refuse_equal_keys(spec, listed)
    metadata = {METADATA_KEY: canonical(dict(about)).encode()}
    schema = spec.schema.with_metadata(metadata)
    try:
        arrays = [_array([row[f.name] for row in listed], f.type) for f in schema]
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise _misfit(name) from None
    return pa.Table.from_arrays(arrays, schema=schema)


def write(
    path: str | Path, name: str, rows: Iterable[Mapping[str, Any]], about: Mapping[str, Any]
) -> None:
    """Write a table; it appears under its name only when it is whole."""
    table = build(name, rows, about)
    with replacing(Path(path)) as part:
        pq.write_table(table, part, compression="zstd", version="2.6", write_statistics=True)


def read(path: str | Path, name: str, columns: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Return the rows of a table, of some columns when these are named: a million runs have 29.

    Raises TableError when the file isn't this table: other columns, other types, or not Parquet.
    """
    try:
        # Not `read_table`: it imports pyarrow.dataset (and pandas where there is one), 0.4 s in each job.
        file = pq.ParquetFile(path)
        fits = file.schema_arrow.equals(spec_of(name).schema)
        wanted = None if columns is None else list(columns)
        table = file.read(columns=wanted, use_threads=False) if fits else None
    except (pa.ArrowException, OSError):
        raise TableError(f"{path}: not a readable Parquet file; delete it and run again.") from None
    if table is None:
        raise TableError(f"{path}: not a `{name}` table of this version; delete it and run again.")
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def about(path: str | Path) -> dict[str, Any]:
    """Return what a table's metadata says about its making."""
    found: dict[str, Any] = json.loads(pq.read_schema(path).metadata[METADATA_KEY])
    return found


def _misfit(name: str) -> TableError:
    return TableError(f"table {name}: a value does not fit its column; report this as a defect.")


def _array(values: list[Any], kind: pa.DataType) -> Any:
    """Return a column; unlike Arrow, neither cut 1.5 to 1 nor take a text for a list of letters."""
    wrong = float if kind == WHOLE else str if kind == TEXTS else None
    if wrong is not None and any(isinstance(value, wrong) for value in values):
        raise TypeError
    return pa.array(values, kind)


def _order(value: Any) -> tuple[bool, Any]:
    """Nulls first, so that keys of any nullability sort."""
    return (value is not None, value)


def _refuse_equal_keys(spec: Spec, rows: list[Mapping[str, Any]]) -> None:
    previous: tuple[Any, ...] | None = None
    for row in rows:
        key = tuple(row[column] for column in spec.key)
        if key == previous:
            raise TableError(f"table {spec.name}: two rows share one key; report this as a defect.")
        previous = key
