"""Explanations of an invented report, and their scripts run for real: git and Python alone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import explained
from benchproof import cli
from benchproof.errors import BenchproofError, ConfigError
from benchproof.explain import find_report, refute, told
from benchproof.explain.locate import names
from benchproof.explain.reports import Report
from benchproof.inventory.repository import Repository
from benchproof.leaks.harvest import harvest
from benchproof.leaks.needles import Needles
from benchproof.leaks.secrets import Secret
from benchproof.sources import content
from benchproof.vault import Vault
from conftest import ROOT
from family import Family
from family.build import draft_family, write_family
from family.draft import Draft

REPOS = ("scbench", "variantbench", "spatialbench-long")
SCRIPT = re.compile(r"^\( export GIT_DIR.*?^\)$", re.MULTILINE | re.DOTALL)
VARIANT = "demo/variantbench"


@dataclass
class Bench:
    """A family with a recorded run of each grader family, its report, and where the runs are."""

    family: Family
    report: Report
    paths: dict[str, str]


def answers(draft: Draft) -> dict[str, tuple[str, Any, bool]]:
    """Return by name the evaluation, an answer of it, and whether it is right."""
    config = {
        e.word: (e.data.get("grader") or {}).get("config", {}) for e in draft.evals["variantbench"]
    }
    labels, markers = config["var_03_locus"], config["var_04_panel"]
    children = [child["config"] for child in config["var_06_trait"]["children"]]
    whole = {**children[0]["ground_truth"], **children[1]["ground_truth"]}
    far = dict.fromkeys(list(config["var_02_strand"]["ground_truth"])[:1], 1e6)
    whole["cell_types_predicted"] = children[2]["ground_truth_labels"]
    right = config["var_05_carrier"]["correct_answer"]
    return {
        "numbers": ("var_01_trio", config["var_01_trio"]["ground_truth"], True),
        "offsets": ("var_02_strand", config["var_02_strand"]["ground_truth"], True),
        "far off": ("var_02_strand", {**config["var_02_strand"]["ground_truth"], **far}, False),
        "labels": ("var_03_locus", {"cell_types_predicted": labels["ground_truth_labels"]}, True),
        "few labels": (
            "var_03_locus",
            {"cell_types_predicted": labels["ground_truth_labels"][:2]},
            False,
        ),
        "markers": ("var_04_panel", {"top_marker_genes": markers["canonical_markers"]}, True),
        "choice": ("var_05_carrier", {"answer": f" {right.lower()} "}, True),
        "other choice": ("var_05_carrier", {"answer": "Z"}, False),
        "all": ("var_06_trait", whole, True),
        "not all": ("var_06_trait", {**whole, "cell_types_predicted": []}, False),
    }


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    draft = draft_family(repos=REPOS, small=True, planted=True)
    # Planting moves thresholds to a place where readings differ; here they stand where they belong.
    panel = next(e for e in draft.evals["variantbench"] if e.word == "var_04_panel")
    grader = panel.data["grader"]["config"]
    grader["scoring"]["pass_thresholds"] = grader.pop("pass_thresholds")
    draft.tree("variantbench").put_json(panel.path, panel.data)
    paths = {}
    for number, (name, (word, answer, right)) in enumerate(answers(draft).items()):
        item = next(e for e in draft.evals["variantbench"] if e.word == word)
        truths = item.data["grader"]["config"].get("ground_truth", {})
        scores = {field: float(answer[field] == truth) for field, truth in truths.items()}
        record = {"agent_answer": answer, "passed": right, "reasoning": "", "metrics": {}}
        record |= {"field_scores": scores, "score": sum(scores.values()) / (len(scores) or 1)}
        paths[name] = explained.add_run(draft, word, record, number)
    paths["nothing"] = explained.add_run(draft, "var_01_trio", None, 99)
    root = tmp_path_factory.mktemp("explain")
    family = write_family(draft, root / "family")
    return Bench(family, explained.report(family, root), paths)


def run_of(report: Report, path: str) -> dict[str, Any]:
    (row,) = report.rows("runs", run_path=path)
    return row


def scripts(text: str) -> list[str]:
    return [found.group() for found in SCRIPT.finditer(text)]


def ran(script: str, folder: Path) -> str:
    """Run a script in an empty folder with nothing but git and Python; return what it prints."""
    assert script.count("\n") < refute.LINES
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == [], "nothing stays behind"
    return done.stdout


@pytest.mark.parametrize("name", list(answers(draft_family(repos=("variantbench",), small=True))))
def test_scripts_derive_the_verdict_again(bench: Bench, tmp_path: Path, name: str) -> None:
    """Of each grader family, right and wrong answers: what the script says is what the table says."""
    row = run_of(bench.report, bench.paths[name])
    assert row["status"] == "graded"
    text = told(bench.report, bench.paths[name])
    said = [ran(script, tmp_path) for script in scripts(text)]
    assert all("the blobs of the report: True" in one for one in said)
    assert all(f"recorded: {row['recorded_passed']} " in one for one in said)
    derived = ["derived: False" not in one and "derived: True" in one for one in said]
    assert all(derived) is row["derived_passed"]
    assert len(said) == (2 if row["grader_type"] == "all_of" else 1)
    assert f"-> {'true' if row['derived_passed'] else 'false'}" in text


def test_nothing_submitted_has_no_verdict(bench: Bench, tmp_path: Path) -> None:
    text = told(bench.report, bench.paths["nothing"])
    assert "verdict = none: nothing was submitted" in text
    (script,) = scripts(text)
    assert "recorded: None derived: None" in ran(script, tmp_path)


def test_a_withheld_rule_is_shown_to_be_withheld(bench: Bench, tmp_path: Path) -> None:
    path = bench.report.rows("runs", repo="demo/spatialbench-long")[0]["run_path"]
    (script,) = scripts(told(bench.report, path))
    said = ran(script, tmp_path)
    assert "the evaluation has `grader`: False and in `graders`: 0" in said
    assert "score is their sum: True" in said


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda result: result.update(passed=False), "recorded: False derived: True"),
        (lambda result: result.update(agent_answer={}), "recorded: True derived: False"),
    ],
    ids=["verdict", "answer"],
)
def test_a_tampered_repository_comes_out_differently(
    bench: Bench, tmp_path: Path, change: Callable[[dict[str, Any]], None], expected: str
) -> None:
    """The same script over a commit whose record was changed: other blobs, and another verdict."""
    path = bench.paths["numbers"]
    (script,) = scripts(told(bench.report, path))
    clone, empty = tmp_path / "clone", tmp_path / "empty"
    empty.mkdir()
    source = bench.family.repos["variantbench"].path
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "clone", "-q", source, str(clone)], check=True)
    record = json.loads((clone / path).read_text())
    change(record["result"])
    (clone / path).write_text(json.dumps(record))
    subprocess.run([*git, "commit", "-qam", "changed"], cwd=clone, check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], cwd=clone, check=True, capture_output=True)
    commit = bench.report.pins[VARIANT]["commit_sha"]
    other = script.replace(source, str(clone)).replace(commit, head.stdout.decode().strip())
    said = ran(other, empty)
    assert "the blobs of the report: False" in said
    assert expected in said


def test_every_id_is_explained_without_an_answer(bench: Bench) -> None:
    """Of a planted family: no explanation holds a graded value, none fails, no script is too long."""
    report = bench.report
    graded: set[Secret] = set()
    for spec in report.audit.family:
        pin = report.pins[spec.repo]
        with content.opened(
            Vault(report.audit.resources).content(spec.repo, pin["commit_sha"])
        ) as archive:
            graded |= harvest(Repository(spec, pin["commit_sha"], archive))
    needles = Needles(graded)
    assert len(graded) > 100
    listed = names(report)
    assert min(len(listed[kind]) for kind in ("finding", "run", "number")) > 5
    for kind, ids in listed.items():
        for name in ids:
            text = told(report, f"{kind}:{name}")
            assert not needles.found(text.encode())
            assert all(script.count("\n") < refute.LINES for script in scripts(text)), name


def test_scripts_of_findings_look_at_the_place(bench: Bench, tmp_path: Path) -> None:
    """Every finding's script runs, and finds the blob that the finding names."""
    for row in bench.report.rows("findings"):
        text = told(bench.report, row["finding_id"])
        for script in scripts(text):
            said = ran(script, tmp_path)
            assert said
            assert "the blobs of the report: False" not in said


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (refute.place("0" * 40, "/metadata/a~1b/1/x", shown=False), "there: NoneType"),
        (refute.place("0" * 40, "/grader/1", shown=False), "there: list length: 1"),
        (refute.place("0" * 40, "/metadata/none", shown=False), "1 of its names lead on"),
        (refute.place("0" * 40, None, shown=True), "keys at the top: ['grader', 'metadata']"),
        (refute.place("0" * 40, "/grader/one", shown=True), "value: 1"),
        (refute.named("0" * 40, "/grader/two"), "lines that hold the name: 1"),
    ],
)
def test_a_place_is_looked_at_by_its_pointer(tmp_path: Path, lines: list[str], said: str) -> None:
    """Names, numbers of lists, and numbers of what is graded; what isn't there is said to be missing."""
    data = tmp_path / "data.json"
    value = {"metadata": {"a/b": [1, {"x": None}]}, "grader": {"one": 1, "two": [7]}}
    data.write_text(json.dumps(value, indent=1))
    read = 'subprocess.check_output(["git", "cat-file", "blob", sys.argv[1]])'
    text = "\n".join(lines).replace(read, f"open({str(data)!r}, 'rb').read()")
    command = ["python3", "-I", "-S", "-", "0" * 40]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert said in done.stdout + done.stderr


def test_a_number_is_counted_again(bench: Bench, tmp_path: Path) -> None:
    text = told(bench.report, "variantbench.evals")
    (script,) = scripts(text)
    said = ran(script, tmp_path)
    assert f"runs: {len(bench.report.rows('runs', repo=VARIANT))} " in said
    for table in ("tree", "manifest", "evals", "graders", "tolerances", "eval_handles"):
        assert f"{table}: {bench.report.count(table, VARIANT)} " in said.replace("\n", " ")


def test_one_script_derives_all_verdicts_of_a_repository(bench: Bench, tmp_path: Path) -> None:
    """The headline of a report, by git and Python alone; one planted verdict doesn't follow."""
    rows = bench.report.rows("runs", repo="demo/scbench")
    (script,) = scripts(told(bench.report, "scbench.runs.agree"))
    said = ran(script, tmp_path)
    agree = sum(row["passed_agrees"] is True for row in rows)
    assert 0 < agree < len(rows)
    assert f"runs: {len(rows)} " in said
    assert f"recorded verdicts that follow: {agree}\n" in said


def test_derived_again_from_fetched_blobs(bench: Bench, tmp_path: Path) -> None:
    """Without the vault two blobs are fetched and proven; nothing is left of them."""
    audit = explained.settings(bench.family, tmp_path, results=bench.report.audit.results)
    text = told(Report(bench.report.folder, audit), bench.paths["numbers"])
    assert re.search(
        r"yes, fetched for this explanation \(2 blobs, \d+ requests?\): this\s+version", text
    )
    assert not (tmp_path / "vault").exists()


def test_offline_says_what_it_would_need(bench: Bench, tmp_path: Path) -> None:
    audit = explained.settings(bench.family, tmp_path, offline=True)
    text = " ".join(told(Report(bench.report.folder, audit), bench.paths["numbers"]).split())
    assert "no: offline, and the vault lacks commit" in text
    assert "2 blobs of demo/variantbench" in text


def test_an_altered_table_is_said_to_be_altered(bench: Bench, tmp_path: Path) -> None:
    """Explained from a copy whose verdict was turned: the seal and the blobs both contradict it."""
    from benchproof import tables
    from benchproof.sealing.seal import seal_text, write_seal

    folder = Path(shutil.copytree(bench.report.folder, tmp_path / explained.DAY))
    write_seal(folder, seal_text(folder, {"complete": True}))
    rows = tables.read(folder / "runs.parquet", "runs")
    for row in rows:
        row["derived_passed"] = not row["derived_passed"]
    tables.write(folder / "runs.parquet", "runs", rows, {})
    text = " ".join(told(Report(folder, bench.report.audit), bench.paths["labels"]).split())
    assert "this version derives ANOTHER derived_passed than the table says" in text
    assert "NOT what the seal says: runs.parquet" in text


# -- ids ------------------------------------------------------------------------------------------------


def test_a_run_has_several_names(bench: Bench) -> None:
    path = bench.paths["labels"]
    folder = path.removesuffix("/result.json")
    ways = (
        path,
        folder,
        f"{VARIANT}:{path}",
        f"{VARIANT}/{path}",
        f"variantbench/{folder}/",
        f"run:{path}",
    )
    assert len({told(bench.report, way) for way in ways}) == 1


def test_a_path_that_two_repositories_have_is_ambiguous(bench: Bench, tmp_path: Path) -> None:
    from benchproof import tables

    folder = Path(shutil.copytree(bench.report.folder, tmp_path / explained.DAY))
    rows = tables.read(folder / "runs.parquet", "runs")
    row = next(row for row in rows if row["run_path"] == bench.paths["labels"])
    tables.write(folder / "runs.parquet", "runs", [*rows, row | {"repo": "demo/scbench"}], {})
    report = Report(folder, bench.report.audit)
    with pytest.raises(ConfigError, match="names 2 things") as error:
        told(report, row["run_path"])
    assert f"run:demo/scbench:{row['run_path']}" in str(error.value)
    assert told(report, f"variantbench:{row['run_path']}").startswith(f"run {VARIANT}:")


@pytest.mark.parametrize(
    "asked", ["", "no.such-thing", "finding:", "run:x", "number:" + "y" * 500, "\x1b[2J"]
)
def test_an_unknown_id_is_a_usage_error(bench: Bench, asked: str) -> None:
    with pytest.raises(ConfigError, match=r"nothing in .* has this id") as error:
        told(bench.report, asked)
    assert str(error.value).isprintable()


def test_an_unknown_id_comes_with_close_ones(bench: Bench) -> None:
    known = bench.report.column("findings", "finding_id")[0]
    with pytest.raises(ConfigError, match=re.escape(known)):
        told(bench.report, known[:-1])


def test_without_a_report_it_says_which_there_are(bench: Bench) -> None:
    with pytest.raises(BenchproofError, match=f"Reports here: {explained.DAY}"):
        find_report(bench.report.audit, "2001-01-01")
    assert find_report(bench.report.audit, None).label == explained.DAY
    assert find_report(bench.report.audit, str(bench.report.folder)).label == explained.DAY


def test_the_command(
    bench: Bench,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    where = ["--report", str(bench.report.folder), "--config", "offline=true"]
    assert cli.main(["explain", bench.paths["labels"], *where]) == 0
    assert capsys.readouterr().out.startswith(f"run {VARIANT}:")
    assert cli.main(["explain", "nothing-like-this", *where]) == 2
    assert "There are" in capsys.readouterr().err


def test_the_documented_example_is_true(bench: Bench) -> None:
    """docs/explain.md shows what the command says of this family, and its script as it is printed."""
    audit = explained.settings(
        bench.family, bench.report.folder.parents[2] / "x", git_mirrors={}, offline=True
    )
    text = told(Report(bench.report.folder, audit), bench.paths["far off"])
    example = (ROOT / "docs" / "explain.md").read_text().split("```text\n")[1].split("```")[0]
    assert text.startswith(example)
    assert example.endswith("EOF\n)\n")
