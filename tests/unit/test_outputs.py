"""A file of a report is whole or not there, whatever ends its writer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchproof.errors import TableError
from benchproof.outputs import replacing
from benchproof.vault import sweep

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
