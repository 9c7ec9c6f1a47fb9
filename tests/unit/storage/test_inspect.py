"""A fetched file is judged without a crash, keeps its shape whatever reads it, and is not changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import pytest

from benchproof.storage import sandbox as sandbox_module
from benchproof.storage.backed import Survey
from benchproof.storage.inspect import Inspected, inspect
from benchproof.storage.sandbox import ChildFailed, Sandbox
from h5ad import GENERATIONS, NULLABLE, OBS, Matrix, Spec, build, huge
from h5ad.faulty import GOOD, HOSTILE, READABLE, append, cut, cuts, of_shape, punch

READER = "anndata 0.12.19"
UNREADABLE = "unreadable_by_anndata_0.12.19"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One child for all: starting it and importing AnnData takes seconds."""
    with Sandbox() as child:
        yield child


def look(sandbox: Sandbox, path: Path, peeked: dict[str, Any] | None = None) -> Inspected:
    """Inspect a file that has the size which the server stated."""
    size = path.stat().st_size
    return inspect(sandbox, path, expected_size=size, peeked=peeked, seconds=60)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_layout(generation: str, sandbox: Sandbox, tmp_path: Path) -> None:
    """Files of every generation are fine, and AnnData reads them."""
    old = generation in ("0.6", "0.7")
    columns = OBS if old else OBS + NULLABLE
    build(tmp_path / "x.h5ad", Spec(generation, obs=columns, raw=Matrix(), raw_vars=120))
    peeked = {"n_obs": 200, "n_vars": 100, "nnz": 1800, "x_encoding": "csr_matrix"}
    found = look(sandbox, tmp_path / "x.h5ad", peeked)
    assert found == Inspected("ok", None, 200, 100, READER)


@pytest.mark.parametrize(("form", "rows"), [("dense", 0), ("csr", 0), ("absent", 0), ("dense", 1)])
def test_few_rows(form: str, rows: int, sandbox: Sandbox, tmp_path: Path) -> None:
    """BR-40: no rows and one row are shapes like any other."""
    of_shape(form, rows)(tmp_path / "x.h5ad")
    assert look(sandbox, tmp_path / "x.h5ad") == Inspected("ok", None, rows, 5, READER)


@pytest.mark.parametrize(
    "name", [n for n in READABLE if n not in ("one_row",) and "empty" not in n]
)
def test_readable_cases(name: str, sandbox: Sandbox, tmp_path: Path) -> None:
    """No X, nullable names, twice the same name, HDF5's other formats: nothing is wrong with them."""
    READABLE[name](tmp_path / "x.h5ad")
    found = look(sandbox, tmp_path / "x.h5ad")
    assert (found.status, found.reason, found.reader) == ("ok", None, READER)
    small = {"duplicate_names": (4, 3), "no_columns": (200, 100)}
    assert (found.n_obs, found.n_vars) == small.get(name, (2_000, 100))


@pytest.mark.parametrize(
    ("name", "status", "reason", "reader"),
    [
        (
            "unknown_version",
            "unsupported",
            UNREADABLE,
            "no reader for categorical 9.9.9 at /obs/ct",
        ),
        ("unknown_matrix", "unsupported", UNREADABLE, "no reader for demo_matrix 0.1.0 at /X"),
        ("external_link", "unsupported", "refers_to_other_files", "h5py"),
        ("external_storage", "unsupported", "refers_to_other_files", "h5py"),
        ("dangling_link", "unsupported", UNREADABLE, "KeyError"),
        ("cyclic_link", "unsupported", UNREADABLE, "RuntimeError"),
        ("cycle", "unsupported", UNREADABLE, "RecursionError"),
        ("huge_attribute", "ok", None, READER),
        ("deep", "unsupported", "parser_crowded", "h5py"),
        ("declared_huge", "ok", None, "encodings alone"),
        ("lengths_differ", "mismatch", "shape_differs_inside", READER),
    ],
)
def test_hostile_cases(
    name: str, status: str, reason: str | None, reader: str, sandbox: Sandbox, tmp_path: Path
) -> None:
    """BR-39: what stops AnnData is named, and the shape is there all the same: never 0 x 0."""
    HOSTILE[name](tmp_path / "x.h5ad")
    found = look(sandbox, tmp_path / "x.h5ad")
    assert (found.status, found.reason) == (status, reason)
    assert (found.n_obs, found.n_vars) == (2_000, 100)
    assert reader in str(found.reader)


def test_other_content(sandbox: Sandbox, tmp_path: Path) -> None:
    """HDF5 that is no AnnData, and what is no HDF5 at all."""
    HOSTILE["other_hdf5"](tmp_path / "x.h5ad")
    assert look(sandbox, tmp_path / "x.h5ad") == Inspected("unsupported", "not_anndata")
    (tmp_path / "x.h5ad").write_bytes(b"barcode,value\n" * 100)
    assert look(sandbox, tmp_path / "x.h5ad") == Inspected("unsupported", "not_hdf5")
    assert inspect(
        sandbox, tmp_path / "none", expected_size=5, peeked=None, seconds=9
    ) == Inspected("unknown", "file_missing")
    assert inspect(sandbox, tmp_path, expected_size=5, peeked=None, seconds=9) == Inspected(
        "unknown", "file_unreadable"
    )


@pytest.mark.parametrize("which", range(6))
def test_truncation(which: int, sandbox: Sandbox, tmp_path: Path) -> None:
    """BR-37: an object that is short at the server is told apart from a download that is."""
    path = tmp_path / "x.h5ad"
    build(path, GOOD)
    size = path.stat().st_size
    cut(path, cuts(size)[which])
    assert look(sandbox, path) == Inspected("truncated", "at_source")
    short = inspect(sandbox, path, expected_size=size, peeked=None, seconds=9)
    assert short == Inspected("truncated", "short_download")


def test_sizes_that_differ(sandbox: Sandbox, tmp_path: Path) -> None:
    """A file longer than the object keeps its shape; bytes behind the end of both are said."""
    path = tmp_path / "x.h5ad"
    build(path)
    size = path.stat().st_size
    append(path)
    longer = inspect(sandbox, path, expected_size=size, peeked=None, seconds=9)
    assert longer == Inspected("mismatch", "size", 200, 100, "h5py")
    assert look(sandbox, path) == Inspected("ok", "bytes_after_end", 200, 100, READER)
    cut(path, size - 1)
    other = inspect(sandbox, path, expected_size=size - 2, peeked=None, seconds=9)
    assert other == Inspected("mismatch", "size")


@pytest.mark.parametrize(
    ("peeked", "reason"),
    [
        ({"n_obs": 201, "n_vars": 100}, "shape_differs_from_peek"),
        ({"n_obs": 200, "n_vars": 99}, "shape_differs_from_peek"),
        ({"n_obs": 200, "n_vars": 100, "nnz": 1}, "x_differs_from_peek"),
        ({"x_dtype": "float64"}, "x_differs_from_peek"),
        ({"n_obs": None, "nnz": None}, None),
        (None, None),
    ],
)
def test_the_peek_saw_something_else(
    peeked: dict[str, Any] | None, reason: str | None, sandbox: Sandbox, tmp_path: Path
) -> None:
    """What the peek saw has to be there; what it did not see is not asked for."""
    build(tmp_path / "x.h5ad")
    found = look(sandbox, tmp_path / "x.h5ad", peeked)
    assert (found.status, found.reason) == ("mismatch" if reason else "ok", reason)
    assert (found.n_obs, found.n_vars) == (200, 100)


def test_damage_inside(sandbox: Sandbox, tmp_path: Path) -> None:
    """Zeros over the root group's header leave a file of the right length that does not open."""
    build(tmp_path / "x.h5ad")
    punch(tmp_path / "x.h5ad", 96, 800)
    assert look(sandbox, tmp_path / "x.h5ad").status == "unsupported"
    # The child serves the next file.
    build(tmp_path / "y.h5ad")
    assert look(sandbox, tmp_path / "y.h5ad").status == "ok"


def state(folder: Path) -> dict[str, tuple[str, int]]:
    """Return digest and time of change of every file in a folder."""
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.iterdir()
    }


def test_nothing_is_changed(sandbox: Sandbox, tmp_path: Path) -> None:
    """BR-41: bytes and times stay, no file appears, and a read-only file in a read-only folder will do."""
    folder = tmp_path / "held"
    folder.mkdir()
    build(folder / "x.h5ad", GOOD)
    before = state(folder)
    (folder / "x.h5ad").chmod(0o400)
    folder.chmod(0o500)
    try:
        assert look(sandbox, folder / "x.h5ad").status == "ok"
    finally:
        folder.chmod(0o700)
    assert state(folder) == before


HOLD = """
import h5py, sys
with h5py.File(sys.argv[1], "r+") as file:
    print("open", flush=True)
    sys.stdin.read()
"""


def test_another_process_writes(sandbox: Sandbox, tmp_path: Path) -> None:
    """A lock that another process holds on the file does not matter."""
    path = tmp_path / "x.h5ad"
    build(path, GOOD)
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(BlockingIOError):
            h5py.File(path, "r", locking=True)
        assert look(sandbox, path).status == "ok"
        holder.communicate()


NO_LOCKS = """
#include <errno.h>
#include <fcntl.h>
int flock(int file, int how) { errno = ENOLCK; return -1; }
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BR-41: where flock fails with ENOLCK the file is read all the same."""
    (tmp_path / "flock.c").write_text(NO_LOCKS)
    library = tmp_path / "flock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "flock.c"], check=True)
    build(tmp_path / "x.h5ad", GOOD)
    preload = {"LD_PRELOAD": str(library)}
    plain = "import h5py, sys; h5py.File(sys.argv[1], 'r', locking=True)"
    locked = subprocess.run(
        [sys.executable, "-c", plain, tmp_path / "x.h5ad"],
        env={**os.environ, **preload},
        capture_output=True,
        check=False,
    )
    assert b"No locks available" in locked.stderr
    usual = sandbox_module.environment
    monkeypatch.setattr(sandbox_module, "environment", lambda *given: usual(*given) | preload)
    with Sandbox() as child:
        assert look(child, tmp_path / "x.h5ad") == Inspected("ok", None, 2_000, 100, READER)


@pytest.mark.parametrize(
    ("options", "reader"),
    [
        ({"form": "dense", "n_obs": 60_000, "columns": 9}, READER),
        ({"layers": {"counts": Matrix("dense", hole=True)}}, f"{READER}, obs and var alone"),
        ({"n_obs": 150_000, "n_vars": 30_000, "columns": 40}, f"{READER}, encodings alone"),
    ],
    ids=["all", "tables", "encodings"],
)
def test_memory_stays_bounded(options: dict[str, Any], reader: str, tmp_path: Path) -> None:
    """A file of 9.6 GB, with large layers or tables too, is judged within 260 MB in the child."""
    path = tmp_path / "x.h5ad"
    spec = huge(path, size=9_631_000_007, **options)
    with Sandbox() as child:
        assert look(child, path) == Inspected("ok", None, spec.n_obs, spec.n_vars, reader)
        status = Path(f"/proc/{child.pid}/status").read_text()
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    assert int(peak) * 1024 < 260_000_000


class Scripted(Sandbox):
    """A child that answers as it is told to; calls without an answer are really made."""

    def __init__(self, **answers: Any) -> None:
        super().__init__()
        self._answers = answers

    def call(self, function: str, *arguments: Any, **options: Any) -> dict[str, Any]:
        answer = self._answers.get(function.partition(":")[2])
        if isinstance(answer, ChildFailed):
            raise answer
        return super().call(function, *arguments, **options) if answer is None else answer


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("memory", "parser_memory"),
        ("timeout", "parser_timeout"),
        ("crashed", "parser_crashed"),
        ("malformed", "parser_crashed"),
    ],
)
def test_a_child_that_fails(failure: Any, reason: str, tmp_path: Path) -> None:
    """Where AnnData goes beyond its limits h5py's shape stays; where h5py does there is none."""
    build(tmp_path / "x.h5ad", GOOD)
    with Scripted(read_backed=ChildFailed(failure)) as child:
        found = look(child, tmp_path / "x.h5ad")
    said = f"anndata, in a child process: {failure}"
    assert found == Inspected("unsupported", reason, 2_000, 100, said)
    with Scripted(look=ChildFailed(failure)) as child:
        assert look(child, tmp_path / "x.h5ad") == Inspected("unsupported", reason)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"look": {}}, Inspected("unsupported", "parser_crashed")),
        ({"look": {"failed": "anything"}}, Inspected("unsupported", "parser_crashed")),
        (
            {"look": {"contents": {"n_obs": "5", "n_vars": True}}, "read_backed": {}},
            Inspected("unsupported", "parser_crashed", None, None, "h5py"),
        ),
        (
            {"read_backed": {"version": "1\n2", "outcome": "encoding", "what": "<b>" * 200}},
            Inspected(
                "unsupported",
                "unreadable_by_anndata_1?2",
                *(200, 100),
                f"anndata 1?2: no reader for {('<b>' * 200)[:200]}",
            ),
        ),
        (
            {"read_backed": {"version": "1", "outcome": "backed", "shape": [0, 0]}},
            Inspected("mismatch", "shape_differs_inside", 200, 100, "anndata 1"),
        ),
    ],
)
def test_a_child_that_was_taken_over(
    answers: dict[str, Any], expected: Inspected, tmp_path: Path
) -> None:
    """Whatever the child says becomes a bounded row."""
    build(tmp_path / "x.h5ad")
    with Scripted(**answers) as child:
        assert look(child, tmp_path / "x.h5ad") == expected


def test_survey(tmp_path: Path) -> None:
    """Every object is seen once, X is not counted, and a way out of the file is."""
    build(tmp_path / "x.h5ad", replace(GOOD, raw=Matrix(), raw_vars=50))
    with h5py.File(tmp_path / "x.h5ad", "r") as file:
        survey = Survey.of(file)
        names: list[str] = []
        file.visit(names.append)
    assert sorted(survey.paths) == sorted(f"/{name}" for name in names)
    assert not any(path.startswith(("/X", "/raw/X")) for path in survey.bytes)
    assert survey.bytes["/obs/n_reads"] == 16_000
    tables = sum(n for path, n in survey.bytes.items() if path.startswith(("/obs/", "/var/")))
    assert survey.total("obs", "var") == tables < survey.total()
    assert not survey.outside
    HOSTILE["external_storage"](tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "r") as file:
        assert Survey.of(file).outside
