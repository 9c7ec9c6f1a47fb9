"""What a report says, computed once from the tables for the page, the summary and the last screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchproof import tables
from benchproof.errors import TableError
from benchproof.findings import SEVERITIES
from benchproof.outputs import OPEN
from benchproof.progress import megabytes
from benchproof.sealing.seal import previous_report

Rows = list[dict[str, Any]]
#: A piece of a sentence, and the figure that it is the number of; the page links it to its evidence.
Part = tuple[str, str | None]

#: What no audit from the outside can test; said wherever a verdict is said.
UNTESTED = "Not tested: that the answer keys are right, that the agents gave these answers."
_NAMES = (
    "pins",
    "reconciliation",
    "evals",
    "eval_handles",
    "graders",
    "licences",
    "handles",
    "runnable",
    "objects",
    "contents",
    "files",
    "runs",
    "readings",
    "models",
    "strata",
    "comparisons",
    "record_checks",
    "published_checks",
    "claims",
    "findings",
    "data_findings",
    "traffic",
)


@dataclass(frozen=True, slots=True)
class RepoFacts:
    """One line per repository; counts are None where they could not be learnt."""

    repo: str
    name: str
    commit: str | None
    committed: str | None
    status: str
    reason: str | None
    reconciliation: Mapping[str, Any]
    graders: int | None
    handles: int | None
    runs: int
    graded: int
    agreeing: int
    no_submission: int
    ungraded: Mapping[str, int]
    evals_with_runs: int

    @property
    def verdict(self) -> str:
        """Coverage first: what follows from the published rule, and of how many evaluations that is."""
        return said(self.cited)

    @property
    def cited(self) -> list[Part]:
        """The verdict in pieces; figures are named without the repository."""
        count = self.reconciliation["evals"]
        evals: Part = ("an unknown number of" if count is None else str(count), "evals")
        if self.commit is None:
            return [(f"not audited: {self.status} ({self.reason})", None)]
        if self.reconciliation["status"] == "not_read":
            return [(f"not read: {self.reconciliation['reason']}", None)]
        if not self.runs:
            head: Part = ("no recorded runs; rule published for ", None)
            return [head, (str(self.graders), "graders"), (" of ", None), evals, (" evals", None)]
        if not self.graded:
            return [
                ("0", "runs.graded"),
                (" of ", None),
                (str(self.runs), "runs"),
                (" recorded verdicts can be checked; ", None),
                *listed(self.ungraded, "runs."),
            ]
        return [
            (str(self.agreeing), "runs.agree"),
            (" of ", None),
            (str(self.graded), "runs.graded"),
            (" recorded verdicts follow from the published rule; that is ", None),
            (str(self.evals_with_runs), "runs.evals"),
            (" of ", None),
            evals,
            (" public evals", None),
        ]


@dataclass(frozen=True)
class Facts:
    """Everything a report shows, from the tables of one folder."""

    label: str
    notice: str | None
    members: int
    tables: Mapping[str, Rows]
    previous: Mapping[str, str] | None
    previous_label: str | None

    @cached_property
    def repositories(self) -> list[RepoFacts]:
        """One entry per audited repository, in the order of the pins table."""
        return [_repository(pin, self.tables) for pin in self.tables["pins"]]

    @property
    def unknown(self) -> list[RepoFacts]:
        """Repositories about which something stayed unknown; they make a report incomplete."""
        return [r for r in self.repositories if r.status == "unknown" or _unread(r)]

    @property
    def left_out(self) -> int:
        """How many members of the family this audit was told not to look at."""
        return self.members - len(self.repositories)

    @property
    def complete(self) -> bool:
        """True when the whole family was audited and nothing stayed unknown."""
        return not self.unknown and not self.unlearnt and self.left_out <= 0

    @property
    def unread(self) -> bool:
        """True when sums over the family lack a repository."""
        return any(row["status"] == "not_read" for row in self.tables["reconciliation"])

    @property
    def unlearnt(self) -> list[str]:
        """What is not known of the data, counted by the stage that asked, with causes."""
        return [f"{number} {table} ({causes})" for table, number, causes in self.unlearnt_by_stage]

    @cached_property
    def unlearnt_by_stage(self) -> list[tuple[str, int, str]]:
        """The same as table, number and causes."""
        seen: set[str] = set()
        lines = []
        for table in ("handles", "objects", "contents", "files"):
            fresh = [
                row
                for row in self.tables[table]
                if row["status"] in OPEN and row["handle"] not in seen
            ]
            seen |= {row["handle"] for row in fresh}
            if fresh:
                causes = ", ".join(sorted({str(row["reason"]) for row in fresh}))
                lines.append((table, len(fresh), causes))
        return lines

    @cached_property
    def data(self) -> list[DataFacts]:
        """What can be run, one entry per audited repository."""
        status = {row["handle"]: row["status"] for row in self.tables["handles"]}
        return [_data(r.repo, self.tables, status) for r in self.repositories]

    @property
    def snapshots(self) -> Rows:
        """The objects that are .h5ad files of a known size, smallest first."""
        known = [
            row
            for row in self.tables["objects"]
            if row["container"] == "hdf5" and row["size_bytes"] is not None
        ]
        return sorted(known, key=lambda row: (row["size_bytes"], row["handle"]))

    @property
    def broken(self) -> Rows:
        """Objects that are damaged where they lie: every user would get them so."""
        bad = {}
        for table in ("contents", "files"):
            for row in self.tables[table]:
                if row["status"] == "truncated" or row["reason"] == "damaged":
                    bad[row["handle"]] = row
        return [bad[handle] for handle in sorted(bad)]

    @property
    def runnable_unknown(self) -> int:
        """How many evaluations it is not known of whether they can be run."""
        return sum(row["runnable"] == "unknown" for row in self.tables["runnable"])

    @property
    def data_line(self) -> str:
        """What can be run and what it weighs, in one sentence without its full stop."""
        return said(self.data_cited)

    @property
    def data_cited(self) -> list[Part]:
        """The same in pieces."""
        evals = self.tables["runnable"]
        unknown = self.runnable_unknown
        reachable = sum(row["status"] == "reachable" for row in self.tables["handles"])
        rest: list[Part] = [
            (", ", None),
            (str(unknown), "family.runnable.unknown"),
            (" not known", None),
        ]
        weight = megabytes(sum(row["size_bytes"] for row in self.snapshots))
        return [
            (str(sum(row["runnable"] == "all" for row in evals)), "family.runnable"),
            (" of ", None),
            (str(len(evals)), "family.runnable.evals"),
            (" evals can be run", None),
            *(rest if unknown else []),
            (" (", None),
            (str(reachable), "family.handles.reachable"),
            (" of ", None),
            (str(len(self.tables["handles"])), "family.handles.asked"),
            (" handles); ", None),
            (str(len(self.snapshots)), "family.snapshots"),
            (" snapshots, ", None),
            (weight, "family.snapshots.bytes"),
        ]

    @property
    def family_line(self) -> str:
        """The whole family in one sentence, without its full stop."""
        return said(self.family_cited)

    @property
    def family_cited(self) -> list[Part]:
        """The same in pieces."""
        graded = [row for row in self.tables["runs"] if row["status"] == "graded"]
        agree = sum(row["passed_agrees"] is True for row in graded)
        return [
            (str(agree), "family.runs.agree"),
            (" of ", None),
            (str(len(graded)), "family.runs.graded"),
            (" recorded verdicts follow from a published rule; ", None),
            (total([row["evals"] for row in self.tables["reconciliation"]]), "family.evals"),
            (" evals are public", None),
        ]

    @property
    def builds(self) -> list[tuple[str, int, int]]:
        """(grader build, graded runs, those whose recorded verdict agrees), sorted."""
        counted: dict[str, list[int]] = {}
        for run in self.tables["runs"]:
            if run["status"] != "graded":
                continue
            row = counted.setdefault(run["grader_version"] or "not recorded", [0, 0])
            row[0] += 1
            row[1] += run["passed_agrees"] is True
        return [(build, runs, agree) for build, (runs, agree) in sorted(counted.items())]

    @cached_property
    def claims(self) -> ClaimFacts:
        """What is claimed of the family, and what became of it."""
        return ClaimFacts(self.tables["claims"])

    @property
    def statistics(self) -> list[StatisticsFacts]:
        """What the recorded runs of each repository can tell apart, for those that record some."""
        repos = dict.fromkeys(row["repo"] for row in self.tables["models"])
        return [_statistics(repo, self.tables) for repo in repos]

    @property
    def checked(self) -> list[tuple[str, str, int, int, int]]:
        """(repository, check, holds, fails, not checked) of records and published tables, sorted."""
        counts: dict[tuple[str, str], Counter[str]] = {}
        for row in self.tables["published_checks"]:
            key = (row["repo"], f"published: {row['check']}")
            counts.setdefault(key, Counter())[row["status"]] += 1
        for row in self.tables["record_checks"]:
            key = (row["repo"], f"records: {row['check']}")
            counts[key] = Counter(
                {name: row[f"n_{name}"] for name in ("holds", "fails", "not_checked")}
            )
        return [
            (*key, found["holds"], found["fails"], found["not_checked"])
            for key, found in sorted(counts.items())
        ]

    @property
    def by_severity(self) -> dict[str, int]:
        """Number of findings per severity, worst first, zeros included."""
        found = Counter(row["severity"] for row in self.tables["findings"])
        return {severity: found[severity] for severity in SEVERITIES}

    @property
    def worst(self) -> Rows:
        """Findings, worst first."""
        rank = {severity: n for n, severity in enumerate(SEVERITIES)}
        return sorted(
            self.tables["findings"], key=lambda row: (rank[row["severity"]], row["finding_id"])
        )

    @property
    def moved(self) -> list[str] | None:
        """Names of repositories whose commit differs from the previous complete report's, or None.

        A repository whose commit is not known today has not been seen to move.
        """
        if self.previous is None:
            return None
        pinned = [r for r in self.repositories if r.commit is not None]
        return [r.name for r in pinned if self.previous.get(r.repo) != r.commit]

    @property
    def ungraded(self) -> str:
        """Why recorded runs of the family have no derived verdict, counted; empty when all have one."""
        return said(self.ungraded_cited)

    @property
    def ungraded_cited(self) -> list[Part]:
        """The same in pieces; figures are named without `family`."""
        states = (run["status"] for run in self.tables["runs"])
        return listed(Counter(state for state in states if state != "graded"), "runs.")


@dataclass(frozen=True)
class ClaimFacts:
    """The claims of a report: all rows, counted, and those that need a look."""

    rows: Rows

    @property
    def line(self) -> str:
        """The counts in one sentence without its full stop; empty without claims."""
        return said(self.cited)

    @property
    def cited(self) -> list[Part]:
        """The same in pieces; figures are named without `family.claims`."""
        counts = Counter(row["status"] for row in self.rows)
        words = {
            "holds": "hold",
            "drifted": "drifted",
            "fails": "fail",
            "not_checked": "not checked",
        }
        parts: list[Part] = []
        for name, word in words.items():
            if counts[name]:
                parts += [(", ", None)] if parts else []
                parts += [(str(counts[name]), name), (f" {word}", None)]
        return parts

    @property
    def amiss(self) -> Rows:
        """Claims that fail or have drifted, failing invariants first."""
        found = [row for row in self.rows if row["status"] in ("fails", "drifted")]
        rank = {("invariant", "fails"): 0, ("observation", "fails"): 1}
        return sorted(
            found, key=lambda row: (rank.get((row["kind"], row["status"]), 2), row["claim_id"])
        )

    @property
    def broken(self) -> Rows:
        """Invariants that fail."""
        return [row for row in self.amiss if row["kind"] == "invariant"]

    @property
    def topics(self) -> dict[str, Rows]:
        """Claims of different sources about one thing, where they expect different values."""
        from benchproof.analysis.claims import side_by_side

        return {topic: list(map(dict, rows)) for topic, rows in side_by_side(self.rows).items()}

    @property
    def unasked(self) -> dict[str, int]:
        """Why claims could not be checked, counted."""
        reasons = (row["reason"] for row in self.rows if row["status"] == "not_checked")
        return dict(sorted(Counter(map(str, reasons)).items()))


@dataclass(frozen=True, slots=True)
class StatisticsFacts:
    """How far the runs of one repository can tell models apart."""

    repo: str
    pairs: int
    apart: int
    largest_n: int
    never: list[str]
    always: list[str]


def _statistics(repo: str, all_rows: Mapping[str, Rows]) -> StatisticsFacts:
    compared = [row for row in all_rows["comparisons"] if row["repo"] == repo]
    evals = [r for r in all_rows["strata"] if r["repo"] == repo and r["axis"] == "eval"]
    return StatisticsFacts(
        repo=repo,
        pairs=len(compared),
        apart=sum(row["p_holm"] <= 0.05 for row in compared),
        largest_n=max((row["n_evals"] for row in compared), default=0),
        never=[row["stratum"] for row in evals if row["status"] == "never_passed"],
        always=[row["stratum"] for row in evals if row["status"] == "always_passed"],
    )


@dataclass(frozen=True, slots=True)
class DataFacts:
    """What can be run of one repository; handles are distinct, `incomplete` are rows of `runnable`."""

    repo: str
    handles: int
    reachable: int
    refused: int
    evals: int
    full: int
    incomplete: Rows


def _data(repo: str, all_rows: Mapping[str, Rows], status: Mapping[str, str]) -> DataFacts:
    named = {row["handle"] for row in all_rows["eval_handles"] if row["repo"] == repo}
    states = Counter(status.get(handle) for handle in named)
    rows = [row for row in all_rows["runnable"] if row["repo"] == repo]
    return DataFacts(
        repo=repo,
        handles=len(named),
        reachable=states["reachable"],
        refused=states["refused"],
        evals=len(rows),
        full=sum(row["runnable"] == "all" for row in rows),
        incomplete=[row for row in rows if row["runnable"] != "all"],
    )


def _unread(repository: RepoFacts) -> bool:
    return repository.commit is not None and repository.reconciliation["status"] == "not_read"


def gather(folder: Path, about: Mapping[str, Any], results: Path) -> Facts:
    """Read the tables of a report folder; `about` is what every script is told."""
    rows = {name: tables.read(folder / f"{name}.parquet", name) for name in _NAMES}
    previous = previous_report(results, about["label"])
    pins = pins_of(previous) if previous else None
    return Facts(
        label=about["label"],
        notice=about["made_by"]["notice"],
        members=about["members"],
        tables=rows,
        previous={pin["repo"]: pin["commit_sha"] for pin in pins} if pins else None,
        previous_label=previous.name if previous and pins is not None else None,
    )


def pins_of(folder: Path) -> Rows | None:
    """Return the pins of an earlier report; None for one that is damaged or of another version."""
    try:
        return tables.read(folder / "pins.parquet", "pins")
    except TableError:
        return None


def _repository(pin: Mapping[str, Any], all_rows: Mapping[str, Rows]) -> RepoFacts:
    repo = pin["repo"]

    def of(name: str) -> Rows:
        return [row for row in all_rows[name] if row["repo"] == repo]

    runs = of("runs")
    graded = [run for run in runs if run["status"] == "graded"]
    reconciliation = next(iter(of("reconciliation")))
    read = reconciliation["status"] != "not_read"
    return RepoFacts(
        repo=repo,
        name=repo.split("/", 1)[1],
        commit=pin["commit_sha"],
        committed=f"{pin['committed_at']:%Y-%m-%d}" if pin["committed_at"] else None,
        status=pin["status"],
        reason=pin["reason"],
        reconciliation=reconciliation,
        graders=sum(row["grader_form"] in ("grader", "graders") for row in of("evals"))
        if read
        else None,
        handles=len({row["handle"] for row in of("eval_handles")}) if read else None,
        runs=len(runs),
        graded=len(graded),
        agreeing=sum(run["passed_agrees"] is True for run in graded),
        no_submission=sum(run["status"] == "no_submission" for run in runs),
        ungraded=dict(
            sorted(Counter(r["status"] for r in runs if r["status"] != "graded").items())
        ),
        evals_with_runs=len({run["eval_id"] for run in graded}),
    )


def said(parts: Sequence[Part]) -> str:
    """Return the sentence that its pieces make."""
    return "".join(text for text, _ in parts)


def listed(counts: Mapping[str, int], prefix: str) -> list[Part]:
    """Counts by name as pieces of a sentence, by name; a figure's id is the prefix and the name."""
    parts: list[Part] = []
    for name, number in sorted(counts.items()):
        parts += [(", ", None)] if parts else []
        parts += [(str(number), prefix + name), (f" {name}", None)]
    return parts


def total(counts: Sequence[int | None]) -> str:
    """Sum of counts; a lower bound, and said to be one, when some of them are not known."""
    known = str(sum(count or 0 for count in counts))
    return f"at least {known}" if None in counts else known


def widest(texts: Sequence[str], least: int = 0) -> int:
    """Length of the longest text."""
    return max([least, *(len(text) for text in texts)])
