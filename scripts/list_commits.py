"""List the commits whose past is derived; rules/history.smk."""

from pathlib import Path

from benchproof import job, tables
from benchproof.history import listing
from benchproof.pinning import each, raise_all
from benchproof.sources.base import Pin, RepoSpec
from benchproof.sources.opening import open_http, open_source
from benchproof.vault import write_json


def main(task: job.Job) -> None:
    """Write the commits that each pin reaches, or those that are listed."""
    settings, asked = task.settings(), task.params.asked
    with open_http(settings) as http:
        source = open_source(settings, task.vault, http)
        if asked:
            found = listing.chosen(source, task.family, asked)
        else:
            (path,) = task.input.pins
            pins = {row["repo"]: Pin(**row) for row in tables.read(path, "pins")}

            def reached(spec: RepoSpec) -> listing.Listed:
                return listing.reached(source, spec, pins[spec.repo])

            found, errors = each(reached, task.family, settings["http"]["connections"])
            raise_all(errors)
        task.count("history", http.traffic)
    for repo, item in found.items():
        job.log.info("%s: %d commits, %s", repo, len(item.commits), item.reason or item.status)
    write_json(Path(task.output.commits), listing.as_json(found))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
