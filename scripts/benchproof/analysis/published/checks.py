"""Checks of published scores against arithmetic, against each other and against the public runs.

Pure: takes files and counted runs, returns check rows. A check is a row: what was checked, of which
subject, and whether it holds, fails or could not be checked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from benchproof.analysis.models import interval
from benchproof.analysis.published import grid
from benchproof.analysis.published.scores import Score, plain, shown

Status = Literal["holds", "fails", "not_checked"]

#: The finding that a failing check is.
RULE_OF: Final = {
    "readable": "published_not_a_number",
    "granularity": "published_off_grid",
    "symmetry": "published_interval_off_centre",
    "width": "published_interval_impossible",
    "rate": "published_rate_differs",
    "total": "published_total_differs",
    "sizes": "published_sizes_differ",
    "listed": "published_model_unlisted",
    "tables": "published_tables_disagree",
    "public_fits": "published_public_runs_exceed",
    "recomputed": "published_recomputed_differs",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One checked statement; `against` is the other file or axis, where there is one."""

    check: str
    path: str
    place: str
    subject: str
    status: Status
    expected: str | None = None
    observed: str | None = None
    reason: str | None = None
    against: str = ""


@dataclass(frozen=True, slots=True)
class Public:
    """Public runs of one model and harness: pass or fail of each replicate by evaluation, and where each
    evaluation belongs on the axes category and platform. `evals` are all public evaluations of the
    benchmark, `incomplete` says that some of their runs are missing or cannot be read.
    """

    outcomes: Mapping[str, Sequence[bool]]
    strata: Mapping[str, Mapping[str, str]]
    evals: frozenset[str]

    def within(self, axis: str, stratum: str | None) -> Public:
        """Return the part of it that belongs to a stratum; all of it on the model axis."""
        if stratum is None:
            return self
        place = self.strata[axis]
        inside = {name for name in self.evals if place.get(name) == plain(stratum)}
        found = {name: runs for name, runs in self.outcomes.items() if name in inside}
        return Public(found, self.strata, frozenset(inside))


def alone(score: Score, replicates: int | None) -> Iterator[Check]:
    """Check one score by itself: readable, on the grid, its interval possible, its rate right."""
    if score.mean is None:
        yield _check("readable", score, "fails", "a number", None)
        return
    yield _on_grid(score, score.mean, replicates)
    yield from _interval(score, score.mean)
    if score.runs is not None and score.passed is not None and score.runs > 0:
        share = Fraction(100 * score.passed, score.runs)
        right = abs(share - Fraction(score.mean)) <= grid.half_unit(score.decimals)
        expected = f"{score.passed} of {score.runs}: {float(share):.{score.decimals}f}"
        yield _check("rate", score, _status(right), expected, _shown(score.mean))


def _on_grid(score: Score, mean: Decimal, replicates: int | None) -> Check:
    runs = _runs(score, replicates)
    if runs is None:
        missing = "no_n_stated" if score.n_evals is None else "no_replicates_stated"
        return _check("granularity", score, "not_checked", reason=missing)
    if grid.passes(mean, score.decimals, runs) is not None:
        return _check("granularity", score, "holds", f"k of {runs} runs", _shown(mean))
    below = int(Fraction(mean) / 100 * runs)
    near = " or ".join(f"{100 * k / runs:.{score.decimals}f}" for k in (below, below + 1))
    halved = grid.passes(mean, score.decimals, 2 * runs) is not None
    reason = "fits_with_a_missing_replicate" if halved else None
    expected = f"{near} ({below} or {below + 1} of {runs} runs)"
    return _check("granularity", score, "fails", expected, _shown(mean), reason)


def _interval(score: Score, mean: Decimal) -> Iterator[Check]:
    low, high = score.low, score.high
    if low is None or high is None:
        return
    bounds = f"{_shown(low)} to {_shown(high)}"
    if grid.symmetric(mean, low, high, score.decimals):
        yield _check("symmetry", score, "holds", _shown(mean), bounds)
    else:
        clipped = "looks_clipped" if low == 0 or high == 100 else None
        yield _check("symmetry", score, "fails", _shown(mean), bounds, clipped)
    if score.n_evals is None or score.n_evals < 2:
        return
    most = grid.widest(mean, score.decimals, score.n_evals)
    half = float(high - low) / 2
    right = -1e-9 <= half <= most + float(2 * grid.half_unit(score.decimals))
    expected = f"at most {most:.{score.decimals}f} either way"
    yield _check("width", score, _status(right), expected, bounds)


def together(
    scores: Sequence[Score], extras: Sequence[Score], replicates: int | None
) -> Iterator[Check]:
    """Check scores of one repository against each other: parts against totals, table against table."""
    models = [score for score in scores if score.axis == "model"]
    parts: dict[tuple[str, str], list[Score]] = defaultdict(list)
    for score in scores:
        if score.axis != "model":
            parts[(score.path, score.axis)].append(score)
    for (path, axis), found in sorted(parts.items()):
        yield from _sizes(models, path, axis, found)
        yield from _listed(models, path, axis, found)
    for score in models:
        if score.mean is not None and score.n_evals is not None:
            for (path, axis), found in sorted(parts.items()):
                yield from _total(score, models, path, axis, found, replicates)
    yield from _agreement([*models, *extras])


def _sizes(
    models: Sequence[Score], path: str, axis: str, parts: Sequence[Score]
) -> Iterator[Check]:
    sizes = {score.stratum: score.n_evals for score in parts}
    stated = {score.n_evals for score in models if score.n_evals is not None}
    known = [size for size in sizes.values() if size is not None]
    if len(known) < len(sizes) or not stated:
        return
    most = max(stated)
    expected, observed = f"{most} evaluations", f"{sum(known)} in {len(known)} parts"
    status = _status(sum(known) == most)
    yield Check("sizes", path, f"/{axis}", f"all {axis} parts", status, expected, observed)


def _listed(
    models: Sequence[Score], path: str, axis: str, parts: Sequence[Score]
) -> Iterator[Check]:
    """A model of the parts stands in the totals too, or nobody can compare its sums."""
    totals = [score for score in models if score.n_evals is not None]
    firsts = {part.key: part for part in reversed(parts)}
    for key in sorted(firsts, key=lambda key: (key[0], key[1] or "")) if totals else ():
        part = firsts[key]
        right = any(_alike(part, score) for score in totals)
        subject = shown(f"{part.model} x {part.harness}" if part.harness else part.model)
        place = f"/{axis}/{part.model}"
        expected, observed = "a row among the totals", "a row" if right else "none"
        yield Check("listed", path, place, subject, _status(right), expected, observed)


def _total(
    score: Score,
    models: Sequence[Score],
    path: str,
    axis: str,
    parts: Sequence[Score],
    replicates: int | None,
) -> Iterator[Check]:
    mine = [part for part in parts if _same(part, score, models)]
    if not mine:
        return
    strata = {part.stratum for part in parts}
    against = f"{axis} parts in {path}"

    def not_checked(reason: str) -> Check:
        return _check("total", score, "not_checked", reason=reason, against=against)

    if {part.stratum for part in mine} != strata or len(mine) != len(strata):
        yield not_checked("parts_missing")
        return
    if replicates is None or any(part.n_evals is None or part.mean is None for part in mine):
        yield not_checked("not_counted")
        return
    if sum(part.n_evals or 0 for part in mine) != score.n_evals:
        yield not_checked("sizes_differ")
        return
    whole = _passes(score, replicates)
    counts = [_passes(part, replicates) for part in mine]
    if whole is None or None in counts:
        yield not_checked("off_grid")
        return
    added = (sum(c[0] for c in counts if c), sum(c[1] for c in counts if c))
    right = added[0] <= whole[1] and whole[0] <= added[1]
    runs = _runs(score, replicates)
    yield _check(
        "total",
        score,
        _status(right),
        f"{_range(added)} of {runs}, the sum over {len(mine)} {axis} parts",
        f"{_range(whole)} of {runs} ({_shown(score.mean)})",
        against=against,
    )


def _same(part: Score, score: Score, models: Sequence[Score]) -> bool:
    """A part belongs to a model table's row when both have the same names, or the only ones like it."""
    if part.key == score.key:
        return True
    if part.key[0] != score.key[0] or (part.key[1] is not None and score.key[1] is not None):
        return False
    return len({other.key for other in models if other.key[0] == score.key[0]}) == 1


def _agreement(scores: Sequence[Score]) -> Iterator[Check]:
    """Compare each two rows of different tables that are about the same model and harness."""
    for place, score in enumerate(scores):
        for path in sorted({other.path for other in scores[:place]} - {score.path}):
            rivals = [s for s in scores[:place] if s.path == path and _alike(s, score)]
            checks = [check for rival in rivals for check in _compared(score, rival)]
            by_name: dict[str, list[Check]] = defaultdict(list)
            for check in checks:
                by_name[check.against].append(check)
            # A row that names no harness may be about any of several.
            for same in by_name.values():
                yield next((c for c in same if c.status == "holds"), same[0])


def _alike(one: Score, other: Score) -> bool:
    (model, harness), (model2, harness2) = one.key, other.key
    return model == model2 and (harness == harness2 or harness is None or harness2 is None)


def _compared(score: Score, other: Score) -> Iterator[Check]:
    pairs = {
        name: (value, other.others[name])
        for name, value in score.others.items()
        if name in other.others
    }
    pairs |= {
        name: (mine, theirs)
        for name in ("mean", "low", "high")
        if (mine := getattr(score, name)) is not None
        and (theirs := getattr(other, name)) is not None
    }
    for name, (mine, theirs) in sorted(pairs.items()):
        tied = name in ("mean", "low", "high")
        places = (score.decimals, other.decimals) if tied else (_places(mine), _places(theirs))
        right = agree(mine, theirs, *places)
        subject = f"{score.subject}: {'accuracy' if name == 'mean' else name}"
        against = f"{name} in {other.path}"
        yield Check(
            "tables",
            score.path,
            score.place,
            subject,
            _status(right),
            None if right else f"{theirs} ({other.path} {other.place})",
            None if right else str(mine),
            against=against,
        )


def agree(one: Decimal, other: Decimal, places: int, other_places: int) -> bool:
    """True when two rounded numbers can stand for one: equal after rounding to the coarser of the two."""
    if places == other_places:
        return one == other
    return abs(Fraction(one) - Fraction(other)) <= grid.half_unit(min(places, other_places))


def _places(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def with_runs(score: Score, public: Public | None, replicates: int | None) -> Iterator[Check]:
    """Check a score against the public runs: recompute it where they are all, else see that they fit."""
    runs = _runs(score, replicates)
    if public is None or score.mean is None or runs is None or replicates is None:
        return
    mine = public.within(score.axis, score.stratum)
    if not mine.outcomes:
        return
    passed = sum(map(sum, mine.outcomes.values()))
    total = sum(map(len, mine.outcomes.values()))
    counted = _passes(score, replicates)
    if counted is None:
        yield _check("public_fits", score, "not_checked", reason="off_grid")
    else:
        fits = passed <= counted[1] and total - passed <= runs - counted[0]
        room = f"at most {counted[1]} passed and {runs - counted[0]} failed of {runs}"
        seen = f"{passed} passed and {total - passed} failed of {total}"
        yield _check("public_fits", score, _status(fits), room, seen)
    yield _recomputed(score, score.mean, mine, replicates)


def _recomputed(score: Score, mean: Decimal, mine: Public, replicates: int) -> Check:
    if score.n_evals is None:
        return _check("recomputed", score, "not_checked", reason="no_n_stated")
    if score.n_evals != len(mine.evals):
        return _check("recomputed", score, "not_checked", reason="evals_withheld")
    whole = all(len(mine.outcomes.get(name, ())) == replicates for name in mine.evals)
    if not whole:
        return _check("recomputed", score, "not_checked", reason="runs_missing")
    shares = [sum(mine.outcomes[name]) / replicates for name in sorted(mine.evals)]
    found = interval(shares)
    told = (mean, score.low, score.high)
    pairs = [(a, b) for a, b in zip(told, found, strict=True) if a is not None and b is not None]
    near = float(grid.half_unit(score.decimals))
    right = all(abs(float(a) - 100 * b) <= near for a, b in pairs)
    expected = " ".join(f"{100 * b:.{score.decimals}f}" for _, b in pairs)
    return _check(
        "recomputed", score, _status(right), expected, " ".join(_shown(a) for a, _ in pairs)
    )


def _runs(score: Score, replicates: int | None) -> int | None:
    """The runs that a score is over: as its table states them, else evaluations times replicates."""
    if score.runs is not None or score.n_evals is None or replicates is None:
        return score.runs
    return score.n_evals * replicates


def _passes(score: Score, replicates: int | None) -> grid.Passes | None:
    runs = _runs(score, replicates)
    if runs is None or score.mean is None:
        return None
    if score.passed is not None:
        return score.passed, score.passed
    return grid.passes(score.mean, score.decimals, runs)


def passes_of(score: Score, replicates: int | None) -> tuple[int | None, int | None]:
    """Return the fewest and most passed runs that a score stands for; Nones where that is not known."""
    return _passes(score, replicates) or (None, None)


def _range(passes: grid.Passes) -> str:
    return str(passes[0]) if passes[0] == passes[1] else f"{passes[0]} to {passes[1]}"


def _shown(value: Decimal | None) -> str:
    return "" if value is None else str(value)


def _status(right: bool) -> Status:
    return "holds" if right else "fails"


def _check(
    name: str,
    score: Score,
    status: Status,
    expected: str | None = None,
    observed: str | None = None,
    reason: str | None = None,
    against: str = "",
) -> Check:
    return Check(
        name, score.path, score.place, score.subject, status, expected, observed, reason, against
    )


def failing(checks: Iterable[Check]) -> list[Check]:
    """Return the checks that fail."""
    return [check for check in checks if check.status == "fails"]
