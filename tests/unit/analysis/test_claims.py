"""Claims: the shipped ones are well made; each status comes from where it should and from nowhere else."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchproof import tables
from benchproof.analysis import claims
from benchproof.analysis.claims import Claim, Scope
from benchproof.analysis.query import RefusedQueryError, Tables, tables_named
from benchproof.errors import ConfigError

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = claims.load(ROOT / "config" / "claims.yaml")
COMMIT = "4a7d2b0" + "0" * 33


def claim(**values: Any) -> Claim:
    base: dict[str, Any] = {
        "id": "one.evals",
        "kind": "observation",
        "as_of": "2026-08-28",
        "source": "a page",
        "says": "One publishes 6 evaluations.",
        "repos": ("one",),
        "query": "SELECT evals FROM reconciliation",
        "expect": 6,
        "commits": {},
    }
    return Claim(**{**base, **values})


class Answers:
    """Tables that give one value, whatever is asked."""

    def __init__(self, value: Any, names: set[str] | None = None, **rows: Any) -> None:
        self._value, self._rows = value, rows
        self.names = {"reconciliation"} if names is None else names

    def used(self, query: str) -> set[str]:
        if query == "refused":
            raise RefusedQueryError("not one SELECT")
        return set(re.findall(r"FROM (\w+)", query))

    def value(self, query: str) -> Any:
        return self._value

    def rows(self, name: str) -> list[Any]:
        return list(self._rows.get(name, []))


SCOPE = Scope(
    {"demo/one": COMMIT, "demo/two": None, "demo/three": "f" * 40},
    frozenset({"demo/three"}),
    {"demo/one": frozenset({"h1"})},
)


def status(made: Claim, value: Any = 6, scope: Scope = SCOPE, **asked: Any) -> tuple[Any, ...]:
    (row,) = claims.check([made], Answers(value, **asked), scope)
    tables.build("claims", [row], {})
    return row["status"], row["reason"], row["observed"]


# -- the shipped file -----------------------------------------------------------------------------------


def test_there_are_many_claims_of_both_kinds_and_of_several_sources() -> None:
    assert len(SHIPPED) >= 60
    kinds = Counter(item.kind for item in SHIPPED)
    assert kinds["invariant"] >= 20
    assert {"audit page", "paper", "README"} <= {
        re.split(r"[ ,(]*(?:,| \(| of )", c.source)[0] for c in SHIPPED
    }


@pytest.mark.parametrize("item", SHIPPED, ids=lambda item: item.id)
def test_every_shipped_query_is_one_value_over_known_tables(item: Claim, nothing: Tables) -> None:
    """On empty tables it gives a count of nothing, or nothing to check; and no invariant fails there
    unless it says that something must be there.
    """
    assert tables_named(item.query)
    value = nothing.value(item.query)
    assert value is None or isinstance(value, bool | int | float | str)
    if item.kind == "invariant" and value is not None:
        assert item.met(value) or value == 0


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("nothing")
    for name in tables.SPECS:
        tables.write(folder / f"{name}.parquet", name, [], {})
    return Tables(folder, tables.SPECS)


def test_the_shipped_claims_name_members_of_the_family() -> None:
    family = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["family"]
    known = {spec["repo"] for spec in family} | {spec["repo"].split("/")[1] for spec in family}
    assert {name for item in SHIPPED for name in item.repos} <= known


def test_claims_about_one_owner_alone_are_about_the_real_one() -> None:
    """What carries over to no invented family, so that it cannot drift there."""
    bound = [item for item in SHIPPED if any("/" in name for name in item.repos)]
    assert {name.split("/")[0] for item in bound for name in item.repos} == {"latchbio"}
    assert all(item.kind == "observation" for item in bound)


# -- statuses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "value", "expected"),
    [
        (claim(), 6, ("holds", None, "6")),
        (claim(), 7, ("drifted", None, "7")),
        (claim(commits={"one": "78f25fc"}), 7, ("drifted", "other_commit", "7")),
        (claim(commits={"one": "4a7d2b0"}), 7, ("fails", "at_the_commit_it_names", "7")),
        (claim(kind="invariant"), 6, ("holds", None, "6")),
        (claim(kind="invariant"), 7, ("fails", None, "7")),
        (claim(kind="invariant", commits={"one": "78f25fc"}), 7, ("fails", None, "7")),
        (claim(), None, ("not_checked", "nothing_to_check", None)),
        (claim(query="refused"), 6, ("not_checked", "query_refused", None)),
        (claim(query="FROM handles"), 6, ("not_checked", "table_missing_handles", None)),
        (claim(repos=("four",)), 6, ("not_checked", "not_in_this_audit", None)),
        (claim(repos=("latchbio/one",)), 6, ("not_checked", "not_in_this_audit", None)),
        (claim(repos=("demo/one",)), 6, ("holds", None, "6")),
        (claim(repos=("one", "two")), 6, ("not_checked", "repository_not_read", None)),
        (claim(repos=("three",)), 6, ("not_checked", "repository_not_read", None)),
    ],
    ids=["holds", "drifted", "other-commit", "same-commit", "invariant", "invariant-fails",
         "invariant-elsewhere", "null", "refused", "no-table", "unknown", "other-owner", "owner",
         "unpinned", "unread"],
)  # fmt: skip
def test_statuses(made: Claim, value: Any, expected: tuple[Any, ...]) -> None:
    assert status(made, value) == expected


def test_a_name_of_two_repositories_means_neither() -> None:
    twice = Scope({"demo/one": COMMIT, "other/one": COMMIT}, frozenset(), {})
    assert status(claim(), scope=twice)[:2] == ("not_checked", "name_is_ambiguous")
    assert status(claim(repos=("other/one",)), scope=twice)[0] == "holds"


@pytest.mark.parametrize(
    ("rows", "open_"),
    [
        ([{"handle": "h1", "status": "unknown"}], True),
        ([{"handle": "h1", "status": "throttled"}], True),
        ([{"handle": "h1", "status": "refused"}], False),
        ([{"handle": "h2", "status": "unknown"}], False),
        ([{"repo": "demo/one", "status": "stalled"}], True),
        ([{"repo": "demo/three", "status": "unknown"}], False),
    ],
    ids=["unknown", "throttled", "refused", "another-repository's", "row-of-repo", "other-repo"],
)
def test_what_stayed_unknown_is_never_counted(rows: list[Any], open_: bool) -> None:
    """Law 3: a number over unknown rows proves and disproves nothing, even when it happens to fit."""
    names = {"handles"}
    for value in (6, 7):
        found = status(claim(query="FROM handles"), value, names=names, handles=rows)
        assert (found[:2] == ("not_checked", "not_all_known_handles")) is open_


@pytest.mark.parametrize("table", ["objects", "contents", "files", "runnable"])
def test_what_lacks_because_the_signer_was_not_reached_is_not_counted(table: str) -> None:
    """A handle that stayed unknown has no row among the objects: none is not nothing."""
    names = {table, "handles"}
    rows = [{"handle": "h1", "status": "unknown"}]
    made = claim(kind="invariant", query=f"FROM {table}")
    found = status(made, 0, names=names, handles=rows)
    assert found[:2] == ("not_checked", "not_all_known_handles")
    assert claims.tables_of([made], Answers(1).used) >= names


@pytest.mark.parametrize(
    ("expect", "value", "met"),
    [
        (6, 6, True), (6, 6.0, True), (6, "6", False), (1, True, False), (True, True, True),
        (True, 1, False), (0.1, 0.1 + 1e-12, True), (0.1, 0.1001, False), ("a", "a", True),
        ({"at_least": 1}, 1, True), ({"at_least": 1}, 0, False), ({"at_least": 1}, True, False),
        ({"at_most": 1}, 1, True), ({"at_most": 1}, 2, False), ({"at_most": 1}, "0", False),
        ({"between": [1, 2]}, 2, True), ({"between": [1, 2]}, 2.1, False),
    ],
)  # fmt: skip
def test_expectations(expect: Any, value: Any, met: bool) -> None:
    assert claim(expect=expect).met(value) is met


def test_expectations_are_shown_in_words() -> None:
    shown = [
        claim(expect=e).expected for e in (6, 0.5, True, "a", {"at_least": 1}, {"between": [1, 2]})
    ]
    assert shown == ["6", "0.5", "true", "a", "at least 1", "1 to 2"]


def test_sources_that_disagree_stand_side_by_side() -> None:
    made = [
        claim(id="b", topic="size", as_of="2026-02-11", expect=394),
        claim(id="a", topic="size", expect=195),
        claim(id="c", topic="agreed"),
        claim(id="d", topic="agreed"),
        claim(id="e"),
    ]
    rows = claims.check(made, Answers(195), SCOPE)
    assert {
        topic: [row["claim_id"] for row in said]
        for topic, said in claims.side_by_side(rows).items()
    } == {"size": ["b", "a"]}


def test_a_refused_query_is_told_to_whoever_runs_it() -> None:
    told: list[str] = []
    claims.check([claim(query="refused"), claim()], Answers(6), SCOPE, told.append)
    assert told == ["claim one.evals: its query is refused: not one SELECT"]


def test_tables_of_refused_queries_are_not_needed() -> None:
    made = [claim(query="FROM runs"), claim(query="refused")]
    assert claims.tables_of(made, Answers(1).used) == {"runs"}


# -- the file -------------------------------------------------------------------------------------------

GOOD = {
    "id": "one.evals",
    "kind": "observation",
    "as_of": "2026-08-28",
    "source": "a page",
    "says": "One publishes\n 6 evaluations.",
    "repos": ["one"],
    "query": "SELECT 1",
    "expect": 6,
}


def write(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "claims.yaml"
    path.write_text(value if isinstance(value, str) else yaml.safe_dump(value))
    return path


def test_a_file_is_read_sorted_and_tidied(tmp_path: Path) -> None:
    found = claims.load(write(tmp_path, {"claims": [GOOD, {**GOOD, "id": "a.b"}]}))
    assert [item.id for item in found] == ["a.b", "one.evals"]
    assert found[0].says == "One publishes 6 evaluations."
    unquoted = "claims:\n- " + "\n  ".join(
        ["id: a.b", "kind: invariant", "as_of: 2026-08-28", "source: s", "says: x", "repos: [one]",
         "query: SELECT 1", "expect: true"]
    )  # fmt: skip
    (item,) = claims.load(write(tmp_path, unquoted))
    assert (item.as_of, item.expect) == ("2026-08-28", True)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("claims: [", "line 1"),
        ("[1]", "takes a key `claims`"),
        ({"claims": {}}, "takes a key `claims`"),
        ({"claims": [], "claim": []}, "`claim` is not a key"),
        ({"claims": [1]}, "claim 1 takes keys"),
        ({"claims": [{**GOOD, "quary": 1}]}, "`quary` is not a key"),
        ({"claims": [{k: v for k, v in GOOD.items() if k != "expect"}]}, "`expect` is missing"),
        ({"claims": [GOOD, GOOD]}, "stands there twice"),
        ({"claims": [{**GOOD, "id": "A b"}]}, "`id` takes"),
        ({"claims": [{**GOOD, "kind": "guess"}]}, "`kind` takes"),
        ({"claims": [{**GOOD, "as_of": "soon"}]}, "`as_of` takes"),
        ({"claims": [{**GOOD, "repos": []}]}, "`repos` takes"),
        ({"claims": [{**GOOD, "repos": "one"}]}, "`repos` takes"),
        ({"claims": [{**GOOD, "query": 5}]}, "take text"),
        ({"claims": [{**GOOD, "commits": {"two": "4a7d2b0"}}]}, "`commits` maps"),
        ({"claims": [{**GOOD, "commits": {"one": 4000000}}]}, "`commits` maps"),
        ({"claims": [{**GOOD, "expect": None}]}, "`expect` takes"),
        ({"claims": [{**GOOD, "expect": {"above": 1}}]}, "`expect` takes"),
        ({"claims": [{**GOOD, "expect": {"between": [1]}}]}, "`expect` takes"),
        ({"claims": [{**GOOD, "expect": {"at_least": True}}]}, "`expect` takes"),
        ({"claims": [{**GOOD, "topic": 3}]}, "`topic` takes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, value: Any, said: str) -> None:
    with pytest.raises(ConfigError) as told:
        claims.load(write(tmp_path, value))
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_a_missing_file_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="claims: "):
        claims.load(tmp_path / "claims.yaml")


def test_a_day_that_is_none_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not readable as YAML"):
        claims.load(write(tmp_path, "claims:\n- {as_of: 2026-02-30}\n"))


def test_a_comment_in_a_query_ends_with_its_line(tmp_path: Path) -> None:
    value = {"claims": [{**GOOD, "query": "SELECT 1 -- one\n + 5"}]}
    (item,) = claims.load(write(tmp_path, value))
    assert item.query == "SELECT 1 -- one\n + 5"
