"""All published results of one repository: read, brought into one form, checked, turned into rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchproof import jsontext
from benchproof.analysis.breakdown import outcomes
from benchproof.analysis.published import checks, readmes
from benchproof.analysis.published.checks import RULE_OF, Check, Public
from benchproof.analysis.published.scores import File, Score, parse, plain, with_harness
from benchproof.errors import Unreadable
from benchproof.findings import Finding, repeated_keys
from benchproof.inventory import layout
from benchproof.inventory.repository import Repository

Row = Mapping[str, Any]
_RESULTS = (".csv", ".json", ".md")


@dataclass
class Published:
    """Rows of the tables published and published_checks, and findings."""

    scores: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Recorded:
    """What a repository's tables say of its public runs: rows of runs, evals and manifest."""

    runs: list[Row]
    evals: list[Row]
    manifest: list[Row]

    @property
    def replicates(self) -> int | None:
        """The most runs that a model has of one evaluation; None without runs."""
        counts: dict[tuple[str, str, str], int] = defaultdict(int)
        for run in self.runs:
            counts[(run["eval_id"], run["model"], run["harness"])] += 1
        return max(counts.values(), default=None)

    def public(self) -> dict[tuple[str, str | None], Public]:
        """Return the public runs by model and harness, as far as they are part of the benchmark."""
        extras = {row["eval_id"] for row in self.manifest if row["benchmark"] is False}
        rows = [r for r in self.evals if r["status"] == "ok" and r["eval_id"] not in extras]
        evals = frozenset(row["eval_id"] for row in rows)
        strata = {
            axis: {r["eval_id"]: plain(r[column]) for r in rows if r[column] is not None}
            for axis, column in (("category", "task"), ("platform", "kit"))
        }
        found: dict[tuple[str, str | None], list[Row]] = defaultdict(list)
        for run in self.runs:
            if run["model"] is not None and run["eval_id"] in evals:
                found[(plain(run["model"]), plain(run["harness"]))].append(run)
        return {key: Public(outcomes(runs), strata, evals) for key, runs in found.items()}


def check_repository(repository: Repository, recorded: Recorded, out: Published) -> None:
    """Read and check everything that a repository publishes about results; one bad file is one finding."""
    repo = repository.spec.repo
    files: list[File] = []
    shas: dict[str, str] = {}
    for path, sha in _documents(repository):
        shas[path] = sha
        try:
            data = repository.content.read(sha)
            files.append(parse(path, data))
            if path.endswith(".json"):
                repeated = jsontext.loads(data).repeated
                out.findings += repeated_keys(repo, path, sha, repeated, " ".join(repeated))
        except Unreadable as error:
            why = f"Reason: {error.reason}."
            out.findings.append(
                Finding("published_unreadable", repo, path, blob_sha=sha, detail=why)
            )
    for file in files:
        if file.odd:
            out.findings.append(
                Finding("published_shape_unknown", repo, file.path, blob_sha=shas[file.path])
            )
    scores, extras = _joined(files)
    stated = {file.replicates for file in files if file.replicates is not None}
    replicates = stated.pop() if len(stated) == 1 else recorded.replicates
    made = list(_all_checks(scores, extras, replicates, recorded.public()))
    placed: dict[tuple[str, str], set[str]] = defaultdict(set)
    for check in checks.failing(made):
        placed[(check.path, check.place)].add(check.check)
    out.scores += [
        _row(repo, score, replicates, placed[(score.path, score.place)]) for score in scores
    ]
    out.checks += [_check_row(repo, check) for check in made]
    out.findings += _findings(repo, made, shas)
    out.findings += _stated(repository, scores, recorded, shas)


def _documents(repository: Repository) -> Iterator[tuple[str, str]]:
    """Yield path and id of published results files, then of READMEs: what a README says differently
    from a file is found at the README.
    """
    for entry in sorted(repository.entries, key=lambda entry: b"/" not in entry.path):
        path = layout.text_path(entry)
        results = layout.below(entry, "results") and path.lower().endswith(_RESULTS)
        readme = "/" not in path and path.lower().startswith("readme")
        if entry.is_file and (results or readme) and repository.content.has(entry.sha):
            yield path, entry.sha


def _joined(files: Iterable[File]) -> tuple[list[Score], list[Score]]:
    listed = list(files)
    every = [score for file in listed for score in file.scores]
    known = [score for score in every if score.axis == "model"]
    extras = [score for file in listed for score in file.extras]
    return with_harness(every, known), with_harness(extras, known)


def _all_checks(
    scores: list[Score],
    extras: list[Score],
    replicates: int | None,
    public: Mapping[tuple[str, str | None], Public],
) -> Iterator[Check]:
    for score in scores:
        yield from checks.alone(score, replicates)
    yield from checks.together(scores, extras, replicates)
    for score in scores:
        yield from checks.with_runs(score, public.get(score.key), replicates)


def _row(repo: str, score: Score, replicates: int | None, failed: set[str]) -> dict[str, Any]:
    fewest, most = checks.passes_of(score, replicates)
    readable = score.mean is not None
    return {
        "repo": repo,
        "path": score.path,
        "place": score.place,
        "axis": score.axis,
        "stratum": score.stratum,
        "model": score.model,
        "harness": score.harness,
        "n_evals": score.n_evals,
        "replicates": replicates if score.n_evals is not None else None,
        "accuracy": None if score.mean is None else float(score.mean),
        "ci_low": None if score.low is None else float(score.low),
        "ci_high": None if score.high is None else float(score.high),
        "passes_least": fewest,
        "passes_most": most,
        "status": "contradicted" if failed and readable else "ok" if readable else "malformed",
        "reason": next((f"fails_{name}" for name in RULE_OF if name in failed), None),
    }


def _check_row(repo: str, check: Check) -> dict[str, Any]:
    return {
        "repo": repo,
        "path": check.path,
        "place": check.place,
        "check": check.check,
        "against": check.against,
        "subject": check.subject,
        "expected": check.expected,
        "observed": check.observed,
        "status": check.status,
        "reason": check.reason,
    }


def _findings(repo: str, made: Iterable[Check], shas: Mapping[str, str]) -> Iterator[Finding]:
    """Yield one finding for each place and kind of failure, however many tables it contradicts."""
    failed: dict[tuple[str, str, str], list[Check]] = defaultdict(list)
    for check in checks.failing(made):
        failed[(check.check, check.path, check.place)].append(check)
    for (name, path, place), met in failed.items():
        detail = " ".join(f"{said}." for said in dict.fromkeys(map(_said, met)))
        yield Finding(RULE_OF[name], repo, path, place, blob_sha=shas[path], detail=detail)


def _stated(
    repository: Repository, scores: Iterable[Score], recorded: Recorded, shas: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield a finding for each README whose words state another number of evaluations than the tables."""
    listed = list(scores)
    parts = {(s.path, s.axis, s.stratum): s.n_evals or 0 for s in listed if s.stratum}
    wholes: dict[tuple[str, str], int] = defaultdict(int)
    for (path, axis, _), size in parts.items():
        wholes[(path, axis)] += size
    sizes = frozenset(s.n_evals for s in listed if s.n_evals is not None) | set(wholes.values())
    public = sum(row["status"] == "ok" for row in recorded.evals)
    for path, sha in shas.items():
        if "/" in path or not path.lower().endswith(".md"):
            continue
        text = repository.content.read(sha).decode("utf-8", "replace")
        said = dict.fromkeys(readmes.wrong(text, public, sizes))
        if said:
            told = " ".join(f"It states {one}; expected {other}." for one, other in said)
            rule = "readme_count_differs"
            yield Finding(rule, repository.spec.repo, path, blob_sha=sha, detail=told)


def _said(check: Check) -> str:
    beside = f", {check.against}" if check.check == "total" else ""
    return f"{check.subject}: {check.observed or 'no number'}; expected {check.expected}{beside}"
