"""Drafting of evaluations: prompts, metadata, graders, handles, manifests. Every value is
invented.
"""

from __future__ import annotations

import random
import uuid
from typing import Any

from family import shape
from family.draft import Draft, EvalDraft
from family.model import Handle
from family.rules import FieldRule, config_of, make_field
from family.shape import EvalShape, RepoShape
from family.tree import RepoTree

CONTAINERS = ("bgzf", "gzip", "hdf5", "zip", "parquet", "text", "bigwig", "tar")
NOUNS = ("cells", "spots", "genes", "clusters", "peaks", "pairs", "reads", "niches")
SOURCES = "Snapshot of an invented study; nothing in it was ever measured."


def draft_repo(draft: Draft, plan: RepoShape, ids: list[str]) -> None:
    """Draft the evaluations, handles, vocabularies, manifest and papers of one repository."""
    tree = RepoTree()
    draft.trees[plan.name] = [tree]
    groups = _handles(draft, plan, ids)
    draft.evals[plan.name] = [
        _draft_eval(draft, plan, item, nodes) for item, nodes in zip(plan.plan, groups, strict=True)
    ]
    for item in draft.evals[plan.name]:
        tree.put_json(item.path, item.data)
        if plan.layout == "folder":
            words = [f"DEMO_TERM_{number}" for number in range(1, 6)]
            tree.put_json(item.path.replace("eval.json", "vocabulary.json"), {"terms": words})
    tree.put_json(f"{plan.evals}/manifest.json", manifest(plan, draft.evals[plan.name]))
    tree.put("README.md", _readme(draft, plan))
    tree.put("LICENSE", "synthetic\n\nInvented data for tests; use it as you like.\n")
    tree.put(".gitignore", "*.pyc\n")


def manifest(plan: RepoShape, evals: list[EvalDraft]) -> Any:
    """Return the manifest in the shape that the repository has today.

    spatialbench lists two evaluations twice: counted from 1, rows 1 and 17 and rows 6 and 13 are
    equal.
    """
    if plan.manifest == "a":
        rows = [{"task": e.task, "kit": e.kit, "eval_id": e.eval_id} for e in evals]
        if plan.name == "spatialbench":
            rows.insert(12, dict(rows[5]))
            rows.insert(16, dict(rows[0]))
        return rows
    rows_b: list[dict[str, Any]] = []
    for item in evals:
        row: dict[str, Any] = {"id": item.eval_id, "path": item.path}
        row |= {"task": item.task, "kit": item.kit}
        if plan.name == "variantbench":
            row["benchmark"] = item.word not in ("var_07_annotated", "var_08_recall")
        rows_b.append(row)
    return {"evals": rows_b}


def _handles(draft: Draft, plan: RepoShape, ids: list[str]) -> list[list[str]]:
    """Take handles from `ids` for each evaluation and enter them into the draft's table."""
    rng = draft.rng(plan.name, "handles")
    if plan.name in shape.SIZES_MB:
        sizes = [int(mb * 1_000_000) + rng.randrange(40_000) for mb in shape.SIZES_MB[plan.name]]
        taken = [_enter(draft, ids.pop(), "reachable", size, "hdf5") for size in sizes]
        draft.snapshots |= {handle: (plan.name, place) for place, handle in enumerate(taken)}
        return [[taken[item.snapshot]] for item in plan.plan]
    groups: list[list[str]] = []
    shared: list[str] = []
    for item in plan.plan:
        count = min(item.handles, 4) if draft.small and item.handles > 20 else item.handles
        group = [] if item.refused < 10 else shared[: shape.SHARED_REFUSED]
        for number in range(len(group), count):
            status = "refused" if number < item.refused else "reachable"
            kind, size = rng.choice(CONTAINERS), int(10 ** rng.uniform(4.0, 9.3))
            # The snapshots above are all the .h5ad files that there are.
            kind = "bgzf" if kind == "hdf5" else kind
            group.append(_enter(draft, ids.pop(), status, size, kind))
        shared = group if item.refused == 7 else shared
        groups.append(group)
    return groups


def _enter(draft: Draft, handle: str, status: str, size: int, container: str) -> str:
    """Add a handle to the draft's table and return it."""
    draft.handles[handle] = Handle(handle, status, size, container)
    return handle


def _draft_eval(draft: Draft, plan: RepoShape, item: EvalShape, nodes: list[str]) -> EvalDraft:
    """Draft one evaluation file."""
    rng = draft.rng(plan.name, item.word)
    eval_id = f"demo_{item.word}"
    path = f"{plan.evals}/{item.task}/{eval_id}.json"
    if plan.layout == "folder":
        path = f"{plan.evals}/{eval_id}/eval.json"
    fields = make_fields(item.word, item.fields, rng)
    data: dict[str, Any] = {"id": eval_id, "task": "", "data_node": nodes}
    if plan.name in shape.SIZES_MB:
        data["data_node"] = nodes[0]
        data["grader"] = {"type": "numeric_tolerance", "config": config_of(fields)}
    elif plan.name == "variantbench":
        data |= variant_graders(item.word, rng)
    data["task"] = prompt(rng, template_fields(data, rng))
    data["metadata"] = metadata(item, rng)
    if plan.name in (*shape.SIZES_MB, "variantbench"):
        data["notes"] = _notes(data, rng)
    if item.canary:
        data["canary"] = canary(rng)
    remember(draft, plan.name, data)
    return EvalDraft(plan.name, eval_id, path, item.word, item.task, item.kit, data, fields)


def make_fields(word: str, kinds: tuple[str, ...], rng: random.Random) -> tuple[FieldRule, ...]:
    """Invent the numeric fields of an evaluation."""
    stem = word.split("_")[-1]
    return tuple(
        make_field(f"{stem}_{rng.choice(NOUNS)}_{number}", kind, rng)
        for number, kind in enumerate(kinds, start=1)
    )


def canary(rng: random.Random) -> str:
    """Invent a leak-detection string."""
    return f"benchproof synthetic canary GUID {uuid.UUID(int=rng.getrandbits(128), version=4)}"


def metadata(item: EvalShape, rng: random.Random) -> dict[str, Any]:
    """Invent metadata with the key set of the plan."""
    values: dict[str, Any] = {
        "assay": item.kit,
        "eval_type": "scientific",
        "failure_mode_taxonomy_version": "1",
        "failure_modes": ["wrong_units", "wrong_subset"],
        "graded_biological_result": f"an invented result {rng.randrange(100, 1000)}",
        "kit": item.kit,
        "modules": ["load", "filter", "report"],
        "task": item.task,
        "time_horizon": "long" if item.task == "long_horizon" else "short",
        "timeout_s": shape.DECLARED_TIMEOUT_S,
        "version": "1",
    }
    return {key: values[key] for key in shape.KEYS[item.keys]}


def prompt(rng: random.Random, fields: dict[str, str]) -> str:
    """Invent a prompt with an answer template whose placeholders are not JSON."""
    topic = " ".join(rng.choice(NOUNS) for _ in range(3))
    lines = ",\n".join(f'  "{name}": {holder}' for name, holder in fields.items())
    return (
        f"This is an invented task about {topic}. The file beside it holds made-up data.\n"
        "Load it, keep what passes the usual filters and report the quantities below.\n"
        f"{SOURCES}\n\nWrite the answer in this form:\n"
        f"<EVAL_ANSWER>\n{{\n{lines}\n}}\n</EVAL_ANSWER>\n"
    )


def template_fields(data: dict[str, Any], rng: random.Random) -> dict[str, str]:
    """Return the placeholders of the answer template, by field."""
    found: dict[str, str] = {}
    for grader in flat_graders(data):
        config = grader["config"]
        for name, truth in config.get("ground_truth", {}).items():
            whole, small = isinstance(truth, int), abs(truth) <= 1
            found[name] = "<int>" if whole else "<float between 0-1>" if small else "<float>"
        if "ground_truth_labels" in config:
            found["cell_types_predicted"] = '["<label>", ...]'
        if "canonical_markers" in config:
            found["top_marker_genes"] = '["<gene>", ...]'
        if "correct_answer" in config:
            found["answer"] = '"<value>"'
    return found or {f"result_{rng.randrange(100, 1000)}": '"<value>"'}


def flat_graders(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every grader object of an evaluation file, nested ones included."""
    waiting = [data["grader"]] if "grader" in data else list(data.get("graders", []))
    found: list[dict[str, Any]] = []
    while waiting:
        grader = waiting.pop(0)
        found.append(grader)
        waiting.extend(grader["config"].get("children", []))
    return found


def variant_graders(word: str, rng: random.Random) -> dict[str, Any]:
    """Return the grader part of a variantbench evaluation: 13 objects over its eight files."""

    def numeric(*kinds: str) -> dict[str, Any]:
        fields = make_fields(word, kinds, rng)
        return {"type": "numeric_tolerance", "config": config_of(fields)}

    if word == "var_01_trio":
        return {"grader": numeric("int", "float", "float")}
    if word == "var_02_strand":
        return {"grader": numeric("offsets", "offsets")}
    if word == "var_03_locus":
        return {"grader": _labels(rng)}
    if word == "var_04_panel":
        return {"grader": _markers(rng)}
    if word == "var_05_carrier":
        config = {"correct_answer": rng.choice("QRSTUV"), "options": list("QRSTUV")}
        return {"grader": {"type": "multiple_choice", "config": config}}
    if word == "var_06_trait":
        children = [numeric("int", "int"), numeric("float"), _labels(rng)]
        config_all = {"pass_rule": "all", "children": children}
        return {"grader": {"type": "all_of", "config": config_all}}
    if word == "var_07_annotated":
        return {"graders": [numeric("int", "float"), _labels(rng)]}
    return {"graders": [_labels(rng), _markers(rng)]}


def _labels(rng: random.Random) -> dict[str, Any]:
    """Invent a label set grader."""
    labels = [f"DEMO_LABEL_{number:04x}" for number in sorted(rng.sample(range(65_536), 5))]
    config = {
        "ground_truth_labels": labels,
        "scoring": {"method": "jaccard", "pass_threshold": 0.8},
    }
    return {"type": "label_set_jaccard", "config": config}


def _markers(rng: random.Random) -> dict[str, Any]:
    """Invent a marker gene grader."""
    genes = [f"DEMO{number}" for number in sorted(rng.sample(range(1_000, 10_000), 6))]
    limits = {"precision_at_k": 0.6, "recall_at_k": 0.5}
    config = {"canonical_markers": genes, "scoring": {"pass_thresholds": limits}}
    return {"type": "marker_gene_precision_recall", "config": config}


def _notes(data: dict[str, Any], rng: random.Random) -> str:
    """Invent notes, which repeat the answer in prose as the real ones do."""
    parts = [f"Invented note {rng.randrange(10_000, 100_000)}."]
    for grader in flat_graders(data):
        config = grader["config"]
        parts += [
            f"{key} comes to {value}." for key, value in config.get("ground_truth", {}).items()
        ]
        labels = config.get("ground_truth_labels", config.get("canonical_markers", []))
        parts += [f"Expected: {', '.join(labels)}."] if labels else []
    return " ".join(parts)


def remember(draft: Draft, name: str, data: dict[str, Any]) -> None:
    """Note what in an evaluation file must not leave the vault."""
    eval_id = data["id"]
    for grader in flat_graders(data):
        config = grader["config"]
        truths = [config.get("ground_truth", {}), config.get("correct_answer", "")]
        draft.grade("truth", name, eval_id, [value for value in truths if value != ""])
        entries = [
            entry[key]
            for entry in config.get("tolerances", {}).values()
            for key in ("value", "lower", "upper")
            if key in entry
        ]
        draft.grade("tolerance", name, eval_id, entries)
        draft.grade("label", name, eval_id, [config.get("ground_truth_labels", [])])
        draft.grade("label", name, eval_id, [config.get("canonical_markers", [])])
    for key in ("canary", "notes"):
        if key in data:
            draft.grade(key, name, eval_id, [data[key]])


def _readme(draft: Draft, plan: RepoShape) -> str:
    """Return a README that says what this is."""
    return (
        f"# {plan.name} (synthetic)\n\n"
        "All of this is invented: prompts, graders, answers, runs and models. It has the shape of\n"
        "a published family of agent benchmarks and none of its content. It exists so that an\n"
        "audit can be tried without the real one. benchproof's tests/family made it with seed\n"
        f"{draft.seed}.\n\n"
        f"- `{plan.evals}/` evaluations and their manifest\n"
        f"- `{plan.runs}/` recorded runs, where there are any\n"
    )
