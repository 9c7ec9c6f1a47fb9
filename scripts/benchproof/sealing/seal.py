"""The seal of a report: what is in the folder, what made it, and that nothing graded was found in it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchproof import jsontext
from benchproof.config import AS_OF, today
from benchproof.errors import Unreadable
from benchproof.outputs import files_below, replacing

SEAL = "seal.json"
#: Files that change while an audit runs and are no part of its result.
_UNSEALED = ("logs",)


def is_complete(folder: Path) -> bool:
    """True when a folder holds a sealed report in which nothing stayed unknown."""
    try:
        return bool(jsontext.read_object(folder / SEAL)["complete"])
    except (OSError, Unreadable, KeyError):
        return False


def previous_report(results: Path, label: str) -> Path | None:
    """Return the newest complete report of a date before `label`; an audit of the past has none."""
    sealed = (path.parent for path in results.glob("[0-9]*-[0-9]*-[0-9]*/seal.json"))
    if label.startswith(AS_OF):
        return None
    older = sorted(path for path in sealed if path.name < label and is_complete(path))
    return older[-1] if older else None


def sealed(folder: Path) -> list[str]:
    """Return the names that a folder's seal lists."""
    return sorted(json.loads((folder / SEAL).read_bytes()).get("files", ()))


def digests(folder: Path) -> dict[str, str]:
    """Return sha256 hex by relative path of every sealed file of a folder."""
    files = [path for path in files_below(folder) if not path.is_symlink()]
    inside = ((path.relative_to(folder).as_posix(), path) for path in files)
    return {
        name: sha256(path.read_bytes()).hexdigest()
        for name, path in inside
        if name != SEAL and name.split("/", 1)[0] not in _UNSEALED and not name.endswith(".part")
    }


def publish(staged: Path, folder: Path, names: tuple[str, ...]) -> None:
    """Copy the rendered files from the vault's staging folder beside the tables."""
    for name in names:
        with replacing(folder / name) as part:
            shutil.copyfile(staged / name, part)


def write_seal(folder: Path, values: Mapping[str, Any]) -> None:
    """Write seal.json over everything in the folder, last."""
    sealed = {**values, "files": digests(folder)}
    with replacing(folder / SEAL) as part:
        part.write_text(json.dumps(sealed, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def point_latest(results: Path, label: str) -> None:
    """Make <results>/latest lead to this report, unless it leads to a newer complete one.

    An audit of the past is never the latest, and a date that has not come yet holds no other back.
    """
    link = results / "latest"
    known = os.readlink(link) if link.is_symlink() else ""
    if label.startswith(AS_OF) or (label < known <= today() and is_complete(link)):
        return
    part = results / f"latest.{os.getpid()}.part"
    part.unlink(missing_ok=True)
    part.symlink_to(label)
    os.replace(part, link)
