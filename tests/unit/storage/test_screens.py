"""Screens are plain text that fits a terminal, whatever stands in the tables."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from typing import Any

import pytest

from benchproof import tables
from benchproof.storage import screens

NOW = datetime(2026, 1, 2, tzinfo=UTC)
Row = dict[str, Any]
HOSTILE = [
    "\x1b[2J\x07",
    "a\nb\r\tc",
    "\u202eevil",
    "\u2028",
    "漢字" * 60,
    "漢",
    "e\u0301" * 90,
    "x" * 500,
    "[bold red]",
    "{0}%s",
    "",
]


def row(table: str, **values: Any) -> Row:
    known = set(tables.SPECS[table].schema.names)
    assert set(values) <= known
    usual = {"repo": "demo/one", "handle": "latch://1.node", "status": "ok", "checked_at": NOW}
    return dict.fromkeys(known) | {k: v for k, v in usual.items() if k in known} | values


def width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


def shown(text: str) -> list[str]:
    """Return the lines of a screen that is safe to print and fits."""
    lines = text.split("\n")
    assert all(line.isprintable() for line in lines)
    assert max(map(width, lines)) <= 80
    return lines


def runnable(eval_id: str, state: str, counts: tuple[int, int, int], repo: str = "demo/one") -> Row:
    good, refused, unknown = counts
    return row(
        "runnable",
        repo=repo,
        eval_id=eval_id,
        runnable=state,
        n_handles=sum(counts),
        n_reachable=good,
        n_refused=refused,
        n_unknown=unknown,
    )


def sizes(objects: list[Row], handles: list[Row], **changes: Any) -> list[str]:
    options: dict[str, Any] = {"held": 0, "rate": None, "free": 10**12} | changes
    return shown(screens.sizes(objects, handles, **options))


# Handles


def test_handles() -> None:
    """Each repository has its counts; incomplete evaluations are named with what is missing."""
    named = [("demo/one", 1), ("demo/one", 2), ("demo/two", 2), ("demo/two", 3)]
    users = [row("eval_handles", repo=r, eval_id="e", handle=f"latch://{n}.node") for r, n in named]
    states = {1: ("reachable", None), 2: ("refused", "x"), 3: ("unknown", "timeout")}
    rows = [
        row("handles", handle=f"latch://{n}.node", status=s, reason=r)
        for n, (s, r) in states.items()
    ]
    evals = [
        runnable("e1", "all", (1, 0, 0)),
        runnable("e2", "some", (1, 1, 0)),
        runnable("e3", "none", (0, 2, 0), "demo/two"),
        runnable("e4", "some", (1, 1, 3), "demo/two"),
        runnable("e5", "unknown", (1, 0, 1), "demo/two"),
    ]
    assert shown(screens.handles(rows, evals, users)) == [
        "repository                        evals  handles  reachable  runnable",
        "demo/one                              2        2          1         1",
        "demo/two                              3        2          0         0",
        "1 of 3 distinct handles are reachable; 1 of 5 evals can be run with all their",
        "  data.",
        "  incomplete: one/e2  1 of 2 handles refused",
        "  incomplete: two/e3  2 of 2 handles refused",
        "  incomplete: two/e4  1 of 5 handles refused, 3 not known",
        "1 handles are not known: unknown (timeout).",
    ]


def test_no_rows() -> None:
    """Screens of empty tables say that there is nothing."""
    assert shown(screens.handles([], [], []))[1].startswith("0 of 0 distinct handles")
    assert sizes([], []) == ["0 evals use 0 distinct .h5ad snapshots; a shared one counts once."]
    assert shown(screens.peeks([]))[-1].startswith("0 of 0 snapshots")
    assert shown(screens.files([]))[0].startswith("Nothing was chosen")


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_hostile_names(name: str) -> None:
    """A name from upstream is one short printable piece, in a column of its own."""
    users = [row("eval_handles", repo=f"demo/{name}", eval_id=name)]
    found = screens.handles(
        [row("handles", status="unknown", reason="x")],
        [runnable(name, "none", (0, 1, 0), f"demo/{name}")],
        users,
    )
    head, line, *_ = shown(found)
    assert width(line) == len(head)
    sizes([row("objects", container="hdf5", size_bytes=5)], users)
    shown(screens.files([row("files", handle=name, path=None)]))
    inside = {"container": "hdf5", "bytes_read": 1000, "requests": 2, "obs_columns": ["a"]}
    head, line, *_ = shown(
        screens.peeks([row("contents", handle=name, x_encoding=name, x_dtype=name, **inside)])
    )
    assert width(line) == len(head)


def test_many_rows() -> None:
    """A long list is cut, and says how much was."""
    evals = [runnable(f"e{n:03}", "none", (0, 1, 0)) for n in range(100)]
    lines = shown(screens.handles([], evals, []))
    assert sum("incomplete" in line for line in lines) == 40
    assert "  and 60 more, see the table" in lines


# Sizes


def objects(*sizes_in_bytes: int | None, **changes: Any) -> list[Row]:
    return [
        row("objects", handle=f"latch://{n}.node", container="hdf5", size_bytes=size, **changes)
        for n, size in enumerate(sizes_in_bytes)
    ]


def test_sizes() -> None:
    """A shared snapshot counts once; smallest, median, largest, over 1 GB and the sum are said."""
    rows = objects(300_000, 8_800_000, 9_600_000_000, 1_000_000_000)
    users = [
        row("eval_handles", eval_id=f"e{e}", handle=f"latch://{n}.node")
        for e, n in ((1, 0), (2, 0), (2, 1), (3, 2), (3, 3))
    ]
    lines = sizes(rows, users)
    assert lines[:8] == [
        "3 evals use 4 distinct .h5ad snapshots; a shared one counts once.",
        "  smallest       0.3 MB",
        "  median       504.4 MB",
        "  largest        9.6 GB",
        "  over 1 GB     1 of 4",
        "  whole set     10.6 GB",
        "  a fetch of all moves 10.6 GB:",
        "  18 min if the link gives 10 MB/s; 1000.0 GB of disk are free",
    ]
    assert [line.split()[-1] for line in lines[8:]] == ["e1", "e2", "e2", "e3", "e3"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"held": 40_000_000}, "moves 60.0 MB (40.0 MB are here):\n  6 s if the link"),
        ({"held": 999_000_000}, "moves 0.0 MB (999.0 MB are here):\n  0 s"),
        ({"rate": 1e6}, "moves 100.0 MB:\n  2 min at the rate of earlier fetches"),
        ({"rate": 0.0}, "if the link gives 10 MB/s"),
        ({"free": 99_999_999}, "100.0 MB of disk are free: not enough"),
        ({"free": 0, "held": 100_000_000}, "0.0 MB of disk are free"),
    ],
)
def test_what_a_fetch_needs(options: dict[str, Any], said: str) -> None:
    """What is here needn't be moved; the time is at a measured rate; a disk that is too small is named."""
    text = "\n".join(sizes(objects(100_000_000), [], **options))
    assert said in text
    assert text.endswith("not enough") == ("not enough" in said)


def test_no_object_is_left_out() -> None:
    """What is no snapshot, has no size or couldn't be probed is counted with its reason."""
    rows = [
        *objects(5_000_000),
        row("objects", handle="a", container="gzip", size_bytes=2_000_000),
        row("objects", handle="b", container="gzip", size_bytes=3_000_000),
        row("objects", handle="c", container="empty", size_bytes=0),
        row("objects", handle="d", container="hdf5", reason="size_unknown"),
        row("objects", handle="e", container="text", reason="compressed"),
        row("objects", handle="f", container="unknown", status="denied", reason="access_denied"),
        row("objects", handle="g", container="unknown", status="denied", reason="access_denied"),
        row("objects", handle="h", container="error_page", status="unknown", reason="error_page"),
    ]
    assert sizes(rows, [])[-3:] == [
        "other objects: 1 empty of 0.0 MB, 2 gzip of 5.0 MB",
        "not sized: 2 denied (access_denied), 1 hdf5 (size_unknown), 1 text (compressed),",
        "  1 unknown (error_page)",
    ]


# Peeks and files


def test_peeks() -> None:
    """Each snapshot is a line; what failed says why; other containers are left out."""
    inside: dict[str, Any] = {"container": "hdf5", "bytes_read": 512_000, "requests": 9}
    rows = [
        row(
            "contents",
            handle="latch://1.node",
            n_obs=2000,
            n_vars=100,
            x_encoding="csr_matrix",
            x_dtype="float32",
            obs_columns=["a", "b"],
            **inside,
        ),
        row("contents", handle="latch://2.node", x_encoding="absent", **inside),
        row(
            "contents", handle="latch://3.node", container="hdf5", status="truncated", reason="eof"
        ),
        row(
            "contents",
            handle="latch://4.node",
            container="gzip",
            status="unsupported",
            reason="not_hdf5",
        ),
    ]
    lines = shown(screens.peeks(rows))
    assert [line.split() for line in lines[1:]] == [
        ["latch://1.node", "2000", "100", "csr_matrix", "float32", "2", "512", "kB"],
        ["latch://2.node", "?", "?", "absent", "0", "512", "kB"],
        ["latch://3.node", "truncated", "(eof)"],
        "2 of 3 snapshots were looked into with 18 requests and 1.0 MB.".split(),
    ]


def test_files() -> None:
    """Each chosen file is a line with what became of it and where it lies."""
    rows = [
        row("files", handle="latch://1.node", size_bytes=8_800_000, path="snapshots/1/a.h5ad"),
        row(
            "files",
            handle="latch://2.node",
            status="too_large",
            reason="max_total_bytes",
            size_bytes=10**10,
        ),
        row("files", handle="latch://3.node", status="denied", reason="access_denied"),
    ]
    assert [line.split() for line in shown(screens.files(rows))] == [
        ["latch://1.node", "8.8", "MB", "ok", "snapshots/1/a.h5ad"],
        ["latch://2.node", "10.0", "GB", "too_large", "(max_total_bytes)"],
        ["latch://3.node", "denied", "(access_denied)"],
    ]
