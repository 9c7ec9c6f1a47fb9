# benchproof: audits a published family of agent benchmarks from the outside. README.md shows how to use it.
from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


include: "rules/common.smk"
include: "rules/pin.smk"
include: "rules/inventory.smk"
include: "rules/lint.smk"
include: "rules/storage.smk"
include: "rules/regrade.smk"
include: "rules/summarise.smk"
include: "rules/report.smk"
include: "rules/history.smk"
include: "rules/reproduce.smk"
include: "rules/determinism.smk"
include: "rules/drift.smk"


# What asks the world or only shows something runs where snakemake runs, also when the rest is submitted.
localrules:
    all,
    pin_commits,
    mirror_content,
    resolve_handles,
    probe_sizes,
    peek_snapshots,
    choose_snapshots,
    fetch_snapshot,
    handles,
    sizes,
    peek,
    fetch,
    gate,
    list_commits,
    backfill_history,
    draw_history,
    judge_history,
    history,
    reproduce,
    verify_determinism,
    diff_reports,
    drift,


rule all:
    default_target: True
    input:
        AUDIT.wanted,


onstart:
    AUDIT.begin(workflow.dag_settings.targets, cluster.name_of(workflow))


onsuccess:
    AUDIT.succeed()


onerror:
    AUDIT.fail()
