"""Published scores in one form, whatever shape their file has: CSV, JSON of two generations, Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

from benchproof import jsontext
from benchproof.analysis.published.sheets import Sheet, csv_sheet, markdown_sheets
from benchproof.printable import printable

Axis = Literal["model", "category", "platform"]

_NUMBER = re.compile(r"[$€]?\s*(-?[0-9]{1,12}(?:\.[0-9]{1,12})?)\s*%?")
_PAIR = re.compile(
    r"[(\[]\s*(-?[0-9]{1,12}(?:\.[0-9]{1,12})?)%?\s*[,;–-]\s*(-?[0-9]{1,12}(?:\.[0-9]{1,12})?)%?\s*[)\]]"
)
_MODEL = ("modelname", "model", "modelid", "id")
_SCORE = ("accuracy", "passrate")
_LOW, _HIGH = ("cilow", "cilower", "cilowerbound"), ("cihigh", "ciupper", "ciupperbound")
_BOTH = ("95ci", "ci", "ci95")
_SIZE = ("n", "nevals", "evals", "nevaluations")
_AXES: dict[str, Axis] = {"tasks": "category", "categories": "category", "platforms": "platform"}
#: More evaluations, replicates or runs than this nobody has; their product still fits a table.
_MOST = 10**9 - 1
#: A file with more scores than this is no table of results: each is compared with every other one.
_LARGEST = 2_000
#: Columns whose meaning depends on the rest of their table, or that name a row.
_OWN = {*_MODEL, *_SCORE, *_LOW, *_HIGH, *_BOTH, *_SIZE, "harness", "displayname", "provider"}
_OWN |= {"runs", "passed", "date", "rank"}


@dataclass(frozen=True, slots=True)
class Score:
    """One published accuracy, in percent as text says it; None where the text is no number.

    `stratum` is None on the model axis. `decimals` is the finest rounding of its column. `runs` and
    `passed` are counts that some tables state. `others` are further numbers of its row by column.
    """

    path: str
    place: str
    axis: Axis
    stratum: str | None
    model: str
    harness: str | None
    mean: Decimal | None
    low: Decimal | None = None
    high: Decimal | None = None
    n_evals: int | None = None
    decimals: int = 0
    runs: int | None = None
    passed: int | None = None
    others: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str | None]:
        """Model and harness as different files spell them alike."""
        return plain(self.model), plain(self.harness) if self.harness else None

    @property
    def subject(self) -> str:
        """Model, harness and stratum, for people."""
        name = f"{self.model} x {self.harness}" if self.harness else self.model
        return shown(name if self.stratum is None else f"{name} in {self.axis} {self.stratum}")


@dataclass(frozen=True, slots=True)
class File:
    """What a published file holds; `replicates` as it states them, `stated` its number of evaluations.

    `odd` says that nothing in it was understood.
    """

    path: str
    scores: tuple[Score, ...] = ()
    extras: tuple[Score, ...] = ()
    replicates: int | None = None
    stated: int | None = None
    odd: bool = False


def shown(text: str) -> str:
    """Return a name from a file as one printable line, for messages, lists and terminals."""
    return printable(text)


def plain(text: str) -> str:
    """Return a name without case and punctuation: GPT-5.2, gpt-5.2 and gpt-5-2 are one."""
    return re.sub(r"[\W_]", "", text.lower())


def number(text: str | None) -> Decimal | None:
    """Return a number as people write them in tables, or None."""
    match = _NUMBER.fullmatch(text.strip()) if text else None
    return Decimal(match.group(1)) if match else None


def parse(path: str, data: bytes) -> File:
    """Return what a file publishes; raises Unreadable."""
    if path.endswith(".csv"):
        file = _of_sheets(path, [csv_sheet(path, data)])
    elif path.endswith(".json"):
        file = _of_json(path, jsontext.loads(data).value)
    else:
        file = replace(_of_sheets(path, markdown_sheets(path, data)), odd=False)
    large = len(file.scores) + len(file.extras) > _LARGEST
    return File(path, odd=True) if large else file


# -- CSV and Markdown ---------------------------------------------------------------------------------


def _of_sheets(path: str, sheets: Iterable[Sheet]) -> File:
    scores: list[Score] = []
    extras: list[Score] = []
    for sheet in sheets:
        names = {plain(column): column for column in reversed(sheet.columns)}
        model = _first(names, _MODEL)
        if model is None:
            continue
        found = [_of_row(sheet.path, place, row, names, model) for place, row in sheet.places()]
        if _first(names, _SCORE) is None:
            extras += [replace(score, low=None, high=None) for score in found]
        else:
            scores += _with_decimals(found)
    return File(path, tuple(scores), tuple(extras), odd=not scores and not extras)


def _first(names: Mapping[str, str], wanted: Iterable[str]) -> str | None:
    return next((names[name] for name in wanted if name in names), None)


def _of_row(
    path: str, place: str, row: Mapping[str, str], names: Mapping[str, str], model: str
) -> Score:
    def cell(wanted: Iterable[str]) -> str | None:
        column = _first(names, wanted)
        return row.get(column) if column is not None else None

    both = _PAIR.fullmatch((cell(_BOTH) or "").strip())
    low, high = map(Decimal, both.groups()) if both else (number(cell(_LOW)), number(cell(_HIGH)))
    others = {name: number(row.get(column)) for name, column in names.items() if name not in _OWN}
    return Score(
        path=path,
        place=place,
        axis="model",
        stratum=None,
        model=row.get(model, ""),
        harness=cell(["harness"]) or None,
        mean=number(cell(_SCORE)),
        low=low,
        high=high,
        n_evals=_count(cell(_SIZE)),
        runs=_count(cell(["runs"])),
        passed=_count(cell(["passed"])),
        others={name: value for name, value in others.items() if value is not None},
    )


def _count(value: Any) -> int | None:
    if isinstance(value, str):
        plain = value.strip()  # of more than int() takes away
        value = int(plain) if re.fullmatch(r"[0-9]{1,9}", plain) else None
    right = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST
    return value if right else None


# -- JSON ---------------------------------------------------------------------------------------------


def _of_json(path: str, value: Any) -> File:
    if not isinstance(value, dict):
        return File(path, odd=True)
    about = value.get("metadata")
    about = about if isinstance(about, dict) else {}
    scores = [*_axis_scores(path, value), *_model_scores(path, value, about)]
    return File(
        path,
        tuple(_with_decimals(scores)),
        replicates=_count(about.get("n_runs", about.get("n_runs_per_model"))),
        stated=_count(about.get("n_evaluations", about.get("n_evals"))),
        odd=not scores,
    )


def _axis_scores(path: str, value: Mapping[str, Any]) -> Iterator[Score]:
    for name, axis in _AXES.items():
        groups = value.get(name)
        for stratum, group in groups.items() if isinstance(groups, dict) else ():
            models = group.get("model", group.get("models")) if isinstance(group, dict) else None
            for model, cell in models.items() if isinstance(models, dict) else ():
                if isinstance(cell, dict):
                    # Escaped as JSON pointers are, so that no two places are one.
                    parts = (
                        part.replace("~", "~0").replace("/", "~1") for part in (stratum, model)
                    )
                    place = "/".join(("", name, *parts))
                    size = _count(group.get("n_evals"))
                    yield _of_cell(path, place, axis, stratum, model, None, cell, size)


def _model_scores(path: str, value: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[Score]:
    listed = value.get("models")
    for place, item in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(item, dict):
            continue
        model = next((item[k] for k in ("model_name", "model", "id") if k in item), None)
        cell = item.get("accuracy", item)
        cell = cell if isinstance(cell, dict) else {**item, "mean": cell}
        if isinstance(model, str):
            size = _count(item.get("n_evals", about.get("n_evaluations")))
            harness = item.get("harness", about.get("harness"))
            harness = harness if isinstance(harness, str) else None
            yield _of_cell(path, f"/models/{place}", "model", None, model, harness, cell, size)


def _of_cell(
    path: str,
    place: str,
    axis: Axis,
    stratum: str | None,
    model: str,
    harness: str | None,
    cell: Mapping[str, Any],
    size: int | None,
) -> Score:
    def value(*names: str) -> Decimal | None:
        return _finite(next((cell[name] for name in names if name in cell), None))

    return Score(
        path=path,
        place=place,
        axis=axis,
        stratum=stratum,
        model=model,
        harness=harness,
        mean=value("mean", "passed", "accuracy"),
        low=value("ci_low", "ci_lower"),
        high=value("ci_high", "ci_upper"),
        n_evals=size,
    )


def _finite(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared before anything else: NaN is not less, and a whole number may be larger than any float.
    return Decimal(repr(value)) if abs(value) < 1e12 else None


# -- both ---------------------------------------------------------------------------------------------


def _with_decimals(scores: Iterable[Score]) -> list[Score]:
    """Give each score the rounding of its column: 63.8 beside 64.34 stands for 63.80."""
    listed = list(scores)
    shown = [v for s in listed for v in (s.mean, s.low, s.high) if v is not None]
    finest = max((_places(value) for value in shown), default=0)
    return [replace(score, decimals=finest) for score in listed]


def _places(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def with_harness(scores: Iterable[Score], known: Iterable[Score]) -> list[Score]:
    """Return scores whose one name holds model and harness with the two told apart, as `known` does."""
    pairs = {
        plain(f"{score.model}{score.harness}"): score
        for score in known
        if score.harness is not None
    }
    told = []
    for score in scores:
        match = pairs.get(plain(score.model)) if score.harness is None else None
        told.append(replace(score, model=match.model, harness=match.harness) if match else score)
    return told
