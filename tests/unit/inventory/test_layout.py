"""Where things lie in a repository, whatever bytes its paths hold."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from benchproof.inventory import layout
from benchproof.inventory.layout import Folders, RunPlace
from benchproof.sources.base import SMALL_BYTES, Entry, RepoSpec

SPEC = RepoSpec("demo/one", "main", "evals", "trajectories")
WHERE = Folders("evals", "trajectories", moved=False)
FULL = "trajectories/one/openai/gpt-x/mini/r3/result.json"


def entries(*paths: str | bytes, mode: str = "100644", size: int | None = None) -> list[Entry]:
    raw = [path.encode() if isinstance(path, str) else path for path in paths]
    return [Entry(path, mode, f"{number:040x}", size) for number, path in enumerate(raw)]


def paths(found: Iterable[Entry]) -> list[bytes]:
    return [entry.path for entry in found]


@pytest.mark.parametrize(
    ("listing", "folder", "moved"),
    [
        (["evals/manifest.json", "other/manifest.json"], "evals", False),
        (["evals_canonical/manifest.json", "README.md"], "evals_canonical", True),
        (["example_evals/qc/a.json", "docs/a.json"], "example_evals", True),
        (["a_evals/x.json", "b_evals/x.json"], "evals", False),
        (["one/manifest.json", "two/manifest.json"], "evals", False),
        (["deep/er/manifest.json"], "evals", False),
        (["evals.json", "README.md"], "evals", False),
        ([], "evals", False),
    ],
)
def test_the_folder_of_evaluations_is_found_or_not_guessed(
    listing: list[str], folder: str, moved: bool
) -> None:
    assert layout.folders(entries(*listing), SPEC) == Folders(folder, "trajectories", moved)


def test_evaluation_files_are_regular_and_none_of_their_neighbours() -> None:
    listing = [
        "evals/manifest.json",
        "evals/a/vocabulary.json",
        "evals/a/eval.json",
        "evals/t/b.json",
        "evals/x.md",
    ]
    listing += ["evalsb/c.json", "other/d.json", "evals/B.JSON"]
    assert paths(layout.eval_files(entries(*listing), WHERE)) == [
        b"evals/a/eval.json",
        b"evals/t/b.json",
    ]
    assert layout.eval_files(entries("evals/t/b.json", mode="120000"), WHERE) == []
    assert len(layout.eval_files(entries("evals/t/b.json", mode="100755"), WHERE)) == 1


ODD = (
    b'evals/t/we"ird.json',
    b"evals/t/back\\slash.json",
    b"evals/t/tab\t.json",
    b"evals/t/\xff\xfe.json",
    "evals/t/é.json".encode(),
)


@pytest.mark.parametrize("path", ODD, ids=repr)
def test_an_evaluation_with_an_odd_name_is_counted(path: bytes) -> None:
    """Quoting is for showing: a name that needs it must not hide a file from the audit."""
    listing = entries(path)
    assert paths(layout.eval_files(listing, WHERE)) == [path]
    assert set(layout.needed(listing, SPEC)) == {listing[0].sha}


@pytest.mark.parametrize("name", [b'o"ne', b"on\\e", b"o\xffe", b"o\ne"], ids=repr)
def test_a_run_of_an_evaluation_with_an_odd_name_is_counted(name: bytes) -> None:
    path = b"trajectories/" + name + b"/p/m/h/r1/result.json"
    assert paths(layout.run_files(entries(path), WHERE)) == [path]
    assert len(layout.needed(entries(path), SPEC)) == 1


def test_runs_are_results_and_trajectories_are_never_needed() -> None:
    listing = entries(
        FULL,
        FULL.replace("result", "trajectory"),
        FULL.replace("result", "eval_answer"),
        "x/result.json",
    )
    assert paths(layout.run_files(listing, WHERE)) == [FULL.encode()]
    assert list(layout.needed(listing, SPEC).values()) == [FULL.encode()]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (FULL, RunPlace("one", "openai", "gpt-x", "mini", 3)),
        (FULL.replace("/r3/", "/r03/"), RunPlace("one", "openai", "gpt-x", "mini", 3)),
        (FULL.replace("/r3/", "/3/"), RunPlace(None, None, None, None, None)),
        (FULL.replace("/mini/", "/"), RunPlace(None, None, None, None, None)),
        (FULL.replace("/mini/", "/mini/x/"), RunPlace(None, None, None, None, None)),
        (FULL.replace("r3", "r" + "9" * 40), RunPlace(None, None, None, None, None)),
        ("trajectories/result.json", RunPlace(None, None, None, None, None)),
    ],
)
def test_a_runs_path_says_what_ran(path: str, place: RunPlace) -> None:
    assert layout.run_place(path, WHERE) == place


def test_the_manifest_is_a_regular_file_of_the_folder() -> None:
    listing = entries("manifest.json", "evals/manifest.json", "evals/x/manifest.json")
    assert layout.manifest_file(listing, WHERE) == listing[1]
    assert layout.manifest_file(entries("evals/manifest.json", mode="120000"), WHERE) is None


def test_what_an_audit_reads() -> None:
    yes = [
        "LICENSE",
        "README.md",
        "evals/manifest.json",
        "evals/t/a.json",
        "evals/README.md",
        "results/a.csv",
        FULL,
    ]
    yes += ["evals/a/vocabulary.json", "results/deep/x.json", "NOTICE.txt"]
    no = [
        "docs/LICENSE",
        "src/x.py",
        "evals/plot.png",
        "results/plot.png",
        "trajectories/x/trajectory.json",
    ]
    assert sorted(layout.needed(entries(*yes, *no), SPEC).values()) == sorted(
        path.encode() for path in yes
    )


def test_links_are_read_and_submodules_are_not() -> None:
    assert len(layout.needed(entries("x", mode="120000"), SPEC)) == 1
    assert layout.needed(entries("evals/sub.json", mode="160000"), SPEC) == {}


@pytest.mark.parametrize(
    ("path", "target", "leads"),
    [
        ("evals/link", b"t/one.json", "evals/t/one.json"),
        ("evals/link", b"../README.md", "README.md"),
        ("link", b"./a/../b", "b"),
        ("link", b".", "."),
        ("evals/link", b"../../x", None),
        ("link", b"..", None),
        ("link", b"/etc/passwd", None),
        ("link", b"\xff", None),
        ("link", b"..x", "..x"),
    ],
)
def test_a_link_leads_somewhere_inside_or_nowhere(
    path: str, target: bytes, leads: str | None
) -> None:
    """BR-24"""
    assert layout.link_target(path, target) == leads


POINTER = (
    b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 330454481\n"
)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (POINTER, 330454481),
        (POINTER.rstrip(b"\n"), 330454481),
        (POINTER.replace(b"\noid", b"\next-0-x sha256:1\noid"), 330454481),
        (b"x" + POINTER, None),
        (POINTER.replace(b"size", b"mass"), None),
        (POINTER.replace(b"330454481", b"9" * 30), 10**18 - 1),
        (POINTER + b" " * SMALL_BYTES, None),
        (b"", None),
    ],
)
def test_lfs_pointers_are_known_by_their_text(data: bytes, size: int | None) -> None:
    found = layout.lfs_size(data)
    assert found == size or (size == 10**18 - 1 and found in (None, size))


@pytest.mark.parametrize(
    ("path", "size", "maybe"),
    [
        ("data/x.h5ad", 133, True),
        ("Makefile", 133, True),
        ("data/x.h5ad", None, False),
        ("data/x.h5ad", 99, False),
        ("src/x.py", 133, True),
        ("src/x.PY", 300, False),
        ("trajectories/x.json", 133, False),
        ("trajectories/x.h5ad", 133, True),
    ],
)
def test_only_small_files_may_be_pointers(path: str, size: int | None, maybe: bool) -> None:
    assert layout.maybe_lfs(entries(path, size=size)[0], WHERE) is maybe


def test_the_answer_beside_a_run_is_found_whatever_lies_between() -> None:
    """By folder: neither one further down nor one further up is this run's."""
    folder = "trajectories/e/p/m/h"
    names = [
        f"{folder}/r1/eval_answer.json",
        f"{folder}/r1/files/eval_answer.json",
        f"{folder}/r1/result.json",
        f"{folder}/r1/x/result.json",
        f"{folder}/r10/eval_answer.json",
        f"{folder}/r2/result.json",
    ]
    listing = [Entry(name.encode(), "100644", f"{n:040x}") for n, name in enumerate(sorted(names))]
    ids = {entry.path.decode(): entry.sha for entry in listing}
    found = {run.path: run.answer for run in layout.runs(listing, WHERE)}
    assert found == {
        f"{folder}/r1/result.json": ids[f"{folder}/r1/eval_answer.json"],
        f"{folder}/r1/x/result.json": None,
        f"{folder}/r2/result.json": None,
    }
