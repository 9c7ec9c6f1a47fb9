"""What can go wrong inside evaluation files and licences: text, types, fields, ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from benchproof.inventory.apache import TEXT
from defects.bench import Bench, Item
from defects.cases import add, defect

LOST = (
    *("findings dangling *", "findings orphan *", "findings metadata_* evals"),
    "findings run_eval_missing *",
)


def _text(
    name: str,
    says: str,
    change: Callable[[bytes], bytes],
    rule: str = "eval_unreadable",
    also: tuple[str, ...] = (),
) -> None:
    """Enter an evaluation whose text is damaged."""

    def plant(bench: Bench) -> Iterator[str]:
        path = bench.pick().path
        yield path
        bench._items.clear()
        bench.tree.put(path, change(bench.tree.text(path)))

    add("files", name, says, plant, (f"findings {rule} {{path}}",), also=(*LOST, *also))


_text("cut_off", "An evaluation ends in the middle", lambda text: text[: len(text) // 2])
_text("last_brace_lost", "An evaluation lacks its last brace", lambda text: text.rstrip()[:-1])
_text("trailing_comma", "A comma too many", lambda text: text.rstrip()[:-1].rstrip() + b",\n}\n")
_text("comma_lost", "A comma too few", lambda text: text.replace(b'",\n', b'"\n', 1))
_text("commented", "A comment in an evaluation", lambda text: text.replace(b"{", b"{ // new\n", 1))
_text("single_quotes", "Python's quotes", lambda text: text.replace(b'"', b"'"))
_text("two_documents", "Two documents in one file", lambda text: text + text)
_text("emptied", "An evaluation is an empty file", lambda text: b"")
_text("blank", "An evaluation is nothing but blanks", lambda text: b" \n\n")
_text(
    "error_page",
    "A web page was saved in place of the file",
    lambda text: b"<!DOCTYPE html><title>404</title>\n",
)
_text(
    "conflicted",
    "Marks of a merge",
    lambda text: b"<<<<<<< HEAD\n" + text + b"=======\n" + text + b">>>>>>> x\n",
)
_text("in_utf16", "UTF-16", lambda text: text.decode().encode("utf-16"))
_text("in_latin1", "A letter in Latin-1", lambda text: text.replace(b"invented", b"invent\xe9", 1))
_text("with_nul", "A NUL inside", lambda text: text.replace(b"invented", b"inven\0ed", 1))
_text(
    "line_break_in_text",
    "A bare line break inside a text",
    lambda text: text.replace(b"\\n", b"\n", 1),
)
_text(
    "nested",
    "Nested ten thousand deep",
    lambda text: text.rstrip()[:-1] + b', "x": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
)
_text(
    "leading_zero",
    "A number with a leading zero",
    lambda text: text.rstrip()[:-1] + b', "metadata2": 007}\n',
)
_text("with_bom", "A byte order mark", lambda text: b"\xef\xbb\xbf" + text, "json_bom")
_text(
    "bare_nan",
    "A bare NaN",
    lambda text: text.rstrip()[:-1] + b', "notes": NaN}\n',
    "json_nonfinite",
    ("findings field_type_wrong *", "findings json_duplicate_key *"),
)
_text(
    "key_twice",
    "`task` stands twice",
    lambda text: text.replace(b'"task"', b'"task": "x", "task"', 1),
    "json_duplicate_key",
)
_text(
    "truth_twice",
    "A graded field stands twice with different numbers",
    lambda text: text.replace(b'"ground_truth": {', b'"ground_truth": {"n": 1, "n": 2,', 1),
    "json_duplicate_key",
    ("findings *",),
)
_text(
    "half_a_character",
    "Half of a character pair",
    lambda text: text.replace(b"invented", b"\\ud83dinvented", 1),
    "*",
)
_text(
    "question_marks",
    "Letters that were lost in a conversion (U+FFFD)",
    lambda text: text.replace(b"invented", "inv\ufffdnted".encode(), 1),
    "text_damaged",
)
_text(
    "mojibake",
    "Letters that were converted twice",
    lambda text: text.replace(b"invented task", "don\u00e2\u20ac\u2122t".encode(), 1),
    "text_damaged",
)


Edit = Callable[[dict[str, Any]], object]


def _field(
    name: str, says: str, change: Edit, rule: str, also: tuple[str, ...] = (), repo: str = "scbench"
) -> None:
    """Enter an evaluation with a damaged field."""

    def plant(bench: Bench) -> Iterator[str]:
        item = bench.pick()
        yield item.path
        change(item.data)

    # What is said of the metadata as a whole is said of their folder.
    seen = "|".join(f"findings {one} {{path}}|findings {one} evals" for one in rule.split("|"))
    add("files", name, says, plant, (seen,), repo, (*LOST, *also))


def _put(**values: Any) -> Edit:
    return lambda data: data.update(values)


UNTYPED = ("findings grader_type_unknown {path}",)
RENAMED = ("findings id_* *", "findings metadata_gives_answer *")
_field("id_lost", "No id", lambda data: data.pop("id"), "eval_malformed", RENAMED)
_field("id_null", "The id is null", _put(id=None), "eval_malformed|field_type_wrong", RENAMED)
_field(
    "id_number",
    "The id is a number",
    _put(id=5),
    "eval_malformed|field_type_wrong",
    (*RENAMED, "findings field_type_wrong *", "findings eval_malformed *"),
)
_field("id_empty", "The id is empty", _put(id=""), "id_invalid|eval_malformed", RENAMED)
_field("id_as_path", "The id is a path", _put(id="qc/demo"), "id_invalid", RENAMED)
_field("id_up", "The id leads upwards", _put(id="../demo"), "id_invalid", RENAMED)
_field("id_of_command", "The id holds a command", _put(id="demo;rm -r x"), "id_invalid", RENAMED)
_field("id_of_two_lines", "The id holds a line break", _put(id="demo\nx"), "id_invalid", RENAMED)
_field("id_endless", "The id has 300 letters", _put(id="d" * 300), "id_invalid", RENAMED)
_field(
    "id_padded",
    "The id ends in a space",
    lambda data: data.update(id=data["id"] + " "),
    "id_invalid|id_differs_from_stem|id_differs_from_manifest",
    RENAMED,
)
_field(
    "id_of_another_name",
    "The id is not the file's name",
    _put(id="demo_other_name"),
    "id_differs_from_stem",
    RENAMED,
)
_field(
    "prompt_lost",
    "No prompt",
    lambda data: data.pop("task"),
    "eval_malformed|prompt_empty",
    ("findings prompt_empty *", "findings template_missing *", "findings eval_malformed *"),
)
_field(
    "prompt_list",
    "The prompt is a list",
    _put(task=["An invented task."]),
    "field_type_wrong|eval_malformed",
    ("findings prompt_empty *", "findings template_missing *"),
)
_field("metadata_lost", "No metadata", lambda data: data.pop("metadata"), "eval_malformed")
_field(
    "metadata_list", "The metadata are a list", _put(metadata=[]), "field_type_wrong|eval_malformed"
)
_field(
    "metadata_text",
    "The metadata are a text",
    _put(metadata="qc"),
    "field_type_wrong|eval_malformed",
)
_field(
    "task_number",
    "The task in the metadata is a number",
    lambda data: data["metadata"].update(task=3),
    "metadata_mixed_types",
    ("findings metadata_mixed_types *", "findings task_differs_* *"),
)
_field(
    "data_lost",
    "No data node",
    lambda data: data.pop("data_node"),
    "data_node_empty|eval_malformed",
    ("findings handle_malformed *",),
)
_field(
    "data_null",
    "The data node is null",
    _put(data_node=None),
    "data_node_empty|field_type_wrong",
    ("findings handle_malformed *",),
)
for _name, _says, _handle in (
    ("handle_of_one_slash", "A handle lacks a slash", "latch:/10000.node"),
    ("handle_of_bucket", "A handle of another store", "s3://demo/10000.h5ad"),
    ("handle_without_node", "A handle lacks its ending", "latch://10000"),
    ("handle_padded", "A handle begins with a space", " latch://10000.node"),
    ("handle_of_words", "A handle's number holds a letter", "latch://1000O.node"),
    (
        "handle_signed",
        "A signed address in place of a handle",
        "https://example.invalid/x?X-Amz-Signature=0",
    ),
    ("handle_capital", "A handle in capitals", "LATCH://10000.NODE"),
):
    _field(_name, _says, _put(data_node=_handle), "handle_malformed")
_field(
    "handle_null_in_list",
    "A handle of a list is null",
    lambda data: data["data_node"].append(None),
    "field_type_wrong|handle_malformed",
    repo="epibench",
)
_field(
    "both_graders",
    "Both `grader` and `graders`",
    lambda data: data.update(graders=[data["grader"]]),
    "grader_and_graders",
)
_field(
    "grader_list",
    "`grader` is a list",
    lambda data: data.update(grader=[data["grader"]]),
    "grader_object_malformed|field_type_wrong",
    ("findings field_type_wrong *", *UNTYPED),
)
_field(
    "grader_null",
    "`grader` is null",
    _put(grader=None),
    "grader_object_malformed|field_type_wrong",
    ("findings field_type_wrong *", "findings grader_object_malformed *", *UNTYPED),
)
_field(
    "canary_number",
    "The canary is a number",
    _put(canary=7),
    "field_type_wrong|canary_without_guid",
    ("findings canary_* *",),
)
_field(
    "field_in_capitals",
    "A field's name is in capitals",
    lambda data: data.update(Notes="x"),
    "field_unknown",
)
_field(
    "grader_misspelt",
    "`grader` is misspelt, so that nothing grades this evaluation",
    lambda data: data.update(garder=data.pop("grader")),
    "field_unknown",
)


@defect("files", "findings * {one}", "findings * {other}")
def data_exchanged(bench: Bench) -> Iterator[dict[str, str]]:
    """Two evaluations have each other's data"""
    one, other = bench.rng.sample(bench.all(), 2)
    yield {"one": one.path, "other": other.path}
    one.data["data_node"], other.data["data_node"] = other.data["data_node"], one.data["data_node"]


@defect(
    "files",
    "findings template_differs_from_rule {one}",
    "findings template_differs_from_rule {other}",
    also=("findings template_* *", "findings rounded_truth_fails *"),
)
def prompts_exchanged(bench: Bench) -> Iterator[dict[str, str]]:
    """Two evaluations have each other's prompt"""
    one, other = bench.rng.sample(bench.all(), 2)
    yield {"one": one.path, "other": other.path}
    one.data["task"], other.data["task"] = other.data["task"], one.data["task"]


@defect(
    "files",
    "findings id_duplicated *",
    also=("findings id_* *", "findings canary_shared *", "evals * status=duplicate_id", *LOST),
)
def id_of_another(bench: Bench) -> Iterator[str]:
    """An evaluation has another's id"""
    one, other = bench.rng.sample(bench.all(), 2)
    yield one.path
    one.data["id"] = other.data["id"]


@defect(
    "files",
    "findings ids_differ_by_case *",
    also=("findings id_* *", *LOST, "findings path_case_collision *"),
)
def id_by_case(bench: Bench) -> Iterator[str]:
    """Two ids differ by case alone"""
    one, other = bench.rng.sample(bench.all(), 2)
    yield one.path
    one.data["id"] = other.data["id"].upper()


def _apache(bench: Bench) -> None:
    bench.tree.put("LICENSE", TEXT)


def _licence(name: str, says: str, change: Callable[[str], str], *seen: str) -> None:
    def plant(bench: Bench) -> Iterator[str]:
        _apache(bench)
        yield "LICENSE"
        text = change(TEXT)
        assert text != TEXT
        bench.tree.put("LICENSE", text)

    add("files", name, says, plant, seen)


ALTERED = ("findings licence_altered LICENSE", "licences LICENSE class=altered_text")
_licence(
    "licence_word",
    "A word of the licence is another",
    lambda text: text.replace("perpetual", "revocable", 1),
    *ALTERED,
)
_licence(
    "licence_not",
    "A 'not' of the licence is gone",
    lambda text: text.replace("does not grant", "does grant", 1),
    *ALTERED,
)
_licence(
    "licence_paragraph",
    "A paragraph of the licence is gone",
    lambda text: text[: text.index("   6. ")] + text[text.index("   7. ") :],
    *ALTERED,
)
_licence(
    "licence_clause",
    "A clause was added to the licence",
    lambda text: text.replace("END OF TERMS", "10. No use by competitors.\n\n   END OF TERMS", 1),
    *ALTERED,
)
_licence(
    "licence_cut", "The licence ends in the middle", lambda text: text[: len(text) // 2], *ALTERED
)
_licence(
    "licence_other",
    "The licence is another one",
    lambda _: "MIT License\n\nPermission is hereby granted, free of charge, to any person.\n",
    "licences LICENSE class=other",
)
_licence(
    "licence_empty", "The licence is an empty file", lambda _: "", "findings licence_* LICENSE"
)


@defect("files", "findings licence_absent *", "licences * class=absent")
def licence_deleted(bench: Bench) -> Iterator[str]:
    """The licence is deleted"""
    _apache(bench)
    yield "LICENSE"
    del bench.tree[b"LICENSE"]


@defect("files", "findings licence_absent *")
def licence_elsewhere(bench: Bench) -> Iterator[str]:
    """The licence lies in a folder, where nobody looks"""
    _apache(bench)
    yield "LICENSE"
    bench.tree[b"docs/LICENSE"] = bench.tree.pop(b"LICENSE")


@defect("files", "findings metadata_mixed_types *", also=("findings metadata_* *",))
def timeout_in_text(bench: Bench) -> Iterator[str]:
    """A number of the metadata is a text in one evaluation"""
    items = bench.all()
    for item in items:
        item.data["metadata"]["n_cells"] = 5000
    yield items[0].path
    items[0].data["metadata"]["n_cells"] = "5000"


@defect(
    "files",
    "findings vocabulary_malformed *|findings json_unreadable *",
    repo="scbench-long",
    also=("findings json_unreadable *",),
)
def vocabulary_cut(bench: Bench) -> Iterator[str]:
    """A vocabulary ends in the middle"""
    path = bench.pick().path.replace("eval.json", "vocabulary.json")
    yield path
    bench.tree.put(path, bench.tree.text(path)[:20])


def copied(item: Item) -> dict[str, Any]:
    """Return a copy of an evaluation's content."""
    found: dict[str, Any] = json.loads(json.dumps(item.data))
    return found
