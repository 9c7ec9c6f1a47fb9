"""Same pins, same bytes (law 6): under other cores, hash seeds, locales, zones, folders and sources."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchproof import tables
from benchproof.determinism.conditions import DESIGN
from benchproof.outputs import CONTENT
from benchproof.sealing.seal import digests
from conftest import DAY, Bench, content, settings
from family import Family
from upstream import Upstream

pytestmark = pytest.mark.workflow

#: Columns of the pins table that say how they were learnt, and may differ between the sources.
_SOURCE = {"source", "repo_id", "resolved_repo"}


@pytest.fixture(scope="module")
def served(small_family: Family) -> Iterator[Upstream]:
    with Upstream(small_family.root, family=small_family) as upstream:
        yield upstream


@pytest.fixture(scope="module")
def audited(
    tmp_path_factory: pytest.TempPathFactory, small_family: Family, served: Upstream
) -> Bench:
    """An audit as it comes."""
    bench = Bench(tmp_path_factory.mktemp("first"), settings(small_family, served))
    bench.audit()
    return bench


@pytest.fixture(scope="module")
def first(audited: Bench) -> dict[str, bytes]:
    return dict(content(audited.out))


def test_derivations_under_other_conditions_give_the_same_bytes(
    audited: Bench, small_family: Family, served: Upstream
) -> None:
    """Tables, lists, claims, page and summary, and each condition was seen by the jobs; the report stays."""
    before = digests(audited.out)
    served.log.reset()
    done = audited.run("verify_determinism", "--config", "derivations=3", timeout=600)
    output = done.stdout
    assert done.returncode == 0, output[-3000:]
    tables_there, files = len(CONTENT) + 1, 4 + len(small_family.config)
    assert (
        f"{tables_there} of {tables_there} tables and {files} of {files} other files are the same in 3 "
    ) in output
    assert f"the report's own tables: {tables_there} are the same" in output
    assert "not compared" not in output
    repos = len(small_family.config)
    assert f"A: {repos} git | EF: {repos} github" in output
    for name in DESIGN:
        assert re.search(rf"^  {name} .*\|", output, re.MULTILINE), name
    assert not [request for request in served.log.requests() if "info/refs" in request.path]
    assert digests(audited.out) == before
    kept = audited.out.parent / "determinism" / audited.out.name / "summary.md"
    assert f"# Determinism of {DAY}" in kept.read_text()
    assert not (audited.vault / "determinism" / DAY / "made").exists()


def test_other_shards_are_no_reason_to_do_anything_again(
    tmp_path: Path, small_family: Family, served: Upstream
) -> None:
    """Neither what is graded is graded again, nor is a finished date refused; the seal stays whole."""
    bench = Bench(tmp_path, settings(small_family, served, shards=3))
    bench.audit("regrade")
    jobs = sorted(path.stem for path in (bench.out / "logs").glob("grade_share.*"))
    assert jobs == [f"grade_share.000{share}-of-0003" for share in (1, 2, 3)]
    made = (bench.out / "runs.parquet").stat().st_mtime_ns
    for shards in (1, 2):
        bench.settings["shards"] = shards
        assert "Nothing to be done" in bench.audit("regrade")
    bench.audit()
    bench.settings["shards"] = 8
    assert "Nothing to be done" in bench.audit()
    assert (bench.out / "runs.parquet").stat().st_mtime_ns == made
    assert (bench.out / "seal.json").exists()
    left = (bench.vault / "handover/results" / bench.out.name / "shares").iterdir()
    assert {path.suffix for path in left} == {".json"}


def test_the_other_source_gives_the_same_bytes(
    tmp_path: Path, small_family: Family, served: Upstream, first: dict[str, bytes]
) -> None:
    """REST and raw on a machine without git: every content table, pins but for its source columns."""
    bench = Bench(tmp_path / "audit", settings(small_family, served, source="github"))
    bench.folder.mkdir()
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "which"):  # all that Snakemake and its plugins call by name
        if found_at := shutil.which(name):
            (programs / name).symlink_to(found_at)
    bench.environment = {"PYTHONHASHSEED": "2", "PATH": str(programs)}
    bench.audit(*(f"results/{DAY}/{name}.parquet" for name in CONTENT))
    found = dict(content(bench.out))
    rows = bench.rows("pins")
    del found["pins.parquet"]
    # Claims are of the observations too, which nobody asked for here.
    others = ("pins.parquet", "claims.parquet")
    assert found == {name: data for name, data in first.items() if name not in others}
    path = tmp_path / "first-pins.parquet"
    path.write_bytes(first["pins.parquet"])
    plain = [
        {k: v for k, v in row.items() if k not in _SOURCE} for row in tables.read(path, "pins")
    ]
    assert [{k: v for k, v in row.items() if k not in _SOURCE} for row in rows] == plain
    assert {row["source"] for row in rows} == {"github"}


def test_the_rest_source_says_both_numbers_when_it_cannot_finish(
    tmp_path: Path, small_family: Family, served: Upstream
) -> None:
    """Counted before the first content request; what arrived is kept for the next run."""
    with Upstream(small_family.root, family=small_family, anonymous_limit=30) as limited:
        bench = Bench(tmp_path, settings(small_family, limited, source="github"))
        output = bench.audit()
        assert "INCOMPLETE" in output
        log = (bench.out / "logs" / "mirror_content.log").read_text()
        assert "requests are needed" in log
        assert "GITHUB_TOKEN" in log
    assert {row["reason"] for row in bench.rows("reconciliation")} >= {"allowance"}
