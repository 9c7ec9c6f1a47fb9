"""Drafting of recorded runs. Outcomes are dealt first, answers are invented to fit them."""

from __future__ import annotations

import json
import random
from typing import Any

from family import shape
from family.draft import Draft, EvalDraft, RunDraft
from family.rules import FieldRule, Number, grader_result
from family.tree import RepoTree

TRAJECTORY_MARKER = "SYNTHETIC-TRAJECTORY-NEVER-TRANSFERRED"
_WORDS = ("loaded", "kept", "checked", "table", "counts", "filter", "wrote", "again", "ok")
TRAJECTORY_BYTES = 1500  # random, so that a transfer of trajectories shows in the byte counts


def draft_runs(draft: Draft) -> None:
    """Draft the recorded runs of the repositories that have some, and write them into their
    trees.
    """
    drafters = {
        "scbench": _scbench,
        "spatialbench": _spatialbench,
        "spatialbench-long": _composite,
    }
    for name, drafter in drafters.items():
        if name in draft.trees:
            draft.runs[name] = drafter(draft, draft.evals[name])
            for run in draft.runs[name]:
                write_run(draft.tree(name), run, compact=run.result.pop("_compact", False))
                _remember(draft, name, run)


def write_run(tree: RepoTree, run: RunDraft, *, compact: bool = False) -> None:
    """Write the files of a run; the large ones carry a marker that no transfer may show."""
    if compact:
        tree.put(run.path, json.dumps(run.result, sort_keys=True) + "\n")
    else:
        tree.put(run.path, json.dumps(run.result, sort_keys=True, indent=2) + "\n")
    tree.put(f"{run.folder}/eval_answer.json", json.dumps(run.answer, indent=1) + "\n")
    noise = random.Random(run.folder).randbytes(TRAJECTORY_BYTES).hex()
    steps = json.dumps({"marker": TRAJECTORY_MARKER, "run": run.folder, "steps": noise})
    tree.put(f"{run.folder}/trajectory.json", steps + "\n")
    if run.pair[2] in shape.HARNESSES_WITH_OUTPUTS:
        line = json.dumps({"marker": TRAJECTORY_MARKER, "event": run.folder})
        tree.put(f"{run.folder}/harness_outputs.jsonl", line + "\n")


def _remember(draft: Draft, name: str, run: RunDraft) -> None:
    """Note what in a run must not leave the vault."""
    draft.grade("answer", name, run.eval_id, [run.answer])
    graded = run.result["result"]["grader_result"]
    if graded is not None:
        draft.grade("metric", name, run.eval_id, [graded["metrics"]])
        lines = [line.strip() for line in graded["reasoning"].splitlines()]
        draft.grade("reasoning", name, run.eval_id, [line for line in lines if " vs " in line])
        if name == "spatialbench-long":
            draft.grade("field_name", name, run.eval_id, list(graded["field_scores"]))


def make_result(
    rng: random.Random,
    item: EvalDraft,
    pair: tuple[str, str, str],
    replicate: int,
    graded: dict[str, Any] | None,
    *,
    build: str | None,
    trials: int = shape.REPLICATES,
) -> dict[str, Any]:
    """Return the content of a result.json; `graded` None is a run that submitted nothing."""
    provider, model, harness = pair
    seconds = rng.randrange(60_000, 4_000_000) / 1000
    bare = harness == shape.BARE_NAME_HARNESS
    inner = {
        "agent_answer": None if graded is None else graded["agent_answer"],
        "grader_result": graded,
        "metadata": _usage(rng, seconds),
        "passed": None if graded is None else graded["passed"],
        "test_id": item.eval_id,
    }
    result = {
        "agent_runtime_seconds": seconds,
        "eval_timeout_seconds": shape.RECORDED_TIMEOUT_S,
        "harness": harness,
        "latch_eval_tools_version": build,
        "model_name": model if bare else f"{provider}/{model}",
        "n_trials": trials,
        "result": inner,
        "task": item.eval_id,
        "task_spec": f"/home/nobody/invented/{item.path}",
        "trial_index": replicate,
    }
    if build is None:
        del result["latch_eval_tools_version"]
    return result


def _usage(rng: random.Random, seconds: float) -> dict[str, Any]:
    """Invent what a harness notes about a run; of about the length of the real thing."""
    steps = [
        {"step": number, "tool": rng.choice(("bash", "python", "edit")), "ms": rng.randrange(9_999)}
        for number in range(rng.randrange(20, 28))
    ]
    log = " ".join(rng.choices(_WORDS, k=540))
    return {
        "container_restarts": 0,
        "harness_config": {"duration_s": seconds, "log_tail": log, "steps": steps},
        "memory_limit_bytes": 64 << 30,
        "n_messages": 2 * len(steps),
        "n_steps": len(steps),
        "oom_restarts": 0,
        "total_cost": rng.randrange(100, 90_000) / 10_000,
    }


def run_folder(item: EvalDraft, pair: tuple[str, str, str], replicate: int) -> str:
    """Return the folder of a run in its repository."""
    return f"trajectories/{item.eval_id}/{'/'.join(pair)}/r{replicate}"


def _slots(draft: Draft, item: EvalDraft) -> list[tuple[int, int]]:
    """Return (index of the pair, replicate) of every run of an evaluation."""
    pairs, replicates = (2, 1) if draft.small else (len(shape.PAIRS), shape.REPLICATES)
    without = shape.PAIRS_WITHOUT_ONE_EVAL if item.word == shape.EVAL_MISSING_FOR_PAIRS else ()
    return [
        (pair, replicate)
        for pair in range(pairs)
        if pair not in without or draft.small
        for replicate in range(1, replicates + 1)
    ]


def _scbench(draft: Draft, evals: list[EvalDraft]) -> list[RunDraft]:
    """Draft scbench's runs: counts of passes, fields and bounds are met by construction."""
    runs: list[RunDraft] = []
    for item in evals:
        rng = draft.rng("scbench", "runs", item.word)
        slots = _slots(draft, item)
        dealt = _deal(rng, item, len(slots))
        build = "0.3.9" if item.word == "clust_04_largest" else "0.3.8"
        for (number, replicate), answer in zip(slots, dealt, strict=True):
            pair = shape.PAIRS[number]
            graded = grader_result(item.fields, answer)
            result = make_result(rng, item, pair, replicate, graded, build=build)
            if number == shape.PAIR_WITHOUT_COST:
                del result["result"]["metadata"]["total_cost"]
            folder = run_folder(item, pair, replicate)
            runs.append(RunDraft("scbench", item.eval_id, folder, pair, replicate, result))
    if not draft.small:
        _bend_trials(draft, runs)
    return runs


def _bend_trials(draft: Draft, runs: list[RunDraft]) -> None:
    """Let trial_index differ from the folder in three runs and n_trials from the folders in
    four.
    """
    chosen = draft.rng("scbench", "trials").sample(range(len(runs)), 7)
    for number in chosen[:3]:
        runs[number].result["trial_index"] += shape.REPLICATES
    for number in chosen[3:]:
        runs[number].result["n_trials"] = 2 * shape.REPLICATES


def _deal(rng: random.Random, item: EvalDraft, count: int) -> list[dict[str, Number]]:
    """Invent `count` answers whose right fields follow the plan of the evaluation."""
    patterns = _patterns(rng, item)
    rng.shuffle(patterns)
    patterns = patterns[:count]
    answers = [
        {rule.name: _answer(rng, rule, good) for rule, good in zip(item.fields, row, strict=True)}
        for row in patterns
    ]
    first = item.fields[0]
    right = [number for number, row in enumerate(patterns) if row[0]]
    for number in right[: shape.ON_POSITIVE_BOUND.get(item.word, 0)]:
        answers[number][first.name] = first.at_bound(rng)
    return answers


def _patterns(rng: random.Random, item: EvalDraft) -> list[list[bool]]:
    """Return which fields are right in each run, as SCBENCH_OUTCOMES and EXACT_RIGHT count them."""
    width = len(item.fields)
    rows: list[list[bool]] = []
    for right, runs in shape.SCBENCH_OUTCOMES[item.word].items():
        for _ in range(runs):
            places = rng.sample(range(width), right)
            rows.append([place in places for place in range(width)])
    wanted = shape.EXACT_RIGHT.get(item.word)
    if wanted is None:
        return rows
    mixed = [row for row in rows if 0 < sum(row) < width]
    have = sum(row[0] for row in rows)
    for row in mixed:
        if have > wanted and row[0]:
            _swap(row, row.index(False))
            have -= 1
        elif have < wanted and not row[0]:
            _swap(row, row.index(True))
            have += 1
    return rows


def _swap(row: list[bool], place: int) -> None:
    """Exchange the first flag of a row with another one."""
    row[0], row[place] = row[place], row[0]


def _answer(rng: random.Random, rule: FieldRule, good: bool) -> Number:
    """Invent an answer that is right or wrong."""
    return rule.inside(rng) if good else rule.outside(rng)


def _spatialbench(draft: Draft, evals: list[EvalDraft]) -> list[RunDraft]:
    """Draft spatialbench's runs: 432 of build 0.3.7, 336 without one, one that submitted
    nothing.
    """
    runs: list[RunDraft] = []
    for place, item in enumerate(evals):
        rng = draft.rng("spatialbench", "runs", item.word)
        for number, replicate in _slots(draft, item):
            pair = shape.PAIRS[number]
            skill = 0.35 + 0.5 * number / len(shape.PAIRS)
            answer = {rule.name: _answer(rng, rule, rng.random() < skill) for rule in item.fields}
            graded = grader_result(item.fields, answer)
            build = "0.3.7" if place < 9 else None
            result = make_result(rng, item, pair, replicate, graded, build=build)
            folder = run_folder(item, pair, replicate)
            runs.append(RunDraft("spatialbench", item.eval_id, folder, pair, replicate, result))
    silent, compact = draft.rng("spatialbench", "odd").sample(range(len(runs)), 2)
    runs[silent].result["result"] |= {"agent_answer": None, "grader_result": None, "passed": None}
    runs[compact].result["_compact"] = True
    return runs


def _composite(draft: Draft, evals: list[EvalDraft]) -> list[RunDraft]:
    """Draft spatialbench-long's 16 runs, whose rule isn't published.

    The score is the sum of the field scores. In three runs `passed` isn't "every field is 1": one
    has all fields and a hard fail, two pass without all. One evaluation's field names spell its
    answer.
    """
    runs: list[RunDraft] = []
    pairs = (shape.PAIRS[3], shape.PAIRS[11])
    rng = draft.rng("spatialbench-long", "runs")
    for place, item in enumerate(evals):
        code = rng.randrange(0x1000, 0x10000)
        spelled = [f"niche_DEMO{code:x}_is_outer", f"niche_DEMO{code:x}_is_rare", "order_is_right"]
        plain = ["structure_named", "axis_named", "control_kept", "report_complete"]
        names = spelled if place == 2 else plain
        for number, pair in enumerate(pairs):
            for replicate in (1, 2):
                odd = (place, number, replicate)
                scores = {name: rng.choice((0.0, 0.5)) for name in names}
                if odd in ((0, 1, 2), (1, 0, 1)):
                    scores = dict.fromkeys(names, 1.0)
                passed = odd == (1, 0, 1)
                if odd in ((2, 0, 1), (3, 1, 2)):
                    scores = dict.fromkeys(names, 1.0) | {names[-1]: 0.5}
                    passed = True
                graded = _composite_result(rng, scores, passed)
                result = make_result(
                    rng, item, pair, replicate, graded, build=shape.COMPOSITE_BUILD, trials=2
                )
                if number == 1:
                    del result["result"]["metadata"]["total_cost"]
                folder = run_folder(item, pair, replicate)
                run = RunDraft("spatialbench-long", item.eval_id, folder, pair, replicate, result)
                runs.append(run)
    return runs


def _composite_result(rng: random.Random, scores: dict[str, float], passed: bool) -> dict[str, Any]:
    """Return the record of a composite grader with these field scores."""
    answer = {
        "structure": f"DEMO_STRUCTURE_{rng.randrange(0x1000, 0x10000):x}",
        "evidence": [f"DEMO{rng.randrange(1_000, 10_000)}" for _ in range(3)],
        "fraction": (rng.randrange(10**8, 10**9) * 10 + 1) / 10**10,
    }
    lines = [f"  {'+' if score == 1 else 'x'} {name}: {score}" for name, score in scores.items()]
    return {
        "agent_answer": answer,
        "field_scores": scores,
        "metrics": {f"{name}_reward": score for name, score in scores.items()},
        "passed": passed,
        "reasoning": "\n".join(["Composite Check", *lines]),
        "score": sum(scores.values()),
    }
