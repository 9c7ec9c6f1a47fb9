"""Merge what the stages found into a table, the same for other tools, and lists; rules/summarise.smk."""

import json
from pathlib import Path

from benchproof import accepted, findings, job, maintainers, sarif
from benchproof.outputs import replacing
from benchproof.rulebook import RULES
from benchproof.vault import private_file, read_json


def main(task: job.Job) -> None:
    """Write the findings table, SARIF, JSON and the lists; what is withheld has places in the vault alone."""
    pins = task.pins()
    parts = [findings.from_json(read_json(Path(path))) for path in task.input.parts]
    found = [*findings.of_pins(pins), *(item for part in parts for item in part)]
    places = findings.rows(found, RULES)
    known = accepted.load(task.input.accepted, accepted.day_of(task.params.audit["label"]))
    private = maintainers.by_repository(pins, places, RULES, known, private=True)
    for path in map(Path, task.output.private):
        with private_file(path) as handle:
            handle.write(private[path.name].encode())
    task.give_up_vault()
    shown = places
    if task.params.disclose != "places":
        shown = findings.rows(findings.counted(found, RULES), RULES)
    task.write("findings", shown)
    commits = {pin["repo"]: pin["commit_sha"] for pin in pins}
    _publish(Path(task.output.sarif), sarif.as_sarif(shown, RULES, known, commits))
    _publish(Path(task.output.json), sarif.as_json(shown, known))
    public = maintainers.by_repository(pins, shown, RULES, known, private=False)
    for path in map(Path, task.output.lists):
        with replacing(path) as part:
            part.write_text(public[path.name], encoding="utf-8")


def _publish(path: Path, value: object) -> None:
    with replacing(path) as part:
        part.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
