"""Two reports in, everything that differs out; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from benchproof.analysis.drift import causes, delta, renames, severity
from benchproof.analysis.drift.causes import Range
from benchproof.analysis.drift.changes import Diff
from benchproof.analysis.drift.frames import Row, key_text, same, text
from benchproof.analysis.drift.groups import Group, grouped
from benchproof.analysis.drift.known import Known, last_known
from benchproof.analysis.drift.places import Places
from benchproof.analysis.drift.views import HANDLES, Report, is_open, observes
from benchproof.tables import SPECS

#: Tables that are compared: traffic tells how a report was made.
TABLES: Final = tuple(name for name in SPECS if name != "traffic")
#: Columns that are never compared: when and how something was measured, and what repeats pin and file.
MEASURED: Final = frozenset({"checked_at", "requests", "bytes_read", "bytes_fetched"})
SKIPPED: Final[Mapping[str, frozenset[str]]] = {
    "pins": frozenset({"source"}),
    "files": frozenset({"path"}),
    "findings": frozenset({"commit_sha", "blob_sha"}),
    "data_findings": frozenset({"commit_sha", "blob_sha"}),
}
#: Columns whose null says that nobody looked.
_NULL_IS_UNKNOWN: Final[Mapping[str, Collection[str]]] = {
    "tree": ("size", "lfs_size"),
    "pins": ("repo_id",),
    "objects": ("etag", "last_modified"),  # a server or a proxy may leave them out
}
#: What says of a handle's data that they cannot be had; the columns that are empty then say no more.
_OF_THE_ANSWER: Final = frozenset({"status", "reason", "http_status", "n_evals"})
#: What of a file's row says nothing new while its blob is the same: it depends on what was read.
_OF_THE_BLOB: Final = {"size", "lfs_size", "kind"}
#: Of long tables, the columns that rows are judged by.
_CONTEXT: Final[Mapping[str, Collection[str]]] = {
    "tree": ("blob_sha", "kind"),
    "runs": (
        *("blob_sha", "eval_id", "status", "reason"),
        *("recorded_passed", "derived_passed", "passed_agrees", "score_agrees", "fields_agree"),
    ),
    "run_fields": ("recorded_pass", "derived_pass"),
}


@dataclass
class Drift:
    """Everything that differs: groups, the worst first, and what could not be compared, in words."""

    old: Report
    new: Report
    groups: list[Group] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def diffs(self) -> list[Diff]:
        """All differences."""
        return [diff for group in self.groups for diff in group.diffs]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the drift table."""
        return [row for diff in self.diffs for row in rows_of(diff)]


def compare(
    old: Report,
    new: Report,
    *,
    older: Sequence[Report] = (),
    ranges: Mapping[str, Range] | None = None,
    equal: Collection[str] = (),
    graders: Mapping[tuple[str, str], bool] | None = None,
) -> Drift:
    """Return what differs between two reports.

    `older` are reports before `old`, newest first; `ranges` what lies between the pins of repositories;
    `equal` the tables whose files are the same bytes; `graders` says of (repository, path of a changed
    evaluation) whether its grader changed, where somebody could look.
    """
    out = Drift(old, new)
    out.notes += [f"{report.label}: {note}" for report in (old, new) for note in report.notes]
    known = ranges or {}
    diffs = _differences(old, new, older, equal, out.notes)
    _add_graders(diffs, graders or {})
    places = Places(diffs, old, new)
    for diff in diffs:
        if diff.change == "not_observed":
            diff.repo = diff.row.get("repo")
            diff.cause = _blame(diff, old, new)
        else:
            diff.repo, diff.path, diff.subject = places.of(diff)
    causes.assign([d for d in diffs if d.change != "not_observed"], old, new, known)
    for diff in diffs:
        severity.assign(diff, known)
    out.groups = grouped(diffs)
    return out


def _differences(
    old: Report, new: Report, older: Sequence[Report], equal: Collection[str], notes: list[str]
) -> list[Diff]:
    """Return the differences of all tables, files that moved put together."""
    gone: dict[str, list[Row]] = {}
    come: dict[str, list[Row]] = {}
    diffs: list[Diff] = []
    for table in TABLES:
        if table in equal:
            continue
        before = last_known(table, old, new, older)
        lacking = _lacking(table, before, new)
        if lacking is not None:
            if lacking:
                diffs.append(Diff(table, "not_observed", None, None))
            continue
        diffs += _of_table(table, before, old, new, gone, come, notes)
    moved = renames.moves(gone, come)
    for table in gone.keys() | come.keys():
        pairs, gone[table], come[table] = renames.follow(
            table, gone.get(table, []), come.get(table, []), moved
        )
        diffs += [_renamed(table, one, other) for one, other in pairs]
    diffs += [Diff(table, "removed", row, None) for table, rows in gone.items() for row in rows]
    diffs += [Diff(table, "added", None, row) for table, rows in come.items() for row in rows]
    return sorted(diffs, key=lambda diff: (TABLES.index(diff.table), diff.key_text, diff.change))


def _lacking(table: str, before: Known, new: Report) -> bool | None:
    """Return None when a table can be compared, else whether one of the sides has it."""
    if before.frame is not None and table in new.frames:
        return None
    return before.frame is not None or table in new.frames


def _of_table(
    table: str,
    before: Known,
    old: Report,
    new: Report,
    gone: dict[str, list[Row]],
    come: dict[str, list[Row]],
    notes: list[str],
) -> list[Diff]:
    assert before.frame is not None
    skipped = MEASURED | SKIPPED.get(table, frozenset())
    key, context = SPECS[table].key, _CONTEXT.get(table)
    found = delta.compare(before.frame, new.frames[table], key, skipped, context)
    notes += _told(table, found, before)
    diffs = [_repeated(table, values) for values in found.repeated]
    gone[table], come[table] = [], []
    for row in found.removed:
        if observes(new, table, row, old):
            gone[table].append(row)
        else:
            diffs.append(_unseen(table, row, None))
    for row in found.added:
        if is_open(table, row):
            continue
        if before.had_looked(table, row, old, new):
            come[table].append(row)
        else:
            diffs.append(_unseen(table, None, row))
    for one, other, columns in found.changed:
        if is_open(table, other):
            # What neither side knows is no news, whatever was known before.
            if tuple(other[name] for name in key) not in before.blind:
                diffs.append(_unseen(table, one, other))
        elif is_open(table, one):
            diffs.append(_unseen(table, one, other))
        elif told := _telling(table, one, other, columns):
            diffs.append(Diff(table, "changed", one, other, told))
    return diffs


def _telling(table: str, old: Row, new: Row, columns: Sequence[str]) -> tuple[str, ...]:
    """Return those of the columns that say something: not those that somebody merely looked at now."""
    unknown = _NULL_IS_UNKNOWN.get(table, ())
    if table in HANDLES and "status" in columns:
        unknown = set(columns) - _OF_THE_ANSWER
    told = [c for c in columns if c not in unknown or None not in (old[c], new[c])]
    if table == "tree" and old.get("blob_sha") == new.get("blob_sha"):
        told = [
            c for c in told if c not in _OF_THE_BLOB or new.get("kind") in ("symlink", "submodule")
        ]
    if table == "runnable" and (old.get("n_unknown") or new.get("n_unknown")):
        told = [c for c in told if c not in ("n_reachable", "n_refused", "n_unknown")]
    return tuple(told)


def _unseen(table: str, old: Row | None, new: Row | None) -> Diff:
    """Return a row that was not observed, with its last known state and what is said of it now."""
    column = "runnable" if table == "runnable" else "status"
    both = old is not None and new is not None and column in old and column in new
    return Diff(table, "not_observed", old, new, (column,) if both else ())


def _repeated(table: str, values: Sequence[Any]) -> Diff:
    row = dict(zip(SPECS[table].key, values, strict=True))
    return Diff(table, "not_observed", row, None)


def _renamed(table: str, old: Row, new: Row) -> Diff:
    """Return a file that moved; what else changed on its way has rows of its own."""
    path = renames.FOLLOWING.get(table, "path")
    quiet = {path, *SPECS[table].key, *MEASURED, *SKIPPED.get(table, ())}
    columns = tuple(c for c in new if c not in quiet and c in old and not same(old[c], new[c]))
    return Diff(table, "renamed", old, new, _telling(table, old, new, columns))


def _add_graders(diffs: Sequence[Diff], graders: Mapping[tuple[str, str], bool]) -> None:
    """Say of each evaluation whose grader is another one that it is, at its path or where an edited one
    stands now: never what it says.
    """
    for diff in diffs:
        edited = diff.table == "evals" and diff.change in ("changed", "added")
        if edited and graders.get(diff.key[:2]):
            diff.columns = (*diff.columns, "grader")


def _blame(diff: Diff, old: Report, new: Report) -> str:
    """Return why something was not observed: left out, not to be had upstream, or not in the storage."""
    if not diff.row or diff.table in ("files", "claims"):
        return "config"
    if diff.repo is not None and not (diff.repo in old.pins and diff.repo in new.pins):
        return "config"
    return "storage" if diff.table in (*HANDLES, "runnable", "data_findings") else "upstream"


def _told(table: str, found: delta.Delta, before: Known) -> list[str]:
    words = {
        "only_old": "is not in the later report",
        "only_new": "is not in the earlier report",
        "type_changed": "has another type",
    }
    notes = [f"{table}.{c} {words[why]}: not compared" for c, why in found.uncompared.items()]
    if found.repeated:
        shown = ", ".join(key_text(values) for values in found.repeated[:3])
        more = f" and {len(found.repeated) - 3} more" if len(found.repeated) > 3 else ""
        notes.append(f"{table}: rows share a key and are not compared: {shown}{more}")
    for label, number in before.since.items():
        notes.append(
            f"{table}: {number} rows are compared with {label}, where they were last known"
        )
    return notes


def rows_of(diff: Diff) -> list[dict[str, Any]]:
    """Return the rows of the drift table that one difference makes."""
    source = key_text(diff.old[c] for c in SPECS[diff.table].key) if diff.old else None
    return [
        {
            "table": diff.table,
            "key": diff.key_text,
            "change": "changed" if diff.of_a_row and column else diff.change,
            "column": column,
            "old": text(diff.was(column)) if column else None,
            "new": text(diff.now(column)) if column else None,
            "severity": diff.severities[column],
            "cause": diff.cause,
            "group_id": diff.group,
            "renamed_from": source if diff.change == "renamed" and not column else None,
            "commit_sha": diff.commit,
        }
        for column in diff.shown
    ]
