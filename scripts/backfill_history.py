"""Derive the content tables of past commits of one repository; rules/history.smk."""

from pathlib import Path

from benchproof import job
from benchproof.history.backfill import Places, backfill
from benchproof.history.derive import Terms
from benchproof.history.listing import from_json
from benchproof.sources.opening import open_http, open_source
from benchproof.vault import read_json


def main(task: job.Job) -> None:
    """Write the timeline of a repository, and the tables of each of its commits beside it."""
    settings, repo = task.settings(), task.params.repo
    (spec,) = (spec for spec in task.family if spec.repo == repo)
    out = Path(task.output.timeline).parent
    places = Places(Path(task.params.audit["work"], "history", out.name), out)
    terms = Terms(**task.params.terms, accepted=task.input.accepted)
    listed = from_json(read_json(Path(task.input.commits))[repo])
    with open_http(settings) as http:
        source = open_source(settings, task.vault, http)
        rows = backfill(source, task.vault, spec, listed, places, terms)
        task.count("history", http.traffic, part=out.name)
    left = (
        (str(r["commit_sha"]), r["reason"]) for r in rows if r["status"] in ("unknown", "failed")
    )
    task.left_open(f"history.{out.name}", left)
    task.write("timeline", rows, pins=[{"repo": repo, "commit_sha": listed.tip}])


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
