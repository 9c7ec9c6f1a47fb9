"""A file of a report is whole or not there, whatever ends its writer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from benchproof.errors import BenchproofError, TableError
from benchproof.outputs import comparison_label, replacing
from benchproof.vault import private_file, sweep

#: Writes half of a file in two ways, says so, and is killed there.
HALF = """
import os, signal, sys
from pathlib import Path
from benchproof.outputs import replacing
from benchproof.vault import private_file
path = Path(sys.argv[2])
if sys.argv[1] == "results":
    with replacing(path) as part:
        part.write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
else:
    with private_file(path) as handle:
        handle.write(b"half")
        handle.flush()
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("before", [None, b"whole"], ids=["new", "again"])
@pytest.mark.parametrize("where", ["results", "vault"])
def test_a_writer_that_is_killed_leaves_what_was_there(
    tmp_path: Path, where: str, before: bytes | None
) -> None:
    """BR-50 (a): nothing half written has the final name, so that nobody can take it for whole."""
    path = tmp_path / "report.html"
    if before is not None:
        path.write_bytes(before)
    scripts = Path(__file__).resolve().parents[2] / "scripts"
    done = subprocess.run(
        [sys.executable, "-c", HALF, where, str(path)],
        env={**os.environ, "PYTHONPATH": str(scripts)},
        check=False,
    )
    assert done.returncode == -9
    assert (path.read_bytes() if path.exists() else None) == before
    assert sweep(tmp_path) == 1
    assert [item.name for item in tmp_path.iterdir()] == ([] if before is None else [path.name])


def test_one_of_two_writers_in_a_folder_that_fails_leaves_the_other_alone(tmp_path: Path) -> None:
    """BR-50 (c)"""
    with replacing(tmp_path / "one.parquet") as one:
        one.write_bytes(b"one, not yet")

        def fail() -> None:
            with replacing(tmp_path / "two.parquet") as two:
                two.write_bytes(b"two")
                raise OSError(28, os.strerror(28))

        with pytest.raises(
            TableError, match=r"(?i)two\.parquet: cannot be written \(no space left"
        ):
            fail()
        one.write_bytes(b"one")
    assert {item.name: item.read_bytes() for item in tmp_path.iterdir()} == {"one.parquet": b"one"}


@pytest.mark.parametrize("writing", [replacing, private_file])
def test_what_a_reader_meets_is_not_told_of_the_writer(
    tmp_path: Path, writing: Callable[[Path], AbstractContextManager[object]]
) -> None:
    """Room and rights for the file that is written are no remedy for one that is missing."""
    path, missing = tmp_path / "runs.parquet", tmp_path / "pins.parquet"
    why = r"runs\.parquet: cannot be made, since \S+pins\.parquet cannot be read \(No such file"
    with pytest.raises(BenchproofError, match=why), writing(path):
        missing.read_bytes()
    with pytest.raises(OSError, match="of a library"), writing(path):
        raise OSError("of a library")
    full = r"runs\.parquet: cannot be written \(no space"
    with pytest.raises(BenchproofError, match=full), writing(path):
        raise OSError(28, os.strerror(28))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    above = tmp_path / "file" / "runs.parquet"
    with pytest.raises(BenchproofError, match=r"cannot (be written|create)"), writing(above):
        pass


def test_two_reports_of_one_name_give_a_comparison_of_its_own(tmp_path: Path) -> None:
    """One that lies elsewhere says where; the same place always in the same words."""
    results = tmp_path / "results"
    here, there, third = (
        folder / "2026-01-15" for folder in (results, tmp_path / "a b", tmp_path / "c" / "a b")
    )
    for folder in (here, there, third):
        folder.mkdir(parents=True)
    (results / "latest").symlink_to("2026-01-15")
    labels = [comparison_label(results, old, here) for old in (there, third, here, None)]
    assert len(set(labels)) == len(labels)
    assert re.fullmatch(r"a_b-[0-9a-f]{8}\+2026-01-15\.\.2026-01-15", labels[0])
    assert labels[2:] == ["2026-01-15..2026-01-15", "none..2026-01-15"]
    assert comparison_label(results, results / "latest", here) == labels[2]
    assert comparison_label(results, there / ".." / there.name, here) == labels[0]
    moved = tmp_path / "elsewhere" / "moved"
    moved.mkdir(parents=True)
    assert comparison_label(results, moved, here) == "moved..2026-01-15"
    commit = tmp_path / "elsewhere" / "demo+one" / ("a" * 40)
    assert comparison_label(results, commit, here) == f"demo+one@{'a' * 12}..2026-01-15"
