"""Search everything that leaves for graded values, then publish and seal the report; rules/report.smk."""

from pathlib import Path

from benchproof import job
from benchproof.leaks.outcome import PUBLISHING
from benchproof.leaks.search import Asked, links, places, search
from benchproof.report.facts import gather
from benchproof.sealing.finish import finish
from benchproof.vault import read_json


def main(task: job.Job) -> None:
    """Publish what is staged and write seal.json; a single hit stops both.

    This process holds no secret: another one searches, and then this one gives up the vault.
    """
    audit = task.params.audit
    results, staged = Path(audit["results"]), Path(task.input.html).parent
    folder = results / audit["label"]
    found = search(asked(task, folder, staged), staged.parent)
    key = read_json(Path(task.params.signing))["key"]
    # A program is started to sign with, and none otherwise.
    task.give_up_vault(staged, programs=key is not None)
    found.check(PUBLISHING)
    job.log.info(
        "searched %d surfaces for %d values in %d forms: none found",
        *(sum(found.surfaces.values()), found.needles, found.forms),
    )
    finish(
        staged,
        folder,
        audit,
        complete=gather(folder, audit, results).complete,
        scan=found.sealed(),
        read=found.read,
        key=key,
    )


def asked(task: job.Job, folder: Path, staged: Path) -> Asked:
    """Return what is to be searched, and for the secrets of which commits."""
    work, mirrored = Path(task.params.audit["work"]), read_json(Path(task.input.mirror))
    read = [spec for spec in task.family if mirrored[spec.repo]["status"] == "ok"]
    return Asked(
        folder,
        task.vault,
        tuple((spec, mirrored[spec.repo]["commit_sha"]) for spec in read),
        tuple(links(task.vault, task.params.audit["label"])),
        (staged,),
        tuple(map(Path, task.params.metadata)),
        tuple(places([work, staged])),
    )


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
