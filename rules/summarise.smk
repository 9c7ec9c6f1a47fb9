# SUMMARISE: what the stages found, merged and counted.
# REQUIRED INPUTS: <results>/<date>/{pins,manifest,evals,runs}.parquet, the stages' findings in the vault,
#                  config/{accepted,claims}.yaml
# OUTPUTS: <results>/<date>/{models,estimates,strata,comparisons,record_checks,published,published_checks}.parquet
#          <results>/<date>/{findings,claims,traffic}.parquet, findings.{sarif,json}, findings/<repo>.md


rule summarise_models:
    """Accuracy per model and harness from recorded verdicts, how sure it is, and where it comes from."""
    input:
        pins=AUDIT.result("pins"),
        runs=AUDIT.result("runs"),
        evals=AUDIT.result("evals"),
    output:
        models=AUDIT.result("models"),
        estimates=AUDIT.result("estimates"),
        strata=AUDIT.result("strata"),
        comparisons=AUDIT.result("comparisons"),
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


rule check_records:
    """Check recorded runs against themselves, also where no rule is published."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
        shares=AUDIT.shares("json"),
    output:
        record_checks=AUDIT.result("record_checks"),
        findings=AUDIT.findings("check_records"),
    log:
        AUDIT.log("check_records"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("check_records"),
    message:
        "records: recorded runs against themselves"
    script:
        "../scripts/check_records.py"


rule check_published:
    """Check published result tables against arithmetic, each other and the public runs."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
        runs=AUDIT.result("runs"),
        evals=AUDIT.result("evals"),
        manifest=AUDIT.result("manifest"),
    output:
        published=AUDIT.result("published"),
        published_checks=AUDIT.result("published_checks"),
        findings=AUDIT.findings("check_published"),
    log:
        AUDIT.log("check_published"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("check_published"),
    message:
        "published: result tables against arithmetic, each other and the public runs"
    script:
        "../scripts/check_published.py"


rule check_claims:
    """Check what is claimed of the family against the tables."""
    input:
        claimed_tables,
        pins=AUDIT.result("pins"),
        claims=ancient(f"{workflow.basedir}/config/claims.yaml"),
    output:
        claims=AUDIT.result("claims"),
    log:
        AUDIT.log("check_claims"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("check_claims"),
        claims=AUDIT.claims,
    message:
        "claims: what is said of the family, against the tables"
    script:
        "../scripts/check_claims.py"


rule claims:
    """Target: which claims hold, as far as they need no data."""
    input:
        AUDIT.result("claims"),


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
            AUDIT.findings("check_records"),
            AUDIT.findings("check_published"),
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
