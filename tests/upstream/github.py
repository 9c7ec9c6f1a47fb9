"""GitHub's REST API and raw content, as far as an audit reads them."""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from typing import Any
from urllib.parse import quote, unquote, unquote_to_bytes

from upstream.faults import Fault
from upstream.gitstore import HEX, Commit, Repositories, Repository, TreeEntry
from upstream.reply import Content, Reply, Request, json_reply, ranged_reply, text_reply, weak_etag

DOCS = "https://docs.github.com/rest"
TREE_LIMIT = 100_000
TREE_BYTES = 7_000_000
COMPARED_FILES = 300
COMMITS = 10_000


def message(text: str, status: int, **headers: str) -> Reply:
    """Return an error as the REST API words it."""
    value = {"message": text, "documentation_url": DOCS, "status": str(status)}
    return json_reply(value, status, **headers)


def iso(seconds: int) -> str:
    """Return a time as the REST API writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(slots=True)
class Bucket:
    """Requests that one caller has used in the current window."""

    used: int
    reset_at: float


class Allowance:
    """Rate limits per hour: `anonymous` without a token, `token` with one; REST and raw share
    them.
    """

    def __init__(
        self, anonymous: int = 100_000, token: int = 100_000, window_s: float = 3600
    ) -> None:
        self.anonymous, self.token, self.window_s = anonymous, token, window_s
        self.raw_counts = True
        self._buckets: dict[str, Bucket] = {}
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Forget what was used."""
        with self._lock:
            self._buckets.clear()

    def limit(self, caller: str) -> int:
        """Return the limit of a caller; the empty text is the anonymous one."""
        return self.token if caller else self.anonymous

    def bucket(self, caller: str) -> Bucket:
        """Return what a caller has used, in a window that is still open."""
        now = time.time()
        with self._lock:
            found = self._buckets.get(caller)
            if found is None or found.reset_at <= now:
                found = self._buckets[caller] = Bucket(0, now + self.window_s)
            return found

    def take(self, caller: str) -> bool:
        """Use one request; False when none is left."""
        bucket = self.bucket(caller)
        with self._lock:
            if bucket.used >= self.limit(caller):
                return False
            bucket.used += 1
            return True

    def headers(self, caller: str) -> dict[str, str]:
        """Return the rate limit headers of an answer."""
        bucket, limit = self.bucket(caller), self.limit(caller)
        return limit_headers(limit, min(bucket.used, limit), bucket.reset_at)


def limit_headers(limit: int, used: int, reset_at: float) -> dict[str, str]:
    """Return the five rate limit headers."""
    return {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(limit - used),
        "X-RateLimit-Reset": str(int(reset_at + 0.999)),
        "X-RateLimit-Used": str(used),
        "X-RateLimit-Resource": "core",
    }


class GitHub:
    """Answers below /api and /raw."""

    def __init__(
        self, repos: Repositories, tokens: Collection[str], aliases: dict[str, str]
    ) -> None:
        self.repos, self.tokens, self.aliases = repos, tokens, aliases
        self.allowance = Allowance()
        self.tree_limit = TREE_LIMIT
        self.tree_bytes = TREE_BYTES
        self.commit_limit = COMMITS
        self._routes: list[tuple[re.Pattern[str], Callable[..., Reply]]] = [
            (re.compile(r""), self._repo),
            (re.compile(r"commits"), self._history),
            (re.compile(r"commits/(.+)"), self._commit),
            (re.compile(r"compare/(.+)\.\.\.(.+)"), self._compare),
            (re.compile(r"branches/(.+)"), self._branch),
            (re.compile(r"git/refs?/(.+)"), self._ref),
            (re.compile(r"git/trees/(.+)"), self._tree),
            (re.compile(r"git/commits/([0-9a-f]+)"), self._git_commit),
            (re.compile(r"git/blobs/([0-9a-f]+)"), self._git_blob),
        ]

    # Both areas

    def _caller(self, request: Request) -> str | None:
        """Return the token of a request, "" without one, None for one that isn't known."""
        text = request.headers.get("authorization")
        if text is None:
            return ""
        scheme, _, value = text.partition(" ")
        known = scheme.lower() in ("bearer", "token") and value.strip() in self.tokens
        return value.strip() if known else None

    def _limited(self, request: Request, caller: str, raw: bool) -> Reply | None:
        """Return the refusal of a request over a limit, None when it may go on."""
        if (fault := request.active.get("secondary_limit")) is not None:
            text = "You have exceeded a secondary rate limit. Please wait a few minutes."
            after = fault.get("retry_after", 1)
            reply = message(text, int(fault.get("status", 403)))
            if after is not None:
                reply.headers["Retry-After"] = str(after)
            reply.headers |= self.allowance.headers(caller)
            return reply
        if (fault := request.active.get("rate_limit")) is not None:
            return self._faulty_limit(fault, raw)
        if (raw and not self.allowance.raw_counts) or self.allowance.take(caller):
            return None
        return self._over(self.allowance.headers(caller), raw)

    def _faulty_limit(self, fault: Fault, raw: bool) -> Reply | None:
        """Apply a `rate_limit` fault, which counts the requests that it matches."""
        allowance, reset = int(fault.get("allowance", 60)), float(fault.get("reset_in_s", 3600))
        if fault.used <= allowance:
            return None
        limit = int(fault.get("limit", 60))
        return self._over(limit_headers(limit, limit, time.time() + reset), raw)

    def _over(self, headers: dict[str, str], raw: bool) -> Reply:
        """Return the answer when the allowance is used up."""
        if raw:
            reply = text_reply(
                "429: Too Many Requests\nFor more on scraping GitHub, see the docs.", 429
            )
        else:
            reply = message("API rate limit exceeded for 127.0.0.1. (Authenticate for more.)", 403)
        reply.headers |= headers
        return reply

    # REST

    def api(self, request: Request) -> Reply:
        """Answer below /api."""
        if "user-agent" not in request.headers:
            return text_reply("Request forbidden by administrative rules. Send a User-Agent.", 403)
        caller = self._caller(request)
        if caller is None:
            return message("Bad credentials", 401)
        path = request.path.removeprefix("/api")
        if path == "/rate_limit":
            reply = self._rate_limit(caller)
            reply.headers |= self.allowance.headers(caller)
            return reply
        refused = self._limited(request, caller, raw=False)
        if refused is not None:
            return refused
        reply = self._route(request, path)
        for name, value in self._visible_limit(request, caller).items():
            reply.headers.setdefault(name, value)
        if reply.status == 200 and not reply.streamed:
            tag = weak_etag(reply.body)
            reply.headers["ETag"] = tag
            if request.headers.get("if-none-match") == tag:
                return Reply(304, reply.headers)
        return reply

    def _visible_limit(self, request: Request, caller: str) -> dict[str, str]:
        """Return the limit headers, those of a `rate_limit` fault if there is one."""
        fault = request.active.get("rate_limit")
        if fault is None:
            return self.allowance.headers(caller)
        allowance, limit = int(fault.get("allowance", 60)), int(fault.get("limit", 60))
        left = max(min(allowance - fault.used, limit), 0)
        return limit_headers(
            limit, limit - left, time.time() + float(fault.get("reset_in_s", 3600))
        )

    def _rate_limit(self, caller: str) -> Reply:
        """Answer /rate_limit, which costs nothing."""
        bucket, limit = self.allowance.bucket(caller), self.allowance.limit(caller)
        used = min(bucket.used, limit)
        core = {
            "limit": limit,
            "used": used,
            "remaining": limit - used,
            "reset": int(bucket.reset_at),
        }
        return json_reply({"resources": {"core": core}, "rate": core})

    def _route(self, request: Request, path: str) -> Reply:
        """Find the repository and the handler of a REST path."""
        by_name = re.fullmatch(r"/repos/([^/]+/[^/]+)(?:/(.*))?", path)
        by_id = re.fullmatch(r"/repositories/(\d+)(?:/(.*))?", path)
        if by_name:
            full_name, rest = by_name[1], by_name[2] or ""
        elif by_id:
            full_name, rest = self.repos.by_id(int(by_id[1])) or "", by_id[2] or ""
        else:
            return message("Not Found", 404)
        if "gone" in request.active or "private" in request.active:
            return message("Not Found", 404)
        stored = self.aliases.get(full_name, full_name)
        if by_name and (fault := request.active.get("rename")) is not None:
            self.aliases[fault.params["to"]] = full_name
            query = f"?{request.query}" if request.query else ""
            tail = f"/{rest}" if rest else ""
            target = f"{request.base}/api/repositories/{self.repos.repo_id(stored)}{tail}{query}"
            value = {"message": "Moved Permanently", "url": target, "documentation_url": DOCS}
            return json_reply(value, 301, Location=target)
        repository = self.repos.get(stored)
        if repository is None:
            return message("Not Found", 404)
        names = [new for new, old in self.aliases.items() if old == stored]
        view = RepoView(repository, names[-1] if names else stored, self.repos.repo_id(stored))
        for pattern, handler in self._routes:
            found = pattern.fullmatch(rest)
            if found:
                if rest and repository.is_empty():
                    return message("Git Repository is empty.", 409)
                return handler(request, view, *(unquote(part) for part in found.groups()))
        return message("Not Found", 404)

    def _repo(self, request: Request, view: RepoView) -> Reply:
        """Answer /repos/<owner>/<name>."""
        owner, name = view.full_name.split("/")
        value = {
            "id": view.repo_id,
            "name": name,
            "full_name": view.full_name,
            "private": False,
            "owner": {"login": owner, "type": "Organization"},
            "html_url": f"https://github.com/{view.full_name}",
            "url": f"{request.base}/api/repos/{view.full_name}",
            "fork": False,
            "archived": False,
            "disabled": False,
            "visibility": "public",
            "default_branch": view.repository.default_branch(),
        }
        return json_reply(value)

    def _history(self, request: Request, view: RepoView) -> Reply:
        """Answer /commits with sha, since, until, path, per_page and page."""
        args = request.args()
        start = view.repository.resolve(args.get("sha", view.repository.default_branch()))
        if start is None:
            return message("Not Found", 404)
        options: list[str] = []
        for name, option in (("since", "--max-age"), ("until", "--min-age")):
            if name in args:
                try:
                    when = datetime.fromisoformat(args[name])
                except ValueError:
                    return message(f"Invalid {name}", 422)
                if when.tzinfo is None:
                    when = when.replace(tzinfo=UTC)
                options.append(f"{option}={int(when.timestamp())}")
        size = min(max(int(args.get("per_page", "30")), 1), 100)
        page = max(int(args.get("page", "1")), 1)
        most = min(size * page + 1, self.commit_limit)
        found = view.repository.history(start, *options, f"--max-count={most}")
        shown = found[size * (page - 1) : size * page]
        commits = [view.repository.commit(sha) for sha in shown]
        reply = json_reply([commit_value(view, commit) for commit in commits if commit is not None])
        if len(found) > size * page:
            rest = "&".join(f"{k}={quote(v)}" for k, v in args.items() if k != "page")
            where = f"{request.base}/api/repos/{view.full_name}/commits?{rest}&page={page + 1}"
            reply.headers["Link"] = f'<{where}>; rel="next"'
        return reply

    def _commit(self, request: Request, view: RepoView, ref: str) -> Reply:
        """Answer /commits/<ref>, also for Accept: application/vnd.github.sha."""
        ref = ref.removeprefix("heads/")
        sha = view.repository.resolve(ref)
        commit = view.repository.commit(sha) if sha else None
        if commit is None:
            return message(f"No commit found for SHA: {ref}", 422)
        if "vnd.github.sha" in request.headers.get("accept", ""):
            return text_reply(commit.sha, media="application/vnd.github.sha; charset=utf-8")
        return json_reply(commit_value(view, commit))

    def _compare(self, request: Request, view: RepoView, old: str, new: str) -> Reply:
        """Answer /compare/<old>...<new>: 250 commits, or pages of at most 100; 300 files, on page 1."""
        args, repository = request.args(), view.repository
        ends = [repository.resolve(name) for name in (old, new)]
        if None in ends:
            return message("Not Found", 404)
        base, head = map(str, ends)
        shared = repository.merge_base(base, head)
        if shared is None:
            return message(f"No common ancestor between {old} and {new}.", 404)
        ahead, behind = repository.history(head, f"^{base}"), repository.history(base, f"^{head}")
        paged = "page" in args or "per_page" in args
        size = min(max(int(args.get("per_page", "30")), 1), 100) if paged else 250
        page = max(int(args.get("page", "1")), 1)
        shown = ahead[::-1][: self.commit_limit][size * (page - 1) : size * page]
        commits = [repository.commit(sha) for sha in (base, shared, *shown)]
        described = [commit_value(view, commit) for commit in commits if commit is not None]
        state = "diverged" if ahead and behind else "ahead" if ahead else "behind"
        value = {
            "status": state if ahead or behind else "identical",
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "base_commit": described[0],
            "merge_base_commit": described[1],
            "commits": described[2:],
        }
        if page == 1:
            names = repository.differing(shared, head)[:COMPARED_FILES]
            value["files"] = [{"filename": name} for name in names]
        return json_reply(value)

    def _branch(self, request: Request, view: RepoView, name: str) -> Reply:
        """Answer /branches/<name>."""
        sha = view.repository.resolve(f"refs/heads/{name}")
        commit = view.repository.commit(sha) if sha else None
        if commit is None:
            return message("Branch not found", 404)
        return json_reply({"name": name, "commit": commit_value(view, commit), "protected": False})

    def _ref(self, request: Request, view: RepoView, name: str) -> Reply:
        """Answer /git/ref/<name>."""
        found = view.repository.object(f"refs/{name}") if ".." not in name else None
        if found is None:
            return message("Not Found", 404)
        sha, kind, _ = found
        return json_reply({"ref": f"refs/{name}", "object": {"sha": sha, "type": kind}})

    def _git_commit(self, request: Request, view: RepoView, sha: str) -> Reply:
        """Answer /git/commits/<sha>."""
        commit = view.repository.commit(sha)
        if commit is None:
            return message("Not Found", 404)
        value = commit_value(view, commit)
        return json_reply({"sha": sha, **value["commit"], "parents": value["parents"]})

    def _git_blob(self, request: Request, view: RepoView, sha: str) -> Reply:
        """Answer /git/blobs/<sha>, in base64 or raw."""
        found = view.repository.object(sha)
        if found is None or found[1] != "blob":
            return message("Not Found", 404)
        if "raw" in request.headers.get("accept", ""):
            return Reply(200, {"Content-Type": "application/vnd.github.raw"}, found[2])
        body = base64.encodebytes(found[2]).decode()
        value = {"sha": found[0], "size": len(found[2]), "content": body, "encoding": "base64"}
        return json_reply(value)

    def _tree(self, request: Request, view: RepoView, ref: str) -> Reply:
        """Answer /git/trees/<sha or ref>; `recursive` with any value lists sub-trees."""
        found = view.repository.object(ref) if HEX.fullmatch(ref) else None
        if found is not None and found[1] == "tree":
            tree = ref
        else:
            sha = view.repository.resolve(ref)
            commit = view.repository.commit(sha) if sha else None
            if commit is None:
                return message("Not Found", 404)
            tree = commit.tree
        recursive = "recursive" in request.args()
        entries = view.repository.listing(tree, recursive=recursive)
        limit = self.tree_limit if recursive else len(entries)
        fault = request.active.get("truncate_tree")
        if fault is not None and (recursive or fault.get("subtrees", False)):
            limit = min(limit, int(fault.get("keep", 50)))
        base = f"{request.base}/api/repos/{view.full_name}/git"
        shown = [entry_value(base, entry) for entry in entries[:limit]]
        cut = len(shown) < len(entries)
        url = f"{base}/trees/{tree}"
        return json_reply({"sha": tree, "url": url, "tree": shown, "truncated": cut})

    # Raw

    def raw(self, request: Request) -> Reply:
        """Answer below /raw/<owner>/<name>/<sha, branch or refs/...>/<path>."""
        caller = self._caller(request)
        if caller is None:
            return text_reply("401: Unauthorized", 401)
        refused = self._limited(request, caller, raw=True)
        if refused is not None:
            return refused
        missing = text_reply("404: Not Found", 404)
        parts = request.path.removeprefix("/raw/").split("/", 2)
        if len(parts) < 3 or "gone" in request.active or "private" in request.active:
            return missing
        full_name = f"{parts[0]}/{parts[1]}"
        repository = self.repos.get(self.aliases.get(full_name, full_name))
        if repository is None:
            return missing
        found = self._locate(request, repository, parts[2])
        if found is None or found.kind != "blob":
            return missing
        body = repository.blob(found.sha)
        content = Content(len(body), lambda at, n: body[at : at + n], f'"{found.sha}"')
        reply = ranged_reply(request, content)
        fixed = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "max-age=300"}
        reply.headers |= fixed | {"Expires": formatdate(time.time() + 300, usegmt=True)}
        return reply

    def _locate(self, request: Request, repository: Repository, tail: str) -> TreeEntry | None:
        """Return the entry that "<ref>/<path>" names; branch names may hold slashes."""
        words = tail.split("/")
        for count in range(1, min(len(words), 5)):
            ref = unquote("/".join(words[:count]))
            commit = repository.resolve(ref)
            if commit is None:
                continue
            if not HEX.fullmatch(ref):
                commit = self._stale(request, repository, commit)
            path = b"/".join(_unquote_bytes(word) for word in words[count:])
            return repository.find(commit, path)
        return None

    def _stale(self, request: Request, repository: Repository, commit: str) -> str:
        """Return what a cache still thinks a branch is, if the fault `stale_branch` acts."""
        fault = request.active.get("stale_branch")
        if fault is None:
            return commit
        known = repository.commit(commit)
        parents: tuple[str, ...] = known.parents if known else ()
        return str(fault.get("commit", parents[0] if parents else commit))


@dataclass(frozen=True, slots=True)
class RepoView:
    """A repository under the name that it has today."""

    repository: Repository
    full_name: str
    repo_id: int


def _unquote_bytes(text: str) -> bytes:
    """Return the raw bytes of a percent-encoded part of a path."""
    return unquote_to_bytes(text)


def commit_value(view: RepoView, commit: Commit) -> dict[str, Any]:
    """Return a commit as the REST API shows it."""

    def person(who: tuple[str, str, int]) -> dict[str, str]:
        return {"name": who[0], "email": who[1], "date": iso(who[2])}

    unsigned: Mapping[str, Any] = {"verified": False, "reason": "unsigned", "signature": None}
    inner = {
        "author": person(commit.author),
        "committer": person(commit.committer),
        "message": commit.message,
        "tree": {"sha": commit.tree, "url": f"/repos/{view.full_name}/git/trees/{commit.tree}"},
        "verification": {**unsigned, "payload": None},
    }
    parents = [{"sha": sha} for sha in commit.parents]
    return {
        "sha": commit.sha,
        "commit": inner,
        "author": None,
        "committer": None,
        "parents": parents,
    }


def entry_value(base: str, entry: TreeEntry) -> dict[str, Any]:
    """Return a tree entry as the REST API shows it; bytes that aren't UTF-8 are lost there, too."""
    path = entry.path.decode("utf-8", "replace")
    value: dict[str, Any] = {"path": path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
    if entry.size is not None:
        value["size"] = entry.size
    if entry.kind != "commit":
        value["url"] = f"{base}/{'trees' if entry.kind == 'tree' else 'blobs'}/{entry.sha}"
    return value
