"""Runs before anything else in each Python process of a derivation that `verify_determinism` starts.

It puts the conditions into force that no environment variable can, the order in which folders are listed,
the processors that may be used and the threads that libraries start, and lets every job of a rule leave a
witness: what it saw of its conditions from inside its own process. Nothing but the gate has this folder in
its PYTHONPATH.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

#: The variable that holds the conditions, as JSON; without it nothing happens here.
TOLD = "BENCHPROOF_CONDITIONS"
#: Where Snakemake puts the scripts of its jobs, and the gate's own: a process that runs one is a job.
_SCRIPTS = (".snakemake/scripts/", "determinism/rendering.py")
_THREADS = (
    *("OMP_NUM_THREADS", "ARROW_IO_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS"),
    *("MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"),
)
#: One instant in each half of the year: zones differ in their summers too.
_INSTANTS = (1_768_000_000, 1_783_000_000)


class Listed:
    """Names or entries of a folder in a chosen order, with what an iterator of os.scandir can do."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Listed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Everything was read at once, and nothing is open."""
        self._entries = iter(())


def ordered(entries: list[Any], order: str, name: Callable[[Any], Any]) -> list[Any]:
    """Return entries in an order: sorted, reversed, or shuffled, which is the same for the same names."""
    found = sorted(entries, key=name)
    if order == "reversed":
        found.reverse()
    elif order == "shuffled":
        import zlib

        found.sort(key=lambda entry: zlib.crc32(os.fsencode(name(entry))))
    return found


def list_in(order: str) -> None:
    """Let os.listdir and os.scandir, and so glob, pathlib and os.walk, tell folders in this order."""
    listdir, scandir = os.listdir, os.scandir

    def listed(path: Any = ".") -> list[Any]:
        return ordered(listdir(path), order, lambda name: name)

    def scanned(path: Any = ".") -> Listed:
        with scandir(path) as entries:
            return Listed(ordered(list(entries), order, lambda entry: entry.name))

    changed: Any = os
    changed.listdir, changed.scandir = listed, scanned
    # shutil looks here whether it may remove trees by descriptors.
    os.supports_fd |= {listed, scanned}


def orders(folder: str) -> list[list[str]]:
    """Return the names of a folder as every usual way of listing it tells them."""
    import glob
    import pathlib

    with os.scandir(folder) as entries:
        scanned = [entry.name for entry in entries]
    globbed = [os.path.basename(path) for path in glob.glob(os.path.join(folder, "*"))]
    iterated = [path.name for path in pathlib.Path(folder).iterdir()]
    walked = next(os.walk(folder))[2]
    return [os.listdir(folder), scanned, globbed, iterated, walked]


def seen(told: dict[str, Any]) -> dict[str, Any]:
    """Return what this process sees of its conditions now."""
    import locale

    try:
        spoken = locale.setlocale(locale.LC_ALL, "")
    except locale.Error:
        spoken = "refused"
    arrow = sys.modules.get("pyarrow")
    zone = [time.strftime("%z %Z", time.localtime(instant)) for instant in _INSTANTS]
    return {
        "hash": [hash(text) for text in ("benchproof", "scbench", "a")],
        "locale": spoken,
        "zone": " ".join(zone),
        "cpus": _processors(),
        "omp": os.environ.get("OMP_NUM_THREADS"),
        "arrow": arrow.cpu_count() if arrow and hasattr(arrow, "cpu_count") else None,
        "orders": orders(told["known"]),
        "ended": time.time(),
    }


def _processors() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _before(told: dict[str, Any], script: str) -> dict[str, Any]:
    """What must be seen before the job does anything."""
    mask = os.umask(0o077)
    os.umask(mask)
    archives = {}
    for folder, _, names in os.walk(os.path.join("vault", "content")):
        for name in names:
            path = os.path.join(folder, name)
            archives[path] = os.stat(path).st_ino
    tables = [name for name in _names(told["results"]) if name.endswith(".parquet")]
    return {
        "rule": os.path.basename(script).removesuffix(".py").rpartition(".")[2],
        "umask": f"{mask:03o}",
        "cwd": os.getcwd(),
        "archives": archives,
        "tables": tables,
        "began": time.time(),
    }


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def attend(told: dict[str, Any], script: str) -> None:
    """Leave a witness when this job ends, in whatever way it does; its file is opened now, since a job
    may be kept from opening any later.
    """
    into = os.open(
        os.path.join(told["into"], f"{os.getpid()}.json"), os.O_WRONLY | os.O_CREAT, 0o600
    )
    before = _before(told, script)
    end = os._exit

    def leave() -> None:
        os.write(into, json.dumps(before | seen(told)).encode())
        os.close(into)

    def ended(status: int) -> None:
        # A job that is done leaves this way, and no exit handler runs.
        atexit.unregister(leave)
        leave()
        end(status)

    atexit.register(leave)
    changed: Any = os
    changed._exit = ended


def begin() -> None:
    """Put the conditions into force that this process was told of."""
    told = json.loads(os.environ[TOLD])
    if told["cpus"] and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: told["cpus"]])
    # Snakemake sets them for its jobs, to one.
    os.environ.update(dict.fromkeys(_THREADS, told["threads"]))
    list_in(told["listing"])
    script = next(
        (word for word in sys.orig_argv[1:3] if any(part in word for part in _SCRIPTS)), None
    )
    if script is not None:
        attend(told, script)


if TOLD in os.environ:
    begin()
