"""The defects. Each is a generator: what it does before `yield path` is clean, the rest is the defect at
that path; `also` names rules that such a defect meets as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from defects.bench import (
    Bench,
    choice,
    distribution,
    labels,
    markers,
    numeric,
    template,
)

Plant = Callable[[Bench], Iterator[str]]
NAMES = ("DEMO_ALPHA", "DEMO_BRAVO", "DEMO_CHARLIE", "DEMO_DELTA", "DEMO_ECHO")
LIST = '["<label>", ...]'


@dataclass(frozen=True)
class Seed:
    """A defect of one kind in one repository."""

    rule: str
    repo: str
    plant: Plant
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Rule and function, as a test names it."""
        return f"{self.rule}-{self.plant.__name__}"


SEEDS: list[Seed] = []


def defect(rule: str, repo: str = "scbench", also: str = "") -> Callable[[Plant], Plant]:
    """Enter a defect that `rule` is to find."""

    def add(plant: Plant) -> Plant:
        SEEDS.append(Seed(rule, repo, plant, tuple(also.split())))
        return plant

    return add


# --- names and fields --------------------------------------------------------------------------------


@defect("field_unknown")
def another_field(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["grading_hint"] = "none"


@defect("field_unknown", "epibench")
def misspelt_field(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["note"] = "An invented remark."


@defect("field_type_wrong")
def notes_as_list(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, 3)), {"n": "<int>"}, notes="An invented remark.")
    yield item.path
    item.data["notes"] = ["An invented remark."]


@defect("field_type_wrong")
def data_node_as_number(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["data_node"] = 10_000


@defect("field_type_wrong", also="canary_without_guid")
def canary_as_object(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["canary"] = {"guid": item.data["canary"]}


@defect("prompt_empty")
def blank_prompt(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["task"] = " \n"


@defect("data_node_empty")
def no_handle(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["data_node"] = ""


@defect("data_node_empty", "epibench")
def no_handles(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["data_node"] = []


@defect("handle_repeated", "variantbench")
def handle_twice(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["data_node"].append(item.data["data_node"][0])


@defect("id_differs_from_manifest", "variantbench")
def row_with_another_id(bench: Bench) -> Iterator[str]:
    listing = bench.tree.json("evals/manifest.json")
    row = bench.rng.choice(listing["evals"])
    yield row["path"]
    row["id"] = "demo_renamed"
    bench.tree.put_json("evals/manifest.json", listing)


@defect("task_differs_from_manifest")
def row_with_another_kit(bench: Bench) -> Iterator[str]:
    listing = bench.tree.json("evals/manifest.json")
    row = bench.rng.choice(listing)
    yield f"evals/{row['task']}/{row['eval_id']}.json"
    row["kit"] = "other_kit"
    bench.tree.put_json("evals/manifest.json", listing)


@defect("task_differs_from_manifest", "epibench")
def row_with_another_task(bench: Bench) -> Iterator[str]:
    listing = bench.tree.json("evals/manifest.json")
    row = bench.rng.choice(listing["evals"])
    yield row["path"]
    row["task"] = "other_task"
    bench.tree.put_json("evals/manifest.json", listing)


@defect("task_differs_from_folder")
def in_a_strange_folder(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, 3)), {"n": "<int>"})
    yield item.path
    item.data["metadata"]["task"] = "imaging"


@defect("metadata_key_unknown")
def another_metadata_key(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["metadata"]["difficulty"] = "hard"


# --- metadata over the repository --------------------------------------------------------------------


@defect("metadata_constant", "epibench")
def one_word_everywhere(bench: Bench) -> Iterator[str]:
    yield bench.folder
    for item in bench.all():
        item.data["metadata"]["version"] = "1"


@defect("metadata_field_missing")
def no_kit(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield bench.folder
    del item.data["metadata"]["kit"]


@defect("metadata_field_missing", "epibench", also="metadata_constant")
def no_horizon(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield bench.folder
    del item.data["metadata"]["time_horizon"]


@defect("metadata_mixed_types")
def kit_as_list(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield bench.folder
    item.data["metadata"]["kit"] = ["kit_a"]


@defect("metadata_empty", "variantbench")
def null_module(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["metadata"]["assay"] = None


@defect("metadata_empty")
def empty_list(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["metadata"]["failure_modes"] = []


# --- canaries ----------------------------------------------------------------------------------------


@defect("canary_missing")
def canary_deleted(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    del item.data["canary"]


@defect("canary_missing")
def canary_blank(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["canary"] = ""


@defect("canary_without_guid")
def canary_of_words(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["canary"] = "please do not train on this"


@defect("canary_shared")
def canary_copied(bench: Bench) -> Iterator[str]:
    one, other = bench.rng.sample(bench.all(), 2)
    yield other.path
    other.data["canary"] = one.data["canary"]


# --- prompts -----------------------------------------------------------------------------------------


@defect("template_missing")
def template_cut(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["task"] = item.data["task"].split("<EVAL_ANSWER>")[0]


@defect("template_differs_from_rule", also="template_field_ungraded")
def asked_by_another_name(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    name = next(iter(item.config["ground_truth"]))
    item.data["task"] = item.data["task"].replace(f'"{name}"', '"demo_unasked"')


@defect("template_differs_from_rule", also="template_field_ungraded")
def choice_by_another_name(bench: Bench) -> Iterator[str]:
    item = bench.add(choice("Q"), {"answer": '"<letter>"'})
    yield item.path
    item.data["task"] = template({"letter": '"<letter>"'})


@defect("template_differs_from_rule")
def not_asked_at_all(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, 3), m=(8003, 2)), {"n": "<int>", "m": "<int>"})
    yield item.path
    item.data["task"] = template({"n": "<int>"})


@defect("template_field_ungraded")
def asked_for_nothing(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, 3)), {"n": "<int>"})
    yield item.path
    item.data["task"] = template({"n": "<int>", "method": '"<text>"'})


@defect("accession_in_text")
def series_in_prompt(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["task"] = "The counts come from GSE999999.\n" + item.data["task"]


@defect("accession_in_text", "epibench")
def article_in_notes(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["notes"] = "See doi 10.9999/invented.2026 for the figure."


@defect("accession_in_text", "variantbench", also="metadata_mixed_types")
def project_in_metadata(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["metadata"]["assay"] = "PRJNA999999"


@defect("local_path_in_text")
def home_in_prompt(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["task"] = "Open /Users/nobody/data/counts.h5ad.\n" + item.data["task"]


@defect("local_path_in_text", "epibench")
def drive_in_notes(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["notes"] = r"Made from C:\Users\nobody\peaks.bed on a laptop."


# --- tolerances --------------------------------------------------------------------------------------


@defect("tolerance_without_truth")
def tolerance_left_over(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.config["tolerances"]["demo_gone"] = {"type": "absolute", "value": 1}


@defect("truth_without_tolerance")
def tolerance_forgotten(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, 3), m=(8003, 2)), {"n": "<int>", "m": "<int>"})
    yield item.path
    del item.config["tolerances"]["m"]


@defect("tolerance_type_unknown")
def tolerance_in_percent(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, 3)), {"n": "<int>"})
    yield item.path
    item.config["tolerances"]["n"]["type"] = "percent"


@defect("tolerance_key_unknown")
def tolerance_misspelt(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, 3)), {"n": "<int>"})
    yield item.path
    item.config["tolerances"]["n"]["plus_minus"] = 3


@defect("tolerance_not_an_object")
def tolerance_bare(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, 3)), {"n": "<int>"})
    yield item.path
    item.config["tolerances"]["n"] = 3


@defect("tolerance_offsets_unsettled")
def one_offset(bench: Bench) -> Iterator[str]:
    item = bench.add(
        numeric(n=(7001, {"type": "absolute", "lower": 3, "upper": 4})), {"n": "<int>"}
    )
    yield item.path
    del item.config["tolerances"]["n"]["upper"]


@defect("tolerance_offsets_unsettled")
def offsets_and_value(bench: Bench) -> Iterator[str]:
    item = bench.add(
        numeric(n=(7001, {"type": "absolute", "lower": 3, "upper": 4})), {"n": "<int>"}
    )
    yield item.path
    item.config["tolerances"]["n"]["value"] = 4


@defect("tolerance_offsets_unsettled")
def offsets_of_a_share(bench: Bench) -> Iterator[str]:
    item = bench.add(
        numeric(n=(7001, {"type": "absolute", "lower": 3, "upper": 4})), {"n": "<int>"}
    )
    yield item.path
    item.config["tolerances"]["n"]["type"] = "relative"


@defect("tolerance_legacy_form")
def one_tolerance_for_all(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, 3)), {"n": "<int>"})
    yield item.path
    del item.config["tolerances"]
    item.config["tolerance"] = 3


@defect("bound_differs_from_truth")
def bound_below_truth(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, {"type": "min", "value": 7001})), {"n": "<int>"})
    yield item.path
    item.config["tolerances"]["n"]["value"] = 6500


@defect("exact_match_on_fraction")
def fraction_to_the_last_bit(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(71.375, 0.5)), {"x": "<float>"})
    yield item.path
    item.config["tolerances"]["x"]["value"] = 0


@defect("rounded_truth_fails")
def fewer_digits_in_prompt(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(71.3756, 0.001)), {"x": "<float>"})
    yield item.path
    item.data["task"] = "Round the result to one decimal.\n" + item.data["task"]


@defect("rounded_truth_fails")
def fewer_digits_in_template(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(71.3756, 0.001)), {"x": "<float>"})
    yield item.path
    item.data["task"] = template({"x": "<float, 2 decimals>"})


@defect("rounded_truth_fails")
def whole_number_of_a_fraction(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(71.375, 0.125)), {"x": "<float>"})
    yield item.path
    item.data["task"] = template({"x": "<int>"})


@defect("tolerance_below_rounding")
def tolerance_under_half_a_digit(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(71.25, 0.001)), {"x": "<float>"})
    yield item.path
    item.data["task"] = "Report it rounded to two decimal places.\n" + item.data["task"]


# --- grader objects ----------------------------------------------------------------------------------


@defect("grader_object_malformed")
def grader_without_config(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    del item.data["grader"]["config"]


@defect("grader_object_malformed")
def grader_without_type(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    del item.data["grader"]["type"]


@defect("graders_not_a_list", "epibench")
def graders_empty(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["graders"] = []


@defect("grader_key_unknown")
def config_key_misspelt(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.config["tolerances_by_field"] = {}


@defect("grader_key_unknown")
def scoring_key_misspelt(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    yield item.path
    item.config["scoring"]["passthreshold"] = 0.8


@defect("grader_key_misplaced")
def threshold_beside_scoring(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    yield item.path
    item.config["pass_threshold"] = item.config.pop("scoring")["pass_threshold"]


@defect("grader_key_misplaced")
def thresholds_beside_scoring(bench: Bench) -> Iterator[str]:
    item = bench.add(markers("DEMO1", "DEMO2", "DEMO3"), {"genes": LIST})
    yield item.path
    item.config["pass_thresholds"] = item.config["scoring"].pop("pass_thresholds")


@defect("threshold_unreachable", also="truth_fails_rule")
def threshold_in_percent(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    yield item.path
    item.config["scoring"]["pass_threshold"] = 80


@defect("label_repeated")
def label_twice(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    yield item.path
    item.config["ground_truth_labels"].append(NAMES[1])


@defect("label_repeated")
def gene_twice(bench: Bench) -> Iterator[str]:
    item = bench.add(markers("DEMO1", "DEMO2", "DEMO3"), {"genes": LIST})
    yield item.path
    item.config["canonical_markers"].append("Demo2")


@defect("choice_not_among_options")
def choice_not_offered(bench: Bench) -> Iterator[str]:
    item = bench.add(choice("Q", options=["Q", "R", "S"]), {"answer": '"<letter>"'})
    yield item.path
    item.config["correct_answer"] = "V"


@defect("expected_count_differs", also="truth_fails_rule")
def another_count(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES, expected_count=5), {"labels": LIST})
    yield item.path
    item.config["expected_count"] = 4


@defect("answer_field_unstated")
def field_left_to_guess(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    yield item.path
    del item.config["answer_field"]


@defect("distribution_sum_off")
def share_left_out(bench: Bench) -> Iterator[str]:
    asked = {"cell_type_distribution": '{"<type>": <float>}'}
    item = bench.add(distribution(one=62.5, two=37.5), asked)
    yield item.path
    item.config["ground_truth"]["cell_type_distribution"]["two"] = 12.5


# --- what passes -------------------------------------------------------------------------------------


@defect("passes_on_zeros", also="window_contains_zero")
def zeros_pass(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(0.375, 0.125), y=(2.5, 0.5)), {"x": "<float>", "y": "<float>"})
    yield item.path
    item.config["tolerances"]["x"]["value"] = 0.5
    item.config["tolerances"]["y"]["value"] = 2.5


@defect("passes_on_zeros")
def zeros_are_right(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(12, 1), y=(17, 2)), {"x": "<int>", "y": "<int>"})
    yield item.path
    item.config["ground_truth"] = {"x": 0, "y": 0}


@defect("passes_on_empty")
def empty_list_passes(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    yield item.path
    item.config["scoring"]["pass_threshold"] = 0


@defect("passes_on_empty")
def no_gene_passes(bench: Bench) -> Iterator[str]:
    item = bench.add(markers("DEMO1", "DEMO2", "DEMO3"), {"genes": LIST})
    yield item.path
    limits = item.config["scoring"]["pass_thresholds"]
    limits.update(precision_at_k=0, recall_at_k=0)


@defect("passes_on_constant")
def ones_pass(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(1.25, 0.125), y=(1.5, 0.125)), {"x": "<float>", "y": "<float>"})
    yield item.path
    for entry in item.config["tolerances"].values():
        entry["value"] = 0.625


@defect("window_contains_zero")
def zero_within_offsets(bench: Bench) -> Iterator[str]:
    entry = {"type": "absolute", "lower": 0.25, "upper": 0.5}
    item = bench.add(numeric(x=(1.375, entry), n=(7001, 3)), {"x": "<float>", "n": "<int>"})
    yield item.path
    item.config["tolerances"]["x"]["lower"] = 1.5


@defect("window_contains_zero", also="bound_differs_from_truth passes_on_zeros")
def zero_below_maximum(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(1.375, 0.25)), {"x": "<float>"})
    yield item.path
    item.config["tolerances"]["x"] = {"type": "max", "value": 1.5}


@defect("window_never_fails")
def infinite_tolerance(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(71.375, 0.5), n=(7001, 3)), {"x": "<float>", "n": "<int>"})
    yield item.path
    item.config["tolerances"]["x"]["value"] = 1e305


@defect("window_never_fails", also="bound_differs_from_truth")
def bound_without_effect(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(71.375, 0.5), n=(7001, 3)), {"x": "<float>", "n": "<int>"})
    yield item.path
    item.config["tolerances"]["x"] = {"type": "min", "value": -1e305}


@defect("window_covers_range", also="window_contains_zero")
def every_fraction_passes(bench: Bench) -> Iterator[str]:
    asked = {"x": "<float between 0-1>", "n": "<int>"}
    item = bench.add(numeric(x=(0.375, 0.125), n=(7001, 3)), asked)
    yield item.path
    item.config["tolerances"]["x"]["value"] = 0.75


@defect("truth_fails_rule", also="bound_differs_from_truth")
def truth_below_minimum(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(n=(7001, {"type": "min", "value": 7001})), {"n": "<int>"})
    yield item.path
    item.config["tolerances"]["n"]["value"] = 7500


@defect("truth_fails_rule", also="bound_differs_from_truth")
def child_fails_its_truth(bench: Bench) -> Iterator[str]:
    children = [numeric(n=(7001, {"type": "max", "value": 7001})), labels(*NAMES)]
    grader = {"type": "all_of", "config": {"pass_rule": "all", "children": children}}
    item = bench.add(grader, {"n": "<int>", "labels": LIST})
    yield item.path
    item.config["children"][0]["config"]["tolerances"]["n"]["value"] = 6500


# --- vocabularies ------------------------------------------------------------------------------------


def _beside(path: str) -> str:
    return path.replace("eval.json", "vocabulary.json")


@defect("vocabulary_malformed", "scbench-long")
def vocabulary_of_numbers(bench: Bench) -> Iterator[str]:
    path = _beside(bench.pick().path)
    yield path
    bench.tree.put_json(path, {"terms": {"DEMO_TERM_1": 1}})


@defect("vocabulary_repeats", "scbench-long")
def word_twice(bench: Bench) -> Iterator[str]:
    path = _beside(bench.pick().path)
    yield path
    bench.tree.put_json(path, {"terms": ["DEMO_TERM_1", "DEMO_TERM_2", "demo_term_1"]})


@defect("vocabulary_lacks_label", "scbench-long")
def label_not_offered(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    bench.tree.put_json(_beside(item.path), [*NAMES, "DEMO_FOXTROT", "DEMO_GOLF"])
    yield _beside(item.path)
    bench.tree.put_json(_beside(item.path), [*NAMES[1:], "DEMO_FOXTROT", "DEMO_GOLF"])


@defect("vocabulary_equals_labels", "scbench-long")
def labels_alone_offered(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    bench.tree.put_json(_beside(item.path), [*NAMES, "DEMO_FOXTROT", "DEMO_GOLF"])
    yield _beside(item.path)
    bench.tree.put_json(_beside(item.path), list(reversed(NAMES)))


# --- runs --------------------------------------------------------------------------------------------


@defect("timeout_not_honoured")
def declared_and_not_used(bench: Bench) -> Iterator[str]:
    item = bench.item("evals/clustering/demo_clust_04_largest.json")
    yield item.path
    item.data["metadata"]["timeout_s"] = 600


@defect("timeout_not_a_number", also="metadata_mixed_types timeout_not_honoured")
def timeout_as_text(bench: Bench) -> Iterator[str]:
    item = bench.item("evals/clustering/demo_clust_04_largest.json")
    item.data["metadata"]["timeout_s"] = 21_600
    yield item.path
    item.data["metadata"]["timeout_s"] = "6 h"


@defect("timeout_not_a_number", "epibench")
def no_time_at_all(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["metadata"]["timeout_s"] = 0


# --- what gives an answer away -----------------------------------------------------------------------


def _append(bench: Bench, text: str) -> None:
    bench.tree.put("README.md", bench.tree.text("README.md").decode() + f"\n{text}\n")


@defect("readme_gives_answer")
def truth_as_example(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield "README.md"
    _append(bench, f"```json\n{json.dumps(item.config['ground_truth'], indent=2)}\n```")


@defect("readme_gives_answer", "spatialbench")
def passing_dictionary(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    yield "README.md"
    _append(
        bench, f"    return {{'answer': {{'labels': {list(item.config['ground_truth_labels'])}}}}}"
    )


@defect("prompt_gives_answer")
def truth_in_prompt(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    truth = next(iter(item.config["ground_truth"].values()))
    item.data["task"] = f"Others found {truth} of them.\n" + item.data["task"]


@defect("notes_give_answer")
def truth_in_notes(bench: Bench) -> Iterator[str]:
    item = bench.add(numeric(x=(71.3756, 0.5)), {"x": "<float>"}, notes="An invented remark.")
    yield item.path
    item.data["notes"] = "The paper says 71.3756, which we confirm."


@defect("notes_give_answer")
def label_in_notes(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST}, notes="An invented remark.")
    yield item.path
    item.data["notes"] = f"{NAMES[2]} is the one that most miss."


@defect("metadata_gives_answer", also="metadata_constant")
def truth_in_metadata(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    yield item.path
    item.data["metadata"]["graded_biological_result"] = f"{NAMES[0]} and others"


@defect("metadata_gives_answer")
def label_in_the_id(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    yield item.path
    item.data["id"] = "qc_demo_bravo_or_not"


@defect("field_name_gives_answer")
def label_in_the_template(bench: Bench) -> Iterator[str]:
    children = [labels(*NAMES), numeric(n_cells=(7001, 3))]
    grader = {"type": "all_of", "config": {"pass_rule": "all", "children": children}}
    item = bench.add(grader, {"labels": LIST, "n_cells": "<int>"})
    yield item.path
    item.config["children"][1] = numeric(n_demo_bravo_cells=(7001, 3))
    item.data["task"] = template({"labels": LIST, "n_demo_bravo_cells": "<int>"})


@defect("field_name_gives_answer", "spatialbench-long")
def label_in_recorded_fields(bench: Bench) -> Iterator[str]:
    item = bench.item("evals/demo_slong_01_multilayer/eval.json")
    yield item.path
    for path in bench.tree.below(f"trajectories/{item.data['id']}"):
        if path.endswith(b"/result.json"):
            record = bench.tree.json(path)
            answer = {"state": "demo delta"}
            graded = {"agent_answer": answer, "field_scores": {"state_is_demo_delta": 1.0}}
            record["result"]["grader_result"] |= {**graded, "passed": True}
            bench.tree.put_json(path, record)


# --- files -------------------------------------------------------------------------------------------


@defect("editor_junk", "epibench")
def swap_file(bench: Bench) -> Iterator[str]:
    yield "evals/.manifest.json.swp"
    bench.tree.put("evals/.manifest.json.swp", b"b0VIM 9.0\0synthetic")


@defect("editor_junk")
def desktop_file(bench: Bench) -> Iterator[str]:
    yield "evals/.DS_Store"
    bench.tree.put("evals/.DS_Store", b"\0\0\0\1Bud1")


@defect("editor_junk")
def backup_file(bench: Bench) -> Iterator[str]:
    yield "docs/guide.md~"
    bench.tree.put("docs/guide.md~", "An older state.\n")


@defect("executable_file")
def executable_evaluation(bench: Bench) -> Iterator[str]:
    path = bench.rng.choice([p.decode() for p in bench.tree.below("evals")])
    yield path
    bench.tree.put(path, bench.tree.text(path), "100755")


@defect("path_case_collision")
def two_readmes(bench: Bench) -> Iterator[str]:
    yield "readme.md"
    bench.tree.put("readme.md", "Another one.\n")


@defect("symlink_in_tree")
def link_to_readme(bench: Bench) -> Iterator[str]:
    yield "docs/latest.md"
    bench.tree.link("docs/latest.md", "../README.md")


@defect("json_nan_token")
def nan_in_results(bench: Bench) -> Iterator[str]:
    yield "results/summary.json"
    bench.tree.put("results/summary.json", '{"mean": NaN, "note": "NaN means none"}\n')


@defect("json_unreadable")
def results_cut_off(bench: Bench) -> Iterator[str]:
    yield "results/summary.json"
    bench.tree.put("results/summary.json", '{"mean": 0.5, "n":\n')


@defect("text_line_ends")
def table_from_windows(bench: Bench) -> Iterator[str]:
    yield "results/models.csv"
    bench.tree.put("results/models.csv", "model,n\r\none,1\r\n")


@defect("text_not_utf8")
def table_in_latin1(bench: Bench) -> Iterator[str]:
    yield "results/models.csv"
    bench.tree.put("results/models.csv", b"model,n\ncaf\xe9,1\n")


@defect("path_unportable")
def name_of_a_device(bench: Bench) -> Iterator[str]:
    yield "docs/con.md"
    bench.tree.put("docs/con.md", "Text.\n")


@defect("secret_file")
def private_key(bench: Bench) -> Iterator[str]:
    yield "deploy/id_rsa"
    bench.tree.put("deploy/id_rsa", "invented\n")


@defect("text_damaged")
def letters_lost(bench: Bench) -> Iterator[str]:
    item = bench.pick()
    yield item.path
    item.data["task"] = "Don\u00e2\u20ac\u2122t filter.\n" + item.data["task"]


# --- graders that decide nothing ---------------------------------------------------------------------


@defect("truth_empty", also="truth_fails_rule")
def genes_left_out(bench: Bench) -> Iterator[str]:
    item = bench.add(markers("DEMO1", "DEMO2", "DEMO3"), {"genes": LIST})
    yield item.path
    item.config["canonical_markers"] = []


@defect("grader_undecided")
def choice_left_out(bench: Bench) -> Iterator[str]:
    item = bench.add(choice("Q", options=["Q", "R"]), {"answer": '"<letter>"'})
    yield item.path
    del item.config["correct_answer"]


@defect("label_odd")
def label_with_space(bench: Bench) -> Iterator[str]:
    item = bench.add(labels(*NAMES), {"labels": LIST})
    yield item.path
    item.config["ground_truth_labels"][0] += " "


@defect("share_impossible")
def share_below_zero(bench: Bench) -> Iterator[str]:
    asked = {"cell_type_distribution": '{"<type>": <float>}'}
    item = bench.add(distribution(one=62.5, two=37.5), asked)
    yield item.path
    item.config["ground_truth"]["cell_type_distribution"].update(one=112.5, two=-12.5)


@defect("passes_on_any_shares")
def shares_of_any_size(bench: Bench) -> Iterator[str]:
    asked = {"cell_type_distribution": '{"<type>": <float>}'}
    item = bench.add(distribution(one=62.5, two=37.5), asked)
    yield item.path
    item.config["tolerances"]["cell_type_percentages"]["value"] = 100


@defect("passes_on_any_choice")
def all_options_right(bench: Bench) -> Iterator[str]:
    item = bench.add(choice("Q", options=["Q", "R"]), {"answer": '"<letter>"'})
    yield item.path
    del item.config["correct_answer"]
    item.config["correct_answers"] = ["Q", "R"]


@defect("choice_repeated")
def option_twice(bench: Bench) -> Iterator[str]:
    item = bench.add(choice("Q", options=["Q", "R"]), {"answer": '"<letter>"'})
    yield item.path
    item.config["options"] = ["Q", "R", "r"]


@defect("children_contradict")
def two_truths(bench: Bench) -> Iterator[str]:
    children = [numeric(n=(7001, 3)), labels(*NAMES)]
    grader = {"type": "all_of", "config": {"pass_rule": "all", "children": children}}
    item = bench.add(grader, {"n": "<int>", "labels": LIST})
    yield item.path
    item.config["children"].append(numeric(n=(9001, 3)))


@defect("offsets_look_like_bounds")
def bounds_as_offsets(bench: Bench) -> Iterator[str]:
    entry = {"type": "absolute", "lower": 3, "upper": 4}
    item = bench.add(numeric(n=(7001, entry)), {"n": "<int>"})
    yield item.path
    item.config["tolerances"]["n"].update(lower=6998, upper=7005)


# --- files of runs -----------------------------------------------------------------------------------


def _run_folder(bench: Bench) -> str:
    paths = [path.decode() for path in bench.tree.below("trajectories")]
    return bench.rng.choice([p for p in paths if p.endswith("/result.json")]).rpartition("/")[0]


@defect("run_repeated")
def run_copied(bench: Bench) -> Iterator[str]:
    folder = _run_folder(bench)
    yield f"{folder}x/result.json"
    for path in bench.tree.below(folder):
        bench.tree[path.replace(folder.encode(), f"{folder}x".encode())] = bench.tree[path]


@defect("run_record_missing")
def record_lost(bench: Bench) -> Iterator[str]:
    folder = _run_folder(bench)
    yield f"{folder}/eval_answer.json"
    del bench.tree[f"{folder}/result.json".encode()]


@defect("run_answer_missing")
def answer_lost(bench: Bench) -> Iterator[str]:
    folder = _run_folder(bench)
    yield f"{folder}/result.json"
    del bench.tree[f"{folder}/eval_answer.json".encode()]
