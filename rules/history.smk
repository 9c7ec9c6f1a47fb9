# HISTORY: what an audit finds at every past commit that touches what is audited, or at those that `as_of` lists.
# REQUIRED INPUTS: <results>/<date>/pins.parquet for a series, nothing for a list; config/accepted.yaml
# OUTPUTS: <results>/history/<owner>+<name>/<commit>/*.parquet (the content tables, not declared: what is finished stays)
#          <results>/history/<owner>+<name>/{timeline,chosen}.parquet, <results>/history/{timeline,chosen}.html


rule list_commits:
    """List the commits that each pin reaches, or find those that are listed."""
    input:
        ask=AUDIT.ask_again("history"),
        pins=AUDIT.past.pins,
    output:
        commits=AUDIT.handover("history/commits.json"),
    log:
        AUDIT.log("list_commits"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        settings=AUDIT.settings,
        asked=AUDIT.past.asked,
        code=AUDIT.code("list_commits"),
    message:
        "history: list the commits"
    script:
        "../scripts/list_commits.py"


rule backfill_history:
    """Derive the content tables of each commit of one repository that touches what is audited."""
    input:
        ask=AUDIT.ask_again("history"),
        commits=AUDIT.handover("history/commits.json"),
        accepted=ancient(f"{workflow.basedir}/config/accepted.yaml"),
    output:
        timeline=AUDIT.past.table("{repository}"),
    log:
        AUDIT.log("backfill_history.{repository}"),
    wildcard_constraints:
        repository=AUDIT.past.pattern,
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        settings=AUDIT.settings,
        terms=AUDIT.past.terms,
        repo=lambda wildcards: AUDIT.past.repos[wildcards.repository],
        code=AUDIT.code("backfill_history"),
    message:
        "history: {wildcards.repository}"
    script:
        "../scripts/backfill_history.py"


rule draw_history:
    """Draw the timelines on one page."""
    input:
        timelines=AUDIT.past.tables,
    output:
        page=AUDIT.past.page,
    log:
        AUDIT.log("draw_history"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("draw_history"),
    message:
        "history: draw the timelines"
    script:
        "../scripts/draw_history.py"


rule judge_history:
    """Fail when a commit met a fault of ours: no target, so that the default one of a list can rest on it."""
    input:
        timelines=AUDIT.past.tables,
        page=AUDIT.past.page,
    output:
        judged=AUDIT.handover("history/judged.json"),
    log:
        AUDIT.log("judge_history"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
        code=AUDIT.code("judge_history"),
    message:
        "history: whether all of it could be derived"
    script:
        "../scripts/judge_history.py"


rule history:
    """Target: the past of each repository, commit by commit."""
    input:
        timelines=AUDIT.past.tables,
        page=AUDIT.past.page,
    log:
        AUDIT.log("history"),
    conda:
        "../envs/audit.yaml"
    params:
        audit=AUDIT.params,
    message:
        "history: what changed when"
    script:
        "../scripts/history.py"
