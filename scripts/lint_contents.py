"""Compare names inside peeked files with graded labels; rules/lint.smk."""

from dataclasses import replace
from pathlib import Path

from benchproof import accepted, job, maintainers, tables
from benchproof.findings import Finding, counted, rows
from benchproof.inventory.lint.contents import names_equal_labels
from benchproof.inventory.lint.subject import subject_of
from benchproof.rulebook import RULES
from benchproof.vault import private_file


def main(task: job.Job) -> None:
    """Write the data_findings table, and the places into the vault as `collect_findings` does."""
    contents = tables.read(task.input.contents, "contents")
    found: list[Finding] = []
    for repository in task.repositories():
        met = names_equal_labels(subject_of(repository), contents)
        found += [replace(f, stage=task.rule, commit_sha=repository.commit_sha) for f in met]
    shown = found if task.params.disclose == "places" else counted(found, RULES)
    observed = [row["checked_at"] for row in contents if row["checked_at"] is not None]
    latest = max(observed, default=None)
    task.write("data_findings", [{**row, "checked_at": latest} for row in rows(shown, RULES)])
    known = accepted.load(task.input.accepted, accepted.day_of(task.params.audit["label"]))
    lists = maintainers.by_repository(task.pins(), rows(found, RULES), RULES, known, private=True)
    with private_file(Path(task.output.private)) as handle:
        handle.write("\n".join(lists.values()).encode())


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
