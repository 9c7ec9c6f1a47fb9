"""Compare two reports and write what differs; rules/drift.smk."""

from pathlib import Path

from benchproof import job
from benchproof.report import drifting, folders
from benchproof.sources.opening import open_http, open_source


def main(task: job.Job) -> None:
    """Write the drift table, its page and its summary; what renders them has given up the vault."""
    results = Path(task.params.audit["results"])
    old, new = (folders.find(name, results) for name in task.params.compared)
    settings = task.settings()
    with open_http(settings) as http:
        source = open_source(settings, task.vault, http)
        drift = drifting.compared(old, new, source, task.vault)
    task.give_up_vault()
    drifting.write(drift, Path(task.output.table).parent)
    drifting.seal(Path(task.output.table).parent, old, new)
    job.log.info("wrote %s", Path(task.output.table).parent)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
