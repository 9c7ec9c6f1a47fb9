"""Derive a date under several conditions and compare all bytes; rules/determinism.smk."""

from pathlib import Path

from benchproof import job
from benchproof.determinism import words
from benchproof.determinism.deriving import Recorded, pins_of
from benchproof.determinism.gate import judge
from benchproof.errors import NotDeterministic
from benchproof.outputs import replacing
from benchproof.sealing.seal import SEAL
from benchproof.vault import read_json


def main(task: job.Job) -> None:
    """Show the observed conditions and what differs; fail for that, and for a condition without effect."""
    audit = task.params.audit
    own = Path(audit["results"], audit["label"])
    mirrored = read_json(Path(task.input.mirror))
    recorded = Recorded(
        audit["label"],
        {**task.settings(), "date": None if audit["as_of"] else audit["label"]},
        task.family,
        pins_of(task.pins()),
        {repo: it["reason"] for repo, it in mirrored.items() if it["status"] != "ok"},
        own if (own / SEAL).exists() else None,
    )
    found = judge(recorded, task.vault, task.params.python, own)
    kept = own.parent / "determinism" / audit["label"] / "summary.md"
    with replacing(kept) as part:
        part.write_text(words.summary(found), encoding="utf-8")
    task.screen("9-determinism", "\n".join([*words.screen(found), f"  all of it: {kept}"]))
    if not found.holds:
        raise NotDeterministic(audit["label"], words.faults(found), str(kept))


if "snakemake" in globals():
    job.run(main, globals()["snakemake"])
