# DETERMINISM: one date derived several times under other conditions, and all bytes compared.
# REQUIRED INPUTS: <results>/<date>/pins.parquet and the vault's content archives; a sealed report, if there is one
# OUTPUTS: none declared; <results>/determinism/<date>/summary.md, and where bytes differ all makings in
#          <resources>/determinism/<date>/made/


rule verify_determinism:
    """Target: derive this date under several conditions; fails when bytes differ or a condition had no effect."""
    input:
        pins=AUDIT.result("pins"),
        mirror=AUDIT.handover("mirror.json"),
    log:
        AUDIT.log("verify_determinism"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        settings=AUDIT.settings,
        python=sys.executable,
    message:
        "determinism: this date, derived several times under other conditions"
    script:
        "../scripts/verify_determinism.py"
