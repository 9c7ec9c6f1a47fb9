"""Merge what the stages found into one table; rules/summarise.smk."""

from pathlib import Path

from benchproof import findings, job
from benchproof.vault import read_json


def main(task: job.Job) -> None:
    """Write the findings table."""
    found = [
        item for path in task.input.parts for item in findings.from_json(read_json(Path(path)))
    ]
    task.write("findings", findings.rows([*findings.of_pins(task.pins()), *found]))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
