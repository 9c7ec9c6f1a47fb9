"""What the conditions can be on this machine: locales that are there or can be made, and the other source."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchproof.errors import ConfigError
from benchproof.pinning import mirror
from benchproof.sources.base import Pin, RepoSpec
from benchproof.sources.opening import open_http, open_source
from benchproof.vault import Vault, private_folder

#: One language whose capitals differ from ASCII's, and one that writes 1,5: the first of each that is there.
_WANTED: Final = (("tr_TR", "az_AZ"), ("de_DE", "fr_FR", "sv_SE", "es_ES"))
_PLAIN: Final = ("C", "C.UTF-8")


@dataclass(frozen=True, slots=True)
class Locales:
    """Locales to derive in, the folder that those made here stand in, and what could not be had."""

    names: tuple[str, ...]
    folder: Path
    unvaried: str | None

    def environment(self, name: str) -> dict[str, str]:
        """Return the variables that make a process speak one of them."""
        path = {"LOCPATH": str(self.folder.absolute())} if (self.folder / name).is_dir() else {}
        return {"LC_ALL": name, **path}


def locales(folder: Path) -> Locales:
    """Return up to three locales that differ; those that are not installed are made in `folder` where
    the machine has what it takes.
    """
    found = [_first(names, folder) for names in _WANTED]
    named = [name for name in found if name is not None]
    names = tuple(dict.fromkeys(["C", *named, *_PLAIN]))[:3]
    here = tuple(name for name in names if name in named or _speaks(name, None))
    lacking = [names[0] for names, name in zip(_WANTED, found, strict=True) if name is None]
    said = f"no locale like {' or '.join(lacking)} is installed or can be made" if lacking else None
    return Locales(here, folder, said)


def _first(names: tuple[str, ...], folder: Path) -> str | None:
    for name in names:
        if _speaks(f"{name}.UTF-8", None) or _made(name, folder):
            return f"{name}.UTF-8"
    return None


def _speaks(name: str, folder: Path | None) -> bool:
    """True when a process takes this locale; asked in a process, since ours keeps its own."""
    more = {"LOCPATH": str(folder)} if folder else {}
    code = "import locale; locale.setlocale(locale.LC_ALL, '')"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**os.environ, **more, "LC_ALL": name},
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0


def _made(name: str, folder: Path) -> bool:
    """Make a locale from the machine's own sources, in a folder of ours; True when that worked."""
    program = shutil.which("localedef")
    if program is None:
        return False
    private_folder(folder)
    made = folder / f"{name}.UTF-8"
    command = [program, "--no-archive", "-i", name, "-f", "UTF-8", str(made)]
    subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=60
    )
    return _speaks(f"{name}.UTF-8", folder)


@dataclass(frozen=True, slots=True)
class Other:
    """The other source: its name, the vault that it fills, and the repositories it could not bring."""

    name: str
    vault: Vault
    absent: Mapping[str, str]

    @property
    def unvaried(self) -> str | None:
        """Return which repositories were not read through it, and why; None when all were."""
        causes: dict[str, list[str]] = {}
        for repo, why in self.absent.items():
            causes.setdefault(why, []).append(repo)
        said = [
            f"{', '.join(repos)} not through {self.name}: {why}" for why, repos in causes.items()
        ]
        return "; ".join(said) or None


def other_source(
    settings: Mapping[str, Any], vault: Vault, family: list[RepoSpec], pins: Mapping[str, Pin]
) -> Other:
    """Bring the content of the pinned commits through the source that this audit does not use.

    What it brought is kept, and asked for once. Raises ProofError for bytes that are not what their id
    says; whatever else keeps a repository away is said in `absent`.
    """
    name = "github" if settings["source"] == "git" else "git"
    if settings["offline"]:
        return _kept(name, vault, family, pins)
    absent: dict[str, str] = {}
    with open_http(settings) as http:
        try:
            source = open_source({**settings, "source": name}, vault, http)
        except ConfigError as error:
            return replace(_kept(name, vault, family, pins), absent=_all(family, pins, str(error)))
        for spec in _pinned(family, pins):
            if name == "github" and spec.repo in settings["git_mirrors"]:
                absent[spec.repo] = "git_mirrors names its only remote"
                continue
            record = mirror(source, vault, spec, pins[spec.repo])
            if record["status"] != "ok":
                absent[spec.repo] = record["reason"]
    return Other(name, vault, absent)


def _kept(name: str, vault: Vault, family: list[RepoSpec], pins: Mapping[str, Pin]) -> Other:
    records = {
        spec.repo: mirror(None, vault, spec, pins[spec.repo]) for spec in _pinned(family, pins)
    }
    absent = {
        repo: record["reason"] for repo, record in records.items() if record["status"] != "ok"
    }
    return Other(name, vault, absent)


def _all(family: list[RepoSpec], pins: Mapping[str, Pin], why: str) -> dict[str, str]:
    return {spec.repo: why for spec in _pinned(family, pins)}


def _pinned(family: list[RepoSpec], pins: Mapping[str, Pin]) -> list[RepoSpec]:
    return [spec for spec in family if pins[spec.repo].commit_sha is not None]
