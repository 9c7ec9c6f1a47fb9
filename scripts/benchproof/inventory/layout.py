"""Where things lie in a benchmark repository: pure functions over its listing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchproof.sources.base import SMALL_BYTES, Entry, RepoSpec
from benchproof.sources.objects import quote_path

MANIFEST = "manifest.json"
SYMLINK, SUBMODULE = "120000", "160000"
#: JSON files beside evaluations that are none.
BESIDE_EVALS = frozenset({MANIFEST, "vocabulary.json"})
#: Endings of text that is audited as text; anything small with another ending may be a Git LFS pointer.
_TEXT = tuple(
    f".{ending}".encode()
    for ending in "json md py txt yml yaml toml cfg sh csv tsv lock tex jsonl".split()
)
_RESULT, _ANSWER = b"/result.json", b"/eval_answer.json"
_LFS = re.compile(
    rb"\Aversion https://git-lfs\.github\.com/spec/v1\n(?:[^\n]*\n)*?size (\d{1,18})\n?", re.ASCII
)
_RUN = re.compile(
    r"(?P<eval_id>[^/]+)/(?P<provider>[^/]+)/(?P<model>[^/]+)/(?P<harness>[^/]+)/r(?P<replicate>\d{1,9})/result\.json"
)


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders that are audited in one commit; `moved` says that `evals` is not the configured one."""

    evals: str
    runs: str
    moved: bool


@dataclass(frozen=True, slots=True)
class RunPlace:
    """What a recorded run's path says; None where the path has another form."""

    eval_id: str | None
    provider: str | None
    model: str | None
    harness: str | None
    replicate: int | None


class Run(NamedTuple):
    """A recorded run: its path as tables show it, its file, and the id of the answer file beside it."""

    path: str
    entry: Entry
    answer: str | None


def folders(entries: Iterable[Entry], spec: RepoSpec) -> Folders:
    """Return the folders to audit: the configured one, or the only other that looks like it.

    History moved the evaluations (evals, evals_canonical, example_evals), so that a past commit is found
    by its manifest, or else by a name with `eval` in it and JSON files below it.
    """
    manifests, named = set(), set()
    for entry in entries:
        path = text_path(entry)
        if path.startswith(f"{spec.evals}/"):
            return Folders(spec.evals, spec.runs, moved=False)
        top, _, below_top = path.partition("/")
        if below_top == MANIFEST:
            manifests.add(top)
        if below_top.endswith(".json") and "eval" in top.lower():
            named.add(top)
    tops = manifests or named
    if len(tops) != 1:
        return Folders(spec.evals, spec.runs, moved=False)
    return Folders(tops.pop(), spec.runs, moved=True)


def text_path(entry: Entry) -> str:
    """Return a path as tables show it: as it is when it is printable UTF-8, else quoted as git does."""
    return quote_path(entry.path)


def eval_files(entries: Iterable[Entry], where: Folders) -> list[Entry]:
    """Return the regular files that should each be one evaluation."""
    found = (e for e in entries if e.is_file and below(e, where.evals))
    return [e for e in found if e.path.endswith(b".json") and _base(e) not in BESIDE_EVALS]


def manifest_file(entries: Iterable[Entry], where: Folders) -> Entry | None:
    """Return the manifest of the evaluations folder, or None."""
    wanted = f"{where.evals}/{MANIFEST}".encode()
    return next((e for e in entries if e.path == wanted and e.is_file), None)


def run_files(entries: Iterable[Entry], where: Folders) -> Iterator[Entry]:
    """Yield the regular files named result.json below the runs folder; trajectories are never read."""
    return (run.entry for run in runs(entries, where))


def runs(entries: Iterable[Entry], where: Folders) -> Iterator[Run]:
    """Yield the recorded runs of a listing that is sorted by path, in its order."""
    inside = f"{where.runs}/".encode()
    answers: list[tuple[bytes, str]] = []  # of the folder at hand and of those around it
    for entry in entries:
        path = entry.path
        if not path.endswith((_RESULT, _ANSWER)) or not path.startswith(inside):
            continue
        if not entry.is_file:
            continue
        folder = path[: path.rindex(b"/") + 1]
        while answers and not folder.startswith(answers[-1][0]):
            answers.pop()
        if path.endswith(_ANSWER):
            answers.append((folder, entry.sha))
        else:
            beside = answers[-1][1] if answers and answers[-1][0] == folder else None
            yield Run(text_path(entry), entry, beside)


def run_place(path: str, where: Folders) -> RunPlace:
    """Return what a run's path says; the replicate counts from here, the record's own is unreliable."""
    match = _RUN.fullmatch(path.removeprefix(f"{where.runs}/"))
    if not match:
        return RunPlace(None, None, None, None, None)
    named = match.groupdict()
    return RunPlace(
        named["eval_id"],
        named["provider"],
        named["model"],
        named["harness"],
        int(named["replicate"]),
    )


def maybe_lfs(entry: Entry, where: Folders) -> bool:
    """True when only reading it can tell a file from a Git LFS pointer (both sources know small sizes).

    A pointer has 120 to 140 bytes, more with extensions. Text of that size is read too, except below the
    runs folder, where there may be a thousand such files and nobody keeps large text.
    """
    if not entry.is_file or entry.size is None or entry.size < 100:
        return False
    if not entry.path.lower().endswith(_TEXT):
        return True
    return entry.size <= 200 and not below(entry, where.runs)


def link_target(path: str, target: bytes) -> str | None:
    """Return where in the repository a symbolic link leads, or None when it leads out of it."""
    try:
        text = target.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if text.startswith("/"):
        return None
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
    return None if joined == ".." or joined.startswith("../") else joined


def lfs_size(data: bytes) -> int | None:
    """Return the size that a Git LFS pointer states, or None for anything else."""
    match = _LFS.match(data) if len(data) < SMALL_BYTES else None
    return int(match.group(1)) if match else None


def needed(entries: Sequence[Entry], spec: RepoSpec) -> dict[str, bytes]:
    """Return the blobs an audit reads, id to one path: manifests, evaluations, vocabularies, licences,
    READMEs, published results, recorded results, symlink targets and what may be an LFS pointer.
    """
    return {entry.sha: entry.path for entry in reversed(audited(entries, spec))}


def audited(entries: Sequence[Entry], spec: RepoSpec) -> list[Entry]:
    """Return the entries whose blobs an audit reads."""
    where = folders(entries, spec)
    chosen = [e for e in entries if e.is_file and (_is_document(e, where) or maybe_lfs(e, where))]
    chosen += run_files(entries, where)
    return chosen + [e for e in entries if e.mode == SYMLINK]


def _is_document(entry: Entry, where: Folders) -> bool:
    name = _base(entry).lower()
    if b"/" not in entry.path and name.startswith(
        ("license", "licence", "readme", "copying", "notice")
    ):
        return True
    if below(entry, "results"):
        return entry.path.endswith((b".csv", b".json", b".md"))
    return below(entry, where.evals) and (
        entry.path.endswith(b".json") or name.startswith("readme")
    )


def below(entry: Entry, folder: str) -> bool:
    """True when an entry lies in a folder; by its bytes, since the quotes of its text hide where it lies."""
    return entry.path.startswith(folder.encode() + b"/")


def _base(entry: Entry) -> str:
    return entry.path.rsplit(b"/", 1)[-1].decode("utf-8", "surrogateescape")
