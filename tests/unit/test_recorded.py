"""A finished report as the beginning of its reproduction: refused, or put into a room of its own."""

from __future__ import annotations

import copy
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchproof import config, tables
from benchproof.cli import DEFAULTS
from benchproof.errors import BenchproofError, ConfigError
from benchproof.outputs import write_config
from benchproof.pinning import mirror, recorded_pin
from benchproof.purge import doomed
from benchproof.recorded import Recorded
from benchproof.sealing.seal import seal_text, write_seal
from benchproof.sources import content, objects
from benchproof.sources.base import Entry, RepoSpec
from benchproof.vault import Vault
from reports import AT, COMMIT, counted, pin

DAY = "2026-01-15"
TODAY = "2026-02-01"
SPECS = [
    {"repo": name, "ref": "main", "evals": "evals", "runs": "trajectories"}
    for name in ("demo/one", "demo/two")
]


class Bench:
    """A sealed report of two repositories, one of which could not be read, and the vault it came from."""

    def __init__(self, root: Path) -> None:
        raw: dict[str, Any] = copy.deepcopy(yaml.safe_load(DEFAULTS.read_text(encoding="utf-8")))
        self.raw = raw | {"results": str(root / "results"), "resources": str(root / "vault")}
        self.folder, self.vault = root / "results" / DAY, Vault(root / "vault")
        rows = [
            pin(ref="main", tree_sha="a" * 40, source="git"),
            pin("demo/two", ref="main", source="git"),
        ]
        tables.write(self.folder / "pins.parquet", "pins", rows, {})
        counts = [counted(), counted("demo/two", status="not_read", reason="throttled")]
        tables.write(self.folder / "reconciliation.parquet", "reconciliation", counts, {})
        write_config(self.folder, self.raw | {"family": SPECS, "notice": "Invented."})
        self.seal()
        data = b"{}"
        entry = Entry(b"evals/manifest.json", "100644", objects.blob_id(data))
        content.save(self.vault.content("demo/one", COMMIT), [entry], [(entry.sha, data)])

    def seal(self) -> None:
        write_seal(self.folder, seal_text(self.folder, {"label": DAY, "complete": False}))

    def recorded(self, **changes: Any) -> Recorded:
        named = {"report": str(self.folder), "family": [SPECS[1]]}
        return Recorded.of(config.load(self.raw | named | changes, TODAY), TODAY)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_report_says_what_is_derived_and_this_run_how(bench: Bench) -> None:
    found = bench.recorded(offline=True, source="github").config
    assert [spec.repo for spec in found.family] == ["demo/one", "demo/two"]
    assert (found.label, found.notice) == (DAY, "Invented.")
    assert (found.offline, found.merged["source"]) == (True, "github")
    assert Path(found.resources).parent.parent == bench.vault.root / "reproduce"
    assert not Path(found.results).is_relative_to(bench.folder.parent)


def test_a_date_names_a_report_too(bench: Bench) -> None:
    assert bench.recorded(report=DAY).folder == bench.folder


def test_a_report_of_the_past_keeps_its_label(bench: Bench) -> None:
    write_config(bench.folder, bench.raw | {"family": SPECS, "as_of": "2025-05-05"})
    values = {"label": "asof-2025-05-05", "complete": True}
    write_seal(bench.folder, seal_text(bench.folder, values))
    assert bench.recorded().config.label == "asof-2025-05-05"


def test_a_seal_of_another_report_is_refused(bench: Bench) -> None:
    write_config(bench.folder, bench.raw | {"family": SPECS, "date": "2026-01-14"})
    bench.seal()
    with pytest.raises(ConfigError, match=f"is sealed as {DAY}, and its config"):
        bench.recorded()


def test_a_narrowed_report_stays_narrow(bench: Bench) -> None:
    write_config(bench.folder, bench.raw | {"family": SPECS, "only": ["one"]})
    assert [spec.repo for spec in bench.recorded().config.family] == ["demo/one"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "seal.json").unlink(), "is not sealed"),
        (lambda folder: (folder / "seal.json").write_text("{"), "is not sealed"),
        (lambda folder: (folder / "config.json").unlink(), "config.json lacks"),
        (lambda folder: (folder / "pins.parquet").unlink(), "where no report is"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(bench: Bench, damage: Any, said: str) -> None:
    damage(bench.folder)
    with pytest.raises(ConfigError, match=said) as error:
        bench.recorded()
    assert "\n" not in str(error.value)


def test_damaged_files_are_named_before_anything_is_derived(bench: Bench) -> None:
    bench.recorded().verify()
    with (bench.folder / "pins.parquet").open("ab") as handle:
        handle.write(b"x")
    with pytest.raises(BenchproofError, match=r"pins\.parquet differ from what seal\.json says"):
        bench.recorded().verify()
    (bench.folder / "reconciliation.parquet").unlink()
    with pytest.raises(BenchproofError, match=r"pins\.parquet, reconciliation\.parquet differ"):
        bench.recorded().verify()


def test_the_room_holds_pins_archives_and_what_was_not_read(bench: Bench) -> None:
    recorded = bench.recorded(offline=True)
    recorded.prepare()
    inner = Vault(recorded.config.resources)
    specs = [RepoSpec(**spec) for spec in SPECS]
    pins = [recorded_pin(inner, DAY, spec) for spec in specs]
    assert [(found.commit_sha, found.committed_at) for found in pins if found] == [(COMMIT, AT)] * 2
    records = [
        mirror(None, inner, spec, found, DAY)
        for spec, found in zip(specs, pins, strict=True)
        if found
    ]
    assert [(record["status"], record["reason"]) for record in records] == [
        ("ok", None),
        ("unknown", "throttled"),
    ]
    assert stat.S_IMODE(recorded.room.stat().st_mode) == 0o700


def test_an_unknown_pin_stays_unknown(bench: Bench) -> None:
    row = pin(
        "demo/two", ref="main", commit_sha=None, committed_at=None, status="unknown", reason="dns"
    )
    tables.write(bench.folder / "pins.parquet", "pins", [pin(ref="main"), row], {})
    recorded = bench.recorded(offline=True)
    recorded.prepare()
    found = recorded_pin(Vault(recorded.config.resources), DAY, RepoSpec(**SPECS[1]))
    assert found is not None
    assert (found.status, found.reason, found.commit_sha) == ("unknown", "dns", None)


def test_a_second_reproduction_begins_clean(bench: Bench) -> None:
    recorded = bench.recorded()
    recorded.prepare()
    left = Path(recorded.config.results, "left.txt")
    left.parent.mkdir()
    left.write_text("x")
    recorded.prepare()
    assert not left.exists()


def test_offline_without_the_content_is_refused(bench: Bench) -> None:
    bench.vault.content("demo/one", COMMIT).unlink()
    bench.recorded().prepare()
    with pytest.raises(BenchproofError, match="lacks the content of demo/one at cccccccccccc"):
        bench.recorded(offline=True).prepare()


def test_the_archive_in_the_vault_stays(bench: Bench) -> None:
    """The room's copy is a link: emptying the room takes the name, not the archive."""
    recorded = bench.recorded()
    recorded.prepare()
    recorded.prepare()
    assert content.blob_ids(bench.vault.content("demo/one", COMMIT))


def test_purge_knows_the_rooms(bench: Bench) -> None:
    recorded = bench.recorded()
    recorded.prepare()
    audit = config.load(bench.raw, TODAY)
    assert recorded.room in [path for path, _ in doomed(bench.vault, audit, None)]
    assert recorded.room in [path for path, _ in doomed(bench.vault, audit, DAY)]
