"""Search everything that leaves for graded values, then publish and seal the report; rules/report.smk."""

import tempfile
from pathlib import Path

from benchproof import job, provenance, tables
from benchproof.errors import LeakError
from benchproof.report import leaks
from benchproof.report.facts import gather
from benchproof.sealing import seal

PUBLISHED = ("report.html", "summary.md")


def main(task: job.Job) -> None:
    """Publish report.html and summary.md and write seal.json; a single hit stops all three."""
    audit = task.params.audit
    results, staged = Path(audit["results"]), Path(task.input.html).parent
    folder = results / audit["label"]
    _prove_scanner(staged.parent)
    told = _told(task, folder)
    graded = {v for repo in task.repositories() for v in leaks.harvest(repo, told)}
    needles = leaks.Needles(graded | leaks.link_secrets(task.book))
    hits, searched = leaks.scan(needles, [folder, staged, *map(Path, task.params.metadata)])
    if hits:
        places = "; ".join(sorted({f"{hit.surface} ({hit.form})" for hit in hits})[:5])
        raise LeakError(
            f"{len(hits)} graded values stand in what would leave: {places}. The report was not written; "
            "delete the files named here before anyone copies them, and report this as a defect."
        )
    job.log.info("searched %d surfaces for %d forms: no graded value", searched, len(needles))
    complete = gather(folder, audit, results).complete
    seal.publish(staged, folder, PUBLISHED)
    seal.write_seal(
        folder,
        {
            "label": audit["label"],
            "complete": complete,
            "notice": audit["made_by"]["notice"],
            "made_by": {"config": audit["made_by"]["config"], "code": provenance.library_digest()},
            "scan": {"forms": len(needles), "hits": 0},
        },
    )
    if complete and not audit["as_of"]:
        seal.point_latest(results, audit["label"])


def _told(task: job.Job, folder: Path) -> list[str]:
    """Return what a run says whatever the answers are: its configuration, folders, pins, and what
    anybody can read of the data: names and counts inside the objects.
    """
    rows = task.pins()
    for name in ("objects", "contents", "files"):
        rows += tables.read(folder / f"{name}.parquet", name)
    cells = [text for row in rows for cell in row.values() for text in _texts(cell)]
    places = [str(Path.cwd()), str(folder), f"{task.params.audit['work']}/"]
    return [(folder / "config.json").read_text(encoding="utf-8"), *places, *cells]


def _texts(cell: object) -> list[str]:
    """Return a cell as plain texts: JSON would write a quote inside a name otherwise than tables do."""
    return [str(item) for item in cell] if isinstance(cell, list) else [str(cell)]


def _prove_scanner(staging: Path) -> None:
    """Run the scanner's own test in a private folder, with a real table of ours."""
    with tempfile.TemporaryDirectory(dir=staging, ignore_cleanup_errors=True) as private:

        def planted(text: str) -> Path:
            path = Path(private, "planted.parquet")
            row = dict.fromkeys(tables.SPECS["readings"].schema.names) | {"reading": text}
            tables.write(path, "readings", [row], {})
            return path

        leaks.self_test(planted, Path(private))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
