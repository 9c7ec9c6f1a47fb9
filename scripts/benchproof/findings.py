"""Findings: what is wrong, where, how bad, and what its owner would do about it.

A rule's severity, wording and remedy stand here once; a stage only says which rule met which place. Ids
are stable over dates: they depend on rule, repository, path and pointer alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from benchproof.errors import NOT_YET
from benchproof.severity import SEVERITIES, Rule

__all__ = [
    "JSON_FLAGS",
    "RULES",
    "SEVERITIES",
    "Finding",
    "Rule",
    "as_json",
    "counted",
    "from_json",
    "of_pins",
    "repeated_keys",
    "rows",
]

#: The rules of all stages but the linter, whose rules stand beside their checks; rulebook.py joins them.

RULES: dict[str, Rule] = {
    # repositories
    "repository_lost": Rule(
        "critical",
        "The repository cannot be audited: it is gone, private, empty, or lacks the ref.",
        "Publish it again, or correct `family` in the configuration.",
    ),
    "repository_renamed": Rule(
        "major",
        "The repository has moved to another name; it was followed on the same host.",
        "Write the new name into `family`.",
    ),
    # listing
    "path_not_utf8": Rule(
        "minor",
        "A path is not UTF-8; it is shown quoted as git does, and tools that need text cannot open it.",
        "Rename the file.",
    ),
    "symlink_among_evals": Rule(
        "minor",
        "A symbolic link stands among the evaluation files; it is not followed and not counted.",
        "Keep one copy of each evaluation and list it in the manifest.",
    ),
    "symlink_leaves_repository": Rule(
        "major",
        "A symbolic link leads out of the repository; it is not followed.",
        "Delete the link.",
    ),
    "symlink_dangling": Rule(
        "minor",
        "A symbolic link leads to nothing inside the repository.",
        "Correct or delete the link.",
    ),
    "submodule_in_tree": Rule(
        "minor",
        "A submodule is part of the tree; its content was not audited.",
        "Audit it as a repository of its own.",
    ),
    "lfs_pointer": Rule(
        "info",
        "A Git LFS pointer stands in place of a file; the content is not in the repository.",
        "None needed.",
    ),
    # manifest against tree
    "evals_folder_moved": Rule(
        "major",
        "The configured evaluations folder does not exist at this commit; another one was found and used.",
        "Set `evals` of this repository to the folder named in the path.",
    ),
    "manifest_missing": Rule(
        "major",
        "There is no manifest; the files themselves were counted.",
        "Publish a manifest that lists every evaluation.",
    ),
    "manifest_unreadable": Rule(
        "critical",
        "The manifest cannot be read as JSON; nothing can be reconciled.",
        "Repair the manifest.",
    ),
    "manifest_shape_unknown": Rule(
        "critical",
        "The manifest has a shape that is not known; the number of evaluations cannot be told.",
        "Use one of the published shapes, or tell us about the new one.",
    ),
    "manifest_row_malformed": Rule(
        "major",
        "A manifest row lacks what its shape needs to name an evaluation.",
        "Complete the row.",
    ),
    "manifest_row_duplicated": Rule(
        "minor",
        "A manifest row repeats another one; counting rows counts this evaluation twice.",
        "Delete the repeated row.",
    ),
    "manifest_rows_conflict": Rule(
        "critical",
        "Two manifest rows name one evaluation and differ in what they say of it.",
        "Decide which row is right.",
    ),
    "manifest_count_differs": Rule(
        "minor",
        "A count stated in the manifest differs from the number of entries beside it.",
        "Correct the count.",
    ),
    "manifest_local_path": Rule(
        "info",
        "The manifest holds absolute paths of somebody's machine.",
        "State paths relative to the repository.",
    ),
    "dangling": Rule(
        "critical",
        "The manifest names an evaluation that has no file.",
        "Add the file or delete the row.",
    ),
    "orphan": Rule(
        "major",
        "An evaluation file is not named in the manifest.",
        "List it, or move it out of the folder.",
    ),
    "id_invalid": Rule(
        "major",
        "An evaluation id could not serve as a name on common systems.",
        "Use letters, digits, '_', '-' and '.'.",
    ),
    "ids_differ_by_case": Rule(
        "minor",
        "Two evaluation ids differ only by case; they collide on common file systems.",
        "Rename one.",
    ),
    # evaluation files
    "eval_unreadable": Rule(
        "critical", "An evaluation file cannot be read as JSON.", "Repair the file."
    ),
    "eval_malformed": Rule(
        "major", "An evaluation file lacks a field that every evaluation has.", "Add the field."
    ),
    "id_differs_from_stem": Rule(
        "minor", "An evaluation's id differs from the name of its file.", "Make the two equal."
    ),
    "id_duplicated": Rule(
        "critical",
        "Two evaluation files carry one id; recorded runs cannot be told apart.",
        "Give each its own id.",
    ),
    "grader_and_graders": Rule(
        "major",
        "An evaluation has both `grader` and `graders`; which one counts is not stated.",
        "Keep one.",
    ),
    "grader_type_unknown": Rule(
        "major",
        "A grader has a type that no public source names.",
        "Publish the rule of this type.",
    ),
    "grader_config_invalid": Rule(
        "critical",
        "A grader's configuration cannot be applied as published.",
        "Correct the configuration.",
    ),
    "handle_malformed": Rule(
        "major", "A data handle does not have the form of one.", "Correct the handle."
    ),
    "json_duplicate_key": Rule(
        "minor",
        "A JSON object repeats a key; the last one counts here, another reader may take the first.",
        "Delete the repeated key.",
    ),
    "json_bom": Rule(
        "minor",
        "A JSON file begins with a byte order mark; strict readers refuse it.",
        "Save without BOM.",
    ),
    "json_nonfinite": Rule(
        "minor",
        "A JSON file holds a bare NaN or Infinity; strict readers refuse it.",
        "Write null or text instead.",
    ),
    "licence_absent": Rule(
        "major",
        "There is no licence file; nobody may use what is published.",
        "Add one.",
    ),
    "licence_altered": Rule(
        "major",
        "The licence file differs from the Apache License 2.0 in its words, beyond what is filled in.",
        "Publish the unaltered text, or give the altered licence a name of its own.",
    ),
    # data behind the handles
    "names_equal_labels": Rule(
        "major",
        "A column or key inside the data of an evaluation spells a graded label.",
        "Rename it, or take it out of what an agent is given.",
        withheld=True,
    ),
    # recorded runs
    "run_path_unknown": Rule(
        "minor",
        "A recorded run does not lie where runs lie: <eval>/<provider>/<model>/<harness>/r<k>/result.json.",
        "Move it, or state the layout.",
    ),
    "run_unreadable": Rule(
        "major",
        "A recorded run cannot be read; it counts as unreadable, not as failed.",
        "Repair it.",
    ),
    "run_eval_missing": Rule(
        "major",
        "A recorded run names an evaluation that the repository does not hold.",
        "Publish the evaluation.",
    ),
    "verdict_differs": Rule(
        "critical",
        "The recorded verdict does not follow from the published rule and the recorded answer.",
        "Grade the run again, or publish the rule that was used.",
    ),
    "score_differs": Rule(
        "major",
        "The recorded score does not follow from the published rule and the recorded answer.",
        "Grade it again.",
    ),
    "field_differs": Rule(
        "major",
        "A recorded field verdict does not follow from the published rule and answer.",
        "Grade it again.",
    ),
    "record_contradicts_itself": Rule(
        "major", "A record states two different verdicts for one run.", "Decide which one is right."
    ),
    "verdict_missing": Rule(
        "major", "A run submitted an answer and records no verdict.", "Grade the run."
    ),
    "verdict_without_answer": Rule(
        "major", "A run submitted nothing and yet records a verdict.", "Explain the verdict."
    ),
    "answer_differs": Rule(
        "major", "A record holds two different answers of one run.", "Say which answer was graded."
    ),
    "run_names_other_eval": Rule(
        "major",
        "A record names another evaluation than the folder it lies in.",
        "Move the run, or correct what the record names.",
    ),
    "record_incomplete": Rule(
        "minor",
        "A record of a verdict lacks its score, its fields or its model, or writes them in another type.",
        "Record them as the other runs do.",
    ),
    "run_time_impossible": Rule(
        "major",
        "A record states a running time below zero, or far above the time limit that it states.",
        "Correct the time, or say why the limit did not hold.",
    ),
    "truth_differs": Rule(
        "critical",
        "The truth that the grader noted is not the published one: the run was graded against another.",
        "Grade the run again, or publish the truth that was used.",
    ),
    "model_differs": Rule(
        "minor",
        "The model or harness a record names differs from the folder it lies in.",
        "Correct one of the two.",
    ),
    "result_nonfinite": Rule(
        "minor", "A record holds a score that is not a finite number.", "Grade the run again."
    ),
}


#: What a parser notes about a JSON text (jsontext), and the rule it meets; repeated keys are told apart.
JSON_FLAGS = {"bom": "json_bom", "nonfinite_literal": "json_nonfinite"}
#: Keys of evaluation files and records that say nothing about an answer.
_FORMAT_KEYS = frozenset(
    (
        "answer agent_answer canary children config data_node eval_id field_scores grader grader_result "
        "graders ground_truth harness id kit metadata metrics model_name notes passed reasoning result "
        "score scoring task test_id tolerances trial_index type value lower upper"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that a rule met. `pointer` is a JSON pointer or a short text inside the file."""

    rule: str
    repo: str
    path: str | None = None
    pointer: str | None = None
    commit_sha: str | None = None
    blob_sha: str | None = None
    stage: str = ""
    detail: str = ""

    @property
    def finding_id(self) -> str:
        """Stable over dates, commits and wording."""
        key = "\0".join((self.rule, self.repo, self.path or "", self.pointer or ""))
        return f"{self.rule}.{sha256(key.encode()).hexdigest()[:10]}"


def repeated_keys(
    repo: str, path: str, blob_sha: str, names: Iterable[str], public: str
) -> list[Finding]:
    """Return the finding of a file that repeats keys; a key is named only when it is public anyway.

    Public are the words of the format, and what stands in the prompt: other keys may be graded labels.
    """
    listed = list(names)
    words = set(re.findall(r"\w+", public))
    shown = [name for name in listed if name in _FORMAT_KEYS or name in words]
    hidden = f", {len(listed) - len(shown)} not named here" if len(shown) < len(listed) else ""
    detail = f"Duplicate key: {', '.join(shown)}{hidden}." if shown else ""
    return (
        [Finding("json_duplicate_key", repo, path, blob_sha=blob_sha, detail=detail)]
        if listed
        else []
    )


def of_pins(pins: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """Return what the pins themselves say: repositories that are lost or have moved. One that had no commit
    yet, on the date that an audit of the past looks at, isn't lost.
    """
    lost = ("missing", "private", "empty", "ref_missing")
    rule_of = {**dict.fromkeys(lost, "repository_lost"), "renamed": "repository_renamed"}
    return [
        Finding(
            rule_of[pin["status"]],
            pin["repo"],
            commit_sha=pin["commit_sha"],
            stage="pin_commits",
            detail=f"Status: {pin['status']}.",
        )
        for pin in pins
        if pin["status"] in rule_of and pin["reason"] != NOT_YET
    ]


def rows(found: Iterable[Finding], rules: Mapping[str, Rule] = RULES) -> list[dict[str, Any]]:
    """Return table rows by id, one for each: a place that a rule meets twice is one finding."""
    listed = sorted(set(found), key=_whole)
    first = {f.finding_id: f for f in reversed(listed)}
    return [_row(first[finding_id], rules[first[finding_id].rule]) for finding_id in sorted(first)]


def counted(found: Iterable[Finding], rules: Mapping[str, Rule]) -> list[Finding]:
    """Return findings as results may show them: those of withheld rules as one number a repository."""
    shown: list[Finding] = []
    places: dict[tuple[str, str], dict[str, Finding]] = {}
    for item in found:
        if rules[item.rule].withheld:
            places.setdefault((item.rule, item.repo), {})[item.finding_id] = item
        else:
            shown.append(item)
    return shown + [_number(list(met.values())) for _, met in sorted(places.items())]


def _number(met: list[Finding]) -> Finding:
    """One finding for all places of a withheld rule in a repository; its id doesn't depend on them."""
    files = len({item.path for item in met})
    many = f"{len(met)} place{'s' * (len(met) > 1)} in {files} file{'s' * (files > 1)}"
    return Finding(
        met[0].rule,
        met[0].repo,
        commit_sha=met[0].commit_sha,
        stage=met[0].stage,
        detail=f"{many}; the maintainer's list in the vault says where.",
    )


def _whole(found: Finding) -> tuple[str, ...]:
    """Everything a finding says, so that which of two equal ids is kept depends on no order."""
    return (found.finding_id, *(getattr(found, name) or "" for name in Finding.__slots__))


def as_json(found: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return findings as plain values for the hand-over inside the vault."""
    return [{name: getattr(f, name) for name in Finding.__slots__} for f in found]


def from_json(values: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """Return the findings that `as_json` wrote."""
    return [Finding(**value) for value in values]


def _row(found: Finding, rule: Rule) -> dict[str, Any]:
    return {
        "finding_id": found.finding_id,
        "repo": found.repo,
        "path": found.path,
        "commit_sha": found.commit_sha,
        "blob_sha": found.blob_sha,
        "pointer": found.pointer,
        "rule": found.rule,
        "severity": rule.severity,
        "message": f"{rule.message} {found.detail}".strip(),
        "remedy": rule.remedy,
        "stage": found.stage,
    }
