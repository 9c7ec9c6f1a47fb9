"""Render the report into the vault's staging folder; rules/report.smk."""

from pathlib import Path

from benchproof import job
from benchproof.report import html, summary
from benchproof.report.facts import gather
from benchproof.report.figures import figures
from benchproof.sealing import enclosed
from benchproof.vault import private_file


def main(task: job.Job) -> None:
    """Write page, summary and crate where only seal_report can publish them from."""
    folder = Path(task.input.pins).parent
    facts = gather(folder, task.params.audit, Path(task.params.audit["results"]))
    for path, text in (
        (task.output.html, html.render(facts, figures(folder))),
        (task.output.summary, summary.render(facts, str(folder))),
    ):
        with private_file(Path(path)) as handle:
            handle.write(text.encode("utf-8"))
    staged, audit = Path(task.output.html).parent, task.params.audit
    enclosed.write(staged, folder, audit["label"], audit["made_by"], facts.complete)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
