"""All cases, one after another, and what they make: docs/audited.md, and its list of defects."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import defects.kinds.all  # noqa: F401
from defects.cases import CASES, KINDS, Case, Outcome
from defects.reasons import REASONS
from defects.trial import ROOT, auditor

Results = dict[str, Outcome]
PAGE: Final = ROOT / "docs" / "audited.md"
#: A line for each defect, and each sound change.
LIST: Final = ROOT / "docs" / "audited_defects.md"
#: What was seen before anything was mended, by kind: cases, seen, false alarms.
FIRST: Final = Path(__file__).parent / "first.json"
WHAT: Final = {
    "manifest": "manifests: rows, ids, paths, counts, text",
    "tree": "trees: links, submodules, pointers, names, modes, moved files",
    "files": "evaluation files and licences: text, fields, types, ids",
    "graders": "graders of every type: keys, values, thresholds",
    "runs": "recorded runs: verdicts, scores, answers, labels, copies",
    "tables": "published tables: a digit, a name, a row, a file",
    "claims": "claims, and numbers in READMEs",
    "storage": "signer, storage, and what is inside an object",
    "clean": "sound changes: nobody may be accused",
}


def name_of(case: Case) -> str:
    """Return what a case is called in results and reasons."""
    return f"{case.kind}/{case.name}"


def run(cases: Iterable[Case], seed: int = 1, *, tell: bool = True) -> Results:
    """Return what became of each case, by its name."""
    listed, results = list(cases), Results()
    began = time.monotonic()
    with auditor() as audits:
        for number, case in enumerate(listed, start=1):
            try:
                outcome = case.run(audits, seed)
            except Exception as error:  # what stops the pipeline is missed like anything else
                outcome = Outcome((f"stopped by {type(error).__name__}",))
            results[name_of(case)] = outcome
            if tell and (number % 50 == 0 or number == len(listed)):
                seconds = time.monotonic() - began
                print(f"{number} of {len(listed)} cases, {seconds:.0f} s", file=sys.stderr)
    return results


def counts(results: Mapping[str, Outcome]) -> dict[str, tuple[int, int, int]]:
    """Return by kind how many cases there are, how many are seen, and the false alarms."""
    found: dict[str, tuple[int, int, int]] = {}
    for kind in KINDS:
        mine = [outcome for name, outcome in results.items() if name.startswith(f"{kind}/")]
        seen = sum(one.found for one in mine)
        found[kind] = len(mine), seen, sum(len(one.false) for one in mine)
    return found


def row(case: Case, outcome: Outcome) -> str:
    """Return a defect's row of the list."""
    where = ", ".join(f"`{_shown(pattern)}`" for pattern in case.seen)
    said = "yes" if outcome.found else "**no**"
    false = f", {len(outcome.false)} false" if outcome.false else ""
    return f"| {case.says.replace('|', '/')} | {where} | {said}{false} |"


def _shown(pattern: str) -> str:
    """Return a pattern without what differs from seed to seed."""
    text = re.sub(r"\[(.)\]", r"\1", pattern)
    return " or ".join(part.strip() for part in re.sub(r"\s+", " ", text).split("|"))


def page(cases: Sequence[Case], results: Mapping[str, Outcome]) -> str:
    """Return the page: the sums, and what is not seen."""
    return "\n\n".join([_HEAD, _table(results), _misses(cases, results)]) + "\n"


def listing(cases: Sequence[Case], results: Mapping[str, Outcome]) -> str:
    """Return the list of all cases."""
    parts = [_LIST_HEAD]
    for kind in KINDS[:-1]:
        rows = [row(case, results[name_of(case)]) for case in cases if case.kind == kind]
        head = (
            f"## {kind.capitalize()}\n\n| defect | where it must be seen | seen |\n|---|---|---|\n"
        )
        parts.append(head + "\n".join(rows))
    sound = [f"{case.says}." for case in cases if case.kind == "clean"]
    parts.append("## Sound changes\n\n" + "\n".join(f"- {text}" for text in sound))
    return "\n\n".join(parts) + "\n"


_LIST_HEAD: Final = """<!-- made by python -m defects --write -->

# Every planted defect

What each must change, and whether that is seen: of these rows [audited.md](audited.md) has the sums. A place
is a table or finding, then what it is about; `*` stands for any text, `{path}` for the evaluation's file."""

_HEAD: Final = """<!-- made by python -m defects --write -->

# The auditor audited

An invented family of sound repositories, with one defect planted at a time: each states, from what it means
and not from what the code checks, in which table or finding an audit must show it. A defect counts as seen
when all these places change as stated. A false alarm is anything else that is accused: another finding of the
same file, or any other file. Sound changes are mutants that nobody may be accused for: no new finding, no
failed check, no other verdict.

The defects were written down before it was looked up what is checked; *at first* is the first measurement, of
the code as it stood then. Afterwards rules were written for what was missed, each with a defect of its own; a
few stated places were put right where a table's own description says otherwise, or name the rule that is new.
`PYTHONPATH=scripts:tests .venv/bin/python -m defects` (`make audited`) measures again, in minutes, and
ends with 1 when something is seen less or accused more than here; a part of it runs with the tests.
[audited_defects.md](audited_defects.md) has a row for each defect."""


def _table(results: Mapping[str, Outcome]) -> str:
    first: dict[str, tuple[int, int, int]] = json.loads(FIRST.read_text())
    rows = ["| kind | seen at first | seen | false at first | false |", "|---|---:|---:|---:|---:|"]
    now, sums = counts(results), [[0, 0, 0], [0, 0, 0]]
    for kind in KINDS[:-1]:
        rows.append(_line(WHAT[kind], first[kind], now[kind]))
        sums = [
            [a + b for a, b in zip(*both, strict=True)]
            for both in zip(sums, (first[kind], now[kind]), strict=True)
        ]
    rows.append(_line("**all defects**", *sums))
    number, _, false = now["clean"]
    rows.append(f"| {WHAT['clean']} ({number}) | | | {first['clean'][2]} | {false} |")
    return "\n".join(rows)


def _line(what: str, first: Sequence[int], now: Sequence[int]) -> str:
    seen = [f"{seen} of {number}" for number, seen, _ in (first, now)]
    return f"| {what} | {seen[0]} | {seen[1]} | {first[2]} | {now[2]} |"


def _misses(cases: Sequence[Case], results: Mapping[str, Outcome]) -> str:
    missed = [case for case in cases if not results[name_of(case)].found]
    lines = [
        f"- {case.kind}: {case.says}. {REASONS.get(name_of(case), '')}".strip() for case in missed
    ]
    return "## What is not seen\n\n" + "\n".join(lines)


def told(text: str) -> dict[str, tuple[bool, int]]:
    """Return what the list says of each defect, by kind and sentence: seen, and false alarms."""
    found, kind = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            kind = line[3:].lower()
        cells = line.split(" | ")
        if len(cells) == 3 and cells[0].startswith("| ") and kind in WHAT:
            said = re.match(r"(yes|\*\*no\*\*)(?:, (\d+) false)?", cells[2])
            if said:
                found[f"{kind}/{cells[0][2:]}"] = said[1] == "yes", int(said[2] or 0)
    return found


def worse(cases: Iterable[Case], results: Mapping[str, Outcome], text: str) -> list[str]:
    """Return what is seen less or accused more than the list says."""
    known, found = told(text), []
    for case in cases:
        outcome = results[name_of(case)]
        seen, false = known.get(f"{case.kind}/{case.says.replace('|', '/')}", (True, 0))
        if (seen and not outcome.found) or len(outcome.false) > false:
            found.append(name_of(case))
    return found


def show(cases: Iterable[Case], results: Mapping[str, Outcome]) -> None:
    """Print what was missed and who was accused."""
    for case in cases:
        outcome = results[name_of(case)]
        if outcome.missing or outcome.false:
            print(f"{name_of(case)}: {case.says}")
            for word, lines in (("missed", outcome.missing), ("false", outcome.false)):
                for line in lines:
                    print(f"    {word:7}{line[:200]}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; returns 1 when something is worse than the committed list says."""
    parser = argparse.ArgumentParser(prog="python -m defects", description=__doc__)
    parser.add_argument("--only", choices=KINDS, help="cases of one kind")
    parser.add_argument("--seed", type=int, default=1, help="which file of a kind is hit")
    parser.add_argument(
        "--write", action="store_true", help="write docs/audited*.md (all kinds, seed 1)"
    )
    parser.add_argument(
        "--first", action="store_true", help="keep the counts as the first measurement"
    )
    given = parser.parse_args(arguments)
    cases = [case for case in CASES if given.only in (None, case.kind)]
    results = run(cases, given.seed)
    show(cases, results)
    for kind, (number, seen, false) in counts(results).items():
        print(
            f"{kind:9} {number:4} cases {seen:4} seen {false:4} false alarms" if number else "",
            end="\n" * (number > 0),
        )
    if given.first:
        FIRST.write_text(json.dumps(counts(results), indent=1) + "\n")
    if given.write:
        PAGE.write_text(page(cases, results))
        LIST.write_text(listing(cases, results))
        return 0
    failed = worse(cases, results, LIST.read_text()) if LIST.exists() else []
    for name in failed:
        print(f"worse than {LIST.name} says: {name}")
    return 1 if failed else 0
