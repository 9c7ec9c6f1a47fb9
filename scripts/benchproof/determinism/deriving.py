"""One derivation: a clean room, the workflow in it under the given conditions, and what it left.

A room is a working folder of its own inside the vault, with `vault` and `results` in it. Rooms are made
one after the other, so that two derivations can have the same path; what they made is kept beside them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchproof.config import DAY
from benchproof.determinism.conditions import Derivation
from benchproof.determinism.places import Locales
from benchproof.errors import BenchproofError
from benchproof.outputs import CONTENT, DATA, ERROR
from benchproof.provenance import SCRIPTS
from benchproof.rooms import furnish
from benchproof.sources.base import Pin, RepoSpec
from benchproof.vault import Vault, private_file, private_folder, read_json, write_json

SNAKEFILE: Final = Path(__file__).resolve().parents[3] / "Snakefile"
SITE: Final = Path(__file__).resolve().parent / "site"
#: Tables that tell of signer, storage and network: they are observations, and given.
GIVEN: Final = (*DATA, "data_findings", "traffic")
#: The rules that make what commits decide.
RULES: Final = (
    *("pin_commits", "mirror_content", "list_trees", "reconcile_manifests", "project_evals"),
    *("lint_evals", "check_licences", "grade_share", "regrade_runs", "check_records"),
    *("check_published", "summarise_models", "collect_findings"),
)
#: What makes claims, page and summary where the observations are given, and claims where there are none.
RENDERING: Final = Path(__file__).resolve().parent / "rendering.py"
CLAIMS: Final = "check_claims"
#: Tables that are made last where these are asked for first.
_LAST: Final = ("licences", "record_checks", "tree")
#: Variables that say to others what a derivation is told by its conditions.
_DROPPED: Final = ("LANG", "LANGUAGE", "LOCPATH", "SNAKEMAKE_PROFILE", "PYTHONSTARTUP")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a date recorded, and all derivations of it begin with."""

    label: str
    settings: Mapping[str, Any]
    family: Sequence[RepoSpec]
    pins: Mapping[str, Pin]
    absences: Mapping[str, str]
    #: The folder of a sealed report, whose observations are given; None where there is none.
    report: Path | None


@dataclass(frozen=True, slots=True)
class Made:
    """What a derivation left: the folder of its files, and what its jobs saw."""

    folder: Path
    witnesses: list[dict[str, Any]]
    #: The source of each content archive that was in the room, by its inode.
    sources: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where derivations take place, and what they need of this machine."""

    base: Path
    python: str
    locales: Locales
    #: The vaults that archives come from, by the name of their source.
    sources: Mapping[str, Vault]
    _placed: dict[int, str] = field(default_factory=dict)

    def derive(self, recorded: Recorded, one: Derivation) -> Made:
        """Derive everything under the conditions of `one`; raises BenchproofError when that fails."""
        room = self.base / "rooms" / one.given["working folder"]
        if not one.is_on_top:
            shutil.rmtree(self.base / "rooms", ignore_errors=True)
            self._furnish(room, recorded, one)
        settings = self._settings(recorded, one)
        write_json(room / "settings.json", settings)
        into = private_folder(self.base / "witnesses" / one.name)
        log = private_folder(self.base / "logs") / f"{one.name}.log"
        with log.open("wb") as handle:
            run = partial(
                subprocess.run,
                cwd=room,
                env=self.environment(recorded, one, into),
                umask=int(one.given["umask"], 8),
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=subprocess.STDOUT,
                check=False,
            )
            failed = bool(run(self._command(recorded, one)).returncode)
            if not failed and recorded.report is not None:
                _give(recorded.report, room / "results" / recorded.label)
                failed = bool(run([self.python, str(RENDERING)]).returncode)
        if failed:
            given = ", ".join(f"{name} {value}" for name, value in one.given.items())
            told = f"{given}\n{_last_word(log, room)}\n"
            with private_file(log.with_suffix(".failed")) as handle:
                handle.write(told.encode())
            raise BenchproofError(
                f"derivation {one.name} failed: {_last_word(log, room)} See {log} and, for its conditions, "
                f"{log.with_suffix('.failed')}; docs/determinism.md lists them."
            )
        return Made(self._keep(room, recorded, one), _witnesses(into), dict(self._placed))

    def _furnish(self, room: Path, recorded: Recorded, one: Derivation) -> None:
        came: dict[tuple[str, str], str] = {}

        def archive(spec: RepoSpec, commit: str) -> Path:
            for name in (one.given["source"], *self.sources):
                path = self.sources[name].content(spec.repo, commit)
                if path.exists():
                    break
            came[spec.repo, commit] = name
            return path

        inner = Vault(private_folder(room) / "vault")
        missing = furnish(
            inner, recorded.label, recorded.family, recorded.pins, recorded.absences, archive
        )
        if missing:
            spec, path = missing[0]
            raise BenchproofError(f"{path}: the content of {spec.repo} is gone; run again.")
        self._placed.clear()
        for (repo, commit), name in came.items():
            self._placed[inner.content(repo, commit).stat().st_ino] = name

    def _settings(self, recorded: Recorded, one: Derivation) -> dict[str, Any]:
        """Return the configuration of this date, for a room, where nobody can be asked."""
        here = {"results": "results", "resources": "vault", "offline": True, "git_mirrors": {}}
        return {**recorded.settings, **here, "shards": int(one.given["shares of runs"])}

    def _command(self, recorded: Recorded, one: Derivation) -> list[str]:
        out = f"results/{recorded.label}"
        names = CONTENT if recorded.report is not None else (*CONTENT, "claims")
        wanted = [f"{out}/{name}.parquet" for name in names]
        command = [self.python, "-m", "snakemake", *wanted, "--snakefile", str(SNAKEFILE)]
        command += ["--cores", one.given["jobs at once"], "--configfile", "settings.json"]
        if one.given["job order"] != "as it comes":
            command += ["--prioritize", *(f"{out}/{name}.parquet" for name in _LAST)]
        if one.is_on_top:
            command.append("--forceall")
        return command

    def environment(self, recorded: Recorded, one: Derivation, into: Path) -> dict[str, str]:
        """Return the environment that puts the conditions into force, and leads witnesses to `into`."""
        threads = one.given["threads"]
        told = {
            "into": str(into.absolute()),
            "known": str(self.known().absolute()),
            "results": f"results/{recorded.label}",
            "listing": one.given["folder order"],
            "cpus": 1 if threads == "1" else 0,
            "threads": threads,
        }
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in _DROPPED and not name.startswith("LC_")
        }
        libraries = [str(SITE), str(SCRIPTS), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {
            **kept,
            **self.locales.environment(one.given["locale"]),
            "PYTHONHASHSEED": one.given["hash seed"],
            "TZ": one.given["time zone"],
            "PYTHONPATH": os.pathsep.join(libraries),
            "BENCHPROOF_CONDITIONS": json.dumps(told),
            DAY: recorded.settings["date"] or os.environ[DAY],
        }

    def known(self) -> Path:
        """Return a folder of a few files whose listing the jobs bear witness of."""
        folder = private_folder(self.base / "known")
        for letter in "dbfaecg":
            (folder / letter).touch()
        return folder

    def _keep(self, room: Path, recorded: Recorded, one: Derivation) -> Path:
        """Copy what is compared out of the room, which the next derivation may need."""
        kept = self.base / "made" / one.name
        shutil.rmtree(kept, ignore_errors=True)
        private_folder(kept)
        for path in products(room, recorded.label):
            to = (
                kept / path.name
                if path.parent.name != "findings"
                else kept / "findings" / path.name
            )
            to.parent.mkdir(mode=0o700, exist_ok=True)
            shutil.copyfile(path, to)
        return kept


def _give(report: Path, out: Path) -> None:
    """Put the observations of a sealed report beside the tables of a room."""
    for name in GIVEN:
        shutil.copyfile(report / f"{name}.parquet", out / f"{name}.parquet")


def products(room: Path, label: str) -> Iterable[Path]:
    """Return the files of a room that must be the same in all: tables, lists of findings, page, summary."""
    out = room / "results" / label
    yield from (out / f"{name}.parquet" for name in (*CONTENT, "claims"))
    yield from (out / name for name in ("findings.json", "findings.sarif"))
    yield from sorted((out / "findings").glob("*.md"))
    staged = room / "vault" / "handover" / "results" / label / "staging"
    yield from (
        path for path in map(staged.joinpath, ("report.html", "summary.md")) if path.exists()
    )


def _witnesses(into: Path) -> list[dict[str, Any]]:
    return [read_json(path) for path in sorted(into.glob("*.json"))]


def _last_word(log: Path, room: Path) -> str:
    """Return what the first job that failed said last, or the last words of the run."""
    for path in sorted(room.glob("results/*/logs/*.log")):
        said = ERROR.findall(path.read_text(encoding="utf-8", errors="replace"))
        if said:
            return f"{path.stem}: {said[-1]}"
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing."


def pins_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, Pin]:
    """Return the rows of a pins table as pins, by repository."""
    return {row["repo"]: Pin(**row) for row in rows}
