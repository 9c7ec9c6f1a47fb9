"""What can go wrong in graders, type by type: keys, values, thresholds that nothing or everything meets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from defects.bench import (
    Bench,
    choice,
    distribution,
    labels,
    markers,
    numeric,
    separation,
    template,
)
from defects.cases import add, defect

NAMES = ("DEMO_ALPHA", "DEMO_BRAVO", "DEMO_CHARLIE", "DEMO_DELTA", "DEMO_ECHO")
GENES = ("DEMO1", "DEMO2", "DEMO3", "DEMO4")
LIST = '["<label>", ...]'
Config = dict[str, Any]
INVALID = "grader_config_invalid|truth_fails_rule|grader_undecided|truth_empty"
#: What else a config that can't be applied, or that passes everything, may be told for.
BESIDE = (
    *("findings grader_type_unknown {path}", "findings grader_config_invalid {path}"),
    *(
        "findings truth_empty {path}",
        "findings grader_undecided {path}",
        "findings label_odd {path}",
    ),
    *("findings share_impossible {path}", "findings grader_key_unknown {path}"),
    *("findings threshold_unreachable {path}", "findings choice_* {path}"),
    *("findings template_field_ungraded {path}", "findings distribution_sum_off {path}"),
    *(
        "findings grader_object_malformed *",
        "findings passes_on_* {path}",
        "findings window_* {path}",
    ),
    *(
        "findings truth_* {path}",
        "findings bound_differs_from_truth {path}",
        "findings tolerance_* {path}",
    ),
)


def _of(grader: Config, asked: dict[str, str]) -> Callable[..., None]:
    """Return a function that enters a defect of an evaluation with this grader, sound before."""

    def enter(
        name: str, says: str, change: Callable[[Config], object], rule: str = INVALID
    ) -> None:
        def plant(bench: Bench) -> Iterator[str]:
            item = bench.add(_copy(grader), asked)
            yield item.path
            change(item.data["grader"])

        one = "|".join(f"findings {each} {{path}}" for each in rule.split("|"))
        add("graders", name, says, plant, (one,), also=BESIDE)

    return enter


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _config(**values: Any) -> Callable[[Config], object]:
    return lambda grader: grader["config"].update(values)


def _without(key: str) -> Callable[[Config], object]:
    return lambda grader: grader["config"].pop(key)


def _scoring(**values: Any) -> Callable[[Config], object]:
    return lambda grader: grader["config"]["scoring"].update(values)


def _limits(**values: Any) -> Callable[[Config], object]:
    return lambda grader: grader["config"]["scoring"]["pass_thresholds"].update(values)


def _entry(**values: Any) -> Callable[[Config], object]:
    return lambda grader: grader["config"]["tolerances"]["n"].update(values)


_numeric = _of(numeric(n=(7001, 3)), {"n": "<int>"})
_numeric("truth_text", "The truth is a number in words", _config(ground_truth={"n": "seven"}))
_numeric("truth_null", "The truth is null", _config(ground_truth={"n": None}))
_numeric("truth_list", "The truth is a list", _config(ground_truth={"n": [7001]}))
_numeric(
    "truth_nan",
    "The truth is NaN",
    _config(ground_truth={"n": math.nan}),
    f"{INVALID}|json_nonfinite",
)
_numeric(
    "truth_infinite",
    "The truth is infinite",
    _config(ground_truth={"n": math.inf}),
    f"{INVALID}|json_nonfinite",
)
_numeric("truth_empty", "There is no truth", _config(ground_truth={}))
_numeric("truth_lost", "`ground_truth` is gone", _without("ground_truth"))
_numeric("truths_list", "`ground_truth` is a list", _config(ground_truth=[7001]))
_numeric("tolerance_negative", "A tolerance is negative: nothing passes", _entry(value=-3))
_numeric("tolerance_text", "A tolerance is a text", _entry(value="three"))
_numeric("tolerance_null", "A tolerance is null", _entry(value=None))
_numeric("tolerance_nan", "A tolerance is NaN", _entry(value=math.nan), f"{INVALID}|json_nonfinite")
_numeric("tolerances_list", "`tolerances` is a list", _config(tolerances=[3]))
_numeric(
    "tolerance_type_case",
    "A tolerance's type is in capitals",
    _entry(type="Absolute"),
    "tolerance_type_unknown",
)
_numeric(
    "tolerance_misspelt",
    "A tolerance belongs to a misspelt field",
    lambda grader: grader["config"]["tolerances"].update(m=grader["config"]["tolerances"].pop("n")),
    "tolerance_without_truth|truth_without_tolerance",
)
_numeric(
    "offsets_negative",
    "An offset is negative: nothing passes",
    lambda grader: grader["config"]["tolerances"].update(
        n={"type": "absolute", "lower": -5, "upper": 3}
    ),
    f"{INVALID}|truth_fails_rule",
)
_numeric(
    "offsets_as_bounds",
    "Offsets are written as bounds: everything passes",
    lambda grader: grader["config"]["tolerances"].update(
        n={"type": "absolute", "lower": 6998, "upper": 7004}
    ),
    "offsets_look_like_bounds|window_never_fails",
)
_numeric(
    "relative_of_zero",
    "A relative tolerance of a truth of 0: nothing passes",
    _config(ground_truth={"n": 0}, tolerances={"n": {"type": "relative", "value": 0.05}}),
    "truth_fails_rule",
)
_numeric(
    "relative_in_percent",
    "A relative tolerance of 5, meant as per cent: zero passes",
    _entry(type="relative", value=5),
    "window_contains_zero|passes_on_zeros",
)
_numeric(
    "minimum_above",
    "The truth lies below its own minimum",
    _entry(type="min", value=7500),
    "truth_fails_rule",
)
_numeric(
    "type_lost",
    "The grader has no type",
    lambda grader: grader.pop("type"),
    "grader_object_malformed",
)
_numeric(
    "type_null",
    "The grader's type is null",
    lambda grader: grader.update(type=None),
    "grader_object_malformed|grader_type_unknown",
)
_numeric(
    "type_misspelt",
    "The grader's type is misspelt",
    lambda grader: grader.update(type="numeric_tolerence"),
    "grader_type_unknown",
)
_numeric(
    "type_capital",
    "The grader's type is in capitals",
    lambda grader: grader.update(type="Numeric_Tolerance"),
    "grader_type_unknown",
)
_numeric(
    "config_list",
    "The config is a list",
    lambda grader: grader.update(config=[]),
    f"grader_object_malformed|{INVALID}",
)
_numeric(
    "config_beside",
    "The config's keys stand beside it",
    lambda grader: grader.update(grader.pop("config")),
    "grader_object_malformed",
)

_range = _of(
    {
        "type": "numeric_range",
        "config": {"ground_truth": {"n": 50}, "ranges": {"n": {"min": 40, "max": 60}}},
    },
    {"n": "<int>"},
)
_range(
    "range_upside_down",
    "A range's ends are exchanged: nothing passes",
    _config(ranges={"n": {"min": 60, "max": 40}}),
    f"{INVALID}|truth_fails_rule",
)
_range(
    "range_off",
    "A truth lies outside its range",
    _config(ranges={"n": {"min": 400, "max": 600}}),
    "truth_fails_rule",
)
_range(
    "range_text", "An end of a range is a text", _config(ranges={"n": {"min": "low", "max": 60}})
)
_range(
    "range_lost",
    "A field has no range",
    _config(ranges={}),
    f"{INVALID}|truth_without_tolerance|grader_*",
)
_range(
    "range_extra",
    "A range belongs to no field",
    _config(ranges={"n": {"min": 40, "max": 60}, "m": {"min": 1, "max": 2}}),
    f"{INVALID}|tolerance_without_truth|grader_*",
)
_range("ranges_list", "`ranges` is a list", _config(ranges=[40, 60]))
_range(
    "range_nan",
    "An end of a range is NaN",
    _config(ranges={"n": {"min": math.nan, "max": 60}}),
    f"{INVALID}|json_nonfinite",
)
_range(
    "range_key",
    "An end of a range is misspelt",
    _config(ranges={"n": {"minimum": 40, "max": 60}}),
    f"{INVALID}|*_key_unknown|grader_*",
)

_choice = _of(choice("Q", options=["Q", "R", "S"]), {"answer": '"<letter>"'})
_choice("choice_lost", "The right choice is gone", _without("correct_answer"))
_choice("choice_empty", "The right choice is empty", _config(correct_answer=""))
_choice("choice_null", "The right choice is null", _config(correct_answer=None))
_choice(
    "choice_not_offered",
    "The right choice is not offered",
    _config(correct_answer="X"),
    "choice_not_among_options",
)
_choice(
    "choices_conflict", "Two right choices contradict each other", _config(correct_answers=["R"])
)
_choice(
    "choices_empty",
    "The list of right choices is empty",
    lambda grader: (
        grader["config"].update(correct_answers=[], correct_answer=None)
        or grader["config"].pop("correct_answer")
    ),
)
_choice(
    "choice_with_text",
    "The right choice is 'Q: text' where a letter is asked for",
    _config(correct_answer="Q: the first"),
    "choice_not_among_options",
)
_choice(
    "choice_all",
    "All options are right",
    lambda grader: (
        grader["config"].pop("correct_answer")
        and grader["config"].update(correct_answers=["Q", "R", "S"])
    ),
    "passes_on_*",
)
_choice(
    "option_twice",
    "An option stands twice",
    _config(options=["Q", "R", "R"]),
    "label_repeated|choice_*",
)

_labels = _of(labels(*NAMES), {"labels": LIST})
_labels(
    "labels_empty",
    "There are no labels",
    _config(ground_truth_labels=[]),
    f"{INVALID}|truth_fails_rule|passes_on_*",
)
_labels("labels_text", "The labels are one text", _config(ground_truth_labels="DEMO_ALPHA"))
_labels(
    "labels_misspelt",
    "The labels' key is misspelt",
    lambda grader: grader["config"].update(
        ground_truth_label=grader["config"].pop("ground_truth_labels")
    ),
)
_labels(
    "labels_nested",
    "A label is a list",
    _config(ground_truth_labels=[["DEMO_ALPHA"], "DEMO_BRAVO"]),
)
_labels(
    "threshold_zero",
    "A threshold of 0: everything passes",
    _scoring(pass_threshold=0),
    "passes_on_empty",
)
_labels(
    "threshold_negative",
    "A threshold below 0: everything passes",
    _scoring(pass_threshold=-1),
    f"passes_on_empty|{INVALID}",
)
_labels(
    "threshold_percent",
    "A threshold of 80: nothing passes",
    _scoring(pass_threshold=80),
    "threshold_unreachable",
)
_labels("threshold_text", "A threshold is a text", _scoring(pass_threshold="high"))
_labels(
    "threshold_misplaced",
    "A threshold stands beside `scoring`",
    lambda grader: grader["config"].update(
        pass_threshold=grader["config"]["scoring"].pop("pass_threshold")
    ),
    "grader_key_misplaced",
)
_labels("scoring_list", "`scoring` is a list", _config(scoring=[0.8]))
_labels(
    "count_differs",
    "Fewer labels are asked for than are right",
    _config(expected_count=3),
    "expected_count_differs",
)
_labels(
    "label_padded",
    "A label ends in a space; who answers it right fails",
    _config(ground_truth_labels=[*NAMES[:4], "DEMO_ECHO "]),
    "label_*",
)
_labels(
    "label_of_case",
    "Two labels differ by case alone",
    _config(ground_truth_labels=[*NAMES, "demo_echo"]),
    "label_repeated|label_*",
)
_labels(
    "method_unknown",
    "The scoring has an unknown method",
    _scoring(method="dice"),
    f"grader_key_unknown|{INVALID}|grader_method_unknown",
)

_shares = _of(distribution(one=62.5, two=37.5), {"cell_type_distribution": '{"<type>": <float>}'})
_shares(
    "shares_empty",
    "The distribution is empty",
    lambda grader: grader["config"]["ground_truth"].update(cell_type_distribution={}),
    f"{INVALID}|passes_on_*",
)
_shares(
    "shares_off",
    "The shares come to 130 per cent",
    lambda grader: grader["config"]["ground_truth"]["cell_type_distribution"].update(one=92.5),
    "distribution_sum_off",
)
_shares(
    "share_negative",
    "A share is negative",
    lambda grader: grader["config"]["ground_truth"]["cell_type_distribution"].update(
        one=112.5, two=-12.5
    ),
    f"{INVALID}|share_impossible",
)
_shares(
    "share_text",
    "A share is a text",
    lambda grader: grader["config"]["ground_truth"]["cell_type_distribution"].update(one="62.5 %"),
)
_shares(
    "shares_lost",
    "The distribution's key is misspelt",
    lambda grader: grader["config"].update(ground_truth={"cell_types": {"one": 62.5, "two": 37.5}}),
)
_shares(
    "share_tolerance_wide",
    "A tolerance of 100 points: everything passes",
    lambda grader: grader["config"]["tolerances"].update(
        cell_type_percentages={"type": "absolute", "value": 100}
    ),
    "window_*|passes_on_*",
)
_shares(
    "share_tolerance_negative",
    "A tolerance of shares is negative: nothing passes",
    lambda grader: grader["config"]["tolerances"].update(
        cell_type_percentages={"type": "absolute", "value": -3}
    ),
)
_shares(
    "share_tolerance_misspelt",
    "The tolerance's key is misspelt, so that the default counts",
    lambda grader: grader["config"].update(
        tolerances={"cell_type_percentage": {"type": "absolute", "value": 5}}
    ),
    "grader_key_unknown|tolerance_*",
)
_shares(
    "share_by_case",
    "Two categories differ by case alone",
    lambda grader: grader["config"]["ground_truth"].update(
        cell_type_distribution={"one": 60.0, "One": 40.0}
    ),
    f"{INVALID}|label_*|distribution_*",
)

_genes = _of(markers(*GENES), {"genes": LIST})
_genes(
    "genes_empty",
    "There are no genes",
    _config(canonical_markers=[]),
    f"{INVALID}|truth_fails_rule",
)
_genes("genes_text", "The genes are one text", _config(canonical_markers="DEMO1, DEMO2"))
_genes(
    "genes_percent",
    "A recall of 50 is asked for: nothing passes",
    _limits(recall_at_k=50),
    "threshold_unreachable",
)
_genes(
    "genes_free",
    "Precision and recall of 0: everything passes",
    _limits(recall_at_k=0, precision_at_k=0),
    "passes_on_empty",
)
_genes(
    "genes_misplaced",
    "The thresholds stand beside `scoring`",
    lambda grader: grader["config"].update(
        pass_thresholds=grader["config"]["scoring"].pop("pass_thresholds")
    ),
    "grader_key_misplaced",
)
_genes(
    "genes_misspelt",
    "A threshold's name is misspelt, so that the default counts",
    lambda grader: grader["config"]["scoring"].update(
        pass_thresholds={"precision": 0.6, "recall": 0.5}
    ),
    "grader_key_unknown",
)
_genes(
    "genes_count",
    "More genes are asked for than are right",
    _config(expected_count=9),
    "expected_count_differs",
)
_genes(
    "genes_twice",
    "A gene stands twice, by another case",
    _config(canonical_markers=[*GENES, "demo1"]),
    "label_repeated",
)
_genes(
    "gene_number",
    "A spreadsheet has made a date of a gene",
    _config(canonical_markers=[*GENES, "1-Mar", "2-Sep"]),
    "label_*",
)

_auroc = _of(
    separation(),
    {"mean_auroc": "<float>", "per_gene_stats": "[...]"},
)
_auroc(
    "auroc_percent",
    "A mean AUROC of 85 is asked for: nothing passes",
    _limits(mean_auroc=85),
    "threshold_unreachable",
)
_auroc("auroc_text", "A cutoff is a text", _limits(per_gene_cutoff="high"))
_auroc("auroc_free", "AUROCs of 0 pass", _limits(mean_auroc=0, fraction_high=0), "passes_on_*")

_adjacency = _of(
    {"type": "spatial_adjacency", "config": {"scoring": {"pass_thresholds": {}}}},
    {"adjacency_pass": "<bool>"},
)
_adjacency(
    "adjacency_text",
    "A bound is a text",
    _limits(pct_within_15um="most"),
    f"{INVALID}|grader_key_unknown",
)


def _children(*children: Config, **more: Any) -> Config:
    return {"type": "all_of", "config": {"pass_rule": "all", "children": list(children), **more}}


_all = _of(_children(numeric(n=(7001, 3)), labels(*NAMES)), {"n": "<int>", "labels": LIST})
_all("children_empty", "A composite without children", _config(children=[]))
_all("children_lost", "A composite's list of children is gone", _without("children"))
_all(
    "children_object",
    "A composite's children are an object",
    _config(children=numeric(n=(7001, 3))),
)
_all("pass_rule_any", "A composite of all passes on any", _config(pass_rule="any"))
_all(
    "child_with_role",
    "A child has both a type and a role",
    lambda grader: grader["config"]["children"][0].update(role="gate"),
)
_all(
    "child_unknown",
    "A child has an unknown type",
    lambda grader: grader["config"]["children"][0].update(type="numeric_tolerence"),
    "grader_type_unknown",
)
_all(
    "child_bare",
    "A child has no config",
    lambda grader: grader["config"]["children"][0].pop("config"),
    "grader_object_malformed",
)
_all(
    "child_null",
    "A child is null",
    lambda grader: grader["config"]["children"].append(None),
    f"grader_object_malformed|{INVALID}",
)
_all(
    "child_negative",
    "A child's tolerance is negative: nothing passes",
    lambda grader: grader["config"]["children"][0]["config"]["tolerances"]["n"].update(value=-1),
)
_all(
    "child_contradicts",
    "Two children ask for different values of one field: nothing passes",
    lambda grader: grader["config"]["children"].append(numeric(n=(9001, 3))),
    "truth_fails_rule|children_*|grader_*",
)

_average = _of(
    {
        "type": "average_of",
        "config": {
            "pass_rule": "min_passing",
            "min_passing_children": 1,
            "children": [numeric(n=(7001, 3)), labels(*NAMES)],
        },
    },
    {"n": "<int>", "labels": LIST},
)
_average(
    "average_too_many",
    "More children must pass than there are: nothing passes",
    _config(min_passing_children=3),
    "threshold_unreachable|truth_fails_rule",
)
_average(
    "average_none",
    "No child must pass: everything passes",
    _config(min_passing_children=0),
    f"passes_on_*|{INVALID}",
)
_average(
    "average_number_lost",
    "The number of children that must pass is gone",
    _without("min_passing_children"),
)
_average(
    "average_percent",
    "A score of 80 must be reached: nothing passes",
    _config(pass_rule="score_threshold", score_threshold=80),
    "threshold_unreachable|truth_fails_rule",
)

_order = _of(
    {
        "type": "longest_subsequence",
        "config": {
            "answer_field": "order",
            "ground_truth": list(NAMES),
            "scoring": {"pass_threshold": 0.75},
        },
    },
    {"order": LIST},
)
_order("order_empty", "There is no order", _config(ground_truth=[]), f"{INVALID}|truth_fails_rule")
_order(
    "order_percent",
    "A threshold of 75: nothing passes",
    _scoring(pass_threshold=75),
    "threshold_unreachable",
)
_order("order_text", "The order is one text", _config(ground_truth="DEMO_ALPHA > DEMO_BRAVO"))
_order(
    "order_field_lost",
    "The field of the order is not named",
    _without("answer_field"),
    f"{INVALID}|answer_field_unstated",
)

_file = _of(
    {"type": "finished_file", "config": {"expected": "finished"}},
    {"finished_file_contents": '"<text>"'},
)
_file(
    "finished_empty",
    "The expected text is empty: everything blank passes",
    _config(expected=""),
    f"passes_on_*|{INVALID}",
)
_file(
    "finished_number", "The expected text is a number", _config(expected=3), f"{INVALID}|grader_*"
)


@defect("graders", "findings graders_not_a_list {path}|findings field_type_wrong {path}")
def graders_object(bench: Bench) -> Iterator[str]:
    """`graders` is an object"""
    item = bench.add(None, {"n": "<int>"}, graders=[numeric(n=(7001, 3))])
    yield item.path
    item.data["graders"] = numeric(n=(7001, 3))


@defect("graders", "findings grader_object_malformed {path}", also=BESIDE)
def grader_in_list_null(bench: Bench) -> Iterator[str]:
    """A grader of a list is null"""
    item = bench.add(None, {"n": "<int>"}, graders=[numeric(n=(7001, 3))])
    yield item.path
    item.data["graders"].append(None)


@defect("graders", "runs *{id}* status=rule_not_published", "evals {path} grader_form=none")
def grader_withdrawn(bench: Bench) -> Iterator[dict[str, str]]:
    """A grader is withdrawn after runs were recorded: their verdicts can't be followed any more"""
    item = bench.pick()
    yield {"path": item.path, "id": item.data["id"]}
    del item.data["grader"]


@defect(
    "graders",
    "findings verdict_differs trajectories/{id}/*",
    "runs *{id}* passed_agrees=False",
    also=("findings field_differs *{id}*", "findings score_differs *{id}*", "findings *"),
)
def truth_changed(bench: Bench) -> Iterator[dict[str, str]]:
    """A truth is changed after runs were recorded"""
    item = bench.item("evals/qc/demo_qc_02_panel.json")
    yield {"path": item.path, "id": item.data["id"]}
    truths = item.config["ground_truth"]
    for name in truths:
        truths[name] = truths[name] * 3 + 1


@defect(
    "graders",
    "findings verdict_differs trajectories/{id}/*",
    also=("findings field_differs *{id}*", "findings score_differs *{id}*", "findings *"),
)
def tolerance_narrowed(bench: Bench) -> Iterator[dict[str, str]]:
    """Tolerances are narrowed after runs were recorded"""
    item = bench.item("evals/qc/demo_qc_02_panel.json")
    yield {"path": item.path, "id": item.data["id"]}
    for entry in item.config["tolerances"].values():
        entry["value"] = 0


@defect(
    "graders",
    "findings verdict_differs trajectories/{id}/*",
    small=False,
    also=("findings field_differs *{id}*", "findings score_differs *{id}*", "findings *"),
)
def offsets_exchanged(bench: Bench) -> Iterator[dict[str, str]]:
    """`lower` and `upper` are exchanged after runs were recorded"""
    item = bench.item("evals/dimensionality_reduction/demo_dr_01_sentinels.json")
    yield {"path": item.path, "id": item.data["id"]}
    for entry in item.config["tolerances"].values():
        entry["lower"], entry["upper"] = entry["upper"], entry["lower"]


@defect("graders", "findings * {path}")
def truth_wrong(bench: Bench) -> Iterator[str]:
    """A truth was wrong from the beginning"""
    item = bench.add(numeric(n=(7001, 3)), {"n": "<int>"})
    yield item.path
    item.config["ground_truth"]["n"] = 7101


@defect("graders", "findings template_differs_from_rule {path}", also="findings template_* {path}")
def graded_by_another_case(bench: Bench) -> Iterator[str]:
    """A graded field's name differs from the template's by case"""
    item = bench.add(numeric(n_cells=(7001, 3)), {"n_cells": "<int>"})
    yield item.path
    item.data["task"] = template({"N_cells": "<int>"})
