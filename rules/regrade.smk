# REGRADE: every recorded run against the published rule.
# REQUIRED INPUTS: <results>/<date>/pins.parquet, the vault's content archives
# OUTPUTS: <results>/<date>/{runs,run_fields,readings}.parquet; parts of them in the vault while `shards` jobs grade


rule grade_share:
    """Grade a share of the recorded runs again, where `shards` asks for several jobs."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
    output:
        runs=temp(AUDIT.handover("shares/{share}.runs.parquet")),
        run_fields=temp(AUDIT.handover("shares/{share}.run_fields.parquet")),
        share=AUDIT.handover("shares/{share}.json"),
    log:
        AUDIT.log("grade_share.{share}"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("grade_share"),
        share=lambda wildcards: wildcards.share,
    message:
        "regrade: share {wildcards.share} of the recorded runs"
    script:
        "../scripts/grade_share.py"


rule regrade_runs:
    """Grade every recorded run again by the published rule, or join the shares of them."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
        runs=AUDIT.shares("runs.parquet"),
        run_fields=AUDIT.shares("run_fields.parquet"),
        shares=AUDIT.shares("json"),
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
