"""Compare licence files with the canonical Apache License 2.0; rules/lint.smk."""

from typing import Any

from benchproof import job
from benchproof.findings import Finding
from benchproof.inventory.licences import check


def main(task: job.Job) -> None:
    """Write the licences table."""
    rows: list[dict[str, Any]] = []
    found: list[Finding] = []
    commits = {}
    for repository in task.repositories():
        listed, met = check(repository)
        rows += listed
        found += met
        commits[repository.spec.repo] = repository.commit_sha
    task.write("licences", rows)
    task.note(found, commits)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
