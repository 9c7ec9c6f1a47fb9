"""What can go wrong in a manifest: rows, ids, paths, numbers, and its text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from defects.bench import Bench
from defects.cases import add, defect

MANIFEST = "evals/manifest.json"
DANGLING, ORPHAN = "findings dangling *", "findings orphan *"
ONE_GONE = "reconciliation * dangling=1"
Row = dict[str, Any]


def rows(bench: Bench) -> list[Row]:
    """Return the rows of the manifest, to be changed and put back."""
    listing = bench.tree.json(MANIFEST)
    found: list[Row] = listing if isinstance(listing, list) else listing["evals"]
    return found


def put(bench: Bench, listed: Any) -> None:
    """Write rows back in the shape that the repository has."""
    wrap = bench.plan.manifest == "b"
    bench.tree.put_json(MANIFEST, {"evals": listed} if wrap else listed)


def path_of(bench: Bench, row: Row) -> str:
    """Return the path that a row leads to."""
    return str(row.get("path") or f"evals/{row['task']}/{row['eval_id']}.json")


def pick(bench: Bench) -> tuple[list[Row], Row]:
    """Return all rows and one of them."""
    listed = rows(bench)
    return listed, bench.rng.choice(listed)


@defect("manifest", DANGLING, ONE_GONE)
def row_without_file(bench: Bench) -> Iterator[str]:
    """A row names an evaluation that was never added"""
    listed = rows(bench)
    yield MANIFEST
    put(bench, [*listed, {"task": "qc", "kit": "kit_b", "eval_id": "demo_never_added"}])


@defect("manifest", DANGLING, ONE_GONE, repo="variantbench")
def path_without_file(bench: Bench) -> Iterator[str]:
    """A row leads to a file that was never added"""
    listed, row = pick(bench)
    yield MANIFEST
    more = {**row, "id": "demo_never_added", "path": "evals/qc/demo_never_added.json"}
    put(bench, [*listed, more])


@defect(
    "manifest",
    DANGLING,
    ONE_GONE,
    also=("findings metadata_* *", "findings run_eval_missing *", "manifest * status=dangling"),
)
def file_deleted(bench: Bench) -> Iterator[str]:
    """An evaluation's file is deleted and its row stays"""
    _, row = pick(bench)
    path = path_of(bench, row)
    yield path
    del bench.tree[path.encode()]


@defect("manifest", "findings orphan {path}", "reconciliation * orphans=1")
def row_deleted(bench: Bench) -> Iterator[str]:
    """A row is deleted and its file stays"""
    listed, row = pick(bench)
    yield path_of(bench, row)
    listed.remove(row)
    put(bench, listed)


@defect("manifest", "findings orphan {path}", "reconciliation * orphans=1", repo="epibench")
def path_row_deleted(bench: Bench) -> Iterator[str]:
    """A row with a path is deleted and its file stays"""
    listed, row = pick(bench)
    yield path_of(bench, row)
    listed.remove(row)
    put(bench, listed)


@defect("manifest", "findings manifest_row_duplicated *", "reconciliation * duplicates=1")
def row_twice(bench: Bench) -> Iterator[str]:
    """A row stands twice"""
    listed, row = pick(bench)
    yield MANIFEST
    put(bench, [*listed, dict(row)])


@defect("manifest", "findings manifest_row_duplicated *", repo="epibench")
def path_row_twice(bench: Bench) -> Iterator[str]:
    """A row with a path stands twice"""
    listed, row = pick(bench)
    yield MANIFEST
    put(bench, [dict(row), *listed])


@defect(
    "manifest", "findings manifest_rows_conflict *", also="findings task_differs_from_manifest *"
)
def row_twice_with_another_kit(bench: Bench) -> Iterator[str]:
    """Two rows name one evaluation and state different kits"""
    listed, row = pick(bench)
    yield MANIFEST
    put(bench, [*listed, {**row, "kit": "kit_z"}])


@defect("manifest", "findings manifest_rows_conflict *", repo="variantbench", also=DANGLING)
def id_with_two_paths(bench: Bench) -> Iterator[str]:
    """Two rows give one id different paths"""
    listed, row = pick(bench)
    yield MANIFEST
    put(bench, [*listed, {**row, "path": "evals/qc/demo_elsewhere.json"}])


@defect("manifest", "findings manifest_rows_conflict *", repo="variantbench")
def row_twice_with_another_flag(bench: Bench) -> Iterator[str]:
    """Two rows differ in whether the evaluation is part of the benchmark"""
    listed, row = pick(bench)
    yield MANIFEST
    put(bench, [*listed, {**row, "benchmark": not row["benchmark"]}])


def _id_changed(name: str, says: str, change: Callable[[str], str]) -> None:
    """Enter a defect of one row's id: the row leads nowhere, the file is in no row."""

    def plant(bench: Bench) -> Iterator[str]:
        listed, row = pick(bench)
        yield path_of(bench, row)
        row["eval_id"] = change(row["eval_id"])
        put(bench, listed)

    invalid = "findings id_invalid *"
    add(
        "manifest",
        name,
        says,
        plant,
        (DANGLING + "|" + invalid, "findings orphan {path}"),
        also=(invalid,),
    )


_id_changed("id_misspelt", "A row's id lacks a letter", lambda text: text[:-1])
_id_changed("id_in_capitals", "A row's id differs from the file's by case", str.upper)
_id_changed("id_with_space", "A row's id ends in a space", lambda text: text + " ")
_id_changed(
    "id_with_dash", "A row's id has '-' where the file has '_'", lambda t: t.replace("_", "-")
)
_id_changed("id_with_ghost", "A row's id holds a character of no width", lambda t: t + "\u200b")
_id_changed(
    "id_in_cyrillic", "A row's id has a Cyrillic 'o' or 'e'", lambda t: t.replace("e", "\u0435")
)
_id_changed("id_with_suffix", "A row's id carries '.json'", lambda text: text + ".json")


def _path_changed(name: str, says: str, change: Callable[[str], str]) -> None:
    """Enter a defect of one row's path: the row leads nowhere, the file is in no row."""

    def plant(bench: Bench) -> Iterator[str]:
        listed, row = pick(bench)
        yield str(row["path"])
        row["path"] = change(row["path"])
        put(bench, listed)

    seen = (DANGLING + "|findings manifest_row_malformed *|findings manifest_local_path *",)
    also = (ORPHAN, DANGLING, "findings manifest_local_path *", "findings id_differs_from_* *")
    add("manifest", name, says, plant, seen, "variantbench", also=also)


_path_changed("path_in_capitals", "A row's path differs from the file's by case", str.upper)
_path_changed("path_above", "A row's path leads out of the repository", lambda t: f"../{t}")
_path_changed(
    "path_absolute", "A row's path is one of somebody's machine", lambda t: f"/Users/x/{t}"
)
_path_changed(
    "path_of_windows", "A row's path has backslashes", lambda text: text.replace("/", "\\")
)
_path_changed("path_to_folder", "A row's path is a folder", lambda text: text.rsplit("/", 1)[0])
_path_changed("path_empty", "A row's path is empty", lambda _: "")
_path_changed("path_of_url", "A row's path is an address", lambda t: f"https://example.invalid/{t}")


@defect(
    "manifest",
    "*demo_var_0*json*|findings id_differs_from_manifest *",
    repo="variantbench",
    also=(ORPHAN, "findings *"),
)
def two_rows_one_file(bench: Bench) -> Iterator[str]:
    """Two rows with different ids lead to one file, and another file is in no row"""
    listed = rows(bench)
    one, other = bench.rng.sample(listed, 2)
    yield other["path"]
    one["path"] = other["path"]
    put(bench, listed)


@defect(
    "manifest",
    "findings id_differs_from_manifest {one}",
    "findings id_differs_from_manifest {other}",
    repo="variantbench",
    also="findings task_differs_from_manifest *",
)
def ids_exchanged(bench: Bench) -> Iterator[dict[str, str]]:
    """Two rows have each other's id"""
    listed = rows(bench)
    one, other = bench.rng.sample(listed, 2)
    yield {"one": one["path"], "other": other["path"]}
    one["id"], other["id"] = other["id"], one["id"]
    put(bench, listed)


@defect("manifest", "findings id_differs_from_manifest *", repo="epibench")
def ids_shifted(bench: Bench) -> Iterator[str]:
    """The ids of all rows have moved by one"""
    listed = rows(bench)
    yield MANIFEST
    ids = [row["id"] for row in listed]
    for row, moved in zip(listed, [*ids[1:], ids[0]], strict=True):
        row["id"] = moved
    put(bench, listed)


@defect("manifest", "findings task_differs_from_manifest {path}", repo="variantbench")
def row_of_another_task(bench: Bench) -> Iterator[str]:
    """A row states another task than the evaluation"""
    listed, row = pick(bench)
    yield row["path"]
    row["task"] = "peak_calling"
    put(bench, listed)


@defect("manifest", "findings task_differs_from_manifest {path}", repo="scbench-long")
def row_of_another_kit(bench: Bench) -> Iterator[str]:
    """A row states another kit than the evaluation"""
    listed, row = pick(bench)
    yield row["path"]
    row["kit"] = "kit_q"
    put(bench, listed)


def _row_damaged(name: str, says: str, change: Callable[[Row], Any], repo: str = "scbench") -> None:
    """Enter a row that lacks what it needs."""

    def plant(bench: Bench) -> Iterator[str]:
        listed, row = pick(bench)
        yield path_of(bench, row)
        listed[listed.index(row)] = change(dict(row))
        put(bench, listed)

    seen = ("findings manifest_row_malformed *",)
    add("manifest", name, says, plant, seen, repo, also=(ORPHAN, DANGLING))


_row_damaged("row_without_id", "A row states no id", lambda row: row.pop("eval_id") and row)
_row_damaged(
    "row_without_task",
    "A row states no task, of which its path is made",
    lambda row: row.pop("task") and row,
)
_row_damaged("row_of_null_task", "A row's task is null", lambda row: {**row, "task": None})
_row_damaged("row_of_number", "A row's id is a number", lambda row: {**row, "eval_id": 4})
_row_damaged("row_of_text", "A row is a bare text", lambda row: row["eval_id"])
_row_damaged("row_of_null", "A row is null", lambda row: None)
_row_damaged("row_of_list", "A row is a list", lambda row: list(row.values()))
_row_damaged(
    "row_without_path",
    "A row of a manifest with paths has none",
    lambda row: row.pop("path") and row,
    "epibench",
)
_row_damaged(
    "row_path_number", "A row's path is a number", lambda row: {**row, "path": 3}, "epibench"
)
_row_damaged(
    "row_flag_text",
    'A row\'s `benchmark` is the text "false", which is true to most readers',
    lambda row: {**row, "benchmark": "false"},
    "variantbench",
)


@defect("manifest", "findings * *manifest.json", repo="variantbench")
def extra_counted_in(bench: Bench) -> Iterator[str]:
    """An extra evaluation is flagged as part of the benchmark"""
    listed = rows(bench)
    yield MANIFEST
    next(row for row in listed if not row["benchmark"])["benchmark"] = True
    put(bench, listed)


def _text_damaged(
    name: str,
    says: str,
    change: Callable[[bytes], bytes],
    rule: str = "manifest_unreadable",
    repo: str = "scbench",
    also: tuple[str, ...] = (),
) -> None:
    """Enter a manifest whose text is damaged."""

    def plant(bench: Bench) -> Iterator[str]:
        yield MANIFEST
        bench.tree.put(MANIFEST, change(bench.tree.text(MANIFEST)))

    add("manifest", name, says, plant, (f"findings {rule} {MANIFEST}",), repo, also)


_text_damaged(
    "trailing_comma",
    "A comma too many behind the last row",
    lambda text: text.rstrip()[:-1] + b",]\n",
)
_text_damaged("single_quotes", "The manifest is Python, not JSON", lambda t: t.replace(b'"', b"'"))
_text_damaged("cut_off", "The manifest ends in the middle", lambda text: text[: len(text) // 2])
_text_damaged("emptied", "The manifest is an empty file", lambda text: b"")
_text_damaged("commented", "The manifest holds a comment", lambda text: b"// all of them\n" + text)
_text_damaged(
    "conflicted",
    "The manifest holds the marks of a merge",
    lambda text: b"<<<<<<< HEAD\n" + text + b"=======\n" + text + b">>>>>>> other\n",
)
_text_damaged("in_utf16", "The manifest is UTF-16", lambda text: text.decode().encode("utf-16"))
_text_damaged(
    "with_nul", "A NUL stands in the manifest", lambda t: t.replace(b"demo_", b"demo\0", 1)
)
_text_damaged(
    "with_bom",
    "The manifest begins with a byte order mark",
    lambda text: b"\xef\xbb\xbf" + text,
    "json_bom",
)
_text_damaged(
    "key_twice",
    "A row states its id twice",
    lambda text: text.replace(b'"eval_id"', b'"eval_id": "demo_other", "eval_id"', 1),
    "json_duplicate_key",
)
_text_damaged(
    "list_twice",
    "`evals` stands twice; the first half is lost to most readers",
    lambda text: b'{"evals": [],' + text.lstrip()[1:],
    "json_duplicate_key",
    "epibench",
)
_text_damaged(
    "bare_nan",
    "A bare NaN stands in a row",
    lambda text: text.replace(b'"kit": ', b'"weight": NaN, "kit": ', 1),
    "json_nonfinite",
)
_text_damaged(
    "key_renamed",
    "The list stands under another key",
    lambda text: text.replace(b'"evals":', b'"items":', 1),
    "manifest_shape_unknown",
    "epibench",
)
_text_damaged(
    "of_lines",
    "The manifest is JSON lines",
    lambda text: b"\n".join(json.dumps(row).encode() for row in json.loads(text)),
)
_text_damaged(
    "a_text", "The manifest is one text", lambda text: b'"evals"\n', "manifest_shape_unknown"
)
_text_damaged("a_count", "The manifest is a number", lambda text: b"6\n", "manifest_shape_unknown")


@defect("manifest", "reconciliation * orphans=6", ORPHAN, also="findings manifest_shape_unknown *")
def no_rows(bench: Bench) -> Iterator[str]:
    """The manifest is an empty list, and the files are all there"""
    yield MANIFEST
    bench.tree.put_json(MANIFEST, [])


@defect("manifest", "findings manifest_missing *", also="findings editor_junk *")
def manifest_deleted(bench: Bench) -> Iterator[str]:
    """The manifest is deleted"""
    yield MANIFEST
    del bench.tree[MANIFEST.encode()]


@defect("manifest", "findings manifest_missing *", also=("findings eval_malformed *", ORPHAN))
def manifest_renamed(bench: Bench) -> Iterator[str]:
    """The manifest has another name"""
    yield MANIFEST
    bench.tree.put("evals/Manifest.json", bench.tree.text(MANIFEST))
    del bench.tree[MANIFEST.encode()]


@defect("manifest", "findings manifest_missing *", also="findings symlink_* *")
def manifest_link(bench: Bench) -> Iterator[str]:
    """The manifest is a symbolic link to another file"""
    yield MANIFEST
    bench.tree.put("docs/all.json", bench.tree.text(MANIFEST))
    bench.tree.link(MANIFEST, "../docs/all.json")


def _by_platform(bench: Bench) -> dict[str, Any]:
    """Return the manifest as the family had it earlier: stems by platform, with counts."""
    found: dict[str, Any] = {}
    for row in rows(bench):
        part = found.setdefault(row["kit"], {"n_evals": 0, "evals": []})
        part["evals"].append(row["eval_id"])
        part["n_evals"] += 1
    return {"version": "1", "description": "invented", "platforms": found}


@defect("manifest", "findings manifest_count_differs *")
def count_off_by_one(bench: Bench) -> Iterator[str]:
    """A platform states one evaluation more than it lists"""
    listing = _by_platform(bench)
    bench.tree.put_json(MANIFEST, listing)
    yield MANIFEST
    listing["platforms"]["kit_c"]["n_evals"] += 1
    bench.tree.put_json(MANIFEST, listing)


@defect("manifest", DANGLING, ORPHAN)
def stem_misspelt(bench: Bench) -> Iterator[str]:
    """A stem of a manifest by platform lacks a letter"""
    listing = _by_platform(bench)
    bench.tree.put_json(MANIFEST, listing)
    yield MANIFEST
    listed = listing["platforms"]["kit_a"]["evals"]
    listed[0] = listed[0][:-1]
    bench.tree.put_json(MANIFEST, listing)


@defect(
    "manifest",
    "findings manifest_row_duplicated *|findings manifest_rows_conflict *",
    also="findings task_differs_from_manifest *",
)
def stem_in_two_platforms(bench: Bench) -> Iterator[str]:
    """One evaluation stands in two platforms"""
    listing = _by_platform(bench)
    bench.tree.put_json(MANIFEST, listing)
    yield MANIFEST
    listing["platforms"]["kit_a"]["evals"].append(listing["platforms"]["kit_b"]["evals"][0])
    listing["platforms"]["kit_a"]["n_evals"] += 1
    bench.tree.put_json(MANIFEST, listing)


@defect("manifest", "findings manifest_count_differs *", repo="epibench")
def total_off_by_one(bench: Bench) -> Iterator[str]:
    """A count beside the list of evaluations is one too large"""
    listed = rows(bench)
    bench.tree.put_json(MANIFEST, {"n_evals": len(listed), "evals": listed})
    yield MANIFEST
    bench.tree.put_json(MANIFEST, {"n_evals": len(listed) + 1, "evals": listed})


@defect("manifest", DANGLING, ORPHAN)
def destination_misspelt(bench: Bench) -> Iterator[str]:
    """A destination of a manifest of copies lacks a letter"""
    rows_c = [
        {
            "src": f"/home/nobody/raw/{row['eval_id']}.json",
            "dest": f"/home/nobody/out/{row['eval_id']}.json",
            "id": row["eval_id"],
            "task_cat": row["task"],
            "platform": row["kit"],
            "grader": "numeric_tolerance",
        }
        for row in rows(bench)
    ]
    bench.tree.put_json(MANIFEST, {"examples": rows_c})
    yield MANIFEST
    rows_c[0]["dest"] = rows_c[0]["dest"].replace(".json", "x.json")
    rows_c[0]["id"] += "x"
    bench.tree.put_json(MANIFEST, {"examples": rows_c})
