"""Variants of a repository: every manifest shape, and what hostile or unlucky upstreams hold.

A variant is a name, optionally with a number ("bigtree:5000"); several are joined with commas.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from family import shape
from family.draft import Draft, EvalDraft, RunDraft
from family.evals import canary, manifest, remember
from family.rules import FieldRule, config_of, grader_result
from family.runs import make_result, run_folder, write_run
from family.tree import as_path

Variant = Callable[[Draft, str, int], None]
HOSTILE_PAIR_HARNESS = "mini-swe-agent"

HOSTILE_IDS: tuple[str, ...] = (
    "../../x",
    "/abs",
    "a/b",
    "",
    ".",
    "A",
    "a",
    "x" * 300,
    "x{y}",
    "x;touch pwned",
    "line\nbreak",
)
HOSTILE_JSON: tuple[str, ...] = (
    "bom",
    "digits",
    "big_int",
    "deep",
    "surrogate",
    "utf16",
    "empty",
    "duplicate",
    "latin1",
    "nul",
    "trailing",
    "not_object",
)
BIG_INTS: tuple[int, ...] = (9_007_199_254_740_993, 2**63, 2**64, 5)


def apply_variants(draft: Draft, name: str, text: str) -> None:
    """Apply the variants that `text` names to one repository; raises KeyError for an unknown
    one.
    """
    asked = [part.strip() for part in text.split(",") if part.strip()]
    split = {part.partition(":")[0]: part.partition(":")[2] for part in asked}
    unknown = sorted(set(split) - set(VARIANTS))
    if unknown:
        raise KeyError(f"{name}: no variant {', '.join(unknown)}; known: {', '.join(VARIANTS)}")
    for key, variant in VARIANTS.items():  # content first, then manifest shapes, then history
        if key in split:
            variant(draft, name, int(split[key] or 0))


def add_eval(draft: Draft, name: str, item: EvalDraft, *, raw: bytes | None = None) -> None:
    """Add an evaluation to tree and manifest; `raw` replaces the text of its file."""
    tree, plan = draft.tree(name), shape.REPOS[name]
    if raw is None:
        tree.put_json(item.path, item.data)
    else:
        tree.put(item.path, raw)
    draft.evals[name].append(item)
    _add_row(draft, name, {"id": item.eval_id, "path": item.path}, item.task, plan.manifest)


def add_run(
    draft: Draft, item: EvalDraft, pair: tuple[str, str, str], graded: dict[str, Any], k: int = 1
) -> RunDraft:
    """Add a recorded run of an evaluation; its record is `graded`, whatever that says."""
    rng = draft.rng(item.repo, item.eval_id, pair, k)
    result = make_result(rng, item, pair, k, graded, build="0.3.9", trials=1)
    run = RunDraft(item.repo, item.eval_id, run_folder(item, pair, k), pair, k, result)
    write_run(draft.tree(item.repo), run)
    draft.runs.setdefault(item.repo, []).append(run)
    return run


def new_eval(
    draft: Draft, name: str, eval_id: str, fields: Sequence[FieldRule], task: str = "qc"
) -> EvalDraft:
    """Draft an evaluation with a numeric grader over the given fields."""
    rng = draft.rng(name, "new", eval_id)
    plan = shape.REPOS[name]
    data = {
        "id": eval_id,
        "task": "An invented task of a variant.\n",
        "data_node": next(iter(draft.handles)),
        "grader": {"type": "numeric_tolerance", "config": config_of(fields)},
        "metadata": {
            "task": task,
            "kit": "kit_v",
            "time_horizon": "short",
            "eval_type": "scientific",
        },
        "canary": canary(rng),
    }
    remember(draft, name, data)
    path = f"{plan.evals}/{task}/{eval_id}.json"
    return EvalDraft(name, eval_id, path, eval_id, task, "kit_v", data, tuple(fields))


def _listing(draft: Draft, name: str) -> tuple[str, Any]:
    """Return the path of the manifest and its value."""
    path = f"{shape.REPOS[name].evals}/manifest.json"
    return path, draft.tree(name).json(path)


def _add_row(draft: Draft, name: str, row: dict[str, Any], task: str, kind: str) -> None:
    """Append a manifest row for an id and a path."""
    path, listing = _listing(draft, name)
    if kind == "a":
        listing.append({"task": task, "kit": "kit_v", "eval_id": row["id"]})
    else:
        listing["evals"].append(row | {"task": task, "kit": "kit_v"})
    draft.tree(name).put_json(path, listing)


def _shape_as(kind: str) -> Variant:
    """Return the variant that writes today's manifest in shape a or b."""

    def variant(draft: Draft, name: str, _: int) -> None:
        path, listing = _listing(draft, name)
        rows = listing if isinstance(listing, list) else listing["evals"]
        places = {item.eval_id: item for item in draft.evals[name]}
        ids = [row.get("eval_id", row.get("id")) for row in rows]
        if kind == "a":
            value: Any = [
                {"task": row["task"], "kit": row["kit"], "eval_id": key}
                for key, row in zip(ids, rows, strict=True)
            ]
        else:
            head = shape.REPOS[name].evals
            value = {
                "evals": [
                    {
                        "id": key,
                        "path": places[key].path
                        if key in places
                        else f"{head}/{row['task']}/{key}.json",
                    }
                    for key, row in zip(ids, rows, strict=True)
                ]
            }
        draft.tree(name).put_json(path, value)

    return variant


def _shape_c(draft: Draft, name: str, _: int) -> None:
    """Write a manifest of examples with absolute paths of somebody's machine."""
    path, _listed = _listing(draft, name)
    examples = [
        {
            "src": f"/Users/nobody/private/{item.kit}/{number}/config.json",
            "dest": f"/Users/nobody/{name}/{PurePosixPath(item.path).name}",
            "id": item.eval_id,
            "task_cat": item.task,
            "platform": item.kit,
            "grader": item.data.get("grader", {}).get("type"),
        }
        for number, item in enumerate(draft.evals[name])
    ]
    draft.tree(name).put_json(path, {"examples": examples})


def _shape_d(draft: Draft, name: str, _: int) -> None:
    """Write a manifest of platforms that lists file stems, three of four not the id of their
    file.
    """
    tree = draft.tree(name)
    path, _listed = _listing(draft, name)
    platforms: dict[str, Any] = {}
    items: list[EvalDraft] = []
    for number, item in enumerate(draft.evals[name]):
        stem = item.eval_id if number % 4 == 3 else f"{item.kit}_{item.task}_{number:02d}"
        new = f"{shape.REPOS[name].evals}/{item.kit}/{stem}.json"
        tree[as_path(new)] = tree.pop(as_path(item.path))
        items.append(replace(item, path=new))
        group = platforms.setdefault(item.kit, {"n_evals": 0, "evals": []})
        group["evals"].append(stem)
        group["n_evals"] += 1
    draft.evals[name] = items
    value = {"version": "1.0", "description": "invented", "platforms": platforms}
    tree.put_json(path, value)


def _shape_none(draft: Draft, name: str, _: int) -> None:
    """Have no manifest at all."""
    path, _listed = _listing(draft, name)
    del draft.tree(name)[as_path(path)]


def _shape_unknown(draft: Draft, name: str, _: int) -> None:
    """Write a manifest in a shape that nobody knows."""
    path, _listed = _listing(draft, name)
    items = {item.eval_id: [item.task] for item in draft.evals[name]}
    draft.tree(name).put_json(path, {"schema": 99, "collection": {"members": items}})


def _empty(draft: Draft, name: str, _: int) -> None:
    """Leave a repository without commits."""
    draft.trees[name] = []


def _orphans(draft: Draft, name: str, count: int) -> None:
    """Add evaluation files that no manifest row names."""
    for number in range(count or 2):
        item = new_eval(draft, name, f"demo_orphan_{number}", _whole(7_001 + number))
        draft.tree(name).put_json(item.path, item.data)


def _dangling(draft: Draft, name: str, count: int) -> None:
    """Add manifest rows whose file isn't there."""
    head, kind = shape.REPOS[name].evals, shape.REPOS[name].manifest
    for number in range(count or 2):
        key = f"demo_dangling_{number}"
        _add_row(draft, name, {"id": key, "path": f"{head}/qc/{key}.json"}, "qc", kind)


def _duplicate_conflicting(draft: Draft, name: str, _: int) -> None:
    """Repeat the first manifest row with another kit."""
    path, listing = _listing(draft, name)
    rows = listing if isinstance(listing, list) else listing["evals"]
    rows.append(rows[0] | {"kit": "kit_conflict"})
    draft.tree(name).put_json(path, listing)


def _hostile_ids(draft: Draft, name: str, _: int) -> None:
    """List ids that must not become file names; those that git can hold have a file, too."""
    head, kind = shape.REPOS[name].evals, shape.REPOS[name].manifest
    held: list[str] = []
    for number, key in enumerate(HOSTILE_IDS):
        item = new_eval(draft, name, key, _whole(7_101 + number))
        path = item.path
        if kind == "b":
            path = f"{head}/qc/demo_hostile_{number}.json"
        if not {"", ".", ".."} & set(path.split("/")):
            draft.tree(name).put_json(path, item.data)
            held.append(key)
        _add_row(draft, name, {"id": key, "path": path}, "qc", kind)
    draft.facts.setdefault("hostile_ids", {})[name] = held


def hostile_text(kind: str, value: dict[str, Any]) -> bytes:
    """Return `value` as a JSON text that is damaged or unusual in one way of HOSTILE_JSON."""
    text = json.dumps(value, indent=1, sort_keys=True)
    opened = text.index("{") + 1
    extra = {
        "digits": '"demo_extra": ' + "7" * 4400,
        "big_int": f'"demo_extra": {10**400}',
        "surrogate": '"demo_extra": "\\ud800"',
        "duplicate": '"demo_extra": 1, "demo_extra": 2',
    }
    if kind in extra:
        return f"{text[:opened]}{extra[kind]},{text[opened:]}".encode()
    whole = {
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "deep": b"[" * 100_000,
        "utf16": text.encode("utf-16"),
        "empty": b"",
        "latin1": f'{text[:opened]}"demo_extra": "caf\xe9",{text[opened:]}'.encode("latin-1"),
        "nul": text.encode() + b"\0",
        "trailing": text.encode() + b"{}",
        "not_object": b"[1, 2, 3]\n",
    }
    return whole[kind]


def _hostile_json(draft: Draft, name: str, _: int) -> None:
    """Add an evaluation and a run of the first evaluation for each kind of hostile text."""
    first = draft.evals[name][0]
    for number, kind in enumerate(HOSTILE_JSON):
        item = new_eval(draft, name, f"demo_hostile_{kind}", _whole(7_201 + number))
        add_eval(draft, name, item, raw=hostile_text(kind, item.data))
        if first.fields:
            answer = {rule.name: rule.truth for rule in first.fields}
            pair = ("hostile", kind.replace("_", "-"), HOSTILE_PAIR_HARNESS)
            run = add_run(draft, first, pair, grader_result(first.fields, answer))
            draft.tree(name).put(run.path, hostile_text(kind, run.result))


def _ints(draft: Draft, name: str, _: int) -> None:
    """Add an evaluation about huge integers, and runs that answer with some."""
    rule = FieldRule("demo_big", "exact", BIG_INTS[0], {"type": "absolute", "value": 0})
    item = new_eval(draft, name, "demo_big_ints", [rule])
    add_eval(draft, name, item)
    for number, answer in enumerate(BIG_INTS):
        pair = ("hostile", f"int-{number}", HOSTILE_PAIR_HARNESS)
        add_run(draft, item, pair, grader_result(item.fields, {"demo_big": answer}))


# truth, answer, whether it is right by Python's float(); None stands for "the field is missing".
ODD_ANSWERS: tuple[tuple[int, Any, bool], ...] = (
    (0, None, False),
    (0, "nan", False),
    (0, "inf", False),
    (0, "", False),
    (0, [], False),
    (0, {"n": 0}, False),
    (1, True, True),
    (1, "1", True),
    (1000, "1_000", True),
    (1000, "1,000", False),
    (1000, "1e3", True),
    (12, " 12 ", True),
    (12, "\u0661\u0662", True),
    (60, "60%", False),
    (16, "0x10", False),
    (5, "25", False),
    (5, "-5", False),
)
WHOLE_ANSWERS: tuple[Any, ...] = ({"demo_n": 0, "b": 2}, {}, [], 1, "x", True)


def _odd_answers(draft: Draft, name: str, _: int) -> None:
    """Add evaluations with a truth of their own and runs whose answers are no plain numbers."""
    items: dict[int, EvalDraft] = {}
    for number, (truth, answer, right) in enumerate(ODD_ANSWERS):
        if truth not in items:
            items[truth] = new_eval(draft, name, f"demo_odd_{truth}", _whole(truth, "demo_n", 0))
            add_eval(draft, name, items[truth])
        given = {} if answer is None else {"demo_n": answer}
        pair = ("hostile", f"odd-{number}", HOSTILE_PAIR_HARNESS)
        add_run(draft, items[truth], pair, _bare_record(given, right))
    run = add_run(
        draft, items[0], ("hostile", "null", HOSTILE_PAIR_HARNESS), _bare_record({}, False)
    )
    for level in (run.result["result"], run.result["result"]["grader_result"]):
        level["agent_answer"] = {"demo_n": None}
    write_run(draft.tree(name), run)
    for number, whole in enumerate(WHOLE_ANSWERS):
        pair = ("hostile", f"whole-{number}", HOSTILE_PAIR_HARNESS)
        add_run(draft, items[0], pair, _bare_record(whole, number == 0))


def _bare_record(answer: Any, right: bool) -> dict[str, Any]:
    """Return a record with nothing but an answer and a verdict for its only field."""
    return {
        "agent_answer": answer,
        "field_scores": {"demo_n": float(right)},
        "metrics": {},
        "passed": right,
        "reasoning": f"Numeric Tolerance Check: {'PASS' if right else 'FAIL'}",
        "score": float(right),
    }


def _bad_configs(draft: Draft, name: str, _: int) -> None:
    """Add evaluations whose grader can't be applied: NaN or negative tolerances, no truth."""
    broken: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "nan_tolerance": (
            {"demo_n": 7001},
            {"demo_n": {"type": "absolute", "value": float("nan")}},
        ),
        "negative": ({"demo_n": 7002}, {"demo_n": {"type": "absolute", "value": -1}}),
        "nan_truth": ({"demo_n": float("nan")}, {"demo_n": {"type": "absolute", "value": 1}}),
        "no_truth": ({}, {}),
    }
    for key, (truth, tolerances) in broken.items():
        item = new_eval(draft, name, f"demo_bad_{key}", ())
        item.data["grader"]["config"] = {"ground_truth": truth, "tolerances": tolerances}
        add_eval(draft, name, item)
        pair = ("hostile", key.replace("_", "-"), HOSTILE_PAIR_HARNESS)
        add_run(draft, item, pair, _bare_record({"demo_n": 7001}, False))


def _links(draft: Draft, name: str, count: int) -> None:
    """Add symlinks to evaluation files, named like such: half of them beside the real ones."""
    head = shape.REPOS[name].evals
    for number in range(count or 30):
        item = draft.evals[name][number % len(draft.evals[name])]
        folder = f"{head}/by_kit" if number % 2 else "examples/by_task"
        link = f"{folder}/{number:02d}_{item.eval_id}.json"
        draft.tree(name).link(link, f"../../{item.path}")


def _bigtree(draft: Draft, name: str, count: int) -> None:
    """Add many small files, 3,000 unless told otherwise."""
    for number in range(count or 3_000):
        draft.tree(name).put(f"bulk/{number // 1000:03d}/{number:06d}.txt", f"{number % 50}\n")


def _moved(draft: Draft, name: str, count: int) -> None:
    """Let main move on: a later commit changes a prompt and adds a run and a file."""
    for step in range(count or 1):
        draft.trees[name].append(draft.tree(name).clone())
        item = draft.evals[name][0]
        item.data["task"] += f"Changed in step {step + 1}.\n"
        draft.tree(name).put_json(item.path, item.data)
        draft.tree(name).put(f"docs/step_{step + 1}.md", f"Step {step + 1}.\n")
        if item.fields:
            answer = {rule.name: rule.truth for rule in item.fields}
            pair = shape.PAIRS[0]
            add_run(
                draft, item, pair, grader_result(item.fields, answer), shape.REPLICATES + 1 + step
            )


def _whole(truth: int, field: str = "demo_n", value: int = 3) -> tuple[FieldRule, ...]:
    """Return a single numeric field."""
    return (FieldRule(field, "int", truth, {"type": "absolute", "value": value}),)


VARIANTS: dict[str, Variant] = {
    "orphans": _orphans,
    "dangling": _dangling,
    "duplicate_conflicting": _duplicate_conflicting,
    "hostile_ids": _hostile_ids,
    "hostile_json": _hostile_json,
    "ints": _ints,
    "odd_answers": _odd_answers,
    "bad_configs": _bad_configs,
    "links": _links,
    "bigtree": _bigtree,
    "a": _shape_as("a"),
    "b": _shape_as("b"),
    "c": _shape_c,
    "d": _shape_d,
    "e": _shape_none,
    "unknown": _shape_unknown,
    "moved": _moved,
    "empty": _empty,
}

__all__ = [
    "BIG_INTS",
    "HOSTILE_IDS",
    "HOSTILE_JSON",
    "ODD_ANSWERS",
    "VARIANTS",
    "WHOLE_ANSWERS",
    "add_eval",
    "add_run",
    "apply_variants",
    "hostile_text",
    "manifest",
    "new_eval",
]
