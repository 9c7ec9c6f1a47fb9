"""What an audit has not learnt yet, and how the next run is made to ask for that alone.

A stage that asks the world journals what it learnt in the vault. When something stayed unknown, the next
run changes a marker file that is an input of the stage; Snakemake then runs the stage again, and the
stage asks for what the journal lacks. When nothing is unknown, no marker changes and nothing runs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchproof.config import Config
from benchproof.errors import SealError
from benchproof.sealing.seal import is_complete, sealed
from benchproof.vault import Vault, read_json, write_json

#: Stages that ask the signer or the storage; each leaves a list of what it did not learn.
STORAGE = ("resolve", "probe", "peek", "fetch")
#: The stage that derives the past; each repository leaves a list of its own, whatever the report's state.
PAST = "history"
STAGES = ("pin", "mirror", *STORAGE, PAST)


@dataclass(frozen=True, slots=True)
class Unknown:
    """One thing that a stage asked for and did not learn, with the cause."""

    stage: str
    item: str
    cause: str


class Pending:
    """What is open in one audit."""

    def __init__(self, vault: Vault, config: Config, work: Path, out: Path) -> None:
        self._vault, self._config, self._work, self._out = vault, config, work, out

    def marker(self, stage: str) -> Path:
        """Return the marker file of a stage."""
        return self._work / "ask" / f"{stage}.json"

    def unknown(self) -> list[Unknown]:
        """Return what the stages that have run did not learn, in stage and family order.

        A finished report has learnt everything, whatever became of the vault; the past is no part of it.
        """
        past = self._unlearnt_past()
        if self._finished():
            return past
        return [*self._unpinned(), *self._unmirrored(), *self._unlearnt(), *past]

    def prepare(self, *, bump: bool) -> None:
        """Create missing markers; with `bump`, change those of stages that have something to ask again."""
        unknown = self.unknown() if bump else []
        open_stages = {item.stage for item in unknown}
        for stage in STAGES:
            marker = self.marker(stage)
            attempt = read_json(marker)["attempt"] if marker.exists() else 0
            if not marker.exists() or stage in open_stages:
                write_json(marker, {"attempt": attempt + 1})
        # After the marker: a kill between the two costs a further run, the other way round the file.
        self._reopen_fetches({item.item for item in unknown if item.stage == "fetch"})

    def _unlearnt_past(self) -> list[Unknown]:
        paths = sorted((self._work / "open").glob(f"{PAST}.*.json"))
        names = [path.name.removeprefix(f"{PAST}.").removesuffix(".json") for path in paths]
        return [
            Unknown(PAST, f"{name.replace('+', '/')}@{item}", str(cause))
            for name, path in zip(names, paths, strict=True)
            for item, cause in read_json(path)
        ]

    def _unlearnt(self) -> list[Unknown]:
        found = []
        for stage in STORAGE:
            path = self._work / "open" / f"{stage}.json"
            items = read_json(path) if path.exists() else []
            found += [Unknown(stage, item, str(cause)) for item, cause in items]
        known = {item.item for item in found if item.stage == "fetch"}
        return found + [item for item in self._lost() if item.item not in known]

    def _lost(self) -> list[Unknown]:
        """Return the chosen snapshots that were fetched and that somebody deleted or cut off since."""
        path = self._work / "selection.json"
        parts = read_json(path)["parts"] if path.exists() else {}
        return [
            Unknown("fetch", record["handle"], "file_missing")
            for part in parts
            for record in self._fetched(part)
            if record["status"] == "ok" and not self._is_here(record)
        ]

    def _fetched(self, part: str) -> list[dict[str, Any]]:
        path = self._work / "fetched" / f"{part}.json"
        found: list[dict[str, Any]] = read_json(path) if path.exists() else []
        return found

    def _is_here(self, record: Mapping[str, Any]) -> bool:
        """True for a file as long as its record says; its bytes are compared on the next date."""
        try:
            size = (self._vault.snapshots / str(record["path"])).stat().st_size
        except OSError:
            return False
        return size == int(record["size"])

    def _reopen_fetches(self, handles: Collection[str]) -> None:
        """Forget the records of fetches that stayed open: each is a job's output, and is made again.

        The marker of the stage is an input of `choose_snapshots`, which counts again what is to be moved, and
        of `inspect_snapshots`: without it Snakemake takes a record that is gone for an intermediate file that
        nobody needs, and it takes a selection with the same content for the old one.
        """
        for path in sorted((self._work / "fetched").glob("*.json")) if handles else ():
            if any(record["handle"] in handles for record in read_json(path)):
                path.unlink()

    def _finished(self) -> bool:
        """True when the report is complete and every file that it was sealed with is still there."""
        try:
            return is_complete(self._out) and all(
                (self._out / name).exists() for name in sealed(self._out)
            )
        except SealError:
            return False

    def _unpinned(self) -> list[Unknown]:
        if not (self._out / "pins.parquet").exists():
            return []
        label = self._config.label
        family = self._config.family
        missing = [s for s in family if not self._vault.pin_record(label, s.repo, s.ref).exists()]
        return [Unknown("pin", spec.repo, self._cause(spec.repo)) for spec in missing]

    def _cause(self, repo: str) -> str:
        mirrored = self._mirrored()
        return str(mirrored.get(repo, {}).get("reason") or "not asked")

    def _unmirrored(self) -> list[Unknown]:
        audited = {spec.repo for spec in self._config.family}
        found = []
        for repo, record in self._mirrored().items():
            commit = record["commit_sha"]
            if repo in audited and commit:
                if record["status"] == "unknown":
                    found.append(Unknown("mirror", repo, str(record["reason"])))
                elif not self._vault.content(repo, commit).exists():
                    found.append(Unknown("mirror", repo, "archive_missing"))
        return found

    def _mirrored(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads((self._work / "mirror.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
