"""Claims: what sources say of the family, each a query over the tables and an expectation.

An invariant holds whatever is published next, or fails. An observation was true of a day: where it no
longer is, it has drifted; at the very commit that it names it fails. What could not be asked is
not_checked, with a fixed reason, and never held against anyone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, Protocol

from benchproof import yamltext
from benchproof.analysis.query import RefusedQueryError, Value
from benchproof.errors import ConfigError
from benchproof.outputs import OPEN

Kind = Literal["invariant", "observation"]
Status = Literal["holds", "drifted", "fails", "not_checked"]

_ID = re.compile(r"[a-z0-9][a-z0-9_.-]{2,79}")
_TEXTS = ("id", "kind", "source", "says", "query")
_KEYS = {*_TEXTS, "as_of", "repos", "expect", "commits", "topic"}
_OPTIONAL = {"commits", "topic"}
_BOUNDS = ("at_least", "at_most", "between")
#: Tables that have rows only for what earlier ones learnt: what stayed unknown there lacks here.
_BEHIND = {
    "runnable": {"handles"},
    "objects": {"handles"},
    "contents": {"handles", "objects"},
    "files": {"handles", "objects"},
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. `repos` are names of the family that it needs, owner/name where it is about that owner's
    alone; `commits` says by name at which commit it was made; claims of one `topic` stand side by side.
    """

    id: str
    kind: Kind
    as_of: str
    source: str
    says: str
    repos: tuple[str, ...]
    query: str
    expect: Any
    commits: Mapping[str, str]
    topic: str | None = None

    @property
    def expected(self) -> str:
        """What is expected, as the table shows it."""
        if not isinstance(self.expect, dict):
            return shown(self.expect)
        ((how, wanted),) = self.expect.items()
        if how == "between":
            return f"{shown(wanted[0])} to {shown(wanted[1])}"
        return f"{how.replace('_', ' ')} {shown(wanted)}"

    def met(self, value: Value) -> bool:
        """True when a value is what was claimed; 1 is not true, and 1.0 is 1."""
        if not isinstance(self.expect, dict):
            return _equal(value, self.expect)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        ((how, wanted),) = self.expect.items()
        if how == "at_least":
            return bool(value >= wanted)
        if how == "at_most":
            return bool(value <= wanted)
        return bool(wanted[0] <= value <= wanted[1])


class Asked(Protocol):
    """What claims are asked of (query.Tables)."""

    names: set[str]

    def used(self, query: str) -> set[str]:
        """Return the tables that a query names."""
        ...

    def value(self, query: str) -> Value:
        """Return its one value."""
        ...

    def rows(self, name: str) -> list[Mapping[str, Any]]:
        """Return repo, handle and status of a table's rows."""
        ...


@dataclass(frozen=True)
class Scope:
    """What was audited: commit by repository, those that could not be read, handles by repository."""

    commits: Mapping[str, str | None]
    unread: frozenset[str]
    handles: Mapping[str, frozenset[str]]

    def find(self, name: str) -> list[str]:
        """Return the audited repositories that a claim's name means."""
        return [r for r in self.commits if r == name or ("/" not in name and _short(r) == name)]


def tables_of(claims: Iterable[Claim], named: Callable[[str], set[str]]) -> set[str]:
    """Return the tables that claims ask of, and those that say whether these are whole; a query that is
    refused asks of none.
    """
    found: set[str] = set()
    for claim in claims:
        try:
            found |= _whole(named(claim.query))
        except RefusedQueryError:
            continue
    return found


def _whole(used: set[str]) -> set[str]:
    return used.union(*(_BEHIND.get(name, set()) for name in used))


def check(
    claims: Iterable[Claim],
    tables: Asked,
    scope: Scope,
    tell: Callable[[str], object] = lambda _: None,
) -> list[dict[str, Any]]:
    """Return the rows of the claims table; `tell` is given a line for each query that is refused."""
    return [_row(claim, *_checked(claim, tables, scope, tell)) for claim in claims]


def _checked(
    claim: Claim, tables: Asked, scope: Scope, tell: Callable[[str], object]
) -> tuple[str | None, Status, str | None]:
    """Return what was observed, the status and the reason of one claim."""
    found = [scope.find(name) for name in claim.repos]
    reason = _out_of_scope(found, scope)
    if reason is not None:
        return None, "not_checked", reason
    try:
        used = tables.used(claim.query)
        if missing := sorted(used - tables.names):
            return None, "not_checked", f"table_missing_{missing[0]}"
        repos = {repo for many in found for repo in many}
        there = _whole(used) & tables.names
        if unknown := sorted(name for name in there if _open(tables.rows(name), repos, scope)):
            return None, "not_checked", f"not_all_known_{unknown[0]}"
        value = tables.value(claim.query)
    except RefusedQueryError as error:
        tell(f"claim {claim.id}: its query is refused: {error}")
        return None, "not_checked", "query_refused"
    if value is None:
        return None, "not_checked", "nothing_to_check"
    if claim.met(value):
        return shown(value), "holds", None
    if claim.kind == "invariant":
        return shown(value), "fails", None
    if _at_commits(claim, found, scope):
        return shown(value), "fails", "at_the_commit_it_names"
    return shown(value), "drifted", "other_commit" if claim.commits else None


def _out_of_scope(found: Iterable[list[str]], scope: Scope) -> str | None:
    for many in found:
        if not many:
            return "not_in_this_audit"
        if len(many) > 1:
            return "name_is_ambiguous"
        if scope.commits[many[0]] is None or many[0] in scope.unread:
            return "repository_not_read"
    return None


def _open(rows: Iterable[Mapping[str, Any]], repos: set[str], scope: Scope) -> bool:
    """True when something of these repositories stayed unknown in a table (law: never counted)."""
    handles = {handle for repo in repos for handle in scope.handles.get(repo, ())}
    return any(
        row.get("status") in OPEN
        and (row["repo"] in repos if "repo" in row else row.get("handle") in handles)
        for row in rows
    )


def _at_commits(claim: Claim, found: list[list[str]], scope: Scope) -> bool:
    """True when every audited commit is the one that the claim names for it."""
    pairs = zip(claim.repos, found, strict=True)
    named = [(claim.commits.get(_short(name)), scope.commits[many[0]]) for name, many in pairs]
    return bool(claim.commits) and all(
        wanted is not None and (commit or "").startswith(wanted) for wanted, commit in named
    )


def _row(claim: Claim, observed: str | None, status: Status, reason: str | None) -> dict[str, Any]:
    return {
        "claim_id": claim.id,
        "kind": claim.kind,
        "as_of": claim.as_of,
        "source": claim.source,
        "topic": claim.topic,
        "says": claim.says,
        "repos": list(claim.repos),
        "expected": claim.expected,
        "observed": observed,
        "status": status,
        "reason": reason,
    }


def _short(repo: str) -> str:
    return repo.rsplit("/", 1)[-1]


def shown(value: Any) -> str:
    """Return a value as tables and messages show it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _equal(value: Value, wanted: Any) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return math.isclose(value, wanted, rel_tol=1e-9)
    return bool(value == wanted)


# -- the file -----------------------------------------------------------------------------------------


def load(path: str | Path) -> list[Claim]:
    """Return the claims of a file, sorted by id.

    Raises ConfigError with one line that names the claim, what is wrong and what to write.
    """
    try:
        value = yamltext.load(Path(path))
    except FileNotFoundError:
        raise ConfigError(f"{path}: missing; write `claims: []` into it.") from None
    except yamltext.NotYaml as error:
        line = f" (line {error.line})" if error.line else ""
        raise ConfigError(f"{path}: not readable as YAML{line}; correct its syntax.") from None
    listed = value.get("claims") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        raise ConfigError(f"{path}: it takes a key `claims` with a list of claims.")
    # `all` is an anchor of the file's own for the members of the family.
    for key in sorted(map(str, set(value) - {"claims", "all"})):
        raise ConfigError(f"{path}: `{key}` is not a key; known: all, claims.")
    claims: dict[str, Claim] = {}
    for number, item in enumerate(listed, 1):
        name = item.get("id") if isinstance(item, dict) else None
        claim = _claim(f"{path}: claim {name or number}", item)
        if claim.id in claims:
            raise ConfigError(f"{path}: claim {claim.id} stands there twice; keep one.")
        claims[claim.id] = claim
    return [claims[name] for name in sorted(claims)]


def _claim(where: str, item: Any) -> Claim:
    if not isinstance(item, dict):
        raise ConfigError(f"{where} takes keys: {', '.join(sorted(_KEYS))}.")
    for key in sorted(map(str, set(item) - _KEYS)):
        raise ConfigError(f"{where}: `{key}` is not a key; known: {', '.join(sorted(_KEYS))}.")
    for key in sorted(_KEYS - _OPTIONAL - set(item)):
        raise ConfigError(f"{where}: `{key}` is missing.")
    texts = {key: item[key] for key in _TEXTS}
    texts["as_of"] = _day(where, item["as_of"])
    repos, commits = item["repos"], item.get("commits", {})
    _require(
        where,
        all(isinstance(text, str) and text.strip() for text in texts.values()),
        f"{', '.join(_TEXTS)} take text",
    )
    _require(where, bool(_ID.fullmatch(texts["id"])), "`id` takes a-z, 0-9, '.', '_' and '-'")
    _require(
        where,
        texts["kind"] in ("invariant", "observation"),
        "`kind` takes invariant or observation",
    )
    _require(where, _names(repos), "`repos` takes a list of repository names")
    _require(
        where, _commits(commits, repos), "`commits` maps names of `repos` to commit ids in text"
    )
    _require(
        where,
        _expectation(item["expect"]),
        "`expect` takes a number, text, true or false, or one of at_least, at_most, between",
    )
    topic = item.get("topic")
    _require(where, topic is None or isinstance(topic, str), "`topic` takes text")
    # A query keeps its lines: on one line, a comment would swallow what follows it.
    tidy = {key: t if key == "query" else " ".join(t.split()) for key, t in texts.items()}
    kind: Kind = "invariant" if tidy.pop("kind") == "invariant" else "observation"
    return Claim(
        **tidy, kind=kind, repos=tuple(repos), expect=item["expect"], commits=commits, topic=topic
    )


def _require(where: str, right: bool, wanted: str) -> None:
    if not right:
        raise ConfigError(f"{where}: {wanted}.")


def _day(where: str, value: Any) -> str:
    """A day, which YAML reads as a date when it stands there unquoted."""
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ConfigError(f"{where}: `as_of` takes a day written YYYY-MM-DD.") from None


def _names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)


def _commits(value: Any, repos: Iterable[str]) -> bool:
    short = {_short(name) for name in repos}
    return isinstance(value, dict) and all(
        name in short and isinstance(sha, str) and re.fullmatch(r"[0-9a-f]{7,64}", sha)
        for name, sha in value.items()
    )


def _expectation(value: Any) -> bool:
    if not isinstance(value, dict):
        return isinstance(value, bool | str) or _number(value)
    if len(value) != 1 or next(iter(value)) not in _BOUNDS:
        return False
    ((how, wanted),) = value.items()
    if how == "between":
        return isinstance(wanted, list) and len(wanted) == 2 and all(map(_number, wanted))
    return _number(wanted)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# -- what changed, and topics ---------------------------------------------------------------------------


def side_by_side(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the claims of topics on which sources expect different values, by topic."""
    topics: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["topic"] is not None:
            topics.setdefault(row["topic"], []).append(row)
    return {
        topic: sorted(said, key=lambda row: (row["as_of"], row["claim_id"]))
        for topic, said in sorted(topics.items())
        if len({row["expected"] for row in said}) > 1
    }
