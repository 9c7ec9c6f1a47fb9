"""Say what fails that did not fail in the last complete report; rules/report.smk."""

from pathlib import Path

from benchproof import job
from benchproof.errors import GateError
from benchproof.report import reading


def main(task: job.Job) -> None:
    """Show what the gate says; fail on anything but nothing new in a complete report."""
    folder, results = Path(task.input.seal).parent, Path(task.params.audit["results"])
    outcome = reading.judged(folder, results, task.params.fail_on, Path(task.input.accepted))
    task.screen("9-gate", "\n".join(outcome.lines))
    if outcome.code:
        raise GateError(outcome.code, folder.name)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
