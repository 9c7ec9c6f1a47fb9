"""The linter's own seeds, through the whole pipeline."""

from __future__ import annotations

from typing import Final

from defects.cases import Kind, add
from defects.seeds import SEEDS, Seed

GRADING: Final = (
    *("tolerance", "truth", "bound", "exact", "rounded", "grader", "threshold", "label", "choice"),
    *(
        "share",
        "children",
        "offsets",
        "expected",
        "answer_field",
        "distribution",
        "passes",
        "window",
    ),
)
TREE: Final = ("secret", "editor", "executable", "path", "symlink")
#: What the linter does not say of a seed, and other stages do.
BESIDE: Final = {
    **dict.fromkeys(("nan_in_results", "results_cut_off", "table_in_latin1"), ("published_*",)),
    **dict.fromkeys(("grader_without_config", "grader_without_type"), ("grader_*",)),
    **dict.fromkeys(("data_node_as_number", "no_handle"), ("handle_malformed",)),
    "run_copied": ("run_path_unknown",),
    "label_in_the_id": ("id_differs_from_stem",),
    "label_in_recorded_fields": ("answer_differs", "*_contradicts_itself"),
}


def kind_of(rule: str) -> Kind:
    """Return the kind that a rule's defects belong to."""
    if rule in ("id_differs_from_manifest", "task_differs_from_manifest"):
        return "manifest"
    if rule.startswith(("timeout", "run_")):
        return "runs"
    return "graders" if rule.startswith(GRADING) else "tree" if rule.startswith(TREE) else "files"


def _enter(seed: Seed) -> None:
    name = f"{seed.rule}_{seed.plant.__name__}"
    words = seed.plant.__name__.replace("_", " ")
    says = words[0].upper() + words[1:]
    seen = (f"findings {seed.rule} {{path}}",)
    also = tuple(
        f"findings {rule} *"
        for rule in (*seed.also, *BESIDE.get(seed.plant.__name__, ()), seed.rule)
    )
    add(kind_of(seed.rule), name, says, seed.plant, seen, seed.repo, also)


for _seed in SEEDS:
    _enter(_seed)
