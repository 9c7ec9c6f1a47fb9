"""The graders' rules in words, with their sources, and what the columns beside a verdict mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_MARKERS: Final = (
    "the share of the submitted genes that are canonical and the share of the canonical genes that were "
    "submitted must reach `scoring.pass_thresholds` (0.60 and 0.50 by default), over sets of lowercased names"
)
_LABELS: Final = (
    "the labels in both sets over the labels in either must reach `scoring.pass_threshold` (0.90 by "
    "default); labels count as they stand, repeated ones once"
)
_ALL_OF: Final = (
    "every child and every gate must pass, no hard fail may hit; the score is 1, or else 0"
)
#: What passes under each grader type, and which public source says so.
GRADERS: Final[Mapping[str, tuple[str, str]]] = {
    "numeric_tolerance": (
        "every key of `ground_truth` must be answered by a number that is close enough; the score is the "
        "mean of the fields",
        "the paper's appendix C, the recorded verdicts; what is absent: the older public grader",
    ),
    "numeric_range": (
        "every number must lie between the bounds of its field; on a bound no source decides",
        "the grader library's README",
    ),
    "multiple_choice": (
        "the text under `answer`, trimmed and in capitals, must be the right one",
        "the paper's appendix C",
    ),
    "label_set_jaccard": (_LABELS, "the paper's appendix C, the older public grader"),
    "jaccard_label_set": (_LABELS, "the paper's appendix C, the older public grader"),
    "marker_gene_precision_recall": (_MARKERS, "the paper's appendix C, the older public grader"),
    "marker_gene_separation": (
        "the stated mean AUROC and the share of genes above the cut must both reach their thresholds",
        "the older public grader and its documentation",
    ),
    "distribution_comparison": (
        "each expected category must be within the tolerance, in points, of the submitted share",
        "the paper's appendix C, the older public grader",
    ),
    "spatial_adjacency": (
        "four stated numbers must keep their bounds, and the answer's own flag must be true",
        "the older public grader and its documentation",
    ),
    "longest_subsequence": (
        "the longest common subsequence over the longer list is the score; where it passes is not published "
        "without a threshold",
        "the grader library's README",
    ),
    "finished_file": (
        "the trimmed contents of the file must equal the expected word",
        "the grader library's README",
    ),
    "rubric_length_penalty": (
        "arithmetic of a length penalty alone; it gives no verdict",
        "the grader library's README",
    ),
    "all_of": (_ALL_OF, "the grader library's README"),
    "composite": (_ALL_OF, "the grader library's README"),
    "average_of": (
        "the score is the mean of the children's scores; what passes is said by `pass_rule`",
        "the grader library's README",
    ),
    "graders[]": (
        "a list of graders: how it passes is not published, so it is graded only where all agree",
        "the grader library's README, inference",
    ),
}
#: What each mode of a tolerance asks, x being the answer and t the expected value.
MODES: Final[Mapping[str, str]] = {
    "symmetric": "abs(x - t) <= value",
    "exact": "x = t",
    "offsets": "t - lower <= x <= t + upper, in both forms of rounding",
    "relative": "abs(x - t) / abs(t) <= value",
    "min": "x >= value",
    "max": "x <= value",
}
#: How strong the weakest source is that a verdict needs.
TIERS: Final[Mapping[str, str]] = {
    "A": "published: paper, README or recorded verdicts",
    "B": "older public code or published configurations",
    "C": "inferred",
}
EDGES: Final[Mapping[str, str]] = {
    "on_bound": "a number stands exactly on its bound, where <= passes",
    "within_ulp": "a number is within one rounding step of its bound",
    "clear": "no number is near its bound",
}
