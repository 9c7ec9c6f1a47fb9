"""The child's side of `sandbox.py`: sets its own limits, then serves calls until its parent is gone.

usage: python -m benchproof.storage.sandboxed SOCKET_FD MEMORY_BYTES
"""

from __future__ import annotations

import importlib
import math
import os
import resource
import select
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from socket import socket
from typing import Any

from benchproof.storage.frames import BadFrame, Read, ReadRefused, receive, send


def main() -> int:
    """Serve calls; returns 0 when the parent is gone."""
    sock = socket(fileno=int(sys.argv[1]))
    _limit(int(sys.argv[2]))
    threading.Thread(target=die_with_parent, args=(sock.fileno(),), daemon=True).start()
    try:
        while True:
            head, _ = receive(sock)
            _serve(sock, head)
    except (EOFError, ConnectionError):
        return 0


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _allow_cpu(seconds: float) -> None:
    """Move the soft limit to what is used so far and `seconds` more; above it the kernel ends the child."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    soft = math.ceil(usage.ru_utime + usage.ru_stime + seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def die_with_parent(fd: int) -> None:
    """End a child that is busy when its parent dies; an idle one sees the end of the socket itself."""
    poll = select.poll()
    poll.register(fd, select.POLLRDHUP)
    poll.poll()
    os._exit(0)


def _serve(sock: socket, head: dict[str, Any]) -> None:
    _allow_cpu(float(head["seconds"]))
    read = _reader(sock) if head["reads"] else None
    try:
        module, _, name = str(head["function"]).partition(":")
        function = getattr(importlib.import_module(module), name)
        answer = {"op": "done", "result": function(head["argument"], read)}
    except MemoryError:
        answer = {"op": "failed", "reason": "memory"}
    except (EOFError, ConnectionError, BadFrame):
        raise
    except Exception as error:
        # The text of an exception may quote the file, so only its kind and place travel.
        answer = {"op": "failed", "reason": "crashed", "detail": _place(error)}
    send(sock, answer)


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def _reader(sock: socket) -> Read:
    def read(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        send(sock, {"op": "read", "ranges": [[int(o), int(n)] for o, n in ranges]})
        head, body = receive(sock)
        if head["op"] != "data":
            raise ReadRefused
        parts, at = [], 0
        for size in head["lengths"]:
            parts.append(body[at : at + size])
            at += size
        return parts

    return read


if __name__ == "__main__":
    raise SystemExit(main())
