# LINT: what is wrong with the evaluation files, their licences, and the names inside their data.
# REQUIRED INPUTS: <results>/<date>/{pins,contents}.parquet, the vault's content archives, config/accepted.yaml
# OUTPUTS: <results>/<date>/{licences,data_findings}.parquet, the linter's findings in the vault


rule lint_evals:
    """Lint the evaluation files and what lies beside them."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
    output:
        findings=AUDIT.findings("lint_evals"),
    log:
        AUDIT.log("lint_evals"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("lint_evals"),
    message:
        "lint: evaluation files and what lies beside them"
    script:
        "../scripts/lint_evals.py"


rule check_licences:
    """Compare licence files with the canonical text."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
    output:
        licences=AUDIT.result("licences"),
        findings=AUDIT.findings("check_licences"),
    log:
        AUDIT.log("check_licences"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("check_licences"),
    message:
        "licences: against the canonical text, by words"
    script:
        "../scripts/check_licences.py"


rule lint_contents:
    """Compare names inside peeked files with graded labels."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
        contents=AUDIT.result("contents"),
        accepted=ancient(f"{workflow.basedir}/config/accepted.yaml"),
    output:
        data_findings=AUDIT.result("data_findings"),
        private=AUDIT.handover("findings/lint_contents.md"),
    log:
        AUDIT.log("lint_contents"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("lint_contents"),
        disclose=AUDIT.config.disclose,
    message:
        "lint: names inside the data"
    script:
        "../scripts/lint_contents.py"
