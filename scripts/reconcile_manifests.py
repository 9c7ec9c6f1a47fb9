"""Match each manifest with its tree, in both directions; rules/inventory.smk."""

from typing import Any

from benchproof import job
from benchproof.findings import Finding
from benchproof.inventory.repository import not_read, reconcile_repository


def main(task: job.Job) -> None:
    """Write the manifest and reconciliation tables; a repository that was not read says so."""
    manifest: list[dict[str, Any]] = []
    summary = [not_read(item.repo, item.reason) for item in task.unread()]
    found: list[Finding] = []
    commits = {}
    for repository in task.repositories():
        out = reconcile_repository(repository)
        manifest += out.manifest
        summary.append(out.summary)
        found += out.findings
        commits[repository.spec.repo] = repository.commit_sha
    task.write("manifest", manifest)
    task.write("reconciliation", summary)
    task.note(found, commits)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
