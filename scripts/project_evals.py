"""Project evaluation files to what may leave the vault; rules/inventory.smk."""

from benchproof import job
from benchproof.inventory.evaluations import Projected
from benchproof.inventory.repository import project_repository


def main(task: job.Job) -> None:
    """Write the evals, eval_handles, graders and tolerances tables."""
    out = Projected()
    commits = {}
    for repository in task.repositories():
        out.extend(project_repository(repository))
        commits[repository.spec.repo] = repository.commit_sha
    task.write("evals", out.evals)
    task.write("eval_handles", out.eval_handles)
    task.write("graders", out.graders)
    task.write("tolerances", out.tolerances)
    task.note(out.findings, commits)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
