"""Explaining a finding: the rule, the place, what stands there, and a script that looks for itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchproof.explain import refute, runs
from benchproof.explain.reports import Report, Row
from benchproof.explain.text import Page, word
from benchproof.rulebook import RULES
from benchproof.severity import Rule
from benchproof.vault import Vault, slug

#: What an evaluation or a record says in public; every other place may carry an answer.
_PUBLIC: Final = frozenset(
    "id kit data_node task_spec model_name harness latch_eval_tools_version trial_index n_trials "
    "eval_timeout_seconds agent_runtime_seconds".split()
)
#: Parts of an evaluation's metadata that the evals table shows, and what is said about time.
_PUBLIC_METADATA: Final = frozenset("task kit time_horizon eval_type timeout_s version".split())


def explain(report: Report, row: Row) -> Page:
    """Return the explanation of a row of the findings or data_findings table."""
    page = Page(f"finding {row['finding_id']}")
    rule = RULES.get(row["rule"])
    page.section("What it says", _said(row))
    if rule is not None and rule.withheld and row["path"] is None:
        _counted(page, report, row)
        return page
    run = _run(report, row)
    if run is not None:
        page.section("Rule", _rule(report, row, rule))
        runs.fill(page, report, run)
        return page
    page.section(runs.RESTS_ON, _rests_on(report, row), wrapped=False)
    page.section("Rule", _rule(report, row, rule))
    _refutation(page, report, row)
    return page


def _said(row: Row) -> Iterator[str]:
    yield f"{row['severity']}: {row['message']}"
    yield f"remedy: {row['remedy']}"
    if row.get("checked_at"):
        yield f"observed at {row['checked_at']:%Y-%m-%d %H:%M} UTC"


def _rule(report: Report, row: Row, rule: Rule | None) -> Iterator[str]:
    code = str(report.made("findings").get("code", "not known"))[:12]
    stage = row["stage"]
    yield f"workflow: {stage} (scripts/{stage}.py) met it; collect_findings, code {code}, listed it"
    known = rule.message if rule else "a rule of another version of benchproof"
    yield f"finding: {row['rule']}: {known} Source: benchproof's own rulebook, docs/findings.md."


def _run(report: Report, row: Row) -> Row | None:
    """Return the recorded run that a finding is about."""
    if row["stage"] != "regrade_runs" or row["path"] is None:
        return None
    found = report.rows("runs", run_path=row["path"])
    return next((item for item in found if item["repo"] == row["repo"]), None)


# -- withheld --------------------------------------------------------------------------------------------


def _counted(page: Page, report: Report, row: Row) -> None:
    """A rule whose places would tell what to submit: its number here, its places in the vault."""
    vault = Vault(report.audit.resources)
    work = vault.work(report.audit.results, report.label)
    place = work / "findings" / f"{slug(row['repo'])}.md"
    if row["stage"] == "lint_contents":
        place = work / "findings" / "lint_contents.md"
    there = "" if place.is_file() else " (not in this vault: it is where the report was made)"
    page.section(runs.RESTS_ON, [_commit(report, row)], wrapped=False)
    page.section("Rule", _rule(report, row, RULES[row["rule"]]))
    page.section(
        "How to refute it",
        [
            "Its places would tell what to submit or where an answer stands, so no report names them. "
            f"The maintainer's list does, with file and pointer: {place}{there}.",
            "Owners of the evaluations get the places with `disclose: places`; each then has an id of its "
            "own that `benchproof explain` takes.",
        ],
    )


def _commit(report: Report, row: Row) -> str:
    pin = report.pins.get(row["repo"], {})
    return f"{row['commit_sha'] or pin.get('commit_sha') or 'not known'}  commit of {row['repo']}"


# -- places ----------------------------------------------------------------------------------------------


def _rests_on(report: Report, row: Row) -> Iterator[str]:
    yield _commit(report, row)
    sha = row["blob_sha"] or _listed(report, row).get(row["path"] or "")
    if row["path"] is not None:
        what = sha or (
            "a folder" if _is_folder(report, row) else "no file of this path in the tree"
        )
        yield f"{what}  {row['path']}"
    if row["pointer"] is not None:
        yield f"pointer: {row['pointer']}"


def _listed(report: Report, row: Row) -> dict[str, str]:
    """Return blob ids by path of the finding's own path."""
    found = report.rows("tree", path=row["path"]) if row["path"] is not None else []
    return {item["path"]: item["blob_sha"] for item in found if item["repo"] == row["repo"]}


def _is_folder(report: Report, row: Row) -> bool:
    repos, paths = report.column("tree", "repo"), report.column("tree", "path")
    start = f"{row['path']}/"
    return any(
        repo == row["repo"] and path.startswith(start)
        for repo, path in zip(repos, paths, strict=True)
    )


def _refutation(page: Page, report: Report, row: Row) -> None:
    commit = row["commit_sha"] or report.pins.get(row["repo"], {}).get("commit_sha")
    remote = report.remote(row["repo"])
    if row["stage"] == "pin_commits" or commit is None:
        page.section("How to refute it", [_of_pin(report, row)])
        ref = report.pins.get(row["repo"], {}).get("ref") or "HEAD"
        page.script([f"git ls-remote {refute.shell_word(remote)} {refute.shell_word(ref)}"])
        return
    if row.get("checked_at"):
        page.section("How to refute it", _observed(row))
        return
    told, body, needed = _look(report, row)
    page.section("How to refute it", [told])
    page.script(refute.fetched(remote, commit, body, needed))


def _of_pin(report: Report, row: Row) -> str:
    status = report.pins.get(row["repo"], {}).get("status")
    return (
        f"It rests on what the server said when the date was pinned ({word(status)}), which cannot be "
        "replayed. Ask it again; a line with an id says that the ref is there now."
    )


def _observed(row: Row) -> Iterator[str]:
    yield (
        f"It rests on an observation of {row['checked_at']:%Y-%m-%d %H:%M} UTC, of data that no commit "
        "holds. It cannot be replayed."
    )
    yield "Ask again on another date: `snakemake peek --config date=YYYY-MM-DD`, then look for the same id."


def _look(report: Report, row: Row) -> tuple[str, list[str], str]:
    """Return what a script shows, what it does once the commit is there, and which blobs it needs."""
    path, pointer = row["path"], row["pointer"]
    sha = row["blob_sha"] or _listed(report, row).get(path or "")
    paste = "Paste into a shell; it needs git and Python and fetches the commit itself. "
    if path is None:
        told = (
            "It lists the top of the repository: what the finding is about stands there, or lacks."
        )
        return paste + told, refute.listed(None), "blob:none"
    if sha is not None and _is_blob(report, row):
        if row["stage"] == "check_published":
            told = "It counts the lines of the file in which the name of the place stands."
            return paste + told, refute.python(refute.named(sha, pointer), path), "blob:none"
        shown = _may_show(report, row)
        told = "It says what stands at the place: kind and length" + (
            ", and the value, which is public." if shown else "; no value, which may be graded."
        )
        body = refute.python(refute.place(sha, pointer, shown=shown), path)
        return paste + told, body, "blob:none"
    if (pointer or "").startswith("/") and _is_folder(report, row):
        told = "It counts what stands at this pointer of every JSON file below the folder."
        return paste + told, refute.python(refute.places(path, pointer)), refute.SMALL
    told = "It counts the files at this path of the commit and lists it: 0 and no line, when there is none."
    return paste + told, refute.listed(path), "blob:none"


def _is_blob(report: Report, row: Row) -> bool:
    """True for what `git cat-file blob` reads: everything but a submodule."""
    found = report.rows("tree", path=row["path"])
    modes = [item["mode"] for item in found if item["repo"] == row["repo"]]
    return bool(modes) and modes != ["160000"]


def _may_show(report: Report, row: Row) -> bool:
    """True when the place that a finding points to carries no answer."""
    names = (row["pointer"] or "").split("/")[1:]
    if not names:
        return False
    folders = report.member(row["repo"])
    graded = any(row["path"].startswith(f"{folders[name]}/") for name in ("evals", "runs"))
    if not graded or row["path"].endswith("/manifest.json"):
        return row["path"].endswith(".json") and not row["path"].lower().startswith("readme")
    if names[0] == "metadata":
        return len(names) == 2 and names[1] in _PUBLIC_METADATA
    return names[0] in _PUBLIC
