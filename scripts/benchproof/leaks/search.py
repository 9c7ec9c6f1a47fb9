"""The search, in a process of its own: this one never holds a secret, that one writes nothing.

The searching process is told paths, reads the vault and what leaves, and answers with one message; its
output goes nowhere, it can write no file and dump no core.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from glob import escape
from pathlib import Path
from typing import Any, Final

from benchproof import jsontext
from benchproof.errors import BenchproofError, LeakError, Unreadable
from benchproof.foreign import refuse_odd_pins
from benchproof.leaks import proof, surfaces
from benchproof.leaks.outcome import Outcome, parsed
from benchproof.leaks.surfaces import Origin
from benchproof.sources.base import RepoSpec
from benchproof.storage.frames import BadFrame, receive, send
from benchproof.storage.sandbox import environment
from benchproof.vault import Vault, private_folder

#: Within these seconds a search has answered: the largest family takes minutes, on slow disks an hour.
WAIT_S: Final = 12 * 3600.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be searched: folders, for the secrets of repositories at commits and of links.

    `folder` is the report's; `staged` are files that will be part of it; `metadata` are the engine's
    folders; `said` is what the run says of its own places.
    """

    folder: Path
    vault: Vault
    repositories: tuple[tuple[RepoSpec, str], ...]
    links: tuple[Path, ...] = ()
    staged: tuple[Path, ...] = ()
    metadata: tuple[Path, ...] = ()
    said: tuple[str, ...] = ()

    def tops(self) -> list[tuple[Path, Origin]]:
        """Return the folders that leave, and whose they are."""
        report: list[tuple[Path, Origin]] = [
            (path, "report") for path in (*self.staged, self.folder)
        ]
        beside: list[tuple[Path, Origin]] = [(path, "beside") for path in self._beside()]
        # A run that was killed may have torn the status of watched ones, as it may a record of the engine.
        torn = (*self.metadata, *sorted(self.folder.parent.glob("status.json*")))
        return report + beside + [(path, "engine") for path in torn]

    def _beside(self) -> Iterator[Path]:
        """Yield comparisons with this report, past commits that it is pinned to, and what is made of them:
        timelines and their pages.
        """
        results, label = self.folder.parent, self.folder.name
        yield from filter(surfaces.closed, (results, results / "drift", results / "history"))
        yield from sorted((results / "drift").glob(f"*..{escape(label)}"))
        yield from sorted((results / "history").glob("*.html"))
        yield results / "history" / "logs"
        for spec, commit in self.repositories:
            past = results / "history" / spec.repo.replace("/", "+")
            yield from filter(surfaces.closed, [past])
            yield past / commit
            yield from sorted(past.glob("*.parquet"))

    def message(self, planted: Path) -> dict[str, Any]:
        """Return what the searching process is told."""
        return {
            "folder": str(self.folder),
            "vault": str(self.vault.root),
            "repositories": [[asdict(spec), commit] for spec, commit in self.repositories],
            "links": list(map(str, self.links)),
            "tops": [[str(path), origin] for path, origin in self.tops()],
            "said": list(self.said),
            "planted": str(planted),
        }


def search(asked: Asked, private: Path, wait_s: float = WAIT_S) -> Outcome:
    """Search in a process of its own; `private` is a folder of the vault where the proof is planted.

    Raises LeakError when the process fails, takes longer than `wait_s`, or says anything but places and
    counts.
    """
    deadline = time.monotonic() + wait_s
    with tempfile.TemporaryDirectory(dir=private, ignore_cleanup_errors=True) as planted:
        proof.write(Path(planted))
        with _child() as sock:
            sock.settimeout(wait_s)
            try:
                send(sock, asked.message(Path(planted)))
                message, _ = receive(sock, deadline)
            except TimeoutError:
                raise LeakError(
                    f"the search for graded values had no answer after {wait_s / 3600:.3g} hours and was "
                    "ended. Run again on a machine that is less busy, with vault and results on faster "
                    "disks; when it takes as long again, report this as a defect."
                ) from None
            except (EOFError, ConnectionError, BadFrame):
                raise LeakError(
                    "the search for graded values ended without an answer, for lack of memory perhaps. "
                    "Run again where more is free."
                ) from None
    return parsed(message, {surfaces.shown(source) for source in surfaces.sources(asked.tops())})


@contextmanager
def _child() -> Iterator[socket.socket]:
    """Start the searching process and give the socket to it; it ends with the socket."""
    ours, theirs = socket.socketpair()
    kept = {name: os.environ[name] for name in ("GITHUB_TOKEN",) if name in os.environ}
    with ours, theirs:
        child = subprocess.Popen(
            [sys.executable, "-m", "benchproof.leaks.searching", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=environment() | kept,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        theirs.close()
        try:
            yield ours
        finally:
            child.kill()
            child.wait()


def again(
    folder: Path, vault: Vault, metadata: Sequence[Path] = (), label: str | None = None
) -> Outcome | None:
    """Search a finished report for what the vault holds of its pins; None when it lacks some of that.
    `label` is that of the report, whose folder may be called otherwise.

    Raises BenchproofError for a folder that is no report, LeakError when the search itself fails.
    """
    pinned = _pinned(folder)
    if not all(vault.content(spec.repo, commit).is_file() for spec, commit in pinned):
        return None
    asked = Asked(
        folder,
        vault,
        tuple(pinned),
        tuple(links(vault, label or folder.name)),
        metadata=tuple(metadata),
        said=tuple(places(_works(vault, folder, label or folder.name))),
    )
    return search(asked, private_folder(vault.root / "handover"))


def links(vault: Vault, label: str) -> list[Path]:
    """Return the files of the vault in which signed URLs of a report may stand."""
    if not _is_name(label):
        return []
    places = (vault.root / "observed" / label, *_handed(vault, label))
    found = (path for place in places for path in place.rglob("*.json*"))
    return sorted(path for path in found if path.is_file())


def _works(vault: Vault, folder: Path, label: str) -> Iterator[Path]:
    """Yield the places that runs of a report had in the vault, or one had whose results lie where the folder
    does; of each also the folder that it renders into. A label that is no name of these says nothing.
    """
    for work in (*_handed(vault, label), vault.work(str(folder.parent), folder.name)):
        yield from (work, work / "staging")


def _handed(vault: Vault, label: str) -> list[Path]:
    """Return the folders through which runs of a report handed over."""
    return sorted((vault.root / "handover").glob(f"*/{escape(label)}")) if _is_name(label) else []


def _is_name(label: str) -> bool:
    return "/" not in label and label not in ("", ".", "..")


def _pinned(folder: Path) -> list[tuple[RepoSpec, str]]:
    """Return the members of a report's family that it read, with their commits."""
    from benchproof.recorded import rows

    try:
        family = jsontext.read_object(folder / "config.json")["family"]
        members = {member["repo"]: RepoSpec(**member) for member in family}
    except (OSError, Unreadable, KeyError, TypeError):
        raise BenchproofError(f"{folder}: its config.json can't be read; copy it again.") from None
    tables = [folder / f"{name}.parquet" for name in ("reconciliation", "pins")]
    if odd := [path.name for path in tables if not path.is_file()]:  # a pipe would be waited for
        raise BenchproofError(f"{folder}: {odd[0]} is no file; copy it again.")
    try:
        unread = {r["repo"] for r in rows(folder, "reconciliation") if r["status"] == "not_read"}
        listed = refuse_odd_pins(rows(folder, "pins"), folder)
        pins = {row["repo"]: row["commit_sha"] for row in listed if row["commit_sha"]}
    except (KeyError, TypeError):
        raise BenchproofError(f"{folder}: its tables lack columns; copy it again.") from None
    return [
        (members[repo], commit)
        for repo, commit in sorted(pins.items())
        if repo in members and repo not in unread
    ]


def places(paths: Iterable[Path]) -> list[str]:
    """Return what a run says of its own places, whatever the answers are."""
    return [str(Path.cwd()), *(f"{path}/" for path in paths)]
