"""A process that gives up the vault: whatever it does from then on, it opens nothing below it.

Two layers. A hook in the interpreter refuses what Python opens, lists, links, renames or starts, with an
error that says so; it is there on every system. Landlock refuses in the kernel what the hook does not see,
native libraries and children among it; it is there on Linux 5.13 and later, unless switched off. Both are
for ever: nothing in the process takes them back. A bait in the vault is tried after each confinement.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final, Literal

from benchproof.confinement import landlock
from benchproof.errors import ConfinementError, VaultError
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
_WATCHED: Final = frozenset((*_PATHS, *_PROGRAMS, *_NETWORK))
_DESCRIPTORS: Final = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
_BAIT: Final = "bait"
_LIBRARY: Final = os.path.dirname(os.__file__) + os.sep
_COPY: Final = re.compile(r"^tmp\w+\.(?=\w+\.py$)")
_SITE: Final = f"{os.sep}site-packages{os.sep}"


#: Events that change names and contents, and read nothing.
_CHANGES: Final = (
    "os.rename",
    "os.mkdir",
    "os.remove",
    "os.rmdir",
    "os.truncate",
    "os.chmod",
    "os.utime",
)
_LISTS: Final = ("os.listdir", "os.scandir")
#: What was found of a vault before it was given up: some of it may be given up first, and the rest later.
_seen: dict[Path, tuple[tuple[Path, ...], Path | None]] = {}
Use = Literal["read", "write", "list"]


def confine(
    vault: Path,
    open_below: Iterable[Path] = (),
    write_below: Iterable[Path] = (),
    list_below: Iterable[Path] = (),
    *,
    beside: Iterable[Path] = (),
    programs: bool = False,
    network: bool = False,
) -> tuple[str, ...]:
    """Give up everything below `vault` but what is named, for this process and its children, for ever.

    `open_below` are files and folders that stay as they are; below `write_below` files can be made and
    replaced but not read, below `list_below` names be listed. Folders that are missing are not made.
    `beside` are folders outside that must stay whole: where one holds the vault, the hook is alone.
    Without `programs` no program can be started, without `network` no connection be made.
    Call it early: kernels before Linux 7 do not limit threads that are there already; the hook does.

    Returns the layers that hold: "hook", and "landlock" with the version of its interface and the threads
    it does not reach, or "no landlock" and why. That a file exists, its size and times can be asked for.
    Raises ConfinementError when a file of the vault is open already, or the bait could be read.
    """
    real = _real(vault)
    if real not in _seen:
        _seen[real] = _roots(real), _lay_bait(real)
    denied, bait = _seen[real]
    opens, writes, lists = (tuple(map(_real, p)) for p in (open_below, write_below, list_below))
    identities = {key for root in denied if (key := _identity(root))}
    rules = _Rules(denied, identities, opens, writes, lists, programs, network)
    _refuse_inherited(rules)
    kernel = False
    try:
        if any(_below(root, map(_real, beside)) for root in denied):
            raise landlock.Unavailable("results lie around the vault")
        version, others = landlock.restrict(denied, opens, writes, lists, network=network)
        kernel = True
        layer = f"landlock {version}" + (f" but for {others} threads" if others else "")
    except landlock.Unavailable as why:
        layer = f"no landlock: {why}"
    sys.addaudithook(_hook(rules))
    _try(bait, kernel=kernel)
    return "hook", layer


@dataclass(frozen=True, slots=True)
class _Rules:
    """What is denied, by real path and by device and inode, and what of it is not."""

    denied: tuple[Path, ...]
    identities: set[tuple[int, int]]
    open: tuple[Path, ...]
    write: tuple[Path, ...]
    list: tuple[Path, ...]
    programs: bool
    network: bool
    #: Folders that were looked at, and are neither in the vault nor a link or mount that leads into it.
    free: set[Path] = field(default_factory=set)

    def forbids(self, path: Path, use: Use) -> bool:
        """True when a real path is denied."""
        if _below(path, self.open):
            return False
        if use != "read" and _below(path, self.write if use == "write" else self.list):
            return False
        return self.inside(path)

    def inside(self, path: Path) -> bool:
        """True when a path is of the vault: by its words, or by the folder that it leads through, whatever
        the case of letters or a second mount make of the words.
        """
        if _below(path, self.denied):
            return True
        for folder in (path, *path.parents):
            if folder in self.free:
                break
            if _identity(folder) in self.identities:
                return True
        # The folder, not the name in it: that may become a link later.
        self.free.update(path.parents)
        return False

    def leads_to(self, folder: Path) -> bool:
        """True when what is denied lies below a folder."""
        return any(_below(root, (folder,)) for root in self.denied)


def _hook(rules: _Rules) -> Callable[[str, tuple[Any, ...]], None]:
    # Looking a path up raises events of its own.
    busy = threading.local()
    free: set[str] = set()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _WATCHED:  # imports alone raise thousands of others
            return
        if event == "open" and _is_known(arguments[0], free):
            return
        if event in _PROGRAMS and not rules.programs:
            raise ConfinementError("start a program", _place())
        if event in _NETWORK and not rules.network:
            raise ConfinementError("use the network", _place())
        positions = _PATHS.get(event)
        if positions is None or getattr(busy, "now", False):
            return
        if event == "ctypes.dlopen" and "/" not in str(arguments[0]):
            return  # this program itself, or the name of a system's library
        busy.now = True
        try:
            use = _use(event, arguments)
            asked = [path for at in positions for path in _meant(arguments[at])]
            refused = any(rules.forbids(path, use) for path in asked)
            if event == "open" and not refused:
                _remember(arguments[0], free, rules)
        finally:
            busy.now = False
        if refused:
            raise ConfinementError(f"open the vault ({event.removeprefix('os.')})", _place())

    return hook


def _is_known(named: object, free: set[str]) -> bool:
    """True for a file, not a link, in a folder that is known to be outside: imports open a thousand."""
    if not isinstance(named, str):
        return False
    folder, _, name = named.rpartition("/")
    return folder in free and name not in ("", ".", "..") and not os.path.islink(named)


def _remember(named: object, free: set[str], rules: _Rules) -> None:
    if isinstance(named, str) and os.path.isabs(named):
        folder = named.rpartition("/")[0]
        real = _real(Path(folder or "/"))
        if not rules.inside(real) and not rules.leads_to(real):
            free.add(folder)


def _use(event: str, arguments: tuple[Any, ...]) -> Use:
    if event == "open":
        # By O_PATH a file is named, not opened.
        flags = arguments[2] or 0
        named = flags & getattr(os, "O_PATH", 0)
        return "write" if named or flags & os.O_ACCMODE == os.O_WRONLY else "read"
    if event in _LISTS:
        return "list"
    if event == "os.rename":
        # Moved to another folder, what could not be read could be.
        old, new = (os.path.dirname(os.path.abspath(os.fspath(name))) for name in arguments[:2])
        return "write" if old == new else "read"
    return "write" if event in _CHANGES else "read"


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


def _open_files(*, readable: bool = False) -> list[Path]:
    found = []
    for name in os.listdir(_DESCRIPTORS):
        with contextlib.suppress(OSError):
            if readable and fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
                continue
            target = os.readlink(f"{_DESCRIPTORS}/{name}")
            if target.startswith("/"):
                found.append(Path(target))
    return found


def _refuse_inherited(rules: _Rules) -> None:
    if any(rules.forbids(path, "write") for path in _open_files(readable=True)):
        raise ConfinementError("keep a file of the vault open", "the start of the job")


def _roots(real: Path) -> tuple[Path, ...]:
    """Return a vault, and the folders elsewhere that its own links lead to."""
    linked: list[Path] = []
    with contextlib.suppress(OSError):
        linked = [_real(Path(entry.path)) for entry in os.scandir(real) if entry.is_symlink()]
    return (real, *linked)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _below(path: Path, roots: Iterable[Path]) -> bool:
    return any(path.parts[: len(root.parts)] == root.parts for root in roots)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _lay_bait(vault: Path) -> Path | None:
    """Return a file of the vault that can be read now; None when there is no vault, or it isn't ours."""
    if not vault.is_dir():
        return None
    bait = vault / _BAIT
    try:
        if not bait.exists():
            with private_file(bait) as handle:
                handle.write(b"No confined process reads this.\n")
        bait.read_bytes()
    except (VaultError, OSError):
        return None
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


def is_ours(filename: str) -> bool:
    """True for a file of code that is neither Python's own nor an installed package's."""
    return not filename.startswith(("<frozen", _LIBRARY)) and _SITE not in filename


def shown(filename: str) -> str:
    """Return the name of a file of code; of the copy that Snakemake runs of a script, the script's."""
    return _COPY.sub("", Path(filename).name)


def _place() -> str:
    """Return file and line of the innermost caller of ours that is not this module."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name != __file__ and is_ours(name):
            return f"{shown(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return "an unknown place"
