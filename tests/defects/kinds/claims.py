"""What can go wrong with claims: the repository moves away, a claim is wrong, or a README's number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import yaml

from defects.bench import Bench
from defects.cases import add, defect
from defects.kinds import runs
from defects.trial import ROOT

Claim = dict[str, Any]
BESIDE = ("claims *", "findings *", "runs *", "published_checks *", "manifest *")


@cache
def published() -> tuple[Claim, ...]:
    """Return the claims of config/claims.yaml that need scbench alone."""
    listed = yaml.safe_load((ROOT / "config" / "claims.yaml").read_text())["claims"]
    return tuple(claim for claim in listed if claim["repos"] == ["scbench"])


def real(_: Bench) -> str:
    """Return these claims as a file."""
    return yaml.safe_dump({"claims": list(published())})


def _drifts(
    name: str, says: str, change: Callable[[Bench], object], *claims: str, kind: str = "drifted"
) -> None:
    """Enter a repository that moves away from what is claimed of it."""

    def plant(bench: Bench) -> Iterator[None]:
        yield None
        change(bench)

    seen = tuple(f"claims {claim} status={kind}" for claim in claims)
    add("claims", name, says, plant, seen, also=BESIDE, small=False, claimed=real)


def _without_eval(bench: Bench) -> None:
    del bench.tree[b"evals/qc/demo_qc_02_panel.json"]


def _without_run(bench: Bench) -> None:
    del bench.tree[runs.paths(bench, "qc_02_panel")[3].encode()]


def _record(
    change: Callable[[Claim], object], wanted: Callable[[Claim], bool]
) -> Callable[[Bench], None]:
    def apply(bench: Bench) -> None:
        path, record = runs.take(bench, wanted)
        change(record)
        runs.put(bench, path, record)

    return apply


def _flip(record: Claim) -> None:
    for level in (record["result"], record["result"]["grader_result"]):
        level["passed"] = not level["passed"]


def _half(record: Claim) -> None:
    record["result"]["grader_result"]["score"] = 0.123


def _field(record: Claim) -> None:
    scores = record["result"]["grader_result"]["field_scores"]
    name = next(name for name in sorted(scores) if scores[name] == 1)
    scores[name] = 0.0


def _edit(change: Callable[[Any], object]) -> Callable[[Bench], None]:
    def apply(bench: Bench) -> None:
        item = bench.item("evals/dimensionality_reduction/demo_dr_01_sentinels.json")
        change(item.data)

    return apply


_drifts("claim_of_files", "An evaluation is deleted", _without_eval, "scbench.files")
_drifts(
    "claim_of_runs",
    "A recorded run is deleted",
    _without_run,
    "scbench.runs",
    "scbench.missing_runs",
)
_drifts(
    "claim_of_passes",
    "A passed run is recorded as failed",
    _record(_flip, runs.passing),
    "scbench.passed",
)
_drifts(
    "claim_of_verdicts",
    "A verdict does not follow",
    _record(_flip, runs.passing),
    "scbench.verdicts_follow",
    kind="fails",
)
_drifts(
    "claim_of_scores",
    "A score does not follow",
    _record(_half, runs.partly),
    "scbench.scores_follow",
    kind="fails",
)
_drifts(
    "claim_of_fields",
    "A field does not follow",
    _record(_field, runs.partly),
    "scbench.fields_follow",
    kind="fails",
)
_drifts(
    "claim_of_field_passes",
    "A field's pass is gone",
    _record(_field, runs.partly),
    "scbench.field_passes",
)
_drifts(
    "claim_of_canaries",
    "A canary is deleted",
    _edit(lambda data: data.pop("canary")),
    "scbench.canaries",
    kind="fails",
)
_drifts(
    "claim_of_types",
    "A tolerance is relative",
    _edit(
        lambda data: next(iter(data["grader"]["config"]["tolerances"].values())).update(
            type="relative"
        )
    ),
    "scbench.type_is_constant",
    kind="fails",
)
_drifts(
    "claim_of_kits",
    "A kit is another",
    _edit(lambda data: data["metadata"].update(kit="kit_b")),
    "scbench.kits",
)
_drifts(
    "claim_of_graders",
    "A grader is withdrawn",
    _edit(lambda data: data.pop("grader")),
    "scbench.with_grader",
)


def _table(change: Callable[[list[str]], None]) -> Callable[[Bench], None]:
    def apply(bench: Bench) -> None:
        text = bench.tree.text("results/model_results.csv").decode()
        lines = text.split("\r\n")
        cells = lines[1].split(",")
        change(cells)
        lines[1] = ",".join(cells)
        bench.tree.put("results/model_results.csv", "\r\n".join(lines))

    return apply


def _up(column: int, step: float) -> Callable[[list[str]], None]:
    def change(cells: list[str]) -> None:
        cells[column] = f"{float(cells[column]) + step:.2f}"

    return change


_drifts(
    "claim_of_grid",
    "A published accuracy is one hundredth higher",
    _table(_up(2, 0.01)),
    "scbench.published_granularity",
    kind="fails",
)
_drifts(
    "claim_of_symmetry",
    "A published bound is five hundredths higher",
    _table(_up(3, 0.05)),
    "scbench.published_symmetry",
    kind="fails",
)
_drifts(
    "claim_of_tables",
    "A published accuracy is a run higher in one table",
    _table(_up(2, 100 / 585)),
    "scbench.published_tables",
    kind="fails",
)


# --- claims that are wrong themselves ----------------------------------------------------------------

ROWS = {
    "id": "demo.rows",
    "kind": "observation",
    "as_of": "2026-08-28",
    "source": "a test",
    "says": "The manifest of scbench has 6 rows.",
    "repos": ["scbench"],
    "query": "SELECT rows FROM reconciliation WHERE name = 'scbench'",
    "expect": 6,
}


def _wrong(name: str, says: str, *seen: str, **changes: Any) -> None:
    """Enter a claim that was changed; it holds before."""
    turned = {"now": False}

    def text(_: Bench) -> str:
        return yaml.safe_dump({"claims": [{**ROWS, **changes} if turned["now"] else ROWS]})

    def plant(bench: Bench) -> Iterator[None]:
        turned["now"] = False
        yield None
        turned["now"] = True

    add("claims", name, says, plant, seen, claimed=text)


DRIFTED, REFUSED = "claims demo.rows status=drifted", "claims demo.rows reason=query_refused"
_wrong("claim_off_by_one", "A claimed number is one too large", DRIFTED, expect=7)
_wrong("claim_at_least", "A claimed least is one too large", DRIFTED, expect={"at_least": 7})
_wrong("claim_between", "A claimed range lies above", DRIFTED, expect={"between": [7, 9]})
_wrong("claim_in_words", "A claimed number is a text", DRIFTED, expect="6")
_wrong("claim_true", "A claimed number is `true`", DRIFTED, expect=True)
_wrong(
    "claim_fails",
    "An invariant is wrong",
    "claims demo.rows status=fails",
    kind="invariant",
    expect=7,
)
_wrong(
    "claim_at_its_commit",
    "An observation is wrong at the very commit that it names",
    "claims demo.rows status=fails",
    commits={"scbench": "c" * 8},
    expect=7,
)
_wrong(
    "claim_of_no_table",
    "A query asks a table that does not exist",
    "claims demo.rows status=not_checked",
    query="SELECT count(*) FROM nothing",
)
_wrong(
    "claim_that_reads",
    "A query reads a file",
    REFUSED,
    query="SELECT count(*) FROM read_csv('/etc/passwd')",
)
_wrong(
    "claim_of_two_values",
    "A query returns two values",
    REFUSED,
    query="SELECT rows, evals FROM reconciliation",
)
_wrong("claim_that_writes", "A query writes", REFUSED, query="DROP TABLE reconciliation")
_wrong("claim_misspelt", "A query is misspelt", REFUSED, query="SELEC rows FROM reconciliation")
_wrong(
    "claim_of_another",
    "A claim is about a repository that is not audited",
    "claims demo.rows reason=not_in_this_audit",
    repos=["otherbench"],
)
_wrong(
    "claim_of_nothing",
    "A query finds nothing to check",
    "claims demo.rows status=not_checked",
    query="SELECT rows FROM reconciliation WHERE name = 'gone'",
)


# --- numbers in READMEs ------------------------------------------------------------------------------

STATED = "findings readme_count_differs README.md"


def _readme(
    name: str, says: str, right: str, wrong: str, *seen: str, repo: str = "scbench"
) -> None:
    """Enter a README with a sentence whose number is right before."""

    def plant(bench: Bench) -> Iterator[None]:
        text = bench.tree.text("README.md").decode()
        bench.tree.put("README.md", text + f"\n{right}\n")
        yield None
        bench.tree.put("README.md", text + f"\n{wrong}\n")

    add("claims", name, says, plant, seen or (STATED,), repo)


_readme(
    "readme_problems",
    "The README states one problem too many",
    "The benchmark has 195 verifiable problems.",
    "The benchmark has 196 verifiable problems.",
)
_readme(
    "readme_evaluations",
    "The README states fewer evaluations than the tables rest on",
    "**159 evaluations** across:",
    "**146 evaluations** across:",
    repo="spatialbench",
)
_readme(
    "readme_public",
    "The README states one public evaluation too many",
    "6 evaluations are public.",
    "7 evaluations are public.",
)
_readme(
    "readme_models",
    "The README states more models than the table has",
    "We ran 2 models on it.",
    "We ran 3 models on it.",
)


@defect("claims", STATED, repo="epibench")
def readme_behind_manifest(bench: Bench) -> Iterator[None]:
    """The README still states the number of evaluations of last month"""
    text = bench.tree.text("README.md").decode()
    bench.tree.put("README.md", text + "\nEpiBench has 7 evaluations.\n")
    yield None
    bench.tree.put("README.md", text + "\nEpiBench has 5 evaluations.\n")


@defect("claims", STATED)
def readme_title(bench: Bench) -> Iterator[None]:
    """The heading of the README's table states another number of evaluations"""
    text = bench.tree.text("README.md").decode()
    assert re.search(r"over 195 invented evaluations", text)
    yield None
    bench.tree.put("README.md", text.replace("over 195 invented", "over 190 invented"))
