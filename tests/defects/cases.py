"""The registry: a defect says what it does and where an audit must show it; a mutant, that it must not.

A case is a generator over a bench: what it does before `yield` is sound, what it does after is the case.
It yields a path, or names, that patterns hold in braces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from defects.bench import Bench
from defects.trial import Auditor, Lines, accuses, literal, matches, of_items, touched

Kind = Literal[
    "manifest", "tree", "files", "graders", "runs", "tables", "claims", "storage", "clean"
]
KINDS: tuple[Kind, ...] = (
    *("manifest", "tree", "files", "graders", "runs", "tables", "claims", "storage", "clean"),
)
Names = str | Mapping[str, str] | None
Plant = Callable[[Bench], Iterator[Any]]


@dataclass(frozen=True)
class Outcome:
    """What became of a case: what was not seen where it must be, and what else was accused."""

    missing: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """True when all was seen."""
        return not self.missing


@dataclass(frozen=True)
class Case:
    """`seen` are patterns of lines that must be new; `large` needs a family with all its runs."""

    kind: Kind
    name: str
    says: str
    run: Callable[[Auditor, int], Outcome]
    seen: tuple[str, ...] = ()
    large: bool = False


CASES: list[Case] = []


def defect(
    kind: Kind,
    *seen: str,
    repo: str = "scbench",
    also: tuple[str, ...] | str = (),
    small: bool = True,
    claimed: Callable[[Bench], str] | None = None,
) -> Callable[[Plant], Plant]:
    """Enter a defect of a repository; its first docstring line is what the table says of it."""

    def enter(plant: Plant) -> Plant:
        add(kind, plant.__name__, first_line(plant), plant, seen, repo, also, small, claimed)
        return plant

    return enter


def clean(repo: str = "scbench", *, small: bool = True) -> Callable[[Plant], Plant]:
    """Enter a change that nobody may be accused for."""
    return defect("clean", repo=repo, small=small)


def first_line(plant: Callable[..., Any]) -> str:
    """Return the first sentence of a docstring."""
    return (plant.__doc__ or "").strip().splitlines()[0].rstrip(".")


def add(
    kind: Kind,
    name: str,
    says: str,
    plant: Plant,
    seen: tuple[str, ...],
    repo: str = "scbench",
    also: tuple[str, ...] | str = (),
    small: bool = True,
    claimed: Callable[[Bench], str] | None = None,
) -> None:
    """Enter a case."""
    allowed = (also,) if isinstance(also, str) else also

    def run(auditor: Auditor, seed: int) -> Outcome:
        bench = Bench(repo, seed, small=small)
        planting = plant(bench)
        names = next(planting)
        before_tree = bench.flush().clone()
        text = claimed(bench) if claimed else ""
        before = auditor.audit(before_tree, bench.spec, text)
        next(planting, None)
        after_tree = bench.flush().clone()
        if claimed:
            text = claimed(bench)
        after = auditor.audit(after_tree, bench.spec, text)
        paths = touched(before_tree, after_tree)
        return judge(before.lines, after.lines, filled(seen, names), filled(allowed, names), paths)

    CASES.append(Case(kind, name, says, run, seen, not small))


def filled(patterns: tuple[str, ...], names: Names) -> tuple[str, ...]:
    """Return patterns with the names of a case put in."""
    given = {"path": names} if isinstance(names, str) else dict(names or {})
    made = []
    for pattern in patterns:
        for key, value in given.items():
            pattern = pattern.replace("{" + key + "}", literal(value))
        made.append(pattern)
    return tuple(made)


def judge(
    before: Lines, after: Lines, seen: tuple[str, ...], also: tuple[str, ...], paths: list[str]
) -> Outcome:
    """Compare two audits: a defect (with `seen`) may make its own items be accused, a mutant nothing."""
    new = after - before
    missing = tuple(
        pattern for pattern in seen if not any(matches(line, (pattern,)) for line in new)
    )
    accused = [line for line in new if accuses(line) and not matches(line, (*seen, *also))]
    if seen:
        related = [*paths, *(f"/{part}/" for path in paths for part in _stem(path))]
        # Rows of a manifest have no path of their own.
        related += ["manifest "] if any(path.endswith("manifest.json") for path in paths) else []
        related += ["licences "] if any("LICENSE" in path for path in paths) else []
        related += [f" {part}" for path in paths for part in _stem(path)]
        accused = [
            line
            for line in accused
            if of_items(line)
            and (line.startswith("findings ") or not any(name in line for name in related))
        ]
    else:
        # What stood somewhere else before is not said anew: a file may be renamed.
        gone = Counter(
            line.split(" ")[1] for line in before - after if line.startswith("findings ")
        )
        accused = [line for line in accused if not gone[line.split(" ")[1]]]
        accused += _lost(before, after)
    return Outcome(missing, tuple(sorted(accused)))


def _stem(path: str) -> list[str]:
    """Return the id of the evaluation that a file is, under which its recorded runs lie."""
    parts = path.removesuffix(".json").split("/")
    return [parts[-2] if parts[-1] == "eval" else parts[-1]] if path.endswith(".json") else []


def _lost(before: Lines, after: Lines) -> list[str]:
    """Return verdicts and checks of a sound repository that are no longer what they were."""
    told = ("runs ", "published_checks ", "claims ")
    words = (" derived_passed=", " status=")
    gone = [line for line in before - after if line.startswith(told)]
    still = {line.rpartition("=")[0] for line in after}
    changed = [line for line in gone if any(word in line for word in words)]
    return [f"lost: {line}" for line in changed if line.rpartition("=")[0] in still]
