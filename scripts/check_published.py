"""Check published results against arithmetic, each other and the public runs; rules/summarise.smk."""

from collections.abc import Iterable

from benchproof import job, tables
from benchproof.analysis.published.repository import Published, Recorded, Row, check_repository


def main(task: job.Job) -> None:
    """Write the published and published_checks tables."""
    known = {name: tables.read(task.input[name], name) for name in ("runs", "evals", "manifest")}
    out = Published()
    commits = {}
    for repository in task.repositories():
        repo = repository.spec.repo
        recorded = Recorded(*(_of(repo, known[name]) for name in ("runs", "evals", "manifest")))
        check_repository(repository, recorded, out)
        commits[repo] = repository.commit_sha
    job.log.info("%d published scores, %d checks", len(out.scores), len(out.checks))
    task.write("published", out.scores)
    task.write("published_checks", out.checks)
    task.note(out.findings, commits)


def _of(repo: str, rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row["repo"] == repo]


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
