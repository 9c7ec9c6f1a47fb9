"""Invented reports for tests of drift: a small published repository, and edits of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from benchproof import tables
from benchproof.analysis.drift.frames import Frame
from benchproof.analysis.drift.views import Report

REPO = "demo/one"
OLD, NEW = "a" * 40, "b" * 40
ABOUT = {"code": "1", "config": "1", "versions": {"benchproof": "1"}}
Rows = dict[str, list[dict[str, Any]]]


def row(table: str, **values: Any) -> dict[str, Any]:
    columns = tables.SPECS[table].schema.names
    assert set(values) <= set(columns)
    given: dict[str, Any] = {"repo": REPO} if "repo" in columns else {}
    if "status" in columns:
        given["status"] = "ok"
    return {**dict.fromkeys(columns), **given, **values}


def blob(number: int) -> str:
    return f"{number:040x}"


def published(commit: str = OLD, evals: int = 3) -> Rows:
    """Return the tables of one repository: evaluations with a grader, a handle and two runs each."""
    rows: Rows = {name: [] for name in tables.SPECS}
    rows["pins"] = [row("pins", ref="main", commit_sha=commit, tree_sha=commit[::-1], source="git")]
    rows["reconciliation"] = [
        row(
            "reconciliation",
            rows=evals,
            evals=evals,
            files=evals,
            orphans=0,
            dangling=0,
            duplicates=0,
            shape="a",
            folder="evals",
        )
    ]
    rows["licences"] = [
        row("licences", path="LICENSE", blob_sha=blob(1), deviations=[], **{"class": "verbatim"})
    ]
    files = {"LICENSE": blob(1), "README.md": blob(2), "evals/manifest.json": blob(3)}
    for n in range(evals):
        name, path = f"e{n}", f"evals/e{n}.json"
        files[path] = blob(100 + n)
        rows["manifest"].append(row("manifest", row=n + 1, eval_id=name, path=path))
        rows["evals"].append(
            row(
                "evals",
                path=path,
                eval_id=name,
                blob_sha=blob(100 + n),
                grader_form="grader",
                n_graders=1,
                n_handles=1,
                prompt_chars=10,
                has_canary=True,
                metadata_keys=["kit"],
                fields=["id"],
            )
        )
        rows["graders"].append(
            row(
                "graders",
                eval_id=name,
                position="0",
                type="numeric_tolerance",
                rule_status="published",
            )
        )
        rows["eval_handles"].append(row("eval_handles", eval_id=name, handle=f"latch://{n}.node"))
        rows["handles"].append(
            row(
                "handles",
                handle=f"latch://{n}.node",
                status="reachable",
                http_status=200,
                n_evals=1,
            )
        )
        rows["objects"].append(
            row(
                "objects",
                handle=f"latch://{n}.node",
                size_bytes=100 + n,
                etag=f"tag{n}",
                container="hdf5",
            )
        )
        rows["runnable"].append(
            row(
                "runnable",
                eval_id=name,
                n_handles=1,
                n_reachable=1,
                n_refused=0,
                n_unknown=0,
                runnable="all",
            )
        )
        for r in range(2):
            run = f"trajectories/{name}/p/m/h/r{r}/result.json"
            files[run] = blob(1000 + 10 * n + r)
            rows["runs"].append(
                row(
                    "runs",
                    run_path=run,
                    blob_sha=files[run],
                    eval_id=name,
                    model="m",
                    harness="h",
                    status="graded",
                    recorded_passed=True,
                    derived_passed=True,
                    recorded_score=1.0,
                    derived_score=1.0,
                    passed_agrees=True,
                    score_agrees=True,
                    fields_agree=True,
                )
            )
            rows["run_fields"].append(
                row("run_fields", run_path=run, field="x", recorded_pass=True, derived_pass=True)
            )
    rows["tree"] = [
        row("tree", path=path, mode="100644", kind="file", blob_sha=sha)
        for path, sha in sorted(files.items())
    ]
    rows["claims"] = [
        row(
            "claims",
            claim_id="one.sound",
            kind="invariant",
            repos=["one"],
            expected="0",
            observed="0",
            status="holds",
        ),
        row(
            "claims",
            claim_id="one.size",
            kind="observation",
            repos=["one"],
            expected="3",
            observed="3",
            status="holds",
        ),
    ]
    return rows


def report(
    label: str,
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    about: Mapping[str, Any] = ABOUT,
    without: Sequence[str] = (),
    complete: bool | None = True,
) -> Report:
    """Return a report of some rows, as folders give it."""
    frames = {}
    for name, listed in rows.items():
        if name not in without:
            frames[name] = Frame.of(tables.build(name, listed, {}))
    return Report(label, frames, dict.fromkeys(frames, about), complete)


def edited(rows: Rows, table: str, where: Mapping[str, Any], **values: Any) -> Rows:
    """Return the rows with some columns of some rows changed; at least one row must be meant."""
    out = copy.deepcopy(rows)
    meant = [r for r in out[table] if all(r[name] == value for name, value in where.items())]
    assert meant
    for item in meant:
        item.update(values)
    return out


def without(rows: Rows, table: str, **where: Any) -> Rows:
    """Return the rows without those that are meant; at least one."""
    out = copy.deepcopy(rows)
    kept = [r for r in out[table] if not all(r[name] == value for name, value in where.items())]
    assert len(kept) < len(out[table])
    out[table] = kept
    return out


def frame(columns: Mapping[str, Any]) -> Frame:
    return Frame.of(pa.table(dict(columns)))
