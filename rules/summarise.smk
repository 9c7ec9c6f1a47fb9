# SUMMARISE: what the stages found, merged and counted.
# REQUIRED INPUTS: <results>/<date>/{pins,runs}.parquet, the stages' findings in the vault
# OUTPUTS: <results>/<date>/{models,findings,traffic}.parquet, findings.{sarif,json}, findings/<repo>.md


rule summarise_models:
    """Accuracy per model and harness from recorded verdicts."""
    input:
        pins=AUDIT.result("pins"),
        runs=AUDIT.result("runs"),
        evals=AUDIT.result("evals"),
    output:
        models=AUDIT.result("models"),
    log:
        AUDIT.log("summarise_models"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("summarise_models"),
    message:
        "summarise: accuracy per model and harness"
    script:
        "../scripts/summarise_models.py"


rule collect_findings:
    """Merge what the stages found."""
    input:
        pins=AUDIT.result("pins"),
        parts=[
            AUDIT.findings("list_trees"),
            AUDIT.findings("reconcile_manifests"),
            AUDIT.findings("project_evals"),
            AUDIT.findings("lint_evals"),
            AUDIT.findings("check_licences"),
            AUDIT.findings("regrade_runs"),
        ],
        accepted=ancient(f"{workflow.basedir}/config/accepted.yaml"),
    output:
        findings=AUDIT.result("findings"),
        sarif=AUDIT.result("findings.sarif"),
        json=AUDIT.result("findings.json"),
        lists=[AUDIT.result(f"findings/{slug}.md") for slug in AUDIT.config.slugs],
        private=[AUDIT.handover(f"findings/{slug}.md") for slug in AUDIT.config.slugs],
    log:
        AUDIT.log("collect_findings"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("collect_findings"),
        disclose=AUDIT.config.disclose,
    message:
        "collect: findings of all stages"
    script:
        "../scripts/collect_findings.py"


rule collect_traffic:
    """Tell what the audit asked the network for."""
    input:
        asked=[AUDIT.ask_again("pin"), AUDIT.ask_again("mirror")],
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
        handles=AUDIT.result("handles"),
        objects=AUDIT.result("objects"),
        contents=AUDIT.result("contents"),
        files=AUDIT.result("files"),
    output:
        traffic=AUDIT.result("traffic"),
    log:
        AUDIT.log("collect_traffic"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("collect_traffic"),
    message:
        "collect: requests and bytes per host"
    script:
        "../scripts/collect_traffic.py"
