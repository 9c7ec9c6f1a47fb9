"""The synthetic family has the shape that was counted in the real one, and none of its content."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from family import Draft, Family, build_family, draft_family, shape, write_family, write_repo
from family.evals import flat_graders
from family.rules import FieldRule
from family.tree import RepoTree, git_environment
from family.variants import HOSTILE_IDS, HOSTILE_JSON, VARIANTS


@pytest.fixture(scope="module")
def draft() -> Draft:
    """A whole family in memory."""
    return draft_family()


@pytest.fixture(scope="module")
def family(draft: Draft, tmp_path_factory: pytest.TempPathFactory) -> Family:
    """The same family on disk."""
    return write_family(draft, tmp_path_factory.mktemp("family"))


@pytest.fixture(scope="module")
def planted() -> Draft:
    """A family with planted findings in memory."""
    return draft_family(planted=True)


def git(path: str, *arguments: str) -> bytes:
    """Return what git prints for a repository."""
    command = ["git", "--git-dir", path, *arguments]
    return subprocess.run(command, env=git_environment(), check=True, capture_output=True).stdout


def evals(draft: Draft) -> Iterator[dict[str, Any]]:
    """Yield the content of every evaluation file."""
    for name, items in draft.evals.items():
        for item in items:
            yield draft.tree(name).json(item.path)


def records(draft: Draft, name: str) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield (path, content) of every result.json of a repository."""
    for path in draft.tree(name).below("trajectories"):
        if path.endswith(b"/result.json"):
            yield path, json.loads(draft.tree(name).text(path).decode("utf-8-sig"))


def test_first_table(draft: Draft, planted: Draft) -> None:
    """Rows to runnable are those of the published table, with findings planted or not."""
    for which in (draft, planted):
        table = which.facts["table"]
        found = {
            name: tuple(row[key] for key in shape.TABLE_COLUMNS) for name, row in table.items()
        }
        assert found == shape.TABLE
        sums = [sum(column) for column in zip(*found.values(), strict=True)]
        assert (sums[1], sums[6], sums[7], sums[8]) == (45, 582, 563, 39)


def test_manifest_and_tree_agree_on_disk(family: Family) -> None:
    """Counted from the repositories themselves, as the published page does, nothing is loose."""
    for name, info in family.repos.items():
        listing = json.loads(git(info.path, "show", f"main:{info.evals}/manifest.json"))
        if isinstance(listing, list):
            named = {f"{info.evals}/{row['task']}/{row['eval_id']}.json" for row in listing}
        else:
            named = {row["path"] for row in listing["evals"]}
        paths = git(info.path, "ls-tree", "-r", "--name-only", "main", info.evals).decode().split()
        files = {p for p in paths if not p.endswith(("manifest.json", "vocabulary.json"))}
        assert files == named
        assert len(files) == shape.TABLE[name][2]
        assert git(info.path, "rev-parse", "HEAD").decode().strip() == info.commit


def test_duplicate_rows(draft: Draft) -> None:
    """Counted from 1, rows 1 and 17 and rows 6 and 13 of spatialbench are identical."""
    rows = draft.tree("spatialbench").json("example_evals/manifest.json")
    assert len(rows) == 18
    assert rows[0] == rows[16]
    assert rows[5] == rows[12]
    assert len({row["eval_id"] for row in rows}) == 16


def test_refusals(draft: Draft) -> None:
    """Six evaluations lack handles, in the numbers of the published list; two are no benchmark."""
    missing = {}
    for items in draft.evals.values():
        for item in items:
            refused = sum(draft.handles[h].status == "refused" for h in item.handles)
            if refused:
                missing[item.word] = (refused, len(item.handles))
    assert missing == {
        "var_07_annotated": (7, 7),
        "var_08_recall": (11, 11),
        "long_01_context": (1, 3),
        "slong_01_multilayer": (1, 1),
        "slong_02_proximity": (3, 3),
        "slong_03_disruption": (2, 3),
    }
    rows = draft.tree("variantbench").json("evals/manifest.json")["evals"]
    extras = {row["id"] for row in rows if not row["benchmark"]}
    assert extras == {"demo_var_07_annotated", "demo_var_08_recall"}


def test_snapshots(draft: Draft) -> None:
    """22 evaluations use 16 distinct snapshots of 8.8 MB to 9,631 MB, 23.5 GB in all."""
    used = [h for n in ("scbench", "spatialbench") for e in draft.evals[n] for h in e.handles]
    sizes = sorted(draft.handles[handle].size for handle in set(used))
    assert (len(used), len(sizes)) == (22, 16)
    assert (round(sizes[0] / 1e6, 1), round(sizes[-1] / 1e6)) == (8.8, 9631)
    assert round(sum(sizes) / 1e9, 1) == 23.5
    assert sum(size > 1e9 for size in sizes) == 5


def test_graders_and_fields(draft: Draft) -> None:
    """Grader types, tolerance keys, canaries, notes and metadata keys are counted as published."""
    texts = list(evals(draft))
    graders = [grader for text in texts for grader in flat_graders(text)]
    assert Counter(grader["type"] for grader in graders) == {
        "numeric_tolerance": 27,
        "label_set_jaccard": 4,
        "marker_gene_precision_recall": 2,
        "multiple_choice": 1,
        "all_of": 1,
    }
    entries = [t for g in graders for t in g["config"].get("tolerances", {}).values()]
    assert Counter((t["type"], tuple(sorted(t))) for t in entries) == {
        ("absolute", ("type", "value")): 55,
        ("absolute", ("lower", "type", "upper")): 4,
    }
    keys = Counter(key for text in texts for key in text)
    assert (keys["grader"], keys["graders"], keys["canary"], keys["notes"]) == (28, 2, 41, 30)
    sets = Counter(tuple(sorted(text["metadata"])) for text in texts)
    assert sorted(sets.values(), reverse=True) == [23, 5, 4, 3, 3, 3, 1, 1, 1, 1]
    assert Counter(text["metadata"].get("eval_type") for text in texts) == {
        "scientific": 41,
        None: 4,
    }
    assert Counter(type(text["data_node"]).__name__ for text in texts) == {"str": 22, "list": 23}


def test_recorded_runs(draft: Draft) -> None:
    """1,041 runs, 1,040 graded by the rule and one that submitted nothing; builds as published."""
    builds: Counter[str | None] = Counter()
    silent = agree = 0
    rules = {item.eval_id: item.fields for items in draft.evals.values() for item in items}
    for name in ("scbench", "spatialbench"):
        for _, record in records(draft, name):
            builds[record.get("latch_eval_tools_version")] += 1
            graded = record["result"]["grader_result"]
            if graded is None:
                assert record["result"]["agent_answer"] is None
                assert record["result"]["passed"] is None
                silent += 1
                continue
            fields = rules[record["task"]]
            right = {rule.name: rule.right(graded["agent_answer"][rule.name]) for rule in fields}
            assert graded["field_scores"] == {key: float(value) for key, value in right.items()}
            assert graded["score"] == sum(right.values()) / len(right)
            assert graded["passed"] is record["result"]["passed"] is all(right.values())
            agree += 1
    assert builds == shape.BUILDS
    assert (silent, agree) == (1, 1040)


def test_scbench_by_the_numbers(draft: Draft) -> None:
    """scbench has the counted passes, fields, bounds, missing runs, costs and odd trial numbers."""
    assert draft.facts["passes"]["scbench"] == {
        "passed": 133,
        "failed": 140,
        "partial": 113,
        "fields": 594,
        "fields_passed": 438,
    }
    readings = draft.facts["readings"]["scbench"]
    assert readings["bounds"] == {"verdicts": 5, "fields": 46}
    assert readings["on_bound"]["fields"] == 80
    rules = {item.eval_id: item.fields for item in draft.evals["scbench"]}
    exact = offsets = 0
    trials = counts = costs = 0
    for path, record in records(draft, "scbench"):
        answer = record["result"]["agent_answer"]
        for rule in rules[record["task"]]:
            offsets += rule.offsets
            if rule.on_bound(answer[rule.name]):
                assert rule.right(answer[rule.name])
                exact += rule.kind == "exact"
        trials += record["trial_index"] != int(path.split(b"/")[-2][1:])
        counts += record["n_trials"] != 3
        costs += "total_cost" not in record["result"]["metadata"]
    assert (exact, offsets) == (67, 96)
    assert (trials, counts, costs) == (3, 4, 18)
    pairs: dict[str, set[str]] = {}
    for run in draft.runs["scbench"]:
        pairs.setdefault("/".join(run.pair), set()).add(run.eval_id)
    assert Counter(len(found) for found in pairs.values()) == {6: 11, 5: 5}


def test_record_shape(draft: Draft) -> None:
    """Keys, model names and paths of result.json follow one shape; one file is a single line."""
    single = 0
    for name in draft.runs:
        for path, record in records(draft, name):
            record.setdefault("latch_eval_tools_version", None)
            assert sorted(record) == [
                "agent_runtime_seconds",
                "eval_timeout_seconds",
                "harness",
                "latch_eval_tools_version",
                "model_name",
                "n_trials",
                "result",
                "task",
                "task_spec",
                "trial_index",
            ]
            inner = record["result"]
            assert sorted(inner) == [
                "agent_answer",
                "grader_result",
                "metadata",
                "passed",
                "test_id",
            ]
            _, task, provider, model, harness, _, _ = path.decode().split("/")
            assert (record["task"], record["harness"]) == (task, harness)
            bare = harness == "openai-codex"
            assert record["model_name"] == (model if bare else f"{provider}/{model}")
            single += draft.tree(name).text(path).count(b"\n") == 1
    assert single == 1


def test_composites(draft: Draft) -> None:
    """The 16 composite runs add field scores up; `passed` isn't "all fields 1" in three of them."""
    differs = total = costs = 0
    for _, record in records(draft, "spatialbench-long"):
        graded = record["result"]["grader_result"]
        scores = graded["field_scores"].values()
        assert graded["score"] == sum(scores)
        differs += graded["passed"] != all(score == 1 for score in scores)
        costs += "total_cost" not in record["result"]["metadata"]
        total += 1
    assert (total, differs, costs) == (16, 3, 8)


def test_four_evaluations_pass_on_zeros(draft: Draft) -> None:
    """An all-zero answer passes in 4 of spatialbench's 16 evaluations and in none of scbench's."""
    zeros = {
        name: sum(all(rule.right(0) for rule in item.fields) for item in draft.evals[name])
        for name in ("scbench", "spatialbench")
    }
    assert zeros == {"scbench": 0, "spatialbench": 4}


def test_same_seed_same_commits(family: Family, tmp_path: Path) -> None:
    """A seed fixes every commit id; another seed changes answers and handles, not the shape."""
    again = build_family(tmp_path / "a")
    assert {n: i.commits for n, i in again.repos.items()} == {
        n: i.commits for n, i in family.repos.items()
    }
    other = draft_family(seed=2)
    assert other.facts["table"] == family.facts["table"]
    assert other.facts["passes"]["scbench"] == family.facts["passes"]["scbench"]
    assert other.facts["readings"]["scbench"]["bounds"] == {"verdicts": 5, "fields": 46}
    mine = {value.text for value in family.graded_values if value.kind == "truth"}
    theirs = {value.text for value in other.graded if value.kind == "truth"}
    assert len({text for text in mine & theirs if len(text) > 3}) == 0


def test_save_and_load(family: Family, tmp_path: Path) -> None:
    """A description that was saved is read back equal."""
    family.save(tmp_path / "family.json")
    assert Family.load(tmp_path / "family.json") == family


def test_graded_values_are_in_the_files(draft: Draft) -> None:
    """What is to be searched for is what the files hold: truths, canaries and notes by kind."""
    kinds = Counter(value.kind for value in draft.graded)
    assert kinds["canary"] == 41
    assert kinds["notes"] == 30
    assert set(kinds) == {
        "truth",
        "tolerance",
        "label",
        "canary",
        "notes",
        "answer",
        "metric",
        "reasoning",
        "field_name",
    }
    outside = b"".join(
        content
        for name, commits in draft.trees.items()
        for path, (_, content) in commits[-1].items()
        if not path.endswith((b".json", b".jsonl"))
    ).decode()
    secrets = {value.text for value in draft.graded if value.distinctive}
    assert not [text for text in secrets if text in outside]


def test_planted(planted: Draft) -> None:
    """One finding of each kind is planted, each where its list says, and no count moves."""
    rules = Counter(finding.rule for finding in planted.findings)
    assert set(rules) >= {
        "verdict_differs",
        "score_differs",
        "field_differs",
        "record_contradicts_itself",
        "json_duplicate_key",
        "json_bom",
        "json_nan_token",
        "model_differs",
        "id_differs_from_stem",
        "symlink_in_tree",
        "submodule_in_tree",
        "lfs_pointer",
        "path_not_utf8",
        "editor_junk",
    }
    by_rule = {finding.rule: finding for finding in planted.findings}
    tree = planted.tree("scbench")
    assert tree.text(by_rule["json_bom"].path).startswith(b"\xef\xbb\xbf")
    double = tree.text(by_rule["json_duplicate_key"].path)
    pairs = json.loads(double, object_pairs_hook=lambda found: [key for key, _ in found])
    assert pairs
    assert double.count(b"-77777") == 1
    assert sum(len(list(records(planted, n))) for n in ("scbench", "spatialbench")) == 1041
    differs = {
        path.decode()
        for path, record in records(planted, "scbench")
        if record["result"]["grader_result"]["passed"]
        is not all(s == 1 for s in record["result"]["grader_result"]["field_scores"].values())
    }
    assert by_rule["verdict_differs"].path in differs
    assert b"docs/caf\xe9.txt" in planted.tree("scbench-long")
    assert by_rule["path_not_utf8"].path == '"docs/caf\\351.txt"'


def test_every_variant_is_written(tmp_path: Path) -> None:
    """Every variant makes a repository that git finds sound, of both manifest shapes."""
    for name in ("scbench", "epibench"):
        for variant in VARIANTS:
            root = tmp_path / f"{name}-{variant}"
            family = build_family(root, repos=[name], small=True, variants={name: variant})
            info = family.repos[name]
            assert info.variant == variant
            assert len(info.commits) == {"empty": 0, "moved": 2}.get(variant, 1)
    git(info.path, "fsck", "--strict")


def test_manifest_variants() -> None:
    """The shapes look as they did over history."""
    made = {
        kind: draft_family(repos=["scbench"], small=True, variants={"scbench": kind}).tree(
            "scbench"
        )
        for kind in ("a", "b", "c", "d", "unknown")
    }
    found = {kind: tree.json("evals/manifest.json") for kind, tree in made.items()}
    assert {key for row in found["a"] for key in row} == {"task", "kit", "eval_id"}
    assert {row["path"] for row in found["b"]["evals"]} <= {p.decode() for p in made["b"]}
    assert all(row["dest"].startswith("/Users/") for row in found["c"]["examples"])
    stems = [stem for group in found["d"]["platforms"].values() for stem in group["evals"]]
    files = {path.decode().rsplit("/", 1)[-1].removesuffix(".json") for path in made["d"]}
    assert set(stems) <= files
    ids = {
        made["d"].json(path)["id"] for path in made["d"].below("evals") if b"manifest" not in path
    }
    assert 0 < len(set(stems) & ids) < len(stems)
    assert "evals" not in found["unknown"]


def test_hostile_variants() -> None:
    """Hostile ids stand in the manifest, hostile texts in an evaluation and a run each."""
    draft = draft_family(
        repos=["scbench"], small=True, variants={"scbench": "hostile_ids,hostile_json"}
    )
    rows = draft.tree("scbench").json("evals/manifest.json")
    assert [row["eval_id"] for row in rows if row["eval_id"] in HOSTILE_IDS] == list(HOSTILE_IDS)
    paths = [path.decode() for path in draft.tree("scbench")]
    for kind in HOSTILE_JSON:
        assert f"evals/qc/demo_hostile_{kind}.json" in paths
        assert any(f"/hostile/{kind.replace('_', '-')}/" in path for path in paths)


@pytest.mark.parametrize(
    ("entry", "answer", "reading", "right"),
    [
        ({"value": 3}, 103, "rule", True),
        ({"value": 3}, 103, "strict", False),
        ({"value": 3}, 104, "rule", False),
        ({"lower": 2, "upper": 9}, 109, "rule", True),
        ({"lower": 2, "upper": 9}, 97, "rule", False),
        ({"lower": 2, "upper": 9}, 97, "swapped", True),
        ({"lower": 2, "upper": 9}, 5, "bounds", True),
        ({"value": 3}, 250, "relative", True),
    ],
)
def test_readings(entry: dict[str, int], answer: int, reading: str, right: bool) -> None:
    """The rule and the trap readings judge as they are described."""
    rule = FieldRule("f", "int", 100, {"type": "absolute", **entry})
    assert rule.read_as(answer, reading) is right


def test_write_repo_keeps_any_path_and_mode(tmp_path: Path) -> None:
    """Quotes, newlines and bytes that aren't UTF-8 survive, and so do links and submodules."""
    tree = RepoTree()
    tree.put(b'a "b"\\c.txt', "1\n")
    tree.put(b"line\nbreak.txt", "2\n")
    tree.put(b"\xff\xfe.txt", "3\n")
    tree.link("link", "target")
    tree.submodule("sub", "ab" * 20)
    write_repo(tmp_path / "x.git", [tree])
    rows = git(str(tmp_path / "x.git"), "ls-tree", "-r", "-z", "main").split(b"\0")[:-1]
    found = {row.split(b"\t", 1)[1]: row.split()[0].decode() for row in rows}
    assert found == {path: mode for path, (mode, _) in tree.items()}
