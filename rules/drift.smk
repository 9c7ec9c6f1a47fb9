# DRIFT: what differs between this date and the newest complete one before it, or between two reports.
# REQUIRED INPUTS: the seal of this date; the tables of the other report, which no rule can make again
# OUTPUTS: <results>/drift/<from>..<to>/{drift.parquet,drift.html,summary.md,seal.json}


rule diff_reports:
    """Compare two reports, table by table."""
    input:
        reports=AUDIT.drift.inputs,
    output:
        table=AUDIT.drift.file("drift.parquet"),
        html=AUDIT.drift.file("drift.html"),
        summary=AUDIT.drift.file("summary.md"),
        seal=AUDIT.drift.file("seal.json"),
    log:
        AUDIT.log("diff_reports"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("diff_reports"),
        settings=AUDIT.settings,
        compared=AUDIT.drift.names,
    message:
        "drift: what differs between two reports"
    script:
        "../scripts/diff_reports.py"


rule drift:
    """Target: fails when something newly differs at or above drift.fail_on; writes nothing."""
    input:
        **AUDIT.drift.wanted,
        accepted=f"{workflow.basedir}/config/accepted.yaml",
    log:
        AUDIT.log("drift"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        compared=AUDIT.drift.names,
        fail_on=AUDIT.config.merged["drift"]["fail_on"],
    message:
        "drift: what is new"
    script:
        "../scripts/drift.py"
