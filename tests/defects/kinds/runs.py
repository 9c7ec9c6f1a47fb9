"""What can go wrong in recorded runs: verdicts, scores, fields, labels, copies, and missing files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from defects.bench import Bench
from defects.cases import Plant, add, defect

Record = dict[str, Any]
Edit = Callable[[Record], object]
DISAGREE = (
    "findings field_differs {path}",
    "findings score_differs {path}",
    "findings verdict_differs {path}",
)


def paths(bench: Bench, part: str = "") -> list[str]:
    """Return the paths of recorded runs that hold a text."""
    below = [path.decode() for path in bench.tree.below("trajectories")]
    return [path for path in below if path.endswith("/result.json") and part in path]


def partly(record: Record) -> bool:
    """True for a run of several fields of which some are right and some are not."""
    graded = record["result"]["grader_result"]
    return graded is not None and 0 < sum(graded["field_scores"].values()) < len(
        graded["field_scores"]
    )


def passing(record: Record) -> bool:
    """True for a run that passes."""
    return bool(record["result"]["passed"])


def answered(record: Record) -> bool:
    """True for a run that submitted something."""
    return record["result"]["agent_answer"] is not None


def take(
    bench: Bench, wanted: Callable[[Record], bool] = answered, part: str = ""
) -> tuple[str, Record]:
    """Return a run of a kind: its path, and its record to be changed and put back."""
    found = [path for path in paths(bench, part) if wanted(bench.tree.json(path))]
    path = bench.rng.choice(found)
    return path, bench.tree.json(path)


def put(bench: Bench, path: str, record: Record) -> None:
    """Write a record as the harness does."""
    bench.tree.put(path, json.dumps(record, sort_keys=True, indent=2) + "\n")


def _run(
    name: str,
    says: str,
    change: Edit,
    *seen: str,
    wanted: Callable[[Record], bool] = answered,
    also: tuple[str, ...] = (),
    repo: str = "scbench",
    part: str = "",
) -> None:
    """Enter a defect of one record."""

    def plant(bench: Bench) -> Iterator[str]:
        path, record = take(bench, wanted, part)
        yield path
        change(record)
        put(bench, path, record)

    add("runs", name, says, plant, seen, repo, also)


def _result(**values: Any) -> Edit:
    return lambda record: record["result"].update(values)


def _graded(**values: Any) -> Edit:
    return lambda record: record["result"]["grader_result"].update(values)


def _flip(record: Record) -> None:
    for level in (record["result"], record["result"]["grader_result"]):
        level["passed"] = not level["passed"]


def _flip_field(record: Record) -> None:
    scores = record["result"]["grader_result"]["field_scores"]
    name = sorted(scores)[0]
    scores[name] = 1.0 - scores[name]


_run(
    "verdict_flipped_to_pass",
    "A failed run is recorded as passed",
    _flip,
    "findings verdict_differs {path}",
    "runs {path} passed_agrees=False",
    wanted=partly,
)
_run(
    "verdict_flipped_to_fail",
    "A passed run is recorded as failed",
    _flip,
    "findings verdict_differs {path}",
    "runs {path} passed_agrees=False",
    wanted=passing,
)
_run(
    "verdict_of_one_level",
    "The outer verdict contradicts the inner one",
    lambda record: record["result"].update(passed=not record["result"]["passed"]),
    "findings record_contradicts_itself {path}",
    also=("findings verdict_differs {path}",),
)
_run(
    "score_raised",
    "A score is a quarter higher",
    lambda record: record["result"]["grader_result"].update(
        score=record["result"]["grader_result"]["score"] + 0.25
    ),
    "findings score_differs {path}",
    "runs {path} score_agrees=False",
    wanted=partly,
)
_run(
    "score_in_last_digit",
    "A score differs in the fourth digit",
    lambda record: record["result"]["grader_result"].update(
        score=record["result"]["grader_result"]["score"] + 0.0001
    ),
    "findings score_differs {path}",
    wanted=partly,
)
_run(
    "score_in_percent",
    "A score of 1 is written as 100",
    _graded(score=100.0),
    "findings score_differs {path}",
    wanted=passing,
)
_run(
    "score_nan",
    "A score is NaN",
    _graded(score=float("nan")),
    "findings result_nonfinite {path}",
    also=("findings json_* {path}", *DISAGREE),
)
_run(
    "score_text",
    "A score is a text",
    _graded(score="1.0"),
    "findings record_incomplete {path}",
    also=DISAGREE,
)
_run(
    "score_null",
    "A score is null",
    _graded(score=None),
    "findings record_incomplete {path}",
    also=DISAGREE,
)
_run(
    "field_flipped",
    "A field's verdict is flipped",
    _flip_field,
    "findings field_differs {path}",
    "runs {path} fields_agree=False",
    wanted=partly,
)
_run(
    "field_lost",
    "A field's verdict is gone",
    lambda record: record["result"]["grader_result"]["field_scores"].popitem(),
    "findings field_differs {path}",
    wanted=partly,
)
_run(
    "field_added",
    "A verdict of a field that is not graded",
    lambda record: record["result"]["grader_result"]["field_scores"].update(demo_more=1.0),
    "findings field_differs {path}",
    wanted=partly,
)
_run(
    "field_half",
    "A field of a number is half right",
    lambda record: record["result"]["grader_result"].update(
        field_scores=dict.fromkeys(record["result"]["grader_result"]["field_scores"], 0.5)
    ),
    "findings field_differs {path}",
    wanted=partly,
)
_run(
    "fields_list",
    "The fields' verdicts are a list",
    _graded(field_scores=[1.0]),
    "findings run_unreadable {path}|findings field_differs {path}|findings record_incomplete {path}",
    also=DISAGREE,
)
_run(
    "fields_null",
    "The fields' verdicts are null",
    _graded(field_scores=None),
    "findings run_unreadable {path}|findings field_differs {path}|findings record_incomplete {path}",
    also=DISAGREE,
)
_run(
    "verdict_text",
    'A verdict is the text "false", which is true to most readers',
    lambda record: (_result(passed="false")(record), _graded(passed="false")(record)),
    "findings run_unreadable {path}|findings verdict_* {path}",
    also=DISAGREE,
)
_run(
    "verdict_number",
    "A verdict is a number",
    lambda record: (_result(passed=1)(record), _graded(passed=1)(record)),
    "findings run_unreadable {path}|findings verdict_* {path}",
    wanted=passing,
    also=DISAGREE,
)
_run(
    "verdict_lost",
    "A verdict is missing although something was submitted",
    lambda record: (_result(passed=None)(record), _graded(passed=None)(record)),
    "findings verdict_missing {path}",
    also=("findings verdict_differs {path}",),
)
_run(
    "grading_lost",
    "The grader's result is missing although something was submitted",
    _result(grader_result=None, passed=None),
    "findings verdict_missing {path}",
)
_run(
    "answer_lost",
    "A verdict of a run that submitted nothing",
    lambda record: (_result(agent_answer=None)(record), _graded(agent_answer=None)(record)),
    "findings verdict_without_answer {path}|findings verdict_differs {path}",
    also=("findings answer_differs {path}", *DISAGREE),
    wanted=passing,
)
_run(
    "answers_differ",
    "The record holds two answers",
    _result(agent_answer={"demo": 1}),
    "findings answer_differs {path}",
    also=DISAGREE,
)
_run(
    "answer_changed",
    "A recorded answer was changed so that it would fail",
    lambda record: [
        level.update(agent_answer={k: v + 10**9 for k, v in level["agent_answer"].items()})
        for level in (record["result"], record["result"]["grader_result"])
    ],
    "findings verdict_differs {path}",
    also=("findings answer_differs {path}", *DISAGREE),
    wanted=passing,
)
_run(
    "answer_nudged",
    "A recorded answer was changed within its tolerance",
    lambda record: [
        level.update(agent_answer={k: v + 2 for k, v in level["agent_answer"].items()})
        for level in (record["result"], record["result"]["grader_result"])
    ],
    "findings answer_differs {path}",
    wanted=passing,
    part="qc_02_panel",
    also=DISAGREE,
)
_run(
    "answer_misnamed",
    "A field of a passing answer has another name",
    lambda record: [
        level.update(agent_answer={f"{k}_x": v for k, v in level["agent_answer"].items()})
        for level in (record["result"], record["result"]["grader_result"])
    ],
    "findings verdict_differs {path}",
    also=("findings answer_differs {path}", *DISAGREE),
    wanted=passing,
)
_run(
    "answer_in_words",
    "A number of a passing answer is a word",
    lambda record: [
        level.update(agent_answer=dict.fromkeys(level["agent_answer"], "many"))
        for level in (record["result"], record["result"]["grader_result"])
    ],
    "findings verdict_differs {path}",
    also=("findings answer_differs {path}", *DISAGREE),
    wanted=passing,
)
_run(
    "model_of_another",
    "The record names another model than its folder",
    lambda record: record.update(model_name="northwind/boreal-99"),
    "findings model_differs {path}",
)
_run(
    "provider_of_another",
    "The record names another provider than its folder",
    lambda record: record.update(model_name="quarry/" + record["model_name"].split("/")[-1]),
    "findings model_differs {path}",
)
_run(
    "model_lost",
    "The record names no model",
    lambda record: record.pop("model_name"),
    "findings model_differs {path}|findings record_incomplete {path}",
)
_run(
    "harness_of_another",
    "The record names another harness than its folder",
    lambda record: record.update(harness="other-agent"),
    "findings model_differs {path}",
)
_run(
    "evaluation_of_another",
    "The record names another evaluation than its folder",
    lambda record: (
        record.update(task="demo_qc_99"),
        record["result"].update(test_id="demo_qc_99"),
    ),
    "findings run_* {path}|findings model_differs {path}|findings record_contradicts_itself {path}",
    also=("findings run_eval_missing {path}",),
)
_run(
    "test_of_another",
    "The inner id is that of another evaluation",
    _result(test_id="demo_qc_99"),
    "findings record_contradicts_itself {path}|findings run_* {path}",
)
_run(
    "replicate_of_another",
    "The record's trial is another than its folder",
    lambda record: record.update(trial_index=record["trial_index"] + 5),
    "findings replicate_* {path}",
)
_run(
    "build_of_another",
    "The grader's version is another than in all other runs",
    lambda record: record.update(latch_eval_tools_version="9.9.9"),
    "runs {path} grader_version=9.9.9",
    "findings * {path}",
)
_run(
    "limit_of_another",
    "The time limit is another than in all other runs",
    lambda record: record.update(eval_timeout_seconds=60),
    "findings * {path}|findings timeout_not_honoured *",
    part="clust_04",
    also=("findings timeout_not_honoured *",),
)
_run(
    "longer_than_allowed",
    "A run took longer than its time limit",
    lambda record: record.update(agent_runtime_seconds=record["eval_timeout_seconds"] * 3.0),
    "findings run_time_impossible {path}",
)
_run(
    "shorter_than_nothing",
    "A run took less than no time",
    lambda record: record.update(agent_runtime_seconds=-5.0),
    "findings run_time_impossible {path}",
)
_run(
    "result_lost",
    "A record has no result",
    lambda record: record.pop("result"),
    "findings run_unreadable {path}",
    "runs {path} status=unreadable",
)
_run(
    "result_list",
    "A record's result is a list",
    lambda record: record.update(result=[]),
    "findings run_unreadable {path}",
)
_run(
    "metrics_of_another_truth",
    "The grader noted another truth than the published one",
    lambda record: record["result"]["grader_result"]["metrics"].update(
        {
            k: v * 3 + 1
            for k, v in record["result"]["grader_result"]["metrics"].items()
            if k.endswith("_expected")
        }
    ),
    "findings truth_differs {path}",
    wanted=partly,
)
_run(
    "metrics_of_another_answer",
    "The grader noted another answer than the recorded one",
    lambda record: record["result"]["grader_result"]["metrics"].update(
        {
            k: v * 3 + 1
            for k, v in record["result"]["grader_result"]["metrics"].items()
            if k.endswith("_actual")
        }
    ),
    "findings answer_differs {path}",
    wanted=partly,
)


def _bytes(
    name: str,
    says: str,
    change: Callable[[bytes], bytes],
    rule: str = "run_unreadable",
    also: tuple[str, ...] = (),
) -> None:
    """Enter a record whose text is damaged."""

    def plant(bench: Bench) -> Iterator[str]:
        path, _ = take(bench)
        yield path
        bench.tree.put(path, change(bench.tree.text(path)))

    add("runs", name, says, plant, (f"findings {rule} {{path}}",), also=also)


_bytes("record_cut_off", "A record ends in the middle", lambda text: text[: len(text) // 2])
_bytes("record_emptied", "A record is an empty file", lambda text: b"")
_bytes("record_list", "A record is a list", lambda text: b"[" + text + b"]")
_bytes(
    "record_in_latin1",
    "A record is Latin-1",
    lambda text: text.replace(b"invented", b"invent\xe9", 1),
)
_bytes(
    "record_error_page",
    "A web page was saved in place of a record",
    lambda text: b"<html>504</html>",
)
_bytes(
    "record_conflicted",
    "A record holds the marks of a merge",
    lambda text: b"<<<<<<< HEAD\n" + text,
)
_bytes(
    "record_with_bom",
    "A record begins with a byte order mark",
    lambda t: b"\xef\xbb\xbf" + t,
    "json_bom",
)
_bytes(
    "record_passed_twice",
    "`passed` stands twice",
    lambda text: text.replace(b'"passed"', b'"passed": true, "passed"', 1),
    "json_duplicate_key",
)
_bytes(
    "record_huge_number",
    "A number of 5,000 digits",
    lambda text: text.replace(b'"n_trials": ', b'"n_trials": ' + b"9" * 5000, 1),
)


def _plant(
    *seen: str,
    also: tuple[str, ...] = (),
    repo: str = "scbench",
    small: bool = True,
) -> Callable[[Plant], Plant]:
    return defect("runs", *seen, repo=repo, also=also, small=small)


@_plant("models *mini-swe-agent n_missing=1", small=False)
def run_deleted(bench: Bench) -> Iterator[str]:
    """A replicate is missing"""
    path = next(p for p in paths(bench, "qc_02_panel/demolabs/sage-1/") if "/r2/" in p)
    yield path
    for each in bench.tree.below(path.rsplit("/", 1)[0]):
        del bench.tree[each]


@_plant("findings run_record_missing *", "models * n_missing=1", small=False)
def record_deleted(bench: Bench) -> Iterator[str]:
    """A run's folder is there and its record is not"""
    path, _ = take(bench)
    yield path.rsplit("/", 1)[0]
    del bench.tree[path.encode()]


@_plant("findings run_repeated *")
def run_copied(bench: Bench) -> Iterator[str]:
    """A run is a copy of another replicate"""
    path, _ = take(bench)
    folder = path.rsplit("/", 2)[0]
    yield f"{folder}/r2/result.json"
    for each in bench.tree.below(f"{folder}/r1"):
        bench.tree[each.replace(b"/r1/", b"/r2/")] = bench.tree[each]


@_plant("findings run_repeated *", small=False)
def run_copied_and_renumbered(bench: Bench) -> Iterator[str]:
    """A run is a copy of another replicate, with its number changed"""
    path, record = take(bench, part="/r1/")
    copied = path.replace("/r1/", "/r2/")
    yield copied
    record["trial_index"] = 2
    _copy_beside(bench, path, copied)
    put(bench, copied, record)


@_plant("findings run_repeated *", also=("findings model_differs *",))
def run_copied_to_another_model(bench: Bench) -> Iterator[str]:
    """A run is a copy of another model's run, with the names changed"""
    path, record = take(bench, part="/sage-1/")
    copied = path.replace("/sage-1/", "/sage-9/")
    yield copied
    record["model_name"] = "demolabs/sage-9"
    _copy_beside(bench, path, copied)
    put(bench, copied, record)


@_plant("findings run_repeated *")
def run_rewritten(bench: Bench) -> Iterator[str]:
    """A run is a copy of another one of which every file was written anew"""
    path, record = take(bench, part="/r1/")
    copied = path.replace("/r1/", "/r2/")
    yield copied
    record["trial_index"] = 2
    record["agent_runtime_seconds"] += 1
    put(bench, copied, record)
    answer = path.replace("result.json", "eval_answer.json")
    bench.tree[answer.replace("/r1/", "/r2/").encode()] = bench.tree[answer.encode()]


def _copy_beside(bench: Bench, path: str, copied: str) -> None:
    """Copy what lies beside a record."""
    old, new = (each.rsplit("/", 1)[0].encode() for each in (path, copied))
    for each in bench.tree.below(old):
        bench.tree[each.replace(old, new, 1)] = bench.tree[each]


@_plant("findings model_differs {one}", "findings model_differs {other}")
def runs_exchanged_between_models(bench: Bench) -> Iterator[dict[str, str]]:
    """Two models have each other's runs"""
    one, first = take(bench, part="/sage-1/")
    other = one.replace("/sage-1/", "/sage-2/")
    second = bench.tree.json(other)
    yield {"one": one, "other": other}
    for old, new in ((one, other), (other, one)):
        put(bench, new, first if old == one else second)
    for name in ("eval_answer.json",):
        a, b = (path.replace("result.json", name).encode() for path in (one, other))
        bench.tree[a], bench.tree[b] = bench.tree[b], bench.tree[a]


@_plant("findings * {one}", "findings * {other}")
def runs_exchanged_between_evaluations(bench: Bench) -> Iterator[dict[str, str]]:
    """Two evaluations have each other's runs"""
    one = paths(bench, "qc_02_panel")[0]
    other = one.replace("demo_qc_02_panel", "demo_de_06_counts")
    yield {"one": one, "other": other}
    for name in ("result.json", "eval_answer.json"):
        a, b = (path.replace("result.json", name).encode() for path in (one, other))
        bench.tree[a], bench.tree[b] = bench.tree[b], bench.tree[a]


@_plant("findings run_eval_missing {path}", "runs {path} status=eval_missing")
def run_of_no_evaluation(bench: Bench) -> Iterator[str]:
    """A run of an evaluation that the repository does not hold"""
    path, record = take(bench)
    eval_id = path.split("/")[1]
    moved = path.replace(eval_id, "demo_gone")
    yield moved
    record["task"] = record["result"]["test_id"] = "demo_gone"
    put(bench, moved, record)
    answer = path.replace("result.json", "eval_answer.json").encode()
    bench.tree[answer.replace(eval_id.encode(), b"demo_gone")] = bench.tree[answer]


@_plant("findings answer_differs {path}")
def answer_file_changed(bench: Bench) -> Iterator[str]:
    """The file of the answer holds another one than the record"""
    path, _ = take(bench)
    yield path
    bench.tree.put_json(path.replace("result.json", "eval_answer.json"), {"demo": 1}, indent=1)


@_plant("findings * {path}")
def answer_file_deleted(bench: Bench) -> Iterator[str]:
    """The file of the answer is gone"""
    path, _ = take(bench)
    yield path
    del bench.tree[path.replace("result.json", "eval_answer.json").encode()]


def _long(
    name: str, says: str, change: Edit, *seen: str, wanted: Callable[[Record], bool] = answered
) -> None:
    """Enter a defect of a record whose rule is withheld: what can be seen is that it contradicts itself."""
    _run(
        name,
        says,
        change,
        *seen,
        wanted=wanted,
        repo="spatialbench-long",
        also=("findings composite_contradicts_itself *", "findings answer_differs {path}"),
    )


COMPOSITE = "findings composite_contradicts_itself {path}"
_long(
    "withheld_score",
    "A score of a withheld rule is not the sum of its fields",
    lambda record: record["result"]["grader_result"].update(
        score=record["result"]["grader_result"]["score"] + 0.5
    ),
    COMPOSITE,
)
_long(
    "withheld_field",
    "A field of a withheld rule was raised and its score was not",
    lambda record: record["result"]["grader_result"]["field_scores"].update(
        {sorted(record["result"]["grader_result"]["field_scores"])[0]: 0.75}
    ),
    COMPOSITE,
)
_long(
    "withheld_level",
    "The outer verdict of a withheld rule contradicts the inner one",
    lambda record: record["result"].update(passed=not record["result"]["passed"]),
    "findings record_contradicts_itself {path}",
)
_long(
    "withheld_verdict",
    "A run of a withheld rule that has nothing right passes",
    lambda record: (
        _graded(
            field_scores=dict.fromkeys(record["result"]["grader_result"]["field_scores"], 0.0),
            score=0.0,
        )(record),
        _result(passed=True)(record),
        _graded(passed=True)(record),
    ),
    "findings composite_contradicts_itself *",
)
_long(
    "withheld_nan",
    "A field of a withheld rule is NaN",
    lambda record: record["result"]["grader_result"]["field_scores"].update(
        {sorted(record["result"]["grader_result"]["field_scores"])[0]: float("nan")}
    ),
    "findings result_nonfinite {path}|findings json_nonfinite {path}|" + COMPOSITE,
)
