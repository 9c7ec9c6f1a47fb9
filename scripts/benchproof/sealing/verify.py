"""All that can be said of a report folder by somebody who trusts nobody, offline.

Each check is a value (`outcome.Check`); nothing in the folder is followed, run or believed. What nobody here
can know, since something that it takes is not at hand, is `not checked`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from benchproof import config as configuration
from benchproof import jsontext, provenance
from benchproof.config import AS_OF
from benchproof.errors import BenchproofError, LeakError, SealError, Unreadable, VaultError
from benchproof.foreign import is_repository
from benchproof.leaks import search
from benchproof.leaks.outcome import VERIFYING
from benchproof.outputs import DATA, DATED, TABLES, folder_label
from benchproof.recorded import CONTENT_KEYS
from benchproof.sealing import chain, commits, crate, files, form, seal, signature
from benchproof.sealing.outcome import Check, failed, ok, unchecked
from benchproof.vault import Vault

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_MOST_JSON: Final = 1 << 26
_MOST_LINE: Final = 1 << 12
_NO_SEAL: Final = "seal.json is not here: this report was not finished, or its seal was taken away"


@dataclass(frozen=True, slots=True)
class Means:
    """What is at hand to check with: each is optional. `defaults` is a whole configuration, `metadata` are
    folders of Snakemake's that are searched with the report.
    """

    defaults: Mapping[str, Any]
    vault: Path | None = None
    clones: tuple[Path, ...] = ()
    signers: Path | None = None
    signer: str | None = None
    must_be_signed: bool = False
    digest: str | None = None
    vault_asked: bool = False
    metadata: tuple[Path, ...] = field(default=())


def verify(folder: Path, means: Means) -> Iterator[Check]:
    """Yield the checks of a folder, cheap ones first."""
    data = _bytes(folder / seal.SEAL, form.MAX_BYTES)
    if data is None and _COMMIT.fullmatch(folder.name):
        yield from _past(folder, means)
        return
    if data is None:
        yield failed("seal", [_NO_SEAL])
        return
    read, said = _sealed(folder, data, means.digest)
    yield said
    signed = _bytes(folder / seal.SIGNATURE, signature.MAX_BYTES)
    yield signature.check(data, signed, means.signers, means.signer, means.must_be_signed)
    if read is None:
        yield unchecked("files", "seal.json can't be read; bring it back")
        return
    yield files.check(folder, read.files)
    yield chain.check(folder, read, sha256(data).hexdigest())
    if read.kind == "drift":
        yield unchecked(
            "derivation", "say benchproof drift with both reports to compare them again"
        )
        why_not = "a comparison is searched with the later of its reports"
        yield unchecked("answers", why_not, asked=means.vault_asked)
        return
    yield _dates(folder, read)
    yield from _origin(folder, read, means)
    yield _code(read)
    if crate.CRATE in read.files:
        yield _crate(folder, read)
    yield _answers(folder, means, read.label)
    command = f"snakemake reproduce --config report={folder}"
    yield unchecked("derivation", f"say {command} to derive its tables again from the commits")


def _past(folder: Path, means: Means) -> Iterator[Check]:
    """Check a folder of history: it is not sealed, and its name says which commit it is of."""
    unsealed = "folders of history are not sealed; their tables follow from the commit"
    yield (
        failed("seal", [f"{_NO_SEAL}; {unsealed}"]) if means.digest else unchecked("seal", unsealed)
    )
    yield signature.check(b"", None, means.signers, means.signer, means.must_be_signed)
    yield files.check_unsealed(folder, [f"{name}.parquet" for name in TABLES])
    try:
        pinned = commits.pins(folder)
    except commits.UnreadableTable as error:
        yield failed("commits", [str(error)])
        return
    if [row["commit_sha"] for row in pinned] != [folder.name]:
        yield failed("commits", ["pins names another commit than the folder"])
        return
    yield commits.check_pins(folder, pinned, None)
    yield commits.check_trees(folder, pinned)
    yield _history(pinned, means)
    yield _answers(folder, means, folder.name)


def _sealed(folder: Path, data: bytes, expected: str | None) -> tuple[form.Seal | None, Check]:
    """Return what a seal says, and whether it is as it was written."""
    digest = sha256(data).hexdigest()
    faults = []
    read = None
    try:
        read = form.parse(data)
    except SealError as error:
        faults.append(str(error))
    if read is not None:
        faults += _contradictions(folder, read)
    fault = form.own_fault(data) if read is None or read.format == form.FORMAT else None
    if fault:
        faults.append(f"seal.json: {fault}")
    if expected and expected != digest:
        faults.append(f"its digest is {digest}, not the one that was said")
    if faults or read is None:
        return read, failed("seal", faults)
    if read.format == 1:
        return read, ok(
            "seal", f"sealed by an earlier version: nothing proves seal.json itself ({digest})"
        )
    whole = "" if read.complete else ", incomplete: something stayed unknown"
    told = "" if expected else "; compare it with the one that was published"
    return read, ok("seal", f"{read.kind} {read.label}{whole}", f"sha256 {digest}{told}")


def _contradictions(folder: Path, read: form.Seal) -> Iterator[str]:
    """Yield what no audit would have sealed."""
    compared = read.kind == "drift"
    if read.kind not in ("report", "drift"):
        yield "seal.json is of a kind that is not made"
    if compared and (".." not in read.label or "compared" not in read.values):
        yield "seal.json says that this is a comparison, and not of what"
    if compared and (DATED.fullmatch(folder.name) or "pins.parquet" in read.files):
        yield "seal.json is that of a comparison, and this is a report"
    if compared or read.format != form.FORMAT:
        return
    if not isinstance(read.values.get("pins"), dict):
        yield "seal.json names no commits"
    scan = read.values.get("scan")
    if not isinstance(scan, dict) or scan.get("hits") != 0:
        yield "seal.json does not say that the search for answers found none"
    elif scan.get("found") != scan.get("planted"):
        yield "seal.json says that the search for answers was not proven"


def _dates(folder: Path, read: form.Seal) -> Check:
    """Return whether a folder's name, seal, summary and observations are of one date."""
    faults, notes = [], []
    label = read.label
    if DATED.fullmatch(folder.name) and folder.name != label:
        faults.append(f"the folder is called {folder.name} and was sealed as {label}")
    elif folder.name != label:
        notes.append(f"the folder is called {folder_label(folder)}")
    first = (_bytes(folder / "summary.md", _MOST_JSON) or b"")[:_MOST_LINE].splitlines()[:1]
    said = re.search(r"benchproof (\S+?):", first[0].decode("utf-8", "replace")) if first else None
    if said is not None and said[1] != label:
        faults.append(f"summary.md is of {said[1]}, the seal of {label}")
    day = label.removeprefix(AS_OF)
    seen = _observed(folder) if day == label else None
    if seen is not None and seen < label:
        faults.append(f"its data were observed on {seen}, before its date {label}")
    return failed("date", faults) if faults else ok("date", f"all is of {label}", *notes)


def _observed(folder: Path) -> str | None:
    """Return the first day on which something was observed; None where nothing was, or can't be read."""
    days = set()
    for name in DATA:
        try:
            found = (row["checked_at"] for row in commits.rows(folder, name, ["checked_at"]))
            days |= {time.date().isoformat() for time in found if time is not None}
        except (commits.UnreadableTable, AttributeError):
            continue
    return min(days, default=None)


def _origin(folder: Path, read: form.Seal, means: Means) -> Iterator[Check]:
    """Yield the checks of what a report says it was made from."""
    merged = _json(folder / crate.CONFIG)
    try:
        pinned = commits.pins(folder)
    except commits.UnreadableTable as error:
        yield failed("commits", [str(error)])
        return
    named = read.values.get("pins") if read.format == form.FORMAT else None
    yield commits.check_pins(folder, pinned, named)
    yield commits.check_trees(folder, pinned)
    yield _history(pinned, means)
    if commits.SWHIDS in read.files:
        yield _swhids(folder, pinned, merged)
    yield _config(merged, read, means.defaults)


def _swhids(folder: Path, pinned: list[dict[str, Any]], merged: Any) -> Check:
    text = _bytes(folder / commits.SWHIDS, _MOST_JSON)
    try:
        return commits.check_swhids(text or b"", commits.listing(folder, pinned, merged))
    except (commits.UnreadableTable, KeyError, TypeError, AttributeError, ValueError):
        return failed(
            "swhids", ["tree.parquet or config.json can't be read, from which they follow"]
        )


def _history(pinned: list[dict[str, Any]], means: Means) -> Check:
    clones = list(means.clones)
    if means.vault is not None:
        clones += _mirrors(Vault(means.vault), pinned)
    there = [clone for clone in clones if clone.is_dir()]
    return commits.check_clones(pinned, there, asked=bool(means.clones))


def _mirrors(vault: Vault, pinned: list[dict[str, Any]]) -> Iterator[Path]:
    """Yield the vault's mirrors of what a report pins; a name that no repository has, has none."""
    for row in pinned:
        if is_repository(row["repo"]):
            with suppress(VaultError):  # longer than a folder's name can be
                yield vault.mirror(row["repo"])


def _config(merged: Any, read: form.Seal, defaults: Mapping[str, Any]) -> Check:
    """Return whether config.json has the content keys whose digest the seal holds."""
    made = read.values.get("made_by")
    sealed = made.get("config") if isinstance(made, dict) else None
    if not isinstance(merged, dict):
        return failed("config", ["config.json is not here, or can't be read"])
    keys = {key: merged[key] for key in CONTENT_KEYS if key in merged}
    try:
        found = configuration.load({**defaults, **keys}, "2000-01-01").content_digest()
    except BenchproofError:
        return unchecked("config", "config.json is of another version")
    if found != sealed:
        return failed("config", ["config.json has another digest than the seal says"])
    return ok("config", "config.json has the content keys that the seal names")


def _code(read: form.Seal) -> Check:
    """Return whether the code that runs here made the report."""
    made = read.values.get("made_by")
    sealed = made if isinstance(made, dict) else {}
    if sealed.get("code") != provenance.library_digest():
        return unchecked(
            "code",
            f"made by another version ({str(sealed.get('code'))[:12]}); take that one to compare",
        )
    here, there = provenance.versions(), sealed.get("versions")
    if not isinstance(there, dict):
        return failed("code", ["seal.json does not say by which libraries it was made"])
    other = [f"{name} {version}" for name, version in here.items() if there.get(name) != version]
    note = f"; other libraries here: {', '.join(other)}" if other and there else ""
    return ok("code", f"the code that runs here made it{note}")


def _crate(folder: Path, read: form.Seal) -> Check:
    """Return whether the crate lists the sealed files with their digests."""
    data = _json(folder / crate.CRATE)
    try:
        listed = crate.listed(data if isinstance(data, dict) else {})
    except (ValueError, TypeError, OverflowError):
        return failed("crate", [f"{crate.CRATE} can't be read"])
    sealed = {crate.file_id(n): entry for n, entry in read.files.items() if n != crate.CRATE}
    wanted = {name: (entry.size, entry.sha256) for name, entry in sealed.items()}
    if read.format == 1:  # without sizes
        listed = {name: (None, digest) for name, (_, digest) in listed.items()}
    odd = sorted(name for name in {*wanted, *listed} if wanted.get(name) != listed.get(name))
    if odd:
        return failed("crate", (f"{crate.CRATE}: {name} is not as the seal says" for name in odd))
    return ok("crate", f"{crate.CRATE} lists {len(listed)} files with the sealed digests")


def _answers(folder: Path, means: Means, label: str) -> Check:
    """Return whether anything that is graded stands in the folder, by the vault's answers."""
    if means.vault is None or not means.vault.is_dir():
        why_not = "no vault at hand: only one that holds the answers can tell; say --vault DIR"
        return unchecked("answers", why_not, asked=means.vault_asked)
    try:
        found = search.again(folder, Vault(means.vault), means.metadata, label)
    except BenchproofError as error:
        return unchecked("answers", f"the search did not end: {error}", asked=means.vault_asked)
    if found is None:
        why_not = "the vault lacks the content of a commit that the report is pinned to"
        return unchecked("answers", why_not, asked=means.vault_asked)
    try:
        found.check(VERIFYING)
    except LeakError as error:
        return failed("answers", [str(error)])
    searched = sum(found.surfaces.values())
    more = f", and {len(means.metadata)} folders of Snakemake's," if means.metadata else ""
    told = f"{searched} surfaces{more} searched for {found.needles} values: none is there"
    return ok("answers", told)


def _json(path: Path) -> Any:
    data = _bytes(path, _MOST_JSON)
    try:
        return None if data is None else jsontext.loads(data).value
    except Unreadable:
        return None


def _bytes(path: Path, most: int) -> bytes | None:
    try:
        return files.read(path, most)
    except OSError:
        return None
