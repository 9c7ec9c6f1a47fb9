"""What the vault and the sources know of the time between two reports: commits, and whose grader changed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchproof import jsontext
from benchproof.analysis.drift.causes import Range
from benchproof.analysis.drift.frames import Row
from benchproof.analysis.drift.views import Report
from benchproof.errors import (
    Absent,
    AllowanceTooSmall,
    BenchproofError,
    ProofError,
    Unreachable,
    Unreadable,
    VaultError,
)
from benchproof.sources import content
from benchproof.sources.base import History, RepoSpec
from benchproof.vault import Vault

log = logging.getLogger("benchproof")

#: The keys of an evaluation that hold its rule.
_RULE = ("grader", "graders")


def ranges(
    source: History | None, old: Report, new: Report
) -> tuple[dict[str, Range], dict[str, str]]:
    """Return what lies between the pins of each repository that moved, and why where nobody could say.

    A repository that stayed where it was has no range. Never raises for what a source can't give.
    """
    found: dict[str, Range] = {}
    unknown: dict[str, str] = {}
    for repo in sorted(old.pins.keys() & new.pins.keys()):
        since, until = old.commit(repo), new.commit(repo)
        if since is None or until is None or since == until:
            continue
        if source is None:
            unknown[repo] = "no vault or no git here"
            continue
        spec = RepoSpec(repo, until, "", "")
        try:
            ancestor = source.is_ancestor(spec, since, until)
            commits = source.commits(spec, until, since)
            left = () if ancestor else tuple(source.commits(spec, since, until))
            found[repo] = Range(ancestor, commits, left)
        except (Unreachable, Absent, AllowanceTooSmall, VaultError, ProofError) as error:
            log.warning("%s: the commits between the two reports are not known: %s", repo, error)
            unknown[repo] = _cause(error)
    return found, unknown


def graders(
    vault: Vault | None, old: Report, new: Report, equal: Iterable[str]
) -> tuple[dict[tuple[str, str], bool], int]:
    """Return of changed evaluations, by repository and later path, whether the grader changed, as far as the
    vault holds both versions; and of how many it does not. One that was edited and moved is known by its id.

    The graders are compared and forgotten: what they say leaves the vault in no form.
    """
    found: dict[tuple[str, str], bool] = {}
    missing = 0
    edits = [] if "evals" in equal else _edits(old.rows("evals"), new.rows("evals"))
    for repo in sorted({row["repo"] for row, _ in edits}):
        mine = [(was, now) for was, now in edits if was["repo"] == repo]
        try:
            if vault is None:
                raise VaultError("no vault")
            before, after = (
                _rules(vault, repo, report.commit(repo), {row.get("blob_sha") for row in rows})
                for report, rows in zip((old, new), zip(*mine, strict=True), strict=True)
            )
        except (VaultError, ProofError):
            missing += len(mine)
            continue
        for was, now in mine:
            found[repo, now["path"]] = before[was.get("blob_sha")] != after[now.get("blob_sha")]
    return found, missing


def _edits(old: Sequence[Row], new: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Return the rows of each evaluation whose file has other bytes now, at its path or elsewhere."""
    before, after = ({(r["repo"], r["path"]): r for r in rows} for rows in (old, new))
    pairs = [(before[place], after[place]) for place in before if place in after]
    gone, come = (
        {(r["repo"], r.get("eval_id")): r for place, r in side.items() if place not in other}
        for side, other in ((before, after), (after, before))
    )
    pairs += [(gone[name], come[name]) for name in gone if name in come and name[1] is not None]
    return [(was, now) for was, now in pairs if was.get("blob_sha") != now.get("blob_sha")]


def _rules(
    vault: Vault, repo: str, commit: str | None, blobs: Iterable[str | None]
) -> dict[str | None, str]:
    """Return the rule of each blob as canonical text, which stays inside this module."""
    if commit is None:
        raise VaultError(f"{repo}: no commit")
    with content.opened(vault.content(repo, commit)) as archive:
        return {sha: _rule(archive.read(sha or "")) for sha in blobs}


def _rule(data: bytes) -> str:
    try:
        value: Any = jsontext.loads(data).value
    except Unreadable:
        return ""
    rule = {k: value[k] for k in _RULE if k in value} if isinstance(value, Mapping) else {}
    return jsontext.canonical(rule)


def _cause(error: BenchproofError) -> str:
    if isinstance(error, Unreachable):
        return error.cause
    if isinstance(error, Absent):
        return error.status
    return {AllowanceTooSmall: "allowance", ProofError: "malformed"}.get(
        type(error), "vault damaged"
    )
