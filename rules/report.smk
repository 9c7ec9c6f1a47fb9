# REPORT: written inside the vault, searched for graded values, then published and sealed.
# REQUIRED INPUTS: the tables of <results>/<date>/
# OUTPUTS: <results>/<date>/{report.html,summary.md,config.json,swhids.txt,workflow/Snakefile,ro-crate-metadata.json,seal.json}
#          and, with `sign`, seal.json.sig


rule write_report:
    """Render the report into the vault's staging folder."""
    input:
        pins=AUDIT.result("pins"),
        tables=AUDIT.tables,
    output:
        html=AUDIT.handover("staging/report.html"),
        summary=AUDIT.handover("staging/summary.md"),
        crate=AUDIT.handover("staging/ro-crate-metadata.json"),
    log:
        AUDIT.log("write_report"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("write_report"),
    message:
        "report: render the page, the summary and the crate"
    script:
        "../scripts/write_report.py"


rule seal_report:
    """Search everything that leaves for graded values, then publish and seal the report."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
        html=AUDIT.handover("staging/report.html"),
        summary=AUDIT.handover("staging/summary.md"),
        crate=AUDIT.handover("staging/ro-crate-metadata.json"),
    output:
        html=AUDIT.result("report.html"),
        summary=AUDIT.result("summary.md"),
        crate=AUDIT.result("ro-crate-metadata.json"),
        seal=AUDIT.result("seal.json"),
    log:
        AUDIT.log("seal_report"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("seal_report"),
        signing=AUDIT.signing,
        metadata=AUDIT.metadata_folders,
    message:
        "seal: search for graded values, publish, seal"
    script:
        "../scripts/seal_report.py"


rule report:
    """Target: the whole report, sealed."""
    input:
        AUDIT.tables,
        AUDIT.result("seal.json"),


rule gate:
    """Target: fails when something fails that did not in the last complete report; writes nothing."""
    input:
        pins=AUDIT.result("pins"),
        seal=AUDIT.result("seal.json"),
        accepted=f"{workflow.basedir}/config/accepted.yaml",
    log:
        AUDIT.log("gate"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        fail_on=AUDIT.config.merged["drift"]["fail_on"],
    message:
        "gate: what fails that did not before"
    script:
        "../scripts/gate.py"
