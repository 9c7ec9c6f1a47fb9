"""What every table, column, status and reason means: docs/*.md and the report's last section say it.

Tests hold it to `tables.SPECS` and to the words that stand in the sources.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

Texts = Mapping[str, str]

#: What one row of each table is.
TABLES: Final[Texts] = {
    "pins": "a repository of the family, and the commit it was audited at",
    "tree": "an entry of a pinned tree: a file, a symbolic link or a submodule",
    "manifest": "a row of a repository's manifest, as stated",
    "reconciliation": "a repository: its manifest against its tree, counted",
    "evals": "an evaluation file, projected without what carries answers",
    "eval_handles": "a data handle that an evaluation names",
    "graders": "a grader object of an evaluation; nested ones have rows of their own",
    "tolerances": "a tolerance entry of a grader: its keys, never its values",
    "licences": "a licence file at a repository's root, or the lack of one",
    "handles": "a distinct data handle, and the signer's answer for it",
    "runnable": "an evaluation, and how many of its handles resolve",
    "objects": "a reachable handle's object: what it is and how large",
    "contents": "an object looked into by ranged reads: names and shapes, never data",
    "files": "a chosen snapshot: how its bytes are proven, and what reads it",
    "runs": "a recorded run: what was recorded, and what the published rule gives",
    "run_fields": "a graded field of a run, recorded and derived",
    "readings": "a plausible misreading of the rules, and what it would have changed",
    "models": "a model and harness in one repository, from recorded verdicts",
    "estimates": "an accuracy of a model and harness: whose verdicts, and by which method its interval",
    "strata": "runs of a task, kit, grader build, harness or evaluation, of one model or of all",
    "comparisons": "two models of one repository, paired by the evaluations that both have",
    "record_checks": "a check of a repository's recorded runs against themselves, counted",
    "published": "an accuracy that a results file or README publishes",
    "published_checks": "a check of one published accuracy, or of one that is published twice",
    "claims": "what a source says of the family, against the tables",
    "findings": "something that is wrong in the publication",
    "data_findings": "something that is wrong in the data behind the handles",
    "traffic": "what one stage asked one host for",
    "timeline": "a commit of a repository's past that touches what is audited, and what its audit counts",
    "drift": "a difference between two reports: of one column, or a row that is new, gone or not observed",
}

_SHARED: Final[Texts] = {
    "repo": "the repository, owner/name as the configuration has it",
    "path": "path inside the repository; quoted as git does when it is not printable UTF-8",
    "eval_id": "the id that the evaluation file states",
    "blob_sha": "git's object id of the file's bytes, hex",
    "handle": "the data handle, latch://…; one that is malformed is shown without userinfo and query",
    "status": "what became of the row, a fixed word: docs/statuses.md",
    "reason": "why, a fixed code: docs/reasons.md; null when the status says it all",
    "checked_at": "when the server was asked, UTC; what was known already keeps its earlier time",
    "etag": "the object's strong ETag without its quotes; null when the server names none",
    "size_bytes": "bytes of the whole object; null when not known",
    "n_obs": "number of observations (cells, spots); null when not known",
    "n_vars": "number of variables (genes, features); null when not known",
    "failure_mode": "how it fails: format_error, missing_field, type_error or wrong_value; null otherwise",
    "position": "place of the grader: 0, or 0.1 for the second child of the first",
    "task": "the task category that it states; null when it states none",
    "kit": "the kit or platform that it states; null when it states none",
    "run_path": "path of the run's result.json inside the repository",
    "model": "the model, from the run's path",
    "harness": "the harness that drove the model, from the run's path",
}


def _columns(shared: str, own: Texts) -> dict[str, str]:
    """Return a table's texts: columns that mean the same everywhere, and its own."""
    return {name: _SHARED[name] for name in shared.split()} | dict(own)


_FINDING: Final = _columns(
    "repo",
    {
        "finding_id": "the rule and ten hex digits over repository, path and pointer; stable over dates",
        "path": "the file it is about; null for a whole repository and where places are withheld",
        "commit_sha": "the commit it was found at; null when there is none",
        "blob_sha": "git's object id of the file; null when it is about no single file",
        "pointer": "a JSON pointer, or a few words that say where in the file; null for all of it",
        "rule": "what kind of finding it is: docs/findings.md",
        "severity": "critical, major, minor or info",
        "message": "what is wrong, in a sentence, with details that may be told",
        "remedy": "what the owner would do about it",
        "stage": "the rule of the workflow that found it",
    },
)
#: What each column of each table holds, with its unit.
COLUMNS: Final[Mapping[str, Texts]] = {
    "pins": _columns(
        "repo status reason",
        {
            "ref": "the branch, tag or commit that the configuration names",
            "commit_sha": "the commit, hex; null when there is none",
            "tree_sha": "git's object id of the commit's tree, hex",
            "committed_at": "the commit's committer date, UTC",
            "resolved_repo": "the name that a renamed repository has now; null when it kept its name",
            "repo_id": "GitHub's numeric id of the repository; null where the source can't know it",
            "source": "what it was asked through: git, github, or none when offline",
        },
    ),
    "tree": _columns(
        "repo path blob_sha status reason",
        {
            "mode": "git's octal mode: 100644, 100755, 120000 (symlink) or 160000 (submodule)",
            "kind": "file, lfs (a Git LFS pointer), symlink or submodule",
            "size": "bytes of the content; null where the audit did not read it",
            "lfs_size": "bytes that a Git LFS pointer states; null for everything else",
        },
    ),
    "manifest": _columns(
        "repo task kit status reason",
        {
            "row": "number of the row in the manifest, from 1",
            "eval_id": "the id that the row states; null when it states none",
            "path": "the evaluation file it leads to, else the path it states; null without either",
            "benchmark": "the row's own flag `benchmark`; null when it has none",
            "duplicate_of": "number of the first row about the same evaluation; null for the first",
        },
    ),
    "reconciliation": _columns(
        "repo status reason",
        {
            "rows": "manifest rows, repeated ones included; null when not known",
            "evals": "distinct evaluations listed; without a manifest those in files; null when not known",
            "files": "evaluation files in the tree",
            "orphans": "evaluation files that no manifest row leads to",
            "dangling": "listed evaluations that no row leads to a file of",
            "duplicates": "rows beyond the first of each evaluation; null without a manifest",
            "shape": "the manifest's shape: a list of ids, b with paths, c examples, d by platform, e none",
            "folder": "the folder that holds the evaluations",
        },
    ),
    "evals": _columns(
        "repo path eval_id blob_sha task kit status reason",
        {
            "time_horizon": "metadata.time_horizon as stated; null when absent or no text",
            "eval_type": "metadata.eval_type as stated; null when absent or no text",
            "metadata_keys": "keys of metadata, sorted",
            "fields": "keys of the file's object, sorted",
            "prompt_chars": "characters of the prompt; null when it is no text",
            "has_canary": "true when the file has a canary",
            "has_notes": "true when the file has notes",
            "grader_form": "grader, graders (a list) or none",
            "n_graders": "grader objects, nested ones included",
            "n_handles": "distinct data handles",
        },
    ),
    "eval_handles": _columns("repo eval_id handle status reason", {}),
    "graders": _columns(
        "repo eval_id position status reason",
        {
            "type": "the grader's type as stated; null when it states none",
            "rule_status": (
                "whether its rule can be applied: published, undetermined, not_supported, unknown_type or "
                "invalid_config"
            ),
        },
    ),
    "tolerances": _columns(
        "repo eval_id position status reason",
        {
            "field": "the answer's field that the tolerance is for",
            "declared_type": "the entry's `type` when it is a plain word; null otherwise",
            "keys": "the entry's keys that are plain words, sorted",
            "mode": (
                "how its keys are read: exact, symmetric, offsets, relative, min, max or undetermined; null "
                "when it is no object"
            ),
        },
    ),
    "licences": _columns(
        "repo status reason",
        {
            "path": "the licence file; null when there is none",
            "blob_sha": "git's object id of the file, hex; null when there is none",
            "class": (
                "against the canonical Apache License 2.0: verbatim, whitespace, altered_text, other, absent"
            ),
            "deviations": "parts of the text that differ, each with words deleted and added",
            "data_terms": "terms of the data behind the handles: no licence file states any",
        },
    ),
    "handles": _columns(
        "handle status reason checked_at",
        {
            "http_status": "HTTP status of the signer's answer; null without an answer",
            "n_evals": "evaluations that name the handle",
        },
    ),
    "runnable": _columns(
        "repo eval_id",
        {
            "n_handles": "handles that the evaluation names",
            "n_reachable": "those that anybody gets a link for",
            "n_refused": "those that the signer refuses",
            "n_unknown": "those without an answer that settles it",
            "runnable": "all, some or none of its data can be had; unknown while that can still change",
            "checked_at": "when the latest of its handles was asked for, UTC",
        },
    ),
    "objects": _columns(
        "handle status reason size_bytes etag checked_at",
        {
            "container": (
                "by its first bytes: hdf5, bam, vcf, bgzf, gzip, zip, parquet, bigwig, tar, text, empty, "
                "error_page or unknown"
            ),
            "header": "what the container's own header says, in a few words; null when nothing",
            "last_modified": "Last-Modified of the object, UTC",
        },
    ),
    "contents": _columns(
        "handle status reason n_obs n_vars checked_at",
        {
            "container": "as in objects; only hdf5 is looked into",
            "x_encoding": "encoding of X: array, csr_matrix, csc_matrix, …; absent without X",
            "x_dtype": "dtype of X's values",
            "nnz": "stored values of a sparse X; null for a dense one",
            "obs_columns": "columns of obs, each `name: type`; their values are never read",
            "var_columns": "columns of var, each `name: type`",
            "layers": "layers, each `name: encoding dtype (shape)`",
            "obsm": "members of obsm, each `name: encoding dtype (shape)`",
            "obsp": "members of obsp, each `name: encoding dtype (shape)`",
            "varm": "members of varm, each `name: encoding dtype (shape)`",
            "uns": "keys of uns",
            "raw": "encoding, dtype and shape of raw.X; null without raw",
            "encoding_version": "encoding-version of the root; null for files older than 0.8",
            "bytes_read": "bytes that were read of the object for this row",
            "requests": "ranged requests that this row took",
        },
    ),
    "files": _columns(
        "handle status reason size_bytes etag n_obs n_vars checked_at",
        {
            "sha256": "SHA-256 of the whole file, hex; null when it was not fetched",
            "verified_by": (
                "what proves the bytes: md5 (the ETag is their MD5), parts (that of their parts), or size"
            ),
            "reader": "what read the file, or which encoding stopped it, in a few words",
            "path": "where the file lies, relative to the vault; null when it was not fetched",
            "bytes_fetched": "bytes that were moved for it, repeated ones included; 0 when it was here",
        },
    ),
    "runs": _columns(
        "repo run_path model harness status reason failure_mode",
        {
            "blob_sha": "git's object id of result.json, hex: another record has another one",
            "eval_id": "the evaluation, from the run's path, else from the record",
            "provider": "the model's provider, from the run's path",
            "replicate": "number of the repetition, from the run's path",
            "grader_version": "the grader build that the record names; null when not recorded",
            "grader_type": "type of the published grader; null without one",
            "recorded_passed": "the recorded verdict; null when none was recorded",
            "derived_passed": "the verdict of the published rule; null when it gives none",
            "recorded_score": "the recorded score, 0 to 1",
            "derived_score": "the score of the published rule, 0 to 1; null when none is published",
            "passed_agrees": "true when both verdicts are equal; null without two to compare",
            "score_agrees": "true when both scores are equal within 1e-9; null without two to compare",
            "fields_agree": "true when all field scores are equal; null without two sides to compare",
            "edge": "how close the answer is to a bound: on_bound, within_ulp or clear; null without one",
            "tier": "the weakest source the verdict needs: A published, B older code or configs, C inferred",
            "contested": "true when the older public grader gives the opposite verdict",
        },
    ),
    "run_fields": _columns(
        "repo run_path failure_mode",
        {
            "field": "the field of the answer",
            "recorded_pass": "whether the record says that it passed; null when it doesn't say",
            "derived_pass": "whether it passes by the published rule; null when not settled",
        },
    ),
    "readings": _columns(
        "",
        {
            "reading": "name of the misreading; report.html says what each is",
            "runs": "graded runs it was tried on",
            "applies": "those in which it reads at least one field otherwise",
            "verdicts_changed": "runs whose verdict it turns",
            "fields_changed": "fields whose outcome it turns",
        },
    ),
    "models": _columns(
        "repo model harness",
        {
            "n_evals": "evaluations with at least one run that counts",
            "n_runs": "recorded runs",
            "n_passed": "runs whose recorded verdict is passed",
            "n_no_submission": "runs that submitted nothing; they count 0",
            "n_unreadable": "runs whose record cannot be read; they count nothing",
            "n_missing": "runs that every evaluation times the most replicates would have and that lack",
            "accuracy": "mean over evaluations of the mean over their runs, a fraction",
            "accuracy_all": "the same with missing and unreadable runs counted as failed, a fraction",
            "ci_low": "lower end of the 95 % t interval, a fraction, may be below 0; null for one evaluation",
            "ci_high": "upper end of the 95 % t interval, a fraction, may be above 1",
            "complete": "true when no run is missing or unreadable",
        },
    ),
    "estimates": _columns(
        "repo model harness status reason",
        {
            "verdicts": "recorded, or derived from the published rule and the recorded answers",
            "method": "t (two-stage mean), bootstrap (of evaluations), or wilson (runs as if independent)",
            "n_evals": "evaluations with a verdict",
            "n_runs": "runs with a verdict; one that submitted nothing counts, as failed",
            "n_passed": "runs that pass",
            "n_missing": "runs that a complete set would hold beside these",
            "estimate": "the accuracy, 0 to 1: two-stage mean, or passed runs over runs for wilson",
            "low": "lower end of the 95 % interval; t is not clipped; null below two evaluations",
            "high": "upper end of the 95 % interval; t is not clipped; null below two evaluations",
            "rank": "place among the models of the repository by two-stage mean; equal ones share it",
            "tied": "how many other models share that place",
        },
    ),
    "strata": _columns(
        "repo status reason",
        {
            "axis": "task, kit, grader_build, harness or eval",
            "stratum": "the task, kit, build, harness or evaluation",
            "model": "the model; null for all together",
            "harness": "the harness that drove the model; null for all together",
            "n_evals": "evaluations with a verdict",
            "n_runs": "runs with a verdict; one that submitted nothing counts, as failed",
            "n_passed": "runs that pass",
            "n_no_submission": "runs that submitted nothing",
            "n_unreadable": "runs that cannot be read; they count nothing",
            "accuracy": "two-stage mean of recorded verdicts, 0 to 1",
            "ci_low": "lower end of the 95 % t interval, not clipped; null below two evaluations",
            "ci_high": "upper end of the 95 % t interval, not clipped; null below two evaluations",
        },
    ),
    "comparisons": _columns(
        "repo model harness status reason",
        {
            "other_model": "the model that it is compared with",
            "other_harness": "the harness of that one",
            "n_evals": "evaluations that both have a verdict of",
            "n_ahead": "evaluations on which the first passes more of its replicates",
            "n_behind": "evaluations on which the second does",
            "n_tied": "evaluations on which both pass the same share",
            "difference": "mean over evaluations, first minus second; null without a shared one",
            "ci_low": "lower end of its 95 % t interval; null below two evaluations",
            "ci_high": "upper end of its 95 % t interval; null below two evaluations",
            "p": "exact two-sided sign-flip test of no difference, to four digits",
            "p_holm": "p after Holm's correction for all comparisons of the repository",
            "n_comparisons": "how many comparisons that corrects for",
        },
    ),
    "record_checks": _columns(
        "repo status reason",
        {
            "check": "the check, a fixed word",
            "statement": "what holds where it holds",
            "n_holds": "runs of which it holds",
            "n_fails": "runs of which it does not; findings say which",
            "n_not_checked": "runs that do not tell, or of which it cannot be known",
        },
    ),
    "published": _columns(
        "repo path model status reason",
        {
            "place": "where in the file: a row, or a JSON pointer",
            "axis": "model (a total), category or platform (a part)",
            "stratum": "the category or platform; null for a total",
            "model": "the model, as the file spells it",
            "harness": "the harness, as the file spells it; null where it names none",
            "n_evals": "number of evaluations that the file states; null when it states none",
            "replicates": "runs per evaluation, as the repository's files state it or its runs show",
            "accuracy": "percent, as published; null for what is no number",
            "ci_low": "lower end of the published interval, percent; null without one",
            "ci_high": "upper end of the published interval, percent; null without one",
            "passes_least": "fewest passed runs that round to it; null when not known or none do",
            "passes_most": "most passed runs that round to it; null when not known or none do",
        },
    ),
    "published_checks": _columns(
        "repo path status reason",
        {
            "place": "where in the file: a row, or a JSON pointer",
            "check": "what was checked, a fixed word",
            "against": "the column and file, or the parts, that it was held against; empty for itself",
            "subject": "model, harness and part, for people",
            "expected": "what would be right; null when it was not checked",
            "observed": "what is published; null when it was not checked",
        },
    ),
    "claims": _columns(
        "status reason",
        {
            "claim_id": "the claim's name, stable over dates; config/accepted.yaml takes it",
            "kind": "invariant (holds whatever is published) or observation (was true of a day)",
            "as_of": "the day of the source, YYYY-MM-DD",
            "source": "who says so",
            "topic": "what several sources speak of; null for a claim that stands alone",
            "says": "the claim in a sentence",
            "repos": "the members of the family that it needs",
            "expected": "the value that is claimed, or its bounds",
            "observed": "the value that the tables give; null when it was not checked",
        },
    ),
    "findings": _FINDING,
    "data_findings": _FINDING
    | {"checked_at": "when the latest of the looked-into objects was asked for, UTC"},
    "traffic": _columns(
        "",
        {
            "stage": "the rule of the workflow that asked",
            "host": "the host that was asked",
            "requests": "requests sent, retries included",
            "bytes_in": "bytes of answers' bodies as they crossed the wire",
            "retries": "requests that were sent again after a failure",
            "throttled": "answers that asked to wait",
            "waited_s": "seconds spent waiting between tries",
        },
    ),
    "timeline": _columns(
        "repo status reason",
        {
            "position": "place in the series, 1 for the oldest; null when the repository has none",
            "commit_sha": "the commit; its tables lie in the folder of this name",
            "committed_at": "the committer's time, UTC",
            "parents": "number of its parents; 2 or more for a merge, null when not asked for",
            "changed_paths": "paths it changes: of a merge, against all its parents; null when not asked for",
            "shape": "form of the manifest, as in reconciliation",
            "rows": "rows of the manifest; null when it cannot be read",
            "evals": "distinct evaluations, as in reconciliation; null when they cannot be counted",
            "files": "evaluation files",
            "orphans": "evaluation files that the manifest does not name",
            "dangling": "evaluations that the manifest names and that have no file",
            "graders": "evaluations that publish a grading rule",
            "handles": "distinct data handles",
            "runs": "recorded runs",
            "graded": "runs that the published rule gives a verdict for",
            "agreeing": "graded runs whose recorded verdict is the same",
            "critical": "findings of this severity",
            "major": "findings of this severity",
            "minor": "findings of this severity",
            "info": "findings of this severity",
        },
    ),
    "drift": {
        "table": "the table that differs",
        "key": "the row's key as a JSON list, in the order of the table's key; empty for a whole table",
        "change": "added, removed, changed, renamed or not_observed",
        "column": "the column that changed; null for a whole row",
        "old": "its earlier value as text, lists as JSON; null for null and for a whole row",
        "new": "its later value as text, lists as JSON; null for null and for a whole row",
        "severity": "critical, major, minor or info: docs/drift.md says which change is which",
        "cause": "upstream, storage, benchproof (another version) or config",
        "group_id": "rows with one id are one change, seen in several places",
        "renamed_from": "the key that a renamed row had; null for every other change",
        "commit_sha": "the newest commit between the two that touches it; null when there is none to name",
    },
}

#: Words that mean the same in every table that has them.
_UNKNOWN: Final = {
    "unknown": "there was no answer, so nothing was learnt; run again to ask once more"
}
_OUTAGES: Final = _UNKNOWN | {
    "throttled": (
        "the server asked to wait longer than http.max_wait_s allows; run again to ask once more"
    ),
    "stalled": "the answer stopped coming and stayed away; run again to go on from there",
}
_OBJECT: Final = _OUTAGES | {
    "denied": "the signer or storage refuses the object, though a link was given for its handle before",
    "missing": "a link was given, and storage says that there is no such object",
}
#: What each status means, by table; tables that are not here have no such column.
_CHECKED: Final = {
    "holds": "it is so",
    "fails": "it is not so, for one at least",
    "not_checked": "it could not be checked, or nothing is there to be checked",
}
_GONE: Final = {
    "missing": "the server says that there is no such repository, or hides it",
    "private": "the server asks for credentials",
    "empty": "the repository has no commit",
    "ref_missing": "the repository has no such branch, tag or commit",
}
_SIZES: Final = {
    "ok": "as many evaluations as it takes to say something",
    "small_n": "so few evaluations that the numbers say little; the reason says how little",
}

STATUSES: Final[Mapping[str, Texts]] = {
    "pins": _UNKNOWN
    | _GONE
    | {
        "ok": "the ref was resolved to a commit",
        "renamed": "the repository has moved; it was followed on the same host",
    },
    "tree": {"ok": "the entry belongs to a listing that was proven against the pinned tree"},
    "manifest": {
        "ok": "the row leads to an evaluation file",
        "malformed": "the row lacks what its shape requires, so it names nothing",
        "invalid_id": "the id could not serve as a name on common systems",
        "dangling": "the row names an evaluation that has no file",
        "duplicate_identical": "the row repeats an earlier one",
        "duplicate_conflicting": "the row contradicts an earlier one about the same evaluation",
    },
    "reconciliation": {
        "ok": "the manifest was read and compared with the tree",
        "no_manifest": "there is no manifest; the files themselves were counted",
        "unknown_shape": "the manifest cannot be understood; the number of evaluations is not known",
        "not_read": "the content could not be had, so nothing was counted",
    },
    "evals": {
        "ok": "read and understood",
        "unreadable": "the file cannot be read as JSON; it is there, and that is all that is known",
        "malformed": "the file is no JSON object or states no id",
        "invalid_id": "the id could not serve as a name on common systems",
        "duplicate_id": "another file states the same id; this one has no rows of its own elsewhere",
    },
    "eval_handles": {
        "ok": "it has the form of a handle",
        "malformed": "it is no handle (latch://…); it is sent to nobody",
    },
    "graders": {"ok": "it was looked at; rule_status says whether its rule can be applied"},
    "tolerances": {
        "ok": "the entry is an object with keys",
        "malformed": "the entry is no JSON object",
    },
    "licences": {
        "ok": "the file was compared with the canonical text",
        "missing": "there is no licence file at the repository's root",
    },
    "handles": _UNKNOWN
    | {
        "reachable": "the signer gives a link for the handle to anybody who asks",
        "refused": (
            "the signer says that the handle is not shared or does not exist; it doesn't say which"
        ),
        "unauthorized": "the signer wants credentials for this handle",
        "malformed": "it is no handle, or the signer's answer holds no link that can be used",
    },
    "objects": _OBJECT
    | {
        "ok": "storage serves the object; its first bytes say what it is",
        "changed": "storage serves another version than was asked for",
        "unsupported": "the object is there, and storage does not serve a range of it as asked",
    },
    "contents": _OBJECT
    | {
        "ok": "looked into and understood",
        "changed": "the object was replaced while it was looked into, twice",
        "unsupported": (
            "the object is there, and this reader can't tell what is inside; the reason says why"
        ),
        "truncated": "the object is shorter than its own header says",
    },
    "files": _OBJECT
    | {
        "ok": "fetched, proven as verified_by says, and read",
        "changed": "the object was replaced while it was fetched, twice, or by one that is too large",
        "unsupported": (
            "the file or object is there, and what was asked for can't be done; the reason says why"
        ),
        "truncated": "the file is shorter than the server's object, or than its own header says",
        "mismatch": "the content is not what was announced; the reason says by what",
        "too_large": "chosen, and more than fetch.max_total_bytes allows; nothing was fetched",
        "unresolved": "chosen, and its handle could not be resolved",
    },
    "runs": {
        "graded": "the published rule gives a verdict for this run",
        "no_submission": "the agent submitted nothing; counts 0",
        "rule_not_published": (
            "the evaluation ships no grader, so nobody outside can check the verdict"
        ),
        "rule_undetermined": "public sources do not settle the rule for this case",
        "not_supported": "the rule is published and not implemented here",
        "invalid_config": "the published rule cannot be applied as it stands",
        "unreadable": "the record cannot be read, or has another shape than every published one",
        "eval_missing": "the run names an evaluation that the repository does not hold",
    },
    "timeline": _GONE
    | {
        "ok": "derived in full: its tables lie in the folder of its name",
        "unknown": "its commits or content could not be had; the next run asks again",
        "failed": "its content is here and its tables could not be made; the log says where",
    },
    "estimates": _SIZES,
    "strata": _SIZES
    | {
        "never_passed": "no recorded run of the evaluation passes",
        "always_passed": "every recorded run of the evaluation passes",
    },
    "comparisons": _SIZES | {"not_comparable": "the two have no evaluation in common"},
    "record_checks": _CHECKED,
    "published": {
        "ok": "a number that no check contradicts",
        "contradicted": "some check fails: published_checks and findings say which",
        "malformed": "it is no number",
    },
    "published_checks": _CHECKED,
    "claims": _CHECKED
    | {
        "fails": "an invariant does not hold, or an observation at the very commit that it names",
        "drifted": "an observation that was true of its day, and no longer is",
    },
}

#: Codes of the storage service that are met most; others stand in tables in the same style.
STORAGE_CODES: Final[Texts] = {
    "access_denied": "storage refuses to serve the object",
    "account_problem": "storage has locked the account that the object belongs to",
    "all_access_disabled": "storage has closed the object to everybody",
    "authorization_query_parameters_error": "storage does not understand the link's signature",
    "invalid_access_key_id": "the key that the link was signed with does not exist any more",
    "invalid_object_state": "the object is archived and must be restored before it can be read",
    "invalid_request": "storage does not accept the request",
    "no_such_bucket": "the place that the link leads to does not exist",
    "no_such_key": "the object that the link leads to does not exist",
    "no_such_version": "the version that the link names does not exist",
    "signature_does_not_match": "storage does not accept the link's signature",
}
_S3: Final = "an error code of the storage service, in snake case"

#: What each fixed code in a `reason` column means; <…> stands for what varies.
REASONS: Final[Texts] = {
    # no answer
    "no_network": "there is no route to the host",
    "dns": "the host's name does not resolve",
    "refused": "the connection was refused",
    "timeout": "no answer in time",
    "stalled": "the answer stopped coming",
    "reset": "the connection broke",
    "tls": "no secure connection could be made, or the certificate is not trusted",
    "throttled": "the server asked to wait longer than http.max_wait_s allows",
    "server_error": "the server met an error of its own (HTTP 5xx)",
    "malformed": "the answer, the row or the object has not the form that it must have",
    "host_not_allowed": "the address is none that the configuration allows; it was not contacted",
    "too_large": "more bytes than the limit: an answer, a listing, a JSON file, or a new version to fetch",
    "git_failed": "git failed; its own words stand beside its mirror in the vault",
    "offline": "the audit ran offline, and the vault does not know it",
    "not_derived": "a table of this commit could not be made; the log of backfill_history says why",
    "internal_error": "this program met an error of its own at this commit; the log says where",
    "allowance": "GitHub's allowance of requests is too small for what is still needed",
    # repositories
    "missing": "the server says that there is no such repository, or hides it",
    "private": "the server asks for credentials",
    "empty": "there is nothing in it: no commit, no text, or an object of no bytes",
    "ref_missing": "the repository has no such branch, tag or commit",
    "no_commit_yet": "the ref had no commit before the date that is audited",
    "redirected": "the repository has moved to another name",
    "redirect_not_followed": "the repository has moved to a place that is not followed",
    "manifest_<shape>": "nothing is listed by a manifest: e there is none, unknown form, unreadable JSON",
    "no_licence_file": "there is no licence file at the root",
    # manifest rows and evaluation files
    "dangling": "the row leads to no file",
    "invalid_id": "the id could not serve as a name on common systems",
    "duplicate_identical": "an earlier row says the same",
    "duplicate_conflicting": "an earlier row about the same evaluation says otherwise",
    "not_an_object": "it is no JSON object",
    "id_missing": "the file states no id",
    "id_invalid": "the id could not serve as a name on common systems",
    "id_duplicated": "another file states the same id",
    "handle_malformed": "it is no handle (latch://…)",
    "not_utf8": "the file is not UTF-8",
    "not_json": "the text is no JSON",
    "too_deep": "the JSON is nested too deep",
    "huge_integer": "a whole number has more digits than can be read",
    "lone_surrogate": "a text holds half of a UTF-16 pair, which is no character",
    # signing
    "not_shared_or_unknown": "the signer answers 400: the handle is not shared or does not exist",
    "no_url": "the signer's answer holds no link",
    "bad_url": "the signer's link is no URL that may be used",
    "signing_<reason>": "a new link was needed, and signing failed for the reason behind the prefix",
    "not_reachable": "the signer gave no link for the handle",
    # storage answers
    "http_<status>": "the server answered with this HTTP status and no code of its own",
    "<storage code>": _S3,
    "expired": "the link has died and a new one died too",
    "clock_skew": "storage says that a clock is wrong",
    "replaced": "another version of the object stands there now",
    "newer_than_probe": "what stands there now is newer than the row in objects",
    "error_page": "a page of HTML or an error document came where the object should be",
    "compressed": "the answer was compressed on its way, so offsets and size are not the object's",
    "range_ignored": "storage sends the whole object where a part was asked for",
    "range_refused": "storage refuses a range that lies inside the object",
    "wrong_range": "another range came than was asked for",
    "wrong_length": "the answer's length is not that of its range",
    "wrong_total": "the answer states another size of the object",
    "short_answer": "the answer ended before its range did",
    "no_etag": "the answer lost the ETag, so its version is not known",
    "no_size": "the answer states no size of the object",
    "size_unknown": "storage does not state the object's size",
    # inside files
    "not_hdf5": "it is no HDF5 file",
    "not_anndata": "it is HDF5 and lacks what makes it AnnData",
    "damaged": "HDF5's own library cannot read it",
    "budget": "looking into it would take more requests or bytes than a look may",
    "shorter_than_superblock": "it ends before the end that its HDF5 header states",
    "parser_<why>": "the reading process failed: crashed, memory, timeout, or crowded (too many parts)",
    "refers_to_other_files": "it holds links to other files, which are not followed",
    "unreadable_by_anndata_<version>": "this version of AnnData cannot read it; reader says what stopped it",
    "bytes_after_end": "bytes stand behind the end that its HDF5 header states; they are ignored",
    "short_download": "the file is shorter than the server's object",
    "at_source": "the server's object itself is shorter than its HDF5 header states",
    "size": "the file is longer than the server's object, or its header states another size",
    "shape_differs_from_peek": "n_obs or n_vars differ from the row in contents",
    "x_differs_from_peek": "X differs from the row in contents",
    "shape_differs_inside": "AnnData and HDF5 tell different shapes",
    "md5": "the MD5 of what came is not the object's ETag; nothing was kept",
    "file_missing": "the fetched file is not in the vault any more",
    "file_unreadable": "the fetched file cannot be opened",
    "max_total_bytes": "all that was chosen is more than fetch.max_total_bytes allows",
    # runs without a verdict of their own
    "absent": "no answer was recorded",
    "null": "the recorded answer is JSON null",
    "no_grader": "the evaluation ships no grader",
    "eval_missing": "the repository holds no such evaluation",
    "record_shape": "the record has another shape than every published one",
    "arithmetic_alone": "the published part gives a score and no verdict",
    "unknown_type": "no public source knows the grader's type",
    "named_without_rule": "public sources name the grader's type and not its rule",
    "list_too_long": "a list is longer than those that are compared here",
    "nested_too_deep": "graders are nested deeper than is read here",
    # the configuration of a grader
    "config_not_object": "the grader's config is no object",
    "ground_truth_missing": "the config has no ground_truth",
    "ground_truth_not_object": "ground_truth is no object",
    "ground_truth_not_list": "ground_truth is no list",
    "ground_truth_empty": "ground_truth is empty",
    "truth_not_finite": "a graded number is infinite or NaN",
    "truth_not_number": "a graded value that must be a number is none",
    "tolerance_nan": "a tolerance is NaN",
    "tolerance_negative": "a tolerance is negative",
    "tolerance_not_number": "a tolerance is no number",
    "tolerance_not_object": "a tolerance is no object",
    "tolerances_not_object": "tolerances is no object",
    "unknown_tolerance_type": "no public source knows the tolerance's type",
    "single_tolerance": "one tolerance is stated for all fields, and no source says how it is read",
    "spelled_out_type": "the tolerance's type is written out, and sources differ in how it is read",
    "one_sided_offset": "one of lower and upper is stated without the other",
    "offsets_beside_value": "lower or upper stand beside a value",
    "offsets_beside_type": "lower or upper stand beside a type that has none",
    "offset_rounding": "the answer lies where the rounding of truth and offset decides",
    "large_integer": "a whole number is so large that exact and floating comparison differ",
    "range_not_object": "a range is no object",
    "range_not_number": "an end of a range is no number",
    "range_nan": "an end of a range is NaN",
    "one_sided_range": "a range has one end alone",
    "ranges_not_object": "the ranges are no object",
    "field_without_range": "a field has no range",
    "range_without_truth": "a range belongs to a field that is not graded",
    "on_range_bound": "the answer lies on an end of the range, and no source says whether that passes",
    "nan_answer": "the answer is NaN, and no source says how that is compared",
    "boolean_in_range": "the answer is true or false, and no source says whether it counts as a number",
    "text_in_range": "the answer is a number written as text, and no source says whether that counts",
    "correct_answer_missing": "the config states no correct answer",
    "correct_answer_empty": "a correct answer is empty, or the list of them is",
    "correct_answer_padded": "a correct answer has spaces around it or is no text, and readings differ",
    "correct_answers_conflict": "correct_answer and correct_answers stand beside each other and differ",
    "choice_readings": "readings of the correct answer differ for this answer",
    "labels_missing": "the config has no labels",
    "labels_not_list": "the labels are no list",
    "label_not_scalar": "a label is a list or an object",
    "legacy_labels": "the labels stand under an older name, which no source describes",
    "unknown_method": "no public source knows the scoring method",
    "expected_count_not_integer": "expected_count is no whole number, and readings differ",
    "expected_count_case": "names that differ in case alone count as one or as several",
    "answer_field_missing": "the config does not name the field of the answer",
    "answer_field_not_text": "the name of the answer's field is no text",
    "answer_field_not_published": "no source says in which field the answer stands",
    "answer_not_object": "the answer is a bare list, and no source says whether that is read",
    "markers_missing": "the config has no markers",
    "markers_not_list": "the markers are no list",
    "marker_not_text": "a marker cannot be read as text",
    "type_markers_not_list": "the markers of a cell type are no list",
    "type_readings": "readings of the rule per cell type differ for this answer",
    "defaults_not_published": "a threshold is left out, and its default is not published",
    "distribution_not_object": "the graded distribution is no object",
    "categories_collide": "names of categories that differ in case alone have different outcomes",
    "text_percentage": "a percentage is written as text, and no source says whether that counts",
    "flat_answer": "the answer lacks the field, and would pass if it were read as the field itself",
    "genes_of_mixed_types": "genes of different types cannot be sorted",
    "flag_not_boolean": "the flag is neither true nor false",
    "scoring_not_object": "scoring is no object",
    "threshold_nan": "a threshold is NaN",
    "threshold_not_number": "a threshold is no number",
    "threshold_not_published": "the config states no threshold, and none is published",
    "threshold_place": "sources differ in where a threshold stands, and that decides",
    "on_threshold": "the score lies on the threshold within rounding",
    "text_folding": "sources differ in how texts are compared, and that decides",
    "expected_readings": "readings of the expected text differ for this answer",
    "reward_missing": "the answer holds no reward and text, which the penalty is taken from",
    "penalty_number_missing": "a number of the length penalty is missing",
    "penalty_readings": "readings of the length penalty differ for this answer",
    "children_missing": "the composite has no children",
    "children_not_list": "the composite's children are no list",
    "children_empty": "the composite's list of children is empty",
    "typed_child_with_role": "a child has both a type and a role",
    "hard_fail_only": "all children are hard_fail, so none can pass",
    "additive_child": "a child is additive where all must pass",
    "child_undecided": "a child's rule does not settle its verdict, and that decides",
    "predicate_not_published": "a child is a predicate, whose syntax is not published",
    "pass_rule_not_all": "the pass rule is another than all, which this type does not have",
    "pass_rule_without_number": "the pass rule needs a number that is not stated",
    "unknown_pass_rule": "no public source knows the pass rule",
    "score_threshold_readings": "readings of the score's threshold differ for this answer",
    # statistics
    "few_evals": "fewer than ten evaluations",
    "no_interval": "fewer than two evaluations, which have no interval",
    "no_shared_evals": "the two have no evaluation in common",
    "cannot_be_significant": "so few evaluations that no outcome could be significant at 5 %",
    "cannot_be_significant_among_so_many": (
        "no outcome could be significant at 5 % after the correction for all comparisons"
    ),
    # published numbers and claims
    "not_csv": "it cannot be read as CSV",
    "no_n_stated": "its table states no number of evaluations",
    "no_replicates_stated": "neither files nor public runs say how often each evaluation was run",
    "fits_with_a_missing_replicate": "it would fit if some replicates were missing",
    "looks_clipped": "a bound is exactly 0 or 100",
    "parts_missing": "the model lacks in some part",
    "not_counted": "a part has no number, no size, or its replicates are not known",
    "sizes_differ": "the parts' sizes do not add up to the whole",
    "off_grid": "a number fits no whole number of passed runs",
    "evals_withheld": "it covers evaluations that are not public",
    "runs_missing": "some of the public runs that it covers are missing",
    "fails_<check>": "this check of it fails",
    "nothing_to_check": "the tables hold nothing that it speaks of",
    "not_in_this_audit": "a repository that it needs was not audited",
    "repository_not_read": "a repository that it needs could not be read",
    "name_is_ambiguous": "two audited repositories have the name that it needs",
    "table_missing_<table>": "a table that it asks was not made, since nobody asked for the data",
    "not_all_known_<table>": "something that it would count stayed unknown",
    "query_refused": "its query is not one SELECT of one value over the tables; the log says why",
    "other_commit": "it was made at another commit",
    "at_the_commit_it_names": "the very commit that it was made at was audited",
    "graders_disagree": "several graders give different verdicts, and no source says which counts",
    "graders_empty": "the list of graders is empty",
    "graders_not_list": "graders is no list",
}


def reason(code: str) -> str | None:
    """Return what a code of a `reason` column means; None for one that nobody wrote down.

    Codes of the storage service that are not among STORAGE_CODES can't be told from others by name.
    """
    if code in REASONS:
        return REASONS[code]
    if code in STORAGE_CODES:
        return STORAGE_CODES[code]
    if code.startswith("signing_"):
        cause = reason(code.removeprefix("signing_"))
        return f"a new link was needed, and signing failed: {cause}" if cause else None
    return next((text for name, text in REASONS.items() if _fits(name, code)), None)


def _fits(name: str, code: str) -> bool:
    """True for a code that a pattern such as http_<status> stands for."""
    head, _, varies = name.partition("<")
    return bool(head and varies) and re.fullmatch(re.escape(head) + r"[\w.+-]+", code) is not None


def meanings(met: Mapping[str, set[str]]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return each status that tables have, with its meanings and the tables that use it so.

    `met` are statuses by table. A meaning that all tables share names none of them.
    """
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for table, words in met.items():
        for word in words & STATUSES.get(table, {}).keys():
            text = STATUSES[table][word]
            uses = found.setdefault(word, {})
            uses[text] = (*uses.get(text, ()), table)
    return {
        word: uses if len(uses) > 1 else dict.fromkeys(uses, ())
        for word, uses in sorted(found.items())
    }
