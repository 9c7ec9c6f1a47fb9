"""Lint the evaluation files and what lies beside them; rules/lint.smk."""

from benchproof import job
from benchproof.findings import Finding
from benchproof.inventory.lint.every import lint
from benchproof.inventory.lint.subject import subject_of


def main(task: job.Job) -> None:
    """Hand over what the linter's rules met, withheld places included: they stay in the vault."""
    found: list[Finding] = []
    commits = {}
    for repository in task.repositories():
        met = lint(subject_of(repository))
        job.log.info("%s: %d places", repository.spec.repo, len(met))
        found += met
        commits[repository.spec.repo] = repository.commit_sha
    task.note(found, commits)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
