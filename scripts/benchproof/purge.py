"""What may be deleted: one report by name, or what no report in the results folder needs of the vault."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchproof import tables
from benchproof.config import AS_OF, Config
from benchproof.errors import ConfigError, TableError
from benchproof.vault import Vault, read_json, slug

_REPORT = re.compile(rf"({re.escape(AS_OF)})?\d{{4}}-\d{{2}}-\d{{2}}")


def doomed(vault: Vault, config: Config, report: str | None) -> list[tuple[Path, int]]:
    """Return (path, bytes) of everything that would go, sorted.

    Without a report: content archives, blobs and mirrors of repositories at commits that no report names.
    Pins are never among them: they are the only record of what a date audited. Raises ConfigError for a
    report that is not there, TableError for one that cannot be read.
    """
    paths = _unneeded(vault, config) if report is None else _of_report(vault, config, report)
    return sorted((path, _size(path)) for path in paths)


def remove(paths: Iterable[Path]) -> None:
    """Delete files and folders."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _of_report(vault: Vault, config: Config, report: str) -> Iterator[Path]:
    folder = Path(config.results, report)
    if not _REPORT.fullmatch(report) or folder.is_symlink() or not folder.is_dir():
        raise ConfigError(f"{folder}: no such report; name one by its date.")
    yield folder
    work = vault.work(config.results, report)
    if work.exists():
        yield work
    latest = Path(config.results, "latest")
    if latest.is_symlink() and latest.resolve() == folder.resolve():
        yield latest


def _unneeded(vault: Vault, config: Config) -> Iterator[Path]:
    needed = _needed(vault, config)
    repositories = {repo for repo, _ in needed}
    for path in vault.root.glob("content/*/*.zip"):
        if (path.parent.name, path.stem) not in needed:
            yield path
    # Blobs that came one by one stand in the archives of their commits as well.
    yield from vault.root.glob("objects/*/*")
    for path in (*vault.root.glob("mirrors/*.git"), *vault.root.glob("history/*.git")):
        if path.name.removesuffix(".git") not in repositories:
            yield path


def _needed(vault: Vault, config: Config) -> set[tuple[str, str]]:
    """Return (repository folder, commit) of every pin that a report or a record of the vault names."""
    found: set[tuple[str, str]] = set()
    for path in Path(config.results).glob("*/pins.parquet"):
        try:
            rows = tables.read(path, "pins")
        except TableError as error:
            raise TableError(f"{error} Nothing was deleted.") from None
        found |= {(slug(row["repo"]), row["commit_sha"]) for row in rows if row["commit_sha"]}
    for path in vault.root.glob("pins/*/*.json"):
        record = read_json(path)
        if record["commit_sha"]:
            found.add((slug(record["repo"]), record["commit_sha"]))
    return found


def _size(path: Path) -> int:
    if path.is_symlink() or path.is_file():
        return path.lstat().st_size
    return sum(item.lstat().st_size for item in path.rglob("*") if item.is_file())
