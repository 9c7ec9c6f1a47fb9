"""What the READMEs show: commands are understood (as dry runs, or without a report), the demo is true."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchproof import tables
from benchproof.rulebook import RULES
from conftest import ROOT, Bench

pytestmark = pytest.mark.workflow


def documented() -> list[str]:
    found: list[str] = []
    for name in ("README.md", "config/README.md"):
        for block in re.findall(r"```sh\n(.*?)```", (ROOT / name).read_text(), re.DOTALL):
            lines = (line.split(" #")[0].strip() for line in block.splitlines())
            found += [line.removeprefix(".venv/bin/") for line in lines if line]
    return sorted(set(found))


#: Refused without the report that it names; tests/workflow/test_reproduce.py has one.
OF_A_REPORT = "snakemake reproduce"
SNAKEMAKE = [line for line in documented() if line.startswith("snakemake")]


@pytest.mark.parametrize("line", [line for line in SNAKEMAKE if not line.startswith(OF_A_REPORT)])
def test_snakemake_commands_are_understood(bench: Bench, line: str) -> None:
    """As a dry run: the same options, targets and configuration, and jobs to do."""
    bench.command()
    for name in ("mine.yaml", "fetch.yaml"):
        shutil.copy(bench.folder / "settings.json", bench.folder / name)
    arguments = shlex.split(line)[1:]
    if "--configfile" not in arguments:
        arguments += ["--configfile", "settings.json"]
    done = bench.run(*arguments, "-n")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "pin_commits" in done.stdout


@pytest.mark.parametrize("line", [line for line in documented() if line.startswith("benchproof")])
def test_benchproof_commands_are_understood(bench: Bench, line: str) -> None:
    """Before the first run each says what is missing or that there is nothing to do."""
    bench.command()
    done = bench.cli(*shlex.split(line)[1:])
    assert "Traceback" not in done.stderr
    assert done.stdout + done.stderr
    assert done.returncode in (0, 1, 20)


@pytest.mark.parametrize("command", ["summary", "pending", "drift", "purge"])
def test_every_command_has_help(bench: Bench, command: str) -> None:
    bench.command()
    done = bench.cli(command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: benchproof")


def test_the_make_targets_of_the_readme_exist() -> None:
    made = [line.split()[1] for line in documented() if line.startswith("make ")]
    text = (ROOT / "Makefile").read_text()
    assert {"demo", "audit", "test"} <= set(made)
    for target in made:
        assert re.search(rf"^{target}:", text, re.MULTILINE), target


def test_the_commands_work_in_the_order_in_which_they_stand(
    bench: Bench, audited: Callable[..., Path]
) -> None:
    """After the whole audit, one stage of one repository: the finished date is left alone."""
    bench.go_on_from(audited())
    bench.command()
    line = next(line for line in documented() if line.startswith("snakemake regrade"))
    done = bench.run(*shlex.split(line)[1:], "--configfile", str(bench.folder / "settings.json"))
    assert done.returncode == 0, done.stdout[-2000:]
    bench.settings["fetch"] = {"select": "smallest"}
    assert bench.audit("fetch").rstrip().endswith("run snakemake to write it again.")
    assert [row["status"] for row in bench.rows("files")] == ["ok"]
    assert not (bench.out / "seal.json").exists()
    bench.audit()
    assert json.loads((bench.out / "seal.json").read_text())["complete"]
    assert json.loads((bench.out / "config.json").read_text())["fetch"]["select"] == "smallest"
    scratch = bench.folder / "results" / "scratch" / bench.out.name
    assert {r["repo"] for r in tables.read(scratch / "runs.parquet", "runs")} == {"demo/scbench"}


def test_the_demo_runs_in_a_fresh_copy(tmp_path: Path) -> None:
    """A whole audit of the planted family: every planted kind that this version knows is found."""
    for name in ("rules", "scripts", "config", "envs", "profiles"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests").mkdir()
    for name in ("family", "h5ad", "upstream"):
        shutil.copytree(ROOT / "tests" / name, tmp_path / "tests" / name)
    shutil.copy(ROOT / "tests" / "demo.py", tmp_path / "tests")
    shutil.copy(ROOT / "Snakefile", tmp_path)
    command = [sys.executable, "tests/demo.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=170, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "The demo's report: results/demo/latest/report.html" in done.stdout
    latest = tmp_path / "results" / "demo" / "latest"
    assert "Invented data" in (latest / "report.html").read_text()
    assert "Invented data" in (latest / "summary.md").read_text()
    shown = re.search(
        r"ends like this:\n\n```\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert shown is not None
    ended = re.sub(r"\d{4}-\d\d-\d\d", "DAY", (latest / "summary.md").read_text()).splitlines()
    told = re.sub(r"\d{4}-\d\d-\d\d", "DAY", shown.group(1)).splitlines()
    assert [line for line in told if line not in ("…", *ended)] == []
    seal = json.loads((latest / "seal.json").read_text())
    assert seal["complete"] is True
    assert "Invented data" in seal["notice"]
    planted = json.loads((tmp_path / "resources/demo/upstream/family.json").read_text())["findings"]
    assert {f["rule"] for f in planted} <= set(RULES)
    expected = {(f["rule"], f["repo"], None if f["vault_only"] else f["path"]) for f in planted}
    found = {
        (r["rule"], r["repo"], r["path"])
        for r in tables.read(latest / "findings.parquet", "findings")
    }
    assert len({rule for rule, _, _ in expected}) >= 19
    assert expected <= found
    again = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Nothing to be done" in again.stderr
