"""How a run behaves: killed, doubled, cut off, edited, moved, offline, misconfigured."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchproof import tables
from benchproof.report.dictionary import STATUSES
from conftest import DAY, ROOT, Bench, content, kill_group, settings
from family import Family, RepoTree, build_family, write_repo
from upstream import Upstream

pytestmark = pytest.mark.workflow


def wait_for(path: Path, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.05)


@pytest.fixture
def finished(bench: Bench, audited: Callable[..., Path]) -> Bench:
    """A bench whose date is finished, by the same configuration and through another upstream."""
    bench.go_on_from(audited())
    return bench


@pytest.mark.parametrize("stage", ["pins.parquet", "runs.parquet"])
def test_a_killed_run_is_taken_over_without_a_hand(bench: Bench, stage: str) -> None:
    """SIGKILL leaves a lock, an incomplete mark and orphans; the next plain run goes on (BR-49)."""
    process = bench.start()
    wait_for(bench.out / stage)
    kill_group(process)
    assert (bench.vault / "lease.json").exists()
    bench.audit()
    assert json.loads((bench.out / "seal.json").read_text())["complete"]
    assert not list(bench.folder.rglob("*.part"))


def test_a_run_started_from_another_folder_gives_its_lease_back(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With --directory, Snakemake works in one folder and ends in the other."""
    bench.cwd = tmp_path_factory.mktemp("elsewhere")
    bench.audit("pin")
    assert bench.rows("pins")
    assert not (bench.vault / "lease.json").exists()
    assert not list(bench.cwd.iterdir())


def test_a_second_run_leaves_at_once_and_touches_nothing(bench: Bench, upstream: Upstream) -> None:
    upstream.add("latency", "git", seconds=1.5)
    process = bench.start("pin")
    wait_for(bench.vault / "lease.json")
    before = {p: p.stat().st_mtime_ns for p in bench.folder.rglob("*.json")}
    second = bench.run()
    assert second.returncode == 75, second.stdout[-2000:]
    assert "another run holds" in second.stdout.splitlines()[-1]
    assert all(
        p.stat().st_mtime_ns == when for p, when in before.items() if p.name != "settings.json"
    )
    assert process.wait(timeout=120) == 0
    assert not (bench.vault / "lease.json").exists()


def test_what_stayed_unknown_is_asked_again_and_nothing_else(
    bench: Bench, upstream: Upstream
) -> None:
    """A repository that could not be reached is unknown, not missing; the next run asks for it alone."""
    fault = upstream.add("status", "git/demo/scbench.git", status=503)
    output = bench.audit()
    assert "INCOMPLETE" in output
    pins = {row["repo"]: row for row in bench.rows("pins")}
    assert (pins["demo/scbench"]["status"], pins["demo/scbench"]["reason"]) == (
        "unknown",
        "server_error",
    )
    assert pins["demo/epibench"]["status"] == "ok"
    assert not (bench.out.parent / "latest").exists()
    pending = bench.cli("pending")
    assert pending.returncode == 20
    assert "demo/scbench" in pending.stdout
    upstream.faults.remove(fault)
    upstream.log.reset()
    bench.audit()
    asked = {
        record.path.split("/")[3].removesuffix(".git") for record in upstream.log.requests("git")
    }
    assert asked == {"scbench"}
    assert {row["status"] for row in bench.rows("pins")} == {"ok"}
    assert (bench.out.parent / "latest").exists()
    assert "Nothing to be done" in bench.audit()


def test_a_fetch_that_breaks_after_the_pin_is_asked_again(bench: Bench, upstream: Upstream) -> None:
    """The pin is known, its content is not: the row says so, and the next run brings it."""
    fault = upstream.add("reset", "POST /git/demo/variantbench.git/git-upload-pack", after=2)
    assert "INCOMPLETE" in bench.audit()
    row = next(r for r in bench.rows("reconciliation") if r["repo"] == "demo/variantbench")
    assert (row["status"], row["evals"]) == ("not_read", None)
    upstream.faults.remove(fault)
    bench.audit()
    assert {r["status"] for r in bench.rows("reconciliation")} == {"ok"}


def test_pins_are_recorded_once_per_date(tmp_path: Path) -> None:
    """Upstream moves: the date keeps its commits, the next date sees the new ones."""
    root = tmp_path / "upstream"
    tree = RepoTree()
    tree.put("README.md", b"first\n")
    path = root / "demo" / "one.git"
    write_repo(path, [tree])
    with Upstream(root) as upstream:
        endpoints = upstream.endpoints()
        member = {"repo": "demo/one", "ref": "main", "evals": "evals", "runs": "trajectories"}
        base = {
            "date": DAY,
            "family": [member],
            "endpoints": endpoints,
            "results": "r",
            "resources": "v",
        }
        bench = Bench(tmp_path, base)
        bench.audit()
        first = bench.rows("pins")[0]["commit_sha"]
        moved = tree.clone()
        moved.put("README.md", b"second\n")
        shutil.rmtree(path)
        write_repo(path, [tree, moved])
        shutil.rmtree(bench.out)
        bench.audit()
        assert bench.rows("pins")[0]["commit_sha"] == first
        upstream.log.reset()
        bench.settings["date"] = "2026-01-22"
        bench.audit()
        assert bench.rows("pins")[0]["commit_sha"] != first
        assert f"Changed since {DAY}: commits of one" in (bench.out / "summary.md").read_text()


def test_a_later_date_with_unmoved_commits_costs_one_ls_remote_each(
    finished: Bench, upstream: Upstream
) -> None:
    finished.settings["date"] = "2026-01-22"
    finished.audit()
    assert len(upstream.log.requests("git")) == 2 * len(finished.rows("pins"))
    assert "no commit moved since" in (finished.out / "summary.md").read_text()


def test_a_finished_date_is_not_rewritten_by_other_config(finished: Bench) -> None:
    """Law 9: refused with what differs and what to do; not a byte changes."""
    before = content(finished.out)
    finished.settings["notice"] = "another notice"
    done = finished.run()
    assert done.returncode == 1
    assert "is finished and was made with other config" in done.stdout.splitlines()[-1]
    assert content(finished.out) == before


def test_an_edit_of_the_library_reaches_results_and_no_pin(tmp_path: Path, bench: Bench) -> None:
    """An edited module makes its rules run again on an unfinished date; a finished date is refused."""
    copy = tmp_path / "copy"
    for name in ("rules", "scripts", "config", "envs", "profiles"):
        shutil.copytree(ROOT / name, copy / name)
    shutil.copy(ROOT / "Snakefile", copy)
    bench.audit("-s", str(copy / "Snakefile"), "regrade")
    pins = (bench.out / "pins.parquet").read_bytes()
    module = copy / "scripts" / "benchproof" / "analysis" / "runs.py"
    module.write_text(module.read_text() + "\n# edited\n")
    planned = bench.audit("-s", str(copy / "Snakefile"), "-n", "regrade")
    assert "regrade_runs" in planned
    for untouched in ("pin_commits", "mirror_content", "list_trees"):
        assert untouched not in planned
    bench.audit("-s", str(copy / "Snakefile"))
    assert (bench.out / "pins.parquet").read_bytes() == pins
    sealed = content(bench.out)
    module.write_text(module.read_text() + "\n# edited again\n")
    refused = bench.run("-s", str(copy / "Snakefile"))
    assert refused.returncode == 1
    assert "made with other code" in refused.stdout.splitlines()[-1]
    assert content(bench.out) == sealed


def test_offline_derives_from_the_vault_alone(finished: Bench, upstream: Upstream) -> None:
    kept = content(finished.out)
    shutil.rmtree(finished.out)
    finished.audit("--config", "offline=true")
    assert content(finished.out) == kept
    assert not upstream.log.requests()


def test_without_a_network_a_run_ends_quickly_and_says_what_works(tmp_path: Path) -> None:
    """Nothing listens: every repository is unknown, within 20 seconds, and the screen says what to do.

    A day without a single readable repository writes the same columns (BR-44).
    """
    nowhere = "http://127.0.0.1:9"
    endpoints = {"git": nowhere, "github_api": nowhere, "github_raw": nowhere, "signer": nowhere}
    bench = Bench(
        tmp_path,
        {
            "date": DAY,
            "endpoints": {**endpoints, "storage": [nowhere]},
            "results": "results",
            "resources": "resources",
        },
    )
    began = time.monotonic()
    output = bench.audit()
    assert time.monotonic() - began < 40
    assert "INCOMPLETE" in output
    assert "make demo" in output
    assert {row["reason"] for row in bench.rows("pins")} == {"refused"}
    for name in tables.SPECS:
        assert isinstance(bench.rows(name), list)


@pytest.mark.parametrize("source", ["git", "github"])
def test_each_fate_of_a_repository_is_a_row_and_the_others_go_on(
    tmp_path: Path, small_family: Family, source: str
) -> None:
    """Renamed, deleted, private and empty repositories (BR-21)."""
    write_repo(tmp_path / "up" / "demo" / "empty.git", [])
    for info in small_family.repos.values():
        target = tmp_path / "up" / f"{info.repo}.git"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(small_family.root / f"{info.repo}.git")
    with Upstream(tmp_path / "up") as upstream:
        upstream.rename("demo/epibench", "demo/scbench-long")
        upstream.add("gone", "demo/variantbench")
        upstream.add("private", "demo/spatialbench-long")
        names = ("scbench", "epibench", "variantbench", "spatialbench-long", "empty")
        family = [
            {"repo": f"demo/{n}", "ref": "main", "evals": "evals", "runs": "trajectories"}
            for n in names
        ]
        bench = Bench(tmp_path, settings(small_family, upstream, family=family, source=source))
        bench.audit(f"results/{DAY}/findings.parquet")
        found = {row["repo"].split("/")[1]: row["status"] for row in bench.rows("pins")}
        private = "private" if source == "git" else "missing"
        assert found == {
            "scbench": "ok",
            "epibench": "renamed",
            "variantbench": "missing",
            "spatialbench-long": private,
            "empty": "empty",
        }
        renamed = next(r for r in bench.rows("pins") if r["status"] == "renamed")
        assert renamed["resolved_repo"] == "demo/scbench-long"
        lost = {r["rule"] for r in bench.rows("findings") if r["severity"] == "critical"}
        assert "repository_lost" in lost


def test_only_narrows_the_audit(bench: Bench, upstream: Upstream) -> None:
    """As a scalar, as a list on the command line and in a file."""
    bench.audit("pin", "--config", "only=scbench")
    assert [row["repo"] for row in bench.rows("pins")] == ["demo/scbench"]
    bench.settings["date"] = "2026-01-16"
    bench.audit("pin", "--config", "only=[scbench,epibench]")
    assert [row["repo"] for row in bench.rows("pins")] == ["demo/epibench", "demo/scbench"]


@pytest.mark.parametrize("written", ["2026-01-15", '"2026-01-15"', "'2026-01-15'"])
def test_dates_may_be_quoted_or_not(bench: Bench, written: str) -> None:
    path = bench.folder / "dated.yaml"
    path.write_text(f"date: {written}\n")
    planned = bench.audit("-n", "--configfile", str(bench.folder / "settings.json"), str(path))
    assert f"results/{DAY}/pins.parquet" in planned


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("dat", "2026-01-15", "`dat` is not a key; did you mean `date`?"),
        ("date", "15.1.2026", "`date` is '15.1.2026'; it takes a UTC day written YYYY-MM-DD"),
        ("family", [{"repo": "scbench", "ref": "main", "evals": "e", "runs": "t"}], "owner/name"),
        ("http", {"connections": "many"}, "`http.connections` is 'many'; it takes a whole number"),
        ("offline", "perhaps", "`offline` is 'perhaps'; it takes true or false"),
    ],
)
def test_a_wrong_config_is_one_line_before_anything_is_fetched(
    bench: Bench, upstream: Upstream, key: str, value: object, said: str
) -> None:
    bench.settings[key] = (
        {**bench.settings.get(key, {}), **value} if isinstance(value, dict) else value
    )
    done = bench.run()
    assert done.returncode == 1
    lines = [line for line in done.stdout.splitlines() if "config" in line and said in line]
    assert lines == [done.stdout.splitlines()[-1]]
    assert "Traceback" not in done.stdout
    assert not upstream.log.requests()
    assert not bench.out.exists()


def test_a_planted_value_stops_the_publication(bench: Bench, small_family: Family) -> None:
    """The guard: a graded value in a log is found by place, and nothing is published (law 2)."""
    bench.audit("--until", "write_report")
    canary = next(v.text for v in small_family.graded_values if v.kind == "canary")
    (bench.out / "logs" / "stray.log").write_text(f"debug: {canary}\n")
    done = bench.run()
    assert done.returncode == 1
    last = done.stdout.splitlines()[-1]
    assert "seal_report failed" in last
    assert "stray.log" in last
    assert canary not in done.stdout
    assert not (bench.out / "report.html").exists()
    assert not (bench.out / "seal.json").exists()


def test_a_failed_job_has_the_last_word_and_the_others_finish(
    bench: Bench, upstream: Upstream
) -> None:
    """Bytes that don't hash to their id stop the job; nothing that looks finished is left (law 1)."""
    bench.audit("mirror_content")
    archive = next((bench.vault / "content").rglob("*.zip"))
    archive.write_bytes(archive.read_bytes()[:-100])
    done = bench.run()
    assert done.returncode == 1
    last = done.stdout.splitlines()[-1]
    assert last.startswith("benchproof: ")
    assert "damaged" in last
    assert not (bench.out / "seal.json").exists()


def test_purge_names_what_it_would_delete_and_keeps_what_a_report_needs(finished: Bench) -> None:
    finished.command()
    assert (done := finished.cli("purge")).stdout == "Nothing to delete.\n", done.stderr
    asked = finished.cli("purge", "--report", DAY)
    assert f"results/{DAY}" in asked.stdout
    assert "Nothing was deleted" in asked.stdout
    assert finished.out.exists()
    finished.cli("purge", "--report", DAY, "--yes")
    assert not finished.out.exists()
    assert list((finished.vault / "content").rglob("*.zip"))
    finished.audit("regrade", "--config", "offline=true")


def test_a_dry_run_changes_nothing(bench: Bench, upstream: Upstream) -> None:
    planned = bench.audit("-n")
    assert "pin_commits" in planned
    assert not bench.out.exists()
    assert not upstream.log.requests()


def test_tables_open_in_pandas(finished: Bench) -> None:
    """What users open them with, in a process of its own, as an audit never imports pandas.

    Without threads: pyarrow's can abort a process that ends the moment after.
    """
    code = (
        "import sys, pandas as p; f = p.read_parquet(sys.argv[1], use_threads=False); "
        "print(len(f), list(f.columns)[:2])"
    )
    path = str(finished.out / "runs.parquet")
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{len(finished.rows('runs'))} ['repo', 'run_path']\n"


def explained_statuses(bench: Bench) -> set[str]:
    """Return the statuses of all tables; each has a meaning where it stands."""
    met: set[str] = set()
    for name in tables.SPECS:
        words = {row["status"] for row in bench.rows(name) if "status" in row}
        assert words <= STATUSES.get(name, {}).keys(), name
        met |= words
    return met


def test_variants_of_history_are_reconciled(tmp_path: Path) -> None:
    """Every manifest shape that history has, and one that nobody knows."""
    shapes = {"scbench": "d", "spatialbench": "c", "epibench": "e", "variantbench": "unknown"}
    family = build_family(tmp_path / "up", small=True, variants=shapes)
    with Upstream(family.root, family=family) as upstream:
        bench = Bench(tmp_path, settings(family, upstream))
        bench.audit()
    found = {row["repo"].split("/")[1]: row for row in bench.rows("reconciliation")}
    assert {name: found[name]["shape"] for name in shapes} == shapes
    assert found["variantbench"]["evals"] is None
    met = explained_statuses(bench)
    assert {"no_manifest", "unknown_shape"} <= met
    rules = {row["rule"]: row["severity"] for row in bench.rows("findings")}
    assert rules["manifest_shape_unknown"] == "critical"
    assert rules["manifest_missing"] == "major"


def test_hostile_members_cost_rows_not_the_run(tmp_path: Path) -> None:
    """BR-25 and BR-28: each bad id and each bad file is one row; everything else completes."""
    family = build_family(
        tmp_path / "up", small=True, variants={"scbench": "hostile_ids", "epibench": "hostile_json"}
    )
    with Upstream(family.root, family=family) as upstream:
        bench = Bench(tmp_path, settings(family, upstream), {"LC_ALL": "C"})
        bench.audit()
    evals = bench.rows("evals")
    assert any(row["status"] == "invalid_id" for row in evals + bench.rows("manifest"))
    assert any(row["status"] == "unreadable" for row in evals)
    met = explained_statuses(bench)
    assert {"invalid_id", "unreadable"} <= met
    assert not (tmp_path.parent / "x").exists()
    assert not list(tmp_path.rglob("pwned"))
