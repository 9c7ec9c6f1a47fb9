"""The whole audit of the whole invented family: every figure that the real one is known by."""

from __future__ import annotations

import json
import stat
import subprocess
from collections import Counter
from collections.abc import Iterator

import pytest

import reports
from benchproof import tables
from benchproof.report.figures import figures
from conftest import DAY, Bench, settings
from family import TRAJECTORY_MARKER, Family, build_family
from upstream import Upstream

pytestmark = pytest.mark.workflow

#: manifest rows, evals, files, orphans, dangling, evals with a grader, handles.
PUBLISHED = {
    "scbench": (6, 6, 6, 0, 0, 6, 6),
    "spatialbench": (18, 16, 16, 0, 0, 16, 10),
    "epibench": (7, 7, 7, 0, 0, 0, 512),
    "variantbench": (8, 8, 8, 0, 0, 8, 35),
    "scbench-long": (4, 4, 4, 0, 0, 0, 10),
    "spatialbench-long": (4, 4, 4, 0, 0, 0, 9),
}


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Family:
    return build_family(tmp_path_factory.mktemp("family"))


@pytest.fixture(scope="module")
def served(family: Family) -> Iterator[Upstream]:
    with Upstream(family.root, family=family) as upstream:
        yield upstream


@pytest.fixture(scope="module")
def audited(
    tmp_path_factory: pytest.TempPathFactory, family: Family, served: Upstream
) -> tuple[Bench, str]:
    bench = Bench(
        tmp_path_factory.mktemp("audit"), settings(family, served, fetch={"select": "smallest"})
    )
    return bench, bench.audit()


def test_the_published_table_comes_out(audited: tuple[Bench, str]) -> None:
    """Rows, evals, files, orphans, dangling, graders and handles per repository."""
    bench, _ = audited
    graders = Counter(row["repo"] for row in bench.rows("evals") if row["grader_form"] != "none")
    handles = {(row["repo"], row["handle"]) for row in bench.rows("eval_handles")}
    found = {}
    for row in bench.rows("reconciliation"):
        repo = row["repo"]
        counts = tuple(row[name] for name in ("rows", "evals", "files", "orphans", "dangling"))
        found[repo.split("/")[1]] = (*counts, graders[repo], sum(r == repo for r, _ in handles))
    assert found == PUBLISHED
    assert len(handles) == 582


def test_the_census_comes_out(audited: tuple[Bench, str]) -> None:
    """Graders by type, tolerance entries by shape, canaries, notes, metadata key sets."""
    bench, _ = audited
    evals = bench.rows("evals")
    assert len(evals) == 45
    assert sum(row["has_canary"] for row in evals) == 41
    assert sum(row["has_notes"] for row in evals) == 30
    assert len({tuple(row["metadata_keys"]) for row in evals}) == 10
    assert Counter(row["eval_type"] is None for row in evals) == {False: 41, True: 4}
    assert Counter(row["grader_form"] for row in evals) == {"grader": 28, "none": 15, "graders": 2}
    assert Counter(row["type"] for row in bench.rows("graders")) == {
        "numeric_tolerance": 27,
        "label_set_jaccard": 4,
        "marker_gene_precision_recall": 2,
        "multiple_choice": 1,
        "all_of": 1,
    }
    tolerances = bench.rows("tolerances")
    assert Counter(row["mode"] for row in tolerances) == {"symmetric": 55, "offsets": 4}
    assert {row["declared_type"] for row in tolerances} == {"absolute"}


def test_every_recorded_run_is_graded_again(audited: tuple[Bench, str]) -> None:
    """1,041 runs of two repositories: 1,040 graded, 1 submitted nothing; all agree."""
    bench, _ = audited
    runs = bench.rows("runs")
    assert Counter(row["status"] for row in runs) == {
        "graded": 1040,
        "no_submission": 1,
        "rule_not_published": 16,
    }
    graded = [row for row in runs if row["status"] == "graded"]
    for column in ("passed_agrees", "score_agrees", "fields_agree"):
        assert all(row[column] for row in graded), column
    counted = [row for row in runs if row["status"] != "rule_not_published"]
    assert Counter(row["grader_version"] for row in counted) == {
        "0.3.7": 432,
        "0.3.8": 225,
        "0.3.9": 48,
        None: 336,
    }
    assert sum(row["repo"] == "demo/scbench" for row in bench.rows("run_fields")) == 594
    bounds = next(row for row in bench.rows("readings") if row["reading"] == "bounds")
    assert (bounds["applies"], bounds["verdicts_changed"], bounds["fields_changed"]) == (48, 5, 46)


def test_a_clean_family_gives_no_finding_but_what_the_real_one_has(
    audited: tuple[Bench, str],
) -> None:
    """Rows that repeat others, four evaluations without canary, one word in eval_type, timeouts that no run
    had, notes that tell, four evaluations that pass on zeros: the shape was counted with these.
    """
    bench, _ = audited
    assert Counter(row["rule"] for row in bench.rows("findings")) == {
        "manifest_row_duplicated": 2,
        "canary_missing": 4,
        "metadata_constant": 11,
        "metadata_field_missing": 4,
        "timeout_not_honoured": 5,
        "text_line_ends": 2,
        # Withheld: one row for each repository.
        "notes_give_answer": 3,
        "passes_on_zeros": 1,
        "window_contains_zero": 1,
        "window_covers_range": 1,
    }
    assert bench.rows("data_findings") == []


def test_findings_come_as_a_table_for_tools_and_as_lists(audited: tuple[Bench, str]) -> None:
    """SARIF and JSON say what the table says; withheld places stand in the vault's lists alone."""
    bench, _ = audited
    rows = bench.rows("findings")
    listed = json.loads((bench.out / "findings.json").read_text())["findings"]
    assert [{k: v for k, v in row.items() if k != "accepted"} for row in listed] == rows
    (run,) = json.loads((bench.out / "findings.sarif").read_text())["runs"]
    assert len(run["results"]) == len(rows)
    zeros = next(row for row in rows if row["rule"] == "passes_on_zeros")
    assert (zeros["path"], zeros["pointer"]) == (None, None)
    assert "4 places in 4 files" in zeros["message"]
    public = (bench.out / "findings" / "demo+spatialbench.md").read_text()
    (private,) = bench.vault.glob("handover/*/*/findings/demo+spatialbench.md")
    assert private.read_text().count("(id passes_on_zeros.") == 4
    assert public.count("(id passes_on_zeros.") == 1
    assert "demo_sp_02_fold.json` `/grader" not in public
    assert {path.stem for path in (bench.out / "findings").iterdir()} == {
        repo.replace("/", "+") for repo in {row["repo"] for row in bench.rows("pins")}
    }


def test_licences_are_classified(audited: tuple[Bench, str]) -> None:
    bench, _ = audited
    assert {(row["class"], row["data_terms"]) for row in bench.rows("licences")} == {
        ("other", "not stated")
    }


def test_a_second_run_has_nothing_to_do_and_asks_for_nothing(
    audited: tuple[Bench, str], served: Upstream
) -> None:
    bench, _ = audited
    before = len(served.log.requests())
    assert "Nothing to be done" in bench.audit()
    assert len(served.log.requests()) == before


def test_the_number_of_jobs_is_small(audited: tuple[Bench, str]) -> None:
    """It doesn't depend on the number of evaluations, runs or handles."""
    _, output = audited
    total = next(line for line in output.splitlines() if line.startswith("total"))
    assert int(total.split()[1]) <= 30


def test_nothing_graded_leaves_the_vault(audited: tuple[Bench, str], family: Family) -> None:
    """No distinctive graded value stands in results, logs, Snakemake's folders or the output."""
    bench, output = audited
    secrets = family.secrets()
    assert len(secrets) > 100
    texts = {"output": output}
    for folder in (bench.out, bench.folder / ".snakemake"):
        for path in folder.rglob("*"):
            if path.is_file() and path.suffix != ".parquet":
                texts[str(path)] = path.read_text(encoding="utf-8", errors="replace")
    for name in tables.SPECS:
        texts[name] = json.dumps(bench.rows(name), default=str, ensure_ascii=False)
    found = [
        (place, len(secret))
        for place, text in texts.items()
        for secret in secrets
        if secret in text
    ]
    assert not found


def test_trajectories_are_never_transferred(audited: tuple[Bench, str], family: Family) -> None:
    bench, _ = audited
    for path in bench.vault.rglob("*"):
        if path.is_file():
            assert TRAJECTORY_MARKER.encode() not in path.read_bytes()
    assert all(
        row["size"] is None for row in bench.rows("tree") if row["path"].endswith("trajectory.json")
    )


def test_the_vault_is_private(audited: tuple[Bench, str]) -> None:
    """Folders 0700, files 0600: what git writes below a private mirror is as unreachable."""
    bench, _ = audited
    assert stat.S_IMODE(bench.vault.stat().st_mode) == 0o700
    ours = [p for p in bench.vault.rglob("*") if "mirrors" not in p.relative_to(bench.vault).parts]
    assert {stat.S_IMODE(p.stat().st_mode) for p in ours if p.is_dir()} == {0o700}
    assert {stat.S_IMODE(p.stat().st_mode) for p in ours if p.is_file()} == {0o600}


def test_the_report_is_sealed_and_latest(audited: tuple[Bench, str]) -> None:
    """seal.json comes last and says complete; results/latest leads to it; the screen fits a terminal."""
    bench, output = audited
    seal = json.loads((bench.out / "seal.json").read_text())
    assert seal["complete"] is True
    assert {"report.html", "summary.md", "runs.parquet"} <= set(seal["files"])
    assert (bench.out.parent / "latest").resolve() == bench.out.resolve()
    summary = (bench.out / "summary.md").read_text()
    assert output.rstrip().endswith(summary.rstrip())
    assert len(summary.splitlines()) <= 24
    assert max(map(len, summary.splitlines())) <= 80
    assert "273 of 273 recorded verdicts" in summary
    assert "15 of 45 evals publish no rule (16 runs)" in summary
    assert f"results/{DAY}/report.html" in summary


def test_the_page_is_small_and_its_numbers_are_those_of_the_texts(
    audited: tuple[Bench, str],
) -> None:
    """DESIGN: at most 1.5 MB; every figure comes from its own query."""
    bench, _ = audited
    assert (bench.out / "report.html").stat().st_size < 1_500_000
    found = figures(bench.out)
    reports.alike(reports.read(bench.out, label=DAY, members=6), found)
    assert (found["scbench.runs.agree"].value, found["family.evals"].value) == (273, 45)


def test_tables_say_what_they_were_made_from(audited: tuple[Bench, str]) -> None:
    """Metadata holds commits, digests and versions; no clock, host or path (law 6)."""
    bench, _ = audited
    commits = {row["repo"]: row["commit_sha"] for row in bench.rows("pins")}
    for name in tables.SPECS:
        about = tables.about(bench.out / f"{name}.parquet")
        assert about["pins"] == commits
        assert set(about) == {"table", "pins", "config", "code", "notice", "versions"}
        assert str(bench.folder) not in json.dumps(about)


def test_summary_is_printed_again(audited: tuple[Bench, str]) -> None:
    bench, _ = audited
    assert bench.cli("summary").stdout == (bench.out / "summary.md").read_text()
    missing = bench.cli("summary", "1999-01-01")
    assert missing.returncode == 1
    assert DAY in missing.stderr


def test_nothing_is_pending(audited: tuple[Bench, str]) -> None:
    bench, _ = audited
    done = bench.cli("pending")
    assert (done.returncode, done.stdout) == (0, f"{DAY}: nothing is unknown.\n")


def test_every_file_of_the_repositories_is_listed(
    audited: tuple[Bench, str], family: Family
) -> None:
    """Paths, modes and ids as git itself lists them."""
    bench, _ = audited
    listed = {(r["repo"], r["path"], r["mode"], r["blob_sha"]) for r in bench.rows("tree")}
    expected = set()
    for info in family.repos.values():
        command = ["git", "-C", str(family.root / f"{info.repo}.git"), "ls-tree", "-rz", "HEAD"]
        for entry in subprocess.run(command, capture_output=True, check=True).stdout.split(b"\0")[
            :-1
        ]:
            about, path = entry.decode().split("\t", 1)
            mode, _, sha = about.split()
            expected.add((info.repo, path, mode, sha))
    assert listed == expected


def test_the_data_of_the_family_comes_out(audited: tuple[Bench, str], served: Upstream) -> None:
    """582 handles, 563 reachable, 39 of 45 runnable, the six others by name, 16 snapshots, 23.5 GB."""
    bench, output = audited
    handles = Counter(row["status"] for row in bench.rows("handles"))
    assert handles == {"reachable": 563, "refused": 19}
    runnable = bench.rows("runnable")
    assert Counter(row["runnable"] for row in runnable) == {"all": 39, "some": 2, "none": 4}
    incomplete = {
        row["eval_id"]: (row["n_refused"], row["n_handles"])
        for row in runnable
        if row["runnable"] != "all"
    }
    assert incomplete == {
        "demo_long_01_context": (1, 3),
        "demo_slong_01_multilayer": (1, 1),
        "demo_slong_02_proximity": (3, 3),
        "demo_slong_03_disruption": (2, 3),
        "demo_var_07_annotated": (7, 7),
        "demo_var_08_recall": (11, 11),
    }
    objects = {row["handle"]: row for row in bench.rows("objects")}
    assert len(objects) == 563
    snapshots = [row for row in objects.values() if row["container"] == "hdf5"]
    assert len(snapshots) == 16
    assert round(sum(row["size_bytes"] for row in snapshots) / 1e9, 1) == 23.5
    inside = [row for row in bench.rows("contents") if row["container"] == "hdf5"]
    assert {row["status"] for row in inside} == {"ok"}
    assert max(row["bytes_read"] for row in inside) < 1_000_000
    (fetched,) = bench.rows("files")
    assert (fetched["status"], fetched["n_obs"], fetched["n_vars"]) == ("ok", 987, 3411)
    assert fetched["sha256"] == served.storage.object_of(fetched["handle"]).sha256()
    assert "Data: 39 of 45 evals can be run (563 of 582 handles); 16 snapshots, 23.5 GB" in output
