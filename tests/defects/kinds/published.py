"""What can go wrong in published tables: a digit, a sign, a name, a row, a file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

from defects.bench import Bench
from defects.cases import add, defect
from family.published import contradict_total

CSV, README = "results/model_results.csv", "README.md"
PARTS = {"tasks": "results/category_results.json", "platforms": "results/platform_results.json"}
ANY = ("findings published_*", "published_checks *")
Row = list[str]


def table(bench: Bench) -> list[Row]:
    """Return the rows of the CSV, its head first."""
    return list(csv.reader(io.StringIO(bench.tree.text(CSV).decode(), newline="")))


def put_table(bench: Bench, rows: list[Row], **options: Any) -> None:
    """Write the CSV back as it was."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n", **options).writerows(rows)
    bench.tree.put(CSV, out.getvalue())


def _cell(
    name: str,
    says: str,
    column: int,
    change: Callable[[str], str],
    *seen: str,
    repo: str = "scbench",
) -> None:
    """Enter a changed cell of one row of the CSV."""

    def plant(bench: Bench) -> Iterator[dict[str, str]]:
        rows = table(bench)
        place = bench.rng.randrange(1, len(rows))
        yield {"place": f"row {place}", "path": CSV}
        rows[place][column] = change(rows[place][column])
        put_table(bench, rows)

    add("tables", name, says, plant, seen or ("findings published_* *",), repo, ANY)


def _plus(step: float) -> Callable[[str], str]:
    return lambda text: f"{float(text) + step:.2f}"


CHECK = "published_checks {path}/{place}/*"
_cell(
    "accuracy_up",
    "An accuracy is one hundredth higher",
    2,
    _plus(0.01),
    f"{CHECK} status=fails",
    "findings published_* {path}",
)
_cell(
    "accuracy_down",
    "An accuracy is one hundredth lower",
    2,
    _plus(-0.01),
    f"{CHECK} status=fails",
    repo="spatialbench",
)
_cell("accuracy_much_up", "An accuracy is ten points higher", 2, _plus(10), f"{CHECK} status=fails")
_cell(
    "low_up",
    "A lower bound is two hundredths higher",
    3,
    _plus(0.02),
    f"{CHECK} status=fails",
    "findings published_interval_* {path}",
)
_cell(
    "high_up",
    "An upper bound is two hundredths higher",
    4,
    _plus(0.02),
    f"{CHECK} status=fails",
    repo="spatialbench",
)
_cell(
    "high_typo",
    "Two digits of an upper bound are exchanged",
    4,
    lambda text: text[:-2] + text[-1] + text[-2] if text[-1] != text[-2] else text[:-1] + "0",
    "findings published_interval_* {path}",
)
_cell(
    "size_up",
    "An N is one larger",
    5,
    lambda text: str(int(text) + 1),
    "findings published_* {path}",
)
_cell("size_zero", "An N is 0", 5, lambda text: "0", "findings published_* {path}")
_cell(
    "model_renamed",
    "A model has another name in one table",
    0,
    lambda text: text + "-new",
    "findings published_model_unlisted *|findings published_tables_disagree *|findings published_* *",
)
_cell("harness_renamed", "A harness has another name in one table", 1, lambda text: "other-agent")
_cell(
    "accuracy_comma",
    "An accuracy has a decimal comma",
    2,
    lambda text: text.replace(".", ","),
    "findings published_not_a_number {path}|findings published_unreadable {path}",
)
_cell(
    "accuracy_na",
    "An accuracy is n/a",
    2,
    lambda text: "n/a",
    "findings published_not_a_number {path}",
)
_cell(
    "accuracy_empty",
    "An accuracy is empty",
    2,
    lambda text: "",
    "findings published_not_a_number {path}",
)
_cell(
    "accuracy_share",
    "An accuracy is a share in a table of per cents",
    2,
    lambda text: f"{float(text) / 100:.4f}",
)
_cell("accuracy_negative", "An accuracy is negative", 2, lambda text: "-" + text)
_cell("accuracy_above", "An accuracy is above 100", 2, lambda text: "152.31")
_cell(
    "low_zero",
    "A lower bound was cut at 0",
    3,
    lambda text: "0.00",
    "findings published_interval_* {path}",
)
_cell("low_empty", "A bound is empty and the other is not", 3, lambda text: "")


@defect("tables", "findings published_interval_* {path}", also=ANY)
def bounds_exchanged(bench: Bench) -> Iterator[str]:
    """An interval is upside down"""
    rows = table(bench)
    yield CSV
    rows[1][3], rows[1][4] = rows[1][4], rows[1][3]
    put_table(bench, rows)


@defect("tables", "findings published_*", also=ANY)
def rows_exchanged(bench: Bench) -> Iterator[str]:
    """Two models have each other's numbers"""
    rows = table(bench)
    yield CSV
    rows[1][2:], rows[2][2:] = rows[2][2:], rows[1][2:]
    put_table(bench, rows)


@defect("tables", "findings published_*", also=ANY)
def row_twice_with_other_numbers(bench: Bench) -> Iterator[str]:
    """A model stands twice with different numbers"""
    rows = table(bench)
    yield CSV
    put_table(bench, [*rows, [*rows[1][:2], *rows[2][2:]]])


@defect("tables", "findings published_model_unlisted *", also=ANY)
def row_deleted(bench: Bench) -> Iterator[str]:
    """A model is missing among the totals"""
    rows = table(bench)
    readme = bench.tree.text(README).decode()
    yield CSV
    put_table(bench, [rows[0], *rows[2:]])
    line = next(
        one for one in readme.splitlines() if one.startswith(f"| {rows[1][0]} | {rows[1][1]} |")
    )
    bench.tree.put(README, readme.replace(line + "\n", "").replace("\n" + line, ""))


@defect("tables", "findings published_*", also=ANY)
def model_without_runs(bench: Bench) -> Iterator[str]:
    """A model heads the table of which nothing else was published"""
    rows = table(bench)
    yield CSV
    put_table(
        bench,
        [
            rows[0],
            ["phantom-1", "mini-swe-agent", "97.44", "95.32", "99.56", rows[1][5]],
            *rows[1:],
        ],
    )


@defect("tables", "findings published_total_differs *", repo="spatialbench", also=ANY)
def total_of_one_run_more(bench: Bench) -> Iterator[str]:
    """A model's total is one run higher than its parts, in every table of totals"""
    yield CSV
    contradict_total(bench.tree)


@defect("tables", "findings published_tables_disagree README.md", also=ANY)
def readme_number(bench: Bench) -> Iterator[str]:
    """An accuracy of the README is one hundredth higher"""
    rows = table(bench)
    old, new = (
        f"| {rows[1][0]} | {rows[1][1]} | {float(rows[1][2]) + step:.2f} |" for step in (0, 0.01)
    )
    readme = bench.tree.text(README).decode()
    yield README
    assert old in readme
    bench.tree.put(README, readme.replace(old, new))


@defect("tables", "findings published_* README.md", also=ANY)
def readme_row_deleted(bench: Bench) -> Iterator[str]:
    """A model is missing in the README's table"""
    readme = bench.tree.text(README).decode()
    row = table(bench)[1]
    line = next(one for one in readme.splitlines() if one.startswith(f"| {row[0]} | {row[1]} |"))
    yield README
    bench.tree.put(README, readme.replace(line, "").rstrip() + "\n")


def _text(
    name: str,
    says: str,
    path: str,
    change: Callable[[bytes], bytes],
    *seen: str,
    also: tuple[str, ...] = (),
) -> None:
    """Enter a results file whose text is damaged."""

    def plant(bench: Bench) -> Iterator[str]:
        yield path
        text = change(bench.tree.text(path))
        assert text != bench.tree.text(path)
        bench.tree.put(path, text)

    add("tables", name, says, plant, seen, also=(*ANY, *also))


_text(
    "csv_cut_off",
    "The table ends in the middle of a row",
    CSV,
    lambda text: text[: len(text) // 2 + 3],
    "findings published_*",
)
_text(
    "csv_emptied",
    "The table is an empty file",
    CSV,
    lambda text: b"",
    "findings published_unreadable {path}|findings published_shape_unknown {path}",
)
_text(
    "csv_semicolons",
    "The table has semicolons",
    CSV,
    lambda text: text.replace(b",", b";"),
    "findings published_*",
)
_text(
    "csv_quote_open",
    "A quote is opened and never closed",
    CSV,
    lambda text: text.replace(b"mini-swe-agent", b'"mini-swe-agent', 1),
    "findings published_*",
)
_text(
    "csv_head_renamed",
    "A column has another name",
    CSV,
    lambda text: text.replace(b"Accuracy (%)", b"Result"),
    "findings published_shape_unknown {path}",
)
_text(
    "csv_head_lost",
    "The head is gone",
    CSV,
    lambda text: text.split(b"\r\n", 1)[1],
    "findings published_shape_unknown {path}|findings published_unreadable {path}",
)
_text(
    "csv_columns_exchanged",
    "The heads of two columns are exchanged",
    CSV,
    lambda text: text.replace(b"ci_lower,ci_upper", b"ci_upper,ci_lower"),
    "findings published_interval_* {path}",
)
_text(
    "csv_in_utf16",
    "The table is UTF-16",
    CSV,
    lambda text: text.decode().encode("utf-16"),
    "findings published_unreadable {path}|findings text_not_utf8 {path}",
    also=("findings text_* {path}",),
)
_text(
    "json_cut_off",
    "A table of parts ends in the middle",
    PARTS["tasks"],
    lambda text: text[: len(text) // 2],
    "findings published_unreadable {path}|findings json_unreadable {path}",
    also=("findings json_* {path}",),
)
_text(
    "json_nan",
    "A number of a part is NaN",
    PARTS["tasks"],
    lambda text: re.sub(rb'"passed": [0-9.]+', b'"passed": NaN', text, count=1),
    "findings json_nan_token {path}|findings published_not_a_number {path}",
    also=("findings json_* {path}",),
)
_text(
    "json_key_twice",
    "A model stands twice in a part",
    PARTS["platforms"],
    lambda text: text.replace(b'"passed"', b'"passed": 12.5, "passed"', 1),
    "findings json_duplicate_key {path}",
    also=("findings json_* {path}",),
)


def _parts(
    name: str,
    says: str,
    word: str,
    change: Callable[[dict[str, Any]], object],
    *seen: str,
    repo: str = "scbench",
) -> None:
    """Enter a change of a table of parts."""

    def plant(bench: Bench) -> Iterator[str]:
        found = bench.tree.json(PARTS[word])
        yield PARTS[word]
        change(found)
        bench.tree.put_json(PARTS[word], found)

    add("tables", name, says, plant, seen or ("findings published_* *",), repo, ANY)


def _first(found: dict[str, Any], word: str) -> dict[str, Any]:
    part = found[word][sorted(found[word])[0]]
    model: dict[str, Any] = part["model"][sorted(part["model"])[0]]
    return model


_parts(
    "part_up",
    "A category's accuracy is one hundredth higher",
    "tasks",
    lambda found: _first(found, "tasks").update(
        passed=round(_first(found, "tasks")["passed"] + 0.01, 2)
    ),
)
_parts(
    "part_down",
    "A platform's accuracy is one hundredth lower",
    "platforms",
    lambda found: _first(found, "platforms").update(
        passed=round(_first(found, "platforms")["passed"] - 0.01, 2)
    ),
    repo="spatialbench",
)
_parts(
    "part_bound",
    "A category's bound is two hundredths higher",
    "tasks",
    lambda found: _first(found, "tasks").update(ci_low=_first(found, "tasks")["ci_low"] + 0.02),
    "findings published_interval_off_centre *",
)
_parts(
    "part_size",
    "A category states one evaluation more",
    "tasks",
    lambda found: found["tasks"]["qc"].update(n_evals=found["tasks"]["qc"]["n_evals"] + 1),
    "findings published_sizes_differ *|findings published_off_grid *",
)
_parts(
    "part_size_moved",
    "A category states one evaluation more and another one less",
    "platforms",
    lambda found: (
        found["platforms"]["kit_a"].update(n_evals=found["platforms"]["kit_a"]["n_evals"] + 1),
        found["platforms"]["kit_b"].update(n_evals=found["platforms"]["kit_b"]["n_evals"] - 1),
    ),
)
_parts(
    "part_lost",
    "A category is missing",
    "tasks",
    lambda found: found["tasks"].pop("qc"),
    "findings published_sizes_differ *",
)
_parts(
    "part_model_lost",
    "A model is missing in one category",
    "tasks",
    lambda found: found["tasks"]["qc"]["model"].popitem(),
)
_parts(
    "part_numbers_exchanged",
    "Two categories have each other's numbers",
    "tasks",
    lambda found: found["tasks"].update(
        qc={**found["tasks"]["qc"], "model": found["tasks"]["clustering"]["model"]},
        clustering={**found["tasks"]["clustering"], "model": found["tasks"]["qc"]["model"]},
    ),
)
_parts(
    "part_models_exchanged",
    "Two models have each other's numbers in one category",
    "tasks",
    lambda found: _exchange(found["tasks"]["cell_typing"]["model"]),
)
_parts(
    "replicates_changed",
    "The number of replicates is 5 where 3 were run",
    "tasks",
    lambda found: found["metadata"].update(n_runs=5),
)
_parts(
    "part_text",
    "A category's accuracy is a text",
    "tasks",
    lambda found: _first(found, "tasks").update(passed="high"),
    "findings published_not_a_number *",
)
_parts(
    "parts_renamed",
    "The key of the parts has another name",
    "tasks",
    lambda found: found.update(groups=found.pop("tasks")),
    "findings published_shape_unknown *",
)


def _exchange(models: dict[str, Any]) -> None:
    one, other = sorted(models)[:2]
    models[one], models[other] = models[other], models[one]


@defect(
    "tables",
    "findings published_recomputed_differs *|findings published_public_runs_exceed *",
    also=ANY,
    small=False,
)
def public_model_without_a_pass(bench: Bench) -> Iterator[str]:
    """A model is published at 0 although public runs of it pass"""
    rows = table(bench)
    place = next(
        n for n, row in enumerate(rows) if row[0] == "sage-3" and row[1] == "mini-swe-agent"
    )
    yield CSV
    rows[place][2:5] = ["0.00", "0.00", "0.00"]
    put_table(bench, rows)


@defect("tables", "findings published_recomputed_differs *", also=ANY, small=False)
def table_of_the_public_runs(bench: Bench) -> Iterator[str]:
    """A table over the public evaluations is off by one run"""
    passed: dict[bytes, list[bool]] = {}
    for path in bench.tree.below("trajectories"):
        if path.endswith(b"/result.json") and b"/demolabs/sage-1/" in path:
            record = bench.tree.json(path)["result"]
            passed.setdefault(path.split(b"/")[1], []).append(bool(record["passed"]))
    runs = [one for each in passed.values() for one in each]
    bench.tree.put(CSV, _small_table(len(passed), 100 * sum(runs) / len(runs)))
    for part in PARTS.values():
        del bench.tree[part.encode()]
    readme = bench.tree.text(README).decode()
    bench.tree.put(README, readme[: readme.index("\n## Results over")])
    yield CSV
    bench.tree.put(CSV, _small_table(len(passed), 100 * (sum(runs) + 1) / len(runs)))


def _small_table(size: int, accuracy: float) -> str:
    return f"model_name,harness,Accuracy (%),N\nsage-1,mini-swe-agent,{accuracy:.2f},{size}\n"
