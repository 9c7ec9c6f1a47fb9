"""Frames between a sandboxed child and its parent: a JSON head and raw bytes, both with their lengths.

Shared by both sides (`sandbox.py` is the parent's, `sandboxed.py` the child's), so that the child
imports nothing else before its limits are set.
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Sequence
from socket import socket
from typing import Any

#: Reads many ranges in one go: [(offset, length)] -> their bytes, in the same order.
Read = Callable[[Sequence[tuple[int, int]]], list[bytes]]

_LENGTHS = struct.Struct(">IQ")
_MAX_HEAD = 4 * 1024 * 1024
_MAX_BODY = 64 * 1024 * 1024
_STEP = 1024 * 1024


class ReadRefused(Exception):
    """The parent could not read what the child asked for; the parent knows why."""


class BadFrame(Exception):
    """What arrived is not a frame."""


def send(sock: socket, head: dict[str, Any], body: bytes = b"") -> None:
    """Send one frame; `socket.timeout` applies as the socket is set."""
    text = json.dumps(head, separators=(",", ":")).encode()
    sock.sendall(_LENGTHS.pack(len(text), len(body)) + text)
    if body:
        sock.sendall(body)


def receive(sock: socket, deadline: float | None = None) -> tuple[dict[str, Any], bytes]:
    """Return head and body of the next frame.

    Raises EOFError when the other side is gone, TimeoutError at the deadline (of `time.monotonic`),
    BadFrame when the frame is no frame or larger than any that is sent on purpose.
    """
    head_size, body_size = _LENGTHS.unpack(_exactly(sock, _LENGTHS.size, deadline))
    if head_size > _MAX_HEAD or body_size > _MAX_BODY:
        raise BadFrame
    try:
        head = json.loads(_exactly(sock, head_size, deadline))
    except (ValueError, RecursionError):
        raise BadFrame from None
    if not isinstance(head, dict):
        raise BadFrame
    return head, _exactly(sock, body_size, deadline)


def _exactly(sock: socket, size: int, deadline: float | None) -> bytes:
    parts: list[bytes] = []
    while size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            sock.settimeout(left)
        part = sock.recv(min(size, _STEP))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
