"""From what a user types to what it names: a finding, a run, a claim or a number of a report."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from benchproof.errors import ConfigError
from benchproof.explain.reports import Report
from benchproof.printable import printable

KINDS = ("finding", "run", "claim", "number")
_CLOSE = 5
#: Letters of an unknown id that are said again: a path is shorter.
_SHOWN = 300
#: More names than these are not compared letter by letter: it would take minutes.
_COMPARED = 5_000


@dataclass(frozen=True, slots=True)
class Subject:
    """What an id names: its kind, how to say it without doubt, and its row or figure."""

    kind: str
    name: str
    item: Any


def locate(report: Report, asked: str) -> list[Subject]:
    """Return what an id names: one thing, or one of each kind that has it.

    `finding:`, `run:`, `claim:` or `number:` before it say which kind is meant. A run is named by its path,
    its folder, or repository:path and repository/path. Raises ConfigError with close matches for an id that
    nothing has, and with all of them for one that several of a kind have.
    """
    kind, _, rest = asked.partition(":")
    wanted = rest if kind in KINDS and rest else asked
    kinds = (kind,) if wanted is rest and rest else KINDS
    found = [subject for name in kinds for subject in _FINDERS[name](report, wanted)]
    if found and len({subject.kind for subject in found}) == len(found):
        return found
    if found:
        ways = "\n".join(f"  {subject.kind}:{subject.name}" for subject in found)
        raise ConfigError(f"{asked} names {len(found)} things in this report; say one of\n{ways}")
    shown = printable(asked if len(asked) <= _SHOWN else f"{asked[:_SHOWN]}…")
    raise ConfigError(f"{shown}: nothing in {report.folder} has this id. {_help(report, wanted)}")


def _findings(report: Report, asked: str) -> Iterator[Subject]:
    for table in ("findings", "data_findings"):
        for row in report.rows(table, finding_id=asked):
            yield Subject("finding", asked, row)


def _runs(report: Report, asked: str) -> Iterator[Subject]:
    for repo, path in _ways(report, asked):
        for row in report.rows("runs", run_path=path):
            if repo in (None, row["repo"]):
                yield Subject("run", f"{row['repo']}:{row['run_path']}", row)


def _ways(report: Report, asked: str) -> list[tuple[str | None, str]]:
    """Return (repository or None, path of a result.json) that a text may mean."""
    paths: list[tuple[str | None, str]] = [(None, asked)]
    for repo in report.pins:
        for name in (repo, repo.split("/", 1)[1]):
            paths += [
                (repo, asked.removeprefix(f"{name}{mark}"))
                for mark in (":", "/")
                if asked.startswith(f"{name}{mark}")
            ]
    paths = [(repo, path.removeprefix("/").removeprefix("./")) for repo, path in paths]
    return [
        (repo, path if path.endswith("result.json") else f"{path.rstrip('/')}/result.json")
        for repo, path in dict.fromkeys(paths)
    ]


def _claims(report: Report, asked: str) -> Iterator[Subject]:
    for row in report.rows("claims", claim_id=asked):
        yield Subject("claim", asked, row)


def _numbers(report: Report, asked: str) -> Iterator[Subject]:
    figure = report.figures.get(asked)
    if figure is not None:
        yield Subject("number", asked, figure)


_FINDERS = {"finding": _findings, "run": _runs, "claim": _claims, "number": _numbers}


def names(report: Report) -> dict[str, list[str]]:
    """Return every id that a report knows, by its kind."""
    return {
        "finding": report.column("findings", "finding_id")
        + report.column("data_findings", "finding_id"),
        "run": report.column("runs", "run_path"),
        "claim": report.column("claims", "claim_id"),
        "number": list(report.figures),
    }


def _help(report: Report, asked: str) -> str:
    known = names(report)
    close = _closest(asked, [name for listed in known.values() for name in listed])
    counts = (
        f"{len(known['finding'])} findings (<rule>.<10 hex digits>, in findings.json)",
        f"{len(known['run'])} runs (path of result.json, in the runs table)",
        f"{len(known['claim'])} claims (in the claims table)",
        f"{len(known['number'])} numbers (beside each number of report.html)",
    )
    near = f"Close: {', '.join(close)}. " if close else ""
    return f"{near}There are {'; '.join(counts)}."


def _closest(asked: str, known: Iterable[str]) -> list[str]:
    """Return ids that hold the text or resemble it, the best first."""
    listed = list(dict.fromkeys(known))
    holding = [name for name in listed if asked.lower() in name.lower()]
    if len(listed) > _COMPARED:
        end = asked.rsplit("/", 1)[0][-12:]
        listed = [name for name in listed if name[:4] == asked[:4] or end in name][:_COMPARED]
    return list(dict.fromkeys([*holding, *difflib.get_close_matches(asked, listed, _CLOSE)]))[
        :_CLOSE
    ]
