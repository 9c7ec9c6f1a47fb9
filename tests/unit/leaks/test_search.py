"""The search in a process of its own: what it answers, what is believed of that, and what it can't do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchproof import tables
from benchproof.errors import LeakError
from benchproof.inventory.repository import not_read
from benchproof.leaks import search
from benchproof.leaks.forms import FORMS
from benchproof.leaks.outcome import MASKED, PUBLISHING, VERIFYING, Outcome, parsed
from benchproof.leaks.surfaces import KINDS
from benchproof.sources import content
from benchproof.sources.base import Entry, RepoSpec
from benchproof.sources.objects import object_id
from benchproof.storage.sandbox import environment
from benchproof.vault import Vault

REPO, COMMIT, ANSWER = "demo/one", "c" * 40, "Zq planted answer of this family"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Vault]:
    """A report of one evaluation, and the vault that holds its answer."""
    folder = tmp_path_factory.mktemp("made")
    grader = {"type": "x", "config": {"ground_truth": {"zq_field": 42, "zq_label": ANSWER}}}
    data = json.dumps({"id": "one", "task": "Which?", "grader": grader}).encode()
    sha, vault = object_id("blob", data), Vault(folder / "vault")
    vault.create()
    entry = Entry(b"evals/t/one.json", "100644", sha, len(data))
    content.save(vault.content(REPO, COMMIT), [entry], [(sha, data)])
    report = folder / "results" / "2026-01-15"
    report.mkdir(parents=True)
    family = [{"repo": REPO, "ref": "main", "evals": "evals", "runs": "runs"}]
    (report / "config.json").write_text(json.dumps({"family": family}))
    pin = dict.fromkeys(tables.SPECS["pins"].schema.names) | {"repo": REPO, "commit_sha": COMMIT}
    tables.write(report / "pins.parquet", "pins", [pin], {})
    read = not_read(REPO, "") | {"status": "ok", "reason": None}
    tables.write(report / "reconciliation.parquet", "reconciliation", [read], {})
    return report, vault


def again(made: tuple[Path, Vault]) -> Outcome:
    found = search.again(*made)
    assert found is not None
    return found


def test_a_clean_report_is_clean_and_the_same_each_time(made: tuple[Path, Vault]) -> None:
    found = again(made)
    found.check(PUBLISHING)
    assert found.sealed() == again(made).sealed()
    assert found.sealed()["hits"] == 0
    assert found.needles >= 2
    assert list((made[1].root / "handover").iterdir()) == []


def test_leaks_are_named_by_place_and_form(
    made: tuple[Path, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never by what they are; and a name that holds a value isn't said."""
    token = "zq_invented_token_of_nobody"
    monkeypatch.setenv("GITHUB_TOKEN", token)
    leaks = {
        "case.log": f"said {ANSWER.upper()}",
        "beside.md": "| zq_field | 42 |",
        "a.json": f'["{ANSWER}"]',
        "token.log": f"url https://{token}@github.test/",
        f"{ANSWER}.md": "nothing",
    }
    for name, text in leaks.items():
        (made[0] / name).write_text(text)
    try:
        found = again(made)
    finally:
        for name in leaks:
            (made[0] / name).unlink()
    said = {hit.surface for hit in found.hits}
    assert said == {MASKED, *(str(made[0] / name) for name in list(leaks)[:-1])}
    with pytest.raises(LeakError, match="graded values stand in what would leave: ") as met:
        found.check(PUBLISHING)
    for text in (str(met.value), repr(found)):
        assert "Zq" not in text
        assert token not in text


def test_records_of_snakemake_are_searched_with_a_finished_report(
    made: tuple[Path, Vault], tmp_path: Path
) -> None:
    (tmp_path / "cnVsZQ==").write_text(json.dumps({"log": ANSWER}))
    found = search.again(*made, [tmp_path])
    assert found is not None
    assert {hit.surface for hit in found.hits} == {str(tmp_path / "cnVsZQ==")}


def test_a_run_may_say_its_own_places_whatever_the_answers_are(
    made: tuple[Path, Vault], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when it was sealed: the folder that it ran in, and its places in the vault."""
    here, log = tmp_path / ANSWER, made[0] / "logs" / "pin.log"
    here.mkdir()
    monkeypatch.chdir(here)
    log.parent.mkdir()
    log.write_text(f"reads {Path.cwd()}/config.yaml\n")
    try:
        again(made).check(PUBLISHING)
        monkeypatch.chdir(tmp_path)
        assert again(made).n_hits == 1
        work = made[1].root / "handover" / ANSWER / made[0].name
        work.mkdir(parents=True)
        again(made).check(PUBLISHING)
        work.rmdir()
        work.parent.rmdir()
    finally:
        log.unlink()
        log.parent.rmdir()


def test_a_search_that_hangs_is_ended(
    made: tuple[Path, Vault], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its archive is a pipe that nobody writes into."""
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def noted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*arguments, **options))
        return started[-1]

    vault, spec = Vault(tmp_path / "vault"), RepoSpec(REPO, "main", "evals", "runs")
    vault.create()
    archive = vault.content(REPO, COMMIT)
    archive.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(archive)
    monkeypatch.setattr(subprocess, "Popen", noted)
    asked = search.Asked(made[0], vault, ((spec, COMMIT),))
    with pytest.raises(LeakError, match=r"had no answer after .* hours and was ended\. Run again"):
        search.search(asked, tmp_path, wait_s=2.0)
    assert started[0].poll() == -signal.SIGKILL


def test_without_the_content_nothing_is_said(made: tuple[Path, Vault], tmp_path: Path) -> None:
    assert search.again(made[0], Vault(tmp_path / "empty")) is None


def test_a_search_that_fails_says_its_place_alone(made: tuple[Path, Vault]) -> None:
    archive = made[1].content(REPO, COMMIT)
    data = archive.read_bytes()
    archive.write_bytes(b"no archive")
    try:
        with pytest.raises(LeakError, match=r"failed: VaultError at content\.py:\d+\. Report"):
            again(made)
    finally:
        archive.write_bytes(data)


def message(**changes: Any) -> dict[str, Any]:
    whole = [[kind, form] for kind in KINDS for form in FORMS]
    base = {"hits": [], "unsearchable": [], "n_hits": 0, "n_unsearchable": 0, "needles": 1}
    return {
        **base,
        "surfaces": {"log": 1},
        "met": ["log"],
        "planted": whole,
        "missed": [],
        "read": ["a" * 64],
        **changes,
    }


def test_an_honest_message_is_believed() -> None:
    parsed(message(), set()).check(PUBLISHING)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_hits": "Zq planted"},
        {"n_hits": -1},
        {"n_hits": True},
        {"surfaces": {"Zq planted": 1}},
        {"surfaces": {"log": "Zq planted"}},
        {"met": ["Zq planted"]},
        {"missed": [["log", "Zq planted"]]},
        {"planted": [["Zq planted", "plain"]]},
        {"hits": [["a", "log", "Zq planted"]]},
        {"hits": [["a", "Zq planted", "plain"]]},
        {"hits": [["a", "log", "plain+Zq planted"]]},
        {"hits": None},
        {"failed": "Zq planted"},
        {"needles": None},
        {"read": ["Zq planted"]},
        {"read": [7]},
        {"read": None},
    ],
    ids=repr,
)
def test_a_message_that_says_anything_else_is_not(changes: dict[str, Any]) -> None:
    """Whatever went wrong in the process that holds the secrets, its words go nowhere."""
    wrong = message(**changes) if "failed" not in changes else changes
    with pytest.raises(LeakError, match="gave no answer") as met:
        parsed(wrong, {"a"})
    assert "Zq" not in str(met.value)


#: All but what some file systems have no room for.
_WITHOUT = [[kind, form] for kind in KINDS if kind != "extended attribute" for form in FORMS]


def test_a_place_that_is_not_there_is_not_said() -> None:
    found = parsed(message(hits=[["Zq planted", "log", "plain"]], n_hits=1), {"a"})
    assert found.hits[0].surface == MASKED


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"missed": [["log", "gzip"]]}, "missed 1 of"),
        ({"planted": [["log", "gzip"]]}, "unexercised on"),
        ({"met": ["extended attribute"], "planted": _WITHOUT}, "unexercised on"),
        (
            {"unsearchable": [["a", "log", ""]], "n_unsearchable": 1},
            "1 files can't be decoded .*: a",
        ),
        ({"hits": [["a", "log", "hex+reversed"]], "n_hits": 1}, r"1 graded .*: a \(log, hex"),
    ],
)
def test_what_is_not_proven_or_not_clean_stops_the_report(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(LeakError, match=said):
        parsed(message(**changes), {"a"}).check(PUBLISHING)


@pytest.mark.parametrize(
    "changes",
    [
        {"missed": [["log", "gzip"]]},
        {"planted": [["log", "gzip"]]},
        {"unsearchable": [["a", "log", ""]], "n_unsearchable": 1},
        {"hits": [["a", "log", "hex"]], "n_hits": 1},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_who_verifies_is_not_told_to_delete_or_publish(changes: dict[str, Any]) -> None:
    """The files may be somebody else's, and nothing would have been written."""
    with pytest.raises(LeakError) as met:
        parsed(message(**changes), {"a"}).check(VERIFYING)
    for word in ("delete", "was not written", "run again", "would leave"):
        assert word not in str(met.value)
    assert "Nothing was changed; " in str(met.value)


def test_the_searching_process_writes_nothing(tmp_path: Path) -> None:
    """Its limits refuse a file of a single byte."""
    code = (
        "import os, sys\n"
        "from benchproof.leaks import searching\n"
        "searching.limit()\n"
        "os.write(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY), b'x')"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "x")]
    done = subprocess.run(command, env=environment(), capture_output=True, check=False)
    assert b"File too large" in done.stderr
    assert (tmp_path / "x").read_bytes() == b""


def test_what_a_forger_adds_to_the_configuration_is_not_public(made: tuple[Path, Vault]) -> None:
    """Nor does it make public what stands elsewhere."""
    kept = (made[0] / "config.json").read_text()
    (made[0] / "config.json").write_text(json.dumps({**json.loads(kept), "said": ANSWER}))
    (made[0] / "x.md").write_text(ANSWER)
    try:
        places = {Path(hit.surface).name for hit in again(made).hits}
    finally:
        (made[0] / "config.json").write_text(kept)
        (made[0] / "x.md").unlink()
    assert places == {"config.json", "x.md"}


@pytest.mark.parametrize(
    "name",
    [
        "history/timeline.html",
        "history/logs/draw_history.log",
        "status.json",
        "status.json.damaged",
        "2026-01-15/.nfs00000000deadbeef00000001",
    ],
)
def test_what_is_made_beside_a_report_is_searched(made: tuple[Path, Vault], name: str) -> None:
    place = made[0].parent / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f'{{"torn": "{ANSWER}')
    try:
        found = again(made)
    finally:
        place.unlink()
    assert {hit.surface for hit in found.hits} == {str(place)}
    assert found.n_unsearchable == 0


def test_the_timeline_of_a_repository_is_searched(made: tuple[Path, Vault]) -> None:
    place = made[0].parent / "history" / "demo+one" / "timeline.parquet"
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"a": [ANSWER]}), place)
    try:
        found = again(made)
    finally:
        place.unlink()
    assert {hit.surface for hit in found.hits} == {str(place)}


def test_signed_links_are_those_of_the_label_and_of_nothing_else(tmp_path: Path) -> None:
    """A folder may be called anything; a label leads nowhere else."""
    kept = Vault(tmp_path).root / "observed" / "2026-01-15" / "links.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    assert search.links(Vault(tmp_path), "2026-01-15") == [kept]
    for label in ("*", "..", "../observed", "2026-01-1[0-9]", ""):
        assert search.links(Vault(tmp_path), label) == []
