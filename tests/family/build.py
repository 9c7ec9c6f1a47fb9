"""Build a family: draft it, plant and vary, write it, and state what it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from family import shape
from family.draft import Draft, EvalDraft, RunDraft
from family.evals import draft_repo, flat_graders
from family.model import Family, Handle, RepoInfo
from family.planted import plant_all
from family.published import draft_published
from family.runs import draft_runs
from family.tree import write_repo
from family.variants import apply_variants

READINGS = ("bounds", "swapped", "strict", "relative", "any_field")


def draft_family(
    *,
    seed: int = 1,
    planted: bool = False,
    owner: str = "demo",
    repos: Sequence[str] | None = None,
    small: bool = False,
    variants: Mapping[str, str] | None = None,
) -> Draft:
    """Return the family in memory; tests may change its trees before `write_family`."""
    draft = Draft(owner, seed, small)
    rng = draft.rng("handles")
    pool = [f"latch://{number}.node" for number in rng.sample(shape.HANDLE_IDS, 600)]
    wanted = list(shape.REPOS) if repos is None else list(repos)
    for name, plan in shape.REPOS.items():
        ids, pool = pool[: plan.handles], pool[plan.handles :]
        if name in wanted:
            draft_repo(draft, plan, ids)
    draft_runs(draft)
    draft_published(draft)
    draft.facts = draft.facts | _facts(draft) | {"order": list(draft.trees)}
    if planted:
        plant_all(draft)
    for name, text in (variants or {}).items():
        apply_variants(draft, name, text)
    return draft


def write_family(draft: Draft, root: Path, variants: Mapping[str, str] | None = None) -> Family:
    """Write a draft and return the family: repositories below root/<owner>/, snapshots below
    root/snapshots.
    """
    handles = draft.handles | _snapshots(draft, root / "snapshots")
    infos: dict[str, RepoInfo] = {}
    for name, commits in draft.trees.items():
        path = root / draft.owner / f"{name}.git"
        ids = write_repo(path, commits)
        plan = shape.REPOS[name]
        infos[name] = RepoInfo(
            name=name,
            repo=draft.repo(name),
            path=str(path),
            evals=plan.evals,
            runs=plan.runs,
            commits=tuple(ids),
            variant=(variants or {}).get(name, ""),
        )
    return Family(
        root=root,
        owner=draft.owner,
        seed=draft.seed,
        planted=bool(draft.findings),
        small=draft.small,
        repos=infos,
        handles=handles,
        findings=tuple(draft.findings),
        graded_values=tuple(draft.graded),
        facts=draft.facts,
    )


def build_family(
    root: Path,
    *,
    seed: int = 1,
    planted: bool = False,
    owner: str = "demo",
    repos: Sequence[str] | None = None,
    small: bool = False,
    variants: Mapping[str, str] | None = None,
) -> Family:
    """Create bare repositories root/<owner>/<name>.git of an invented family.

    The same arguments give the same commit ids. `repos` names the members to build (all six by
    default), `small` keeps every evaluation and few runs and handles, `planted` adds one finding of
    each kind, and `variants` maps a repository to variants (see family.variants).
    """
    draft = draft_family(
        seed=seed, planted=planted, owner=owner, repos=repos, small=small, variants=variants
    )
    return write_family(draft, root, variants)


def _snapshots(draft: Draft, folder: Path) -> dict[str, Handle]:
    """Write the .h5ad files that handles stand for and return these handles with their paths."""
    if not draft.snapshots:
        return {}
    # Here alone, since h5py is needed for it and for nothing else of a family.
    from family.snapshots import write_snapshot

    folder.mkdir(parents=True, exist_ok=True)
    return {
        handle: write_snapshot(folder, name, place, draft.handles[handle])
        for handle, (name, place) in draft.snapshots.items()
    }


def _facts(draft: Draft) -> dict[str, Any]:
    """Count what the plain family holds, before anything is planted or varied."""
    graders = Counter(
        grader["type"]
        for items in draft.evals.values()
        for item in items
        for grader in flat_graders(item.data)
    )
    numeric = [run for name in shape.SIZES_MB for run in draft.runs.get(name, [])]
    everything = [run for runs in draft.runs.values() for run in runs]
    builds = Counter(str(run.result.get("latch_eval_tools_version")) for run in everything)
    return {
        "table": {name: _table_row(draft, name) for name in draft.trees},
        "graders": dict(graders),
        "runs": {name: len(runs) for name, runs in draft.runs.items()},
        "numeric_runs": len(numeric),
        "no_submission": sum(run.answer is None for run in numeric),
        "builds": dict(builds),
        "readings": {
            name: _readings(draft.evals[name], draft.runs[name])
            for name in shape.SIZES_MB
            if name in draft.runs
        },
        "passes": {name: _passes(runs) for name, runs in draft.runs.items()},
    }


def _table_row(draft: Draft, name: str) -> dict[str, int]:
    """Return a repository's row of the first table."""
    items, tree = draft.evals[name], draft.tree(name)
    listing = tree.json(f"{shape.REPOS[name].evals}/manifest.json")
    rows = listing if isinstance(listing, list) else listing["evals"]
    handles = {handle for item in items for handle in item.handles}
    reachable = {key for key in handles if draft.handles[key].status == "reachable"}
    return {
        "rows": len(rows),
        "evals": len(items),
        "files": sum(as_eval(path) for path in tree.below(shape.REPOS[name].evals)),
        "orphans": 0,
        "dangling": 0,
        "graders": sum(bool(flat_graders(item.data)) for item in items),
        "handles": len(handles),
        "reachable": len(reachable),
        "runnable": sum(reachable.issuperset(item.handles) for item in items),
    }


def as_eval(path: bytes) -> bool:
    """True for a path that the published audit counts as an evaluation file."""
    return path.endswith(b".json") and not path.endswith((b"manifest.json", b"vocabulary.json"))


def _passes(runs: list[RunDraft]) -> dict[str, int]:
    """Count recorded passes, partial credits and field checks."""
    records = [run.result["result"]["grader_result"] for run in runs]
    graded = [record for record in records if record is not None]
    scores = [score for record in graded for score in record["field_scores"].values()]
    return {
        "passed": sum(record["passed"] for record in graded),
        "failed": sum(not record["passed"] for record in graded),
        "partial": sum(not r["passed"] and r["score"] > 0 for r in graded),
        "fields": len(scores),
        "fields_passed": sum(score == 1 for score in scores),
    }


def _readings(items: list[EvalDraft], runs: list[RunDraft]) -> dict[str, dict[str, int]]:
    """Count the verdicts and fields that each trap reading changes."""
    rules = {item.eval_id: item.fields for item in items}
    changed = {reading: {"verdicts": 0, "fields": 0} for reading in READINGS}
    changed["on_bound"] = {"verdicts": 0, "fields": 0}
    for run in runs:
        if run.answer is None:
            continue
        pairs = [(rule, run.answer[rule.name]) for rule in rules[run.eval_id]]
        right = [rule.right(value) for rule, value in pairs]
        changed["on_bound"]["fields"] += sum(rule.on_bound(value) for rule, value in pairs)
        for reading in READINGS:
            other = [rule.read_as(value, reading) for rule, value in pairs]
            verdict = any(other) if reading == "any_field" else all(other)
            changed[reading]["verdicts"] += verdict != all(right)
            changed[reading]["fields"] += sum(a != b for a, b in zip(right, other, strict=True))
    return changed
