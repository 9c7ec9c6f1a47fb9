"""Resolve every ref to a commit, once per date; rules/pin.smk."""

from dataclasses import asdict
from datetime import UTC, datetime

from benchproof import job
from benchproof.errors import ConfigError
from benchproof.pinning import each, pin_once, raise_all
from benchproof.sources.base import Pin, RepoSpec
from benchproof.sources.opening import open_http, open_source


def main(task: job.Job) -> None:
    """Write the pins table: recorded pins as they are, the others from the source."""
    settings, audit = task.settings(), task.params.audit
    if audit["commits"]:
        raise ConfigError(
            "config: `as_of` is a list of commits; the targets are then the default one and `history`."
        )
    until = datetime.fromisoformat(audit["as_of"]).replace(tzinfo=UTC) if audit["as_of"] else None
    with open_http(settings) as http:
        source = None if settings["offline"] else open_source(settings, task.vault, http)

        def pin(spec: RepoSpec) -> Pin:
            return pin_once(source, task.vault, audit["label"], spec, until)

        pins, errors = each(pin, task.family, settings["http"]["connections"])
        task.count("pin", http.traffic)
    raise_all(errors)
    rows = [asdict(item) for item in pins.values()]
    task.write("pins", rows, pins=rows)


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
