"""Two reports in, changes out: what is gone, what moved, what nobody looked at, and whose doing it is."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from benchproof import tables
from benchproof.analysis.drift.causes import Range
from benchproof.analysis.drift.compare import Drift, compare
from benchproof.analysis.drift.frames import Frame
from benchproof.sources.base import Commit
from unit.analysis.drift.reports import (
    ABOUT,
    NEW,
    REPO,
    Rows,
    blob,
    edited,
    frame,
    published,
    report,
    row,
    without,
)

Told = set[tuple[str, str, str | None]]


def drift(old: Rows, new: Rows, **more: Any) -> Drift:
    return compare(report("2026-01-01", old), report("2026-01-02", new), **more)


def told(found: Drift) -> Told:
    """(table, change, column) of every row."""
    return {(r["table"], r["change"], r["column"]) for r in found.rows}


def one(found: Drift, table: str, column: str | None = None) -> dict[str, Any]:
    rows = [r for r in found.rows if r["table"] == table and r["column"] == column]
    assert len(rows) == 1, found.rows
    return rows[0]


def commit(sha: str, *paths: str) -> Commit:
    day = datetime(2026, 1, 1, tzinfo=UTC)
    return Commit(sha, "t" * 40, (), day, frozenset(path.encode() for path in paths))


def moved(rows: Rows) -> Rows:
    return edited(rows, "pins", {}, commit_sha=NEW)


def test_two_equal_reports_have_no_difference() -> None:
    found = drift(published(), published())
    assert (found.rows, found.groups, found.notes) == ([], [], [])


def test_rows_in_another_order_are_no_difference() -> None:
    old, new = published(), published()
    shuffled = report("2026-01-02", new)
    table = tables.build("runs", new["runs"], {})
    frames = {**shuffled.frames, "runs": Frame.of(table.take(list(range(len(new["runs"])))[::-1]))}
    shuffled.frames = frames
    assert compare(report("2026-01-01", old), shuffled).rows == []


def test_each_changed_column_is_a_row_with_both_values() -> None:
    new = edited(
        published(),
        "runs",
        {"eval_id": "e1", "run_path": "trajectories/e1/p/m/h/r0/result.json"},
        derived_passed=False,
        derived_score=0.25,
        passed_agrees=False,
    )
    found = drift(published(), moved(new))
    flipped = one(found, "runs", "derived_passed")
    assert (flipped["old"], flipped["new"], flipped["severity"]) == ("true", "false", "critical")
    assert flipped["key"] == f'["{REPO}","trajectories/e1/p/m/h/r0/result.json"]'
    assert one(found, "runs", "derived_score")["new"] == "0.25"


def test_measurements_and_traffic_are_never_compared() -> None:
    new = edited(published(), "handles", {}, checked_at=datetime(2026, 1, 2, tzinfo=UTC))
    new["traffic"] = [
        {
            "stage": "pin",
            "host": "h",
            "requests": 2,
            "bytes_in": 3,
            "retries": 0,
            "throttled": 0,
            "waited_s": 0.5,
        }
    ]
    new["pins"][0]["source"] = "github"
    assert drift(published(), new).rows == []


@pytest.mark.parametrize("table", ["findings", "data_findings"])
def test_a_finding_that_stays_in_an_edited_file_is_no_change(table: str) -> None:
    """Commit and blob of a finding repeat the pin and the file, which have rows of their own."""
    old, new = published(), published()
    for rows, number in ((old, 1), (new, 2)):
        said = {"rule": "canary_missing", "severity": "minor", "path": "evals/e1.json"}
        rows[table].append(
            row(table, finding_id="x", commit_sha=blob(number), blob_sha=blob(number), **said)
        )
    assert drift(old, new).rows == []


def test_what_somebody_merely_read_of_a_file_is_no_change_of_it() -> None:
    """The size of a file is null where an audit had no need of it; its blob says whether it changed."""
    new = edited(published(), "tree", {"path": "README.md"}, size=12, kind="lfs", lfs_size=7)
    assert drift(published(), new).rows == []


@pytest.mark.parametrize(
    ("table", "status", "why"),
    [
        ("objects", "denied", "an object cannot be had any more"),
        ("objects", "missing", "an object cannot be had any more"),
    ],
)
def test_data_that_cannot_be_had_are_not_said_to_have_other_bytes(
    table: str, status: str, why: str
) -> None:
    nothing = dict.fromkeys(("size_bytes", "etag", "container", "last_modified"))
    handle = {"handle": "latch://1.node"}
    found = drift(published(), edited(published(), table, handle, status=status, **nothing))
    assert [(r["column"], r["severity"]) for r in found.rows] == [("status", "critical")]
    assert [group.why for group in found.groups] == [why]


def test_an_etag_that_a_server_left_out_is_no_other_object() -> None:
    handle = {"handle": "latch://1.node"}
    without = edited(published(), "objects", handle, etag=None)
    assert drift(published(), without).rows == drift(without, published()).rows == []


# -- renames ----------------------------------------------------------------------------------------------


def move(rows: Rows, old: str, new: str) -> Rows:
    """Return the rows with a run's file elsewhere."""
    out = copy.deepcopy(rows)
    for table, column in (("tree", "path"), ("runs", "run_path"), ("run_fields", "run_path")):
        for item in out[table]:
            if item[column] == old:
                item[column] = new
    return out


def test_a_moved_run_is_renamed_everywhere_in_one_group() -> None:
    old, new = "trajectories/e1/p/m/h/r0/result.json", "trajectories/e1/p/m/h/r7/result.json"
    found = drift(published(), moved(move(published(), old, new)))
    rows = [r for r in found.rows if r["table"] != "pins"]
    assert {(r["table"], r["change"]) for r in rows} == {
        ("tree", "renamed"),
        ("runs", "renamed"),
        ("run_fields", "renamed"),
    }
    assert len({r["group_id"] for r in rows}) == 1
    assert one(found, "runs")["renamed_from"] == f'["{REPO}","{old}"]'
    assert one(found, "run_fields")["renamed_from"] == f'["{REPO}","{old}","x"]'


def test_a_moved_evaluation_keeps_what_hangs_on_it() -> None:
    """Its id stands in the file, so graders and handles stay; its findings follow the path."""

    def finding(path: str) -> dict[str, Any]:
        return row(
            "findings",
            finding_id=f"rule-{path}",
            path=path,
            rule="rule",
            severity="minor",
            message="m",
        )

    old, new = (
        published(),
        moved(edited(published(), "evals", {"eval_id": "e1"}, path="evals/x/e1.json")),
    )
    new = edited(new, "tree", {"path": "evals/e1.json"}, path="evals/x/e1.json")
    old["findings"], new["findings"] = [finding("evals/e1.json")], [finding("evals/x/e1.json")]
    found = drift(old, new)
    assert {(r["table"], r["change"]) for r in found.rows if r["table"] != "pins"} == {
        ("tree", "renamed"),
        ("evals", "renamed"),
        ("findings", "renamed"),
    }


def test_files_that_share_a_blob_are_matched_by_name_then_in_order() -> None:
    """Many to many: no pair depends on the order of rows, and what is left over is added or removed."""

    def tree(*paths: str) -> list[dict[str, Any]]:
        return [row("tree", path=p, mode="100644", kind="file", blob_sha=blob(9)) for p in paths]

    old, new = published(evals=0), moved(published(evals=0))
    old["tree"] += tree("a/one", "a/two", "a/three")
    new["tree"] += tree("b/two", "b/four", "b/five", "b/six")
    found = drift(old, new)
    pairs = {(r["renamed_from"], r["key"]) for r in found.rows if r["change"] == "renamed"}
    keys = {
        name: f'["{REPO}","{name}"]'
        for name in ("a/one", "a/two", "a/three", "b/two", "b/four", "b/five")
    }
    assert pairs == {
        (keys["a/two"], keys["b/two"]),
        (keys["a/one"], keys["b/five"]),
        (keys["a/three"], keys["b/four"]),
    }
    assert [r["key"] for r in found.rows if r["change"] == "added"] == [f'["{REPO}","b/six"]']
    assert not [r for r in found.rows if r["change"] == "removed"]


def test_one_blob_in_two_repositories_is_no_rename() -> None:
    old, new = published(evals=0), published(evals=0)
    for rows in (old, new):
        rows["pins"].append({**rows["pins"][0], "repo": "demo/two"})
    tree = row("tree", path="x", mode="100644", kind="file", blob_sha=blob(9))
    old["tree"].append(tree)
    new["tree"].append({**tree, "repo": "demo/two"})
    assert {r["change"] for r in drift(old, new).rows} == {"added", "removed"}


# -- what was not observed --------------------------------------------------------------------------------


def two(rows: Rows) -> Rows:
    """Return the rows with the same again in a second repository."""
    out = copy.deepcopy(rows)
    for table, listed in out.items():
        if table not in ("handles", "objects", "claims"):
            listed += [
                {**item, "repo": "demo/two"} for item in copy.deepcopy(listed) if "repo" in item
            ]
    return out


def narrowed(rows: Rows) -> Rows:
    """Return the rows of the first repository alone, as `only` gives them."""
    return {t: [r for r in listed if r.get("repo", REPO) == REPO] for t, listed in rows.items()}


def test_what_is_out_of_scope_is_not_observed() -> None:
    found = drift(two(published()), narrowed(two(published())))
    assert {r["change"] for r in found.rows} == {"not_observed"}
    assert {r["severity"] for r in found.rows} == {"info"}
    assert {r["key"].split('"')[1] for r in found.rows} == {"demo/two"}


def test_a_repository_that_could_not_be_read_is_not_observed() -> None:
    new = narrowed(two(published()))
    new["pins"].append(row("pins", repo="demo/two", status="unknown", reason="timeout"))
    new["reconciliation"].append(
        row("reconciliation", repo="demo/two", status="not_read", reason="timeout")
    )
    assert {r["change"] for r in drift(two(published()), new).rows} == {"not_observed"}


def test_what_comes_into_view_again_is_compared_with_its_last_known_state() -> None:
    """The week between looked at one repository only."""
    first, second = two(published()), narrowed(two(published()))
    third = edited(
        two(published()), "evals", {"repo": "demo/two", "eval_id": "e1"}, grader_form="none"
    )
    third = without(third, "runs", repo="demo/two", run_path="trajectories/e2/p/m/h/r1/result.json")
    older = [report("2025-12-31", first)]
    found = drift(second, third, older=older)
    assert told(found) == {("evals", "changed", "grader_form"), ("runs", "removed", None)}
    assert "evals: 3 rows are compared with 2025-12-31, where they were last known" in found.notes
    assert {r["change"] for r in drift(second, third).rows} == {"not_observed"}


def test_an_unknown_handle_is_neither_refused_nor_reachable() -> None:
    """Law 3: no answer is no observation; the object behind it is no less there for it."""

    def asked(status: str, **runnable: Any) -> Rows:
        rows = edited(published(), "handles", {"handle": "latch://1.node"}, status=status)
        rows = edited(rows, "runnable", {"eval_id": "e1"}, **runnable)
        return rows if status == "reachable" else without(rows, "objects", handle="latch://1.node")

    sound = published()
    unknown = asked("unknown", n_reachable=0, n_unknown=1, runnable="unknown")
    refused = asked("refused", n_reachable=0, n_refused=1, runnable="none")
    fallen = drift(sound, unknown)
    assert told(fallen) == {
        ("handles", "not_observed", "status"),
        ("objects", "not_observed", None),
        ("runnable", "not_observed", "runnable"),
    }
    assert drift(unknown, unknown).rows == []
    again = drift(unknown, sound, older=[report("2025-12-31", sound)])
    assert again.rows == []
    lost = drift(unknown, refused, older=[report("2025-12-31", sound)])
    assert one(lost, "runnable", "runnable")["severity"] == "critical"
    assert (one(lost, "handles", "status")["old"], one(lost, "handles", "status")["new"]) == (
        "reachable",
        "refused",
    )
    assert {r["change"] for r in drift(unknown, refused).rows if r["table"] != "objects"} == {
        "not_observed"
    }


def test_what_neither_side_looked_at_is_no_news_whatever_was_known_before() -> None:
    whole = two(published())
    older = [report("2025-12-31", whole)]
    unknown = edited(narrowed(whole), "handles", {"handle": "latch://1.node"}, status="unknown")
    known = edited(narrowed(whole), "handles", {"handle": "latch://2.node"}, status="unknown")
    assert drift(narrowed(whole), narrowed(whole), older=older).rows == []
    assert drift(unknown, unknown, older=older).rows == []
    both = edited(unknown, "handles", {"handle": "latch://2.node"}, status="unknown")
    assert {r["key"] for r in drift(both, known, older=older).rows} == set()
    again = drift(both, unknown, older=older)
    assert {(r["table"], r["change"]) for r in again.rows} <= {("objects", "not_observed")}


def test_the_newest_earlier_state_counts() -> None:
    def with_status(status: str) -> Rows:
        return edited(published(), "handles", {"handle": "latch://1.node"}, status=status)

    older = [
        report("2025-12-31", with_status("refused")),
        report("2025-12-30", with_status("reachable")),
    ]
    found = drift(with_status("unknown"), with_status("reachable"), older=older)
    assert one(found, "handles", "status")["old"] == "refused"


def test_a_report_without_the_tables_of_the_data_is_compared_by_the_others() -> None:
    lacking = report(
        "2026-01-02",
        edited(published(), "evals", {"eval_id": "e0"}, task="other"),
        without=("handles", "objects", "runnable", "contents", "files"),
    )
    found = compare(report("2026-01-01", published()), lacking)
    assert told(found) == {
        ("evals", "changed", "task"),
        *(
            (name, "not_observed", None)
            for name in ("handles", "objects", "runnable", "contents", "files")
        ),
    }
    assert {r["key"] for r in found.rows if r["change"] == "not_observed"} == {""}


def test_a_snapshot_that_nobody_chose_is_not_observed() -> None:
    old, new = published(), published()
    old["files"] = [row("files", handle="latch://1.node", sha256="0" * 64, size_bytes=101)]
    assert told(drift(old, new)) == {("files", "not_observed", None)}
    assert told(drift(new, old)) == {("files", "not_observed", None)}


def test_a_claim_that_could_not_be_asked_is_not_observed() -> None:
    new = edited(
        published(),
        "claims",
        {"claim_id": "one.size"},
        status="not_checked",
        reason="not_all_known_handles",
        observed=None,
    )
    assert told(drift(published(), new)) == {("claims", "not_observed", "status")}


def test_a_repository_that_is_gone_is_one_critical_change() -> None:
    new = narrowed(two(published()))
    new["pins"].append(row("pins", repo="demo/two", status="missing", reason="missing"))
    new["reconciliation"].append(
        row("reconciliation", repo="demo/two", status="not_read", reason="missing")
    )
    found = drift(two(published()), new)
    assert {r["table"] for r in found.rows if r["change"] == "changed"} == {"pins"}
    assert one(found, "pins", "status")["severity"] == "critical"
    assert {r["change"] for r in found.rows if r["table"] != "pins"} == {"not_observed"}


# -- files of other versions, and damaged ones --------------------------------------------------------------


def test_a_report_of_an_older_version_is_compared_by_what_both_have() -> None:
    older = report("2026-01-01", published())
    table = tables.build("runs", published()["runs"], {}).drop_columns(["blob_sha", "tier"])
    older.frames = {**older.frames, "runs": Frame.of(table)}
    new = edited(published(), "runs", {"eval_id": "e1"}, tier="B", edge="clear")
    found = compare(older, report("2026-01-02", new))
    assert told(found) == {("runs", "changed", "edge")}
    assert [note for note in found.notes if "runs.blob_sha" in note and "not compared" in note]
    assert [note for note in found.notes if "runs.tier" in note]


def test_a_key_that_stands_twice_is_named_and_the_rest_is_compared() -> None:
    foreign = report("2026-01-02", published())
    rows = tables.build(
        "evals", edited(published(), "evals", {"eval_id": "e2"}, task="other")["evals"], {}
    )
    foreign.frames = {
        **foreign.frames,
        "evals": Frame.of(pa.concat_tables([rows, rows.slice(0, 1)])),
    }
    found = compare(report("2026-01-01", published()), foreign)
    assert told(found) == {("evals", "changed", "task"), ("evals", "not_observed", None)}
    assert any("rows share a key" in note and "evals/e0.json" in note for note in found.notes)


def test_a_handle_that_stands_twice_is_named_and_the_others_are_compared() -> None:
    """Its table is one that gaps are filled in: a damaged one is compared as it stands."""
    new = edited(published(), "handles", {"handle": "latch://2.node"}, status="refused")
    rows = edited(published(), "handles", {"handle": "latch://1.node"}, status="unknown")["handles"]
    table = tables.build("handles", rows, {})
    foreign = report("2026-01-01", published())
    foreign.frames = {
        **foreign.frames,
        "handles": Frame.of(pa.concat_tables([table, table.slice(0, 1)])),
    }
    found = compare(foreign, report("2026-01-02", new))
    assert {(r["key"], r["change"]) for r in found.rows if r["table"] == "handles"} == {
        ('["latch://0.node"]', "not_observed"),
        ('["latch://1.node"]', "not_observed"),
        ('["latch://2.node"]', "changed"),
    }
    assert any("rows share a key" in note for note in found.notes)


@pytest.mark.parametrize("table", sorted(set(tables.SPECS) - {"traffic"}))
def test_a_table_of_nothing_but_its_key_stops_no_comparison(table: str) -> None:
    """A foreign or much older file: what is not there is not compared, whatever other tables need of it."""
    new = moved(edited(published(), "licences", {}, blob_sha=blob(7)))
    new["findings"] = [
        row("findings", finding_id="x-1", path="evals", rule="x", severity="minor", message="m")
    ]
    bare = report("2026-01-02", new)
    frame_of = bare.frames[table]
    kept = tables.build(table, new[table], {}).select(list(tables.SPECS[table].key))
    bare.frames = {**bare.frames, table: Frame.of(kept)}
    for sides in (
        (report("2026-01-01", published()), bare),
        (bare, report("2026-01-03", published())),
    ):
        found = compare(*sides)
        if len(tables.SPECS[table].key) < len(frame_of.kinds):
            assert any(note.startswith(f"{table}.") for note in found.notes)
        assert not any(r["table"] == table and r["change"] == "changed" for r in found.rows)


def test_a_table_without_its_key_is_said() -> None:
    foreign = report("2026-01-02", published())
    foreign.frames = {**foreign.frames, "licences": frame({"file": pa.array(["LICENSE"])})}
    found = compare(report("2026-01-01", published()), foreign)
    assert found.rows == []
    assert any(note.startswith("licences.path is not in the later report") for note in found.notes)


# -- causes -------------------------------------------------------------------------------------------------


def test_rows_that_differ_while_the_commit_is_the_same_are_our_own_doing() -> None:
    new = edited(published(), "runs", {"eval_id": "e1"}, derived_passed=False, passed_agrees=False)
    for about, cause in (
        ({**ABOUT, "code": "2"}, "benchproof"),
        ({**ABOUT, "config": "2"}, "config"),
        ({**ABOUT, "versions": {}}, "benchproof"),
    ):
        found = compare(report("2026-01-01", published()), report("2026-01-02", new, about=about))
        assert {(r["cause"], r["severity"], r["commit_sha"]) for r in found.rows} == {
            (cause, "info", None)
        }


def test_a_file_that_nobody_touched_is_our_own_doing_though_the_commit_moved() -> None:
    new = moved(edited(published(), "runs", {"eval_id": "e1"}, derived_passed=False))
    new = edited(new, "tree", {"path": "evals/e2.json"}, blob_sha=blob(7))
    new = edited(new, "evals", {"eval_id": "e2"}, blob_sha=blob(7), task="other")
    found = compare(
        report("2026-01-01", published()), report("2026-01-02", new, about={**ABOUT, "code": "2"})
    )
    assert {r["cause"] for r in found.rows if r["table"] == "runs"} == {"benchproof"}
    assert {r["cause"] for r in found.rows if r["table"] in ("evals", "tree", "pins")} == {
        "upstream"
    }


def test_a_foreign_file_without_a_word_on_its_making_is_not_ours() -> None:
    new = edited(published(), "runs", {"eval_id": "e1"}, derived_passed=False)
    found = compare(report("2026-01-01", published()), report("2026-01-02", new, about={}))
    assert {r["cause"] for r in found.rows} == {"upstream"}


def test_a_changed_handle_is_storage_and_an_evaluation_that_names_another_is_upstream() -> None:
    bytes_changed = edited(
        published(), "objects", {"handle": "latch://1.node"}, etag="other", size_bytes=7
    )
    found = drift(published(), bytes_changed)
    assert {(r["cause"], r["severity"]) for r in found.rows} == {("storage", "critical")}

    new = moved(edited(published(), "eval_handles", {"eval_id": "e1"}, handle="latch://9.node"))
    new = edited(new, "evals", {"eval_id": "e1"}, blob_sha=blob(7))
    new = edited(new, "tree", {"path": "evals/e1.json"}, blob_sha=blob(7))
    for table in ("handles", "objects"):
        new = edited(new, table, {"handle": "latch://1.node"}, handle="latch://9.node")
    known = {REPO: Range(True, [commit(NEW, "evals/e1.json")])}
    found = drift(published(), new, ranges=known)
    rows = [r for r in found.rows if r["table"] != "pins"]
    assert {r["table"] for r in rows} == {"eval_handles", "evals", "tree", "handles", "objects"}
    assert {(r["cause"], r["commit_sha"]) for r in rows} == {("upstream", NEW)}
    assert len({r["group_id"] for r in rows}) == 1


def test_the_newest_commit_that_touches_a_file_is_named() -> None:
    """Newest first; a commit that touches nothing of the row's file is none of its causes."""
    new = edited(published(), "pins", {}, commit_sha="3" * 40)
    for name, number in (("e0", 50), ("e1", 51)):
        new = edited(new, "evals", {"eval_id": name}, blob_sha=blob(number))
        new = edited(new, "tree", {"path": f"evals/{name}.json"}, blob_sha=blob(number))
    commits = [
        commit("3" * 40, "README.md"),
        commit("2" * 40, "evals/e1.json"),
        commit("1" * 40, "evals/e0.json", "evals/e1.json"),
    ]
    found = drift(published(), new, ranges={REPO: Range(True, commits)})
    by_key = {r["key"].split('"')[3]: r["commit_sha"] for r in found.rows if r["table"] == "evals"}
    assert by_key == {"evals/e0.json": "1" * 40, "evals/e1.json": "2" * 40}
    assert len({r["group_id"] for r in found.rows if r["table"] == "evals"}) == 2


def test_a_row_without_a_file_has_a_commit_when_there_is_only_one() -> None:
    new = moved(edited(published(), "reconciliation", {}, orphans=1))
    single = drift(published(), new, ranges={REPO: Range(True, [commit(NEW, "x")])})
    assert one(single, "reconciliation", "orphans")["commit_sha"] == NEW
    several = drift(
        published(), new, ranges={REPO: Range(True, [commit(NEW, "x"), commit("1" * 40, "y")])}
    )
    assert one(several, "reconciliation", "orphans")["commit_sha"] is None


def test_where_history_was_rewritten_the_lost_commits_are_causes_too() -> None:
    new = moved(edited(published(), "evals", {"eval_id": "e1"}, blob_sha=blob(7)))
    new = edited(new, "tree", {"path": "evals/e1.json"}, blob_sha=blob(7))
    lost = Range(False, [], [commit("1" * 40, "evals/e1.json")])
    found = drift(published(), new, ranges={REPO: lost})
    assert one(found, "evals", "blob_sha")["commit_sha"] == "1" * 40
    assert one(found, "pins", "commit_sha")["severity"] == "critical"


def test_a_path_that_is_no_text_is_found_by_its_bytes() -> None:
    old, new = published(evals=0), moved(published(evals=0))
    new["tree"].append(row("tree", path='"a\\377"', mode="100644", kind="file", blob_sha=blob(9)))
    touching = Commit(NEW, "t" * 40, (), datetime(2026, 1, 1, tzinfo=UTC), frozenset([b"a\xff"]))
    found = drift(old, new, ranges={REPO: Range(True, [touching])})
    assert one(found, "tree")["commit_sha"] == NEW


def test_a_verdict_that_turns_because_the_rule_changed_belongs_to_the_evaluation() -> None:
    new = moved(edited(published(), "evals", {"eval_id": "e1"}, blob_sha=blob(7)))
    new = edited(new, "tree", {"path": "evals/e1.json"}, blob_sha=blob(7))
    new = edited(new, "runs", {"eval_id": "e1"}, derived_passed=False, passed_agrees=False)
    new["run_fields"] = [
        r | {"derived_pass": False} if "/e1/" in r["run_path"] else r for r in new["run_fields"]
    ]
    found = drift(published(), new, ranges={REPO: Range(True, [commit(NEW, "evals/e1.json")])})
    assert len({r["group_id"] for r in found.rows if r["table"] != "pins"}) == 1


def test_groups_have_the_same_ids_whatever_else_changed() -> None:
    base = moved(edited(published(), "licences", {}, blob_sha=blob(7)))
    more = edited(base, "evals", {"eval_id": "e1"}, task="other")
    ids = [one(drift(published(), new), "licences", "blob_sha")["group_id"] for new in (base, more)]
    assert ids[0] == ids[1]


def test_a_pin_that_moved_by_one_commit_is_no_change_beside_what_that_commit_did() -> None:
    new = moved(edited(published(), "licences", {}, blob_sha=blob(7)))
    new = edited(new, "tree", {"path": "LICENSE"}, blob_sha=blob(7))
    one_commit = [commit(NEW, "LICENSE")]
    assert len(drift(published(), new, ranges={REPO: Range(True, one_commit)}).groups) == 1
    two_commits = [commit(NEW, "LICENSE"), commit("1" * 40, "x")]
    found = drift(published(), new, ranges={REPO: Range(True, two_commits)})
    assert [group.subject for group in found.groups] == ["licence", "pin"]
    alone = drift(published(), moved(published()), ranges={REPO: Range(True, one_commit)})
    assert [group.subject for group in alone.groups] == ["pin"]


def test_figures_of_another_version_are_ours_though_something_else_moved() -> None:
    """An accuracy rests on runs and evaluations: a README that changed is no cause of another one."""
    old, new = published(), moved(published())
    model = row("models", model="m", harness="h", accuracy=0.5)
    old["models"], new["models"] = [model], [{**model, "accuracy": 0.75}]
    new = edited(new, "tree", {"path": "README.md"}, blob_sha=blob(7))
    newer = {**ABOUT, "code": "2"}

    def cause(rows: Rows) -> str:
        found = compare(report("2026-01-01", old), report("2026-01-02", rows, about=newer))
        return str(one(found, "models", "accuracy")["cause"])

    assert cause(new) == "benchproof"
    run = {"run_path": "trajectories/e1/p/m/h/r0/result.json"}
    changed = edited(new, "runs", run, blob_sha=blob(8), recorded_passed=False)
    assert cause(edited(changed, "tree", {"path": run["run_path"]}, blob_sha=blob(8))) == "upstream"


def test_a_finding_about_a_folder_names_the_commit_that_touched_it() -> None:
    new = moved(published())
    new["findings"] = [
        row("findings", finding_id="x-1", path="evals", rule="x", severity="minor", message="m")
    ]
    found = drift(
        published(),
        new,
        ranges={REPO: Range(True, [commit(NEW, "evals/e1.json"), commit("1" * 40, "x")])},
    )
    assert one(found, "findings")["commit_sha"] == NEW


@pytest.mark.parametrize(
    ("repo", "status", "cause"),
    [("demo/two", None, "config"), ("demo/two", "unknown", "upstream")],
)
def test_what_was_not_observed_says_on_whose_side(
    repo: str, status: str | None, cause: str
) -> None:
    new = narrowed(two(published()))
    if status:
        new["pins"].append(row("pins", repo=repo, status=status, reason="timeout"))
    found = drift(two(published()), new)
    assert {r["cause"] for r in found.rows if r["table"] == "evals"} == {cause}


# -- graders ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("changed", "severity"), [(True, "critical"), (False, "major")])
def test_a_changed_grader_is_told_from_other_edits_without_its_values(
    changed: bool, severity: str
) -> None:
    new = moved(edited(published(), "evals", {"eval_id": "e1"}, blob_sha=blob(7)))
    found = drift(published(), new, graders={(REPO, "evals/e1.json"): changed})
    rows = [r for r in found.rows if r["table"] == "evals"]
    assert [(r["column"], r["old"], r["new"]) for r in rows if r["column"] == "grader"] == (
        [("grader", None, None)] if changed else []
    )
    assert min(rows, key=lambda r: r["severity"])["severity"] == severity


def test_a_grader_that_changed_while_its_file_moved_is_told_beside_the_move() -> None:
    new = edited(published(), "evals", {"eval_id": "e1"}, path="evals/x.json", blob_sha=blob(7))
    found = drift(published(), moved(new), graders={(REPO, "evals/x.json"): True})
    rows = [r for r in found.rows if r["table"] == "evals"]
    assert {(r["change"], r["column"], r["severity"]) for r in rows} == {
        ("removed", None, "major"),
        ("added", None, "minor"),
        ("changed", "grader", "critical"),
    }
