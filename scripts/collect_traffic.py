"""Tell what the audit asked the network for, all runs of its date together; rules/summarise.smk."""

from pathlib import Path

from benchproof import job
from benchproof.vault import read_json


def main(task: job.Job) -> None:
    """Write the traffic table."""
    folder = Path(task.params.audit["work"]) / "traffic"
    rows = [row for path in sorted(folder.glob("*.json")) for row in read_json(path)]
    task.write("traffic", job.added(rows))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
