"""Claims and the gate in the workflow: content alone asks nobody, a planted contradiction shuts the gate."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchproof import tables
from conftest import DAY, Bench, settings
from family import Family, build_family
from upstream import Upstream

pytestmark = pytest.mark.workflow

REPOS = ("scbench", "spatialbench")
#: A later date whose report is to be compared with the first.
LATER = "2026-01-16"


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Family:
    return build_family(tmp_path_factory.mktemp("family"), repos=REPOS)


@pytest.fixture(scope="module")
def served(family: Family) -> Iterator[Upstream]:
    with Upstream(family.root, family=family) as upstream:
        yield upstream


@pytest.fixture(scope="module")
def content(
    tmp_path_factory: pytest.TempPathFactory, family: Family, served: Upstream
) -> tuple[Bench, str]:
    bench = Bench(tmp_path_factory.mktemp("content"), settings(family, served))
    return bench, bench.audit("claims")


def by_id(bench: Bench) -> dict[str, dict[str, Any]]:
    return {row["claim_id"]: row for row in bench.rows("claims")}


def test_claims_ask_neither_signer_nor_storage(
    content: tuple[Bench, str], served: Upstream
) -> None:
    bench, output = content
    assert not (bench.out / "handles.parquet").exists()
    assert "resolve_handles" not in output
    found = by_id(bench)
    assert (found["scbench.reachable"]["status"], found["scbench.reachable"]["reason"]) == (
        "not_checked",
        "table_missing_handles",
    )


def test_every_claim_of_a_clean_family_holds_or_is_not_checked(content: tuple[Bench, str]) -> None:
    """Observations of the real family hold in the invented one, which has its shape."""
    bench, _ = content
    rows = bench.rows("claims")
    assert {row["status"] for row in rows} == {"holds", "not_checked"}
    holding = Counter(row["kind"] for row in rows if row["status"] == "holds")
    assert holding["invariant"] >= 20
    assert holding["observation"] >= 40
    assert all(row["reason"] for row in rows if row["status"] == "not_checked")
    assert not any(row["reason"] == "query_refused" for row in rows)


def test_published_tables_hold(content: tuple[Bench, str], family: Family) -> None:
    bench, _ = content
    rows = bench.rows("published_checks")
    assert "fails" not in {row["status"] for row in rows}
    totals = Counter(row["repo"] for row in rows if row["check"] == "total")
    pairs = {f"demo/{name}": fact["pairs"] for name, fact in family.facts["published"].items()}
    assert totals == {repo: 2 * number for repo, number in pairs.items()}
    models = [row for row in bench.rows("models") if row["repo"] == "demo/scbench"]
    assert (len(models), {row["n_evals"] for row in models}) == (16, {5, 6})


def test_every_recorded_answer_is_the_submitted_file(content: tuple[Bench, str]) -> None:
    bench, _ = content
    rows = {
        row["repo"]: row for row in bench.rows("record_checks") if row["check"] == "answer_file"
    }
    found = rows["demo/scbench"]
    assert found["n_holds"] + found["n_not_checked"] == 273
    # A record whose keys were sorted says nothing of the order in the file.
    assert found["n_holds"] > 200


def test_a_second_run_has_nothing_to_do(content: tuple[Bench, str]) -> None:
    bench, _ = content
    assert "Nothing to be done" in bench.audit("claims")


def test_the_gate_sees_what_is_new_and_leaves_the_tables(tmp_path: Path) -> None:
    """A planted contradiction after a clean date: the gate ends with 11, under snakemake with 1, and
    stands open again once it is known.
    """
    clean = build_family(tmp_path / "clean", repos=["spatialbench"], small=True)
    planted = build_family(tmp_path / "planted", repos=["spatialbench"], small=True, planted=True)
    with Upstream(clean.root, family=clean) as upstream:
        bench = Bench(tmp_path, settings(clean, upstream, fetch={"select": "none"}))
        opened = bench.run("gate")
    assert opened.returncode == 0, opened.stdout[-3000:]
    assert "Exit code 0" in opened.stdout
    with Upstream(planted.root, family=planted) as upstream:
        bench.settings |= {"endpoints": upstream.endpoints(), "date": LATER}
        shut = bench.run("gate")
    assert shut.returncode == 1
    assert "invariant spatialbench.published_total fails" in shut.stdout
    assert f"since {DAY}" in shut.stdout
    (total,) = [row for row in bench.rows("findings") if row["rule"] == "published_total_differs"]
    assert (total["repo"], total["path"]) == ("demo/spatialbench", "results/model_results.csv")
    assert (bench.out / "seal.json").exists()
    done = bench.cli("gate")
    assert (done.returncode, done.stderr) == (11, "")
    assert "expected 0, got 2" in done.stdout
    standing = tmp_path / "results" / "2026-01-17"
    shutil.copytree(bench.out, standing, symlinks=True)
    bench.settings["date"] = standing.name
    bench.command()
    assert bench.cli("gate").returncode == 0
    assert tables.about(standing / "claims.parquet")["table"] == "claims"
