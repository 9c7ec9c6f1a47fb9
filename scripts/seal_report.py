"""Search everything that leaves for graded values, then publish and seal the report; rules/report.smk."""

from pathlib import Path

from benchproof import job, provenance
from benchproof.confinement import confine
from benchproof.leaks.search import Asked, links, places, search
from benchproof.report.facts import gather
from benchproof.sealing import seal
from benchproof.vault import read_json

PUBLISHED = ("report.html", "summary.md")


def main(task: job.Job) -> None:
    """Publish report.html and summary.md and write seal.json; a single hit stops all three.

    This process holds no secret: another one searches, and then this one gives up the vault.
    """
    audit = task.params.audit
    results, staged = Path(audit["results"]), Path(task.input.html).parent
    folder = results / audit["label"]
    found = search(asked(task, folder, staged), staged.parent)
    confine(task.vault.root, open_below=[staged])
    found.check()
    job.log.info(
        "searched %d surfaces for %d values in %d forms: none found",
        *(sum(found.surfaces.values()), found.needles, found.forms),
    )
    complete = gather(folder, audit, results).complete
    seal.publish(staged, folder, PUBLISHED)
    seal.write_seal(
        folder,
        {
            "label": audit["label"],
            "complete": complete,
            "notice": audit["made_by"]["notice"],
            "made_by": {"config": audit["made_by"]["config"], "code": provenance.library_digest()},
            "scan": found.sealed(),
        },
    )
    if complete and not audit["as_of"]:
        seal.point_latest(results, audit["label"])


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
