"""Repositories through GitHub's REST API and raw content at the pinned commit.

Costs, of an allowance of 60 requests an hour without a token: a pin 2 (3 when the repository was
renamed), a listing 1, or 1 a folder when GitHub truncates it, and each blob that the store lacks 1. A
range of commits costs 1 for each hundred of them and 1 for each distinct tree.
Asking for the allowance is free. Content is asked for by the commit's full id, never by a branch,
which is served from a cache for minutes.
"""

from __future__ import annotations

import base64
import binascii
import logging
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from urllib.parse import quote

from benchproof import jsontext
from benchproof.concurrency import map_concurrently
from benchproof.errors import (
    NOT_YET,
    Absent,
    AllowanceTooSmall,
    ProofError,
    Unreachable,
    Unreadable,
)
from benchproof.http import Http, Response, server_time
from benchproof.sources import content, objects, ranges
from benchproof.sources.base import SMALL_BYTES, Commit, Entry, Pin, RepoSpec
from benchproof.sources.github_ranges import Lists, instant

logger = logging.getLogger(__name__)

#: GitHub keeps no larger blobs.
MAX_BLOB_BYTES = 100 * 1024 * 1024
#: Twenty times what GitHub lists in one answer; a tree that names itself over and over ends here.
MAX_ENTRIES = 2_000_000
_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_NAME = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+\Z")
# git check-ref-format; what no ref can be called isn't asked for.
_NO_REF = re.compile(r"^[-/.]|\.\.|//|@\{|[\x00-\x20\x7f~^:?*\[\\]|[/.]$|\.lock(/|$)|/\.")


class BlobStore(Protocol):
    """Where proven blobs are kept between runs."""

    def get(self, sha: str) -> bytes | None:
        """Return a blob's content, None when it isn't there."""
        ...

    def put(self, sha: str, data: bytes) -> None:
        """Keep a blob whose content hashes to `sha`."""
        ...


@dataclass(slots=True)
class _Listing:
    """Entries of a tree so far; folders count too, since a tree may hold empty ones."""

    leaves: list[Entry] = field(default_factory=list)
    folders: list[Entry] = field(default_factory=list)
    truncated: bool = False

    def add(self, other: _Listing, prefix: bytes) -> None:
        """Take over another tree's entries, below `prefix`."""
        for mine, theirs in ((self.leaves, other.leaves), (self.folders, other.folders)):
            mine += [Entry(prefix + row.path, row.mode, row.sha, row.size) for row in theirs]


class _LostPathError(ProofError):
    """A listing doesn't rebuild to its tree, and holds what REST writes for bytes that aren't UTF-8."""


class GitHubSource:
    """The `github` source. `api` and `raw` are endpoint URLs, `store` outlives the run."""

    name = "github"

    def __init__(
        self, http: Http, api: str, raw: str, store: BlobStore, *, offline: bool = False
    ) -> None:
        self._http, self._store, self._offline = http, store, offline
        self._api, self._raw = api.rstrip("/"), raw.rstrip("/")

    # -- pin ---------------------------------------------------------------------------------------

    def pin(self, spec: RepoSpec, as_of: datetime | None = None) -> Pin:
        """Resolve a branch, tag or commit id, or the last commit strictly before `as_of`.

        Costs two requests, a third when a 301 on the same host is followed. Never raises: see
        `Pin`.
        """
        repo_id: int | None = None
        resolved: str | None = None
        try:
            repo_id, resolved = self._repository(spec.repo)
            commit = self._commit(resolved, spec.ref, as_of)
            return self._pinned(spec, commit, repo_id, resolved)
        except Absent as error:
            status, reason = str(error.status), error.reason
        except Unreachable as error:
            logger.warning("%s: no pin. %s", spec.repo, error)
            status, reason = "unknown", error.cause
        renamed = resolved if resolved and _renamed(spec.repo, resolved) else None
        return Pin(
            spec.repo, spec.ref, status, reason, None, None, None, renamed, repo_id, self.name
        )

    def _pinned(self, spec: RepoSpec, commit: Any, repo_id: int, resolved: str) -> Pin:
        sha, tree = _get(commit, "sha"), _get(commit, "commit", "tree", "sha")
        if not objects.is_id(sha) or not objects.is_id(tree):
            raise Unreachable("malformed", f"{spec.repo}: the answer names no commit and tree")
        if objects.is_id(spec.ref) and sha != spec.ref:
            raise Unreachable("malformed", f"{spec.repo}: another commit came than was asked for")
        renamed = _renamed(spec.repo, resolved)
        return Pin(
            repo=spec.repo,
            ref=spec.ref,
            status="renamed" if renamed else "ok",
            reason="redirected" if renamed else None,
            commit_sha=sha,
            tree_sha=tree,
            committed_at=instant(_get(commit, "commit", "committer", "date"), spec.repo),
            resolved_repo=resolved if renamed else spec.repo,
            repo_id=repo_id,
            source=self.name,
        )

    def _repository(self, repo: str) -> tuple[int, str]:
        """Return a repository's numeric id and its name of today."""
        if not _NAME.match(repo) or {".", ".."} & set(repo.split("/")):
            raise Absent("missing", repo)
        status, value = self._ask(f"repos/{repo}", repo)
        if status != 200:
            raise _refusal(status, repo)
        repo_id, name = _get(value, "id"), _get(value, "full_name")
        whole = type(repo_id) is int and 0 <= repo_id < 1 << 63
        if not whole or not isinstance(name, str) or not _NAME.match(name):
            raise Unreachable("malformed", f"{repo}: the answer describes no repository")
        return repo_id, name

    def _commit(self, repo: str, ref: str, as_of: datetime | None) -> Any:
        """Return GitHub's description of a commit. Annotated tags are peeled by GitHub."""
        what = f"{repo}@{ref}"
        if _NO_REF.search(ref):
            raise Absent("ref_missing", what)
        path = f"repos/{repo}/commits/{quote(ref)}"
        if as_of is not None:
            # `until` includes the second it names.
            until = as_of.astimezone(UTC) - timedelta(seconds=1)
            query = f"sha={quote(ref, safe='')}&until={until:%Y-%m-%dT%H:%M:%SZ}&per_page=1"
            path = f"repos/{repo}/commits?{query}"
        status, value = self._ask(path, what)
        if status in (404, 422):
            raise Absent("ref_missing", what)
        if status != 200:
            raise _refusal(status, what)
        if as_of is None:
            return value
        if not isinstance(value, list):
            raise Unreachable("malformed", f"{what}: the answer is no list of commits")
        if not value:
            raise Absent("ref_missing", f"{what} before {as_of:%Y-%m-%d}", NOT_YET)
        return value[0]

    # -- tree --------------------------------------------------------------------------------------

    def tree(self, pin: Pin) -> list[Entry]:
        """Return the pinned tree's leaves, sorted by path and proven to rebuild to `pin.tree_sha`.

        A listing is kept by the id of its tree. Raises ProofError, Unreachable, and Absent when GitHub no
        longer gives the tree.
        """
        assert pin.tree_sha is not None
        found = self._kept(pin)
        if found is None:
            found = self._list(pin, pin.tree_sha, recursive=True)
            if found.truncated:
                found = self._walk(pin, pin.tree_sha)
            self._prove(pin, found)
            packed = zlib.compress(content.listing([*found.leaves, *found.folders]), 1)
            self._store.put(pin.tree_sha, packed)
        return sorted(found.leaves, key=lambda entry: entry.path)

    def _kept(self, pin: Pin) -> _Listing | None:
        """Return a listing that came earlier, None when there is none that still proves its tree."""
        assert pin.tree_sha is not None
        packed = self._store.get(pin.tree_sha)
        if packed is None:
            return None
        found = _Listing()
        try:
            for entry in content.parse_listing(zlib.decompress(packed)):
                (found.folders if objects.is_folder(entry.mode) else found.leaves).append(entry)
            self._prove(pin, found)
        except (zlib.error, ValueError, ProofError, Unreachable):
            return None
        return found

    def _walk(self, pin: Pin, root: str) -> _Listing:
        """List a tree that is too large for one answer folder by folder, as deep as it must be."""
        found = _Listing()
        too_large = [(b"", root)]
        while too_large:
            folders: list[tuple[bytes, str]] = []
            for prefix, _, own in self._list_all(pin, too_large, recursive=False):
                if own.truncated:
                    raise _incomplete(pin, "a folder is larger than REST can list")
                found.add(own, prefix)
                folders += [(prefix + row.path + b"/", row.sha) for row in own.folders]
            too_large = []
            for prefix, sha, below in self._list_all(pin, folders, recursive=True):
                if below.truncated:
                    too_large.append((prefix, sha))
                else:
                    found.add(below, prefix)
                if len(found.leaves) + len(found.folders) > MAX_ENTRIES:
                    raise _incomplete(pin, f"there are more than {MAX_ENTRIES} entries")
        return found

    def _list_all(
        self, pin: Pin, folders: list[tuple[bytes, str]], *, recursive: bool
    ) -> Iterator[tuple[bytes, str, _Listing]]:
        """Yield (prefix, id, listing) of several folders; equal trees are asked for once."""
        ids = list(dict.fromkeys(sha for _, sha in folders))
        listings = map_concurrently(
            lambda sha: self._list(pin, sha, recursive=recursive), ids, self._http.connections
        )
        known = dict(zip(ids, listings, strict=True))
        return ((prefix, sha, known[sha]) for prefix, sha in folders)

    def _list(self, pin: Pin, sha: str, *, recursive: bool) -> _Listing:
        if sha == objects.EMPTY_TREE:
            return _Listing()
        what = f"{_at(pin)}: tree {sha}"
        path = f"repos/{_name(pin)}/git/trees/{sha}" + ("?recursive=1" if recursive else "")
        status, value = self._ask(path, what)
        if status != 200:
            raise _refusal(status, what)
        rows = _get(value, "tree")
        if not isinstance(rows, list):
            raise Unreachable("malformed", f"{what}: the answer is no listing")
        found = _Listing(truncated=_get(value, "truncated") is True)
        for row in rows:
            entry = _entry(row, what)
            is_folder = entry.mode.lstrip("0") == objects.TREE_MODE
            (found.folders if is_folder else found.leaves).append(entry)
        return found

    def _prove(self, pin: Pin, found: _Listing) -> None:
        assert pin.tree_sha is not None
        where = _at(pin)
        lost = any(b"\xef\xbf\xbd" in entry.path for entry in found.leaves)
        if lost:
            where += " (a path isn't UTF-8, which REST can't give: use `source: git`)"
        try:
            actual = objects.tree_id(found.leaves, [folder.path for folder in found.folders])
        except objects.MalformedObjectError as error:
            advice = f"{error} Run again, or use `source: git`."
        else:
            if actual != pin.tree_sha:
                kind = _LostPathError if lost else ProofError
                raise kind("tree", pin.tree_sha, actual, where)
            return
        raise Unreachable("malformed", where, advice)

    # -- blobs -------------------------------------------------------------------------------------

    def blobs(self, pin: Pin, wanted: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
        """Yield (id, content): first what the store has, then what arrives, each kept at once.

        Raises ProofError, AllowanceTooSmall before the first request, Unreachable, and Absent when
        GitHub no longer gives a blob.
        """
        missing: list[tuple[str, bytes]] = []
        for sha, path in wanted.items():
            data = self._store.get(sha)
            if data is not None and objects.blob_id(data) == sha:
                yield sha, data
            else:
                missing.append((sha, path))
        if missing:
            self._refuse_offline(f"{_at(pin)}: {len(missing)} blobs")
            self._check_allowance(len(missing))
            yield from map_concurrently(
                lambda item: self._fetch(pin, *item), missing, self._http.connections
            )

    def _fetch(self, pin: Pin, sha: str, path: bytes) -> tuple[str, bytes]:
        what = f"{_at(pin)}: {objects.quote_path(path)}"
        self._refuse_offline(what)
        response = self._http.get(
            f"{self._raw}/{_name(pin)}/{pin.commit_sha}/{quote(path)}",
            what=what,
            auth=True,
            max_bytes=MAX_BLOB_BYTES,
        )
        if response.status == 404:
            data = self._by_id(pin, sha, what)
        elif response.status == 200:
            data = response.body
        else:
            raise _refusal(response.status, what)
        objects.prove("blob", sha, data, what)
        self._store.put(sha, data)
        return sha, data

    def _by_id(self, pin: Pin, sha: str, what: str) -> bytes:
        """Ask the API for a blob that raw doesn't give under a path that the tree does hold."""
        status, value = self._ask(f"repos/{_name(pin)}/git/blobs/{sha}", what)
        if status != 200:
            raise _refusal(status, what)
        content, encoding = _get(value, "content"), _get(value, "encoding")
        if isinstance(content, str) and encoding == "base64":
            try:
                return base64.b64decode("".join(content.split()), validate=True)
            except (binascii.Error, ValueError):
                pass
        raise Unreachable("malformed", f"{what}: the answer holds no content")

    def _check_allowance(self, needed: int) -> None:
        """Raise AllowanceTooSmall when the requests can't be finished within the waits allowed.

        Raw content counts like REST since 2025. A server without limits answers 404: nothing to
        check.
        """
        response = self._http.get(
            f"{self._api}/rate_limit", what="GitHub's allowance", headers=_HEADERS, auth=True
        )
        core = _core(response)
        if core is None or needed <= core.remaining:
            return
        # What resets soon enough is waited for, as any limit is; then a whole hour's worth follows.
        soon = (core.reset_at - server_time(response.headers, self._http.now())).total_seconds()
        if soon <= self._http.max_wait_s and needed <= core.remaining + core.limit:
            return
        raise AllowanceTooSmall(needed, core.remaining, core.reset_at)

    # -- ranges ------------------------------------------------------------------------------------

    def commits(self, spec: RepoSpec, until: str, since: str | None = None) -> list[Commit]:
        """List the commits of a range, then compare their trees, each proven.

        Raises Absent, Unreachable, and AllowanceTooSmall before the first tree.
        """
        lists = self._lists(spec)
        span = lists.between(since, until) if since else lists.all_before(until)
        above = {sha for commit in span.commits.values() for sha in commit.parents}
        outside = sorted(above - span.commits.keys() - span.beside.keys())
        described = map_concurrently(lists.described, outside, self._http.connections)
        known = {**span.beside, **dict(zip(outside, described, strict=True)), **span.commits}
        ordered = [(sha, known[sha]) for sha in ranges.newest_first(span.commits)]
        needed = [[known[sha].tree_sha for sha in (own, *c.parents)] for own, c in ordered]
        changes = ranges.changes_of(needed, self._trees(spec, needed))
        return [
            Commit(sha, found.tree_sha, found.parents, found.committed_at, paths)
            for (sha, found), paths in zip(ordered, changes, strict=True)
        ]

    def is_ancestor(self, spec: RepoSpec, old: str, new: str) -> bool:
        """Ask GitHub to compare them."""
        return self._lists(spec).is_ancestor(old, new)

    def _lists(self, spec: RepoSpec) -> Lists:
        if not _NAME.match(spec.repo):
            raise Absent("missing", spec.repo)
        return Lists(spec.repo, self._ask, _refusal)

    def _trees(self, spec: RepoSpec, needed: list[list[str]]) -> Iterator[tuple[str, list[Entry]]]:
        """Yield each distinct tree once, in the order in which they are needed."""
        ids = list(dict.fromkeys(sha for row in needed for sha in row))
        lacking = [sha for sha in ids if sha != objects.EMPTY_TREE and self._store.get(sha) is None]
        if lacking:
            self._refuse_offline(f"{spec.repo}: {len(lacking)} trees")
            self._check_allowance(len(lacking))

        def listed(sha: str) -> tuple[str, list[Entry]]:
            pin = Pin(spec.repo, "", "ok", None, sha, sha, None, spec.repo, None, self.name)
            try:
                return sha, self.tree(pin)
            except _LostPathError as error:
                advice = "A path of it isn't UTF-8, which REST can't give. Use `source: git`."
                raise Unreachable("malformed", error.where, advice) from None

        yield from map_concurrently(listed, ids, self._http.connections)

    def find(self, spec: RepoSpec, digits: str) -> list[str]:
        """Ask for the commit; of several that fit, GitHub names none."""
        return self._lists(spec).find(digits)

    def bring(self, pins: Sequence[Pin]) -> None:
        """Bring nothing: REST gives each tree by itself, when it is asked for."""

    def bring_blobs(self, pin: Pin, wanted: Mapping[str, bytes]) -> None:
        """Bring nothing: REST gives each blob by itself, when it is asked for."""

    def offline(self) -> GitHubSource:
        """Return a copy that calls no server."""
        silent = copy(self)
        silent._offline = True
        return silent

    # -- requests ----------------------------------------------------------------------------------

    def _refuse_offline(self, what: str) -> None:
        if self._offline:
            raise Unreachable("offline", what, "The vault lacks it; run without `offline`.")

    def _ask(self, path: str, what: str) -> tuple[int, Any]:
        """Return status and parsed JSON of a REST answer, None for what is no 200.

        Text that is no JSON is asked for once more: what closes a connection early, or a login page
        of a network, may be gone by then.
        """
        self._refuse_offline(what)
        for _ in range(2):
            response = self._http.get(
                f"{self._api}/{path}",
                what=what,
                headers=_HEADERS,
                auth=True,
                follow="same_origin",
            )
            if response.status != 200:
                return response.status, None
            try:
                return 200, jsontext.loads(response.body).value
            except Unreadable as error:
                reason = error.reason
        advice = f"The answer is unreadable ({reason}). Run again, or use `source: git`."
        raise Unreachable("malformed", what, advice)


@dataclass(frozen=True, slots=True)
class _Core:
    limit: int
    remaining: int
    reset_at: datetime


def _core(response: Response) -> _Core | None:
    """Return what is left of the REST allowance, None when the server doesn't say."""
    if response.status != 200:
        return None
    try:
        core = _get(jsontext.loads(response.body).value, "resources", "core")
        limit, remaining, reset = (_get(core, key) for key in ("limit", "remaining", "reset"))
        return _Core(int(limit), int(remaining), datetime.fromtimestamp(int(reset), UTC))
    except (Unreadable, TypeError, ValueError, OverflowError, OSError):
        return None


def _incomplete(pin: Pin, why: str) -> Unreachable:
    return Unreachable("too_large", _at(pin), f"Listing incomplete, {why}. Use `source: git`.")


def _get(value: Any, *keys: str) -> Any:
    """Return a nested member, None when there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _entry(row: Any, what: str) -> Entry:
    """Return a row of a listing; its size is passed on only where the git source knows it too."""
    path, mode, sha, size = (_get(row, key) for key in ("path", "mode", "sha", "size"))
    if not (isinstance(path, str) and isinstance(mode, str) and objects.is_id(sha)):
        raise Unreachable("malformed", f"{what}: a row of the listing")
    small = type(size) is int and 0 <= size < SMALL_BYTES and mode != "160000"
    return Entry(path.encode(), mode, sha, size if small else None)


def _refusal(status: int, what: str) -> Absent | Unreachable:
    """Return what an answer other than 200 means; limits never come here."""
    if status == 404:
        return Absent("missing", what)
    if status == 409:
        return Absent("empty", what)
    if status in (401, 403, 451):
        return Absent("private", what)
    return Unreachable(
        "malformed", what, f"GitHub answered HTTP {status}, which has no meaning here."
    )


def _renamed(asked: str, found: str) -> bool:
    """GitHub's names ignore case."""
    return asked.lower() != found.lower()


def _name(pin: Pin) -> str:
    return pin.resolved_repo or pin.repo


def _at(pin: Pin) -> str:
    return f"{pin.repo}@{(pin.commit_sha or '')[:12]}"
