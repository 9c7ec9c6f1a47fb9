"""Shared file systems: no locks, another TMPDIR, groups, odd names, clocks that differ; one audit for all."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchproof import tables
from benchproof.sealing.seal import sealed
from conftest import DAY, Bench, settings
from family import Family
from upstream import Upstream

pytestmark = pytest.mark.workflow

#: What a file system without locks answers, told to a file, since nobody should ask.
NO_LOCKS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
static int refused(const char *what, int code) {
    int file = open(getenv("LOCKS_ASKED"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file >= 0) { write(file, what, 6); close(file); }
    errno = code;
    return -1;
}
static int locks(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}
int flock(int file, int how) { return refused("flock\n", ENOLCK); }
int lockf(int file, int command, off_t size) { return refused("lockf\n", ENOLCK); }
int lockf64(int file, int command, off64_t size) { return refused("lockf\n", ENOLCK); }
#define GUARDED(name) \
    int name(int file, int command, ...) { \
        va_list rest; va_start(rest, command); void *given = va_arg(rest, void *); va_end(rest); \
        if (locks(command)) return refused("fcntl\n", ENOSYS); \
        return ((int (*)(int, int, ...))dlsym(RTLD_NEXT, #name))(file, command, given); \
    }
GUARDED(fcntl)
GUARDED(fcntl64)
"""
ASKS = (
    "import fcntl, sys\n"
    "file = open(sys.argv[1], 'w')\n"
    "for ask in (lambda: fcntl.flock(file, 2), lambda: fcntl.lockf(file, 2)):\n"
    "    try: ask()\n"
    "    except OSError as error: print(error.errno)\n"
)


@pytest.fixture(scope="module")
def no_locks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which nobody gets a lock; empty without a C compiler, or where it does nothing."""
    folder = tmp_path_factory.mktemp("locks")
    if shutil.which("cc") is None or sys.platform != "linux":
        return {}
    (folder / "locks.c").write_text(NO_LOCKS)
    library = folder / "locks.so"
    build: list[str | Path] = [
        "cc",
        "-shared",
        "-fPIC",
        "-w",
        "-o",
        library,
        folder / "locks.c",
        "-ldl",
    ]
    subprocess.run(build, check=True)
    made = {"LD_PRELOAD": str(library), "LOCKS_ASKED": str(folder / "asked")}
    command = [sys.executable, "-c", ASKS, str(folder / "x")]
    tried = subprocess.run(command, env=os.environ | made, capture_output=True, check=True)
    assert tried.stdout.split() == [b"37", b"38"]
    assert (folder / "asked").read_text() == "flock\nfcntl\n"
    (folder / "asked").unlink()
    return made


@pytest.fixture(scope="module")
def audited(
    tmp_path_factory: pytest.TempPathFactory, small_family: Family, no_locks: dict[str, str]
) -> Iterator[Bench]:
    """A whole audit, a snapshot fetched and opened, under all that a cluster's file system can be."""
    folder = tmp_path_factory.mktemp("shared") / "-a b 'c' \"d\" ünï $HOME"
    folder.mkdir()
    folder.chmod(0o2750)
    memory = Path("/dev/shm")
    elsewhere = {"TMPDIR": str(memory)} if os.access(memory, os.W_OK) else {}
    with Upstream(small_family.root, family=small_family) as upstream:
        chosen = settings(
            small_family,
            upstream,
            results="re 'sults' ß",
            resources='the "vault" %s',
            fetch={"select": "smallest"},
            shards=2,
        )
        bench = Bench(folder, chosen, {**no_locks, **elsewhere})
        before = os.umask(0o027)
        try:
            bench.audit()
        finally:
            os.umask(before)
        yield bench


def test_nobody_asks_for_a_lock(audited: Bench, no_locks: dict[str, str]) -> None:
    """BR-17, BR-41, BR-53: not flock, not fcntl; TMPDIR on another disk; names with anything in them."""
    assert [row["status"] for row in audited.rows("files")] == ["ok"]
    if not no_locks:
        pytest.skip("needs a C compiler")
    assert not Path(no_locks["LOCKS_ASKED"]).exists()


def test_a_group_reads_results_and_nobody_the_vault(audited: Bench) -> None:
    """BR-53: modes 0640 and 2750 under umask 027, and 0600 and 0700 in the vault, git's files too."""
    results = {
        (path.is_dir(), stat.S_IMODE(path.stat().st_mode))
        for path in audited.out.parent.rglob("*")
        if not path.is_symlink()
    }
    assert results == {(True, 0o2750), (False, 0o640)}
    vault = {path: stat.S_IMODE(path.lstat().st_mode) & 0o077 for path in audited.vault.rglob("*")}
    assert stat.S_IMODE(audited.vault.stat().st_mode) & 0o777 == 0o700
    assert [str(path) for path, others in vault.items() if others] == []


def test_clocks_that_differ_are_no_reason_to_run(audited: Bench) -> None:
    """BR-52: tables and hand-overs of a node that is a day ahead; one warning, and nothing is made again.

    A snapshot's folder and a file that NFS keeps for a reader are nobody's business either.
    """
    ahead = [audited.out / f"{name}.parquet" for name in ("pins", "runs", "findings")]
    ahead.append(next(audited.vault.glob("handover/*/*/mirror.json")))
    for path in ahead:
        os.utime(path, (time.time() + 86_400,) * 2)
    left = audited.out / ".nfs00000000deadbeef00000001"
    left.write_text("left of a file that is open elsewhere")
    said = audited.audit()
    assert "Nothing to be done" in said
    assert said.count("23.9 hours ahead of the clock") + said.count("24.0 hours ahead") == 1
    assert max(path.stat().st_mtime for path in ahead) <= time.time()
    assert audited.cli("pending").returncode == 0
    assert left.name not in sealed(audited.out)


def test_what_is_made_of_a_file_from_the_future_stays(audited: Bench) -> None:
    """BR-52: Snakemake deletes an output that is older than its input."""
    mirror = next(audited.vault.glob("handover/*/*/mirror.json"))
    os.utime(mirror, (time.time() + 86_400,) * 2)
    whole = (audited.out / "licences.parquet").read_bytes()
    (audited.out / "licences.parquet").unlink()
    audited.audit(f"{audited.settings['results']}/{DAY}/licences.parquet")
    assert (audited.out / "licences.parquet").read_bytes() == whole


def test_tables_are_those_of_any_other_place(audited: Bench) -> None:
    """What was audited here reads like anything."""
    assert audited.settings["date"] == DAY
    for path in audited.out.glob("*.parquet"):
        tables.read(path, path.stem)
