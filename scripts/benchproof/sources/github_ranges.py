"""Which commits lie between two, as GitHub's REST API tells it: its pages, its limits, its silences.

The comparison of two commits lists at most 250 at once, 100 a page, and of the files that differ 300 in
all and none per commit: what each commit changes is therefore read from whole, proven trees. Commits
themselves are what GitHub says; a list that isn't whole by its own count, or by its parents, is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from benchproof.errors import Absent, Unreachable
from benchproof.sources import objects, ranges

#: The most that GitHub gives.
PER_PAGE = 100
#: Commits of a range that are listed at most, and 2,000 requests: Linux has a million, no benchmark does.
MAX_COMMITS = ranges.MAX_COMMITS
#: `status` of a comparison by whether the first commit is an ancestor of the second.
_ANCESTOR = {"ahead": True, "identical": True, "behind": False, "diverged": False}

#: Asks for a path below the API: (path, what it is for messages) -> HTTP status and parsed JSON.
Ask = Callable[[str, str], tuple[int, Any]]
#: What an answer other than 200 means: (HTTP status, what) -> the error to raise.
Refusal = Callable[[int, str], Exception]


@dataclass(slots=True)
class Span:
    """Commits of a range by id, and commits beside it that GitHub described along with them."""

    commits: dict[str, objects.Commit] = field(default_factory=dict)
    beside: dict[str, objects.Commit] = field(default_factory=dict)


class Lists:
    """The lists of one repository."""

    def __init__(self, repo: str, ask: Ask, refusal: Refusal) -> None:
        self._repo, self._ask, self._refusal = repo, ask, refusal

    def all_before(self, until: str) -> Span:
        """Return a commit and all its ancestors. One request for each hundred."""
        span, page = Span(), 1
        what = f"{self._repo}@{until[:12]}: its history"
        while not _closed(span, until):
            query = f"sha={until}&per_page={PER_PAGE}&page={page}"
            status, rows = self._ask(f"repos/{self._repo}/commits?{query}", what)
            if status in (404, 422):
                raise self._nowhere(until)
            new = self._rows(status, rows, what)
            if not new.keys() - span.commits.keys():
                raise _not_whole(what, f"{len(span.commits)} commits came, and not their parents")
            span.commits |= new
            _refuse_endless(span, what)
            page += 1
        return span

    def between(self, since: str, until: str) -> Span:
        """Return what `until` reaches and `since` does not. One request for each hundred."""
        what = f"{self._repo}: {since[:12]}...{until[:12]}"
        span, page, total = Span(), 1, 1
        while len(span.commits) < total:
            status, value = self._ask(self._compared(since, until, PER_PAGE, page), what)
            if status in (404, 422):
                self._must_be_here(until)
                self._must_be_here(since)
                return self.all_before(until)  # both are here and share no commit
            rows, total = _get(value, "commits"), _get(value, "total_commits")
            new = self._rows(status, rows, what)
            for name in ("base_commit", "merge_base_commit"):
                span.beside |= self._rows(status, [_get(value, name)], what)
            if type(total) is not int or (total and not new.keys() - span.commits.keys()):
                raise _not_whole(what, f"{len(span.commits)} of {total} commits came")
            span.commits |= new
            _refuse_endless(span, what)
            page += 1
        reached = (
            until in span.commits if total else _get(value, "status") in ("identical", "behind")
        )
        if not reached or len(span.commits) != total:
            raise _not_whole(what, f"{len(span.commits)} of {total} commits came")
        return span

    def is_ancestor(self, old: str, new: str) -> bool:
        """Tell whether `new` reaches `old`, in one request; two when they share no commit."""
        what = f"{self._repo}: {old[:12]}...{new[:12]}"
        status, value = self._ask(self._compared(old, new, 1, 1), what)
        if status in (404, 422):
            self._must_be_here(new)  # `old` is nowhere, or shares no commit with it
            return False
        if status != 200:
            raise self._refusal(status, what)
        known = _ANCESTOR.get(str(_get(value, "status")))
        if known is None:
            raise Unreachable("malformed", f"{what}: the answer compares nothing")
        return known

    def find(self, digits: str) -> list[str]:
        """Return the commit whose id begins with these digits, in one request; nothing without one."""
        what = f"{self._repo}@{digits}"
        status, value = self._ask(f"repos/{self._repo}/commits/{digits}", what)
        if status in (404, 422):
            error = self._nowhere(digits)
            if isinstance(error, Absent) and error.status == "ref_missing":
                return []
            raise error
        (sha,) = self._rows(status, [value], what)
        return [sha] if sha.startswith(digits) else []

    def described(self, sha: str) -> objects.Commit:
        """Return one commit, by its full id."""
        what = f"{self._repo}@{sha[:12]}"
        status, value = self._ask(f"repos/{self._repo}/git/commits/{sha}", what)
        if status in (404, 422):
            raise self._nowhere(sha)
        if status != 200:
            raise self._refusal(status, what)
        return _commit({"commit": value, **value} if isinstance(value, dict) else value, what)

    def _compared(self, old: str, new: str, size: int, page: int) -> str:
        return f"repos/{self._repo}/compare/{old}...{new}?per_page={size}&page={page}"

    def _must_be_here(self, sha: str) -> None:
        self.described(sha)

    def _nowhere(self, sha: str) -> Exception:
        """Return what it means that a commit isn't found: another thing without its repository."""
        status, _ = self._ask(f"repos/{self._repo}", self._repo)
        if status != 200:
            return self._refusal(status, self._repo)
        return Absent("ref_missing", f"{self._repo}@{sha}")

    def _rows(self, status: int, rows: Any, what: str) -> dict[str, objects.Commit]:
        if status != 200:
            raise self._refusal(status, what)
        if not isinstance(rows, list) or not all(objects.is_id(_get(row, "sha")) for row in rows):
            raise Unreachable("malformed", f"{what}: the answer is no list of commits")
        return {row["sha"]: _commit(row, what) for row in rows}


def _refuse_endless(span: Span, what: str) -> None:
    if len(span.commits) + len(span.beside) > MAX_COMMITS:
        raise Unreachable("too_large", what, f"It has more than {MAX_COMMITS} commits.")


def _closed(span: Span, until: str) -> bool:
    """True when a list holds a commit and every parent of what it holds."""
    above = {sha for commit in span.commits.values() for sha in commit.parents}
    return until in span.commits and above <= span.commits.keys()


def _commit(row: Any, what: str) -> objects.Commit:
    tree, parents = _get(row, "commit", "tree", "sha"), _get(row, "parents")
    ids = [_get(parent, "sha") for parent in parents] if isinstance(parents, list) else [None]
    if not all(map(objects.is_id, [tree, *ids])):
        raise Unreachable("malformed", f"{what}: a commit without tree or parents")
    return objects.Commit(
        tree, tuple(map(str, ids)), instant(_get(row, "commit", "committer", "date"), what)
    )


def instant(text: Any, what: str) -> datetime:
    """Return a time in UTC; raises Unreachable for text that is none."""
    try:
        found = datetime.fromisoformat(text)
        moment = found.astimezone(UTC) if found.tzinfo is not None else None
    except (
        TypeError,
        ValueError,
        OverflowError,
    ):  # overflow: the first and last hours of the calendar
        moment = None
    if moment is None:
        raise Unreachable("malformed", f"{what}: the commit has no readable date")
    return moment


def _not_whole(what: str, why: str) -> Unreachable:
    return Unreachable("too_large", what, f"GitHub's list isn't whole: {why}. Use `source: git`.")


def _get(value: Any, *keys: str) -> Any:
    """Return a nested member, None when there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
