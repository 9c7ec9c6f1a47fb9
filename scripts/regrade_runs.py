"""Grade every recorded run again by the published rule; rules/regrade.smk."""

from benchproof import job
from benchproof.analysis.runs import Regraded, regrade_repository


def main(task: job.Job) -> None:
    """Write the runs, run_fields and readings tables."""
    out = Regraded()
    commits = {}
    for repository in task.repositories():
        before = len(out.runs)
        regrade_repository(repository, out)
        commits[repository.spec.repo] = repository.commit_sha
        job.log.info("%s: %d runs", repository.spec.repo, len(out.runs) - before)
    task.write("runs", out.runs)
    task.write("run_fields", out.run_fields)
    task.write("readings", out.reading_rows())
    task.note(out.findings, commits)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
