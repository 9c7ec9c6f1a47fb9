"""Repositories through system git, protocol v2: a handful of requests whatever the number of files.

A pin is one `ls-remote` (two requests). A commit that isn't in the mirror yet is fetched at depth 1 with
its trees and its smallest blobs; the blobs an audit needs follow in one more fetch. Ranges of commits
come from a second mirror, which holds all commits and trees and no blobs. Every object read is hashed
again, so that a damaged mirror is as visible as a lying server.
"""

from __future__ import annotations

import random
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from benchproof.errors import NOT_YET, Absent, ConfigError, Unreachable, VaultError
from benchproof.foreign import is_repository
from benchproof.http import Http
from benchproof.sources import gitcmd, objects, ranges
from benchproof.sources.base import SMALL_BYTES, Commit, Entry, Pin, RepoSpec
from benchproof.sources.gitcmd import Git, Moved, Objects, Tally
from benchproof.vault import Vault, private_folder

#: What a local mirror needs to honour filters and to give any reachable object.
_UPLOAD_PACK = (
    "git -c safe.directory=* -c uploadpack.allowFilter=true"
    " -c uploadpack.allowAnySHA1InWant=true upload-pack"
)
_SHA = re.compile(r"[0-9a-f]{40}")
_SHORT_SHA = re.compile(r"[0-9a-f]{7,39}")
#: An argument list of 1,500 ids is 62 kB, well below any system's limit.
_IDS_AT_ONCE = 1500
#: git's own word for a whole past. A remote whose past is cut then says where; git would look for the missing
#: parent by a fetch otherwise, which looks for it by a fetch, and so on by the thousand.
_WHOLE = 2147483647
#: Causes that a second try may cure; a host that can't be found or refuses is asked twice only.
_ONE_TRY = {"no_network", "host_not_allowed", "git_failed", "too_large"}
_PASSING = {"timeout", "stalled", "reset", "throttled", "server_error", "malformed"}
_HOPELESS_AFTER = 2


#: Bytes of an answer that lists refs: half a million of them.
MAX_REFS = 1 << 26
#: Trees that are kept in memory between two listings.
MAX_TREES = 1 << 16
#: Entries of all trees of one commit, as for REST; a gigabyte of packed trees holds twenty times as many.
MAX_ENTRIES = 2_000_000
#: Folders inside each other: Linux takes no path of more than 4,096 bytes.
MAX_DEPTH = 2048
#: Bytes of all paths of a tree: a few folders that hold each other ten times over name 10**10 files.
MAX_LISTING = 1 << 29


class GitSource:
    """The `git` source. `mirrors` maps owner/name to another remote, `endpoint` serves the rest."""

    name = "git"

    def __init__(
        self,
        vault: Vault,
        http: Http,
        endpoint: str,
        mirrors: Mapping[str, str],
        *,
        timeout_s: float,
        tries: int,
        offline: bool = False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._vault, self._http, self._endpoint, self._mirrors = vault, http, endpoint, mirrors
        self._timeout_s, self._tries, self._sleep = timeout_s, tries, sleep
        self._offline = offline
        self._known: dict[str, _Trees] = {}

    def pin(self, spec: RepoSpec, as_of: datetime | None = None) -> Pin:
        """Resolve a ref with one `ls-remote` and bring its commit and trees into the mirror."""
        try:
            return self._pin(spec, self._url(spec.repo), as_of)
        except Moved:
            return self._pin_moved(spec, as_of)
        except Absent as error:
            return self._without(spec, error.status, error.reason)
        except Unreachable as error:
            return self._without(spec, "unknown", error.cause)
        except objects.MalformedObjectError:
            return self._without(spec, "unknown", "malformed")

    def tree(self, pin: Pin) -> list[Entry]:
        """Walk the tree objects of the mirror, each hashed against its id."""
        assert pin.tree_sha is not None
        git = self._holding(pin)
        # One for each repository: threads read different ones.
        known = self._known.setdefault(pin.repo, _Trees())
        with git.objects() as reader:
            known.read(pin.tree_sha, reader, self._where(pin))
        if objects.size_of(known.rows, pin.tree_sha, known.sizes) > MAX_LISTING:
            raise Unreachable(
                "too_large", f"{pin.repo}@{pin.commit_sha}", "Its listing is no tree to audit."
            )
        leaves = sorted(known.leaves(pin.tree_sha))
        sizes = git.sizes(sha for _, mode, sha in leaves if mode != "160000")
        small = {sha: size for sha, size in sizes.items() if size < SMALL_BYTES}
        return [Entry(path, mode, sha, small.get(sha)) for path, mode, sha in leaves]

    def blobs(self, pin: Pin, wanted: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
        """Fetch what the mirror lacks in one request, then read and prove each blob."""
        self.bring_blobs(pin, wanted)
        with self._mirror(pin.repo).objects() as reader:
            for sha in wanted:
                _, data = reader.read(sha)
                objects.prove("blob", sha, data, self._where(pin))
                yield sha, data

    def bring_blobs(self, pin: Pin, wanted: Mapping[str, bytes]) -> None:
        """Fetch what the mirror lacks: one request for 1,500 blobs, whichever commits hold them."""
        git = self._holding(pin)
        missing = sorted(self._lacks(git, list(wanted)))
        if missing:
            self._fetch_blobs(git, self._url(pin.repo, pin.resolved_repo), missing)

    def offline(self) -> GitSource:
        """Return a copy that calls no server."""
        silent = copy(self)
        silent._offline = True
        return silent

    def bring(self, pins: Sequence[Pin]) -> None:
        """Bring what the mirror lacks at depth 1: one request for 1,500 commits."""
        if not pins:
            return
        git, url = self._mirror(pins[0].repo), self._url(pins[0].repo, pins[0].resolved_repo)
        lacking = self._lacks(git, [pin.commit_sha for pin in pins if pin.commit_sha])
        for start in range(0, len(lacking), _IDS_AT_ONCE):
            self._fetch_commits(git, url, lacking[start : start + _IDS_AT_ONCE])

    def _holding(self, pin: Pin) -> Git:
        """Return the mirror with the pinned commit in it: a mirror may have been deleted since, and the
        other source may have made the pin.
        """
        assert pin.commit_sha is not None
        git = self._mirror(pin.repo)
        if pin.commit_sha not in git.sizes([pin.commit_sha]):
            self._fetch_commits(git, self._url(pin.repo, pin.resolved_repo), [pin.commit_sha])
        return git

    # -- pinning ------------------------------------------------------------------------------------

    def _pin(self, spec: RepoSpec, url: str, as_of: datetime | None) -> Pin:
        sha = self._resolve(spec, url)
        if as_of is not None:
            sha = self._last_before(spec, url, sha, as_of)
        git = self._mirror(spec.repo)
        if sha not in git.sizes([sha]):
            self._fetch_commits(git, url, [sha])
        with git.objects() as reader:
            kind, data = reader.read(sha)
        if kind != "commit":
            raise Absent("ref_missing", f"{spec.repo}@{spec.ref}")
        objects.prove("commit", sha, data, spec.repo)
        commit = objects.parse_commit(data)
        git.local("update-ref", f"refs/benchproof/pins/{sha}", sha)
        return Pin(
            repo=spec.repo,
            ref=spec.ref,
            status="ok",
            reason=None,
            commit_sha=sha,
            tree_sha=commit.tree_sha,
            committed_at=commit.committed_at,
            resolved_repo=spec.repo,
            repo_id=None,
            source=self.name,
        )

    def _pin_moved(self, spec: RepoSpec, as_of: datetime | None) -> Pin:
        """Follow a redirect once, on the same host: a renamed repository is audited under both names."""
        try:
            name = self._new_name(spec.repo)
            pin = self._pin(spec, self._url(spec.repo, name), as_of)
        except (Moved, Absent):
            return self._without(spec, "missing", "redirect_not_followed")
        except Unreachable as error:
            return self._without(spec, "unknown", error.cause)
        return replace(pin, status="renamed", reason="redirected", resolved_repo=name)

    def _new_name(self, repo: str) -> str:
        response = self._http.get(f"{self._url(repo)}/info/refs?service=git-upload-pack")
        if response.status != 200 or not response.url.startswith(f"{self._endpoint}/"):
            raise Absent("missing", repo)
        path = response.url.removeprefix(f"{self._endpoint}/").split("?", 1)[0]
        name = path.removesuffix("/info/refs").removesuffix(".git")
        if not is_repository(name):
            raise Absent("missing", repo)
        return name

    def _without(self, spec: RepoSpec, status: str, reason: str) -> Pin:
        return Pin(spec.repo, spec.ref, status, reason, None, None, None, None, None, self.name)

    def _resolve(self, spec: RepoSpec, url: str) -> str:
        """Return the commit a ref names: a full id as it is, a branch, a tag (peeled), a short id."""
        if _SHA.fullmatch(spec.ref.lower()):
            return spec.ref.lower()
        branch, tag = f"refs/heads/{spec.ref}", f"refs/tags/{spec.ref}"
        listed = self._list_refs(spec, url, ["HEAD", branch, tag, f"{tag}^{{}}"])
        for name in (branch, f"{tag}^{{}}", tag):
            if name in listed:
                return listed[name]
        if not listed and not self._list_refs(spec, url, []):
            raise Absent("empty", spec.repo)
        if "HEAD" in listed and spec.ref == "HEAD":
            return listed["HEAD"]
        if _SHORT_SHA.fullmatch(spec.ref):
            return self._full_id(spec, url)
        raise Absent("ref_missing", f"{spec.repo}@{spec.ref}")

    def _list_refs(self, spec: RepoSpec, url: str, patterns: list[str]) -> dict[str, str]:
        out = self._ask(
            self._mirror(spec.repo), url, ["ls-remote"], ["origin", *patterns], most=MAX_REFS
        )
        pairs = (line.split("\t", 1) for line in out.decode("utf-8", "replace").splitlines())
        return {name: sha for sha, name in pairs}

    # -- the past: commits and trees of all branches and tags, in a mirror of their own ----------------

    def commits(self, spec: RepoSpec, until: str, since: str | None = None) -> list[Commit]:
        """Walk the commits and trees of the history mirror, each hashed against its id."""
        git = self._past(spec, until, *([since] if since else []))
        with git.objects() as reader, _whole(git, spec):
            past = _Past(reader, f"{spec.repo} in {git.folder}")
            known = ranges.reachable(until, past.commit)
            if since:
                for sha in ranges.reachable(since, past.commit):
                    known.pop(sha, None)
            return [
                Commit(sha, found.tree_sha, found.parents, found.committed_at, past.changes(found))
                for sha in ranges.newest_first(known)
                for found in (known[sha],)
            ]

    def is_ancestor(self, spec: RepoSpec, old: str, new: str) -> bool:
        """Walk from `new` until `old` is met; it need not be anywhere for the answer no."""
        git = self._past(spec, new)
        with git.objects() as reader, _whole(git, spec):
            past = _Past(reader, f"{spec.repo} in {git.folder}")
            return old in ranges.reachable(new, past.commit, stop=old)

    def _past(self, spec: RepoSpec, *wanted: str) -> Git:
        """Return the history mirror with these commits and all that they rest on."""
        try:
            return self._history(spec, self._url(spec.repo), *wanted)
        except Moved:
            try:
                return self._history(spec, self._url(spec.repo, self._new_name(spec.repo)), *wanted)
            except Moved:
                raise Absent("missing", spec.repo) from None

    def _history(self, spec: RepoSpec, url: str, *wanted: str) -> Git:
        """Bring all branches and tags without blobs, unless the wanted commits are here already.

        A commit that no branch holds any more is then asked for by its id. Every commit comes with all
        its ancestors, so that one that is here is here with its past. The main mirror stays shallow.
        """
        git = self._opened(self._whole_past(spec))
        cut = git.folder / "shallow"
        if self._lacks(git, wanted) or cut.exists() if wanted else not self._offline:
            options = ["--filter=blob:none", f"--depth={_WHOLE}"]
            refspecs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
            # Pruned: a branch `a` that is gone would stand in the way of a new `a/b`.
            self._fetch(git, url, [*options, "--prune"], refspecs)
            for sha in self._lacks(git, wanted):
                self._fetch(git, url, options, [f"+{sha}:refs/benchproof/past/{sha}"])
        if cut.exists():
            advice = (
                "Its remote is a shallow clone, whose past is cut; give `git_mirrors` a whole one."
            )
            raise Unreachable("git_failed", f"{spec.repo}: its history", advice)
        return git

    def _whole_past(self, spec: RepoSpec) -> Path:
        """Return the history mirror's folder; one without trees, as it once was, is made anew."""
        folder = self._vault.history(spec.repo)
        config = folder / "config"
        if config.exists() and "tree:0" in config.read_text("utf-8", "replace"):
            shutil.rmtree(folder)
        return folder

    @staticmethod
    def _lacks(git: Git, wanted: Sequence[str]) -> list[str]:
        here = git.sizes(wanted)
        return [sha for sha in wanted if sha not in here]

    def find(self, spec: RepoSpec, digits: str) -> list[str]:
        """Look among all commits of the history mirror; a whole id is fetched if need be."""
        if not _SHA.fullmatch(digits):
            return self._commits_named(self._past(spec), digits)
        try:
            return self._commits_named(self._past(spec, digits), digits)
        except Absent as error:
            if error.status != "ref_missing":
                raise
            return []

    @staticmethod
    def _commits_named(git: Git, digits: str) -> list[str]:
        named = git.local("rev-parse", f"--disambiguate={digits}")
        form = "--batch-check=%(objectname) %(objecttype)"
        kinds = git.local("cat-file", form, stdin=named).decode().splitlines()
        return [sha for sha, kind in map(str.split, kinds) if kind == "commit"]

    def _full_id(self, spec: RepoSpec, url: str) -> str:
        found = self._commits_named(self._history(spec, url), spec.ref)
        if len(found) > 1:
            raise ConfigError(
                f"config: ref {spec.ref} of {spec.repo} fits {len(found)} commits; write more digits."
            )
        if not found:
            raise Absent("ref_missing", f"{spec.repo}@{spec.ref}")
        return found[0]

    def _last_before(self, spec: RepoSpec, url: str, sha: str, as_of: datetime) -> str:
        git = self._history(spec, url, sha)
        before = f"--before={int(as_of.timestamp()) - 1}"
        found = git.local("rev-list", "-1", before, sha).decode().strip()
        if not found:
            raise Absent("ref_missing", f"{spec.repo}@{spec.ref} before {as_of:%Y-%m-%d}", NOT_YET)
        return found

    # -- fetching -----------------------------------------------------------------------------------

    def _fetch_commits(self, git: Git, url: str, ids: list[str]) -> None:
        """Bring commits with their trees and smallest blobs: one request after the handshake."""
        options = ["--depth=1", f"--filter=blob:limit={SMALL_BYTES}"]
        self._fetch(git, url, options, [f"+{sha}:refs/benchproof/pins/{sha}" for sha in ids])

    def _fetch_blobs(self, git: Git, url: str, ids: list[str]) -> None:
        """Bring exactly these blobs. Ids go as arguments in batches: --stdin needs git 2.29.

        The server must not believe that we have them because we have their commit, so the only thing we
        claim to have is a commit that it can't know (git 2.29 has `noop` for this, git 2.25 has not).
        """
        tip = git.local("commit-tree", "-m", "benchproof", git.empty_tree()).decode().strip()
        for start in range(0, len(ids), _IDS_AT_ONCE):
            options = ["--filter=blob:none", f"--negotiation-tip={tip}"]
            self._fetch(git, url, options, ids[start : start + _IDS_AT_ONCE])

    def _fetch(self, git: Git, url: str, options: list[str], refspecs: list[str]) -> None:
        common = ["fetch", "--quiet", "--force", "--no-tags", "--recurse-submodules=no"]
        self._ask(git, url, [*common, *options], ["origin", *refspecs])

    def _ask(
        self, git: Git, url: str, command: list[str], rest: list[str], most: int | None = None
    ) -> bytes:
        """Run a network command, again after passing faults; traffic is counted per host."""
        if self._offline:
            raise Unreachable(
                "offline", self._shown(url), "The vault lacks it; run without `offline`."
            )
        serving = [] if _host(url) else [f"--upload-pack={_UPLOAD_PACK}"]
        arguments = ["-c", f"remote.origin.url={url}", *command, *serving, *rest]
        attempt = 0
        while True:
            git.clear_stale_locks()
            tally = Tally(most=gitcmd.MAX_ANSWER if most is None else most)
            try:
                return git.remote(*arguments, what=self._shown(url), tally=tally)
            except Unreachable as error:
                attempt += 1
                if attempt >= self._tries_for(error.cause):
                    raise
            finally:
                self._http.traffic.add(
                    _host(url) or "local", requests=tally.requests, bytes_in=tally.bytes_in
                )
            self._http.traffic.add(_host(url) or "local", retries=1)
            self._sleep(min(30.0, 0.5 * 2**attempt) * random.uniform(0.5, 1.0))

    def _tries_for(self, cause: str) -> int:
        return (
            self._tries
            if cause in _PASSING
            else 1
            if cause in _ONE_TRY
            else min(self._tries, _HOPELESS_AFTER)
        )

    # -- where things are ---------------------------------------------------------------------------

    def _url(self, repo: str, resolved: str | None = None) -> str:
        mirror = self._mirrors.get(repo)
        if mirror is None:
            return f"{self._endpoint}/{resolved or repo}.git"
        return mirror if "://" in mirror else str(Path(mirror).absolute())

    def _shown(self, url: str) -> str:
        return url.removesuffix(".git").removeprefix(f"{self._endpoint}/")

    def _where(self, pin: Pin) -> str:
        return f"{pin.repo}@{pin.commit_sha} in {self._vault.mirror(pin.repo)}"

    def _mirror(self, repo: str) -> Git:
        return self._opened(self._vault.mirror(repo))

    def _opened(self, folder: Path) -> Git:
        git = Git(folder, self._vault.home(), self._timeout_s)
        if not (folder / "HEAD").exists():
            private_folder(folder)
            git.local("init", "--quiet", "--bare", ".")
            for name, value in (("gc.auto", "0"), ("core.logAllRefUpdates", "false")):
                git.local("config", name, value)
        git.clear_stale_locks()
        return git


class _Trees:
    """Proven trees of one repository, with leaves and bytes below each: commits share most of them."""

    def __init__(self) -> None:
        self.rows: dict[str, ranges.Rows] = {}
        self.sizes: dict[str, tuple[int, int]] = {}

    def read(self, root: str, reader: Objects, where: str) -> None:
        """Read what is below a root and not known yet, each hashed against its id."""
        if len(self.rows) > MAX_TREES:
            self.rows.clear()
            self.sizes.clear()
        unread, seen, entries = [root], set[str](), 0
        while unread:
            sha = unread.pop()
            if sha in seen:
                continue
            seen.add(sha)
            if sha not in self.rows:
                _, data = reader.read(sha)
                objects.prove("tree", sha, data, where)
                self.rows[sha] = objects.parse_tree(data)
            entries += len(self.rows[sha])
            if entries > MAX_ENTRIES:
                advice = f"It has more than {MAX_ENTRIES} entries, and is no tree to audit."
                raise Unreachable("too_large", where, advice)
            unread += [child for mode, _, child in self.rows[sha] if objects.is_folder(mode)]

    def leaves(self, root: str) -> Iterator[tuple[bytes, str, str]]:
        """Yield path, mode and id of each leaf below a root that was read."""
        waiting = [(b"", root, 0)]
        while waiting:
            prefix, tree, depth = waiting.pop()
            if depth > MAX_DEPTH:
                advice = f"Its folders are nested deeper than {MAX_DEPTH}."
                raise Unreachable("too_large", f"tree {root}", advice)
            for mode, name, sha in self.rows[tree]:
                if objects.is_folder(mode):
                    waiting.append((prefix + name + b"/", sha, depth + 1))
                else:
                    yield prefix + name, mode, sha


class _Past:
    """Commits and trees of one mirror, each proven when it is first read."""

    def __init__(self, reader: Objects, where: str) -> None:
        self._reader, self._where = reader, where
        # A commit shares most trees with its parent, and few with older ones.
        self.tree = lru_cache(maxsize=4096)(self._tree)

    def commit(self, sha: str) -> objects.Commit:
        """Return a commit by its id."""
        return objects.parse_commit(self._proven("commit", sha))

    def changes(self, commit: objects.Commit) -> frozenset[bytes]:
        """Return the paths that a commit changes against its parents."""
        olds: list[str | None] = [self.commit(sha).tree_sha for sha in commit.parents]
        return ranges.own_changes(
            ranges.changed_in_trees(old, commit.tree_sha, self.tree, self._where)
            for old in olds or [None]
        )

    def _tree(self, sha: str) -> ranges.Rows:
        return objects.parse_tree(self._proven("tree", sha))

    def _proven(self, kind: str, sha: str) -> bytes:
        if sha == objects.EMPTY_TREE:
            return b""
        _, data = self._reader.read(sha)
        objects.prove(kind, sha, data, self._where)
        return data


@contextmanager
def _whole(git: Git, spec: RepoSpec) -> Iterator[None]:
    """Turn a past with holes, or with commits that git would not write, into Unreachable.

    A shallow remote gives commits without their parents; what it gave is forgotten, for a whole one.
    """
    where = f"{spec.repo}: its history"
    try:
        yield
    except objects.MalformedObjectError as error:
        raise Unreachable("malformed", where, str(error)) from None
    except VaultError:
        shutil.rmtree(git.folder)
        advice = "It came with holes, as from a shallow clone; let the remote have all of it, or run again."
        raise Unreachable("git_failed", where, advice) from None


def _host(url: str) -> str:
    """Host and port of a remote, empty for a local path."""
    return urlsplit(url).netloc if "://" in url and not url.startswith("file:") else ""
