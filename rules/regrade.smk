# REGRADE: every recorded run against the published rule.
# REQUIRED INPUTS: <results>/<date>/pins.parquet, the vault's content archives
# OUTPUTS: <results>/<date>/{runs,run_fields,readings}.parquet


rule regrade_runs:
    """Grade every recorded run again by the published rule."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
    output:
        runs=AUDIT.result("runs"),
        run_fields=AUDIT.result("run_fields"),
        readings=AUDIT.result("readings"),
        findings=AUDIT.findings("regrade_runs"),
    log:
        AUDIT.log("regrade_runs"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("regrade_runs"),
    message:
        "regrade: every recorded run by the published rule"
    script:
        "../scripts/regrade_runs.py"


rule regrade:
    """Target: recorded verdicts compared with derived ones."""
    input:
        AUDIT.result("runs"),
