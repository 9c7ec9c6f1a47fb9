"""Run by test_confine in a process of its own: every way out of a confinement, tried.

Arguments: the vault, and which layers are on (both, hook, kernel). Prints a JSON object: way → what came.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchproof.confinement import confine as confinement
from benchproof.confinement import landlock

SECRET = "an invented secret"


def main(vault: Path, layers: str, held: str) -> None:
    """Confine this process to staging and try; `held` is a descriptor that the parent has of the secret."""
    secret, out = vault / "secret", vault.parent / "results"
    folder = os.open(out, os.O_RDONLY)
    asked: queue.Queue[Callable[[], Any]] = queue.Queue()
    answers: queue.Queue[str] = queue.Queue()
    if layers == "hook":
        # An older thread is no reason for the kernel's layer to be left out; this is.
        threading.Thread(target=_serve, args=(asked, answers), daemon=True).start()
        landlock.abi = lambda: 0
    allowed = [vault / "staging"], [vault / "findings"], [vault / "listed"]
    if layers == "kernel":
        landlock.restrict(confinement._roots(vault.resolve()), *allowed)
    else:
        confinement.confine(vault, *allowed)

    def by_thread() -> str:
        asked.put(secret.read_text)
        return answers.get(timeout=10)

    def moved(name: str) -> str:
        os.rename(vault / name, out / "moved")
        return (out / "moved").read_text()

    def linked(make: Callable[..., None]) -> str:
        path = out / make.__name__
        make(secret, path)
        return path.read_text()

    def beside(name: str) -> str:
        with open(os.open(name, os.O_RDONLY, dir_fd=folder)) as file:
            return file.read()

    def inside() -> str:
        os.chdir(vault)
        return Path("secret").read_text()

    ways: dict[str, Callable[[], Any]] = {
        "open": secret.read_text,
        "bytes": lambda: os.open(os.fsencode(secret), os.O_RDONLY),
        "dots": lambda: (out / ".." / vault.name / "secret").read_text(),
        "relative": lambda: Path(os.path.relpath(secret)).read_text(),
        "beside a descriptor": lambda: beside(f"../{vault.name}/secret"),
        "beside a descriptor, by a link": lambda: beside("link"),
        "link": (out / "link").read_text,
        "link to a folder": (out / "folder" / "secret").read_text,
        "link to a part": (vault / "elsewhere" / "big").read_text,
        "root of the process": lambda: Path(f"/proc/self/root{secret}").read_text(),
        "folder of the process": lambda: Path("/proc/self/cwd/resources/secret").read_text(),
        "root of the parent": lambda: Path(f"/proc/{os.getppid()}/root{secret}").read_text(),
        "descriptor of the parent": lambda: Path(f"/proc/{os.getppid()}/fd/{held}").read_text(),
        "what may be written": (vault / "findings" / "other").read_text,
        "what may be listed": (vault / "listed" / "other").read_text,
        "change of folder": lambda: inside(),
        "list": lambda: os.listdir(vault),
        "scan": lambda: [entry.name for entry in os.scandir(vault / "findings")],
        "a new link": lambda: linked(os.symlink),
        "a new hard link": lambda: linked(os.link),
        "move": lambda: moved("secret"),
        "move of what may be written": lambda: moved("findings/other"),
        "copy": lambda: shutil.copyfile(secret, out / "copy"),
        "overwrite": lambda: secret.write_text(""),
        "delete": secret.unlink,
        "sqlite": lambda: sqlite3.connect(vault / "sqlite").execute("select * from t").fetchall(),
        "program": lambda: subprocess.run(["cat", secret], capture_output=True, check=True).stdout,
        "shell": lambda: os.popen(f"cat {secret} 2>&1").read() or _fail(),
        "child": lambda: _in_child(secret),
        "older thread": by_thread if layers == "hook" else _fail,
        "C library": lambda: _by_libc(secret),
        "pyarrow": lambda: _pyarrow(secret),
        "duckdb": lambda: _duckdb(secret),
    }
    print(json.dumps({name: _tried(way) for name, way in ways.items()}))


def _serve(asked: queue.Queue[Callable[[], Any]], answers: queue.Queue[str]) -> None:
    while True:
        answers.put(_tried(asked.get()))


def _tried(way: Callable[[], Any]) -> str:
    try:
        got = way()
    except BaseException as error:
        return type(error).__name__
    refused = isinstance(got, str) and got.endswith(("Error", "ermission denied\n"))
    return str(got).strip().rpartition(": ")[2] if refused else "OPENED"


def _fail() -> str:
    raise PermissionError


def _in_child(secret: Path) -> str:
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.write(writing, _tried(secret.read_text).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(reading, 100).decode()


def _by_libc(secret: Path) -> int:
    descriptor = ctypes.CDLL(None).open(os.fsencode(secret), os.O_RDONLY)
    if descriptor < 0:
        raise PermissionError
    return int(descriptor)


def _pyarrow(secret: Path) -> bytes:
    import pyarrow as pa

    return bytes(pa.OSFile(str(secret), "r").read())


def _duckdb(secret: Path) -> list[Any]:
    import duckdb

    return duckdb.connect().execute(f"select content from read_text('{secret}')").fetchall()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
