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
include: "rules/drift.smk"


rule all:
    default_target: True
    input:
        AUDIT.wanted,


onstart:
    AUDIT.begin(workflow.dag_settings.targets)


onsuccess:
    AUDIT.succeed()


onerror:
    AUDIT.fail()
