"""Grade every recorded run again by the published rule, or join the shares; rules/regrade.smk."""

from benchproof import job
from benchproof.analysis.runs import Streamed, regrade_repository
from benchproof.analysis.shares import collect


def main(task: job.Job) -> None:
    """Write the runs, run_fields and readings tables."""
    commits = {}
    with task.writing("runs") as runs, task.writing("run_fields") as run_fields:
        out = Streamed(runs, run_fields)
        if task.input.shares:
            for path in task.input.runs:
                runs.extend(path)
            for path in task.input.run_fields:
                run_fields.extend(path)
            commits = collect(task.handed(task.input.shares), out)
        else:
            for repository in task.repositories():
                job.log.info("%s: %d runs", repository.spec.repo, repository.n_runs)
                regrade_repository(repository, out)
                commits[repository.spec.repo] = repository.commit_sha
    task.write("readings", out.reading_rows())
    task.note(out.findings, commits)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
