"""One pinned repository as the stages see it: rows for everything, whatever the content."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchproof.findings import Finding
from benchproof.inventory.repository import (
    Repository,
    list_tree,
    not_read,
    project_repository,
    reconcile_repository,
)
from benchproof.sources import content, objects
from benchproof.sources.base import Entry, RepoSpec
from benchproof.tables import build
from family import RepoTree

SPEC = RepoSpec("demo/one", "main", "evals", "trajectories")
POINTER = (
    "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 330454481\n"
)


def evaluation(eval_id: str, **more: Any) -> dict[str, Any]:
    return {"id": eval_id, "task": "x", "metadata": {}, "data_node": "latch://1.node", **more}


class Memory(content.Content):
    """Content of a tree in memory; what isn't needed is left out, as in an archive."""

    def __init__(self, tree: RepoTree) -> None:
        from benchproof.inventory import layout

        self._data = {objects.blob_id(data): data for _, data in tree.values()}
        self.entries = [self._entry(path, *tree[path]) for path in sorted(tree)]
        self._kept = layout.needed(self.entries, SPEC).keys()

    def _entry(self, path: bytes, mode: str, data: bytes) -> Entry:
        if mode == "160000":
            return Entry(path, mode, data.decode())
        return Entry(path, mode, objects.blob_id(data), len(data) if len(data) < 1024 else None)

    def has(self, sha: str) -> bool:
        return sha in self._kept

    def read(self, sha: str) -> bytes:
        return self._data[sha]


def plain() -> RepoTree:
    tree = RepoTree()
    tree.put_json("evals/manifest.json", [{"task": "t", "eval_id": "one"}])
    tree.put_json("evals/t/one.json", evaluation("one"))
    return tree


def opened(tree: RepoTree) -> Repository:
    return Repository(SPEC, "c" * 40, Memory(tree))


def met(found: list[Finding]) -> dict[str, list[str | None]]:
    out: dict[str, list[str | None]] = {}
    for finding in found:
        out.setdefault(finding.rule, []).append(finding.path)
    return out


def test_each_kind_of_entry_is_told_apart() -> None:
    """BR-24"""
    tree = plain()
    tree.link("evals/copy.json", "t/one.json")
    tree.link("inside", "evals")
    tree.link("outside", "../../etc/passwd")
    tree.link("dangling", "nowhere")
    tree.submodule("sub", "5" * 40)
    tree.put("data/x.h5ad", POINTER)
    tree.put("tool", "#!", "100755")
    rows, found = list_tree(opened(tree))
    build("tree", rows, {})
    kinds = {row["path"]: (row["kind"], row["mode"], row["size"], row["lfs_size"]) for row in rows}
    assert kinds["data/x.h5ad"] == ("lfs", "100644", len(POINTER), 330454481)
    assert kinds["sub"] == ("submodule", "160000", None, None)
    assert kinds["outside"] == ("symlink", "120000", len("../../etc/passwd"), None)
    assert kinds["tool"] == ("file", "100755", None, None)
    assert kinds["evals/t/one.json"][2] == len(tree.text("evals/t/one.json"))
    assert met(found) == {
        "lfs_pointer": ["data/x.h5ad"],
        "submodule_in_tree": ["sub"],
        "symlink_among_evals": ["evals/copy.json"],
        "symlink_leaves_repository": ["outside"],
        "symlink_dangling": ["dangling"],
    }
    assert reconcile_repository(opened(tree)).summary["files"] == 1


def test_any_bytes_in_a_path_are_a_row_of_their_own() -> None:
    tree = plain()
    odd = [b"a\xff", b"a\xfe", b'a"', b"a\n", b"a\\n", "ä".encode(), b"\xc3"]
    for path in odd:
        tree.put(path, b"x")
    rows, found = list_tree(opened(tree))
    assert len({row["path"] for row in rows}) == len(odd) + 2
    build("tree", rows, {})
    assert len(met(found)["path_not_utf8"]) == 3


def test_an_odd_name_hides_nothing_from_the_findings() -> None:
    tree = plain()
    tree.link(b"evals/\xff.json", "nowhere")
    _, found = list_tree(opened(tree))
    assert {"path_not_utf8", "symlink_among_evals", "symlink_dangling"} <= set(met(found))


def test_an_evaluation_with_an_odd_name_is_an_orphan_like_any_other() -> None:
    tree = plain()
    tree.put_json(b'evals/t/o"ne.json', evaluation("two"))
    out = reconcile_repository(opened(tree))
    assert (out.summary["files"], out.summary["orphans"]) == (2, 1)


def test_a_moved_folder_is_used_and_told() -> None:
    tree = RepoTree()
    tree.put_json(
        "old_evals/manifest.json", {"evals": [{"id": "one", "path": "old_evals/one.json"}]}
    )
    tree.put_json("old_evals/one.json", evaluation("one"))
    repository = opened(tree)
    assert met(list_tree(repository)[1]) == {"evals_folder_moved": ["old_evals"]}
    assert reconcile_repository(repository).summary["folder"] == "old_evals"


@pytest.mark.parametrize(
    ("raw", "shape", "status"),
    [
        (None, "e", "no_manifest"),
        (b"{", "unreadable", "unknown_shape"),
        (b"", "unreadable", "unknown_shape"),
        (b"[" * 100_000, "unreadable", "unknown_shape"),
        (b'{"items": []}', "unknown", "unknown_shape"),
        (b'\xef\xbb\xbf[{"task": "t", "eval_id": "one"}]', "a", "ok"),
    ],
    ids=["none", "cut", "empty", "deep", "unknown", "bom"],
)
def test_whatever_stands_in_the_manifests_place(raw: bytes | None, shape: str, status: str) -> None:
    tree = plain()
    del tree[b"evals/manifest.json"]
    if raw is not None:
        tree.put("evals/manifest.json", raw)
    out = reconcile_repository(opened(tree))
    build("reconciliation", [out.summary], {})
    assert (out.summary["shape"], out.summary["status"]) == (shape, status)


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b'\xef\xbb\xbf[{"task": "t", "eval_id": "one"}]', "json_bom"),
        (b'[{"task": "x", "task": "t", "eval_id": "one"}]', "json_duplicate_key"),
    ],
)
def test_what_is_odd_about_the_manifests_text_is_told(raw: bytes, rule: str) -> None:
    """BR-27, BR-28: read and flagged."""
    tree = plain()
    tree.put("evals/manifest.json", raw)
    assert met(reconcile_repository(opened(tree)).findings) == {rule: ["evals/manifest.json"]}


BAD = {
    "bom": b'\xef\xbb\xbf{"id": "bom", "task": "x", "metadata": {}, "data_node": []}',
    "cut": b'{"id": ',
    "deep": b"[" * 100_000,
    "digits": b'{"id": "digits", "n": ' + b"9" * 4400 + b"}",
    "empty": b"",
    "list": b"[]",
    "surrogate": rb'{"id": "\ud800"}',
    "utf16": '{"id": "utf16"}'.encode("utf-16"),
}


def test_each_bad_file_is_one_row_and_the_others_go_on() -> None:
    """BR-28"""
    tree = plain()
    for name, raw in BAD.items():
        tree.put(f"evals/t/{name}.json", raw)
    out = project_repository(opened(tree))
    build("evals", out.evals, {})
    status = {Path(row["path"]).stem: row["status"] for row in out.evals}
    unreadable = dict.fromkeys(
        ["cut", "deep", "digits", "empty", "surrogate", "utf16"], "unreadable"
    )
    assert status == {"one": "ok", "bom": "ok", "list": "malformed", **unreadable}
    assert Counter(finding.rule for finding in out.findings)["eval_unreadable"] == 6


def test_a_shared_id_keeps_its_first_file_and_ids_may_not_differ_by_case() -> None:
    tree = plain()
    tree.put_json("evals/u/one.json", evaluation("one", data_node="latch://2.node"))
    tree.put_json("evals/u/ONE.json", evaluation("ONE"))
    repository = opened(tree)
    assert repository.by_id["one"].path == "evals/t/one.json"
    out = project_repository(repository)
    for name in ("evals", "eval_handles", "graders"):
        build(name, getattr(out, name), {})
    assert met(out.findings) == {"id_duplicated": ["evals/u/one.json"]}
    assert met(reconcile_repository(repository).findings)["ids_differ_by_case"] == [
        "evals/t/one.json"
    ]


def test_a_repeated_key_is_named_only_where_it_is_public() -> None:
    """BR-27, law 2: a key of a grader may be a label, and so an answer."""
    tree = plain()
    doubled = '"grader": {"config": {"ZqLabel": 1, "ZqLabel": 2, "value": 1, "value": 2}}, "id"'
    tree.put("evals/t/one.json", json.dumps(evaluation("one")).replace('"id"', doubled, 1))
    repository = opened(tree)
    assert repository.evaluations[0].flags == ("duplicate_key",)
    (found,) = (
        item
        for item in project_repository(repository).findings
        if item.rule == "json_duplicate_key"
    )
    assert "value" in found.detail
    assert "Zq" not in repr(found)


def test_runs_come_in_path_order() -> None:
    tree = plain()
    for replicate in (10, 2, 1):
        tree.put(f"trajectories/one/p/m/h/r{replicate}/result.json", "{}")
        tree.put(f"trajectories/one/p/m/h/r{replicate}/trajectory.json", "{}")
    assert [path.split("/")[5] for path, _ in opened(tree).runs()] == ["r1", "r10", "r2"]


def test_a_repository_that_was_not_read_counts_nothing() -> None:
    row = not_read("demo/one", "timeout")
    build("reconciliation", [row], {})
    assert {value for key, value in row.items() if key not in ("repo", "status", "reason")} == {
        None
    }


def test_the_plain_tree_gives_no_finding() -> None:
    repository = opened(plain())
    found = [*list_tree(repository)[1], *reconcile_repository(repository).findings]
    assert [*found, *project_repository(repository).findings] == []
    assert json.loads(plain().text("evals/t/one.json")) == repository.evaluations[0].value
