# PIN AND MIRROR: the only stages of the content audit that ask the world.
# REQUIRED INPUTS: the configuration; the vault's pins of this date, if it has any.
# OUTPUTS: <results>/<date>/pins.parquet
#          <resources>/pins/<date>/*.json, <resources>/content/<repo>/<commit>.zip, mirror.json (vault only)


rule pin_commits:
    """Resolve every ref to a commit, once per date."""
    input:
        ask=AUDIT.ask_again("pin"),
    output:
        pins=AUDIT.result("pins"),
    log:
        AUDIT.log("pin_commits"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        settings=AUDIT.settings,
        code=AUDIT.code("pin_commits"),
    message:
        "pin: resolve refs to commits"
    script:
        "../scripts/pin_commits.py"


rule mirror_content:
    """Bring what the audit needs of each commit into the vault, proven against its ids."""
    input:
        ask=AUDIT.ask_again("mirror"),
        pins=AUDIT.result("pins"),
    output:
        mirror=AUDIT.handover("mirror.json"),
    log:
        AUDIT.log("mirror_content"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        settings=AUDIT.settings,
        code=AUDIT.code("mirror_content"),
    message:
        "mirror: fetch and prove the needed blobs"
    script:
        "../scripts/mirror_content.py"


rule pin:
    """Target: which commits this date audits."""
    input:
        AUDIT.result("pins"),
