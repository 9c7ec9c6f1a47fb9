"""A child process with limits that reads what strangers wrote, so that a bad file costs a row and no job.

The child has an empty environment (no tokens, no proxies), no terminal, no core dumps, no files to
write, bounded memory, CPU and wall time, and HDF5 without filter plugins and file locks. It has no
network of its own use: bytes of a remote object come through its parent. It serves many calls,
since starting one costs 0.3 s, and is replaced after a crash.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, cast

from benchproof.storage.frames import BadFrame, Read, receive, send

Reason = Literal["crashed", "memory", "timeout", "malformed"]

#: Address space, not memory used: h5py, numpy and anndata map 0.5 GiB before they read anything.
MEMORY = 1536 * 1024 * 1024
_SCRIPTS = Path(__file__).resolve().parents[2]
_MAX_RANGES = 65536
_MAX_BATCH = 64 * 1024 * 1024
_TO_SEND = 30.0


class ChildFailed(Exception):
    """The child did not finish a call. `reason` is a fixed code; `detail` is our own text, for a log."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"the reading process failed: {reason}" + (f" ({detail})" * bool(detail)))
        self.reason: Reason = reason
        self.detail = detail

    @property
    def code(self) -> str:
        """The reason that a table's row gives: parser_crashed, parser_memory or parser_timeout."""
        return f"parser_{'crashed' if self.reason == 'malformed' else self.reason}"


class _Killed(ChildFailed):
    """The child was killed from outside."""


class Sandbox:
    """One child process, started at the first call and again after a failure; a context manager.

    `memory` is the child's address space in bytes; functions are looked up below `package`, found on
    `folders` before our own. Calls from several threads run one after another.
    """

    def __init__(
        self,
        memory: int = MEMORY,
        *,
        package: str = "benchproof",
        folders: Sequence[Path] = (),
    ) -> None:
        self._memory, self._package, self._folders = memory, package, tuple(folders)
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is no child."""
        return self._child.pid if self._child else None

    def call(
        self,
        function: str,
        argument: Mapping[str, Any],
        *,
        read: Read | None = None,
        seconds: float,
    ) -> dict[str, Any]:
        """Run `function` ("module:name" below the package) in the child and return its result.

        The child's function gets (argument, read); argument and result are JSON. `seconds` bounds the
        child's own wall time and, apart from it, its CPU time; time spent in `read` is not counted.

        A child that somebody else killed is given a second chance: its own limits end it otherwise, so the
        machine was short of memory, perhaps because of others.

        Raises ChildFailed; what `read` raised, an ObjectFailed mostly, is raised unchanged.
        """
        try:
            return self._called(function, argument, read, seconds)
        except _Killed:
            return self._called(function, argument, read, seconds)

    def _called(
        self, function: str, argument: Mapping[str, Any], read: Read | None, seconds: float
    ) -> dict[str, Any]:
        with self._lock:
            sock = self._started()
            done = False
            try:
                request = {
                    "function": f"{self._package}.{function}",
                    "argument": dict(argument),
                    "reads": read is not None,
                    "seconds": seconds,
                }
                result = self._converse(sock, request, read, seconds)
                done = True
            except (EOFError, ConnectionError):
                raise self._ended() from None
            except TimeoutError:
                raise ChildFailed("timeout") from None
            except BadFrame:
                raise ChildFailed("malformed") from None
            finally:
                if not done:
                    self._stop()
        return self._result(result)

    def close(self) -> None:
        """End the child; the next call would start another."""
        with self._lock:
            self._stop()

    def _converse(
        self, sock: socket.socket, request: dict[str, Any], read: Read | None, seconds: float
    ) -> dict[str, Any] | Exception:
        """Answer the child's reads until it is done; returns its last frame, or what `read` raised."""
        sock.settimeout(_TO_SEND)
        send(sock, request)
        refused: Exception | None = None
        deadline = time.monotonic() + seconds
        while True:
            head, _ = receive(sock, deadline)
            if head.get("op") != "read":
                return refused or head
            ranges = _ranges(head)
            if read is None:
                raise BadFrame
            began = time.monotonic()
            sock.settimeout(_TO_SEND)
            parts: list[bytes] = []
            if refused is None:
                try:
                    parts = read(ranges)
                except Exception as error:
                    # Raised by call() once the child has given up, so that it stays usable.
                    refused = error
            if refused is None:
                send(
                    sock, {"op": "data", "lengths": [len(part) for part in parts]}, b"".join(parts)
                )
            else:
                send(sock, {"op": "refused"})
            deadline += time.monotonic() - began

    def _result(self, answer: dict[str, Any] | Exception) -> dict[str, Any]:
        if isinstance(answer, Exception):
            raise answer
        if answer.get("op") == "done" and isinstance(answer.get("result"), dict):
            return cast(dict[str, Any], answer["result"])
        # A child that met its limit may have little memory left, and one that erred may hold a file open.
        self.close()
        reason = answer.get("reason")
        if answer.get("op") == "failed" and reason in ("memory", "crashed"):
            raise ChildFailed(cast(Reason, reason), str(answer.get("detail", ""))[:200])
        raise ChildFailed("malformed")

    def _started(self) -> socket.socket:
        if self._socket is not None:
            return self._socket
        ours, theirs = socket.socketpair()
        with theirs:
            self._child = subprocess.Popen(
                [
                    *(sys.executable, "-s", "-P", "-m", "benchproof.storage.sandboxed"),
                    *(str(theirs.fileno()), str(self._memory)),
                ],
                env=environment(self._folders),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # It could quote a file's text.
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._socket = ours
        return ours

    def _ended(self) -> ChildFailed:
        """Say why the child went away by itself."""
        code = 0
        if self._child is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._child.wait(5)
        if code == -signal.SIGXCPU:
            return ChildFailed("timeout")
        if code == -signal.SIGKILL:
            # Only the kernel's memory killer sends this one, apart from us.
            return _Killed("memory", f"exit code {code}")
        return ChildFailed("crashed", f"exit code {code}")

    def _stop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._child is not None:
            if self._child.poll() is None:
                self._child.kill()
            self._child.wait()
            self._child = None


def environment(folders: Sequence[Path] = ()) -> dict[str, str]:
    """Return the whole environment of a child: no token, no proxy, no plugin, no lock on a file."""
    return {
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join(map(str, [*folders, _SCRIPTS])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
        "HOME": "/nonexistent",
        "TMPDIR": "/nonexistent",
        "HDF5_USE_FILE_LOCKING": "FALSE",
        # "::" is HDF5's word for loading no plugins at all.
        "HDF5_PLUGIN_PRELOAD": "::",
        "HDF5_PLUGIN_PATH": "/nonexistent",
        # Each thread of a numerical library reserves address space, which is limited.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def _ranges(head: dict[str, Any]) -> list[tuple[int, int]]:
    """Check what the child asks for: it may have been taken over by what it reads."""
    found = head.get("ranges")
    if not isinstance(found, list) or len(found) > _MAX_RANGES:
        raise BadFrame
    ranges: list[tuple[int, int]] = []
    for item in found:
        if not (isinstance(item, list) and len(item) == 2 and all(type(n) is int for n in item)):
            raise BadFrame
        if item[0] < 0 or item[1] < 1:
            raise BadFrame
        ranges.append((item[0], item[1]))
    if sum(length for _, length in ranges) > _MAX_BATCH:
        raise BadFrame
    return ranges
