"""Files of recorded runs, told by their ids alone: copies, and runs of which a part is missing."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from benchproof.inventory.lint.registry import LINT, Place, Places
from benchproof.inventory.lint.subject import Subject

_RECORD: Final = "result.json"
_ANSWER: Final = "eval_answer.json"
#: What no two runs have alike: each names times, costs and every step.
_OWN: Final = (_RECORD, "trajectory.json", "harness_outputs.jsonl")
#: Shorter files may be alike: an empty log is one.
_EMPTY: Final = {
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}


def _folders(subject: Subject) -> dict[str, dict[str, str]]:
    """Return the ids of the files of each recorded run, by its folder and their names."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path, sha in subject.shas.items():
        folder, _, name = path.rpartition("/")
        if name in (*_OWN, _ANSWER):
            found[folder][name] = sha
    return found


@LINT.repository(
    "run_repeated",
    "critical",
    "A recorded run is a copy of another one: the two have a file alike that no two runs share.",
    "Record the run that was made, or delete the copy.",
)
def run_repeated(subject: Subject) -> Places:
    """Equal bytes of a record, a trajectory or a harness's output, at every folder but the first."""
    first: dict[tuple[str, str], str] = {}
    for folder, files in sorted(_folders(subject).items()):
        same = [
            first.setdefault((name, files[name]), folder)
            for name in _OWN
            if name in files and files[name] not in _EMPTY
        ]
        other = next((one for one in same if one != folder), None)
        if other is not None:
            yield Place(f"{folder}/{_RECORD}" if _RECORD in files else folder, detail=f"{other}.")


@LINT.repository(
    "run_record_missing",
    "major",
    "A run left files and no record: it counts as if it had never been made.",
    "Publish its result.json, or say why the run was dropped.",
)
def run_record_missing(subject: Subject) -> Places:
    """A trajectory or an answer without result.json beside it."""
    for folder, files in sorted(_folders(subject).items()):
        if _RECORD not in files and folder:
            yield Place(f"{folder}/{min(files)}")


@LINT.repository(
    "run_answer_missing",
    "minor",
    "A recorded run lacks the file of its answer, which most others have.",
    "Publish eval_answer.json beside the record.",
)
def run_answer_missing(subject: Subject) -> Places:
    """result.json without eval_answer.json, where at least half of the records have one."""
    records = {folder: files for folder, files in _folders(subject).items() if _RECORD in files}
    lacking = sorted(folder for folder, files in records.items() if _ANSWER not in files)
    if 2 * len(lacking) <= len(records):
        yield from (Place(f"{folder}/{_RECORD}") for folder in lacking)
