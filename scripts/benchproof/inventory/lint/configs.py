"""Grader objects: keys that their type knows, thresholds where they are read, sets that can be answered."""

from __future__ import annotations

import math
from string import ascii_uppercase

from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Evaluation
from benchproof.inventory.lint.trial import (
    CHOICE,
    DISTRIBUTION,
    LABELS,
    MARKERS,
    field_of,
    labels,
)

_SET = frozenset(("answer_field", "expected_count", "scoring", "description"))
_JOINED = frozenset(("children", "pass_rule", "description"))
#: Keys of `config` that published rules or configurations give a meaning to, by type.
_KEYS: dict[str, frozenset[str]] = {
    "numeric_tolerance": frozenset(("ground_truth", "tolerances", "tolerance", "description")),
    "numeric_range": frozenset(("ground_truth", "ranges", "description")),
    CHOICE: frozenset(("correct_answer", "correct_answers", "options", "description")),
    **dict.fromkeys(LABELS, _SET | {"ground_truth_labels"}),
    MARKERS: _SET | {"canonical_markers", "min_recall_per_celltype", "min_celltypes_passing"},
    DISTRIBUTION: frozenset(("ground_truth", "tolerances", "description")),
    "marker_gene_separation": frozenset(("scoring", "description")),
    "spatial_adjacency": frozenset(("scoring", "description")),
    **dict.fromkeys(("all_of", "composite"), _JOINED),
    "average_of": _JOINED | {"min_passing_children", "score_threshold"},
    "longest_subsequence": _SET | {"ground_truth"},
    "finished_file": frozenset(("expected", "description")),
}
#: Keys one level below: of thresholds, and of the tolerances of a distribution.
_INNER: dict[str, dict[str, frozenset[str]]] = {
    MARKERS: {
        "pass_thresholds": frozenset(
            ("precision_at_k", "recall_at_k", "min_recall_per_celltype", "min_celltypes_passing")
        )
    },
    "marker_gene_separation": {
        "pass_thresholds": frozenset(("mean_auroc", "fraction_high", "per_gene_cutoff"))
    },
    "spatial_adjacency": {
        "pass_thresholds": frozenset(
            (
                *("max_median_ic_to_pc_um", "max_p90_ic_to_pc_um"),
                *("min_pct_ic_within_15um", "min_pct_ic_mixed_within_55um"),
            )
        )
    },
    DISTRIBUTION: {"tolerances": frozenset(("cell_type_percentages", "total_cells"))},
}
_SCORING = frozenset(
    ("method", "pass_threshold", "pass_thresholds", "set_definition", "description")
)
_MISPLACED = frozenset(("threshold", "pass_threshold", "pass_thresholds"))
_HUGE = 1e15
#: Types whose thresholds are shares of something, so that more than 1 is never reached.
_SHARES = (*LABELS, MARKERS, "marker_gene_separation", "longest_subsequence")


@LINT.evaluation(
    "grader_object_malformed",
    "major",
    "A grader lacks its type or its configuration.",
    "Write {type, config}.",
)
def grader_object_malformed(evaluation: Evaluation) -> Places:
    """No object, no text as type, or no object as config; predicates in a composite have no type."""
    for grader in evaluation.graders:
        whole = isinstance(grader.value, dict)
        configured = whole and isinstance(grader.value.get("config"), dict)
        if not whole or (grader.top and grader.type is None) or (grader.type and not configured):
            yield Place(pointer=grader.pointer)


@LINT.evaluation(
    "graders_not_a_list",
    "major",
    "`graders` is no list, or an empty one; nothing grades this evaluation.",
    "List the graders, or leave the key out.",
)
def graders_not_a_list(evaluation: Evaluation) -> Places:
    """`graders` that holds no grader."""
    listed = evaluation.value.get("graders", [None])
    if not isinstance(listed, list) or not listed:
        yield Place(pointer="/graders")


@LINT.evaluation(
    "grader_key_unknown",
    "minor",
    "A grader's configuration has a key that its type gives no meaning to.",
    "Delete it, or correct its name.",
)
def grader_key_unknown(evaluation: Evaluation) -> Places:
    """A key that is not read; misplaced thresholds have a rule of their own."""
    for grader in evaluation.graders:
        known = _KEYS.get(grader.type or "")
        for number, key in enumerate(grader.config if known else ()):
            if known and key not in known | _MISPLACED:
                yield Place(pointer=f"{grader.pointer}/config/{number}")
        for number, key in enumerate(grader.section("scoring") if known else ()):
            if key not in _SCORING:
                yield Place(pointer=f"{grader.pointer}/config/scoring/{number}")
        for section, read in _INNER.get(grader.type or "", {}).items():
            found = grader.section("scoring").get(section, grader.config.get(section))
            for number, key in enumerate(found if isinstance(found, dict) else ()):
                if key not in read:
                    yield Place(pointer=f"{grader.pointer}/config/{section}/{number}")


@LINT.evaluation(
    "grader_key_misplaced",
    "major",
    "A threshold stands beside `scoring` instead of inside it; graders that look there use the default.",
    "Move it into `scoring`, as pass_threshold or pass_thresholds.",
)
def grader_key_misplaced(evaluation: Evaluation) -> Places:
    """A threshold at the first level of a configuration."""
    for grader in evaluation.graders:
        for key in sorted(_MISPLACED & set(grader.config)):
            if grader.type in _KEYS:
                yield Place(pointer=f"{grader.pointer}/config/{key}")


@LINT.evaluation(
    "threshold_unreachable",
    "critical",
    "A threshold is above 1; no answer can reach it.",
    "State thresholds as shares from 0 to 1.",
)
def threshold_unreachable(evaluation: Evaluation) -> Places:
    """A share of more than 1, or a threshold that is no number."""
    for grader in evaluation.graders:
        scoring = grader.section("scoring") if grader.type in _SHARES else {}
        many = scoring.get("pass_thresholds")
        stated = {"pass_threshold": scoring.get("pass_threshold", 0)}
        stated |= many if isinstance(many, dict) else {}
        for key, share in sorted(stated.items(), key=lambda pair: str(pair[0])):
            if isinstance(share, bool) or not isinstance(share, int | float) or share > 1:
                name = key if key == "pass_threshold" else "pass_thresholds"
                yield Place(pointer=f"{grader.pointer}/config/scoring/{name}")


@LINT.evaluation(
    "label_repeated",
    "minor",
    "A graded label or gene is listed twice.",
    "Delete the repetition.",
)
def label_repeated(evaluation: Evaluation) -> Places:
    """Equal entries of a truth that is read as a set; marker names are read without case."""
    for grader in evaluation.graders:
        listed = labels(grader)
        folded = [item.lower() if grader.type == MARKERS else item for item in listed]
        if len(set(folded)) < len(folded):
            yield Place(pointer=f"{grader.pointer}/config")


@LINT.evaluation(
    "choice_not_among_options",
    "critical",
    "The right choice is not among the options that the grader lists.",
    "Correct the choice or the options.",
)
def choice_not_among_options(evaluation: Evaluation) -> Places:
    """`correct_answer` is no option, neither as a text nor by the letter that an option begins with."""
    for grader in evaluation.graders:
        options, chosen = grader.config.get("options"), grader.config.get("correct_answer")
        listed = list(options) if isinstance(options, list | dict) else []
        names = [str(item).strip().upper() for item in listed]
        if grader.type == CHOICE and names and isinstance(chosen, str):
            wanted = chosen.strip().upper()
            letters = set(ascii_uppercase[: len(names)])
            begins = [name for name in names if name[: len(wanted) + 1].rstrip(").: ") == wanted]
            if wanted not in names and not begins and wanted not in letters:
                yield Place(pointer=f"{grader.pointer}/config/options")


@LINT.evaluation(
    "expected_count_differs",
    "critical",
    "The number of entries that an answer must have differs from the number in the truth.",
    "Make the two equal.",
)
def expected_count_differs(evaluation: Evaluation) -> Places:
    """`expected_count` isn't the number of graded labels; of markers fewer may be asked for, not more."""
    for grader in evaluation.graders:
        count, listed = grader.config.get("expected_count"), labels(grader)
        differs = grader.type in LABELS and count != len(set(listed))
        fewer = grader.type == MARKERS and isinstance(count, int) and count > len(set(listed))
        if listed and count is not None and (differs or fewer):
            yield Place(pointer=f"{grader.pointer}/config/expected_count")


@LINT.evaluation(
    "answer_field_unstated",
    "minor",
    "A set grader names no `answer_field`, and the prompt asks for another field than the one it reads by "
    "default.",
    "State `answer_field`.",
)
def answer_field_unstated(evaluation: Evaluation) -> Places:
    """Which list is graded is not published."""
    asked = evaluation.template.fields if evaluation.template else {}
    for grader in evaluation.graders:
        unstated = grader.type in (*LABELS, MARKERS) and "answer_field" not in grader.config
        if unstated and asked and field_of(grader) not in asked:
            yield Place(pointer=f"{grader.pointer}/config")


@LINT.evaluation(
    "distribution_sum_off",
    "info",
    "The shares of a graded distribution sum up neither to 1 nor to 100.",
    "Correct the shares, or say what is left out.",
)
def distribution_sum_off(evaluation: Evaluation) -> Places:
    """Percentages that are more than one point off."""
    for grader in evaluation.graders:
        shares = grader.section("ground_truth").get("cell_type_distribution")
        if grader.type == DISTRIBUTION and isinstance(shares, dict):
            numbers = [v for v in shares.values() if isinstance(v, int | float)]
            # Integers may be larger than any float: such a share is off whatever the others are.
            total = math.fsum(v if abs(v) < _HUGE else math.inf for v in numbers)
            if abs(total - 100) > 1 and abs(total - 1) > 0.01:
                yield Place(pointer=f"{grader.pointer}/config/ground_truth")
