"""What scripts share: the last line of a failed log, and nothing of what failed in it."""

from __future__ import annotations

import importlib
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchproof import job, provenance, tables
from benchproof.errors import TableError
from benchproof.findings import Finding, from_json
from benchproof.http import Traffic
from benchproof.outputs import ERROR_MARK
from benchproof.sources import content, objects
from benchproof.sources.base import Entry, RepoSpec
from benchproof.vault import Vault, read_json, write_json

COMMIT = "c" * 40


class Files(dict[str, str]):
    """Named files as Snakemake hands them over: by name and by attribute."""

    __getattr__ = dict[str, str].__getitem__


@pytest.fixture
def handed(tmp_path: Path) -> Iterator[SimpleNamespace]:
    family = [
        {"repo": f"demo/{name}", "ref": "main", "evals": "evals", "runs": "runs"}
        for name in ("one", "two")
    ]
    audit = {
        "family": family,
        "resources": str(tmp_path / "vault"),
        "work": str(tmp_path / "vault" / "work"),
        "made_by": {"config": "cfg", "notice": None},
    }
    yield SimpleNamespace(
        rule="list_trees",
        input=Files(mirror=str(tmp_path / "mirror.json"), pins=str(tmp_path / "pins.parquet")),
        output=Files(tree=str(tmp_path / "tree.parquet"), findings=str(tmp_path / "findings.json")),
        params=SimpleNamespace(
            audit=audit, code="digest", settings=str(tmp_path / "settings.json")
        ),
        log=[str(tmp_path / "logs" / "x.log")],
    )
    for handler in list(job.log.handlers):
        job.log.removeHandler(handler)
        handler.close()
    job.log.setLevel(logging.NOTSET)


def fail(handed: SimpleNamespace, main: Callable[[job.Job], None]) -> str:
    with pytest.raises(SystemExit) as caught:
        job.run(main, handed)
    assert caught.value.code == 1
    return Path(handed.log[0]).read_text()


def test_an_error_of_ours_is_one_line_in_the_log(
    handed: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    def main(_: job.Job) -> None:
        raise TableError("table tree: wrong.")

    log = fail(handed, main)
    assert log.endswith(f" {ERROR_MARK}table tree: wrong.\n")
    assert log.count("\n") == 1
    assert capsys.readouterr().err == log


@pytest.mark.parametrize(
    "error",
    [
        KeyError("SECRET 42.5"),
        RecursionError("SECRET 42.5"),
        UnicodeEncodeError("utf-8", "SECRET", 0, 1, "x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_unexpected_error_says_type_and_place_alone(
    handed: SimpleNamespace, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    """Law 2: its text could quote an answer."""

    def main(task: job.Job) -> None:
        secret = "SECRET local 42.5"
        raise error from ValueError(secret)

    log = fail(handed, main)
    assert f"internal error {type(error).__name__} at " in log
    assert ".py:" in log
    assert "SECRET" not in log + capsys.readouterr().err
    assert "42.5" not in log


def test_a_good_run_leaves_a_log_without_errors(handed: SimpleNamespace) -> None:
    job.run(lambda task: job.log.info("done"), handed)
    assert ERROR_MARK not in Path(handed.log[0]).read_text()


def test_repositories_with_content_are_opened_and_the_others_named(handed: SimpleNamespace) -> None:
    data = b"{}"
    sha = objects.blob_id(data)
    entries = [Entry(b"evals/t/a.json", "100644", sha)]
    content.save(
        Vault(handed.params.audit["resources"]).content("demo/one", COMMIT), entries, [(sha, data)]
    )
    good = {"status": "ok", "reason": None, "commit_sha": COMMIT}
    bad = {"status": "unknown", "reason": "timeout", "commit_sha": None}
    write_json(Path(handed.input.mirror), {"demo/one": good, "demo/two": bad})
    task = job.Job(handed)
    assert [(r.spec.repo, r.commit_sha, len(r.evaluations)) for r in task.repositories()] == [
        ("demo/one", COMMIT, 1)
    ]
    assert task.unread() == [job.Unread("demo/two", "unknown", "timeout")]
    assert task.family[0] == RepoSpec("demo/one", "main", "evals", "runs")


def test_a_table_carries_its_provenance(handed: SimpleNamespace) -> None:
    pins = [{"repo": "demo/one", "commit_sha": COMMIT}]
    job.Job(handed).write("tree", [], pins=pins)
    about = tables.about(handed.output.tree)
    assert about == provenance.metadata(
        "tree", pins, {"config": "cfg", "notice": None, "code": "digest"}
    )


def test_findings_are_placed_at_stage_and_commit(handed: SimpleNamespace) -> None:
    job.Job(handed).note(
        [Finding("orphan", "demo/one", "a"), Finding("orphan", "demo/two", "b")],
        {"demo/one": COMMIT},
    )
    found = from_json(read_json(Path(handed.output.findings)))
    assert [(item.stage, item.commit_sha) for item in found] == [
        ("list_trees", COMMIT),
        ("list_trees", None),
    ]
    assert Path(handed.output.findings).stat().st_mode & 0o777 == 0o600


def test_traffic_of_all_runs_of_a_date_adds_up(handed: SimpleNamespace) -> None:
    task = job.Job(handed)
    for requests in (2, 3):
        traffic = Traffic()
        traffic.add("h:1", requests=requests, bytes_in=10, waited_s=0.5)
        traffic.add("a:2", requests=1)
        task.count("pin", traffic)
    rows: list[dict[str, Any]] = read_json(
        Path(handed.params.audit["work"]) / "traffic" / "pin.json"
    )
    assert [(row["host"], row["requests"], row["bytes_in"], row["waited_s"]) for row in rows] == [
        ("a:2", 2, 0, 0),
        ("h:1", 5, 20, 1.0),
    ]
    tables.build("traffic", rows, {})


def test_pandas_is_out_of_reach_of_a_script_and_back_afterwards(handed: SimpleNamespace) -> None:
    """pyarrow would import it to ask whether a list is a Series: 0.6 s a job."""
    met: list[str] = []

    def main(_: job.Job) -> None:
        try:
            importlib.import_module("pandas")
        except ModuleNotFoundError as error:
            met.append(str(error.name))

    known = {name: sys.modules.pop(name) for name in list(sys.modules) if name == "pandas"}
    finders = list(sys.meta_path)
    try:
        job.run(main, handed)
    finally:
        sys.modules.update(known)
    assert met == ["pandas"]
    assert sys.meta_path == finders


def test_jobs_of_one_stage_side_by_side_are_added_up(handed: SimpleNamespace) -> None:
    """Each part keeps a file of its own, so that none overwrites another's."""

    def main(task: job.Job) -> None:
        for part in ("1", "2"):
            traffic = Traffic()
            traffic.add("storage.test", requests=2, bytes_in=5)
            task.count("fetch", traffic, traffic, part=part)

    job.run(main, handed)
    folder = Path(handed.params.audit["work"]) / "traffic"
    assert sorted(path.name for path in folder.iterdir()) == ["fetch.1.json", "fetch.2.json"]
    rows = [row for path in folder.iterdir() for row in read_json(path)]
    total = job.added(rows)
    assert [(r["stage"], r["requests"], r["bytes_in"]) for r in total] == [("fetch", 8, 20)]


def test_what_stayed_open_and_what_is_shown_go_through_the_vault(handed: SimpleNamespace) -> None:
    def main(task: job.Job) -> None:
        task.left_open("probe", [("latch://1.node", "timeout")])
        task.screen("2-sizes", "8.8 MB")

    job.run(main, handed)
    work = Path(handed.params.audit["work"])
    assert read_json(work / "open" / "probe.json") == [["latch://1.node", "timeout"]]
    assert (work / "screens" / "2-sizes.txt").read_text() == "8.8 MB"


def test_a_job_that_is_done_ends_before_any_teardown(tmp_path: Path) -> None:
    """Native libraries abort a process whose threads end with it; a table that is written stays written."""
    code = (
        "import atexit, os, sys, types\n"
        "from benchproof import job\n"
        "atexit.register(os.abort)\n"
        "class Given:\n"
        "    rule = input = output = params = None\n"
        "    log = [sys.argv[1]]\n"
        "Given.__module__ = 'snakemake.iocontainers'\n"
        "job.run(lambda task: job.log.info('written'), Given())\n"
    )
    log = tmp_path / "x.log"
    environment = {"PYTHONPATH": str(provenance.SCRIPTS), "PATH": ""}
    command = [sys.executable, "-c", code, str(log)]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0
    assert "written" in log.read_text()
    assert b"written" in done.stderr
