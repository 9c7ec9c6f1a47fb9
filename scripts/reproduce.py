"""Compare a report's content tables with those derived again from its commits; rules/reproduce.smk."""

from pathlib import Path

from benchproof import job
from benchproof.analysis import reproduction
from benchproof.errors import BenchproofError, NotReproduced
from benchproof.outputs import CONTENT, replacing
from benchproof.reproducing import compare_folders, missed


def main(task: job.Job) -> None:
    """Show table by table what agrees and how that was found; fail when something differs."""
    audit = task.params.audit
    derived, recorded = Path(audit["results"], audit["label"]), Path(task.params.report)
    if unread := missed(recorded, task.unread()):
        raise BenchproofError(f"{'; '.join(unread)}: not readable now; run reproduce again.")
    outcomes = compare_folders(recorded, derived, CONTENT)
    everything = derived.parent / "differences.txt"
    with replacing(everything) as part:
        part.write_text("".join(f"{line}\n" for line in reproduction.told(outcomes)), "utf-8")
    task.screen("9-reproduce", "\n".join(reproduction.screen(audit["label"], outcomes)))
    differing = [outcome for outcome in outcomes if outcome.differs]
    if differing:
        raise NotReproduced(audit["label"], len(differing), str(everything))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
