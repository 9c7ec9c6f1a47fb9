# RESOLVE, PROBE, PEEK, FETCH, INSPECT: the data behind the handles.
# REQUIRED INPUTS: <results>/<date>/{evals,eval_handles}.parquet; the vault's journals of this date
# OUTPUTS: <results>/<date>/{handles,runnable,objects,contents,files}.parquet
#          <resources>/snapshots/<handle>/<version>.h5ad with their records (vault only)


rule resolve_handles:
    """Ask the signer for every distinct handle, once."""
    input:
        ask=AUDIT.ask_again("resolve"),
        pins=AUDIT.result("pins"),
        evals=AUDIT.result("evals"),
        eval_handles=AUDIT.result("eval_handles"),
    output:
        handles=AUDIT.result("handles"),
        runnable=AUDIT.result("runnable"),
        reachable=AUDIT.handover("reachable.json"),
    log:
        AUDIT.log("resolve_handles"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        settings=AUDIT.settings,
        code=AUDIT.code("resolve_handles"),
    message:
        "resolve: which handles can be had"
    script:
        "../scripts/resolve_handles.py"


rule probe_sizes:
    """Learn what each object is and how large, by one ranged GET."""
    input:
        ask=AUDIT.ask_again("probe"),
        pins=AUDIT.result("pins"),
        reachable=AUDIT.handover("reachable.json"),
    output:
        objects=AUDIT.result("objects"),
    log:
        AUDIT.log("probe_sizes"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        settings=AUDIT.settings,
        code=AUDIT.code("probe_sizes"),
    message:
        "probe: what each object is, and how large"
    script:
        "../scripts/probe_sizes.py"


rule peek_snapshots:
    """Look inside every .h5ad by ranged reads."""
    input:
        ask=AUDIT.ask_again("peek"),
        pins=AUDIT.result("pins"),
        objects=AUDIT.result("objects"),
    output:
        contents=AUDIT.result("contents"),
    log:
        AUDIT.log("peek_snapshots"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        settings=AUDIT.settings,
        code=AUDIT.code("peek_snapshots"),
    message:
        "peek: what is inside every .h5ad"
    script:
        "../scripts/peek_snapshots.py"


checkpoint choose_snapshots:
    """Choose what is fetched, and refuse what is more than allowed before the first byte."""
    input:
        ask=AUDIT.ask_again("fetch"),
        pins=AUDIT.result("pins"),
        objects=AUDIT.result("objects"),
        eval_handles=AUDIT.result("eval_handles"),
    output:
        selection=AUDIT.handover("selection.json"),
    log:
        AUDIT.log("choose_snapshots"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        settings=AUDIT.settings,
        fetch=AUDIT.chosen,
        code=AUDIT.code("choose_snapshots"),
    message:
        "choose: which snapshots are fetched"
    script:
        "../scripts/choose_snapshots.py"


rule fetch_snapshot:
    """Bring one snapshot into the vault, or verify the one that is there."""
    output:
        record=AUDIT.handover("fetched/{part}.json"),
    log:
        AUDIT.log("fetch_snapshot.{part}"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        settings=AUDIT.settings,
        code=AUDIT.code("fetch_snapshot"),
        objects=lambda wildcards: AUDIT.part(wildcards.part),
    message:
        "fetch: {wildcards.part}"
    script:
        "../scripts/fetch_snapshot.py"


rule inspect_snapshots:
    """Open every fetched file as its user would."""
    input:
        ask=AUDIT.ask_again("fetch"),
        pins=AUDIT.result("pins"),
        contents=AUDIT.result("contents"),
        selection=AUDIT.handover("selection.json"),
        fetched=fetched_records,
    output:
        files=AUDIT.result("files"),
    log:
        AUDIT.log("inspect_snapshots"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("inspect_snapshots"),
    message:
        "inspect: every fetched file"
    script:
        "../scripts/inspect_snapshots.py"


rule handles:
    """Target: which evaluations can be run."""
    input:
        pins=AUDIT.result("pins"),
        eval_handles=AUDIT.result("eval_handles"),
        handles=AUDIT.result("handles"),
        runnable=AUDIT.result("runnable"),
    log:
        AUDIT.log("handles"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
    message:
        "handles: which evaluations can be run"
    script:
        "../scripts/handles.py"


rule sizes:
    """Target: what the data weighs, and what a fetch would need."""
    input:
        pins=AUDIT.result("pins"),
        eval_handles=AUDIT.result("eval_handles"),
        objects=AUDIT.result("objects"),
    log:
        AUDIT.log("sizes"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
    message:
        "sizes: what the data weighs"
    script:
        "../scripts/sizes.py"


rule peek:
    """Target: what is inside every .h5ad."""
    input:
        pins=AUDIT.result("pins"),
        contents=AUDIT.result("contents"),
    log:
        AUDIT.log("peek"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
    message:
        "peek: what is inside every .h5ad"
    script:
        "../scripts/peek.py"


rule fetch:
    """Target: the chosen snapshots, in the vault; fails when their sum is more than allowed."""
    input:
        pins=AUDIT.result("pins"),
        selection=AUDIT.handover("selection.json"),
        files=AUDIT.result("files"),
    log:
        AUDIT.log("fetch"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
    message:
        "fetch: the chosen snapshots"
    script:
        "../scripts/fetch.py"
