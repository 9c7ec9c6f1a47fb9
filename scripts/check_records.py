"""Check recorded runs against themselves where no rule is published; rules/summarise.smk."""

from benchproof import job
from benchproof.analysis.consistency import Records, check_records, judge_shares


def main(task: job.Job) -> None:
    """Write the record_checks table."""
    out = Records()
    commits = judge_shares(task.handed(task.input.shares), out)
    if not task.input.shares:
        for repository in task.repositories():
            check_records(repository, out)
            commits[repository.spec.repo] = repository.commit_sha
    task.write("record_checks", out.rows())
    task.note(out.findings, commits)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
