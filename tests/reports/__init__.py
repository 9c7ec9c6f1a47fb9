"""Reports made of rows that a test invents, without an audit: tables as the workflow writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchproof import tables
from benchproof.report import html
from benchproof.report.facts import Facts, gather
from benchproof.report.figures import Figure, figures
from benchproof.report.measures import part, short_names

Row = dict[str, Any]
Rows = Mapping[str, Iterable[Row]]

DAY = "2026-01-15"
COMMIT = "c" * 40
ABOUT: dict[str, Any] = {"label": DAY, "members": 1, "made_by": {"notice": None}}
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_FILLED = {
    tables.WHOLE: 1,
    tables.REAL: 0.5,
    tables.YES_NO: True,
    tables.INSTANT: AT,
}


def row(table: str, **values: Any) -> Row:
    """Return a row with these values and nulls, of the repository demo/one."""
    schema = tables.SPECS[table].schema
    repo = {"repo": "demo/one"} if "repo" in schema.names else {}
    return {**dict.fromkeys(schema.names), **repo, **values}


def filled(table: str, text: str, **values: Any) -> Row:
    """Return a row in which every text says `text` and nothing is null."""
    schema = tables.SPECS[table].schema
    cells = {
        field.name: _FILLED.get(field.type, [text] if field.type == tables.TEXTS else text)
        for field in schema
    }
    repo = {"repo": "demo/one"} if "repo" in schema.names else {}
    severity = {"severity": "major"} if "severity" in schema.names else {}
    return {**cells, **repo, **severity, **values}


def pin(repo: str = "demo/one", **values: Any) -> Row:
    """Return the pin of a repository that was read."""
    read = {"status": "ok", "commit_sha": COMMIT, "committed_at": AT, "repo": repo}
    return row("pins", **{**read, **values})


def counted(repo: str = "demo/one", **values: Any) -> Row:
    """Return the reconciliation of a repository of one evaluation."""
    counts = dict.fromkeys("rows evals files".split(), 1) | dict.fromkeys(
        "orphans dangling".split(), 0
    )
    read = {"status": "ok", "shape": "a", "folder": "evals", "repo": repo}
    return row("reconciliation", **{**counts, **read, **values})


def write(folder: Path, **given: Iterable[Row]) -> Path:
    """Write all tables of a report: the given rows, one pinned repository, and else none."""
    rows = {"pins": [pin()], "reconciliation": [counted()]} | given
    for name in tables.SPECS:
        tables.write(folder / f"{name}.parquet", name, rows.get(name, []), {})
    return folder


def read(folder: Path, **about: Any) -> Facts:
    """Return what a written report says."""
    return gather(folder, {**ABOUT, **about}, folder.parent)


def alike(facts: Facts, found: Mapping[str, Figure]) -> None:
    """Assert that the numbers which facts count for the texts are those of the figures."""
    names = short_names(r.repo for r in facts.repositories)
    value = {key: one.value for key, one in found.items()}
    for r in facts.repositories:
        here = names[r.repo]
        counts = {
            "graders": r.graders,
            "handles": r.handles,
            "runs": r.runs,
            "runs.graded": r.graded,
        }
        counts |= {"runs.agree": r.agreeing, "runs.evals": r.evals_with_runs}
        counts |= {f"runs.{status}": n for status, n in r.ungraded.items()}
        counts |= {
            n: r.reconciliation[n] for n in ("rows", "evals", "files", "orphans", "dangling")
        }
        assert {name: value[f"{here}.{name}"] for name in counts} == counts
    for d in facts.data:
        here = names[d.repo]
        counts = {
            "handles.reachable": d.reachable,
            "handles.refused": d.refused,
            "runnable": d.full,
        }
        counts |= {"runnable.evals": d.evals}
        assert {name: value[f"{here}.{name}"] for name in counts} == counts
    for severity, number in facts.by_severity.items():
        assert value[f"family.findings.{severity}"] == number
    for build, graded, agree in facts.builds:
        key = f"family.builds.{part(build.replace(' ', '_'))}"
        assert (value[f"{key}.graded"], value[f"{key}.agree"]) == (graded, agree)
    for repo, check, *counts_of_check in facts.checked:
        key = f"{names[repo]}.{check.replace(': ', '.')}"
        assert [value[f"{key}.{s}"] for s in ("holds", "fails", "not_checked")] == counts_of_check
    for s in facts.statistics:
        key = f"{names[s.repo]}.comparisons"
        assert [value[f"{key}.{n}"] for n in ("pairs", "apart", "evals")] == [
            s.pairs,
            s.apart,
            s.largest_n,
        ]
    unknown = [
        (t, value[f"family.{t}.unknown"]) for t in ("handles", "objects", "contents", "files")
    ]
    assert [" ".join(line.split()[:2]) for line in facts.unlearnt] == [
        f"{n} {t}" for t, n in unknown if n
    ]
    assert sum(row["size_bytes"] for row in facts.snapshots) == value["family.snapshots.bytes"]


def every(*texts: str) -> dict[str, list[Row]]:
    """Return a row of every table for each text, which stands in every column that upstream can fill."""
    rows = {
        name: [
            filled(name, text, **({"row": n} if name == "manifest" else {}))
            for n, text in enumerate(texts)
        ]
        for name in tables.SPECS
    }
    pinned = [pin(reason=texts[0], ref=texts[0])]
    return {**rows, "pins": pinned, "reconciliation": [counted(shape=texts[0])]}


def page(folder: Path, rows: Rows | None = None, notice: str | None = None) -> str:
    """Write a report of these rows and return its page."""
    write(folder, **(rows or {}))
    return html.render(read(folder, made_by={"notice": notice}), figures(folder))


def sample(runs: int = 60) -> dict[str, list[Row]]:
    """Return rows of a small repository as an audit would write them, with so many runs."""
    models = ("NA", "null", "1E5", "sage-1", "sage-2")
    evals = [f"demo_{n:02}" for n in range(14)]
    handles = [f"latch://{n}.node" for n in range(14)]
    refused = {"status": "refused", "reason": "not_shared_or_unknown"}
    inside = {
        "obs_columns": [f"c{m}: int64" for m in range(9)],
        "layers": [],
        "obsm": ["X_pca: array"],
    }

    def run(n: int) -> Row:
        name, model, silent = evals[n % 14], models[n % 5], n % 29 == 28
        path = f"trajectories/{name}/demo/{model}/cli/r{n:06}/result.json"
        who = {
            "eval_id": name,
            "provider": "demo",
            "model": model,
            "harness": "cli",
            "replicate": n,
        }
        verdict = {"status": "graded", "derived_passed": n % 2 == 0, "passed_agrees": n != 7}
        none = {"status": "no_submission", "reason": "absent"}
        near = {"edge": "clear" if n % 10 else "on_bound", "tier": "A", "contested": n == 11}
        passed = {"recorded_passed": n % 2 == 0, **(none if silent else verdict), **near}
        return row("runs", run_path=path, **who, **passed)

    def model(n: int) -> Row:
        middle = 0.2 * n
        ends = {"ci_low": middle - 0.3, "ci_high": middle + 0.3} if n else {}
        counts = dict.fromkeys("n_no_submission n_unreadable n_missing".split(), 0)
        counts |= {"n_evals": 14 if n else 5, "n_runs": 12, "n_passed": 6}
        both = {"accuracy": middle, "accuracy_all": middle, "complete": True}
        return row("models", model=models[n], harness="cli", **counts, **both, **ends)

    def evaluation(n: int) -> Row:
        told = {"task": f"task{n % 3}", "kit": None if n % 2 else "kit", "has_canary": True}
        form = {"grader_form": "grader" if n % 3 else "none", "n_graders": n % 3, "n_handles": 1}
        name = {"path": f"evals/{evals[n]}.json", "eval_id": evals[n], "status": "ok"}
        return row("evals", **name, **told, **form, prompt_chars=300 + n)

    def handle(n: int) -> Row:
        state = {"status": "reachable"} if n != 3 else refused
        return row("handles", handle=handles[n], n_evals=1, **state)

    def runnable(n: int) -> Row:
        counts = {"n_handles": 1, "n_reachable": int(n != 3), "n_refused": int(n == 3)}
        state = "none" if n == 3 else "all"
        return row("runnable", eval_id=evals[n], n_unknown=0, runnable=state, **counts)

    def object_(table: str, n: int, **values: Any) -> Row:
        return row(table, handle=handles[n], status="ok", **values)

    def finding(n: int) -> Row:
        severity = ("critical", "major", "minor", "info")[n % 4]
        place = {"path": f"evals/{n}.json", "commit_sha": COMMIT, "stage": "reconcile_manifests"}
        said = {"rule": "orphan", "message": "It is in no manifest.", "remedy": "List it."}
        return row("findings", finding_id=f"orphan.{n:010}", severity=severity, **place, **said)

    def claim(n: int) -> Row:
        state = {"status": "holds", "observed": "1"} if n % 3 else {"status": "drifted"}
        said = {"source": "a page", "says": "So.", "as_of": "2026-01-01", "expected": "1"}
        name = {"claim_id": f"one.claim{n}", "kind": "observation", "repos": ["one"]}
        return row("claims", **name, **said, **state)

    verbatim = {"path": "LICENSE", "class": "verbatim", "data_terms": "not stated"}
    return {
        "evals": [evaluation(n) for n in range(14)],
        "eval_handles": [
            row("eval_handles", eval_id=e, handle=h, status="ok")
            for e, h in zip(evals, handles, strict=True)
        ],
        "handles": [handle(n) for n in range(14)],
        "runnable": [runnable(n) for n in range(14)],
        "objects": [
            object_("objects", n, container="hdf5", size_bytes=10**6 * 3**n) for n in range(9)
        ],
        "contents": [
            object_("contents", n, n_obs=100 * n, n_vars=50, x_encoding="csr_matrix", **inside)
            for n in range(9)
        ],
        "files": [object_("files", 0, size_bytes=10**6, sha256="a" * 64, verified_by="md5")],
        "runs": [run(n) for n in range(runs)],
        "readings": [
            row(
                "readings",
                reading="bounds",
                runs=58,
                applies=9,
                verdicts_changed=2,
                fields_changed=3,
            )
        ],
        "models": [model(n) for n in range(5)],
        "findings": [finding(n) for n in range(30)],
        "claims": [claim(n) for n in range(15)],
        "licences": [row("licences", status="ok", deviations=[], **verbatim)],
        "record_checks": [
            row("record_checks", check="composite", n_holds=5, n_fails=0, n_not_checked=0)
        ],
    }
