"""What may be deleted: one report by name, all but the newest, or what no report needs of the vault."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchproof import tables
from benchproof.config import AS_OF, HISTORY, Config
from benchproof.errors import ConfigError, TableError, VaultError, why
from benchproof.sealing.seal import is_complete, previous_report
from benchproof.storage.identity import Identity
from benchproof.storage.names import folder_name
from benchproof.vault import Vault, read_json, slug

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_REPORT = re.compile(rf"({re.escape(AS_OF)})?{_DAY.pattern}")
#: A drift's folder: <from>..<to>.
_BETWEEN = ".."


def superseded(config: Config, keep: int) -> list[str]:
    """Return the dates whose reports go when `keep` complete ones stay, oldest first.

    Whatever is as new as the oldest one that stays does too, and so do the report that `latest` leads to,
    the one of this configuration, and audits of the past. Without a complete report nothing goes.
    """
    first = _oldest_kept(config, keep)
    spared = {config.label, (Path(config.results) / "latest").resolve().name}
    return [date for date in _dates(config) if first and date < first and date not in spared]


def _dates(config: Config) -> list[str]:
    return sorted(
        path.name
        for path in Path(config.results).glob("[0-9]*")
        if _REPORT.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    )


def _oldest_kept(config: Config, keep: int) -> str | None:
    """Return the oldest of the newest `keep` complete reports; None without any."""
    complete = [date for date in _dates(config) if is_complete(Path(config.results) / date)]
    return complete[-keep:][0] if complete else None


def _left_behind(vault: Vault, config: Config, keep: int) -> set[str]:
    """Return the dates before the oldest report that stays of which the vault has records and nobody a
    report: it went without `--forget`, or by hand. Audits of the past are none of them.
    """
    first = _oldest_kept(config, keep)
    known = {path.name for name in ("pins", "observed") for path in vault.root.glob(f"{name}/*")}
    reports = {*_dates(config), config.label}
    return {
        date
        for date in known - reports
        if _DAY.fullmatch(date)
        and first is not None
        and date < first
        and not _shared(vault, config, date)
    }


def outdated(
    vault: Vault, config: Config, keep: int, *, forget: bool = False
) -> list[tuple[Path, int]]:
    """Return (path, bytes) of everything that goes when `keep` complete reports stay, sorted: the reports
    before them, their hand-overs, and the drifts that lead up to them.

    With `forget` also what only these reports needed of the vault, or earlier ones that went without it:
    what they had pinned and observed, content archives, peeks and snapshots. All that may be the only copy
    anywhere, since upstream moves on.
    """
    gone = superseded(config, keep)
    paths = {path for report in gone for path in _of_report(vault, config, report)}
    paths |= {path for path in _drifts(config) if path.name.partition(_BETWEEN)[2] in gone}
    if forget:
        alone = {report for report in gone if not _shared(vault, config, report)}
        alone |= _left_behind(vault, config, keep)
        paths |= {path for report in alone for path in vault.records(report) if path.exists()}
        paths |= set(_unneeded(vault, config, gone, alone))
    return sorted((path, _size(path)) for path in paths)


def referring(config: Config, reports: Collection[str]) -> list[str]:
    """Return a line for each thing that stays and tells of a report that goes."""
    lines = []
    for path in _drifts(config):
        old, _, new = path.name.partition(_BETWEEN)
        if old in reports and new not in reports:
            lines.append(f"{path} stays, and compares with {old}, which goes.")
    stay = sorted(
        path.parent.name
        for path in Path(config.results).glob("[0-9]*/seal.json")
        if path.parent.name not in reports
    )
    for report in sorted(reports):
        later = next((date for date in stay if date > report), None)
        before = previous_report(Path(config.results), later) if later else None
        if before is not None and before.name == report:
            lines.append(
                f"{config.results}/{later} stays, and tells of changes since {report}, which goes."
            )
    return lines


def doomed(vault: Vault, config: Config, report: str | None) -> list[tuple[Path, int]]:
    """Return (path, bytes) of everything that would go, sorted.

    Without a report: content archives, blobs and mirrors of repositories at commits that no report names,
    snapshots, whole or in parts, and peeks of versions that none names, and reproductions. Pins and what
    was observed are never among them: they are the only record of what a date audited. Raises ConfigError
    for a report that is not there, TableError for one that cannot be read.
    """
    paths = _unneeded(vault, config) if report is None else _of_report(vault, config, report)
    return sorted((path, _size(path)) for path in paths)


def remove(paths: Iterable[Path]) -> None:
    """Delete files and folders. Raises VaultError for one that stays, such as a file in use on NFS."""
    for path in paths:
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise VaultError(
                f"{path}: cannot be deleted ({why(error)}); try again later."
            ) from None


def _of_report(vault: Vault, config: Config, report: str) -> Iterator[Path]:
    folder = Path(config.results, report)
    if not _REPORT.fullmatch(report) or folder.is_symlink() or not folder.is_dir():
        raise ConfigError(f"{folder}: no such report; name one by its date.")
    yield folder
    work = vault.work(config.results, report)
    if work.exists():
        yield work
    yield from vault.root.glob(f"reproduce/{report}.*")
    yield from vault.root.glob(f"determinism/{report}")
    latest = Path(config.results, "latest")
    if latest.is_symlink() and latest.resolve() == folder.resolve():
        yield latest


def _drifts(config: Config) -> list[Path]:
    return sorted(Path(config.results, "drift").glob(f"*{_BETWEEN}*"))


def _shared(vault: Vault, config: Config, report: str) -> bool:
    """True when a report of another results folder rests on the same records of the vault."""
    ours = vault.work(config.results, report)
    return any(path != ours for path in vault.root.glob(f"handover/*/{report}"))


def _unneeded(
    vault: Vault, config: Config, gone: Collection[str] = (), forgotten: Collection[str] = ()
) -> Iterator[Path]:
    """Yield what is not needed once the reports `gone` are, and the records of `forgotten`."""
    needed = _needed(vault, config, gone, forgotten)
    repositories = {repo for repo, _ in needed}
    for path in vault.root.glob("content/*/*.zip"):
        if (path.parent.name, path.stem) not in needed:
            yield path
    # What was derived again can be once more.
    yield from vault.root.glob("reproduce/*")
    yield from vault.root.glob("determinism/*")
    # Blobs that came one by one stand in the archives of their commits as well.
    yield from vault.root.glob("objects/*/*")
    for path in (*vault.root.glob("mirrors/*.git"), *vault.root.glob("history/*.git")):
        if path.name.removesuffix(".git") not in repositories:
            yield path
    versions = _versions(vault, config, gone)
    for path in (*vault.snapshots.glob("*/*"), *vault.peeks.glob("*/*")):
        # A version's key has no dots; what follows says which of its files it is.
        if (path.parent.name, path.name.partition(".")[0]) not in versions:
            yield path


def _versions(vault: Vault, config: Config, gone: Collection[str]) -> set[tuple[str, str]]:
    """Return (handle's folder, version) of every object that a report names: one of this results folder, or
    one of another that shares the vault, by what its jobs handed over.
    """
    found: set[tuple[str, str]] = set()
    for name in ("objects", "files"):
        for path in _of_those_that_stay(config, name, gone):
            found |= {version for row in _rows(path, name) for version in _named(name, row)}
    ours = vault.work(config.results, config.label).parent
    for path in vault.root.glob("handover/*/*/selection.json"):
        if path.parents[1] != ours:
            entries = (entry for part in read_json(path)["parts"].values() for entry in part)
            found |= {
                (
                    folder_name(entry["handle"]),
                    Identity(entry["etag"], entry["size_bytes"], entry["last_modified"]).key(),
                )
                for entry in entries
            }
    return found


def _named(name: str, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if name == "objects":
        yield folder_name(row["handle"]), Identity.of_row(row).key()
    elif row["path"]:  # of a version that came after the probe, perhaps
        path = Path(row["path"])
        yield path.parent.name, path.name.partition(".")[0]


def _rows(path: Path, name: str) -> list[dict[str, Any]]:
    try:
        return tables.read(path, name)
    except TableError as error:
        raise TableError(f"{error} Nothing was deleted.") from None


def _of_those_that_stay(config: Config, name: str, gone: Collection[str]) -> list[Path]:
    tables = Path(config.results).glob(f"*/{name}.parquet")
    return [path for path in tables if path.parent.name not in gone]


def _needed(
    vault: Vault, config: Config, gone: Collection[str], forgotten: Collection[str]
) -> set[tuple[str, str]]:
    """Return (repository folder, commit) of every pin that a report, the folder of a past commit or a
    record of the vault names.
    """
    found: set[tuple[str, str]] = set()
    past = Path(config.results).glob(f"{HISTORY}/*/*/pins.parquet")
    for path in (*_of_those_that_stay(config, "pins", gone), *past):
        rows = _rows(path, "pins")
        found |= {(slug(row["repo"]), row["commit_sha"]) for row in rows if row["commit_sha"]}
    for path in vault.root.glob("pins/*/*.json"):
        if path.parent.name in forgotten:
            continue
        record = read_json(path)
        if record["commit_sha"]:
            found.add((slug(record["repo"]), record["commit_sha"]))
    return found


def _size(path: Path) -> int:
    if path.is_symlink() or path.is_file():
        return path.lstat().st_size
    return sum(item.lstat().st_size for item in path.rglob("*") if item.is_file())
