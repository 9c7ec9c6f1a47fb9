"""Where things lie in a benchmark repository: pure functions over its listing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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


def folders(entries: Sequence[Entry], spec: RepoSpec) -> Folders:
    """Return the folders to audit: the configured one, or the only other that looks like it.

    History moved the evaluations (evals, evals_canonical, example_evals), so that a past commit is found
    by its manifest, or else by a name with `eval` in it and JSON files below it.
    """
    paths = [text_path(entry) for entry in entries]
    if any(path.startswith(f"{spec.evals}/") for path in paths):
        return Folders(spec.evals, spec.runs, moved=False)
    tops = {
        path.split("/", 1)[0]
        for path in paths
        if path.count("/") == 1 and path.endswith(f"/{MANIFEST}")
    }
    if not tops:
        below = (path.split("/", 1)[0] for path in paths if "/" in path and path.endswith(".json"))
        tops = {top for top in below if "eval" in top.lower()}
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


def run_files(entries: Iterable[Entry], where: Folders) -> list[Entry]:
    """Return the regular files named result.json below the runs folder; trajectories are never read."""
    return [e for e in entries if e.is_file and _base(e) == "result.json" and below(e, where.runs)]


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
