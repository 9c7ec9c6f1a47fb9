"""Screens that targets show in a terminal: plain text, at most 80 columns where names allow."""

from __future__ import annotations

import statistics
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchproof.printable import printable
from benchproof.progress import duration, megabytes

Row = Mapping[str, Any]
#: Said where no fetch has measured a rate yet.
ASSUMED_RATE = 10e6
COLUMNS = 80
_HANDLE, _NAME = 21, 45
_MOST = 40


def handles(rows: Sequence[Row], runnable: Sequence[Row], eval_handles: Sequence[Row]) -> str:
    """Return which evaluations can be run, by repository, and what stands in the way of the others."""
    named = {repo: {row["handle"] for row in items} for repo, items in _grouped(eval_handles)}
    good = {row["handle"] for row in rows if row["status"] == "reachable"}
    lines = [f"{'repository':32} {'evals':>6} {'handles':>8} {'reachable':>10} {'runnable':>9}"]
    for repo, items in _grouped(runnable):
        known = named.get(repo, set())
        full = sum(row["runnable"] == "all" for row in items)
        lines.append(
            f"{_cell(repo, 32)} {len(items):>6} {len(known):>8} {len(known & good):>10} {full:>9}"
        )
    full = sum(row["runnable"] == "all" for row in runnable)
    lines += _wrapped(
        f"{len(good)} of {len(rows)} distinct handles are reachable; {full} of {len(runnable)} evals "
        "can be run with all their data."
    )
    lines += _limited([_incomplete(row) for row in runnable if row["runnable"] in ("some", "none")])
    open_ = [row for row in rows if row["status"] not in ("reachable", "refused")]
    if open_:
        causes = sorted({f"{row['status']} ({row['reason']})" for row in open_})
        lines += _wrapped(f"{len(open_)} handles are not known: {', '.join(causes[:4])}.")
    return "\n".join(lines)


def _incomplete(row: Row) -> str:
    refused, named = row["n_refused"], row["n_handles"]
    rest = f", {row['n_unknown']} not known" if row["n_unknown"] else ""
    said = f"  {refused} of {named} handles refused{rest}"
    name = f"{row['repo'].partition('/')[2]}/{row['eval_id']}"
    return f"  incomplete: {_cut(name, COLUMNS - 14 - len(said))}{said}"


def sizes(
    objects: Sequence[Row],
    eval_handles: Sequence[Row],
    *,
    held: int,
    rate: float | None,
    free: int,
) -> str:
    """Return what the snapshots weigh and what fetching all of them would need.

    Shared snapshots count once. `held` are bytes that are here already, `rate` bytes per second of
    earlier fetches (None before the first), `free` bytes of the disk.
    """
    known = {row["handle"]: row for row in objects if row["size_bytes"] is not None}
    snapshots = {h: row for h, row in known.items() if row["container"] == "hdf5"}
    users = [row for row in eval_handles if row["handle"] in snapshots]
    evals = {(row["repo"], row["eval_id"]) for row in users}
    lines = [
        f"{len(evals)} evals use {len(snapshots)} distinct .h5ad snapshots; a shared one counts once."
    ]
    if snapshots:
        weights = sorted(row["size_bytes"] for row in snapshots.values())
        total = sum(weights)
        moved, takes = need(max(total - held, 0), held, rate, free)
        lines += [
            f"  smallest   {megabytes(weights[0]):>10}",
            f"  median     {megabytes(statistics.median(weights)):>10}",
            f"  largest    {megabytes(weights[-1]):>10}",
            f"  over 1 GB  {sum(w > 1e9 for w in weights):>4} of {len(weights)}",
            f"  whole set  {megabytes(total):>10}",
            f"  a fetch of all {moved}",
            f"  {takes}",
        ]
        lines += _limited(_by_size(users, snapshots))
    lines += _others([row for row in objects if row["handle"] not in snapshots])
    return "\n".join(lines)


def need(to_move: int, held: int, rate: float | None, free: int) -> tuple[str, str]:
    """Return what a fetch moves in bytes, and how long that takes and what room there is."""
    here = f" ({megabytes(held)} are here)" if held else ""
    speed = rate or ASSUMED_RATE
    how = "at the rate of earlier fetches" if rate else "if the link gives 10 MB/s"
    room = "" if free >= to_move else ": not enough"
    return (
        f"moves {megabytes(to_move)}{here}:",
        f"{duration(to_move / speed)} {how}; {megabytes(free)} of disk are free{room}",
    )


def _by_size(users: Iterable[Row], snapshots: Mapping[str, Row]) -> list[str]:
    weighed = sorted(
        {(snapshots[r["handle"]]["size_bytes"], r["repo"], r["eval_id"]) for r in users}
    )
    return [
        f"  {megabytes(size):>10}  {_cell(repo.partition('/')[2], 20)} {_cut(name, _NAME)}"
        for size, repo, name in weighed
    ]


def _others(rows: Sequence[Row]) -> list[str]:
    """Say what the other objects are, and which could not be probed."""
    kinds: dict[str, list[int]] = {}
    failed: dict[str, int] = {}
    for row in rows:
        if row["status"] == "ok" and row["size_bytes"] is not None:
            kinds.setdefault(row["container"], []).append(row["size_bytes"])
        else:
            what = row["container"] if row["status"] == "ok" else row["status"]
            state = f"{what} ({row['reason']})"
            failed[state] = failed.get(state, 0) + 1
    shown = [f"{len(v)} {kind} of {megabytes(sum(v))}" for kind, v in sorted(kinds.items())]
    lines = _wrapped(f"other objects: {', '.join(shown)}") if shown else []
    if failed:
        causes = ", ".join(f"{number} {state}" for state, number in sorted(failed.items()))
        lines += _wrapped(f"not sized: {causes}")
    return lines


def peeks(contents: Sequence[Row]) -> str:
    """Return what is inside each .h5ad."""
    inside = [row for row in contents if row["container"] == "hdf5"]
    lines = [f"{'handle':{_HANDLE}} {'n_obs':>10} {'n_vars':>8} {'X':24} {'obs':>4} {'read':>8}"]
    rows = []
    for row in inside:
        if row["status"] == "ok":
            x = " ".join(filter(None, (row["x_encoding"], row["x_dtype"])))
            rows.append(
                f"{_cell(row['handle'], _HANDLE)} {_number(row['n_obs']):>10} {_number(row['n_vars']):>8} "
                f"{_cell(x, 24)} {len(row['obs_columns'] or ()):>4} {row['bytes_read'] / 1e3:>5.0f} kB"
            )
        else:
            rows.append(f"{_cell(row['handle'], _HANDLE)} {row['status']} ({row['reason']})")
    good = sum(row["status"] == "ok" for row in inside)
    asked = sum(row["requests"] or 0 for row in inside)
    read = sum(row["bytes_read"] or 0 for row in inside)
    return "\n".join(
        [
            *lines,
            *_limited(rows),
            f"{good} of {len(inside)} snapshots were looked into with {asked} requests and "
            f"{megabytes(read)}.",
        ]
    )


def files(rows: Sequence[Row]) -> str:
    """Return what was fetched and what became of it."""
    if not rows:
        return "Nothing was chosen: `fetch.select` is none, or no .h5ad is reachable."
    lines = []
    for row in rows:
        size = megabytes(row["size_bytes"]) if row["size_bytes"] is not None else ""
        said = row["status"] if row["reason"] is None else f"{row['status']} ({row['reason']})"
        lines.append(
            f"{_cell(row['handle'], _HANDLE)} {size:>10}  {said}  {row['path'] or ''}".rstrip()
        )
    return "\n".join(_limited(lines))


def _grouped(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["repo"], []).append(row)
    return sorted(groups.items())


def _limited(lines: list[str]) -> list[str]:
    left = len(lines) - _MOST
    return lines if left <= 0 else [*lines[:_MOST], f"  and {left} more, see the table"]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, COLUMNS, subsequent_indent="  ")


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def _cell(text: str, columns: int) -> str:
    """Return a text in exactly so many columns of a terminal."""
    shown = _cut(text, columns)
    return shown + " " * (columns - _width(shown))


def _cut(text: str, most: int) -> str:
    shown = printable(text)
    if _width(shown) <= most:
        return shown
    while _width(shown) > most - 1:
        shown = shown[: min(most, len(shown)) - 1]
    return shown + "…"


def _width(text: str) -> int:
    """East Asian wide characters take two columns."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
