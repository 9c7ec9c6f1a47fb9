"""Evaluation files projected to what may leave the vault.

Rows are built from an allow-list, name by name; the parsed file never travels further than this module
and the graders. What carries answers (grader, graders, canary, notes) is only counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from benchproof.findings import JSON_FLAGS, Finding
from benchproof.grading import rule_status
from benchproof.grading.children import is_predicate
from benchproof.inventory.reconcile import stem_of, valid_id
from benchproof.printable import without_userinfo

_HANDLE = re.compile(r"latch://[A-Za-z0-9][A-Za-z0-9._/-]{0,300}")
_WORD = re.compile(r"[A-Za-z][A-Za-z_]{0,31}")
_REQUIRED = ("id", "task", "metadata", "data_node")


@dataclass
class Projected:
    """Rows of four tables for one evaluation file, and findings about it."""

    evals: list[dict[str, Any]] = field(default_factory=list)
    eval_handles: list[dict[str, Any]] = field(default_factory=list)
    graders: list[dict[str, Any]] = field(default_factory=list)
    tolerances: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def extend(self, other: Projected) -> None:
        """Add another file's rows."""
        self.evals += other.evals
        self.eval_handles += other.eval_handles
        self.graders += other.graders
        self.tolerances += other.tolerances
        self.findings += other.findings


@dataclass(frozen=True, slots=True)
class GraderAt:
    """A grader object and its position: "0", or "0.1" for the second child of the first.

    `predicate` marks a child with a role and no type, whose syntax is not published.
    """

    position: str
    type: str | None
    config: Any
    predicate: bool = False


def stated_id(value: Any) -> str | None:
    """Return the id an evaluation states, whatever it looks like."""
    eval_id = value.get("id") if isinstance(value, dict) else None
    return eval_id if isinstance(eval_id, str) else None


def unreadable(repo: str, path: str, blob_sha: str, reason: str) -> Projected:
    """Return the rows of a file that cannot be read: it is there, and that is all that is known."""
    row = _eval_row(repo, path, blob_sha, {}, "unreadable", reason)
    finding = Finding("eval_unreadable", repo, path, blob_sha=blob_sha, detail=f"Reason: {reason}.")
    return Projected(evals=[row], findings=[finding])


def project(
    repo: str,
    path: str,
    blob_sha: str,
    value: Any,
    flags: tuple[str, ...],
    taken: Mapping[str, str],
) -> Projected:
    """Return the rows of one parsed evaluation file.

    `taken` maps ids to the file that has them: a second file with the id gets no rows keyed by it.
    """
    out = Projected()

    def note(rule: str, pointer: str | None = None, detail: str = "") -> None:
        out.findings.append(Finding(rule, repo, path, pointer, blob_sha=blob_sha, detail=detail))

    for flag in flags:
        if flag in JSON_FLAGS:
            note(JSON_FLAGS[flag])
    if not isinstance(value, dict):
        out.evals.append(_eval_row(repo, path, blob_sha, {}, "malformed", "not_an_object"))
        note("eval_malformed", detail="The file is not a JSON object.")
        return out
    status, reason = _status(value, path, taken)
    out.evals.append(_eval_row(repo, path, blob_sha, value, status, reason))
    for name in _REQUIRED:
        if name not in value:
            note("eval_malformed", f"/{name}", f"Missing: {name}.")
    eval_id = stated_id(value)
    if status == "invalid_id":
        note("id_invalid", "/id")
    elif status == "duplicate_id":
        note("id_duplicated", "/id")
    elif eval_id is not None and eval_id != stem_of(path):
        note("id_differs_from_stem", "/id")
    if "grader" in value and "graders" in value:
        note("grader_and_graders")
    if eval_id is not None and status == "ok":
        _handles(out, repo, eval_id, value.get("data_node"), note)
        _graders(out, repo, eval_id, value, note)
    return out


def graders(value: Mapping[str, Any]) -> Iterator[GraderAt]:
    """Yield every grader object of an evaluation, nested ones after the one that holds them."""
    tops = [value["grader"]] if "grader" in value else value.get("graders", [])
    for number, top in enumerate(tops if isinstance(tops, list) else []):
        yield from _nested(str(number), top)


def _nested(position: str, grader: Any) -> Iterator[GraderAt]:
    waiting = [(position, grader)]
    while waiting:
        where, item = waiting.pop()
        kind = item.get("type") if isinstance(item, dict) else None
        config = item.get("config") if isinstance(item, dict) else None
        predicate = is_predicate(item) and "." in where
        yield GraderAt(where, kind if isinstance(kind, str) else None, config, predicate)
        children = config.get("children") if isinstance(config, dict) else None
        if isinstance(children, list):
            waiting.extend(
                (f"{where}.{n}", child) for n, child in reversed(list(enumerate(children)))
            )


def _status(
    value: Mapping[str, Any], path: str, taken: Mapping[str, str]
) -> tuple[str, str | None]:
    eval_id = stated_id(value)
    if eval_id is None:
        return "malformed", "id_missing"
    if not valid_id(eval_id):
        return "invalid_id", "id_invalid"
    if taken.get(eval_id, path) != path:
        return "duplicate_id", "id_duplicated"
    return "ok", None


def _eval_row(
    repo: str, path: str, blob_sha: str, value: Mapping[str, Any], status: str, reason: str | None
) -> dict[str, Any]:
    """Build the one row of an evaluation from the names that may leave, and no others."""
    about = value.get("metadata")
    about = about if isinstance(about, dict) else {}
    prompt = value.get("task")
    read = status not in ("unreadable", "malformed") or bool(value)
    return {
        "repo": repo,
        "path": path,
        "eval_id": stated_id(value),
        "blob_sha": blob_sha,
        "task": _text(about.get("task")),
        "kit": _text(about.get("kit")),
        "time_horizon": _text(about.get("time_horizon")),
        "eval_type": _text(about.get("eval_type")),
        "metadata_keys": sorted(about) if read else None,
        "fields": sorted(value) if read else None,
        "prompt_chars": len(prompt) if isinstance(prompt, str) else None,
        "has_canary": "canary" in value if read else None,
        "has_notes": "notes" in value if read else None,
        "grader_form": _form(value) if read else None,
        "n_graders": sum(1 for _ in graders(value)) if read else None,
        "n_handles": len(_distinct_handles(value.get("data_node"))) if read else None,
        "status": status,
        "reason": reason,
    }


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _word(value: Any) -> str | None:
    """A name that a format could use; anything longer or odder might be a value and stays inside."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


def _form(value: Mapping[str, Any]) -> str:
    return "grader" if "grader" in value else "graders" if "graders" in value else "none"


def _distinct_handles(node: Any) -> list[str]:
    nodes = node if isinstance(node, list) else [node]
    return sorted({_shown(item) for item in nodes if isinstance(item, str)})


def _shown(handle: str) -> str:
    """A handle as tables show it: one that is none may be a signed URL, or of any length."""
    if _HANDLE.fullmatch(handle):
        return handle
    text = without_userinfo(handle)
    text = re.split(r"[?#]", text, maxsplit=1)[0]
    if text == handle and len(text) <= 300:
        return handle
    return f"{text[:280]}… ({sha256(handle.encode()).hexdigest()[:12]})"


def _handles(out: Projected, repo: str, eval_id: str, node: Any, note: Any) -> None:
    for handle in _distinct_handles(node):
        good = _HANDLE.fullmatch(handle) is not None
        status = {
            "status": "ok" if good else "malformed",
            "reason": None if good else "handle_malformed",
        }
        out.eval_handles.append({"repo": repo, "eval_id": eval_id, "handle": handle, **status})
        if not good:
            note("handle_malformed", "/data_node")
    nodes = node if isinstance(node, list) else [node]
    if not all(isinstance(item, str) for item in nodes):
        note("handle_malformed", "/data_node")


def _graders(out: Projected, repo: str, eval_id: str, value: Mapping[str, Any], note: Any) -> None:
    for found in graders(value):
        status = "undetermined" if found.predicate else rule_status(found.type, found.config)
        key = {"repo": repo, "eval_id": eval_id, "position": found.position}
        out.graders.append(
            {**key, "type": found.type, "rule_status": status, "status": "ok", "reason": None}
        )
        if status == "unknown_type":
            note("grader_type_unknown", found.position)
        elif status == "invalid_config":
            note("grader_config_invalid", found.position)
        out.tolerances += [{**key, **row} for row in _tolerances(found.config)]


def _tolerances(config: Any) -> Iterator[dict[str, Any]]:
    """Yield one row per tolerance entry: which keys it has and how they are read, never a value."""
    tolerances = config.get("tolerances") if isinstance(config, dict) else None
    for name, entry in tolerances.items() if isinstance(tolerances, dict) else ():
        shaped = entry if isinstance(entry, dict) else {}
        declared = _word(shaped.get("type"))
        status = "ok" if isinstance(entry, dict) else "malformed"
        yield {
            "field": name,
            "declared_type": declared,
            "keys": sorted(filter(None, map(_word, shaped))),
            "mode": _mode(declared, shaped) if status == "ok" else None,
            "status": status,
            "reason": None if status == "ok" else "not_an_object",
        }


def _mode(declared: str | None, entry: Mapping[str, Any]) -> str:
    """How an entry is read under numeric_tolerance: its keys decide, `type` only beside them."""
    offsets = "lower" in entry or "upper" in entry
    if declared in (None, "absolute"):
        if offsets:
            return (
                "undetermined"
                if "value" in entry or not {"lower", "upper"} <= set(entry)
                else "offsets"
            )
        return "symmetric" if "value" in entry else "exact"
    if declared in ("relative", "min", "max") and not offsets:
        return declared
    return "undetermined"
