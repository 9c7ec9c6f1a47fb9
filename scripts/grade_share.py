"""Grade a share of the recorded runs again, and hear what they say of themselves; rules/regrade.smk."""

from pathlib import Path

from benchproof import job
from benchproof.analysis.runs import Streamed
from benchproof.analysis.shares import Share, ranges
from benchproof.vault import write_json


def main(task: job.Job) -> None:
    """Write this share's part of the runs and run_fields tables, and what else it found."""
    share, shares = map(int, task.params.share.split("-of-"))
    counts = {item.spec.repo: item.n_runs for item in task.repositories()}
    mine = ranges(counts, share - 1, shares)
    found = Share()
    with task.handing("runs") as runs, task.handing("run_fields") as run_fields:
        out = Streamed(runs, run_fields)
        for repository in task.repositories():
            start, stop = mine[repository.spec.repo]
            if start < stop:
                job.log.info("%s: runs %d to %d", repository.spec.repo, start + 1, stop)
            found.grade(repository, out, start, stop)
    write_json(Path(task.output.share), found.record(out))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
