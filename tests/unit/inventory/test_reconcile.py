"""The manifest against the tree, both ways; evaluations are counted once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from benchproof.findings import SEVERITIES, rows
from benchproof.inventory.manifests import Manifest, parse
from benchproof.inventory.reconcile import Reconciled, reconcile, stem_of, valid_id
from benchproof.tables import build

#: BR-25
HOSTILE = (
    "../../x",
    "/abs",
    "a/b",
    "",
    ".",
    "..",
    "x" * 300,
    "x{y}",
    "x;touch pwned",
    "line\nbreak",
    "-x",
    "é",
    "a b",
    "x\0",
)


def run(value: Any, files: list[str], ids: dict[str, str | None] | None = None) -> Reconciled:
    manifest = value if isinstance(value, Manifest) else parse(value, "evals")
    out = reconcile(
        "demo/one", manifest, "evals", files, ids or {path: stem_of(path) for path in files}
    )
    build("manifest", out.manifest, {})
    build("reconciliation", [out.summary], {})
    assert all(row["severity"] in SEVERITIES for row in rows(out.findings))
    return out


def a(*ids: str, task: str = "t", **more: Any) -> list[dict[str, Any]]:
    return [{"task": task, "kit": "k", "eval_id": eval_id, **more} for eval_id in ids]


def counts(out: Reconciled) -> tuple[int, ...]:
    return tuple(
        out.summary[name]
        for name in ("rows", "evals", "files", "orphans", "dangling", "duplicates")
    )


def met(out: Reconciled) -> dict[str, int]:
    return dict(Counter(finding.rule for finding in out.findings))


def statuses(out: Reconciled) -> list[tuple[str, int | None]]:
    return [(row["status"], row["duplicate_of"]) for row in out.manifest]


def test_a_manifest_that_matches_gives_no_finding() -> None:
    out = run(a("one", "two"), ["evals/t/one.json", "evals/t/two.json"])
    assert (counts(out), met(out)) == ((2, 2, 2, 0, 0, 0), {})
    assert (
        out.summary | {"shape": "a", "folder": "evals", "status": "ok", "reason": None}
        == out.summary
    )


def test_both_directions_are_told() -> None:
    out = run(a("one", "gone"), ["evals/t/one.json", "evals/t/extra.json"])
    assert counts(out) == (2, 2, 2, 1, 1, 0)
    assert met(out) == {"dangling": 1, "orphan": 1}
    assert {(f.rule, f.path, f.pointer) for f in out.findings} == {
        ("dangling", "evals/manifest.json", "/2"),
        ("orphan", "evals/t/extra.json", None),
    }


def test_identical_rows_count_once() -> None:
    out = run(a("one", "two", "one", "one"), ["evals/t/one.json", "evals/t/two.json"])
    assert statuses(out) == [
        ("ok", None),
        ("ok", None),
        ("duplicate_identical", 1),
        ("duplicate_identical", 1),
    ]
    assert (counts(out), met(out)) == ((4, 2, 2, 0, 0, 2), {"manifest_row_duplicated": 2})


@pytest.mark.parametrize(
    ("second", "files"),
    [
        (a("one", kit="other"), ["evals/t/one.json"]),
        (a("one", benchmark=False), ["evals/t/one.json"]),
        (a("one", task="u"), ["evals/t/one.json"]),
        (a("one", task="u"), ["evals/t/one.json", "evals/u/one.json"]),
        (a("one", kit="other"), []),
        (a("one", task="u"), []),
    ],
    ids=[
        "kit",
        "benchmark",
        "task-without-file",
        "task-with-file",
        "kit-both-dangling",
        "task-both-dangling",
    ],
)
def test_rows_of_one_id_that_differ_conflict_and_count_once(
    second: list[dict[str, Any]], files: list[str]
) -> None:
    """BR-27: two manifest rows, one warning, counts do not double."""
    out = run(a("one") + second, files)
    assert statuses(out)[1] == ("duplicate_conflicting", 1)
    assert met(out)["manifest_rows_conflict"] == 1
    assert (out.summary["rows"], out.summary["evals"], out.summary["duplicates"]) == (2, 1, 1)


def test_conflicting_paths_of_one_id_conflict_in_shape_b() -> None:
    value = {
        "evals": [{"id": "one", "path": "evals/a.json"}, {"id": "one", "path": "evals/b.json"}]
    }
    out = run(
        value, ["evals/a.json", "evals/b.json"], {"evals/a.json": "one", "evals/b.json": "two"}
    )
    assert statuses(out) == [("ok", None), ("duplicate_conflicting", 1)]


@pytest.mark.parametrize("eval_id", HOSTILE, ids=lambda text: repr(text[:12]))
def test_a_hostile_id_is_one_row_and_no_path(eval_id: str) -> None:
    """BR-25"""
    out = run(a("one", eval_id, "two"), ["evals/t/one.json", "evals/t/two.json"])
    assert [row["status"] for row in out.manifest] == ["ok", "invalid_id", "ok"]
    assert met(out) == {"id_invalid": 1, "dangling": 1}
    assert counts(out) == (3, 3, 2, 0, 1, 0)


def test_valid_ids_are_names_on_common_systems() -> None:
    assert not any(valid_id(eval_id) for eval_id in (*HOSTILE, None))
    assert all(valid_id(eval_id) for eval_id in ("a", "A_1.b-c+d", "0", "x" * 200, "_x"))


def test_malformed_rows_are_rows_and_no_evaluations() -> None:
    out = run([*a("one"), {"task": "t"}, None], ["evals/t/one.json"])
    assert [row["status"] for row in out.manifest] == ["ok", "malformed", "malformed"]
    assert (counts(out), met(out)) == ((3, 1, 1, 0, 0, 0), {"manifest_row_malformed": 2})


def test_texts_of_shape_d_are_stems_or_ids() -> None:
    """FACTS: stems for 23 of 30, ids for the others; a folder is the stem of its eval.json."""
    files = ["evals/q/one_file.json", "evals/q/two_file.json", "evals/three/eval.json"]
    ids: dict[str, str | None] = {files[0]: "id_one", files[1]: "id_two", files[2]: None}
    out = run(
        {"platforms": {"p": {"n_evals": 4, "evals": ["one_file", "id_two", "three", "gone"]}}},
        files,
        ids,
    )
    assert [row["path"] for row in out.manifest] == [*files, None]
    assert (counts(out), met(out)) == ((4, 4, 3, 0, 1, 0), {"dangling": 1})


def test_a_stem_counts_before_an_id() -> None:
    files = ["evals/x.json", "evals/y.json"]
    out = run({"platforms": {"p": {"evals": ["x", "y"]}}}, files, {files[0]: "y", files[1]: "x"})
    assert [row["path"] for row in out.manifest] == files
    assert met(out) == {}


def test_wrong_counts_and_local_paths_are_told() -> None:
    out = run({"platforms": {"p": {"n_evals": 9, "evals": ["one"]}}}, ["evals/one.json"])
    assert [(f.rule, f.pointer) for f in out.findings] == [
        ("manifest_count_differs", "/platforms/p")
    ]
    out = run({"examples": [{"dest": "/home/x/one.json", "id": "one"}]}, ["evals/one.json"])
    assert met(out) == {"manifest_local_path": 1}


def test_without_a_manifest_the_files_count() -> None:
    out = run(Manifest("e"), ["evals/a.json", "evals/b.json"])
    assert (counts(out)[:5], out.summary["status"]) == ((0, 2, 2, 0, 0), "no_manifest")
    assert met(out) == {"manifest_missing": 1}


@pytest.mark.parametrize(
    ("manifest", "rule"),
    [
        (Manifest("unknown"), "manifest_shape_unknown"),
        (Manifest("unreadable"), "manifest_unreadable"),
        ([{"name": "one"}], "manifest_shape_unknown"),
    ],
)
def test_an_unknown_shape_is_critical_and_never_0_evals(manifest: Any, rule: str) -> None:
    out = run(manifest, ["evals/a.json"])
    assert [
        out.summary[name] for name in ("rows", "evals", "orphans", "dangling", "duplicates")
    ] == [None] * 5
    assert out.summary["files"] == 1
    assert [(row["rule"], row["severity"]) for row in rows(out.findings)] == [(rule, "critical")]


@pytest.mark.parametrize(
    ("path", "stem"),
    [("evals/t/one.json", "one"), ("evals/one/eval.json", "one"), ("a.b.json", "a.b"), ("x", "x")],
)
def test_stems(path: str, stem: str) -> None:
    assert stem_of(path) == stem
