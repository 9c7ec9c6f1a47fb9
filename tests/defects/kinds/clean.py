"""Changes that nobody may be accused for: other order, other writing, other names, more of what is sound."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from defects.bench import Bench, choice, distribution, labels, markers, numeric, separation
from defects.cases import add
from defects.kinds import graders, manifest, published, runs
from family import shape

Change = Callable[[Bench], object]
NAMES = graders.NAMES
ODD_NAMES = (
    *(
        "NA",
        "NaN",
        "null",
        "None",
        "1E5",
        "true",
        "007",
        "-1",
        "sage 4",
        "sage-4.1+preview@2026",
        "サゲ-4",
    ),
    *("Säge-4", "&lt;b&gt;sage", "=SUM(1)", "sage'4", "a" * 120, "SAGE-1x", "sage_4;latest"),
)


def mutant(
    name: str, says: str, change: Change, repo: str = "scbench", *, small: bool = True
) -> None:
    """Enter a change of a sound repository."""

    def plant(bench: Bench) -> Iterator[None]:
        yield None
        change(bench)

    add("clean", name, says, plant, (), repo, small=small)


def _texts(bench: Bench, part: str) -> list[str]:
    return [
        path.decode()
        for path in sorted(bench.tree)
        if path.endswith(b".json") and part in path.decode()
    ]


def _each(part: str, write: Callable[[Any, random.Random], str]) -> Change:
    """Return a change that writes every JSON file of a part anew."""

    def change(bench: Bench) -> None:
        bench._items.clear()
        for path in _texts(bench, part):
            bench.tree.put(path, write(bench.tree.json(path), bench.rng))

    return change


def _shuffled(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict):
        names = list(value)
        rng.shuffle(names)
        return {name: _shuffled(value[name], rng) for name in names}
    return [_shuffled(item, rng) for item in value] if isinstance(value, list) else value


def _dump(**options: Any) -> Callable[[Any, random.Random], str]:
    return lambda value, _: json.dumps(value, **options) + "\n"


WRITINGS: dict[str, tuple[str, Callable[[Any, random.Random], str]]] = {
    "one_line": ("on one line", _dump()),
    "compact": ("without a blank", _dump(separators=(",", ":"))),
    "tabs": ("with tabs", _dump(indent="\t")),
    "wide": ("with eight blanks", _dump(indent=8)),
    "raw": ("without escapes", _dump(indent=2, ensure_ascii=False)),
    "no_newline": ("without a last line break", lambda value, _: json.dumps(value, indent=2)),
    "crlf": (
        "with line ends of Windows",
        lambda v, _: json.dumps(v, indent=2).replace("\n", "\r\n") + "\r\n",
    ),
    "padded": (
        "with blank lines around",
        lambda value, _: f"\n\n{json.dumps(value, indent=2)}\n\n\n",
    ),
    "keys_sorted": ("with sorted keys", _dump(indent=2, sort_keys=True)),
    "keys_shuffled": (
        "with keys in any order",
        lambda v, rng: json.dumps(_shuffled(v, rng), indent=2) + "\n",
    ),
    "escaped": (
        "with needless escapes",
        lambda v, _: json.dumps(v, indent=2).replace("/", "\\/") + "\n",
    ),
}
for _part, _word in (
    ("evals/", "Evaluations and manifest"),
    ("trajectories/", "Records"),
    ("results/", "Tables"),
):
    for _name, (_says, _write) in WRITINGS.items():
        _where = "/result.json" if _part == "trajectories/" else _part
        _change = _each(_where, _write)
        mutant(f"{_part[:-1]}_{_name}", f"{_word} written {_says}", _change)
mutant(
    "manifest_ids_keys",
    "A manifest with paths, its keys in any order",
    _each("evals/manifest", WRITINGS["keys_shuffled"][1]),
    "variantbench",
)


def _more_zeros(value: Any) -> Any:
    """Return numbers as equal numbers that are written otherwise."""
    if isinstance(value, dict):
        return {key: _more_zeros(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_more_zeros(item) for item in value]
    return float(value) if type(value) is int and abs(value) < 2**50 else value


def _floats(bench: Bench) -> None:
    for item in bench.all():
        item.data["grader"] = _more_zeros(item.data["grader"])


def _shuffle_rows(bench: Bench) -> None:
    listed = manifest.rows(bench)
    bench.rng.shuffle(listed)
    manifest.put(bench, listed)


mutant("truths_as_floats", "Whole numbers of graders written as 7001.0", _floats)
for _repo in ("scbench", "spatialbench", "epibench", "variantbench"):
    if _repo != "spatialbench":
        mutant(
            f"rows_shuffled_{_repo}",
            f"Rows of the manifest of {_repo} in any order",
            _shuffle_rows,
            _repo,
        )


def _described(bench: Bench) -> None:
    listed = manifest.rows(bench)
    bench.tree.put_json(
        manifest.MANIFEST, {"version": "2", "description": "invented", "evals": listed}
    )


mutant("manifest_described", "A manifest with version and description", _described, "epibench")
mutant(
    "manifest_by_platform",
    "The manifest lists stems by platform, with right counts",
    lambda bench: bench.tree.put_json(manifest.MANIFEST, manifest._by_platform(bench)),
)


def _renamed(bench: Bench) -> None:
    bench._items.clear()
    listed = manifest.rows(bench)
    row = listed[0]
    old, new = row["eval_id"], "demo_renamed-2.1"
    for path in list(bench.tree):
        mode, leaf = bench.tree.pop(path)
        bench.tree[path.replace(old.encode(), new.encode())] = (
            mode,
            leaf.replace(old.encode(), new.encode()),
        )


def _kits(bench: Bench) -> None:
    bench._items.clear()
    for path in list(bench.tree):
        mode, leaf = bench.tree[path]
        if path.endswith(b".json"):
            bench.tree[path] = (mode, leaf.replace(b'"kit_b"', b'"NA"'))


mutant("id_renamed", "An evaluation renamed everywhere", _renamed)
mutant("kit_named_na", "A kit named NA, everywhere", _kits)


def _file(path: str, data: str | bytes) -> Change:
    return lambda bench: bench.tree.put(path, data)


for _name, _says, _path, _data in (
    ("readme_of_folder", "A README in a folder", "docs/README.md", "# Notes\n"),
    ("script", "A script", "tools/run.py", "print('run')\n"),
    ("notebook", "A notebook", "docs/show.ipynb", '{"cells": [], "nbformat": 4}\n'),
    ("picture", "A picture", "docs/figure.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    ("long_name", "A name of 200 letters", f"docs/{'n' * 200}.md", "Text.\n"),
    ("unicode_name", "A Japanese name", "docs/説明.md", "Text.\n"),
    ("accent_name", "A name with an accent", "docs/caf\u00e9.md", "Text.\n"),
    ("blank_name", "A name with blanks", "docs/how to run.md", "Text.\n"),
    ("quote_name", "A name with brackets and commas", "docs/a, b (draft) [2].md", "Text.\n"),
    ("dot_file", "A settings file", ".editorconfig", "root = true\n"),
    ("workflow", "A workflow of GitHub", ".github/workflows/test.yml", "on: push\n"),
    ("keep", "A file that keeps a folder", "data/.gitkeep", ""),
    ("requirements", "Requirements", "requirements.txt", "numpy\n"),
    ("citation", "A citation file", "CITATION.cff", "cff-version: 1.2.0\n"),
    ("text_of_na", "A text that says NA and NaN", "docs/na.md", "NA NaN null None 1E5\n"),
    (
        "json_elsewhere",
        "JSON of another kind elsewhere",
        "docs/schema.json",
        '{"id": "x", "task": "y"}\n',
    ),
    ("latin1_text", "A text in Latin-1 outside of what is read", "tools/old.txt", b"caf\xe9\n"),
    ("large", "A large text", "docs/large.txt", "line\n" * 50_000),
):
    mutant(f"file_{_name}", f"{_says} was added", _file(_path, _data))


def _script_mode(bench: Bench) -> None:
    bench.tree.put("tools/run.sh", "#!/bin/sh\necho run\n", "100755")


mutant("file_executable_script", "An executable script was added", _script_mode)


def _with(grader: dict[str, Any] | None, asked: dict[str, str], **changes: Any) -> Change:
    """Return a change that adds a sound evaluation and its row."""

    def change(bench: Bench) -> None:
        item = bench.add(grader, asked, **changes)
        bench.flush()
        listed = manifest.rows(bench)
        row = {"task": "qc", "kit": "kit_b", "eval_id": item.data["id"]}
        manifest.put(bench, [*listed, row])

    return change


def _entry(**entry: Any) -> dict[str, Any]:
    return numeric(n=(7001, entry))


LIST = graders.LIST
SHARES = {"cell_type_distribution": '{"<type>": <float>}'}
SOUND: dict[str, tuple[dict[str, Any] | None, dict[str, str]]] = {
    "absolute": (_entry(type="absolute", value=3), {"n": "<int>"}),
    "relative": (_entry(type="relative", value=0.05), {"n": "<int>"}),
    "offsets": (_entry(type="absolute", lower=3, upper=5), {"n": "<int>"}),
    "minimum": (_entry(type="min", value=7001), {"n": "<int>"}),
    "maximum": (numeric(n=(-7001, {"type": "max", "value": -7001})), {"n": "<int>"}),
    "exact": (_entry(type="absolute", value=0), {"n": "<int>"}),
    "untyped": (_entry(value=3), {"n": "<int>"}),
    "described": (_entry(type="absolute", value=3, description="narrow"), {"n": "<int>"}),
    "negative": (numeric(x=(-71.25, 0.5)), {"x": "<float>"}),
    "tiny": (numeric(x=(7.1e-12, 1e-13)), {"x": "<float>"}),
    "exponent": (numeric(x=(7.1e12, 1e10)), {"x": "<float>"}),
    "share": (numeric(x=(0.375, 0.125)), {"x": "<float between 0-1>"}),
    "many": (
        numeric(**{f"n{k}": (7001 + 97 * k, 3) for k in range(12)}),
        {f"n{k}": "<int>" for k in range(12)},
    ),
    "odd_names": (
        numeric(**{"NA": (7001, 3), "null": (8003, 2), "1E5": (9001, 4)}),
        {"NA": "<int>", "null": "<int>", "1E5": "<int>"},
    ),
    "unicode_field": (numeric(größe_m=(71.5, 0.5)), {"größe_m": "<float>"}),
    "choice": (choice("Q", options=["Q", "R", "S"]), {"answer": '"<letter>"'}),
    "choice_bare": (choice("Q"), {"answer": '"<letter>"'}),
    "choice_lower": (choice("q", options=["Q", "R"]), {"answer": '"<letter>"'}),
    "choice_list": (
        {
            "type": "multiple_choice",
            "config": {"correct_answers": ["Q", "R"], "options": ["Q", "R", "S"]},
        },
        {"answer": '"<letter>"'},
    ),
    "labels": (labels(*NAMES), {"labels": LIST}),
    "labels_all": (labels(*NAMES, threshold=1.0), {"labels": LIST}),
    "labels_counted": (labels(*NAMES, expected_count=5), {"labels": LIST}),
    "labels_of_na": (labels("NA", "NaN", "null", "None", "1E5", "SEPT1"), {"labels": LIST}),
    "labels_unicode": (
        labels("α-cell", "β-cell", "T cell (CD4+)", "a/b", "γδ T"),
        {"labels": LIST},
    ),
    "labels_alias": ({**labels(*NAMES), "type": "jaccard_label_set"}, {"labels": LIST}),
    "genes": (markers(*graders.GENES), {"genes": LIST}),
    "genes_counted": (markers(*graders.GENES, expected_count=4), {"genes": LIST}),
    "shares": (distribution(one=62.5, two=37.5), SHARES),
    "shares_rounded": (distribution(one=33.3, two=33.3, three=33.3), SHARES),
    "range": (
        {
            "type": "numeric_range",
            "config": {"ground_truth": {"n": 50}, "ranges": {"n": {"min": 40, "max": 60}}},
        },
        {"n": "<int>"},
    ),
    "order": (
        {
            "type": "longest_subsequence",
            "config": {
                "answer_field": "order",
                "ground_truth": list(NAMES),
                "scoring": {"pass_threshold": 0.75},
            },
        },
        {"order": LIST},
    ),
    "separation": (
        separation(),
        {"mean_auroc": "<float>", "per_gene_stats": "[...]"},
    ),
    "finished": (
        {"type": "finished_file", "config": {"expected": "finished"}},
        {"finished_file_contents": '"<text>"'},
    ),
    "all_of": (
        graders._children(numeric(n=(7001, 3)), labels(*NAMES)),
        {"n": "<int>", "labels": LIST},
    ),
    "all_in_all": (
        graders._children(graders._children(numeric(n=(7001, 3))), labels(*NAMES)),
        {"n": "<int>", "labels": LIST},
    ),
    "average": (
        {
            "type": "average_of",
            "config": {
                "pass_rule": "min_passing",
                "min_passing_children": 1,
                "children": [numeric(n=(7001, 3)), labels(*NAMES)],
            },
        },
        {"n": "<int>", "labels": LIST},
    ),
    "average_all": (
        {"type": "average_of", "config": {"children": [numeric(n=(7001, 3)), labels(*NAMES)]}},
        {"n": "<int>", "labels": LIST},
    ),
    "withheld": (None, {"result": '"<value>"'}),
}
for _name, (_grader, _asked) in SOUND.items():
    mutant(
        f"grader_{_name}",
        f"A sound evaluation was added: {_name.replace('_', ' ')}",
        _with(_grader, _asked),
    )
mutant(
    "graders_list",
    "A sound evaluation was added: a list of graders",
    _with(None, {"n": "<int>", "labels": LIST}, graders=[numeric(n=(7001, 3)), labels(*NAMES)]),
)
mutant(
    "no_notes",
    "A sound evaluation was added: no notes, a list of one handle",
    _with(numeric(n=(7001, 3)), {"n": "<int>"}, data_node=["latch://10000.node"]),
)


def _eval_item(bench: Bench) -> tuple[Any, str]:
    item = bench.item("evals/qc/demo_qc_02_panel.json")
    return item, item.data["id"]


def _new_run(model: str, harness: str = "mini-swe-agent", replicate: int = 1) -> Change:
    """Return a change that adds a sound run of another model."""

    def change(bench: Bench) -> None:
        from family.draft import EvalDraft
        from family.rules import FieldRule, grader_result
        from family.runs import make_result

        item, eval_id = _eval_item(bench)
        config = item.config
        rules = tuple(
            FieldRule(n, "int", t, config["tolerances"][n])
            for n, t in config["ground_truth"].items()
        )
        draft = EvalDraft(
            "scbench", eval_id, item.path, "qc_02_panel", "qc", "kit_b", item.data, rules
        )
        graded = grader_result(rules, {rule.name: rule.truth for rule in rules})
        pair = ("otherlab", model, harness)
        record = make_result(bench.rng, draft, pair, replicate, graded, build="0.3.8")
        folder = f"trajectories/{eval_id}/{'/'.join(pair)}/r{replicate}"
        runs.put(bench, f"{folder}/result.json", record)
        bench.tree.put(
            f"{folder}/eval_answer.json", json.dumps(graded["agent_answer"], indent=1) + "\n"
        )

    return change


for _place, _model in enumerate(ODD_NAMES):
    mutant(
        f"run_of_model_{_place}", f"A sound run of a model named {_model[:24]!r}", _new_run(_model)
    )
mutant("run_of_harness", "A sound run of a harness named NA", _new_run("sage-1", "NA"))
mutant("run_of_replicate", "A sound run of a tenth replicate", _new_run("sage-1", replicate=10))


def _silent(bench: Bench) -> None:
    path, record = runs.take(bench)
    record["result"].update(agent_answer=None, grader_result=None, passed=None)
    runs.put(bench, path, record)
    bench.tree.put(path.replace("result.json", "eval_answer.json"), "null\n")


def _without_cost(bench: Bench) -> None:
    path, record = runs.take(bench)
    record["result"]["metadata"].pop("total_cost")
    record.pop("latch_eval_tools_version")
    record["n_trials"] += 3
    runs.put(bench, path, record)


def _more_keys(bench: Bench) -> None:
    path, record = runs.take(bench)
    record["seed"] = 7
    record["result"]["metadata"]["gpu"] = None
    runs.put(bench, path, record)


def _reasoning(bench: Bench) -> None:
    path, record = runs.take(bench)
    record["result"]["grader_result"]["reasoning"] = "<script>alert(1)</script>\x1b[31m NaN"
    runs.put(bench, path, record)


def _no_metrics(bench: Bench) -> None:
    path, record = runs.take(bench)
    record["result"]["grader_result"]["metrics"] = {}
    runs.put(bench, path, record)


def _extra_answer_key(bench: Bench) -> None:
    path, record = runs.take(bench)
    for level in (record["result"], record["result"]["grader_result"]):
        level["agent_answer"] = {**level["agent_answer"], "remark": "NA"}
    runs.put(bench, path, record)
    answer = record["result"]["agent_answer"]
    bench.tree.put(
        path.replace("result.json", "eval_answer.json"), json.dumps(answer, indent=1) + "\n"
    )


mutant(
    "run_metadata_fewer",
    "A record without cost and version, of another number of trials",
    _without_cost,
)
mutant("run_metadata_more", "A record with keys that others lack", _more_keys)
mutant("run_reasoning", "A record whose reasoning holds markup and escapes", _reasoning)
mutant("run_without_metrics", "A record without metrics", _no_metrics)
mutant("run_answer_more", "An answer with a key that nobody grades", _extra_answer_key)


def _csv(change: Callable[[list[list[str]]], object], **options: Any) -> Change:
    def apply(bench: Bench) -> None:
        rows = published.table(bench)
        change(rows)
        published.put_table(bench, rows, **options)

    return apply


def _reverse(rows: list[list[str]]) -> None:
    rows[1:] = rows[:0:-1]


def _columns(rows: list[list[str]]) -> None:
    for row in rows:
        row.reverse()


def _wider(rows: list[list[str]]) -> None:
    rows[:] = [[*row, "x"] for row in rows]


def _longer(rows: list[list[str]]) -> None:
    for row in rows[1:]:
        row[2:5] = [f"{float(text):.2f}" for text in row[2:5]]


mutant("csv_reversed", "Rows of a table in another order", _csv(_reverse))
mutant("csv_columns", "Columns of a table in another order", _csv(_columns))
mutant("csv_quoted", "Every cell of a table in quotes", _csv(lambda rows: None, quoting=1))
mutant("csv_zeros", "Accuracies with all their zeros", _csv(_longer))
mutant("csv_more", "A column more in a table", _csv(_wider))


def _csv_bom_free(bench: Bench) -> None:
    bench.tree.put(published.CSV, bench.tree.text(published.CSV).rstrip(b"\r\n"))


mutant("csv_no_newline", "A table without a last line break", _csv_bom_free)


def _readme_more(bench: Bench) -> None:
    text = bench.tree.text("README.md").decode()
    more = (
        "\nSee issue 12, 3.5 million cells, 2026-08-28, and table 1 of the paper; 4 GPUs, 128 GB.\n"
    )
    bench.tree.put("README.md", text + more)


def _readme_html(bench: Bench) -> None:
    text = bench.tree.text("README.md").decode()
    bench.tree.put(
        "README.md",
        text + "\n<details><summary>More</summary>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    )


mutant("readme_numbers", "A README with numbers of other things", _readme_more)
mutant("readme_table", "A README with a table of other things", _readme_html)
mutant(
    "readme_counts",
    "A README that states its numbers right",
    lambda bench: bench.tree.put(
        "README.md",
        bench.tree.text("README.md").decode() + "\nOf 195 evaluations, 6 evaluations are public.\n",
    ),
)


for _repo in shape.REPOS:
    mutant(
        f"written_again_{_repo}",
        f"{_repo}, read and written again",
        _each(shape.REPOS[_repo].evals + "/", WRITINGS["wide"][1]),
        _repo,
    )
