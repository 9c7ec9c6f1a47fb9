"""Planted findings: one of each kind, none of which changes the first table or the number of
runs.
"""

from __future__ import annotations

import json
from typing import Any

from family.draft import Draft, EvalDraft, RunDraft
from family.evals import flat_graders
from family.published import contradict_total
from family.tree import EXECUTABLE, RepoTree, quote

LFS_SIZE = 330_454_481


def plant_all(draft: Draft) -> None:
    """Plant what fits the repositories that the draft has."""
    if "scbench" in draft.trees:
        _plant_records(draft)
        _plant_texts(draft)
    if "spatialbench" in draft.trees:
        contradict_total(draft.tree("spatialbench"))
        draft.plant("published_total_differs", "spatialbench", "results/model_results.csv")
    if "epibench" in draft.trees:
        _plant_in_epibench(draft)
    if "variantbench" in draft.trees:
        _plant_in_variantbench(draft)
    if "scbench-long" in draft.trees:
        _plant_tree_entries(draft)


def dump(value: Any) -> str:
    """Return the text of a result.json."""
    return json.dumps(value, sort_keys=True, indent=2) + "\n"


def _plant_records(draft: Draft) -> None:
    """Plant what re-grading finds in recorded runs, each in a run of its own."""
    tree, runs = draft.tree("scbench"), draft.runs["scbench"]
    partial = [run for run in runs if len(run.result["result"]["agent_answer"]) > 1]
    picked = iter(draft.rng("planted", "runs").sample(partial, 7))

    def take(rule: str) -> RunDraft:
        run = next(picked)
        draft.plant(rule, "scbench", run.path)
        return run

    run = take("verdict_differs")
    for level in (run.result["result"], run.result["result"]["grader_result"]):
        level["passed"] = not level["passed"]
    tree.put(run.path, dump(run.result))

    run = take("score_differs")
    record = run.result["result"]["grader_result"]
    record["score"] = record["score"] - 0.25 if record["score"] >= 0.5 else record["score"] + 0.25
    tree.put(run.path, dump(run.result))

    run = take("field_differs")
    scores = run.result["result"]["grader_result"]["field_scores"]
    name = min(scores)
    scores[name] = 1.0 - scores[name]
    tree.put(run.path, dump(run.result))

    run = take("record_contradicts_itself")
    run.result["result"]["passed"] = not run.result["result"]["grader_result"]["passed"]
    tree.put(run.path, dump(run.result))

    run = take("model_differs")
    run.result["model_name"] = "northwind/boreal-9"
    tree.put(run.path, dump(run.result))

    run = take("json_bom")
    tree.put(run.path, b"\xef\xbb\xbf" + dump(run.result).encode())

    run = take("json_duplicate_key")
    tree.put(run.path, _with_duplicate(run))


def _with_duplicate(run: RunDraft) -> str:
    """Return result.json with one answer given twice: a wrong one, then the one that was graded."""
    text = dump(run.result)
    head, tail = text.split('"agent_answer": {\n', 1)
    first = tail.split("\n", 1)[0]
    name = first.split(":")[0]
    return f'{head}"agent_answer": {{\n{name}: -77777,\n{tail}'


def _plant_texts(draft: Draft) -> None:
    """Plant an answer template that names another field, an executable file and a README that
    tells.
    """
    tree = draft.tree("scbench")
    item = _eval(draft, "scbench", "clust_04_largest")
    name = item.fields[0].name
    item.data["task"] = item.data["task"].replace(f'"{name}"', '"demo_unasked"')
    tree.put_json(item.path, item.data)
    draft.plant("template_differs_from_rule", "scbench", item.path)

    item = _eval(draft, "scbench", "norm_03_depth")
    tree.put(item.path, tree.text(item.path), EXECUTABLE)
    draft.plant("executable_file", "scbench", item.path)

    item = _eval(draft, "scbench", "qc_02_panel")
    truth = json.dumps({rule.name: rule.truth for rule in item.fields})
    text = tree.text("README.md").decode() + f"\n```json\n{truth}\n```\n"
    tree.put("README.md", text)
    draft.plant("readme_gives_answer", "scbench", "README.md", vault_only=True)


def _plant_in_epibench(draft: Draft) -> None:
    """Plant an id that isn't its file's stem, an LFS pointer, editor junk and bare NaN tokens."""
    tree = draft.tree("epibench")
    item = _eval(draft, "epibench", "epi_07_bound")
    path = item.path.replace(".json", "_draft.json")
    tree[path.encode()] = tree.pop(item.path.encode())
    listing = tree.json("evals/manifest.json")
    for row in listing["evals"]:
        row["path"] = path if row["id"] == item.eval_id else row["path"]
    tree.put_json("evals/manifest.json", listing)
    draft.plant("id_differs_from_stem", "epibench", path)

    pointer = (
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'5eed' * 16}\nsize {LFS_SIZE}\n"
    )
    tree.put("data/demo_counts.h5ad", pointer)
    draft.plant("lfs_pointer", "epibench", "data/demo_counts.h5ad")
    tree.put("evals/.manifest.json.swp", b"b0VIM 9.0\0\0\0\0synthetic")
    draft.plant("editor_junk", "epibench", "evals/.manifest.json.swp")
    tree.put("results/summary.json", '{"models": [{"mean": NaN, "width": NaN, "n": 0}]}\n')
    draft.plant("json_nan_token", "epibench", "results/summary.json")


def _plant_in_variantbench(draft: Draft) -> None:
    """Plant thresholds beside `scoring` instead of inside it."""
    item = _eval(draft, "variantbench", "var_04_panel")
    (grader,) = flat_graders(item.data)
    grader["config"]["pass_thresholds"] = grader["config"]["scoring"].pop("pass_thresholds")
    draft.tree("variantbench").put_json(item.path, item.data)
    draft.plant("grader_key_misplaced", "variantbench", item.path)


def _plant_tree_entries(draft: Draft) -> None:
    """Plant entries that are no plain files, and paths that some systems can't hold."""
    tree, name = draft.tree("scbench-long"), "scbench-long"
    add_links(tree)
    for path in ("docs/latest.md", "docs/elsewhere.md", "docs/gone.md"):
        draft.plant("symlink_in_tree", name, path)
    tree.put(
        ".gitmodules", '[submodule "vendor/helper"]\n\tpath = vendor/helper\n\turl = ../helper\n'
    )
    tree.submodule("vendor/helper", "5eed" * 10)
    draft.plant("submodule_in_tree", name, "vendor/helper")
    odd = b"docs/caf\xe9.txt"
    tree.put(odd, "A name in Latin-1.\n")
    draft.plant("path_not_utf8", name, quote(odd).decode())
    tree.put("docs/Notes.md", "One of two.\n")
    tree.put("docs/notes.md", "Two of two.\n")
    draft.plant("path_case_collision", name, "docs/notes.md")


def add_links(tree: RepoTree) -> None:
    """Add a link inside the repository, one that leaves it and one that dangles."""
    tree.link("docs/latest.md", "../README.md")
    tree.link("docs/elsewhere.md", "../../../../etc/hostname")
    tree.link("docs/gone.md", "not-there.md")


def _eval(draft: Draft, name: str, word: str) -> EvalDraft:
    """Return the evaluation of that word."""
    return next(item for item in draft.evals[name] if item.word == word)
