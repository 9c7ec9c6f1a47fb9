"""A wrong configuration is one line that names the key and the remedy; a right one is frozen."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchproof import config
from benchproof.cli import DEFAULTS
from benchproof.errors import ConfigError

BASE: dict[str, Any] = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
MEMBER = {"repo": "demo/one", "ref": "main", "evals": "evals", "runs": "runs"}
ENDPOINTS = BASE["endpoints"]


@pytest.fixture(autouse=True, scope="module")
def schema() -> Iterator[None]:
    """Read the schema once: PyYAML takes longer than everything else here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "_schema", functools.cache(config._schema))
        yield


def load(**changes: Any) -> config.Config:
    """Load the defaults with some keys changed; `a__b` is a nested key."""
    raw = copy.deepcopy(BASE)
    for key, value in changes.items():
        *parents, last = key.split("__")
        place = raw
        for name in parents:
            place = place[name]
        place[last] = value
    return config.load(raw, "2026-01-15")


def refused(**changes: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load(**changes)
    line = str(caught.value)
    assert line.startswith("config: ")
    assert len(line.splitlines()) == 1
    return line


def member(**changes: Any) -> dict[str, Any]:
    return {"family": [MEMBER | changes]}


def test_the_defaults_are_valid() -> None:
    found = load()
    assert (found.date, found.label, found.members, len(found.family)) == (
        "2026-01-15",
        "2026-01-15",
        6,
        6,
    )


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "key", "remedy"),
    [
        ({"onyl": []}, "onyl", "did you mean `only`?"),
        ({"zzz": 1}, "zzz", "known here: date, only"),
        (
            {"endpoints": ENDPOINTS | {"githubapi": "x"}},
            "endpoints.githubapi",
            "did you mean `github_api`?",
        ),
        ({"http__timeout": 5}, "http.timeout", "did you mean `timeout_s`?"),
        ({"fetch__chunk": 5}, "fetch.chunk", "did you mean `chunk_bytes`?"),
        ({"drift__fail_no": []}, "drift.fail_no", "did you mean `fail_on`?"),
        (member(eval="x"), "family[0].eval", "did you mean `evals`?"),
    ],
)
def test_a_typo_at_any_level_is_named_with_what_was_meant(
    changes: dict[str, Any], key: str, remedy: str
) -> None:
    line = refused(**changes)
    assert f"`{key}`" in line
    assert remedy in line


@pytest.mark.parametrize(
    ("changes", "key", "remedy"),
    [
        ({"date": "2026-02-30"}, "date", "YYYY-MM-DD"),
        ({"date": "2026-1-5"}, "date", "YYYY-MM-DD"),
        ({"date": "15.01.2026"}, "date", "YYYY-MM-DD"),
        ({"date": 20260115}, "date", "YYYY-MM-DD"),
        ({"date": "2026-01-15T10:00"}, "date", "YYYY-MM-DD"),
        ({"date": "２０２６-01-15"}, "date", "YYYY-MM-DD"),
        ({"date": "../../x"}, "date", "YYYY-MM-DD"),
        ({"as_of": "yesterday"}, "as_of", "YYYY-MM-DD"),
        (member(repo="scbench"), "family[0].repo", "owner/name"),
        (member(repo="a/b/c"), "family[0].repo", "owner/name"),
        (member(repo="-a/b"), "family[0].repo", "owner/name"),
        (member(repo="a/.."), "family[0].repo", "owner/name"),
        (member(repo="a/b\n"), "family[0].repo", "owner/name"),
        (member(repo="https://github.com/a/b"), "family[0].repo", "owner/name"),
        (member(repo=None), "family[0].repo", "owner/name"),
        (member(ref="-x"), "family[0].ref", "doesn't begin with -"),
        (member(ref="--upload-pack=x"), "family[0].ref", "doesn't begin with -"),
        (member(ref=""), "family[0].ref", "branch, tag or commit"),
        (member(ref="a b"), "family[0].ref", "branch, tag or commit"),
        (member(ref="main\n"), "family[0].ref", "branch, tag or commit"),
        (member(ref="a:b"), "family[0].ref", "branch, tag or commit"),
        (member(ref=1234567), "family[0].ref", "branch, tag or commit"),
        (member(evals="/evals"), "family[0].evals", "without slashes"),
        (member(runs="runs/"), "family[0].runs", "without slashes"),
        ({"family": []}, "family", "{repo, ref, evals, runs}"),
        ({"family": None}, "family", "{repo, ref, evals, runs}"),
        ({"source": "svn"}, "source", "git or github"),
        ({"offline": "perhaps"}, "offline", "true or false"),
        ({"offline": 1}, "offline", "true or false"),
        ({"http__connections": -1}, "http.connections", "from 1 to 256"),
        ({"http__connections": True}, "http.connections", "from 1 to 256"),
        ({"http__connections": "many"}, "http.connections", "from 1 to 256"),
        ({"http__timeout_s": 0}, "http.timeout_s", "more than 0"),
        ({"http__timeout_s": float("nan")}, "http.timeout_s", "more than 0"),
        ({"http__timeout_s": float("inf")}, "http.timeout_s", "more than 0"),
        ({"http__max_wait_s": -0.5}, "http.max_wait_s", "0 or more"),
        ({"http__max_wait_s": float("nan")}, "http.max_wait_s", "0 or more"),
        ({"http__tries": 1.5}, "http.tries", "from 1 to 100"),
        ({"shards": "-1"}, "shards", "from 1 to 10000"),
        ({"fetch__select": "biggest"}, "fetch.select", "smallest, all, none"),
        ({"fetch__max_total_bytes": -5}, "fetch.max_total_bytes", "0 or more"),
        (
            {"git_mirrors": {"demo/one": "ext::sh -c x"}},
            "git_mirrors.demo/one",
            "a path or an http(s)",
        ),
        ({"git_mirrors": {"demo/one": "--upload-pack=x"}}, "git_mirrors.demo/one", "a path or an"),
        ({"git_mirrors": {"demo/one": "git://h/x"}}, "git_mirrors.demo/one", "a path or an"),
        (
            {"git_mirrors": {"demo/one": "ssh://-oProxyCommand=x/y"}},
            "git_mirrors.demo/one",
            "a path or an",
        ),
        ({"git_mirrors": {"demo/one": "ssh://[x"}}, "git_mirrors.demo/one", "a path or an"),
        ({"git_mirrors": {"demo/one": "file://[x"}}, "git_mirrors.demo/one", "a path or an"),
        ({"git_mirrors": {"one": "/x"}}, "git_mirrors", "owner/name"),
        ({"git_mirrors": "/x"}, "git_mirrors", "a mapping of owner/name"),
        ({"endpoints__git": "github.com"}, "endpoints.git", "http(s) URL"),
        ({"endpoints__git": "ftp://h"}, "endpoints.git", "http(s) URL"),
        ({"endpoints__git": "https://h:99999"}, "endpoints.git", "http(s) URL"),
        ({"endpoints__git": "https://[x"}, "endpoints.git", "http(s) URL"),
        ({"endpoints__signer": "https://h/?x=1"}, "endpoints.signer", "http(s) URL"),
        ({"endpoints__git": None}, "endpoints.git", "http(s) URL"),
        ({"results": ""}, "results", "a folder"),
        ({"resources": "-x"}, "resources", "a folder"),
        ({"results": "a{b}"}, "results", "a folder"),
        ({"resources": "results", "results": "results"}, "resources", "a folder of its own"),
        ({"resources": "results/vault"}, "resources", "a folder of its own"),
        ({"notice": "x" * 300}, "notice", "one line of text"),
        ({"notice": "a\nb"}, "notice", "one line of text"),
    ],
    ids=lambda value: repr(value)[:50] if isinstance(value, dict) else None,
)
def test_a_wrong_value_names_key_and_remedy(changes: dict[str, Any], key: str, remedy: str) -> None:
    line = refused(**changes)
    assert f"`{key}`" in line
    assert remedy in line


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"http": "fast"}, "http"),
        ({"endpoints": "https://h"}, "endpoints"),
        ({"drift": 5}, "drift"),
        ({"endpoints__storage": []}, "endpoints.storage"),
        ({"only": [5]}, "only[0]"),
        ({"drift__fail_on": ["all"]}, "drift.fail_on[0]"),
        ({"family": "latchbio/scbench"}, "family"),
        ({"git_mirrors": {"one": "/x"}}, "git_mirrors"),
    ],
)
def test_what_a_key_takes_is_said_in_words(changes: dict[str, Any], key: str) -> None:
    """A nested value given as text, as --config does, gets a remedy and not the validator's own words."""
    line = refused(**changes)
    assert f"`{key}" in line
    for jargon in ("is not of type", "does not match", "is not one of", "non-empty"):
        assert jargon not in line


@pytest.mark.parametrize(
    "changes",
    [
        {"endpoints__git": "https://user:SECRET@h"},
        {"endpoints__git": "https://user:pa/SECRET@h"},
        {"endpoints__git": "https://user:pa@SECRET@h"},
        {"endpoints__git": "https://h/?token=SECRET"},
        {"endpoints__git": "https://h/#SECRET"},
        {"endpoints": "https://user:SECRET@h"},
        {"endpoints__storage": ["https://user:SECRET@h"]},
        {"git_mirrors": {"demo/one": "https://user:SECRET@h/x"}},
        {"git_mirrors": {"demo/one": "ssh://user:SECRET@h/x"}},
        {"git_mirrors": {"https://user:SECRET@h/x": "/x"}},
        {"drift": "https://user:SECRET@h"},
    ],
    ids=repr,
)
def test_no_message_repeats_a_secret(changes: dict[str, Any]) -> None:
    """Law 8: URLs with userinfo or a query are refused without being shown."""
    assert "SECRET" not in refused(**changes)


@pytest.mark.parametrize(
    "missing", ["date", "family", "http.tries", "endpoints.git", "family[0].ref"]
)
def test_a_missing_key_is_named(missing: str) -> None:
    raw = copy.deepcopy(BASE)
    place: Any = raw["family"][0] if missing.startswith("family[") else raw
    *parents, last = missing.removeprefix("family[0].").split(".")
    for name in parents:
        place = place[name]
    del place[last]
    with pytest.raises(
        ConfigError, match=rf"^config: `{missing.replace('[', '.').replace(']', '.')}` is missing"
    ):
        config.load(raw, "2026-01-15")


def test_an_unknown_key_with_a_newline_stays_one_line() -> None:
    refused(**{"a\nb": 1})


def test_a_repository_twice_is_refused_however_it_is_spelt() -> None:
    line = refused(family=[MEMBER, MEMBER | {"repo": "Demo/One", "ref": "v1"}])
    assert "`family` names demo/one twice" in line


def test_only_names_members() -> None:
    assert [spec.repo for spec in load(only=["scbench"]).family] == ["latchbio/scbench"]
    assert load(only=["scbench"]).members == 6
    names = [spec.repo for spec in load(only=["latchbio/epibench", "scbench"]).family]
    assert names == ["latchbio/scbench", "latchbio/epibench"]
    assert "did you mean `scbench`?" in refused(only=["scbnech"])
    assert "known: epibench" in refused(only=["zzz"])


# --- types that YAML or the command line lost ----------------------------------------------------


@pytest.mark.parametrize("day", ["2026-08-28", date(2026, 8, 28)], ids=["quoted", "unquoted"])
@pytest.mark.parametrize("key", ["date", "as_of"])
def test_a_date_may_be_quoted_or_not(key: str, day: object) -> None:
    assert getattr(load(**{key: day}), key) == "2026-08-28"


def test_a_time_of_day_is_not_dropped_silently() -> None:
    """2026-08-28 23:30-02:00 is another UTC day than the one that is written."""
    assert "`date`" in refused(date=datetime(2026, 8, 28, 23, 30, tzinfo=UTC))


@pytest.mark.parametrize("text", ["", "null", "None", "~", None])
def test_no_date_is_the_day_of_the_run(text: str | None) -> None:
    assert load(date=text).date == "2026-01-15"


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ({"offline": "True"}, True),
        ({"only": "scbench"}, ["scbench"]),
        ({"only": "[scbench, epibench]"}, ["scbench", "epibench"]),
        ({"only": None}, []),
        ({"shards": "4"}, 4),
        ({"http__timeout_s": "2.5"}, 2.5),
        ({"http__connections": "8"}, 8),
        ({"git_mirrors": None}, {}),
        ({"drift__fail_on": "critical,major"}, ["critical", "major"]),
        ({"notice": ""}, None),
    ],
    ids=repr,
)
def test_text_from_the_command_line_gets_its_type(changes: dict[str, Any], value: Any) -> None:
    (key,) = changes
    found: Any = load(**changes).merged
    for name in key.split("__"):
        found = found[name]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "remote",
    [
        "/srv/one.git",
        "relative/one.git",
        "https://h:8443/x.git",
        "http://[::1]:80/x",
        "file:///x",
        "ssh://git@h/x",
    ],
)
def test_a_mirror_may_be_a_path_or_a_url(remote: str) -> None:
    assert load(git_mirrors={"demo/one": remote}).merged["git_mirrors"] == {"demo/one": remote}


# --- what follows from it ------------------------------------------------------------------------


def test_as_of_names_the_folder() -> None:
    assert load(as_of="2026-08-01").label == "asof-2026-08-01"
    assert load(as_of="2026-08-01").commits == ()


WHOLE = "4a7d2b0" + "0" * 33


@pytest.mark.parametrize(
    ("given", "digits"),
    [
        (["78f25fc", WHOLE], ["78f25fc", WHOLE]),
        ("[78f25fc, scbench@4A7D2B0]", ["78f25fc", "4a7d2b0"]),
        ("78f25fc", ["78f25fc"]),
        ("latchbio/scbench@78f25fc", ["78f25fc"]),
        ([1234567], ["1234567"]),
    ],
    ids=["list", "text", "one", "one-of-a-repository", "digits-alone"],
)
def test_as_of_may_list_commits(given: object, digits: list[str]) -> None:
    found = load(as_of=given)
    assert [item.digits for item in found.commits] == digits
    assert (found.as_of, found.label) == (None, "history")


def test_a_listed_commit_is_looked_for_where_it_may_be() -> None:
    found = load(as_of=["78f25fc", "scbench@4a7d2b0"], only=["scbench", "epibench"])
    every = ("latchbio/scbench", "latchbio/epibench")
    assert [item.repos for item in found.commits] == [every, every[:1]]


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ([], "a list of commits"),
        (["78f25f"], "7 to 40 hex digits"),
        (["main"], "7 to 40 hex digits"),
        ([True], "7 to 40 hex digits"),
        (["x@y@4a7d2b0"], "7 to 40 hex digits"),
        (["4a7d2b0\n"], "7 to 40 hex digits"),
        (["4a7d2b0", "4a7d2b0"], "a list of commits"),
        (["scbnech@4a7d2b0"], "did you mean `scbench`?"),
        (["2026-08-01"], "7 to 40 hex digits"),
        ({"a": 1}, "a list of commits"),
    ],
    ids=repr,
)
def test_what_lists_no_commits_is_refused(given: object, remedy: str) -> None:
    line = refused(as_of=given)
    assert "`as_of" in line
    assert remedy in line


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"results": "elsewhere"}, True),
        ({"resources": "elsewhere"}, True),
        ({"source": "github"}, True),
        ({"endpoints__git": "https://example.org"}, True),
        ({"http__tries": 1}, True),
        ({"date": "2026-02-02"}, True),
        ({"only": ["scbench"]}, False),
        ({"as_of": "2026-08-01"}, False),
        ({"notice": "invented"}, False),
        (member(), False),
    ],
    ids=repr,
)
def test_the_digest_covers_what_content_depends_on(changes: dict[str, Any], same: bool) -> None:
    """Law 6: family, not endpoints or folders."""
    assert (load(**changes).content_digest() == load().content_digest()) is same


def test_loading_does_not_change_what_it_was_given() -> None:
    raw = copy.deepcopy(BASE) | {"only": "scbench"}
    before = copy.deepcopy(raw)
    config.load(raw, "2026-01-15")
    assert raw == before


def test_the_folders_lose_trailing_slashes() -> None:
    assert load(results="a/b/").results == "a/b"


@pytest.mark.parametrize(
    ("written", "meant"),
    [("results/", "results"), ("./results", "results"), ("a//b/../c", "a/c"), ("../r", "../r")],
)
def test_a_folder_has_one_spelling(written: str, meant: str) -> None:
    assert load(results=written).results == meant


def test_an_absolute_folder_below_the_working_one_is_the_relative_one() -> None:
    assert load(results=str(Path("results").absolute())).results == "results"
    assert load(results="/elsewhere/r").results == "/elsewhere/r"
