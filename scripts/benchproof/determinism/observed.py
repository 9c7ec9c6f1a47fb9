"""What the jobs of a derivation saw of its conditions, in one value for each condition.

Values in, values out: a witness is what site/sitecustomize.py writes. Raises nothing: what is missing or
contradicts itself is a sentence among the problems.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

Witness = Mapping[str, Any]

#: Of each condition that every job sees for itself: how its value is read from a witness.
_ALIKE: Final[Mapping[str, Callable[[Witness], str]]] = {
    "threads": lambda seen: f"{seen['cpus']} CPU, OMP {seen['omp']}",
    "umask": lambda seen: str(seen["umask"]),
    "working folder": lambda seen: str(seen["cwd"]).rpartition("/rooms/")[2],
    "hash seed": lambda seen: " ".join(f"{value & 0xFFFF:04x}" for value in seen["hash"]),
    "locale": lambda seen: str(seen["locale"]),
    "time zone": lambda seen: str(seen["zone"]),
    "folder order": lambda seen: " ".join(
        sorted({"".join(name[:1] for name in names) for names in seen["orders"]})
    ),
}
#: The rule that grades a share of the runs, where several jobs do.
SHARE: Final = "grade_share"


def observed(
    witnesses: Sequence[Witness],
    rules: Collection[str],
    sources: Mapping[int, str],
    tables: Collection[str],
) -> tuple[dict[str, str], list[str]]:
    """Return the value of each condition, and the problems: jobs without a witness, or that disagree.

    `rules` must each have a witness; `sources` has the source of each content archive by its inode, and
    `tables` the names of the content tables.
    """
    problems = []
    jobs = sorted(witnesses, key=lambda seen: seen["began"])
    if silent := sorted(set(rules) - {seen["rule"] for seen in jobs}):
        problems.append(f"no witness of {', '.join(silent)}")
    found = {}
    for name, read in _ALIKE.items():
        values = sorted({read(seen) for seen in jobs})
        found[name] = " / ".join(values) or "nothing"
        if len(values) > 1:
            problems.append(f"jobs of one derivation saw different values of {name}: {found[name]}")
    arrow = {seen["arrow"] for seen in jobs} - {None}
    found["threads"] += f", Arrow {'/'.join(map(str, sorted(arrow))) or 'not used'}"
    return found | _of_all(jobs, sources, tables), problems


def _of_all(
    jobs: Sequence[Witness], sources: Mapping[int, str], tables: Collection[str]
) -> dict[str, str]:
    """What no job sees alone."""
    shares = sum(seen["rule"] == SHARE for seen in jobs)
    first = {name.removesuffix(".parquet") for seen in jobs[:1] for name in seen["tables"]}
    return {
        "jobs at once": str(_at_once(jobs)),
        "job order": " ".join(_short(seen["rule"]) for seen in jobs if seen["rule"] != SHARE),
        "shares of runs": str(shares or 1),
        "on top of another": f"{len(first & set(tables))} content tables stood there",
        "source": _counted([sources.get(inode, "unknown") for inode in _archives(jobs)]),
    }


def _archives(jobs: Sequence[Witness]) -> set[int]:
    return {inode for seen in jobs for inode in seen["archives"].values()}


def _counted(names: Sequence[str]) -> str:
    return ", ".join(f"{names.count(name)} {name}" for name in sorted(set(names))) or "none"


def _at_once(jobs: Sequence[Witness]) -> int:
    """The most jobs that ran at one instant; one that ended as another began did not run beside it."""
    moments = [(seen["began"], 1) for seen in jobs] + [(seen["ended"], -1) for seen in jobs]
    running = most = 0
    for _, change in sorted(moments):
        running += change
        most = max(most, running)
    return most


def _short(rule: str) -> str:
    """The verbs and nouns of a rule by their first letters: there are a dozen in a line."""
    return "".join(word[:2] for word in rule.split("_"))
