"""The seal of a report: what is in the folder, what made it, which report it follows, written last."""

from __future__ import annotations

import os
import shutil
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from benchproof import jsontext
from benchproof.config import AS_OF, today
from benchproof.errors import Unreadable
from benchproof.outputs import files_below, replacing

SEAL: Final = "seal.json"
SIGNATURE: Final = "seal.json.sig"
#: Not sealed: logs say where and when a run ran, and later runs of the date write them again. A seal can't
#: hold itself, nor a signature over it.
UNSEALED: Final = ("logs",)
_OWN: Final = (SEAL, SIGNATURE)


def is_complete(folder: Path) -> bool:
    """True when a folder holds a sealed report in which nothing stayed unknown."""
    try:
        return jsontext.read_object(folder / SEAL)["complete"] is True
    except (OSError, Unreadable, KeyError):
        return False


def previous_report(results: Path, label: str) -> Path | None:
    """Return the newest complete report of a date before `label`; an audit of the past has none."""
    sealed = (path.parent for path in results.glob("[0-9]*-[0-9]*-[0-9]*/seal.json"))
    if label.startswith(AS_OF):
        return None
    older = sorted(path for path in sealed if path.name < label and is_complete(path))
    return older[-1] if older else None


def named(folder: Path | None) -> dict[str, str] | None:
    """Return a sealed folder as another seal names it: by label and by digest of its seal."""
    if folder is None or not (folder / SEAL).is_file():
        return None
    data = (folder / SEAL).read_bytes()
    return {"label": folder.name, "seal_sha256": sha256(data).hexdigest()}


def sealed(folder: Path) -> dict[str, str]:
    """Return sha256 hex by name of the files that a folder's seal lists, of any format.

    Raises OSError when there is none, SealError for what no seal can say.
    """
    from benchproof.sealing import form

    files = form.parse((folder / SEAL).read_bytes()).files
    return {name: entry.sha256 for name, entry in sorted(files.items())}


def names(folder: Path) -> list[str]:
    """Return the relative paths of the files that a seal of this folder covers, sorted."""
    files = [path for path in files_below(folder) if not path.is_symlink()]
    inside = (path.relative_to(folder).as_posix() for path in files)
    return [name for name in inside if covered(name) and not name.endswith(".part")]


def covered(name: str) -> bool:
    """True for the relative path of a file that belongs under a seal."""
    return name not in _OWN and name.split("/", 1)[0] not in UNSEALED


def digests(folder: Path) -> dict[str, str]:
    """Return sha256 hex by relative path of every file of a folder that a seal covers."""
    return {name: digest(folder / name) for name in names(folder)}


def digest(path: Path) -> str:
    """Return the sha256 hex of a file, which may be larger than memory."""
    found = sha256()
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            found.update(data)
    return found.hexdigest()


def publish(staged: Path, folder: Path, names: tuple[str, ...]) -> None:
    """Copy the rendered files from the vault's staging folder beside the tables."""
    for name in names:
        with replacing(folder / name) as part:
            shutil.copyfile(staged / name, part)


def seal_text(folder: Path, values: Mapping[str, Any]) -> bytes:
    """Return the bytes of a seal over everything in the folder."""
    from benchproof.sealing import form

    return form.text({**values, "files": {name: _entry(folder / name) for name in names(folder)}})


def write_seal(folder: Path, text: bytes, signature: bytes | None = None) -> None:
    """Write seal.json, last, and before it the signature over it; an older signature is not its.

    What is sealed counts as finished: a signature that came later might never come.
    """
    (folder / SIGNATURE).unlink(missing_ok=True)
    for name, data in ((SIGNATURE, signature), (SEAL, text)):
        if data is not None:
            with replacing(folder / name) as part:
                part.write_bytes(data)


def _entry(path: Path) -> dict[str, Any]:
    from benchproof.sealing import locate  # numpy takes 0.1 s to import, and only a seal needs it

    size = path.stat().st_size
    with path.open("rb") as file:
        checks = locate.check_bytes(file, size)
    return {"sha256": digest(path), "size": size, "checks": b64encode(checks).decode()}


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
