"""What a source of repositories gives, whichever way it reads them: a pin, a listing, proven blobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

#: Blobs below this come along with the trees: symlink targets and Git LFS pointers (about 130 bytes).
SMALL_BYTES = 1024


@dataclass(frozen=True, slots=True)
class RepoSpec:
    """One member of the family, as the configuration names it.

    `repo` is owner/name, `ref` a branch, tag or commit id, `evals` and `runs` folders of the repository.
    """

    repo: str
    ref: str
    evals: str
    runs: str


@dataclass(frozen=True, slots=True)
class Pin:
    """The commit a repository is audited at, or why there is none.

    `status` is ok, renamed (followed, see `resolved_repo`), missing, private, empty, ref_missing or
    unknown; `reason` is a fixed code for everything but ok. Ids are hex, `committed_at` is UTC.
    `repo_id` is GitHub's numeric id where the source can know it.
    """

    repo: str
    ref: str
    status: str
    reason: str | None
    commit_sha: str | None
    tree_sha: str | None
    committed_at: datetime | None
    resolved_repo: str | None
    repo_id: int | None
    source: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One leaf of a commit's tree: a file, a symlink or a submodule.

    `path` is the raw bytes of the full path, `mode` git's octal mode as text ("100644", "100755",
    "120000" symlink, "160000" submodule), `sha` the object id in hex. `size` is in bytes and known only
    for blobs below SMALL_BYTES: the git source has those at no cost, REST tells all sizes, and both must
    give the same rows.
    """

    path: bytes
    mode: str
    sha: str
    size: int | None = None

    @property
    def is_file(self) -> bool:
        """True for a regular file, executable or not."""
        return self.mode.startswith("100")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a range: its ids, its committer's time in UTC, and what it changes.

    `paths` are the raw paths of leaves (files, symlinks, submodules) that differ from its parent, of a
    merge those that differ from all its parents, of a root commit all. A renamed file is two paths.
    """

    sha: str
    tree_sha: str
    parents: tuple[str, ...]
    committed_at: datetime
    paths: frozenset[bytes]


class Source(Protocol):
    """A way to read repositories. Everything it returns is proven against git object ids."""

    name: str

    def pin(self, spec: RepoSpec, as_of: datetime | None = None) -> Pin:
        """Resolve `spec.ref` (or its last commit before `as_of`) to a commit.

        Never raises for a single repository: what the server says or fails to say becomes `status` and
        `reason`.
        """
        ...

    def tree(self, pin: Pin) -> list[Entry]:
        """Return every leaf of the pinned tree, sorted by path.

        Raises ProofError when the listing does not rebuild to `pin.tree_sha`, Unreachable when it
        cannot be had.
        """
        ...

    def blobs(self, pin: Pin, wanted: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
        """Yield (id, content) for each wanted blob id; `wanted` maps the id to one path that holds it.

        Raises ProofError for content that does not hash to its id, AllowanceTooSmall before the first
        request when the rest cannot be finished, Unreachable when it cannot be had. What arrived before
        an error is kept, so that a later call asks for the rest only.
        """
        ...


class History(Source, Protocol):
    """A source that knows the past too: which commits there are, and many of them at once."""

    def commits(self, spec: RepoSpec, until: str, since: str | None = None) -> list[Commit]:
        """Return the commits reachable from `until` and not from `since`, newest first, no parent before
        its child. Both are full ids, and need not be on a branch any more.

        Raises Absent when one of them is nowhere, Unreachable when the range cannot be had whole.
        """
        ...

    def is_ancestor(self, spec: RepoSpec, old: str, new: str) -> bool:
        """True when `old` is `new` or can be reached from it; raises as `commits` does for `new`."""
        ...

    def find(self, spec: RepoSpec, digits: str) -> list[str]:
        """Return the full ids of the commits whose id begins with `digits`; none is an answer.

        Raises Absent when there is no repository to look in, Unreachable when it cannot be asked.
        """
        ...

    def bring(self, pins: Sequence[Pin]) -> None:
        """Bring the commits and trees of many pins of one repository, in as few requests as the source
        allows: `tree` of each then asks for little or nothing.

        Raises Absent and Unreachable; what arrived before is kept.
        """
        ...

    def bring_blobs(self, pin: Pin, wanted: Mapping[str, bytes]) -> None:
        """Bring wanted blobs of any commits, where the source can bring several in one request."""
        ...

    def offline(self) -> History:
        """Return this source as it is without a network: what it lacks is Unreachable (offline)."""
        ...
