"""The content tables of one commit, made by the rules' own scripts inside one process.

A series has many commits, and Snakemake takes seconds for each audit; here a commit costs what its tables
cost. Inputs and outputs go by the names that the rules give them, so that the bytes are those of an audit
whose `family` is this repository at this commit; a test holds STEPS to the rule files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchproof import provenance
from benchproof.config import content_digest
from benchproof.job import Job
from benchproof.sources.base import Pin, RepoSpec
from benchproof.vault import Vault, private_folder, write_json


@dataclass(frozen=True, slots=True)
class Step:
    """A rule: the tables it reads beside pins and content, those it writes, whether it hands findings on.

    `joins` are its inputs from jobs that share the recorded runs: empty, since one job derives a commit.
    """

    rule: str
    tables: tuple[str, ...]
    reads: tuple[str, ...] = ()
    notes: bool = True
    joins: tuple[str, ...] = ()


PINS: Final = "pin_commits"
COLLECT: Final = "collect_findings"
STEPS: Final = (
    Step("list_trees", ("tree",)),
    Step("reconcile_manifests", ("manifest", "reconciliation")),
    Step("project_evals", ("evals", "eval_handles", "graders", "tolerances")),
    Step("lint_evals", ()),
    Step("check_licences", ("licences",)),
    Step(
        "regrade_runs",
        ("runs", "run_fields", "readings"),
        joins=("runs", "run_fields", "shares"),
    ),
    Step("check_records", ("record_checks",), joins=("shares",)),
    Step("check_published", ("published", "published_checks"), ("runs", "evals", "manifest")),
    Step(
        "summarise_models",
        ("models", "estimates", "strata", "comparisons"),
        ("runs", "evals"),
        notes=False,
    ),
    Step(COLLECT, ("findings",), notes=False),
)
#: Each table of a commit, and the rule that makes it.
RULE_OF: Final = {"pins": PINS} | {table: step.rule for step in STEPS for table in step.tables}


class Named(dict[str, Any]):
    """Values by name, as Snakemake gives them: by key and by attribute."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True, slots=True)
class Terms:
    """What all commits of a run share: code digests by rule, and the keys that content depends on."""

    codes: Mapping[str, str]
    notice: str | None
    disclose: str
    accepted: str
    day: str

    def made_by(self, spec: RepoSpec) -> dict[str, Any]:
        """Return what the tables of a repository at one commit say of their configuration."""
        digest = content_digest([spec], None, self.notice, self.disclose)
        return {"config": digest, "notice": self.notice}

    def about(self, table: str, spec: RepoSpec) -> dict[str, Any]:
        """Return the metadata that a table of a commit has; `spec.ref` is the commit."""
        made_by = {**self.made_by(spec), "code": self.codes[RULE_OF[table]]}
        return provenance.metadata(table, [{"repo": spec.repo, "commit_sha": spec.ref}], made_by)


def derive(vault: Vault, spec: RepoSpec, pin: Pin, work: Path, terms: Terms) -> Path:
    """Make all tables of a commit whose content is in the vault; return the folder that holds them.

    `work` is a private folder of this commit alone.
    """
    assert pin.commit_sha is not None
    private_folder(work / "findings")
    out = private_folder(work / "tables")
    mirrored = {"status": "ok", "reason": None, "commit_sha": pin.commit_sha}
    write_json(work / "mirror.json", {spec.repo: mirrored})
    at = replace(spec, ref=pin.commit_sha)
    audit = {
        "label": terms.day,
        "family": [asdict(at)],
        "resources": str(vault.root),
        "work": str(work),
        "made_by": terms.made_by(at),
    }
    row = asdict(pin)
    _job(Step(PINS, ("pins",), notes=False), work, audit, terms).write("pins", [row], pins=[row])
    scripts = _scripts()
    for step in STEPS:
        scripts[step.rule](_job(step, work, audit, terms))
    return out


def _scripts() -> dict[str, Callable[[Job], None]]:
    """Return what the rules run. Their digests are among the terms: the scripts' folder is no package."""
    import check_licences
    import check_published
    import check_records
    import collect_findings
    import lint_evals
    import list_trees
    import project_evals
    import reconcile_manifests
    import regrade_runs
    import summarise_models

    modules = (
        *(list_trees, reconcile_manifests, project_evals, lint_evals, check_licences, regrade_runs),
        *(check_records, check_published, summarise_models, collect_findings),
    )
    return {module.__name__: module.main for module in modules}


def _job(step: Step, work: Path, audit: Mapping[str, Any], terms: Terms) -> Job:
    """Return what Snakemake would hand to the script of a rule."""

    def table(name: str) -> str:
        return str(work / "tables" / f"{name}.parquet")

    def findings(rule: str) -> str:
        return str(work / "findings" / f"{rule}.json")

    given: dict[str, Any] = {name: table(name) for name in ("pins", *step.reads)}
    made: dict[str, Any] = {name: table(name) for name in step.tables}
    given |= {name: [] for name in step.joins}
    given["mirror"] = str(work / "mirror.json")
    if step.notes:
        made["findings"] = findings(step.rule)
    if step.rule == COLLECT:
        parts = [findings(other.rule) for other in STEPS if other.notes]
        given |= {"parts": parts, "accepted": terms.accepted}
        # For other tools and maintainers: lists of a commit that is long gone are nobody's to mend.
        made |= {"sarif": str(work / "sarif.json"), "json": str(work / "findings.json")}
        made |= {"lists": [], "private": []}
    params = {"audit": audit, "code": terms.codes[step.rule], "disclose": terms.disclose}
    return Job(Named(rule=step.rule, input=Named(given), output=Named(made), params=Named(params)))
