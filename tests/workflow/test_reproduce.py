"""A finished report is derived again from its commits, and explained: one audit, read in several ways."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchproof import tables
from benchproof.config import load
from benchproof.explain import find_report, told
from benchproof.explain.locate import names
from benchproof.inventory.repository import Repository
from benchproof.leaks.harvest import harvest
from benchproof.leaks.needles import Needles
from benchproof.leaks.secrets import Secret
from benchproof.outputs import CONTENT
from benchproof.sealing.seal import digests, seal_text, write_seal
from benchproof.sources import content
from benchproof.vault import Vault
from conftest import DAY, ROOT, Bench, settings
from family import Family, build_family
from upstream import Upstream

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Family:
    root = tmp_path_factory.mktemp("family")
    return build_family(root, repos=("scbench", "variantbench"), small=True, planted=True)


@pytest.fixture(scope="module")
def served(family: Family) -> Iterator[Upstream]:
    with Upstream(family.root, family=family) as upstream:
        yield upstream


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, family: Family, served: Upstream) -> Bench:
    """An audited family. Reproductions are asked for on another day, with another family configured."""
    bench = Bench(tmp_path_factory.mktemp("reproduce"), settings(family, served))
    bench.audit()
    return bench


def reproduce(bench: Bench, report: str, *more: str) -> tuple[int, str]:
    done = bench.run("reproduce", "--config", f"report={report}", "date=2026-02-02", *more)
    return done.returncode, done.stdout


def test_a_report_is_reproduced_offline_byte_for_byte(bench: Bench, served: Upstream) -> None:
    """No request, the report stays as it is, and no folder of the asking day appears."""
    before = digests(bench.out)
    served.log.reset()
    code, output = reproduce(bench, f"results/{DAY}", "offline=true", "only=scbench")
    assert "snakemake reproduce --config report=results/" in (ROOT / "README.md").read_text()
    assert code == 0, output[-3000:]
    total = len(CONTENT)
    assert f"reproduce {DAY}: {total} of {total} content tables are the same" in output
    assert f"{total} byte for byte" in output
    assert digests(bench.out) == before
    assert not served.log.requests()
    assert {path.name for path in (bench.folder / "results").iterdir()} == {DAY, "latest"}


def test_a_report_that_was_altered_and_sealed_again_is_found_out(
    bench: Bench, tmp_path: Path
) -> None:
    """On another machine: a fresh vault fetches the commits; a cell and other code are told apart."""
    other = Bench(tmp_path, dict(bench.settings))
    copy = Path(shutil.copytree(bench.out, tmp_path / "copy"))
    rows, about = tables.read(copy / "runs.parquet", "runs"), tables.about(copy / "runs.parquet")
    rows[0]["derived_passed"] = not rows[0]["derived_passed"]
    tables.write(copy / "runs.parquet", "runs", rows, about)
    evals, about = (
        tables.read(copy / "evals.parquet", "evals"),
        tables.about(copy / "evals.parquet"),
    )
    tables.write(copy / "evals.parquet", "evals", evals, about | {"code": "0" * 64})
    seal = json.loads((copy / "seal.json").read_text())
    write_seal(copy, seal_text(copy, seal))
    code, output = reproduce(other, "copy")
    assert code == 1
    named = f"repo={rows[0]['repo']} run_path={rows[0]['run_path']}: derived_passed:"
    assert named in output
    assert "runs DIFFERS in 1 of" in output
    assert "1 row by row by key (other code): evals" in output
    assert f"{DAY} was not reproduced: 1 tables differ" in output.splitlines()[-1]
    (everything,) = other.vault.glob("reproduce/*/results/differences.txt")
    assert named in everything.read_text()


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("nowhere", "where no report is"),
        ("copy", "summary.md differ from what seal.json says; nothing was derived"),
    ],
)
def test_what_cannot_be_reproduced_is_refused_at_once(
    bench: Bench, tmp_path: Path, report: str, said: str
) -> None:
    copy = Path(shutil.copytree(bench.out, tmp_path / "copy"))
    (copy / "summary.md").write_text("better\n")
    code, output = (
        Bench(tmp_path, dict(bench.settings)).run(
            "reproduce", "-n", "--config", f"report={report}"
        ),
        "",
    )
    assert code.returncode == 1
    assert said in code.stdout + output
    assert not list(tmp_path.glob("resources/reproduce/*"))


def test_a_report_is_for_reproduce_alone(bench: Bench) -> None:
    done = bench.run("pin", "--config", f"report=results/{DAY}")
    assert done.returncode == 1
    assert "it is for `snakemake reproduce` alone" in done.stdout
    done = bench.run("reproduce", "--config", "date=2026-02-03")
    assert done.returncode == 1
    assert "reproduce takes --config report=" in done.stdout


def test_claims_and_numbers_of_an_audit_are_explained(bench: Bench) -> None:
    """Every id of a whole report: no explanation holds a graded value."""
    audit = load(json.loads((bench.out / "config.json").read_text()) | {"sign": None}, DAY)
    report = find_report(audit, str(bench.out))
    graded: set[Secret] = set()
    for spec in audit.family:
        commit = report.pins[spec.repo]["commit_sha"]
        with content.opened(Vault(bench.vault).content(spec.repo, commit)) as archive:
            graded |= harvest(Repository(spec, commit, archive))
    needles = Needles(graded)
    listed = names(report)
    assert min(map(len, listed.values())) >= 10
    for kind, ids in listed.items():
        for name in ids:
            text = told(report, f"{kind}:{name}")
            assert not needles.found(text.encode())
            assert "could not be asked again" not in text
    both = " ".join(told(report, "scbench.evals").split())
    assert both.startswith("claim scbench.evals")
    assert "number scbench.evals" in both
    assert both.count("as in the report") == 2


def test_a_script_brings_two_blobs_over_http(bench: Bench, tmp_path: Path) -> None:
    """As from GitHub: a partial fetch, and the two blobs by their ids; so does a reader without the vault."""
    changes = {"resources": str(tmp_path / "none"), "results": str(bench.out.parent)}
    audit = load(
        json.loads((bench.out / "config.json").read_text()) | {"sign": None} | changes, DAY
    )
    report = find_report(audit, DAY)
    row = next(row for row in report.rows("runs") if row["status"] == "graded")
    text = told(report, f"{row['repo']}:{row['run_path']}")
    assert re.search(r"fetched for this explanation \(2 blobs, [1-9]\d* requests\)", text)
    assert not (tmp_path / "none").exists()
    script = text[text.index("( export") : text.index("\n)\n") + 2]
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert f"recorded: {row['recorded_passed']} derived: {row['derived_passed']}" in done.stdout
    assert "filtering not recognized" not in done.stderr
