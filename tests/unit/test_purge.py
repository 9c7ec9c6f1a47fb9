"""What may be deleted, and what never is."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchproof import config, tables
from benchproof.cli import DEFAULTS
from benchproof.errors import BenchproofError, ConfigError, TableError
from benchproof.purge import doomed, outdated, referring, remove, superseded
from benchproof.vault import BlobStore, Vault, private_folder, write_json

OLD, NEW, GONE = "a" * 40, "b" * 40, "c" * 40


class Bench:
    """Two reports of one repository, and a vault that holds more than they need."""

    def __init__(self, folder: Path) -> None:
        raw: dict[str, Any] = copy.deepcopy(yaml.safe_load(DEFAULTS.read_text(encoding="utf-8")))
        raw |= {"results": str(folder / "results"), "resources": str(folder / "vault")}
        self.config, self.vault = config.load(raw, "2026-01-15"), Vault(folder / "vault")
        self.results = folder / "results"
        for day, commit in (("2026-01-01", OLD), ("2026-01-02", NEW)):
            row = dict.fromkeys(tables.SPECS["pins"].schema.names) | {
                "repo": "demo/one",
                "commit_sha": commit,
            }
            tables.write(self.results / day / "pins.parquet", "pins", [row], {})
            write_json(self.vault.work(str(self.results), day) / "mirror.json", {})
        for commit in (OLD, NEW, GONE):
            write_json(self.vault.content("demo/one", commit), "content")
        for repo in ("demo/one", "demo/gone"):
            private_folder(self.vault.mirror(repo))
            private_folder(self.vault.history(repo))
        (self.results / "latest").symlink_to("2026-01-02")

    def doomed(self, report: str | None = None) -> set[str]:
        root = self.results.parent
        return {str(path.relative_to(root)) for path, _ in doomed(self.vault, self.config, report)}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_what_no_report_needs_goes(bench: Bench) -> None:
    assert bench.doomed() == {
        f"vault/content/demo+one/{GONE}.zip",
        "vault/mirrors/demo+gone.git",
        "vault/history/demo+gone.git",
    }


def test_what_a_record_of_the_vault_names_stays(bench: Bench) -> None:
    """Pins are the only record of what a date audited; as_of records name no report folder of a date."""
    record = {"repo": "demo/one", "commit_sha": GONE}
    write_json(bench.vault.pin_record("asof-2025-01-01", "demo/one", "main"), record)
    write_json(
        bench.vault.pin_record("2026-01-03", "demo/gone", "main"),
        {"repo": "demo/gone", "commit_sha": None},
    )
    assert f"vault/content/demo+one/{GONE}.zip" not in bench.doomed()
    assert not any(path.startswith("vault/pins") for path in bench.doomed())


def test_what_a_past_commit_was_made_from_stays(bench: Bench) -> None:
    row = dict.fromkeys(tables.SPECS["pins"].schema.names) | {
        "repo": "demo/gone",
        "commit_sha": GONE,
    }
    path = bench.results / "history" / "demo+gone" / GONE / "pins.parquet"
    tables.write(path, "pins", [row], {})
    assert not any("demo+gone" in item for item in bench.doomed())


def test_blobs_that_came_one_by_one_go_as_well(bench: Bench) -> None:
    BlobStore(bench.vault).put("ab" * 20, b"x")
    assert any(path.startswith("vault/objects") for path in bench.doomed())


def test_snapshots_and_peeks_that_no_report_names_go(bench: Bench) -> None:
    """They are what fills a disk; what a report names can be verified, and a fetch goes on where it was."""
    row = dict.fromkeys(tables.SPECS["objects"].schema.names) | {
        "handle": "latch://1.node",
        "status": "ok",
        "size_bytes": 9,
        "etag": "aaa",
        "container": "hdf5",
        "checked_at": datetime(2026, 1, 1, tzinfo=UTC),
    }
    tables.write(bench.results / "2026-01-01" / "objects.parquet", "objects", [row], {})
    row = dict.fromkeys(tables.SPECS["files"].schema.names) | {
        "handle": "latch://1.node",
        "status": "ok",
        "path": "snapshots/1/newer.h5ad",
        "checked_at": datetime(2026, 1, 1, tzinfo=UTC),
    }
    tables.write(bench.results / "2026-01-01" / "files.parquet", "files", [row], {})
    entry = {"handle": "latch://2.node", "etag": "bbb", "size_bytes": 9, "last_modified": None}
    elsewhere = bench.vault.work("other/results", "2026-01-01") / "selection.json"
    write_json(elsewhere, {"parts": {"2": [entry]}})
    kept = {
        "snapshots/1/aaa.h5ad",
        "snapshots/1/aaa.h5ad.json",
        "snapshots/1/aaa.x-1-2-3.part/data",
    }
    kept |= {"snapshots/1/newer.h5ad", "snapshots/2/bbb.h5ad", "peeks/1/aaa.1.json"}
    gone = {"snapshots/1/old.h5ad", "snapshots/1/old.h5ad.json", "snapshots/2/aaa.h5ad"}
    gone |= {"peeks/1/old.1.json", "snapshots/3/aaa.h5ad"}
    for name in (
        kept | gone | {"snapshots/1/old.x-1-2-3.part/data", "observed/2020-01-01/probe.1.jsonl"}
    ):
        write_json(bench.vault.root / name, {})
    found = {
        name for name in bench.doomed() if name.startswith(("vault/snap", "vault/pe", "vault/ob"))
    }
    assert found == {f"vault/{name}" for name in gone | {"snapshots/1/old.x-1-2-3.part"}}
    (bench.results / "2026-01-01" / "objects.parquet").write_text("x")
    with pytest.raises(TableError, match="Nothing was deleted"):
        bench.doomed()


def test_a_report_goes_with_its_hand_overs(bench: Bench) -> None:
    found = bench.doomed("2026-01-01")
    assert "results/2026-01-01" in found
    assert "results/latest" not in found
    assert len(found) == 2
    assert "results/latest" in bench.doomed("2026-01-02")


@pytest.mark.parametrize(
    "report", ["", ".", "..", "latest", "2026-01-09", "../vault", "/", "2026-01-01/logs"]
)
def test_only_a_report_by_its_name_can_go(bench: Bench, report: str) -> None:
    """An empty name, as an unset variable of a shell gives, must not mean the rest of the vault."""
    with pytest.raises(ConfigError):
        bench.doomed(report)


@pytest.mark.parametrize("name", ["history", "drift", "demo", ".git"])
def test_a_folder_that_is_no_report_stays(bench: Bench, name: str) -> None:
    (bench.results / name / "2026-01-01").mkdir(parents=True)
    with pytest.raises(ConfigError, match=name):
        bench.doomed(name)


@pytest.mark.parametrize("harmed", ["report", "record"])
def test_what_cannot_be_read_stops_it(bench: Bench, harmed: str) -> None:
    """Better nothing deleted than something that is needed."""
    record = bench.vault.pin_record("2026-01-01", "demo/one", "main")
    write_json(record, {"repo": "demo/one", "commit_sha": None})
    {"report": bench.results / "2026-01-01" / "pins.parquet", "record": record}[harmed].write_text(
        "{"
    )
    with pytest.raises(BenchproofError):
        bench.doomed()


def test_an_unreadable_report_says_that_nothing_was_deleted(bench: Bench) -> None:
    (bench.results / "2026-01-01" / "pins.parquet").write_text("x")
    with pytest.raises(TableError, match="Nothing was deleted"):
        bench.doomed()


def test_removing_follows_no_link(bench: Bench, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    (bench.results / "2026-01-02" / "link").symlink_to(kept)
    remove(path for path, _ in doomed(bench.vault, bench.config, "2026-01-02"))
    assert (kept / "file").exists()
    assert not (bench.results / "latest").is_symlink()
    assert not (bench.results / "2026-01-02").exists()
    assert (bench.results / "2026-01-01").exists()


def test_sizes_are_those_on_disk(bench: Bench) -> None:
    sizes = dict(doomed(bench.vault, bench.config, None))
    assert sizes[bench.vault.content("demo/one", GONE)] == len('"content"')


class Years:
    """Reports of many dates, each of a commit and a snapshot of its own."""

    def __init__(self, folder: Path) -> None:
        raw: dict[str, Any] = copy.deepcopy(yaml.safe_load(DEFAULTS.read_text(encoding="utf-8")))
        raw |= {"results": str(folder / "results"), "resources": str(folder / "vault")}
        self.root, self.results = folder, folder / "results"
        self.config, self.vault = config.load(raw, "2026-12-31"), Vault(folder / "vault")

    def report(self, day: str, *, complete: bool = True, results: Path | None = None) -> str:
        """Add a report, what it left in the vault, and return the name of its commit's archive."""
        where = results or self.results
        commit = f"{int(day[-10:].replace('-', '')):040x}"
        row = dict.fromkeys(tables.SPECS["pins"].schema.names)
        row |= {"repo": "demo/one", "commit_sha": commit}
        tables.write(where / day / "pins.parquet", "pins", [row], {})
        row = dict.fromkeys(tables.SPECS["objects"].schema.names)
        row |= {"handle": "latch://1.node", "status": "ok", "size_bytes": 9, "etag": f"e{day}"}
        row |= {"container": "hdf5", "checked_at": datetime(2026, 1, 1, tzinfo=UTC)}
        tables.write(where / day / "objects.parquet", "objects", [row], {})
        (where / day / "seal.json").write_text(json.dumps({"complete": complete}))
        write_json(self.vault.work(str(where), day) / "mirror.json", {})
        record = {"repo": "demo/one", "commit_sha": commit}
        write_json(self.vault.pin_record(day, "demo/one", "main"), record)
        write_json(self.vault.observed(day, "probe", "1"), {})
        write_json(self.vault.content("demo/one", commit), "content")
        write_json(self.vault.snapshots / "1" / f"e{day}.h5ad", {})
        return f"vault/content/demo+one/{commit}.zip"

    def gone(self, keep: int, *, forget: bool = False) -> set[str]:
        found = outdated(self.vault, self.config, keep, forget=forget)
        return {str(path.relative_to(self.root)) for path, _ in found}


@pytest.fixture
def years(tmp_path: Path) -> Years:
    return Years(tmp_path)


def test_all_but_the_newest_complete_reports_go(years: Years) -> None:
    for day in ("2026-01-01", "2026-01-08", "2026-01-15"):
        years.report(day)
    name = "vault/handover/" + years.vault.work(str(years.results), "x").parent.name
    assert years.gone(2) == {"results/2026-01-01", f"{name}/2026-01-01"}
    assert years.gone(3) == years.gone(9) == set()


def test_an_incomplete_report_counts_for_none_and_goes_with_its_time(years: Years) -> None:
    """Better one complete report too many: what failed to finish is no reason to lose what did."""
    years.report("2026-01-01", complete=False)
    years.report("2026-01-08")
    years.report("2026-01-15", complete=False)
    assert superseded(years.config, 1) == ["2026-01-01"]


def test_without_a_complete_report_nothing_goes(years: Years) -> None:
    for day in ("2026-01-01", "2026-01-08"):
        years.report(day, complete=False)
    assert years.gone(1, forget=True) == set()


def test_what_latest_leads_to_stays(years: Years) -> None:
    """A clock that was wrong once made a report of the future; `latest` knows better."""
    for day in ("2026-01-08", "2999-01-01"):
        years.report(day)
    (years.results / "latest").symlink_to("2026-01-08")
    assert superseded(years.config, 1) == []


def test_audits_of_the_past_and_of_commits_stay(years: Years) -> None:
    years.report("asof-2020-01-01")
    years.report("2026-01-08")
    for name in ("history/demo+one", "logs", "2026", "0000-00-00x"):
        (years.results / name).mkdir(parents=True)
    years.report("2026-01-01")
    assert superseded(years.config, 1) == ["2026-01-01"]


def test_a_drift_goes_with_the_report_that_it_leads_to(years: Years) -> None:
    for day in ("2026-01-01", "2026-01-08", "2026-01-15"):
        years.report(day)
    for name in ("2026-01-01..2026-01-08", "2026-01-08..2026-01-15"):
        (years.results / "drift" / name).mkdir(parents=True)
    assert {path for path in years.gone(1) if path.startswith("results/drift")} == {
        "results/drift/2026-01-01..2026-01-08"
    }
    told = referring(years.config, superseded(years.config, 1))
    assert [line.partition(" stays")[0].rpartition("/")[2] for line in told] == [
        "2026-01-08..2026-01-15",
        "2026-01-15",
    ]
    assert referring(years.config, ["2026-01-15"]) == []


def test_what_only_they_needed_stays_unless_it_is_to_be_forgotten(years: Years) -> None:
    """Upstream moves on: content, peeks and snapshots may be the only copies anywhere."""
    archive = years.report("2026-01-01")
    kept = years.report("2026-01-08")
    assert not any(path.startswith(("vault/content", "vault/snap")) for path in years.gone(1))
    gone = years.gone(1, forget=True)
    assert {archive, "vault/snapshots/1/e2026-01-01.h5ad", "vault/pins/2026-01-01"} <= gone
    assert "vault/observed/2026-01-01" in gone
    assert kept not in gone
    assert not any("2026-01-08" in path for path in gone)
    remove(path for path, _ in outdated(years.vault, years.config, 1, forget=True))
    assert doomed(years.vault, years.config, None) == []


def test_what_went_earlier_is_forgotten_as_well(years: Years) -> None:
    """Its report went without `--forget`; dates that are young, of the past or another's stay."""
    days = ("2026-01-01", "2026-01-08", "2026-01-15", "2026-01-22")
    archives = {day: years.report(day) for day in days}
    years.report("2026-01-08", results=years.root / "others")
    remove(path for path, _ in outdated(years.vault, years.config, 1))
    for label in ("asof-2020-01-01", "2026-01-29"):
        write_json(
            years.vault.pin_record(label, "demo/one", "main"),
            {"repo": "demo/one", "commit_sha": GONE},
        )
    assert years.gone(1) == set()
    gone = years.gone(1, forget=True)
    assert {path for path in gone if path.startswith(("vault/pins", "vault/observed"))} == {
        f"vault/{name}/{day}" for name in ("pins", "observed") for day in (days[0], days[2])
    }
    assert {path for path in gone if path in archives.values()} == {
        archives[days[0]],
        archives[days[2]],
    }


def test_what_another_results_folder_rests_on_is_not_forgotten(years: Years) -> None:
    archive = years.report("2026-01-01")
    years.report("2026-01-01", results=years.root / "others")
    years.report("2026-01-08")
    gone = years.gone(1, forget=True)
    assert "results/2026-01-01" in gone
    assert archive not in gone
    assert "vault/pins/2026-01-01" not in gone
