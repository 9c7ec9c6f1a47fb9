# LIST, RECONCILE, PROJECT: what the repositories hold, without an answer.
# REQUIRED INPUTS: <results>/<date>/pins.parquet, the vault's content archives
# OUTPUTS: <results>/<date>/{tree,manifest,reconciliation,evals,eval_handles,graders,tolerances}.parquet


rule list_trees:
    """List every entry of every pinned tree."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
    output:
        tree=AUDIT.result("tree"),
        findings=AUDIT.findings("list_trees"),
    log:
        AUDIT.log("list_trees"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("list_trees"),
    message:
        "list: every entry of every tree"
    script:
        "../scripts/list_trees.py"


rule reconcile_manifests:
    """Match each manifest with its tree, in both directions."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
    output:
        manifest=AUDIT.result("manifest"),
        reconciliation=AUDIT.result("reconciliation"),
        findings=AUDIT.findings("reconcile_manifests"),
    log:
        AUDIT.log("reconcile_manifests"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("reconcile_manifests"),
    message:
        "reconcile: manifests against trees, both ways"
    script:
        "../scripts/reconcile_manifests.py"


rule project_evals:
    """Project evaluation files to what may leave the vault."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
    output:
        evals=AUDIT.result("evals"),
        eval_handles=AUDIT.result("eval_handles"),
        graders=AUDIT.result("graders"),
        tolerances=AUDIT.result("tolerances"),
        findings=AUDIT.findings("project_evals"),
    log:
        AUDIT.log("project_evals"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("project_evals"),
    message:
        "project: evaluations without their answers"
    script:
        "../scripts/project_evals.py"


rule reconcile:
    """Target: what each repository holds."""
    input:
        AUDIT.result("tree"),
        AUDIT.result("reconciliation"),


rule evals:
    """Target: the evaluations, projected."""
    input:
        AUDIT.result("evals"),
