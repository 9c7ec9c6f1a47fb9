"""What the gate says: on the screen, and in a summary that is kept; values in, lines out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchproof.determinism.compare import Disagreement, Product, grouped
from benchproof.determinism.conditions import Plan

_WIDTH, _DIFFERENCES = 110, 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that the gate found. `observed` has each condition's value by derivation."""

    label: str
    plan: Plan
    observed: Mapping[str, Mapping[str, str]]
    products: Sequence[Product]
    disagreements: Sequence[Disagreement]
    problems: Sequence[str]
    #: Tables of the report that are the same as those derived, and why the others are not: "" differs.
    same: Sequence[str]
    others: Mapping[str, str]
    jobs: int
    seconds: float
    #: Why page and summary were not compared; None when they were.
    no_page: str | None
    kept: str

    @property
    def holds(self) -> bool:
        """True when every file is the same and every condition took effect."""
        return not (self.disagreements or self.problems or self.differing)

    @property
    def differing(self) -> list[str]:
        """The tables of the report that differ from what the same code derives now."""
        return [name for name, why in self.others.items() if not why]


def screen(found: Verdict) -> list[str]:
    """Return the last words of a run."""
    lines = [_headline(found)]
    lines += [_cut(f"  {name:<18} {text}") for name, text in _conditions(found)]
    lines += [_cut(f"  not varied: {name}: {why}") for name, why in found.plan.unvaried.items()]
    return [*lines, *(f"  {line}" for line in _outcome(found, _DIFFERENCES))]


def summary(found: Verdict) -> str:
    """Return the whole as Markdown, without a limit of lines or letters."""
    lines = [
        f"# Determinism of {found.label}",
        "",
        _headline(found),
        "",
        "## Observed conditions",
        "",
    ]
    lines += ["| condition | given | observed by the jobs |", "|---|---|---|"]
    for name in found.observed:
        given = _by_value(found.plan.given(name))
        lines.append(f"| {name} | {_cell(given)} | {_cell(_by_value(found.observed[name]))} |")
    if found.plan.unvaried:
        lines += ["", "## Not varied", ""]
        lines += [f"- {name}: {why}" for name, why in found.plan.unvaried.items()]
    lines += ["", "## Files", "", "| file | derivations that agree |", "|---|---|"]
    lines += [f"| {one.name} | {', '.join(one.groups)} |" for one in found.products]
    lines += ["", "## What was found", "", *(f"- {line.strip()}" for line in _outcome(found))]
    return "\n".join(lines) + "\n"


def faults(found: Verdict) -> str:
    """Return how much is wrong, in a few words."""
    said = []
    if number := len(found.disagreements) + len(found.differing):
        said.append(f"{number} files differ")
    if found.problems:
        said.append(f"{len(found.problems)} conditions are not shown to have been in force")
    return " and ".join(said)


def _headline(found: Verdict) -> str:
    agreeing = sum(product.agrees for product in found.products)
    tables = [one for one in found.products if Path(one.name).suffix == ".parquet"]
    same = sum(product.agrees for product in tables)
    return (
        f"verify_determinism {found.label}: {same} of {len(tables)} tables and {agreeing - same} of "
        f"{len(found.products) - len(tables)} other files are the same in {len(found.plan.derivations)} "
        f"derivations ({found.jobs} jobs, {found.seconds:.0f} s)"
    )


def _conditions(found: Verdict) -> list[tuple[str, str]]:
    return [(name, _by_value(values)) for name, values in found.observed.items()]


def _by_value(values: Mapping[str, str]) -> str:
    return " | ".join(f"{letters}: {value}" for value, letters in grouped(values).items())


def _outcome(found: Verdict, most: int | None = None) -> list[str]:
    """Return what was found; of files that differ `most`, or all."""
    lines = list(found.problems)
    for one in found.disagreements[:most]:
        lines.append(f"{one.name} DIFFERS between {' and '.join(one.groups)}: {one.place}")
        lines.append(f"  it follows {_suspected(one.suspects)}")
    if most is not None and len(found.disagreements) > most:
        lines.append(f"and {len(found.disagreements) - most} more files differ")
    lines.append(_own(found))
    if found.no_page:
        lines.append(f"page and summary: not compared, because {found.no_page}")
    if found.disagreements:
        lines.append(f"all makings are in {found.kept}/made")
    return lines


def _own(found: Verdict) -> str:
    """Return what came of the report's own tables: the same, different, or why they were not compared."""
    said = [f"{len(found.same)} are the same"]
    if found.differing:
        said.append(f"{', '.join(found.differing)} DIFFER from all that was derived now")
    for why in sorted({why for why in found.others.values() if why}):
        names = [name for name, cause in found.others.items() if cause == why]
        said.append(f"{len(names)} not compared ({why})")
    return f"the report's own tables: {'; '.join(said)}"


def _suspected(names: Sequence[str]) -> str:
    if not names:
        return "no single condition: chance, the order of threads, or two conditions together"
    return names[0] + (f" (or {', '.join(names[1:])})" if names[1:] else "")


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
