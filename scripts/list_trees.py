"""List every entry of every pinned tree; rules/inventory.smk."""

from typing import Any

from benchproof import job
from benchproof.findings import Finding
from benchproof.inventory.repository import list_tree


def main(task: job.Job) -> None:
    """Write the tree table."""
    rows: list[dict[str, Any]] = []
    found: list[Finding] = []
    commits = {}
    for repository in task.repositories():
        listed, noted = list_tree(repository)
        rows += listed
        found += noted
        commits[repository.spec.repo] = repository.commit_sha
    task.write("tree", rows)
    task.note(found, commits)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
