"""Whose an unfinished file is, told by its name alone: one that is renamed has changed hands at once.

A name says the place (host, boot and process namespace), the process and when it began. Only where
both stand in the same place can one know that the other is gone; elsewhere nothing is certain.
"""

from __future__ import annotations

import itertools
import os
import re
import socket
from hashlib import sha256
from pathlib import Path
from typing import Literal

_NAME = re.compile(r"([0-9a-f]{12})-(\d{1,10})-(\d{1,20})-(\d{1,10})")
_counter = itertools.count(1)
#: Names of this process that are in use; another of its names belonged to a call that has ended.
_used: set[str] = set()
State = Literal["dead", "alive", "elsewhere"]


def new_name() -> str:
    """Return a name that no other process and no other call has; `give_up` ends its use."""
    name = f"{_place()}-{os.getpid()}-{_began(os.getpid()) or 0}-{next(_counter)}"
    _used.add(name)
    return name


def give_up(name: str) -> None:
    """Say that a name of this process is not used any more."""
    _used.discard(name)


def state_of(name: str) -> State:
    """Return what is known of the owner that a name tells of; who can't be known counts as alive."""
    match = _NAME.fullmatch(name)
    if match is None:
        return "alive"
    place, pid, began, _ = match.groups()
    if place != _place():
        return "elsewhere"
    if int(pid) == os.getpid() and name not in _used:
        return "dead"
    return "alive" if _began(int(pid)) == int(began) else "dead"


def _place() -> str:
    """Return a digest of the host, its boot and the namespace that process numbers belong to."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot = space = ""
    return sha256(f"{socket.gethostname()}\0{boot}\0{space}".encode()).hexdigest()[:12]


def _began(pid: int) -> int | None:
    """Return when a living process began, in ticks since the boot; None when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None if Path("/proc/self").exists() else _signalled(pid)
    return None if fields[0] in "ZX" else int(fields[19])


def _signalled(pid: int) -> int | None:
    """The same without /proc: a process that can be signalled is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return 0
