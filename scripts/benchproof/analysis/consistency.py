"""Whether records agree with themselves where nobody outside can grade them again.

Where the rule is withheld a composite verdict can still be held against its own fields, counts and
vetoes; and every answer against the file that it was submitted in, without fetching that file: git names
it by its bytes, and an answer written as the harness writes answers has that name or not.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from hashlib import sha1, sha256
from itertools import product
from typing import Any, Final, Literal

from benchproof import jsontext
from benchproof.errors import Unreadable
from benchproof.findings import Finding
from benchproof.inventory.layout import Run, run_place
from benchproof.inventory.repository import Repository
from benchproof.severity import Rule

Outcome = Literal["holds", "fails", "not_checked"]

RULES: dict[str, Rule] = {
    "composite_contradicts_itself": Rule(
        "major",
        "A recorded composite verdict contradicts its own fields, counts, vetoes or other runs.",
        "Grade the run again, or publish the rule that was used.",
    ),
}
CHECKS: Final = {
    "answer_file": "eval_answer.json holds the recorded answer, byte for byte as the harness writes it",
    "score_is_sum": "the score is the sum of the field scores",
    "counts": "the counts of fields and of passed fields are those of the fields",
    "veto": "a run with a triggered hard fail does not pass",
    "all_pass": "where all must pass, the verdict says whether all do",
    "monotone": "no run fails with as many passed fields and as high a score as one that passes",
}
#: How harnesses write JSON: indent, text after it, keys sorted, ASCII alone.
_WRITTEN: Final = tuple(product((2, 1, 4, None), ("", "\n"), (False, True), (True, False)))


@dataclass(frozen=True, slots=True)
class Composite:
    """What a composite record says of itself; None where it doesn't."""

    passed: bool | None
    score: float | None
    fields: tuple[float, ...]
    rule: str | None
    vetoes: int | None
    count: int | None
    count_passed: int | None
    total: float | None


def composite(record: Any) -> Composite | None:
    """Return what a parsed result.json says of a composite verdict; None where it records none."""
    result = record.get("result") if isinstance(record, dict) else None
    graded = result.get("grader_result") if isinstance(result, dict) else None
    fields = graded.get("field_scores") if isinstance(graded, dict) else None
    if not isinstance(graded, dict) or not isinstance(fields, dict) or not fields:
        return None
    scores = [_number(value) for value in fields.values()]
    known = tuple(score for score in scores if score is not None)
    if len(known) < len(scores):
        return None
    metrics = graded.get("metrics")
    told = metrics if isinstance(metrics, dict) else {}
    vetoes = told.get("hard_fail_triggered")
    rule = told.get("pass_rule")
    passed = graded.get("passed")
    return Composite(
        passed if isinstance(passed, bool) else None,
        _number(graded.get("score")),
        known,
        rule if isinstance(rule, str) else None,
        len(vetoes) if isinstance(vetoes, list) else None,
        _whole(told.get("scoring_count")),
        _whole(told.get("scoring_passed")),
        _number(told.get("scoring_total_score")),
    )


def _number(value: Any) -> float | None:
    right = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15
    return float(value) if right and math.isfinite(value) else None


def _whole(value: Any) -> int | None:
    right = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1e15
    return value if right else None


def alone(said: Composite) -> dict[str, Outcome]:
    """Return the outcome of each check that needs one record.

    Which partial field score counts as passed is not published: the count lies between the fields with
    full credit and those with any.
    """
    full, some = (sum(score >= least for score in said.fields) for least in (1, 1e-12))
    known = said.count is not None and said.count_passed is not None
    counted = vetoed = every = None
    if known and said.count_passed is not None:
        counted = said.count == len(said.fields) and full <= said.count_passed <= some
    if said.passed is not None and said.vetoes is not None:
        vetoed = not said.passed if said.vetoes else None
        if known and said.rule == "all":
            every = said.passed == (said.count_passed == said.count and not said.vetoes)
    return {
        "score_is_sum": _outcome(_is_sum(said)),
        "counts": _outcome(counted),
        "veto": _outcome(vetoed),
        "all_pass": _outcome(every),
    }


def _is_sum(said: Composite) -> bool | None:
    """A record that states no counts may be of another kind, whose score is the mean."""
    totals = [value for value in (said.score, said.total) if value is not None]
    added = math.fsum(said.fields)
    sums = (added,) if said.count is not None else (added, added / len(said.fields))
    near = [any(math.isclose(value, one, abs_tol=1e-9) for one in sums) for value in totals]
    return all(near) if near else None


def contradicted(runs: Mapping[str, Composite]) -> dict[str, Outcome]:
    """Return by run whether a failing one has as much as a passing one of the same evaluation, both
    without a veto: whatever the threshold is, it can't lie between them.
    """
    open_to = {
        name: said for name, said in runs.items() if said.vetoes == 0 and said.passed is not None
    }
    passing = [_worth(said) for said in open_to.values() if said.passed]
    found: dict[str, Outcome] = dict.fromkeys(runs, "not_checked")
    for name, said in open_to.items():
        mine = _worth(said)
        beaten = any(mine[0] >= other[0] and mine[1] >= other[1] for other in passing)
        found[name] = _outcome(None if not passing else bool(said.passed) or not beaten)
    return found


def _worth(said: Composite) -> tuple[float, float]:
    return float(said.count_passed or 0), math.fsum(said.fields)


def _outcome(right: bool | None) -> Outcome:
    return "not_checked" if right is None else "holds" if right else "fails"


def is_written_as(answer: Any, blob: str) -> bool:
    """True when a file with this git id holds an answer as some harness would write it.

    False proves nothing: the same answer may be written otherwise.
    """
    hashed = sha1 if len(blob) == 40 else sha256
    for indent, end, ordered, ascii_alone in _WRITTEN:
        try:
            text = json.dumps(answer, indent=indent, sort_keys=ordered, ensure_ascii=ascii_alone)
            data = (text + end).encode()
        except (TypeError, ValueError):
            continue
        if hashed(b"blob %d\0" % len(data) + data).hexdigest() == blob:
            return True
    return False


@dataclass
class Records:
    """Outcomes counted per repository and check, and findings."""

    counts: dict[tuple[str, str], Counter[Outcome]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    findings: list[Finding] = field(default_factory=list)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the record_checks table."""
        return [
            {
                "repo": repo,
                "check": check,
                "statement": CHECKS[check],
                "n_holds": counted["holds"],
                "n_fails": counted["fails"],
                "n_not_checked": counted["not_checked"],
                "status": "fails"
                if counted["fails"]
                else "holds"
                if counted["holds"]
                else "not_checked",
                "reason": None,
            }
            for (repo, check), counted in self.counts.items()
        ]

    def judge(self, said: Said) -> None:
        """Count what the runs of a repository say, and what of it contradicts itself."""
        for outcome, number in said.answers.items():
            self.counts[(said.repo, "answer_file")][outcome] += number
        for runs in said.withheld.values():
            composites = {path: one for path, (_, one) in runs.items()}
            for path, check, outcome in _composites(composites):
                self.counts[(said.repo, check)][outcome] += 1
                if outcome == "fails":
                    rule, detail = "composite_contradicts_itself", f"Not so: {CHECKS[check]}."
                    sha = runs[path][0]
                    self.findings.append(
                        Finding(rule, said.repo, path, check, blob_sha=sha, detail=detail)
                    )


@dataclass
class Said:
    """What recorded runs of a repository say of themselves; that of some and that of others adds up.

    `withheld` holds by evaluation without a rule, and by run, its id and its composite.
    """

    repo: str
    answers: Counter[Outcome] = field(default_factory=Counter)
    withheld: dict[str, dict[str, tuple[str, Composite]]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def hear(self, repository: Repository, run: Run, record: Any) -> None:
        """Take in one run, by its parsed record."""
        self.answers[_answer_file(record, run.answer)] += 1
        eval_id = run_place(run.path, repository.folders).eval_id
        item = repository.by_id.get(eval_id) if eval_id else None
        if eval_id is None or item is None or {"grader", "graders"} & set(item.value):
            return
        said = composite(record)
        if said is not None:
            self.withheld[eval_id][run.path] = run.entry.sha, said

    def record(self) -> dict[str, Any]:
        """Return it as jobs hand it to each other."""
        runs = [
            [eval_id, path, sha, list(astuple(said))]
            for eval_id, named in self.withheld.items()
            for path, (sha, said) in named.items()
        ]
        return {"repo": self.repo, "answers": dict(self.answers), "withheld": runs}

    def add(self, record: Mapping[str, Any]) -> None:
        """Add what another job handed over."""
        self.answers.update(record["answers"])
        for eval_id, path, sha, (passed, score, fields, *rest) in record["withheld"]:
            self.withheld[eval_id][path] = sha, Composite(passed, score, tuple(fields), *rest)


def check_records(repository: Repository, out: Records) -> None:
    """Check the recorded runs of a repository: every answer's file, and composites without a rule."""
    said = Said(repository.spec.repo)
    for run in repository.recorded(0, None):
        try:
            record = jsontext.loads(repository.content.read(run.entry.sha)).value
        except Unreadable:
            continue
        said.hear(repository, run, record)
    out.judge(said)


def judge_shares(records: Iterable[Mapping[str, Any]], out: Records) -> dict[str, str]:
    """Judge what the runs of all shares say, as `grade_share` hands it over; return the commits they were
    met at.
    """
    commits: dict[str, str] = {}
    heard: dict[str, Said] = {}
    for record in records:
        for said in record["said"]:
            heard.setdefault(said["repo"], Said(said["repo"])).add(said)
        commits |= record["commits"]
    for one in heard.values():
        out.judge(one)
    return commits


def _composites(runs: Mapping[str, Composite]) -> Iterable[tuple[str, str, Outcome]]:
    against = contradicted(runs)
    for path, said in runs.items():
        for check, outcome in {**alone(said), "monotone": against[path]}.items():
            yield path, check, outcome


def _answer_file(record: Any, blob: str | None) -> Outcome:
    """Equal by its id, or not told: an answer that is written otherwise may be the same."""
    result = record.get("result") if isinstance(record, dict) else None
    if blob is None or not isinstance(result, dict) or "agent_answer" not in result:
        return "not_checked"
    return _outcome(True if is_written_as(result["agent_answer"], blob) else None)
