"""`benchproof grade`: an answer of one's own against an evaluation of the vault, told without its key."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchproof import jsontext
from benchproof.config import Config
from benchproof.errors import BenchproofError, ConfigError, Unreadable
from benchproof.grading.own import OwnVerdict, grade_own
from benchproof.inventory.repository import EvalFile, Repository
from benchproof.pinning import recorded_pin
from benchproof.sources import content
from benchproof.vault import Vault


def grade_answer(vault: Vault, audit: Config, name: str, answer: str) -> OwnVerdict:
    """Return the verdict on the answer in a file (`-`: standard input).

    `name` is an evaluation's id, or repository/id. Evaluations are those of the configured date's pins, or
    of the newest date that the vault has pins of. Raises ConfigError for an answer that is no JSON and a
    name that means several evaluations, BenchproofError for a name that means none and a missing file.
    """
    value = _answer(answer)
    repo, _, eval_id = name.rpartition("/")
    ids: set[str] = set()
    found: list[tuple[str, EvalFile]] = []
    for repository in _repositories(vault, audit):
        short = repository.spec.repo.split("/", 1)[1]
        if repo in ("", short, repository.spec.repo):
            ids |= set(repository.by_id)
            if eval_id in repository.by_id:
                found.append((short, repository.by_id[eval_id]))
    if len(found) > 1:
        where = " or ".join(f"{short}/{eval_id}" for short, _ in found)
        raise ConfigError(f"{name} means several evaluations; say {where}.")
    if not found:
        raise BenchproofError(f"{name}: no such evaluation in the vault. {_close(eval_id, ids)}")
    return grade_own(found[0][1].value, value)


def told(verdict: OwnVerdict) -> list[str]:
    """Return what may be told of a verdict: pass or fail, how, and each field's pass or fail."""
    state = {True: "pass", False: "fail", None: verdict.status}[verdict.passed]
    lines = [f"verdict: {state}"]
    if verdict.grader_type:
        lines.append(f"rule: {verdict.grader_type}")
    if verdict.reason:
        lines.append(f"reason: {verdict.reason}")
    if verdict.failure_mode:
        lines.append(f"failure: {verdict.failure_mode}")
    for item in verdict.fields:
        word = {True: "pass", False: "fail", None: "undetermined"}[item.passed]
        how = f" ({item.failure_mode})" if item.failure_mode else ""
        lines.append(f"  {item.field}: {word}{how}")
    return lines


def _answer(place: str) -> Any:
    try:
        data = sys.stdin.buffer.read() if place == "-" else Path(place).read_bytes()
    except OSError as error:
        raise BenchproofError(f"{place}: cannot be read ({error.strerror}).") from None
    try:
        return jsontext.loads(data).value
    except Unreadable as error:
        raise ConfigError(f"{place}: an answer is a JSON file ({error.reason}).") from None


def _repositories(vault: Vault, audit: Config) -> Iterator[Repository]:
    known = vault.root / "pins"
    days = sorted((path.name for path in known.iterdir()), reverse=True) if known.is_dir() else []
    label = audit.label if audit.label in days else next(iter(days), None)
    if label is None:
        raise BenchproofError(f"{vault.root}: no evaluation here yet; run snakemake evals.")
    for spec in audit.family:
        pin = recorded_pin(vault, label, spec)
        if pin is None or pin.commit_sha is None:
            continue
        path = vault.content(spec.repo, pin.commit_sha)
        if path.exists():
            with content.opened(path) as archive:
                yield Repository(spec, pin.commit_sha, archive)


def _close(eval_id: str, ids: set[str]) -> str:
    close = difflib.get_close_matches(eval_id, sorted(ids), n=1)
    if close:
        return f"Did you mean {close[0]}?"
    return "`benchproof grade` knows those of the configured repositories; see the evals table."
