"""Findings about published numbers."""

from __future__ import annotations

from benchproof.severity import Rule

RULES: dict[str, Rule] = {
    "published_recomputed_differs": Rule(
        "critical",
        "A published accuracy does not follow from the recorded runs of the evaluations it covers.",
        "Recompute the table, or publish the runs that it was computed from.",
    ),
    "published_total_differs": Rule(
        "major",
        "A published total is not the sum of its parts.",
        "Recompute both tables from the same runs.",
    ),
    "published_off_grid": Rule(
        "major",
        "No number of passed runs gives this accuracy with the stated evaluations and replicates.",
        "State which replicates are missing, or correct the accuracy or the counts.",
    ),
    "published_interval_off_centre": Rule(
        "major",
        "A published interval is not symmetric about its accuracy, as a t interval is.",
        "Recompute the interval; don't clip it to 0 and 100, or say so.",
    ),
    "published_interval_impossible": Rule(
        "major",
        "A published interval is wider than this accuracy over its evaluations allows, or upside down.",
        "Recompute the interval, or state how many evaluations it rests on.",
    ),
    "published_public_runs_exceed": Rule(
        "critical",
        "The public runs alone hold more passes or failures than the published accuracy has room for.",
        "Recompute the table, or say which public runs it leaves out.",
    ),
    "readme_count_differs": Rule(
        "minor",
        "A README states another number of evaluations than the tables rest on, or than are public.",
        "Correct the number.",
    ),
    "published_tables_disagree": Rule(
        "major",
        "Two published tables give different values of one quantity.",
        "Correct the outdated one, or generate one from the other.",
    ),
    "published_sizes_differ": Rule(
        "major",
        "The published sizes of the parts do not add up to the published number of evaluations.",
        "Correct the sizes, or say which evaluations stand in no part or in two.",
    ),
    "published_model_unlisted": Rule(
        "info",
        "A model stands in a table of parts and in no table of totals, so that its sums show nowhere.",
        "List it among the totals, or leave it out of the parts.",
    ),
    "published_rate_differs": Rule(
        "major",
        "A published pass rate is not its passed runs over its runs.",
        "Correct the rate or the counts.",
    ),
    "published_not_a_number": Rule(
        "minor",
        "A published accuracy is not a number.",
        "Say why there is none, or leave the row out.",
    ),
    "published_unreadable": Rule(
        "minor",
        "A published results file cannot be read; nothing in it was checked.",
        "Repair the file.",
    ),
    "published_shape_unknown": Rule(
        "info",
        "A published results file has a shape that is not known; nothing in it was checked.",
        "None needed; tell us about the shape.",
    ),
}
