"""report.html: one self-contained page that opens from a file on any machine and asks nobody for anything.

Its script is our own, 16 kB without a build step: of the libraries that could be bundled one needs minutes
for a hundred thousand rows, and the other a bundler (benchmarks/README.md). Its policy allows it alone.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from benchproof.findings import SEVERITIES
from benchproof.grading.readings import READINGS
from benchproof.inventory.manifests import SHAPES
from benchproof.progress import megabytes
from benchproof.report import charts, dictionary
from benchproof.report.facts import UNTESTED, Facts, Part
from benchproof.report.figures import Figure
from benchproof.report.grids import Column, Grid, cell, encoded, grids, of_figures
from benchproof.report.measures import MOST_MODELS, part, short_names
from benchproof.report.summary import changed
from benchproof.report.visible import embedded, visible

if TYPE_CHECKING:
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
COUNTED = ("rows", "evals", "files", "orphans", "dangling")


def render(facts: Facts, figures: Mapping[str, Figure]) -> str:
    """Return the page. Everything from upstream is escaped text; every figure is one of `figures`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = _Page(facts, figures)
    environment.globals.update(page.helpers())
    return environment.get_template("report.html.j2").render(**page.context())


class _Page:
    """What the template calls: numbers and words with their links, each anchor set once."""

    def __init__(self, facts: Facts, figures: Mapping[str, Figure]) -> None:
        self.facts, self.figures = facts, figures
        self.names = short_names(r.repo for r in facts.repositories)
        self.grids: dict[str, Grid] = {**grids(facts), "figures": of_figures(figures.values())}
        self.dictionary = _dictionary(facts)
        self.reasons = _reasons(facts)
        self.paths = {(row["repo"], row["eval_id"]): row["path"] for row in facts.tables["evals"]}
        self._anchored: set[str] = set()

    def fig(self, name: str, form: str = "", fallback: Any = None) -> Markup | str:
        """Return the value of a figure as a link to its evidence; its first is the figure's anchor."""
        figure = self.figures.get(name)
        if figure is None:
            return _formatted(fallback, form)
        return self._linked(figure, _formatted(figure.value, form))

    def cite(self, parts: Iterable[Part], prefix: str = "") -> Markup:
        """Return a sentence whose numbers are figures."""
        from markupsafe import Markup

        return Markup("").join(self._cited(text, name, prefix) for text, name in parts)

    def _cited(self, text: str, name: str | None, prefix: str) -> Markup | str:
        figure = self.figures.get(f"{prefix}{name}")
        if name is None or figure is None or figure.value is None:
            return visible(text)
        form = "bytes" if name.endswith(".bytes") else ""
        lead = "at least " if text.startswith("at least ") else ""
        return lead + self._linked(figure, _formatted(figure.value, form))

    def _linked(self, figure: Figure, text: str) -> Markup:
        from markupsafe import Markup

        first = figure.id not in self._anchored
        self._anchored.add(figure.id)
        anchor = Markup(' id="{}"').format(figure.id) if first else ""
        return Markup('<a class="f"{} href="#{}">{}</a>').format(anchor, figure.id, visible(text))

    def at_least(self, name: str) -> Markup | str:
        """Return a sum over the family; a lower bound, and said to be one, when a part is not known."""
        open_ = any(row[name] is None for row in self.facts.tables["reconciliation"])
        return ("at least " if open_ else "") + self.fig(f"family.{name}")

    def word(self, table: str, text: str | None) -> Markup | str:
        """Return a status or reason as a link to its meaning, where it has one."""
        known = self.reasons if table == "reason" else self.dictionary[table]["statuses"]
        if not text or text not in known:
            return visible(text or "")
        return _link("w", f"word:{table}:{text}", text)

    def title(self, name: str, source: str) -> Markup | str:
        """Return a column's title as a link to its meaning."""
        table, _, column = source.replace(":", ".").partition(".")
        known = self.dictionary.get(table, {}).get("statuses" if ":" in source else "columns", {})
        return _link("w", f"word:{source}", name) if column in known else name

    def key(self, grid: str, name: str, text: str | None = None) -> Markup:
        """Return a row's key as a link to its evidence."""
        return _link("f", f"{grid}:{visible(name)}", text or name)

    def cell(self, grid: Grid, column: Column, row: Mapping[str, Any]) -> Markup:
        """Return a cell of a grid as its script writes it."""
        from markupsafe import Markup

        text: Markup | str = _shown(column.kind, row[column.name])
        if column.name == grid.lead:
            link = self.key(grid.name, grid.id(row), str(text) or None)
            return Markup('<th class="{}" scope="row">{}</th>').format(column.kind, link)
        if column.kind == "word":
            reason = column.source.endswith(".reason")
            text = self.word("reason" if reason else column.table, str(text))
        if column.name == "severity":
            text = Markup('<span class="sev {}">{}</span>').format(row[column.name], text)
        return Markup('<td class="{}">{}</td>').format(column.kind, text)

    def eval_link(self, row: Mapping[str, Any]) -> Markup | str:
        """Return an evaluation as a link to its row, where it has a file."""
        path = self.paths.get((row["repo"], row["eval_id"]))
        name = visible(row["eval_id"])
        return name if path is None else self.key("evals", f"{row['repo']}:{path}", name)

    def agreement(self, repository: Any) -> list[charts.Share]:
        """Return the bar of a repository's runs."""
        r = repository
        counts = {"agrees": r.agreeing, "differs": r.graded - r.agreeing}
        return charts.bar({**counts, "unchecked": r.runs - r.graded})

    def model_id(self, row: Mapping[str, Any]) -> str:
        """Return the id that the figures of a model and harness begin with."""
        name = self.names.get(row["repo"], part(row["repo"]))
        return f"{name}.models.{part(row['model'] or 'null')}.{part(row['harness'] or 'null')}"

    def check_id(self, repo: str, check: str) -> str:
        """Return the id that the figures of a check begin with."""
        kind, _, name = check.partition(": ")
        return f"{self.names.get(repo, part(repo))}.{kind}.{part(name)}"

    def helpers(self) -> dict[str, Any]:
        """Return the functions that the templates call."""
        names = (
            "fig cite at_least word title key cell agreement eval_link model_id check_id".split()
        )
        return {
            **{name: getattr(self, name) for name in names},
            "names_of": _names_of,
            "listed": lambda texts: ", ".join(texts or ()),
            "percent": _percent,
            "megabytes": megabytes,
            "length": charts.length,
            "part": part,
            "shorten": _shorten,
            "build_id": lambda build: part("not_recorded" if build == "not recorded" else build),
            "shown": lambda value: "not known" if value is None else value,
        }

    def context(self) -> dict[str, Any]:
        """Return the values that the template reads."""
        from markupsafe import Markup

        facts = self.facts
        script, style = _asset("report.js"), _asset("report.css")
        shown = [name for name, grid in self.grids.items() if grid.rows or name == "figures"]
        commits = {r.repo: r.commit for r in facts.repositories}
        return {
            "facts": facts,
            "untested": UNTESTED,
            "changed": changed(facts),
            "grave": [row for row in facts.worst if row["severity"] in ("critical", "major")],
            "rank": {name: n for n, name in enumerate(SEVERITIES)},
            "shown_at_most": 20,
            "most_models": MOST_MODELS,
            "counted": COUNTED,
            "names": self.names,
            "grids": self.grids,
            "dictionary": self.dictionary,
            "reasons": self.reasons,
            "readings": READINGS,
            "shapes": SHAPES,
            "users": _users(facts),
            "contents": {row["handle"]: row for row in facts.tables["contents"]},
            "axis": charts.scale(facts.tables["models"]),
            "script": Markup(script),
            "style": Markup(style),
            "script_hash": _digest(script),
            "style_hash": _digest(style),
            "data": {
                **{name: Markup(embedded(encoded(self.grids[name]))) for name in shown},
                "commits": Markup(embedded(commits)),
            },
        }


def _link(kind: str, target: str, text: str) -> Markup:
    from markupsafe import Markup

    return Markup('<a class="{}" href="#{}">{}</a>').format(
        kind, quote(target, safe=":"), visible(text)
    )


def _asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"


def _formatted(value: Any, form: str) -> str:
    """Return a figure's value for people; what is not known is said to be, and an interval may lack."""
    if value is None:
        return "none" if form == "percent" else "not known"
    if form == "percent":
        return _percent(value)
    return megabytes(value) if form == "bytes" else str(value)


def _shown(kind: str, value: Any) -> str:
    plain = cell(value)
    if plain is None:
        return ""
    if kind == "yes":
        return "yes" if plain else "no"
    return megabytes(plain) if kind == "bytes" and isinstance(plain, int) else str(plain)


def _shorten(name: str | None, most: int = 40) -> str:
    """Return a name that fits a line."""
    return "" if name is None else name if len(name) <= most else name[: most - 1] + "…"


def _names_of(described: list[str] | None, most: int = 6) -> str:
    """Return the names of columns or layers, each of which says `name: type`; the first few of many."""
    names = [text.split(": ", 1)[0] for text in described or ()]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _users(facts: Facts) -> dict[str, list[str]]:
    """Return the evaluations that name each handle."""
    users: dict[str, list[str]] = {}
    for row in facts.tables["eval_handles"]:
        users.setdefault(row["handle"], []).append(row["eval_id"])
    return users


def _dictionary(facts: Facts) -> dict[str, dict[str, Any]]:
    """Return what the tables of this page mean, their columns, and the statuses that they have here."""
    met = {
        name: {row["status"] for row in rows if row.get("status")}
        for name, rows in facts.tables.items()
    }
    return {
        name: {
            "text": dictionary.TABLES[name],
            "columns": dictionary.COLUMNS[name],
            "statuses": {
                word: text
                for word, text in dictionary.STATUSES.get(name, {}).items()
                if word in met[name]
            },
        }
        for name in facts.tables
    }


def _reasons(facts: Facts) -> dict[str, str]:
    """Return the reasons that the tables of this page have, and what they mean."""
    codes = {row["reason"] for rows in facts.tables.values() for row in rows if row.get("reason")}
    known = {code: dictionary.reason(code) for code in sorted(codes)}
    return {code: text for code, text in known.items() if text is not None}
