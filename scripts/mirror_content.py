"""Bring what the audit needs of each pinned commit into the vault; rules/pin.smk."""

from pathlib import Path
from typing import Any

from benchproof import job
from benchproof.pinning import each, mirror, raise_all
from benchproof.sources.base import Pin, RepoSpec
from benchproof.sources.opening import open_http, open_source
from benchproof.vault import write_json


def main(task: job.Job) -> None:
    """Write the record of what the vault holds; bytes that don't hash to their id stop the job."""
    settings = task.settings()
    pins = {row["repo"]: Pin(**row) for row in task.pins()}
    with open_http(settings) as http:
        source = None if settings["offline"] else open_source(settings, task.vault, http)

        def bring(spec: RepoSpec) -> dict[str, Any]:
            return mirror(source, task.vault, spec, pins[spec.repo], task.params.audit["label"])

        records, errors = each(bring, task.family, settings["http"]["connections"])
        task.count("mirror", http.traffic)
    raise_all(errors)
    write_json(Path(task.output.mirror), records)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
