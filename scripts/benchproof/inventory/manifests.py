"""Manifests in the five shapes that the family has had, read into one kind of row.

a  a list of {task, kit, eval_id}; the path is <folder>/<task>/<eval_id>.json
b  {"evals": [{id, path, …}]}
c  {"examples": [{src, dest, id, …}]} with paths of somebody's machine: only dest's basename is useful
d  {"platforms": {name: {n_evals, evals: [text, …]}}} whose texts are file stems, some of them ids
e  no manifest at all
Anything else is `unknown`, which is a finding and never "0 evals".
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

#: What a count of the listed evaluations is called.
_COUNTS = ("n_evals", "count", "total")
#: The shapes that list evaluations, in a few words.
SHAPES = {
    "a": "a list of ids",
    "b": "a list with paths",
    "c": "examples copied from a machine",
    "d": "file stems by platform",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One manifest row as stated. `row` counts from 1; `path` is stated or follows from the shape.

    `stem` is what a file is found by when there is no path; `problem` says that the row names nothing,
    `unclear` that its `benchmark` is neither true nor false.
    """

    row: int
    eval_id: str | None = None
    path: str | None = None
    stem: str | None = None
    task: str | None = None
    kit: str | None = None
    benchmark: bool | None = None
    problem: bool = False
    unclear: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest: its shape, its rows, JSON pointers of wrong counts, and whether it names a machine."""

    shape: str
    rows: tuple[Row, ...] = ()
    wrong_counts: tuple[str, ...] = field(default=())
    local_paths: bool = False


def parse(value: Any, folder: str) -> Manifest:
    """Return the rows of a parsed manifest that lies in `folder`."""
    found = _read(value, folder)
    # Rows of which not one names an evaluation are rows of a shape that isn't known, not 0 evaluations.
    return Manifest("unknown") if found.rows and all(r.problem for r in found.rows) else found


def _read(value: Any, folder: str) -> Manifest:
    if isinstance(value, list):
        return Manifest("a", tuple(_listed(n, item, folder) for n, item in enumerate(value, 1)))
    if isinstance(value, dict):
        for key, read in (
            ("evals", _with_paths),
            ("examples", _examples),
            ("platforms", _platforms),
        ):
            if key in value:
                found = read(value[key], folder)
                listed = value[key]
                stated = {value[name] for name in _COUNTS if isinstance(value.get(name), int)}
                if isinstance(listed, list) and stated - {len(listed)}:
                    found = replace(found, wrong_counts=(*found.wrong_counts, f"/{key}"))
                return found
    return Manifest("unknown")


def _text(item: Any, key: str) -> str | None:
    value = item.get(key) if isinstance(item, Mapping) else None
    return value if isinstance(value, str) else None


def _flag(item: Any) -> bool | None:
    value = item.get("benchmark") if isinstance(item, Mapping) else None
    return value if isinstance(value, bool) else None


def _flag_readable(item: Any) -> bool:
    """True unless `benchmark` is there and neither true nor false: a text would be true to most readers."""
    value = item.get("benchmark") if isinstance(item, Mapping) else None
    return isinstance(value, bool | None)


def _listed(number: int, item: Any, folder: str) -> Row:
    eval_id, task = _text(item, "eval_id"), _text(item, "task")
    if eval_id is None or task is None:
        return Row(
            number, eval_id, task=task, kit=_text(item, "kit"), benchmark=_flag(item), problem=True
        )
    path = f"{folder}/{task}/{eval_id}.json"
    return Row(number, eval_id, path, task=task, kit=_text(item, "kit"), benchmark=_flag(item))


def _with_paths(items: Any, folder: str) -> Manifest:
    if not isinstance(items, list):
        return Manifest("unknown")
    return Manifest("b", tuple(_with_path(n, item) for n, item in enumerate(items, 1)))


def _with_path(number: int, item: Any) -> Row:
    eval_id, path = _text(item, "id"), _text(item, "path")
    problem = eval_id is None or path is None
    task, kit = _text(item, "task"), _text(item, "kit")
    flag, unclear = _flag(item), not _flag_readable(item)
    return Row(number, eval_id, path, None, task, kit, flag, problem, unclear)


def _examples(items: Any, folder: str) -> Manifest:
    if not isinstance(items, list):
        return Manifest("unknown")
    rows = tuple(_example(n, item) for n, item in enumerate(items, 1))
    stated = [text for item in items for text in (_text(item, "src"), _text(item, "dest")) if text]
    return Manifest("c", rows, local_paths=any(text.startswith(("/", "~")) for text in stated))


def _example(number: int, item: Any) -> Row:
    dest = _text(item, "dest") or ""
    stem = posixpath.basename(dest).removesuffix(".json")
    kit = _text(item, "platform")
    return Row(
        number,
        _text(item, "id"),
        stem=stem or None,
        task=_text(item, "task_cat"),
        kit=kit,
        problem=not stem,
    )


def _platforms(platforms: Any, folder: str) -> Manifest:
    if not isinstance(platforms, dict):
        return Manifest("unknown")
    rows: list[Row] = []
    wrong: list[str] = []
    for platform, body in platforms.items():
        listed = body.get("evals") if isinstance(body, dict) else None
        if not isinstance(listed, list):
            return Manifest("unknown")
        if "n_evals" in body and body["n_evals"] != len(listed):
            wrong.append(f"/platforms/{platform}")
        for text in listed:
            named = text if isinstance(text, str) else None
            rows.append(
                Row(len(rows) + 1, named, stem=named, kit=str(platform), problem=named is None)
            )
    return Manifest("d", tuple(rows), tuple(wrong))
