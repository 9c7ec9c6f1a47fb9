"""A process that gives up the vault: whatever it does from then on, it opens nothing below it.

Two layers. A hook in the interpreter refuses what Python opens, lists, links, renames or starts, with an
error that says so; it is there on every system. Landlock refuses in the kernel what the hook does not see,
native libraries and children among it; it is there on Linux 5.13 and later, unless switched off. Both are
for ever: nothing in the process takes them back. A bait in the vault is tried after each confinement.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchproof import landlock
from benchproof.errors import ConfinementError
from benchproof.vault import private_file

#: Events of the interpreter that name a path, and where among their arguments.
#: https://docs.python.org/3/library/audit_events.html
_PATHS: Final = {
    "open": (0,),
    "os.listdir": (0,),
    "os.scandir": (0,),
    "os.chdir": (0,),
    "os.fwalk": (0,),
    "os.link": (0, 1),
    "os.symlink": (0, 1),
    "os.rename": (0, 1),
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.utime": (0,),
    "os.getxattr": (0,),
    "os.listxattr": (0,),
    "os.setxattr": (0,),
    "os.removexattr": (0,),
    "sqlite3.connect": (0,),
    "ctypes.dlopen": (0,),
}
_PROGRAMS: Final = (
    *("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system"),
    *("os.fork", "os.forkpty", "pty.spawn"),
)
_NETWORK: Final = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo")
_DESCRIPTORS: Final = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
_BAIT: Final = "bait"


def confine(
    vault: Path,
    open_below: Iterable[Path] = (),
    write_below: Iterable[Path] = (),
    *,
    programs: bool = False,
    network: bool = False,
) -> tuple[str, ...]:
    """Give up everything below `vault` but `open_below`, for this process and its children, for ever.

    `open_below` are files and folders that stay as they are; below `write_below` files can be made and
    replaced but not read. Folders that are missing are not made. Without `programs` no program can be
    started, without `network` no connection be made. Call it before threads are started.

    Returns the layers that hold: "hook", and "landlock 7" with the kernel's version of it or why there is
    none, as "no landlock: …". That a file exists, its size and times can still be asked for.
    Raises ConfinementError when a file of the vault is open already, or the bait could be read.
    """
    denied = _roots(vault)
    rules = _Rules(
        denied,
        {key for root in denied if (key := _identity(root))},
        tuple(_real(path) for path in open_below),
        tuple(_real(path) for path in write_below),
        programs,
        network,
    )
    _refuse_inherited(rules)
    bait = _lay_bait(denied[0])
    try:
        version = landlock.restrict(denied, rules.open, rules.write, network=network)
        layers = ("hook", f"landlock {version}")
    except landlock.Unavailable as why:
        layers = ("hook", f"no landlock: {why}")
    sys.addaudithook(_hook(rules))
    _try(bait, kernel=layers[1].startswith("landlock"))
    return layers


@dataclass(frozen=True, slots=True)
class _Rules:
    """What is denied, by real path and by device and inode, and what of it is not."""

    denied: tuple[Path, ...]
    identities: set[tuple[int, int]]
    open: tuple[Path, ...]
    write: tuple[Path, ...]
    programs: bool
    network: bool

    def forbids(self, path: Path, reads: bool) -> bool:
        """True when a real path is denied."""
        if _below(path, self.open) or (not reads and _below(path, self.write)):
            return False
        return _below(path, self.denied) or any(
            _identity(folder) in self.identities for folder in (path, *path.parents)
        )


def _hook(rules: _Rules) -> Callable[[str, tuple[Any, ...]], None]:
    # Looking a path up raises events of its own.
    busy = threading.local()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _PROGRAMS and not rules.programs:
            raise ConfinementError("start a program", _place())
        if event in _NETWORK and not rules.network:
            raise ConfinementError("use the network", _place())
        positions = _PATHS.get(event)
        if positions is None or getattr(busy, "now", False):
            return
        busy.now = True
        try:
            reads = event != "open" or _reads(arguments)
            if event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate"):
                reads = False
            asked = (found for at in positions for found in _meant(arguments[at]))
            refused = any(rules.forbids(path, reads) for path in asked)
        finally:
            busy.now = False
        if refused:
            raise ConfinementError(f"open the vault ({event.removeprefix('os.')})", _place())

    return hook


def _reads(arguments: tuple[Any, ...]) -> bool:
    return (arguments[2] or 0) & os.O_ACCMODE != os.O_WRONLY


def _meant(named: object) -> Iterable[Path]:
    """Yield what a path may mean: events do not tell which open folder a relative one starts from."""
    if named is None:
        named = "."
    if isinstance(named, int):
        with contextlib.suppress(OSError):
            yield Path(os.readlink(f"{_DESCRIPTORS}/{named}"))
        return
    try:
        text = os.fsdecode(named)  # type: ignore[arg-type]
    except TypeError:
        return
    if "\0" in text:
        return
    yield _real(Path(text))
    if not os.path.isabs(text):
        for folder in _open_files():
            if folder.is_dir():
                yield _real(folder / text)


def _open_files() -> list[Path]:
    found = []
    for name in os.listdir(_DESCRIPTORS):
        with contextlib.suppress(OSError):
            target = os.readlink(f"{_DESCRIPTORS}/{name}")
            if target.startswith("/"):
                found.append(Path(target))
    return found


def _refuse_inherited(rules: _Rules) -> None:
    if any(rules.forbids(path, reads=True) for path in _open_files()):
        raise ConfinementError("keep a file of the vault open", "the start of the job")


def _roots(vault: Path) -> tuple[Path, ...]:
    """Return the vault, and the folders elsewhere that its own links lead to."""
    real = _real(vault)
    linked: list[Path] = []
    with contextlib.suppress(OSError):
        linked = [_real(Path(entry.path)) for entry in os.scandir(real) if entry.is_symlink()]
    return (real, *linked)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _below(path: Path, roots: Iterable[Path]) -> bool:
    return any(path == root or root in path.parents for root in roots)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _lay_bait(vault: Path) -> Path | None:
    """Return a file of the vault that can be read now; None when there is no vault."""
    if not vault.is_dir():
        return None
    bait = vault / _BAIT
    if not bait.exists():
        with private_file(bait) as handle:
            handle.write(b"No confined process reads this.\n")
    bait.read_bytes()
    return bait


def _try(bait: Path | None, *, kernel: bool) -> None:
    """Raise ConfinementError when the bait can be opened, by the interpreter or beside it."""
    if bait is None:
        return
    try:
        os.close(os.open(bait, os.O_RDONLY))
    except ConfinementError:
        pass
    else:
        raise ConfinementError("read its bait, and could", _place())
    if kernel:
        descriptor = ctypes.CDLL(None).open(os.fsencode(bait), os.O_RDONLY)
        if descriptor >= 0:
            os.close(descriptor)
            raise ConfinementError("read its bait past the interpreter, and could", _place())


def _place() -> str:
    """Return file and line of the innermost caller that is not this module."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    while frame.f_back and "benchproof" not in frame.f_code.co_filename:
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
