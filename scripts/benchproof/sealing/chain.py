"""The chain of dated reports: each seal names the one before it by label and digest.

A report that was sealed again after another had named it breaks the chain, as a changed one does: nobody can
tell the two apart without a copy from before.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from benchproof.errors import SealError, why
from benchproof.outputs import DATED
from benchproof.sealing import form
from benchproof.sealing.files import read
from benchproof.sealing.outcome import Check, failed, ok, unchecked
from benchproof.sealing.seal import SEAL

NAME: Final = "chain"
#: Later reports that are asked whether they name this one.
_MOST: Final = 1000


def check(folder: Path, seal: form.Seal, digest: str) -> Check:
    """Return whether the reports beside a folder are those that its seal and theirs name."""
    if seal.format == 1:
        return unchecked(NAME, "sealed by an earlier version, which names no report before it")
    around = folder.parent.parent if seal.kind == "drift" else folder.parent
    faults = [*_misnamed(seal)]
    found = [_named(around, link) for link in seal.links] if not faults else []
    faults += [fault for fault, _ in found if fault]
    later = list(_later(folder, seal.label, digest)) if seal.kind == "report" else []
    faults += [f"{label} follows another seal of this date" for label, same in later if not same]
    if faults:
        return failed(NAME, faults)
    notes = [note for _, note in found if note]
    missing = [note for note in notes if "is not here" in note]
    told = [*notes, *(f"{label} follows this seal" for label, _ in later)]
    if missing:
        return unchecked(NAME, "; ".join(told) + ". Put it beside this one to check it")
    return ok(NAME, "; ".join(told) or "it names no report before it, and none here follows it")


def _misnamed(seal: form.Seal) -> Iterator[str]:
    for link in seal.links:
        if not DATED.fullmatch(link.label) and seal.kind != "drift":
            yield "the report that it follows has no date for a name"
        elif "/" in link.label or link.label in ("", ".", ".."):
            yield "a report that it names has no name that a folder can have"
        elif seal.kind == "report" and link.label >= seal.label:
            yield f"it follows {link.label}, which is not before {seal.label}"


def _named(around: Path, link: form.Link) -> tuple[str | None, str | None]:
    """Return (fault, note) about a seal that is named."""
    try:
        data = read(around / link.label / SEAL, form.MAX_BYTES)
    except FileNotFoundError:
        return None, f"{link.label} is not here"
    except OSError as error:
        return f"the seal of {link.label} can't be read: {why(error)}", None
    if sha256(data).hexdigest() == link.sha256:
        return None, f"{link.label} has the seal that this one names"
    return (
        f"the seal of {link.label} is another one than this report names: changed, or sealed again since; "
        "compare with a copy from before",
        None,
    )


def _later(folder: Path, label: str, digest: str) -> Iterator[tuple[str, bool]]:
    """Yield the later reports beside this one that name its date, and whether they name its seal."""
    if not DATED.fullmatch(label):
        return
    beside = (path for path in folder.parent.glob("[0-9]*-[0-9]*-[0-9]*") if path.name > label)
    for path in sorted(path for path in beside if DATED.fullmatch(path.name))[:_MOST]:
        try:
            links = form.parse(read(path / SEAL, form.MAX_BYTES)).links
        except (OSError, SealError):
            continue
        for link in links:
            if link.label == label:
                yield path.name, link.sha256 == digest
