# REPRODUCE: a finished report derived again from its recorded commits, and compared.
# REQUIRED INPUTS: --config report=<folder>; the vault's content archives, or the repositories
# OUTPUTS: none; all that is derived lies in <resources>/reproduce/<label>.<digest>/


rule reproduce:
    """Target: derive a report's content tables again and compare; fails when something differs."""
    input:
        AUDIT.content,
        mirror=AUDIT.handover("mirror.json"),
    log:
        AUDIT.log("reproduce"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        report=AUDIT.reproduced,
    message:
        "reproduce: derived again against recorded"
    script:
        "../scripts/reproduce.py"
