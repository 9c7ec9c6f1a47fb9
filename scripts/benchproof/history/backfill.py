"""The past of one repository: choose its commits, bring them at once, derive each that is not finished.

One commit that cannot be had or derived is a row with status and reason, and the others go on; bytes that
do not hash to their id, and graded values in a table, stop the job (laws 1 and 2).
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchproof.errors import (
    Absent,
    AllowanceTooSmall,
    BenchproofError,
    LeakError,
    ProofError,
    Unreachable,
)
from benchproof.history import folders, rows, series
from benchproof.history.derive import Terms, derive
from benchproof.history.listing import Listed, Past
from benchproof.inventory import layout
from benchproof.inventory.repository import Repository
from benchproof.job import place_of
from benchproof.leaks import surfaces
from benchproof.leaks.harvest import harvest
from benchproof.leaks.needles import Needles
from benchproof.leaks.scan import scan
from benchproof.pinning import mirror, reason_of
from benchproof.progress import Progress
from benchproof.sources import content
from benchproof.sources.base import Entry, History, RepoSpec
from benchproof.sources.gitcmd import Moved
from benchproof.sources.objects import MalformedObjectError
from benchproof.vault import Vault, private_folder

log = logging.getLogger("benchproof")
#: What keeps a commit's listing or content away, and leaves the other commits alone.
AWAY = (Unreachable, Absent, AllowanceTooSmall, Moved, MalformedObjectError)


Problem = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Places:
    """Where a repository's past is derived: private `work`, and `results`, the folder of its commits."""

    work: Path
    results: Path


def backfill(
    source: History, vault: Vault, spec: RepoSpec, listed: Listed, places: Places, terms: Terms
) -> list[rows.Row]:
    """Derive every commit of a list that touches what is audited; return the rows of its timeline.

    A commit whose tables are finished is not derived again. Raises ProofError and LeakError.
    """
    if listed.status != "ok":
        return [rows.absent(spec.repo, listed.status, listed.reason)]
    folders.sweep(places.results)
    shutil.rmtree(places.work, ignore_errors=True)
    private_folder(places.work)
    known = {str(past.pin.commit_sha): past for past in listed.commits}
    reader = _Reader(source, spec, list(known.values()))
    wanted = _choose(reader, listed, known)
    finished = {
        sha
        for sha in wanted
        if folders.is_finished(places.results / sha, replace(spec, ref=sha), terms)
    }
    todo = [sha for sha in wanted if sha not in finished]
    log.info(
        "%s: %d of %d commits touch what is audited, %d to derive",
        *(spec.repo, len(wanted), len(known), len(todo)),
    )
    problems = {sha: reader.problems[sha] for sha in todo if sha in reader.problems}
    todo = [sha for sha in todo if sha not in problems]
    reader.bring_blobs(todo)
    progress = Progress(f"{spec.repo}: commits", len(todo))
    for sha in todo:
        problem = _derived(reader.source, vault, spec, known[sha], places, terms)
        if problem is not None:
            problems[sha] = problem
        progress.add()
    return [
        rows.without(known[sha], position, *problems[sha])
        if sha in problems
        else rows.row_of(known[sha], position, places.results / sha)
        for position, sha in enumerate(wanted, start=1)
    ]


class _Reader:
    """Listings of many commits, brought in one request where the source can.

    When the server cannot be asked, what is here is still read, and `problems` has the others by id.
    """

    def __init__(self, source: History, spec: RepoSpec, commits: Sequence[Past]) -> None:
        self.source = source
        self.problems: dict[str, Problem] = {}
        self.audited: dict[str, list[Entry]] = {}
        self._pins = {str(past.pin.commit_sha): past.pin for past in commits}
        cause: str | None = None
        try:
            source.bring(list(self._pins.values()))
        except Unreachable as error:
            cause, self.source = error.cause, source.offline()
        except (Absent, Moved) as error:
            log.info("%s: %s Each commit is asked for by itself.", spec.repo, error)
        for sha, pin in self._pins.items():
            try:
                self.audited[sha] = layout.audited(self.source.tree(pin), spec)
            except AWAY as error:
                self.problems[sha] = ("unknown", cause or reason_of(error))

    def bring_blobs(self, shas: Sequence[str]) -> None:
        """Bring what the audits of these commits read; what fails here is asked for again for each commit,
        whose row then says why it could not be had.
        """
        wanted = {entry.sha: entry.path for sha in shas for entry in self.audited[sha]}
        try:
            if wanted:
                self.source.bring_blobs(self._pins[shas[-1]], wanted)
        except Unreachable as error:
            log.warning("%s", error)
            self.source = self.source.offline()
        except AWAY as error:
            log.warning("%s", error)


def _choose(reader: _Reader, listed: Listed, known: Mapping[str, Past]) -> list[str]:
    """Return the commits of the timeline, oldest first: a chosen list is taken whole, of a series what
    touches nothing audited is left out.
    """
    if listed.tip is None:
        return list(known)
    read = {sha: series.identity(entries) for sha, entries in reader.audited.items()}
    parents = {sha: past.parents or () for sha, past in known.items()}
    return series.touching(parents, read, listed.tip)


def _derived(
    source: History, vault: Vault, spec: RepoSpec, past: Past, places: Places, terms: Terms
) -> Problem | None:
    """Derive one commit into the results; return status and reason when it cannot be."""
    sha = str(past.pin.commit_sha)
    archive = vault.content(spec.repo, sha)
    kept = archive.exists()
    work = places.work / sha
    try:
        with _quiet():
            record = mirror(source, vault, spec, past.pin)
            if record["status"] != "ok":
                return "unknown", record["reason"]
            staged = derive(vault, spec, past.pin, work, terms)
        _search(vault, spec, sha, staged)
        folders.publish(staged, places.results / sha)
    except (ProofError, LeakError):
        raise
    except BenchproofError as error:
        log.warning("%s@%s: %s", spec.repo, sha[:12], error)
        return "failed", "not_derived"
    except (
        Exception
    ) as error:  # the rim of a commit: the others go on, and the text could quote an answer
        log.warning("%s@%s: %s at %s", spec.repo, sha[:12], type(error).__name__, place_of(error))
        return "failed", "internal_error"
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if not kept:
            # Its blobs stay in the mirror or the store, once for all commits; the archive would repeat them.
            archive.unlink(missing_ok=True)
    return None


def _search(vault: Vault, spec: RepoSpec, sha: str, staged: Path) -> None:
    """Raise LeakError when a graded value of this commit stands in its tables."""
    with content.opened(vault.content(spec.repo, sha)) as archive:
        graded = harvest(Repository(spec, sha, archive), [spec.repo, str(staged)])
    found = scan(Needles(graded), surfaces.sources([(staged, "report")]))
    if found.unsearchable:
        raise LeakError(f"{spec.repo}@{sha}: a table can't be read back and so not searched.")
    if found.hits:
        named = {f"{source.path.name} ({kind}, {form})" for source, kind, form in found.hits}
        shown = "; ".join(sorted(named)[:5])
        raise LeakError(
            f"{spec.repo}@{sha}: {len(found.hits)} graded values stand in what would leave: {shown}. "
            "Nothing of this commit was written; report this as a defect."
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the scripts of a commit from saying what they wrote: there are twenty tables a commit."""
    level = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(level)
