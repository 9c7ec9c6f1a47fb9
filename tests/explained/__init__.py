"""Reports of an invented family without Snakemake: repositories read by git, tables made by the library."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from benchproof import config, findings, provenance, tables
from benchproof.analysis.runs import Regraded, regrade_repository
from benchproof.cli import DEFAULTS
from benchproof.explain.reports import Report
from benchproof.inventory.repository import (
    Repository,
    list_tree,
    project_repository,
    reconcile_repository,
)
from benchproof.pinning import mirror, pin_once
from benchproof.rulebook import RULES
from benchproof.sources import content
from benchproof.sources.opening import open_http, open_source
from benchproof.vault import Vault
from family.draft import Draft, EvalDraft, RunDraft
from family.model import Family
from family.runs import make_result, run_folder, write_run

DAY = "2026-01-15"
PAIR = ("acme", "orbit-1", "mini-swe-agent")
_MADE = {"config": "0" * 64, "code": "1" * 64, "notice": None}


def add_run(draft: Draft, word: str, graded: dict[str, Any] | None, replicate: int = 1) -> str:
    """Add a recorded run of a variantbench evaluation to its tree; return the path of its record."""
    item: EvalDraft = next(e for e in draft.evals["variantbench"] if e.word == word)
    result = make_result(draft.rng(word), item, PAIR, replicate, graded, build="0.3.9")
    folder = run_folder(item, PAIR, replicate)
    run = RunDraft("variantbench", item.eval_id, folder, PAIR, replicate, result)
    write_run(draft.tree("variantbench"), run)
    return run.path


def settings(family: Family, folder: Path, **changes: Any) -> config.Config:
    """Return the configuration of whoever reads a family's repositories where they lie."""
    raw: dict[str, Any] = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
    raw |= {
        "date": DAY,
        "family": family.config,
        "git_mirrors": {info.repo: info.path for info in family.repos.values()},
        "results": str(folder / "results"),
        "resources": str(folder / "vault"),
    }
    return config.load(raw | changes, DAY)


def report(family: Family, folder: Path) -> Report:
    """Audit the repositories of a family, as far as no server is asked, and return the report."""
    audit = settings(family, folder)
    vault = Vault(audit.resources)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in tables.SPECS}
    found: list[findings.Finding] = []
    regraded = Regraded()
    with open_http(audit.merged) as http:
        source = open_source(audit.merged, vault, http)
        for spec in audit.family:
            pin = pin_once(source, vault, DAY, spec, None)
            rows["pins"].append(asdict(pin))
            mirror(source, vault, spec, pin)
            assert pin.commit_sha is not None
            with content.opened(vault.content(spec.repo, pin.commit_sha)) as archive:
                repository = Repository(spec, pin.commit_sha, archive)
                found += _tables(repository, rows)
                regrade_repository(repository, regraded)
    rows |= {"runs": regraded.runs, "run_fields": regraded.run_fields}
    rows["findings"] = findings.rows([*found, *regraded.findings], RULES)
    out = Path(audit.results, DAY)
    for name, listed in rows.items():
        tables.write(out / f"{name}.parquet", name, listed, _about(name, rows["pins"]))
    return Report(out, audit)


def _tables(
    repository: Repository, rows: dict[str, list[dict[str, Any]]]
) -> Iterable[findings.Finding]:
    listed, found = list_tree(repository)
    reconciled, projected = reconcile_repository(repository), project_repository(repository)
    rows["tree"] += listed
    rows["manifest"] += reconciled.manifest
    rows["reconciliation"].append(reconciled.summary)
    for name in ("evals", "eval_handles", "graders", "tolerances"):
        rows[name] += getattr(projected, name)
    return [*found, *reconciled.findings, *projected.findings]


def _about(name: str, pins: list[dict[str, Any]]) -> dict[str, Any]:
    return provenance.metadata(name, pins, _MADE)
