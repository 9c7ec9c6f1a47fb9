"""The shape of the family as it was counted on 2026-08-28: names, numbers and key sets, no
content.
"""

from __future__ import annotations

from dataclasses import dataclass

CANARY_EVALS, NOTES_EVALS = 41, 30
BUILDS = {"0.3.7": 432, "0.3.8": 225, "0.3.9": 48, None: 336}
COMPOSITE_BUILD = "0.4.0"
DECLARED_TIMEOUT_S, RECORDED_TIMEOUT_S = 3600, 21600
REPLICATES = 3
HANDLE_IDS = range(10_000, 100_000)

BASE = ("eval_type", "kit", "task", "time_horizon")
MODES = ("failure_mode_taxonomy_version", "failure_modes")
RESULT = "graded_biological_result"
KEYS: dict[str, tuple[str, ...]] = {
    "base": BASE,
    "timeout": (*BASE, "timeout_s"),
    "assay": ("assay", *BASE),
    "modes": (*BASE, *MODES),
    "modules": (*BASE, "modules"),
    "result": (RESULT, "kit", "task", "time_horizon"),
    "modes_timeout": (*BASE, *MODES, "timeout_s"),
    "assay_modes": ("assay", *BASE, *MODES),
    "modules_version": (*BASE, "modules", "version"),
    "result_only": (RESULT,),
}


@dataclass(frozen=True, slots=True)
class EvalShape:
    """One evaluation of the plan.

    `fields` names the kind of each numeric field (int, float, exact, offsets, zero), `keys` the
    metadata key set, `snapshot` the index into SIZES_MB of a single-handle evaluation's data.
    """

    word: str
    task: str
    kit: str
    keys: str = "base"
    fields: tuple[str, ...] = ()
    snapshot: int = 0
    handles: int = 1
    refused: int = 0
    canary: bool = True


@dataclass(frozen=True, slots=True)
class RepoShape:
    """One repository of the plan; `layout` is task (<task>/<id>.json) or folder
    (<id>/eval.json).
    """

    name: str
    evals: str
    manifest: str
    layout: str
    plan: tuple[EvalShape, ...]
    runs: str = "trajectories"

    @property
    def handles(self) -> int:
        """How many distinct handles the whole repository has."""
        return TABLE[self.name][TABLE_COLUMNS.index("handles")]


SIZES_MB: dict[str, tuple[float, ...]] = {
    "scbench": (80.7, 8.8, 34.8, 115.0, 137.7, 1590.6),
    "spatialbench": (8.8, 79.0, 110.8, 114.4, 242.7, 639.5, 1102.1, 3209.6, 6416.3, 9631.0),
}

_SCBENCH = (
    EvalShape(
        "dr_01_sentinels", "dimensionality_reduction", "kit_a", "timeout", ("offsets",) * 2, 0
    ),
    EvalShape("qc_02_panel", "qc", "kit_b", "timeout", ("int", "int", "float"), 1),
    EvalShape("norm_03_depth", "normalization", "kit_c", "timeout", ("exact", "float", "float"), 2),
    EvalShape("clust_04_largest", "clustering", "kit_d", "base", ("int", "float"), 3),
    EvalShape("type_05_niche", "cell_typing", "kit_e", "base", ("float", "int"), 4),
    EvalShape("de_06_counts", "differential_expression", "kit_f", "base", ("exact",), 5),
)
_SPATIAL = (
    EvalShape("sp_01_lineage", "cell_typing", "platform_a", "base", ("int", "float", "float"), 0),
    EvalShape("sp_02_fold", "normalization", "platform_b", "timeout", ("zero", "zero"), 1),
    EvalShape("sp_03_module", "normalization", "platform_b", "timeout", ("zero", "zero"), 1),
    EvalShape("sp_04_doublets", "qc", "platform_b", "base", ("int", "int"), 1),
    EvalShape("sp_05_fibro", "spatial_analysis", "platform_a", "base", ("float", "float"), 2),
    EvalShape("sp_06_immune", "cell_typing", "platform_a", "base", ("int", "int", "int"), 2),
    EvalShape("sp_07_niche", "spatial_analysis", "platform_a", "base", ("float", "int"), 3),
    EvalShape("sp_08_motif", "motif", "platform_c", "base", ("exact",), 4),
    EvalShape("sp_09_oocytes", "cell_counts", "platform_d", "base", ("int", "int", "int"), 5),
    EvalShape("sp_10_immature", "cell_counts", "platform_d", "base", ("int", "float"), 6),
    EvalShape("sp_11_follicles", "cell_counts", "platform_d", "base", ("int", "exact"), 6),
    EvalShape("sp_12_batches", "clustering", "platform_d", "base", ("zero", "zero"), 6),
    EvalShape("sp_13_correct", "normalization", "platform_e", "base", ("float", "float"), 7),
    EvalShape("sp_14_confound", "clustering", "platform_e", "base", ("zero", "zero", "zero"), 8),
    EvalShape("sp_15_genome", "differential_expression", "platform_e", "base", ("int", "int"), 9),
    EvalShape("sp_16_house", "differential_expression", "platform_e", "base", ("int",) * 3, 9),
)
_EPI = tuple(
    EvalShape(word, task, kit, keys, handles=handles, canary=canary)
    for word, task, kit, keys, handles, canary in (
        ("epi_01_open", "peak_calling", "atac", "assay", 96, True),
        ("epi_02_marks", "peak_calling", "chip", "assay", 88, True),
        ("epi_03_tags", "qc", "cut_and_tag", "assay", 80, True),
        ("epi_04_runs", "qc", "cut_and_run", "assay", 72, True),
        ("epi_05_islands", "methylation", "bisulfite", "assay_modes", 64, True),
        ("epi_06_shift", "differential_peaks", "atac", "modes", 60, False),
        ("epi_07_bound", "differential_peaks", "chip", "modes", 52, False),
    )
)
_VARIANT = tuple(
    EvalShape(word, task, kit, keys, handles=handles, refused=refused)
    for word, task, kit, keys, handles, refused in (
        ("var_01_trio", "variant_calling", "wgs", "base", 5, 0),
        ("var_02_strand", "variant_calling", "wes", "base", 4, 0),
        ("var_03_locus", "statistical_genetics", "array", "modules", 4, 0),
        ("var_04_panel", "statistical_genetics", "array", "modules", 4, 0),
        ("var_05_carrier", "personal_genomics", "wgs", "base", 3, 0),
        ("var_06_trait", "personal_genomics", "wgs", "base", 3, 0),
        ("var_07_annotated", "variant_calling", "wes", "base", 7, 7),
        ("var_08_recall", "variant_calling", "wes", "base", 11, 11),
    )
)
_SC_LONG = (
    EvalShape("long_01_context", "long_horizon", "kit_a", "modes", handles=3, refused=1),
    EvalShape("long_02_programme", "long_horizon", "kit_b", "modes_timeout", handles=3),
    EvalShape("long_03_response", "long_horizon", "kit_c", "modules", handles=2),
    EvalShape("long_04_lineage", "long_horizon", "kit_d", "modules_version", handles=2),
)
_SPATIAL_LONG = (
    EvalShape("slong_01_multilayer", "long_horizon", "platform_a", "result", handles=1, refused=1),
    EvalShape("slong_02_proximity", "long_horizon", "platform_b", "result", handles=3, refused=3),
    EvalShape(
        "slong_03_disruption",
        "long_horizon",
        "platform_c",
        "result",
        handles=3,
        refused=2,
        canary=False,
    ),
    EvalShape(
        "slong_04_repair", "long_horizon", "platform_d", "result_only", handles=2, canary=False
    ),
)
SHARED_REFUSED = 6  # of the 7 and 11 handles of variantbench's two extras, 12 are distinct

REPOS: dict[str, RepoShape] = {
    shape.name: shape
    for shape in (
        RepoShape("scbench", "evals", "a", "task", _SCBENCH),
        RepoShape("spatialbench", "example_evals", "a", "task", _SPATIAL),
        RepoShape("epibench", "evals", "b", "task", _EPI),
        RepoShape("variantbench", "evals", "b", "task", _VARIANT),
        RepoShape("scbench-long", "evals", "b", "folder", _SC_LONG),
        RepoShape("spatialbench-long", "evals", "b", "folder", _SPATIAL_LONG),
    )
}

# Sixteen pairs of model and harness; the last three and the three before them leave harness
# outputs.
PAIRS: tuple[tuple[str, str, str], ...] = (
    ("demolabs", "sage-1", "mini-swe-agent"),
    ("demolabs", "sage-2", "mini-swe-agent"),
    ("demolabs", "sage-2-mini", "mini-swe-agent"),
    ("demolabs", "sage-3", "mini-swe-agent"),
    ("northwind", "boreal-4", "mini-swe-agent"),
    ("northwind", "boreal-5", "mini-swe-agent"),
    ("northwind", "boreal-5-fast", "mini-swe-agent"),
    ("quarry", "basalt-70", "mini-swe-agent"),
    ("quarry", "basalt-400", "mini-swe-agent"),
    ("tidepool", "limpet-2", "mini-swe-agent"),
    ("demolabs", "sage-2", "openai-codex"),
    ("demolabs", "sage-3", "openai-codex"),
    ("demolabs", "sage-3-code", "openai-codex"),
    ("northwind", "boreal-4", "claude-code"),
    ("northwind", "boreal-5", "claude-code"),
    ("northwind", "boreal-5-fast", "claude-code"),
)
BARE_NAME_HARNESS = "openai-codex"
HARNESSES_WITH_OUTPUTS = ("openai-codex", "claude-code")
PAIRS_WITHOUT_ONE_EVAL = (1, 4, 8, 9, 12)
EVAL_MISSING_FOR_PAIRS = "type_05_niche"
PAIR_WITHOUT_COST = 10

# How many runs of each scbench evaluation get how many fields right: {right fields: runs}. These
# reach 133 passes, 113 partial credits, 27 zeros, 438 of 594 fields.
SCBENCH_OUTCOMES: dict[str, dict[int, int]] = {
    "dr_01_sentinels": {2: 5, 1: 36, 0: 7},
    "qc_02_panel": {3: 30, 2: 15, 1: 3},
    "norm_03_depth": {3: 25, 2: 19, 1: 4},
    "clust_04_largest": {2: 26, 1: 21, 0: 1},
    "type_05_niche": {2: 17, 1: 15, 0: 1},
    "de_06_counts": {1: 30, 0: 18},
}
# norm_03's exact field is right in 37 runs: with de_06's 30 that makes 67 on a bound of zero.
EXACT_RIGHT = {"norm_03_depth": 37}
ON_POSITIVE_BOUND = {"qc_02_panel": 13}

# The first table of the published audit: rows evals files orphans dangling graders handles
# reachable runnable.
TABLE: dict[str, tuple[int, ...]] = {
    "scbench": (6, 6, 6, 0, 0, 6, 6, 6, 6),
    "spatialbench": (18, 16, 16, 0, 0, 16, 10, 10, 16),
    "epibench": (7, 7, 7, 0, 0, 0, 512, 512, 7),
    "variantbench": (8, 8, 8, 0, 0, 8, 35, 23, 6),
    "scbench-long": (4, 4, 4, 0, 0, 0, 10, 9, 3),
    "spatialbench-long": (4, 4, 4, 0, 0, 0, 9, 3, 1),
}
TABLE_COLUMNS = (
    "rows",
    "evals",
    "files",
    "orphans",
    "dangling",
    "graders",
    "handles",
    "reachable",
    "runnable",
)
