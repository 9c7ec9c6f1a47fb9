"""Say what differs from the last complete report before; rules/drift.smk."""

from pathlib import Path

from benchproof import job
from benchproof.errors import DriftError
from benchproof.report import drifting, folders


def main(task: job.Job) -> None:
    """Show the summary of a comparison; fail on anything but nothing new in a complete report."""
    label = task.params.audit["label"]
    if task.params.compared is None:
        task.screen("8-drift", drifting.NOTHING.format(label=label))
        return
    folder = Path(task.input.table).parent
    _, new = (
        folders.find(name, Path(task.params.audit["results"])) for name in task.params.compared
    )
    verdict = drifting.judged(folder, new, task.params.fail_on, Path(task.input.accepted))
    text = (folder / "summary.md").read_text(encoding="utf-8").rstrip()
    task.screen("8-drift", f"{text}\nNext: open {folder}/drift.html")
    if verdict.code:
        raise DriftError(verdict.code, folder.name)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
