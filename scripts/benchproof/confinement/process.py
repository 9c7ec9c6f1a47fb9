"""How the process of a job begins: apart from the vault, from the terminal, and from what crashes leave.

It happens where this package is first imported, so that no module of ours and no library runs before it.
Of the vault the process keeps what its rule declares and `needs` lists. What it prints, whoever prints it,
goes into a file of the vault: a stray print, a traceback with its values, the last words of a native
library. Only the job's own log speaks on the terminal. No core is dumped; temporary files lie in the vault.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from benchproof.confinement import confine
from benchproof.confinement.needs import NEEDS, NOTHING, Need
from benchproof.errors import BenchproofError, ConfinementError
from benchproof.vault import private_folder

_SET_DUMPABLE = 4
#: Where jobs leave what is shown later, and what stayed open; and folders of their own, for a while.
_LEFT = ("screens", "open", "said", "tmp")


@dataclass(slots=True)
class Begun:
    """A process that has begun as a job: where it may speak, what it keeps of the vault, what holds it."""

    rule: str
    terminal: TextIO
    log: Path
    said: Path
    vault: Path
    temporary: Path
    results: Path
    writes: tuple[Path, ...] = ()
    layers: tuple[str, ...] = ()
    error: BenchproofError | None = None


_begun: Begun | None = None


def begin_if_job() -> None:
    """Begin as a job when Snakemake runs a script in this process; else do nothing."""
    given: Any = getattr(sys.modules.get("__main__"), "snakemake", None)
    if _begun is None and type(given).__module__.startswith("snakemake.") and given.log:
        begin(given)


def begin(snakemake: Any) -> None:
    """Separate this process; what fails is raised by `ensure`, once there is a log to say it in."""
    global _begun
    forbid_cores()
    audit = snakemake.params.audit
    work, name = Path(audit["work"]), Path(snakemake.log[0]).stem
    said = work / "said" / f"{name}.txt"
    _begun = Begun(
        snakemake.rule,
        _withdraw(said),
        Path(snakemake.log[0]),
        said,
        # A report that is derived again has a vault of its own inside of the one that it came from.
        Path(audit.get("around", audit["resources"])),
        work / "tmp" / name,
        Path(audit["results"]),
    )
    sys.excepthook = _last_word
    need = NEEDS.get(snakemake.rule, NOTHING)
    if need.whole:
        _begun.layers = ("nothing, since its own audits are",)
        return
    try:
        os.environ["TMPDIR"] = tempfile.tempdir = str(private_folder(_begun.temporary).absolute())
        opens = (*_declared(snakemake), *_areas(need.opens, Path(audit["resources"]), work))
        _begun.writes = tuple(map(private_folder, _written(snakemake, work, _begun.vault)))
        _begun.layers = _confined(_begun, opens, need)
    except BenchproofError as error:
        _begun.error = error


def give_up(rule: str, keep: Iterable[Path] = (), *, programs: bool = False) -> None:
    """From here on the job of a rule opens `keep` alone of the vault: it writes what it declares there, and
    its screen; it starts a program only with `programs`. For scripts that look into the vault first and
    render afterwards.

    Nothing where no job has begun, or another rule's is: a job of the past runs the scripts of many.
    """
    if _begun is not None and _begun.rule == rule:
        _begun.layers = _confined(_begun, keep, Need(programs=programs))


def ensure() -> tuple[str, ...]:
    """Return the layers that hold this process, none where no job has begun; raises what went wrong."""
    if _begun is None:
        return ()
    if _begun.error is not None:
        raise _begun.error
    return _begun.layers


def terminal() -> TextIO:
    """Return where a job's log may speak."""
    return _begun.terminal if _begun else sys.stderr


def kept(error: BaseException) -> str:
    """Keep an exception whole in the vault and return where; an empty text where no job has begun."""
    if _begun is None:
        return ""
    with contextlib.suppress(Exception):
        traceback.print_exception(error, file=sys.stderr)
        sys.stderr.flush()
    return str(_begun.said)


def end() -> None:
    """Delete what the job leaves empty."""
    if _begun is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        with contextlib.suppress(OSError, ConfinementError):
            os.rmdir(str(tempfile.tempdir))
        with contextlib.suppress(OSError, ConfinementError):
            if not _begun.said.stat().st_size:
                _begun.said.unlink()


def forbid_cores() -> None:
    """Let no crash of this process or its children write their memory to a disk."""
    # One byte: no file is that small, and the kernel starts no program that takes cores for it either.
    with contextlib.suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        least = min(1, hard) if hard != resource.RLIM_INFINITY else 1
        resource.setrlimit(resource.RLIMIT_CORE, (least, least))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def _withdraw(said: Path) -> TextIO:
    """Let everything that is printed go into a private file, and return the terminal for the log alone."""
    terminal = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="backslashreplace")
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        private_folder(said.parent)
        file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    except (OSError, BenchproofError):
        file = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(file, number)
    os.close(file)
    return terminal


def _confined(begun: Begun, opens: Iterable[Path], need: Need) -> tuple[str, ...]:
    return confine.confine(
        begun.vault,
        # Results count where a report is made inside the vault.
        (*opens, begun.temporary, begun.results),
        begun.writes,
        (begun.vault / area for area in need.lists),
        beside=(begun.results,),
        programs=need.programs,
        network=need.network,
    )


def _declared(snakemake: Any) -> Iterator[Path]:
    """Yield what a rule reads: its inputs, and the settings of those that ask the world."""
    yield from map(Path, snakemake.input)
    settings = getattr(snakemake.params, "settings", None)
    if settings:
        yield Path(settings)


def _written(snakemake: Any, work: Path, vault: Path) -> Iterator[Path]:
    """Yield the vault's folders that a rule writes into: of its outputs and log, and of what it leaves."""
    root = vault.resolve()
    for folder in sorted({Path(path).parent for path in (*snakemake.output, *snakemake.log)}):
        if folder.resolve().is_relative_to(root):
            yield folder
    yield from (work / name for name in _LEFT)


def _areas(names: Iterable[str], vault: Path, work: Path) -> Iterator[Path]:
    """Yield parts of the vault, and make those that are missing: what isn't there can't be allowed."""
    for name in names:
        folder, rest = (
            (work, name.removeprefix("work/")) if name.startswith("work/") else (vault, name)
        )
        if "*" in rest:
            yield from folder.glob(rest)
        elif "." in rest:
            os.close(os.open(private_folder(folder) / rest, os.O_WRONLY | os.O_CREAT, 0o600))
            yield folder / rest
        else:
            yield private_folder(folder / rest)


def _last_word(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Say on the terminal and in the log what nobody has caught, without its text."""
    if _begun is None or issubclass(kind, KeyboardInterrupt):
        return
    try:
        from benchproof import job

        job.withheld(error, _begun.log)
    except Exception:  # an import that failed is what is to be told
        frame = traceback.extract_tb(trace)[-1]
        kept(error)
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        print(f"{kind.__name__} at {place}; its text stays in {_begun.said}.", file=_begun.terminal)
