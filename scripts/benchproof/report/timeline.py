"""The past as a page and as a screen: what each commit changed in the evaluations, rules, runs and findings.

The page needs no script and no other file. Every chart says in words what it draws, and the table beneath
holds all its numbers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from benchproof.inventory.manifests import SHAPES

Row = Mapping[str, Any]
TEMPLATES = Path(__file__).parent / "templates"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 96, 44, 12, 10, 18
#: Commits of a chart that get a dot each; more of them would be a line of their own.
DOTS = 150
#: Lines of a screen for one repository, beside those that say nothing new.
_MOST = 24


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: its name, how it is dashed, the path, and a dot (x, y, words) per commit."""

    name: str
    dash: str
    path: str
    dots: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart over the commits of a repository: its title, its words, its scale and its lines."""

    title: str
    words: str
    top: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of commits with one manifest shape, from x to x."""

    start: float
    width: float
    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Past:
    """What the page shows of one repository."""

    repo: str
    rows: Sequence[Row]
    charts: Sequence[Chart]
    bands: Sequence[Band]


def render(rows: Iterable[Row], notice: str | None = None) -> str:
    """Return the page. Everything from upstream is escaped text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("timeline.html.j2").render(
        pasts=[_past(repo, listed) for repo, listed in by_repository(rows).items()],
        notice=notice,
        shapes=SHAPES,
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        base=HEIGHT - BOTTOM,
        head=TOP,
        shown=lambda value: "not known" if value is None else value,
    )


def by_repository(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return rows by repository, oldest commit first."""
    ordered = sorted(rows, key=lambda row: (row["repo"], row["position"] or 0))
    return {repo: list(listed) for repo, listed in groupby(ordered, lambda row: str(row["repo"]))}


def _past(repo: str, rows: Sequence[Row]) -> Past:
    commits = [row for row in rows if row["commit_sha"]]
    charts = [
        _chart(
            "Evaluations", commits, {"evaluations": _of("evals"), "with a rule": _of("graders")}
        ),
        _chart("Recorded runs", commits, {"runs": _of("runs"), "graded": _of("graded")}),
        _chart("Verdicts that follow, %", commits, {"agreeing": _agreement}, ceiling=100),
        _chart("Findings", commits, {"critical": _of("critical"), "major": _of("major")}),
    ]
    return Past(repo, rows, charts if commits else [], _bands(commits))


def _of(column: str) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        found: float | None = row[column]
        return found

    return value


def _agreement(row: Row) -> float | None:
    """Per cent of the graded runs whose recorded verdict follows; None without any."""
    return 100 * row["agreeing"] / row["graded"] if row["graded"] else None


def _chart(
    title: str,
    rows: Sequence[Row],
    values: Mapping[str, Callable[[Row], float | None]],
    ceiling: float | None = None,
) -> Chart:
    known = {name: [value(row) for row in rows] for name, value in values.items()}
    highest = max((v for listed in known.values() for v in listed if v is not None), default=0)
    top = ceiling or highest or 1
    dashes = ("", "5 4")
    lines = tuple(
        Line(name, dash, _path(listed, top), _dots(name, rows, listed, top))
        for (name, listed), dash in zip(known.items(), dashes, strict=False)
    )
    words = " ".join(f"{_in_words(name, listed)}" for name, listed in known.items())
    return Chart(title, words, _number(top), lines)


def _in_words(name: str, values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return f"{name}: not known at any commit."
    changes = sum(a != b for a, b in pairwise(known))
    return (
        f"{name}: {_number(known[0])} at first, {_number(known[-1])} at last, between "
        f"{_number(min(known))} and {_number(max(known))}; known at {len(known)} of {len(values)} commits, "
        f"changed at {changes}."
    )


def _x(index: int, number: int) -> float:
    """Return where a commit's stretch begins: all are equally wide, whatever the time between them."""
    return round(LEFT + (WIDTH - LEFT - RIGHT) * index / number, 1)


def _y(value: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top, 1)


def _path(values: Sequence[float | None], top: float) -> str:
    """Return a step line: a value holds up to the next commit; what isn't known is a gap."""
    parts: list[str] = []
    previous: float | None = None
    for index, value in enumerate(values):
        x = _x(index, len(values))
        if value is not None:
            y = _y(value, top)
            parts.append(f"M{x} {y}" if previous is None else f"V{y}")
            parts.append(f"H{_x(index + 1, len(values))}")
        previous = value
    return "".join(parts)


def _dots(
    name: str, rows: Sequence[Row], values: Sequence[float | None], top: float
) -> tuple[tuple[float, float, str], ...]:
    if len(rows) > DOTS:
        return ()
    return tuple(
        (_x(i, len(rows)), _y(value, top), f"{row['commit_sha'][:10]}: {_number(value)} {name}")
        for i, (row, value) in enumerate(zip(rows, values, strict=True))
        if value is not None
    )


def _bands(rows: Sequence[Row]) -> list[Band]:
    """Return the manifest's shapes, each from its first commit to the next shape's."""
    found: list[Band] = []
    for shape, group in groupby(enumerate(rows), lambda item: item[1]["shape"]):
        indices = [i for i, _ in group]
        start, end = (_x(i, len(rows)) for i in (indices[0], indices[-1] + 1))
        name = shape or "not known"
        found.append(Band(start, round(end - start, 1), name, SHAPES.get(name, name)))
    return found


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# -- the terminal -------------------------------------------------------------------------------------


def screen(rows: Iterable[Row]) -> str:
    """Return the commits at which something that is counted changed, 80 columns wide."""
    lines: list[str] = []
    for repo, listed in by_repository(rows).items():
        lines += [_plain(repo), *_lines(listed), ""]
    return "\n".join(lines).rstrip()


def _lines(rows: Sequence[Row]) -> list[str]:
    commits = [row for row in rows if row["commit_sha"]]
    if not commits:
        return [f"  no commits: {row['status']} ({row['reason'] or row['status']})" for row in rows]
    marked = [row for i, row in enumerate(commits) if i == 0 or _told(row) != _told(commits[i - 1])]
    shown = marked if len(marked) <= _MOST else [*marked[: _MOST // 2], *marked[-_MOST // 2 :]]
    head = f"  {'commit':10} {'date':10} {'shape':>7} {'evals':>5} {'rules':>5} {'runs':>6}"
    lines = [f"{head} {'follow':>13} {'critical':>8}", *(_line(row) for row in shown)]
    if len(shown) < len(marked):
        lines.insert(1 + _MOST // 2, f"  … {len(marked) - len(shown)} more in the table …")
    many = f"{len(commits)} commit{'s' * (len(commits) > 1)}"
    # Of a chosen list nobody asked what its commits touch.
    touching = " that touch what is audited" if commits[0]["parents"] is not None else ""
    same = len(commits) - len(marked)
    return [*lines, f"  {many}{touching}; {same or 'none'} as the one before."]


def _told(row: Row) -> tuple[Any, ...]:
    names = ("shape", "evals", "graders", "runs", "graded", "agreeing", "critical", "status")
    return tuple(row[name] for name in names)


def _line(row: Row) -> str:
    start = f"  {row['commit_sha'][:10]} {row['committed_at']:%Y-%m-%d}"
    if row["status"] != "ok":
        return f"{start} {row['status']} ({row['reason']})"
    follow = f"{row['agreeing']} of {row['graded']}" if row["graded"] else "-"
    cells = (
        (row["shape"], 7),
        (row["evals"], 5),
        (row["graders"], 5),
        (row["runs"], 6),
        (follow, 13),
    )
    text = " ".join(f"{'?' if value is None else value:>{width}}" for value, width in cells)
    return f"{start} {text} {row['critical']:>8}"


def _plain(text: str) -> str:
    """Return upstream text without characters that a terminal would obey."""
    return "".join(char if unicodedata.category(char)[0] != "C" else "?" for char in text)
